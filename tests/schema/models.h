/* Models for tests of the rules about what a file means: lists of keys and of tensors that a test
 * fills and changes, and the findings of a file that has them.  There is no data behind the header.
 */
#ifndef TEST_SCHEMA_MODELS_H
#define TEST_SCHEMA_MODELS_H

#include "../support/findings.h"
#include "../support/keys.h"
#include "../support/sink.h"

enum { MODEL_KEYS = 64, MODEL_ITEMS = 8, MODEL_TENSORS = 20000 };

typedef struct model_key {
    char key[128];
    gufo_value value;
    char text[192];              /* of a string */
    uint32_t items[MODEL_ITEMS]; /* of an array */
} model_key;

typedef struct model_tensor {
    char name[GUFO_MAX_NAME + 1];
    uint32_t type, n_dims;
    uint64_t dims[GUFO_MAX_DIMS];
} model_tensor;

typedef struct model {
    model_key keys[MODEL_KEYS];
    size_t key_count;
    model_tensor *tensors; /* MODEL_TENSORS of them */
    size_t tensor_count;
} model;

static inline model model_new(const char *architecture);

static inline void model_free(model *m)
{
    free(m->tensors);
    m->tensors = NULL;
}

/* ---- keys ---- */

static inline model_key *model_find_key(model *m, const char *key)
{
    for (size_t i = 0; i < m->key_count; i++)
        if (strcmp(m->keys[i].key, key) == 0)
            return &m->keys[i];
    return NULL;
}

/* The key, which is added if it is not there. */
static inline model_key *model_set(model *m, const char *key, gufo_value_type type)
{
    model_key *found = model_find_key(m, key);

    if (found == NULL) {
        check(m->key_count < MODEL_KEYS, "%s", key);
        found = &m->keys[m->key_count++];
        memset(found, 0, sizeof *found);
        snprintf(found->key, sizeof found->key, "%s", key);
    }
    found->value.type = type;
    return found;
}

static inline void model_u32(model *m, const char *key, uint32_t value)
{
    model_set(m, key, GUFO_VALUE_UINT32)->value.as.u = value;
}

static inline void model_u64(model *m, const char *key, uint64_t value)
{
    model_set(m, key, GUFO_VALUE_UINT64)->value.as.u = value;
}

static inline void model_f32(model *m, const char *key, double value)
{
    model_set(m, key, GUFO_VALUE_FLOAT32)->value.as.f = value;
}

static inline void model_bool(model *m, const char *key, bool value)
{
    model_set(m, key, GUFO_VALUE_BOOL)->value.as.b = value;
}

static inline void model_text(model *m, const char *key, const char *value)
{
    model_key *k = model_set(m, key, GUFO_VALUE_STRING);

    snprintf(k->text, sizeof k->text, "%s", value);
}

/* An array of numbers of 4 bytes. */
static inline void model_array(model *m, const char *key, gufo_value_type type, uint64_t count,
                               const uint32_t *items)
{
    model_key *k = model_set(m, key, GUFO_VALUE_ARRAY);

    check(count <= MODEL_ITEMS && gufo_value_type_size(type) == 4, "%s", key);
    k->value.as.array.type = type;
    k->value.as.array.count = count;
    for (uint64_t i = 0; i < count; i++)
        k->items[i] = items[i];
}

static inline void model_list(model *m, const char *key, uint64_t count, const uint32_t *items)
{
    model_array(m, key, GUFO_VALUE_UINT32, count, items);
}

/* Sets the keys of a text (keys.h). */
static inline void model_keys(model *m, const char *keys)
{
    key_text k;

    for (const char *at = keys; at != NULL && key_text_next(&at, &k);)
        if (k.value.type == GUFO_VALUE_ARRAY)
            model_array(m, k.key, k.items.type, k.items.count, k.items.items);
        else if (k.value.type == GUFO_VALUE_STRING)
            model_text(m, k.key, k.text);
        else
            model_set(m, k.key, k.value.type)->value = k.value;
}

static inline void model_drop_key(model *m, const char *key)
{
    model_key *found = model_find_key(m, key);

    check(found != NULL, "%s", key);
    *found = m->keys[--m->key_count];
}

/* ---- tensors ---- */

static inline model_tensor *model_find(model *m, const char *name)
{
    for (size_t i = 0; i < m->tensor_count; i++)
        if (strcmp(m->tensors[i].name, name) == 0)
            return &m->tensors[i];
    check_failed(__FILE__, __LINE__, "no such tensor", "%s", name);
}

static inline model_tensor *model_add(model *m, const char *name, uint32_t n_dims, uint64_t columns,
                                      uint64_t rows)
{
    model_tensor *t = &m->tensors[m->tensor_count++];

    check(m->tensor_count <= MODEL_TENSORS && strlen(name) <= GUFO_MAX_NAME, "%s", name);
    *t = (model_tensor){.type = GUFO_TYPE_F32, .n_dims = n_dims, .dims = {columns, rows, 1, 1}};
    snprintf(t->name, sizeof t->name, "%.*s", GUFO_MAX_NAME, name);
    return t;
}

static inline void model_drop(model *m, const char *name)
{
    model_tensor *t = model_find(m, name), *last = &m->tensors[--m->tensor_count];

    memmove(t, t + 1, (size_t)(last - t) * sizeof *t);
}

static inline void model_rename(model *m, const char *name, const char *new_name)
{
    model_tensor *t = model_find(m, name);

    snprintf(t->name, sizeof t->name, "%s", new_name);
}

static inline model model_new(const char *architecture)
{
    model m = {.key_count = 0};

    m.tensors = calloc(MODEL_TENSORS, sizeof *m.tensors);
    check(m.tensors != NULL, "memory");
    if (architecture != NULL)
        model_text(&m, "general.architecture", architecture);
    return m;
}

/* ---- files ---- */

static inline void model_write_key(gufo_document *d, const model_key *k)
{
    gufo_error error = no_error();
    gufo_status status;

    if (k->value.type == GUFO_VALUE_ARRAY)
        status = gufo_document_set_array(
            d, k->key, &(gufo_items){k->value.as.array.type, k->value.as.array.count, k->items},
            &error);
    else if (k->value.type == GUFO_VALUE_STRING)
        status = gufo_document_set_text(d, k->key, k->text, &error);
    else
        status = gufo_document_set(d, k->key, &k->value, &error);
    check_ok(status, &error, "%s", k->key);
}

static inline gufo_document *model_document(const model *m)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);

    check(d != NULL, "%s", error.message);
    for (size_t i = 0; i < m->key_count; i++)
        model_write_key(d, &m->keys[i]);
    for (size_t i = 0; i < m->tensor_count; i++) {
        const model_tensor *t = &m->tensors[i];

        check_ok(gufo_document_add_tensor(d, t->name, gufo_element_type_by_id(t->type), t->n_dims,
                                          t->dims, &error),
                 &error, "%s", t->name);
    }
    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    return d;
}

/* Whether a finding is of the rules that are about models: M2, M3, M4 and M6. */
static inline bool is_model_rule(const gufo_rule *rule)
{
    return rule->id[0] == 'M' && strchr("2346", rule->id[1]) != NULL;
}

static inline void keep_model_finding(void *context, const gufo_finding *finding)
{
    if (is_model_rule(finding->rule))
        findings_add(context, finding);
}

/* Checks the file and hands the findings over. */
static inline void model_check_with(const model *m, const gufo_check_options *options,
                                    gufo_finding_fn *found, void *context)
{
    gufo_open_options metadata_only = {.flags = GUFO_OPEN_METADATA_ONLY};
    gufo_error error = no_error();
    gufo_document *d = model_document(m);
    size_t size;
    const void *header = document_header(d, &size);
    gufo_model *file = gufo_model_open_memory(header, size, &metadata_only, &error);

    check(file != NULL, "%s", error.message);
    check_ok(gufo_model_check_content(file, options, found, context, &error), &error, "check");
    gufo_model_free(file);
    gufo_document_free(d);
}

/* The findings for the file, to be freed. */
static inline findings model_check(const model *m, const gufo_check_options *options)
{
    findings found;

    findings_init(&found);
    model_check_with(m, options, keep_model_finding, &found);
    return found;
}

static const gufo_check_options model_level = {.level = GUFO_LEVEL_MODEL};

/* ---- rules ---- */

/* A file that breaks one rule, and without `damage` and `keys` none. */
typedef struct rule_row {
    const char *rule, *label;
    model (*make)(void);
    void (*damage)(model *m); /* NULL: nothing but the keys */
    const char *subject;      /* of the finding; NULL: any */
    size_t times;             /* 0: once */
    const char *keys;         /* that are set, as in keys.h; NULL: none */
} rule_row;

static inline void check_clean(const model *m, const char *label)
{
    findings found = model_check(m, &model_level);

    if (found.count > 0)
        findings_print(&found);
    check_u64(found.count, 0, "%s: findings", label);
    findings_free(&found);
}

/* Every finding is of this rule. */
static inline void check_only(const findings *found, const rule_row *row)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->items[i].rule->id, row->rule) != 0) {
            findings_print(found);
            check(false, "%s %s: also %s", row->rule, row->label, found->items[i].rule->id);
        }
    check_u64(found->count, row->times > 0 ? row->times : 1, "%s %s", row->rule, row->label);
    if (row->subject != NULL)
        check_view(((gufo_str){found->items[0].subject, found->items[0].subject_len}),
                   gufo_str_of(row->subject), "%s %s", row->rule, row->label);
}

static inline void check_rule_row(const rule_row *row)
{
    model m = row->make();
    findings found;

    check_clean(&m, row->label);
    if (row->damage != NULL)
        row->damage(&m);
    model_keys(&m, row->keys);
    found = model_check(&m, &model_level);
    check_only(&found, row);
    findings_free(&found);
    model_free(&m);
}

/* Checks all rows, and that there is one for every rule whose id begins with `prefix`. */
static inline void check_rule_rows(const rule_row *rows, size_t count, const char *prefix)
{
    for (size_t i = 0; i < count; i++)
        check_rule_row(&rows[i]);
    for (size_t i = 0; gufo_rule_at(i) != NULL; i++) {
        const gufo_rule *rule = gufo_rule_at(i);
        bool found = strncmp(rule->id, prefix, strlen(prefix)) != 0;

        for (size_t j = 0; j < count; j++)
            found |= strcmp(rule->id, rows[j].rule) == 0;
        check(found, "no row for rule %s", rule->id);
    }
}

/* ---- a llama ---- */

enum {
    TINY_EMBEDDING = 64,
    TINY_HEADS = 4,
    TINY_GROUPS = 2,
    TINY_KEYS = TINY_EMBEDDING / TINY_HEADS * TINY_GROUPS,
    TINY_FEED_FORWARD = 96,
    TINY_VOCABULARY = 48,
    TINY_BLOCKS = 2,
};

static inline void tiny_block(model *m, unsigned block)
{
    static const struct {
        const char *name;
        uint32_t columns, rows; /* 0: a vector */
    } parts[] = {
        {"attn_norm", TINY_EMBEDDING, 0},
        {"attn_q", TINY_EMBEDDING, TINY_EMBEDDING},
        {"attn_k", TINY_EMBEDDING, TINY_KEYS},
        {"attn_v", TINY_EMBEDDING, TINY_KEYS},
        {"attn_output", TINY_EMBEDDING, TINY_EMBEDDING},
        {"ffn_norm", TINY_EMBEDDING, 0},
        {"ffn_gate", TINY_EMBEDDING, TINY_FEED_FORWARD},
        {"ffn_up", TINY_EMBEDDING, TINY_FEED_FORWARD},
        {"ffn_down", TINY_FEED_FORWARD, TINY_EMBEDDING},
    };
    char name[GUFO_MAX_NAME];

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        snprintf(name, sizeof name, "blk.%u.%s.weight", block, parts[i].name);
        model_add(m, name, parts[i].rows > 0 ? 2 : 1, parts[i].columns,
                  parts[i].rows > 0 ? parts[i].rows : 1);
    }
}

static inline void tiny_keys(model *m)
{
    model_u32(m, "llama.context_length", 128);
    model_u32(m, "llama.embedding_length", TINY_EMBEDDING);
    model_u32(m, "llama.block_count", TINY_BLOCKS);
    model_u32(m, "llama.feed_forward_length", TINY_FEED_FORWARD);
    model_u32(m, "llama.attention.head_count", TINY_HEADS);
    model_u32(m, "llama.attention.head_count_kv", TINY_GROUPS);
    model_f32(m, "llama.attention.layer_norm_rms_epsilon", 1e-5);
    model_u32(m, "llama.rope.dimension_count", TINY_EMBEDDING / TINY_HEADS);
    model_u32(m, "llama.vocab_size", TINY_VOCABULARY);
}

/* Complete, with no tensor that is not needed but the output. */
static inline model tiny_llama(void)
{
    model m = model_new("llama");

    tiny_keys(&m);
    model_add(&m, "token_embd.weight", 2, TINY_EMBEDDING, TINY_VOCABULARY);
    for (unsigned i = 0; i < TINY_BLOCKS; i++)
        tiny_block(&m, i);
    model_add(&m, "output_norm.weight", 1, TINY_EMBEDDING, 1);
    model_add(&m, "output.weight", 2, TINY_EMBEDDING, TINY_VOCABULARY);
    return m;
}

#endif
