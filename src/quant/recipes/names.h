/* The meaning of a tensor's name: its kind, its layer, whether it is quantized at all. */
#ifndef GUFO_QUANT_RECIPE_NAMES_H
#define GUFO_QUANT_RECIPE_NAMES_H

#include "gufo/base.h"

/* The kinds of tensors that recipes distinguish. */
typedef enum tensor_kind {
    KIND_OTHER,
    KIND_OUTPUT,    /* output.weight */
    KIND_EMBEDDING, /* of tokens */
    KIND_V,         /* values, also fused with queries and keys */
    KIND_K,
    KIND_Q,
    KIND_ATTENTION_OUTPUT,
    KIND_UP,
    KIND_GATE,
    KIND_DOWN,
    KIND_COUNT
} tensor_kind;

tensor_kind recipe_kind(gufo_str name);

/* N of a name that begins with "blk.N"; -1 for any other. */
int64_t recipe_layer(gufo_str name);

/* The rule by which a tensor with that name keeps its type: a part of such names.  NULL if it may
 * be quantized. */
const char *recipe_kept_name(gufo_str name);

/* Whether the name is one of a weight: the only tensors that are quantized. */
bool recipe_is_weight(gufo_str name);

#endif
