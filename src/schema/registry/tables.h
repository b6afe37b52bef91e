/* Finding rows in the tables of the registry, and what some of them hold. */
#ifndef GUFO_SCHEMA_TABLES_H
#define GUFO_SCHEMA_TABLES_H

#include "gufo/print.h"
#include "gufo/schema.h"

/* The numbers of rows, for who searches all of one. */
size_t schema_key_count(void);
size_t schema_arch_count(void);
size_t schema_tensor_info_count(void);
size_t schema_tokenizer_model_count(void);
size_t schema_pretokenizer_count(void);
size_t schema_special_token_count(void);
size_t schema_file_type_count(void);

/* ---- values ------------------------------------------------------------------------------------- */

size_t schema_layout_count(void);
/* The row with this name, NULL if none exists.  registry/tensor_data_layouts.tsv */
const gufo_data_layout *schema_layout_find(gufo_str name);

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
