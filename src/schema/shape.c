/* Shapes of tensors in terms of keys: "embedding_length,head_count*key_length+(head_count+2)*3".
 *
 * A sum of products is read from front to back with two numbers at hand: the sum of the products
 * that are finished, and the product that is not.  A parenthesis puts both aside and begins with
 * new ones.
 *
 *     read            2 + 3 * 4 - 5        sum and its operator    product
 *     after "2 +"                          2 +                     -
 *     after "3 * 4"                        2 +                     12
 *     after "-"                            14 -                    -
 *     at the end                           9
 *
 * Numbers come from files: what does not fit into 64 bits, becomes negative or leaves a remainder
 * has no answer. */
#include "gufo/schema.h"

#include "base/checked.h"

#include <string.h>

enum { MAX_DEPTH = 8, MAX_DIMS = 4 };

/* What is known between two parentheses. */
typedef struct level {
    uint64_t sum, product;
    char add;      /* '+' or '-': what becomes of the product; '+' at first */
    char multiply; /* '*' or '/': what becomes of the next operand; 0 where the product begins */
    bool operand;  /* an operand was read last: an operator or an end may follow */
} level;

typedef struct shape_reader {
    const char *at;
    level levels[MAX_DEPTH];
    size_t depth;
    uint64_t block;
    gufo_shape_lookup *lookup;
    void *context;
} shape_reader;

static const level new_level = {.add = '+'};

/* Takes an operand into the product. */
static bool take(level *l, uint64_t value)
{
    if (l->operand)
        return false;
    l->operand = true;
    if (l->multiply == 0) {
        l->product = value;
        return true;
    }
    if (l->multiply == '*')
        return checked_mul(l->product, value, &l->product);
    if (value == 0 || l->product % value != 0)
        return false;
    l->product /= value;
    return true;
}

/* Takes the product into the sum. */
static bool finish_product(level *l)
{
    if (!l->operand)
        return false;
    if (l->add == '+')
        return checked_add(l->sum, l->product, &l->sum);
    if (l->product > l->sum)
        return false;
    l->sum -= l->product;
    return true;
}

static bool take_operator(level *l, char symbol)
{
    if (!l->operand)
        return false;
    if (symbol == '*' || symbol == '/') {
        l->multiply = symbol;
    } else {
        if (!finish_product(l))
            return false;
        l->add = symbol;
        l->multiply = 0;
    }
    l->operand = false;
    return true;
}

static bool take_parenthesis(shape_reader *r, char parenthesis)
{
    if (parenthesis == '(') {
        if (r->levels[r->depth].operand || r->depth + 1 == MAX_DEPTH)
            return false;
        r->levels[++r->depth] = new_level;
        return true;
    }
    if (r->depth == 0 || !finish_product(&r->levels[r->depth]))
        return false;
    r->depth--;
    return take(&r->levels[r->depth], r->levels[r->depth + 1].sum);
}

static bool take_number(shape_reader *r)
{
    uint64_t value = 0;

    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (!checked_mul(value, 10, &value) ||
            !checked_add(value, (uint64_t)(*r->at - '0'), &value))
            return false;
    return take(&r->levels[r->depth], value);
}

static bool take_name(shape_reader *r)
{
    gufo_str name = {r->at, strspn(r->at, "abcdefghijklmnopqrstuvwxyz0123456789_.")};
    uint64_t value;

    r->at += name.len;
    return r->lookup(r->context, name, r->block, &value) && take(&r->levels[r->depth], value);
}

/* The next number, name, operator or parenthesis. */
static bool take_next(shape_reader *r)
{
    char c = *r->at;

    if (c >= '0' && c <= '9')
        return take_number(r);
    if ((c >= 'a' && c <= 'z') || c == '_')
        return take_name(r);
    if (c == '\0' || strchr("+-*/()", c) == NULL)
        return false;
    r->at++;
    return c == '(' || c == ')' ? take_parenthesis(r, c) : take_operator(&r->levels[r->depth], c);
}

/* One dimension, up to a comma or the end. */
static bool read_dimension(shape_reader *r, uint64_t *out)
{
    r->depth = 0;
    r->levels[0] = new_level;
    while (*r->at != ',' && *r->at != '\0')
        if (!take_next(r))
            return false;
    if (r->depth != 0 || !finish_product(&r->levels[0]))
        return false;
    *out = r->levels[0].sum;
    return true;
}

unsigned gufo_shape_evaluate(const char *shape, uint64_t block, gufo_shape_lookup *lookup,
                             void *context, uint64_t dims[4])
{
    shape_reader reader = {.at = shape, .block = block, .lookup = lookup, .context = context};
    unsigned count = 0;

    do {
        if (count > 0)
            reader.at++;
        if (count == MAX_DIMS || !read_dimension(&reader, &dims[count]))
            return 0;
        count++;
    } while (*reader.at == ',');
    return count;
}
