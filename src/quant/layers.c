/* Layers that are left out.
 *
 *     blk.0  blk.1  blk.2  blk.3  blk.4        without 1 and 3:
 *     blk.0         blk.1         blk.2        the others move up */
#include "quant/quantizer.h"

#include <string.h>

#include "base/checked.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the number in digits[0..len). */
static bool read_number(const char *digits, size_t len, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < len; i++)
        if (!checked_mul(*out, 10, out) || !checked_add(*out, (uint64_t)(digits[i] - '0'), out))
            return false;
    return true;
}

bool layer_find(gufo_str name, uint64_t *layer, size_t *at, size_t *len)
{
    static const char prefix[] = "blk.";
    const size_t prefix_len = sizeof prefix - 1;

    for (size_t i = 0; i + prefix_len < name.len; i++) {
        size_t begin = i + prefix_len, end = begin;

        if (memcmp(name.data + i, prefix, prefix_len) != 0)
            continue;
        while (end < name.len && is_digit(name.data[end]))
            end++;
        if (end == begin || end == name.len || name.data[end] != '.')
            continue;
        *at = begin;
        *len = end - begin;
        return read_number(name.data + begin, *len, layer);
    }
    return false;
}

bool layer_is_listed(const layer_list *pruned, uint64_t layer)
{
    for (size_t i = 0; i < pruned->count; i++)
        if (pruned->layers[i] == layer)
            return true;
    return false;
}

uint64_t layer_renumbered(const layer_list *pruned, uint64_t layer)
{
    uint64_t before = 0;

    while (before < pruned->count && pruned->layers[before] < layer)
        before++;
    return layer - before;
}
