/* The names that the format's own texts and programs give to rows: GGML_TYPE_Q4_0 for Q4_0. */
#ifndef GUFO_SCHEMA_OWN_NAME_H
#define GUFO_SCHEMA_OWN_NAME_H

#include "gufo/base.h"

typedef enum own_name_kind {
    OWN_NONE,         /* rows without such names */
    OWN_ELEMENT_TYPE, /* GGML_TYPE_Q4_0 */
    OWN_FILE_TYPE,    /* MOSTLY_Q4_K_M, LLAMA_FTYPE_ALL_F32 */
    OWN_VALUE_TYPE    /* GGUF_TYPE_UINT8 */
} own_name_kind;

/* What follows a prefix of that kind, in any case: "q4_0" for "ggml_type_q4_0"; `name` itself (at
 * the same address) where none is there.  What follows may be in any case, too. */
gufo_str own_name_bare(own_name_kind kind, gufo_str name);

/* Whether `given` is the name of a row as people write it: in any case, after a prefix of that kind
 * or none, and with or without the marks between its parts ("q4km", "Q4-K-M" for Q4_K_M). */
bool own_name_is(own_name_kind kind, gufo_str given, const char *name);

#endif
