/* Values of keys, as formulas of shapes need them. */
#include "schema/arch_values.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"

static const char attention[] = "attention.";

/* The value of a missing key, in terms of others. */
static const struct {
    const char *name, *value;
} defaults[] = {
    {"key_length", "embedding_length/head_count"},
    {"value_length", "embedding_length/head_count"},
    {"head_count_kv", "head_count"},
    {"feed_forward_length", "4*embedding_length"},
};

bool arch_entry(const checker *c, gufo_str name, gufo_entry *out)
{
    char key[128];
    int len = snprintf(key, sizeof key, "%s%.*s", attention, (int)(name.len & 0xff), name.data);

    if (len < 0 || (size_t)len >= sizeof key || name.len > 0xff)
        return false;
    return schema_check_arch_entry(c, key + strlen(attention), out) ||
           schema_check_arch_entry(c, key, out);
}

bool schema_entry_count(const gufo_entry *entry, uint64_t block, uint64_t *out)
{
    gufo_value element;

    if (entry->value.type != GUFO_VALUE_ARRAY)
        return gufo_value_u64(&entry->value, out, NULL) == GUFO_OK;
    /* Elements of other types are found in linear time only, and are not numbers. */
    return gufo_value_type_size(entry->value.as.array.type) != 0 &&
           gufo_array_at(&entry->value.as.array, block, &element, NULL) == GUFO_OK &&
           gufo_value_u64(&element, out, NULL) == GUFO_OK;
}

/* The name without "attention.", as shapes have it. */
static gufo_str short_name(gufo_str name)
{
    size_t prefix = strlen(attention);

    if (name.len > prefix && memcmp(name.data, attention, prefix) == 0)
        return (gufo_str){name.data + prefix, name.len - prefix};
    return name;
}

/* Whether the architecture needs the key; `name` is a short one. */
static bool is_required(const checker *c, gufo_str name)
{
    const gufo_arch_info *arch = gufo_arch_find(c->architecture);
    size_t count = 0;
    const gufo_arch_key *keys = arch != NULL ? gufo_arch_keys(arch->id, &count) : NULL;

    for (size_t i = 0; i < count; i++)
        if (gufo_str_equal(short_name(gufo_str_of(keys[i].key)), name))
            return keys[i].need == GUFO_REQUIRED;
    return false;
}

const gufo_arch_tensor *arch_tensors_of(const checker *c, size_t *count)
{
    const gufo_arch_info *arch = gufo_arch_find(c->architecture);

    *count = 0;
    return arch != NULL ? gufo_arch_tensors(arch->id, count) : NULL;
}

bool vocabulary_size(const checker *c, uint64_t *out)
{
    gufo_entry entry;

    if (gufo_metadata_find(c->model, "tokenizer.ggml.tokens", &entry) &&
        entry.value.type == GUFO_VALUE_ARRAY) {
        *out = entry.value.as.array.count;
        return true;
    }
    return schema_check_arch_entry(c, "vocab_size", &entry) && schema_entry_count(&entry, 0, out);
}

typedef struct value_lookup {
    const checker *c;
} value_lookup;

static bool look_up(void *context, gufo_str name, uint64_t block, uint64_t *out)
{
    const value_lookup *lookup = context;

    return arch_value(lookup->c, name, block, out);
}

/* A key that must be there has no default: that it is missing is another finding. */
static bool default_of(const checker *c, gufo_str name, uint64_t block, uint64_t *out)
{
    uint64_t dims[GUFO_MAX_DIMS];
    value_lookup lookup = {c};

    if (is_required(c, name))
        return false;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (gufo_str_equal(gufo_str_of(defaults[i].name), name) &&
            gufo_shape_evaluate(defaults[i].value, block, look_up, &lookup, dims) == 1) {
            *out = dims[0];
            return true;
        }
    return false;
}

bool arch_value(const checker *c, gufo_str name, uint64_t block, uint64_t *out)
{
    gufo_entry entry;

    if (gufo_str_equal(name, gufo_str_of("vocab")))
        return vocabulary_size(c, out);
    if (arch_entry(c, name, &entry))
        return schema_entry_count(&entry, block, out);
    return default_of(c, short_name(name), block, out);
}

block_range schema_block_range(const checker *c, uint64_t count)
{
    block_range range = {count, count};
    uint64_t more;

    if (!arch_value(c, gufo_str_of("nextn_predict_layers"), 0, &more))
        return range;
    range.required = more < count ? count - more : 0;
    if (!checked_add(count, more, &range.end))
        range.end = UINT64_MAX;
    return range;
}
