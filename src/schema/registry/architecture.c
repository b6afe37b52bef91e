/* The names of architectures, the table of tensors, and shapes in terms of keys. */
#include "gufo/schema.h"

#include <string.h>

#include "base/checked.h"
#include "base/text.h"
#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

static const gufo_arch_info architectures[] = {
#define ROW(id, name, status) {id, name, status},
#include "registry/architectures.inc"
#undef ROW
};

TABLE(architectures, gufo_arch_info, schema_arch_count, gufo_arch_at)

const gufo_arch_info *gufo_arch_find_str(gufo_str id)
{
    return row_find(ROWS(architectures), id);
}

const gufo_arch_info *gufo_arch_find(const char *id)
{
    return gufo_arch_find_str(gufo_str_of(id));
}

/* The table of tensors (registry/tensors.tsv), and which row of it a name in a file belongs to. */

static const gufo_tensor_info tensors[] = {
#define ROW(name, summary, shape, bias_shape, status) {name, summary, shape, bias_shape, status},
#include "registry/tensors.inc"
#undef ROW
};

TABLE(tensors, gufo_tensor_info, schema_tensor_info_count, gufo_tensor_info_at)

/* The longest beginning of the name, in whole segments, that is a pattern; the rest is the suffix.
 * So "cls.output.weight" is "cls.output" and not "cls". */
bool gufo_tensor_info_find_str(gufo_str name, gufo_tensor_match *out)
{
    static const char *const placeholders[2] = {"{bid}", "{xid}"};
    size_t ends[PATTERN_MAX_SEGMENTS], count = pattern_segments(name, ends);

    if (name.len == 0 || memchr(name.data, '{', name.len) != NULL)
        return false;
    while (count-- > 0) {
        number_segment block;
        name_parts wanted =
            name_parts_read((gufo_str){name.data, ends[count]}, placeholders, &block);
        const gufo_tensor_info *info = row_find_parts(ROWS(tensors), &wanted);

        if (info != NULL && out != NULL)
            *out = (gufo_tensor_match){
                .info = info,
                .has_block = block.found,
                .block = block.found ? block.value : 0,
                .suffix = {name.data + ends[count], name.len - ends[count]},
            };
        if (info != NULL)
            return true;
    }
    return false;
}

bool gufo_tensor_info_find(const char *name, gufo_tensor_match *out)
{
    return gufo_tensor_info_find_str(gufo_str_of(name), out);
}

/* Shapes of tensors in terms of keys: "embedding_length,head_count*key_length+(head_count+2)*3".
 *
 *     sum       product {(+ | -) product}
 *     product   operand {(* | /) operand}
 *     operand   number | name | "(" sum ")"
 *
 * Numbers come from files: what does not fit into 64 bits, becomes negative or leaves a remainder
 * has no answer. */

enum { MAX_DEPTH = 8, MAX_DIMS = 4 };

typedef struct shape_reader {
    const char *at;
    unsigned depth; /* of sums in parentheses, the outermost one included */
    uint64_t block;
    gufo_shape_fn *lookup;
    void *context;
} shape_reader;

static bool without_rest(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = b != 0 ? a / b : 0;
    return b != 0 && a % b == 0;
}

static bool difference(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a - b;
    return a >= b;
}

static bool read_sum(shape_reader *r, uint64_t *out);

static bool read_operand(shape_reader *r, uint64_t *out)
{
    gufo_str number = {r->at, strspn(r->at, "0123456789")};
    gufo_str name = {r->at, strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_.")};

    if (*r->at == '(') {
        r->at++;
        return read_sum(r, out) && *r->at++ == ')';
    }
    if (number.len > 0) {
        r->at += number.len;
        return str_number(number, out);
    }
    r->at += name.len;
    return name.len > 0 && *name.data != '.' && r->lookup(r->context, name, r->block, out);
}

static bool read_product(shape_reader *r, uint64_t *out)
{
    uint64_t operand;

    if (!read_operand(r, out))
        return false;
    while (*r->at == '*' || *r->at == '/') {
        bool divide = *r->at++ == '/';

        if (!read_operand(r, &operand) ||
            !(divide ? without_rest(*out, operand, out) : checked_mul(*out, operand, out)))
            return false;
    }
    return true;
}

static bool read_sum(shape_reader *r, uint64_t *out)
{
    uint64_t product;

    if (++r->depth > MAX_DEPTH || !read_product(r, out))
        return false;
    while (*r->at == '+' || *r->at == '-') {
        bool subtract = *r->at++ == '-';

        if (!read_product(r, &product) ||
            !(subtract ? difference(*out, product, out) : checked_add(*out, product, out)))
            return false;
    }
    r->depth--;
    return true;
}

unsigned gufo_shape_evaluate(const char *shape, uint64_t block, gufo_shape_fn *lookup,
                             void *context, uint64_t dims[4])
{
    shape_reader reader = {.at = shape, .block = block, .lookup = lookup, .context = context};
    unsigned count = 0;

    do {
        if (count == MAX_DIMS || !read_sum(&reader, &dims[count]))
            return 0;
        count++;
    } while (*reader.at++ == ',');
    return reader.at[-1] == '\0' ? count : 0;
}
