/* Values of keys, as formulas of shapes need them. */
#include "schema/check/check.h"

#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/text.h"
#include "schema/registry/key.h"

static const char attention[] = "attention.";

/* Keys whose shapes are known without them: by what readers take instead, or by what the specification's
 * architectures have that do not have the key. */
static const struct {
    const char *name;
    const char *value; /* NULL: that of readers */
    const char *archs; /* with spaces between; NULL: all */
} defaults[] = {
    {"key_length", NULL, NULL},
    {"value_length", NULL, NULL},
    {"head_count_kv", NULL, NULL},
    {"feed_forward_length", "4*embedding_length", NULL},
    {"rope.dimension_count", "key_length", NULL},
    {"expert_shared_feed_forward_length", "feed_forward_length",
     "qwen2moe qwen35moe qwen3next hunyuan-moe"},
    {"expert_shared_feed_forward_length", "expert_feed_forward_length",
     "bailingmoe2 exaone-moe hy_v3"},
    {"expert_shared_feed_forward_length", "expert_feed_forward_length*expert_shared_count",
     "cohere2moe"},
};

bool arch_entry(const check_context *c, gufo_str name, gufo_entry *out)
{
    return schema_arch_entry(c, out, "%.*s", (int)name.len, name.data) ||
           schema_arch_entry(c, out, "%s%.*s", attention, (int)name.len, name.data);
}

static void note_key(const check_context *c, gufo_str key)
{
    keys_read *read = c->read;

    if (read != NULL && read->count < sizeof read->keys / sizeof *read->keys)
        read->keys[read->count++] = key;
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

static bool note_missing(const check_context *c, gufo_str name)
{
    if (c->read != NULL && c->read->missing.len == 0)
        c->read->missing = name;
    return false;
}

gufo_str arch_short_name(gufo_str name)
{
    size_t prefix = strlen(attention);

    return name.len > prefix && str_begins(name, attention) ? str_from(name, prefix) : name;
}

/* Whether the architecture needs the key; `name` is a short one. */
static bool is_required(const check_context *c, gufo_str name)
{
    for (size_t i = 0; i < c->key_count; i++)
        if (gufo_str_equal(arch_short_name(gufo_str_of(c->keys[i].key)), name))
            return c->keys[i].need == GUFO_REQUIRED;
    return false;
}

bool vocabulary_size(const check_context *c, uint64_t *out)
{
    gufo_entry entry;

    if (gufo_model_key_entry(c->model, "tokenizer.ggml.tokens", &entry) &&
        entry.value.type == GUFO_VALUE_ARRAY) {
        note_key(c, entry.key);
        *out = entry.value.as.array.count;
        return true;
    }
    if (!schema_arch_entry(c, &entry, "vocab_size"))
        return false;
    note_key(c, entry.key);
    return schema_entry_count(&entry, 0, out);
}

static bool look_up(void *context, gufo_str name, uint64_t block, uint64_t *out)
{
    const check_context *const *c = context;

    return arch_value(*c, name, block, out);
}

/* What readers take instead of a key of attention. */
static bool fallback_of(const check_context *c, gufo_str name, uint64_t block, uint64_t *out)
{
    gufo_entry entry = {.key = name};
    char key[KEY_SIZE];
    int len = snprintf(key, sizeof key, KEY_ARCH ".%s%.*s", attention, (int)name.len, name.data);

    return len > 0 && (size_t)len < sizeof key &&
           gufo_model_key_value(c->model, key, &entry.value) &&
           schema_entry_count(&entry, block, out);
}

static bool is_default_of(const check_context *c, size_t i, gufo_str name)
{
    return gufo_str_equal(gufo_str_of(defaults[i].name), name) &&
           (defaults[i].archs == NULL || str_is_word(c->architecture, defaults[i].archs));
}

/* Where that is not known either, another key is missing. */
static bool has_default(const check_context *c, gufo_str name)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (is_default_of(c, i, name))
            return true;
    return false;
}

/* A key that must be there has no default: that it is missing is another finding. */
static bool default_of(const check_context *c, gufo_str name, uint64_t block, uint64_t *out)
{
    uint64_t dims[GUFO_MAX_DIMS];

    if (is_required(c, name))
        return false;
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        if (!is_default_of(c, i, name))
            continue;
        if (defaults[i].value == NULL)
            return fallback_of(c, name, block, out);
        if (gufo_shape_evaluate(defaults[i].value, block, look_up, &c, dims) == 1) {
            *out = dims[0];
            return true;
        }
    }
    return false;
}

/* Numbers that are not the architecture's own. */
static const struct {
    const char *name, *key;
} shared_keys[] = {
    {"token_type_count", "tokenizer.ggml.token_type_count"},
};

static bool shared_value(const check_context *c, const char *key, uint64_t *out)
{
    gufo_entry entry;

    if (!gufo_model_key_entry(c->model, key, &entry))
        return false;
    note_key(c, entry.key);
    return schema_entry_count(&entry, 0, out);
}

bool arch_value(const check_context *c, gufo_str name, uint64_t block, uint64_t *out)
{
    gufo_entry entry;

    if (gufo_str_equal(name, gufo_str_of("vocab")))
        return vocabulary_size(c, out);
    for (size_t i = 0; i < sizeof shared_keys / sizeof *shared_keys; i++)
        if (gufo_str_equal(name, gufo_str_of(shared_keys[i].name)))
            return shared_value(c, shared_keys[i].key, out);
    if (arch_entry(c, name, &entry)) {
        note_key(c, entry.key);
        return schema_entry_count(&entry, block, out);
    }
    return default_of(c, arch_short_name(name), block, out) ||
           (!has_default(c, arch_short_name(name)) && note_missing(c, name));
}

/* Lengths that blocks with a sliding window have a key of their own for. */
static const struct {
    const char *name, *with_window;
} window_lengths[] = {
    {"key_length", "key_length_swa"},
    {"value_length", "value_length_swa"},
};

static bool has_window(const check_context *c, uint64_t block)
{
    gufo_entry entry;
    gufo_value element;
    bool window;

    return arch_entry(c, gufo_str_of("sliding_window_pattern"), &entry) &&
           entry.value.type == GUFO_VALUE_ARRAY && entry.value.as.array.type == GUFO_VALUE_BOOL &&
           gufo_array_at(&entry.value.as.array, block, &element, NULL) == GUFO_OK &&
           gufo_value_bool(&element, &window, NULL) == GUFO_OK && window;
}

bool arch_block_value(const check_context *c, gufo_str name, uint64_t block, uint64_t *out)
{
    gufo_entry entry;

    for (size_t i = 0; i < sizeof window_lengths / sizeof *window_lengths; i++) {
        gufo_str other = gufo_str_of(window_lengths[i].with_window);

        if (gufo_str_equal(name, gufo_str_of(window_lengths[i].name)) &&
            arch_entry(c, other, &entry) && has_window(c, block))
            return arch_value(c, other, block, out);
    }
    return arch_value(c, name, block, out);
}

block_range schema_block_range(const check_context *c, uint64_t count)
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
