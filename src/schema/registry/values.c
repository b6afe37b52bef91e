/* The table of values that the specification lists. */
#include "schema/registry/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gufo/codec.h"
#include "gufo/schema.h"
#include "schema/registry/pattern.h"

static const struct {
    const char *key, *value, *status;
} rows[] = {
#define ROW(key, value, status) {key, value, status},
#include "registry/values.inc"
#undef ROW
};

value_status values_find(const char *key, gufo_str value)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0 && gufo_str_equal(value, gufo_str_of(rows[i].value)))
            return strcmp(rows[i].status, "standard") == 0 ? VALUE_STANDARD : VALUE_IN_USE;
    return VALUE_UNKNOWN;
}

value_status values_find_number(const char *key, uint64_t value)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, value);

    return values_find(key, (gufo_str){text, (size_t)len});
}

/* The table of file types: general.file_type (spec, General metadata; numbers above 18 as the field
 * uses them). */

static const gufo_file_type file_types[] = {
#define GUFO_FILE_TYPE(id, name, base, flags) [id] = {id, #name, GUFO_TYPE_##base, flags},
#include "gufo/file_types.def"
#undef GUFO_FILE_TYPE
};

enum { FILE_TYPE_COUNT = sizeof file_types / sizeof *file_types };

enum {
    FILE_TYPE_ROWS = 0
#define GUFO_FILE_TYPE(id, name, base, flags) +1
#include "gufo/file_types.def"
#undef GUFO_FILE_TYPE
};

_Static_assert((int)FILE_TYPE_COUNT == (int)FILE_TYPE_ROWS,
               "ids run from 0 without a gap: the index is the id");

TABLE(file_types, gufo_file_type, schema_file_type_count, gufo_file_type_at)

const gufo_file_type *gufo_file_type_by_id(uint64_t id)
{
    return id < FILE_TYPE_COUNT ? &file_types[id] : NULL;
}

const gufo_file_type *gufo_file_type_by_name(const char *name)
{
    for (size_t i = 0; i < FILE_TYPE_COUNT; i++)
        if (strcmp(file_types[i].name, name) == 0)
            return &file_types[i];
    return NULL;
}

/* ---- the table of layouts of tensor data -------------------------------------------------------- */

static const gufo_data_layout layouts[] = {
#define ROW(name, arch, others, summary) {name, arch, others, summary},
#include "registry/tensor_data_layouts.inc"
#undef ROW
};

TABLE(layouts, gufo_data_layout, schema_layout_count, gufo_data_layout_at)

const gufo_data_layout *schema_layout_find(gufo_str name)
{
    return row_find(ROWS(layouts), name);
}

/* The tables of tokenizers: registry/tokenizer_models.tsv, registry/pretokenizers.tsv,
 * registry/special_tokens.tsv. */

static const gufo_tokenizer_info models[] = {
#define ROW(id, algorithm, bos, eos, unknown, separator, padding, mask, arrays) \
    {id, algorithm, bos, eos, unknown, separator, padding, mask, arrays},
#include "registry/tokenizer_models.inc"
#undef ROW
};

static const gufo_pretokenizer pretokenizers[] = {
#define ROW(id, family) {id, family},
#include "registry/pretokenizers.inc"
#undef ROW
};

static const gufo_special_token special_tokens[] = {
#define ROW(key, role) {key, role},
#include "registry/special_tokens.inc"
#undef ROW
};

TABLE(models, gufo_tokenizer_info, schema_tokenizer_model_count, gufo_tokenizer_info_at)

const gufo_tokenizer_info *gufo_tokenizer_info_find_str(gufo_str id)
{
    return row_find(ROWS(models), id);
}

const gufo_tokenizer_info *gufo_tokenizer_info_find(const char *id)
{
    return gufo_tokenizer_info_find_str(gufo_str_of(id));
}

TABLE(pretokenizers, gufo_pretokenizer, schema_pretokenizer_count, gufo_pretokenizer_at)

const gufo_pretokenizer *gufo_pretokenizer_find_str(gufo_str id)
{
    return row_find(ROWS(pretokenizers), id);
}

const gufo_pretokenizer *gufo_pretokenizer_find(const char *id)
{
    return gufo_pretokenizer_find_str(gufo_str_of(id));
}

TABLE(special_tokens, gufo_special_token, schema_special_token_count, gufo_special_token_at)
