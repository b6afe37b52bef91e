/* The element types of the frameworks: numbers as safetensors and PyTorch call them. */
#ifndef IMPORT_CONTAINERS_NUMBER_TYPE_H
#define IMPORT_CONTAINERS_NUMBER_TYPE_H

#include "gufo/codec.h"

typedef enum number_kind {
    NUMBER_FLOAT,
    NUMBER_SIGNED,
    NUMBER_UNSIGNED,
    NUMBER_BOOL,
    NUMBER_OTHER, /* complex, or several in a byte */
} number_kind;

typedef struct number_type {
    const char *name;    /* of safetensors: "BF16" */
    const char *dtype;   /* of torch: "bfloat16" of torch.bfloat16; NULL: it has none */
    const char *storage; /* of torch: "BFloat16" of torch.BFloat16Storage; NULL: it has none */
    uint32_t bits;       /* of one element */
    number_kind kind;
    int32_t type; /* id of the GGUF element type with the same bytes; -1: it has none */
} number_type;

/* The number type that safetensors calls `name`; that torch calls torch.`dtype`, or whose class is
 * torch.`storage`Storage.  NULL: none is called so. */
const number_type *number_by_name(gufo_str name);
const number_type *number_by_dtype(gufo_str dtype);
const number_type *number_by_storage(gufo_str storage);

/* Row `index` of the table; NULL past the end. */
const number_type *number_at(size_t index);

/* The GGUF element type with the same bytes; NULL: it has none (BOOL, U8, F8_E4M3 ...). */
static inline const gufo_element_type *number_element_type(const number_type *number)
{
    return number->type < 0 ? NULL : gufo_element_type_by_id((uint32_t)number->type);
}

#endif
