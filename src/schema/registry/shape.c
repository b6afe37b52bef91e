/* Shapes of tensors in terms of keys: "embedding_length,head_count*key_length+(head_count+2)*3".
 *
 *     sum       product {(+ | -) product}
 *     product   operand {(* | /) operand}
 *     operand   number | name | "(" sum ")"
 *
 * Numbers come from files: what does not fit into 64 bits, becomes negative or leaves a remainder
 * has no answer. */
#include "gufo/schema.h"

#include "base/checked.h"
#include "base/text.h"

#include <string.h>

enum { MAX_DEPTH = 8, MAX_DIMS = 4 };

typedef struct shape_reader {
    const char *at;
    unsigned depth; /* of sums in parentheses, the outermost one included */
    uint64_t block;
    gufo_shape_lookup *lookup;
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

unsigned gufo_shape_evaluate(const char *shape, uint64_t block, gufo_shape_lookup *lookup,
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
