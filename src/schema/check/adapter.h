/* What an adapter is, for those that check it and those that merge it. */
#ifndef GUFO_SCHEMA_ADAPTER_H
#define GUFO_SCHEMA_ADAPTER_H

#include "base/text.h"

/* Whether rows of the tensor are looked up and not multiplied with: then the adapter's two tensors
 * have changed places, A is [rank, rows] and B is [rank, columns]. */
static inline bool adapter_is_looked_up(gufo_str base)
{
    return gufo_str_equal(base, gufo_str_of("token_embd.weight"));
}

/* Whether it is a tensor of DoRA, which scales rows by a magnitude. */
static inline bool adapter_is_magnitude(gufo_str name)
{
    return str_search(name, gufo_str_of("lora_magnitude")) != NULL;
}

#endif
