/* Files for the rules of the schema. */
#include "schema.h"

#include "keys.h"
#include "sink.h"

/* ---- what a file is made of ----------------------------------------------------------------- */

#define PUT(call)                            \
    do {                                     \
        gufo_error error = no_error();       \
        check_ok(call, &error, "%s", #call); \
    } while (0)

void put_u32(gufo_document *d, const char *key, uint32_t v)
{
    PUT(gufo_document_set_u32(d, key, v, &error));
}

void put_value(gufo_document *d, const char *key, const gufo_value *value)
{
    PUT(gufo_document_set(d, key, value, &error));
}

void put_u16(gufo_document *d, const char *key, uint16_t v)
{
    const gufo_value value = {.type = GUFO_VALUE_UINT16, .as.u = v};

    put_value(d, key, &value);
}

void put_i32(gufo_document *d, const char *key, int32_t v)
{
    PUT(gufo_document_set_i32(d, key, v, &error));
}

void put_f32(gufo_document *d, const char *key, float v)
{
    PUT(gufo_document_set_f32(d, key, v, &error));
}

void put_bool(gufo_document *d, const char *key, bool v)
{
    PUT(gufo_document_set_bool(d, key, v, &error));
}

void put_text(gufo_document *d, const char *key, const char *text)
{
    PUT(gufo_document_set_text(d, key, text, &error));
}

void put_array(gufo_document *d, const char *key, gufo_value_type type, uint64_t count,
               const void *items)
{
    gufo_items all = {type, count, items};

    PUT(gufo_document_set_array(d, key, &all, &error));
}

void put_texts(gufo_document *d, const char *key, uint64_t count, const char *const texts[])
{
    gufo_str *views = calloc((size_t)count + 1, sizeof *views);

    check(views != NULL, "%s", key);
    for (size_t i = 0; i < count; i++)
        views[i] = gufo_str_of(texts[i]);
    put_array(d, key, GUFO_VALUE_STRING, count, views);
    free(views);
}

void put_tensor(gufo_document *d, const char *name, uint32_t type, uint64_t columns, uint64_t rows)
{
    uint64_t dims[] = {columns, rows};

    PUT(gufo_document_add_tensor(d, name, gufo_element_type_by_id(type), 2, dims, &error));
}

/* ---- the good file -------------------------------------------------------------------------- */

const char *const schema_tokens[SCHEMA_TOKENS] = {"<s>", "</s>", "a", "b", "c", "ab", "bc", "abc"};
const int32_t schema_types[SCHEMA_TOKENS] = {3, 3, 1, 1, 1, 1, 1, 1};
static const char *const merges[] = {"a b", "b c", "ab c"};

static const char *const keys[] = {
    "general.architecture string llama",    "llama.context_length uint32 16",
    "llama.embedding_length uint32 16",     "llama.block_count uint32 4",
    "llama.feed_forward_length uint32 16",  "llama.rope.dimension_count uint32 4",
    "llama.attention.head_count uint32 4",  "llama.attention.layer_norm_rms_epsilon float32 1e-5",
    "tokenizer.ggml.model string gpt2",     "tokenizer.ggml.pre string llama-bpe",
    "tokenizer.ggml.bos_token_id uint32 0", "tokenizer.ggml.eos_token_id uint32 1",
};

static void put_tokens(gufo_document *d, const char *key)
{
    put_texts(d, key, SCHEMA_TOKENS, schema_tokens);
}

static void put_types(gufo_document *d, const char *key)
{
    put_array(d, key, GUFO_VALUE_INT32, SCHEMA_TOKENS, schema_types);
}

static void put_merges(gufo_document *d, const char *key)
{
    put_texts(d, key, COUNT_OF(merges), merges);
}

static const struct {
    const char *key;
    void (*put)(gufo_document *d, const char *key);
} lists[] = {
    {"tokenizer.ggml.tokens", put_tokens},
    {"tokenizer.ggml.token_type", put_types},
    {"tokenizer.ggml.merges", put_merges},
};

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = words; at != NULL && (at = strstr(at, word)) != NULL; at += len)
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

/* Adds keys that are texts, but not those in `without`. */
static void put_keys(gufo_document *d, const char *texts, const char *without)
{
    key_text k;

    for (const char *at = texts; at != NULL && key_text_next(&at, &k);) {
        if (has_word(without, k.key))
            continue;
        if (k.value.type == GUFO_VALUE_ARRAY)
            put_array(d, k.key, k.items.type, k.items.count, k.items.items);
        else
            put_value(d, k.key, &k.value);
    }
}

/* The bytes of the file, which the caller frees. */
static uint8_t *build(const schema_file *f, size_t *size, const char *label)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);
    gufo_layout layout;
    size_t header_size;
    uint8_t *bytes;

    check(d != NULL, "%s: %s", label, error.message);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        put_keys(d, keys[i], f->without);
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (!has_word(f->without, lists[i].key))
            lists[i].put(d, lists[i].key);
    if (f->add != NULL)
        f->add(d);
    put_keys(d, f->keys, NULL);
    check_ok(gufo_document_layout(d, NULL, &layout, &error), &error, "%s", label);
    *size = (size_t)layout.file_size;
    bytes = calloc(1, *size);
    check(bytes != NULL, "%s", label);
    memcpy(bytes, document_header(d, &header_size), (size_t)layout.data_offset);
    gufo_document_free(d);
    return bytes;
}

/* ---- what is found -------------------------------------------------------------------------- */

typedef struct finding_count {
    const schema_row *row;
    bool bad; /* the file is one in which something should be found */
    const uint8_t *bytes;
    size_t size;
    size_t count;
} finding_count;

static void check_fix(const schema_row *row, const gufo_fix *fix)
{
    char number[32];

    if (row->fix == GUFO_FIX_NONE) {
        check(!fix->certain, "%s: a certain fix", row->label);
        return;
    }
    check_u64(fix->kind, row->fix, "%s: kind of fix", row->label);
    check(fix->certain == !row->proposed, "%s: how certain the fix is", row->label);
    if (row->fix_value == NULL)
        return;
    if (fix->value.type == GUFO_VALUE_STRING) {
        check_str(fix->value.as.str, row->fix_value, "%s: fix", row->label);
    } else {
        (void)snprintf(number, sizeof number, "%" PRIu64, fix->value.as.u);
        check(strcmp(number, row->fix_value) == 0, "%s: the fix is %s", row->label, number);
    }
}

static void check_place(const finding_count *f, uint64_t offset)
{
    size_t len = strlen(f->row->at);

    check(offset < f->size && f->size - offset >= len &&
              memcmp(f->bytes + offset, f->row->at, len) == 0,
          "%s: byte %" PRIu64 " is not where %s is", f->row->label, offset, f->row->at);
}

static void on_finding(void *context, const gufo_finding *finding)
{
    finding_count *f = context;
    const schema_row *row = f->row;

    f->count++;
    check(f->bad && strcmp(finding->rule->name, row->rule) == 0, "%s: in the %s file also %s: %s",
          row->label, f->bad ? "bad" : "good", finding->rule->name, finding->message);
    check(gufo_rule_by_id(finding->rule->id) == finding->rule, "%s", row->label);
    if (row->subject != NULL)
        check_str(finding->subject, row->subject, "%s: subject", row->label);
    if (row->at != NULL)
        check_place(f, finding->offset);
    check_fix(row, &finding->fix);
}

/* Replaces the parser of templates, which is in another library: it knows one name and one tag. */
static gufo_status judge_words(gufo_str source, const gufo_parse_options *options,
                               gufo_template_finding_fn *found, void *context, gufo_error *error)
{
    static const char name[] = "__class__", tag[] = "{% if";
    const size_t len = sizeof(name) - 1;

    (void)options;
    (void)error;
    for (size_t at = 0; at + len <= source.len; at++) {
        gufo_template_finding finding = {
            .offset = at, .line = 1, .column = at + 1, .message = "a word"};

        finding.dangerous = memcmp(source.data + at, name, len) == 0;
        if ((finding.dangerous || memcmp(source.data + at, tag, sizeof(tag) - 1) == 0) &&
            !found(context, &finding))
            break;
    }
    return GUFO_OK;
}

gufo_tokenizer_json_fn *schema_tokenizer_json;

static void check_file(const schema_row *row, bool bad)
{
    const schema_file *f = bad ? &row->bad : &row->good;
    gufo_check_options options = {.level = row->level != 0 ? row->level : GUFO_LEVEL_MODEL,
                                  .path = f->path,
                                  .judge = judge_words,
                                  .tokenizer_json = schema_tokenizer_json};
    gufo_error error = no_error();
    size_t size;
    uint8_t *bytes = build(f, &size, row->label);
    finding_count found = {.row = row, .bad = bad, .bytes = bytes, .size = size};
    gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_model *file = gufo_model_open_memory(bytes, size, &just_this, &error);

    check(file != NULL, "%s: %s", row->label, error.message);
    check_ok(gufo_model_check_content(file, &options, on_finding, &found, &error), &error, "%s",
             row->label);
    check(found.count == (bad ? 1 : 0), "%s: %zu findings in the %s file", row->label, found.count,
          bad ? "bad" : "good");
    gufo_model_free(file);
    free(bytes);
}

void schema_check_rows(const schema_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check(gufo_rule_by_id(rows[i].rule) != NULL, "%s: no rule %s", rows[i].label, rows[i].rule);
        check_file(&rows[i], true);
        check_file(&rows[i], false);
    }
}

static bool has_row(const schema_row *rows, size_t count, const gufo_rule *rule)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].rule, rule->name) == 0)
            return true;
    return false;
}

void schema_check_complete(const schema_row *rows, size_t count, const char *const prefixes[],
                           size_t prefix_count)
{
    const gufo_rule *rule;
    size_t seen = 0;

    for (size_t i = 0; (rule = gufo_rule_at(i)) != NULL; i++)
        for (size_t p = 0; p < prefix_count; p++) {
            if (strncmp(rule->id, prefixes[p], strlen(prefixes[p])) != 0)
                continue;
            seen++;
            check(has_row(rows, count, rule), "no row for %s %s", rule->id, rule->name);
        }
    check(seen > 0, "rules %s", prefixes[0]);
}
