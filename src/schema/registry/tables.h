/* Finding rows in the tables of the registry, and what some of them hold. */
#ifndef GUFO_SCHEMA_TABLES_H
#define GUFO_SCHEMA_TABLES_H

#include "gufo/base.h"

/* The numbers of rows, for who searches all of one. */
size_t schema_key_count(void);
size_t schema_arch_count(void);
size_t schema_tensor_info_count(void);
size_t schema_tokenizer_model_count(void);
size_t schema_pretokenizer_count(void);
size_t schema_special_token_count(void);
size_t schema_file_type_count(void);

/* ---- did you mean ...? -------------------------------------------------------------------------- */

/* The name of row `index`; a row with an empty name is never suggested. */
typedef gufo_str nearest_name(const void *table, size_t index);

/* Stores the row whose name is nearest to `text`, the first of several, and returns true; false if
 * none is near enough to be what was meant.  Only letters and digits count, without case, so that
 * "apache2" is one step from "Apache-2.0".  A step is a letter that is missing, superfluous,
 * another one, or changed places with its neighbour; one is allowed for each four of `text`, at
 * most four. Whatever the length of `text`, the work is bounded by the table. */
bool nearest_find(gufo_str text, nearest_name *name, const void *table, size_t count,
                  size_t *index);

/* ---- names with prefixes ------------------------------------------------------------------------ */

/* The names that the format's own texts and programs give to rows: GGML_TYPE_Q4_0 for Q4_0. */
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

/* ---- values ------------------------------------------------------------------------------------- */

/* Values of [llm].tensor_data_layout. */
typedef struct tensor_data_layout {
    const char *name;   /* "Meta AI original pth" */
    const char *arch;   /* that the specification describes it for; "" for all */
    const char *others; /* whose files have it as well, with blanks between */
    const char *summary;
} tensor_data_layout;

size_t schema_layout_count(void);
const tensor_data_layout *schema_layout_at(size_t index);
/* The row with this name, NULL if none exists.  registry/tensor_data_layouts.tsv */
const tensor_data_layout *schema_layout_find(gufo_str name);

/* Values that the specification lists for a key, and those that programs have added. */
typedef enum value_status {
    VALUE_UNKNOWN,
    VALUE_IN_USE,   /* programs know it, the specification does not */
    VALUE_STANDARD, /* the specification lists it */
} value_status;

/* Of a key as in registry/keys.tsv, or "ggml_type".  registry/values.tsv */
value_status values_find(const char *key, gufo_str value);
value_status values_find_number(const char *key, uint64_t value);

#endif
