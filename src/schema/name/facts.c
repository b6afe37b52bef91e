/* The numbers in a name, and the checks of those that the convention restricts.
 *
 *     8x7B               8 experts, 7,000,000,000 parameters
 *     00003-of-00009     shard 3 of 9
 *
 * The expression of the specification takes any letter after a size and any five digits of a shard;
 * its text names the letters, and says that shards are counted from 1 and how many there are. */
#include "schema/name/name.h"

#include <string.h>

#include "base/checked.h"

uint64_t name_scale(char letter)
{
    uint64_t parameters = 1000;

    for (size_t i = 0; i < strlen(NAME_SCALES); i++, parameters *= 1000)
        if (letter == NAME_SCALES[i])
            return parameters;
    return 0;
}

bool name_read_size(gufo_str label, uint64_t *experts, uint64_t *parameters)
{
    uint64_t number = 0, unit = name_scale(to_upper(label.data[label.len - 1])), scale = 1;
    bool fraction = false;

    *experts = 0;
    for (size_t i = 0; i + 1 < label.len; i++) {
        char c = label.data[i];

        if (c == 'x') {
            *experts = number;
            number = 0;
        } else if (c == '.') {
            fraction = true;
        } else if (!checked_mul(number, 10, &number) ||
                   !checked_add(number, (uint64_t)(c - '0'), &number) ||
                   (fraction && !checked_mul(scale, 10, &scale))) {
            return false;
        }
    }
    if (scale <= unit)
        return checked_mul(number, unit / scale, parameters);
    *parameters = unit > 0 ? number / (scale / unit) : 0; /* both are powers of ten */
    return true;
}

/* The size without what follows it: "8x7B" of "8x7B-A3B". */
static gufo_str first_size(gufo_str label)
{
    return name_slice(label, 0, name_component(label, 0));
}

gufo_name_facts gufo_name_read_facts(const gufo_name *name)
{
    gufo_name_facts facts = {0};
    uint64_t shard, count;

    if (name_is_size(first_size(name->size_label)) &&
        !name_read_size(first_size(name->size_label), &facts.experts, &facts.parameters))
        facts.experts = facts.parameters = 0;
    if (name_is_shard(name->shard) && str_number(name_slice(name->shard, 0, 5), &shard) &&
        str_number(name_slice(name->shard, 9, 14), &count)) {
        facts.shard = (uint32_t)shard;
        facts.shard_count = (uint32_t)count;
    }
    return facts;
}

const char *name_fault(const gufo_name *name, gufo_str *part)
{
    gufo_name_facts facts = gufo_name_read_facts(name);
    gufo_str size = first_size(name->size_label);

    *part = size;
    if (size.len > 0 && name_scale(size.data[size.len - 1]) == 0)
        return "does not end in a scale: K, M, B, T or Q, for thousand, million, billion, trillion "
               "or quadrillion";
    *part = name->shard;
    if (name->shard.data != NULL && (facts.shard == 0 || facts.shard > facts.shard_count))
        return "is not a shard: shards are numbered from 00001 to their count";
    return NULL;
}
