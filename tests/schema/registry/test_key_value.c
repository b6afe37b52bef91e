/* What a model says of a key: under which of its names, and what readers take where it is missing. */
#include "../../support/keys.h"
#include "../../support/sink.h"

/* A model with these keys, as in keys.h. */
typedef struct opened {
    gufo_document *document;
    gufo_model *model;
} opened;

static void open_document(opened *o)
{
    gufo_error error = no_error();
    size_t size;
    const void *header = document_header(o->document, &size);

    o->model = gufo_model_open_memory(header, size, NULL, &error);
    check(o->model != NULL, "%s", error.message);
}

static opened open_keys(const char *keys)
{
    gufo_error error = no_error();
    opened o = {.document = gufo_document_new(NULL, &error)};
    key_text key;

    check(o.document != NULL, "%s", error.message);
    while (key_text_next(&keys, &key))
        check_ok(key.value.type == GUFO_VALUE_ARRAY
                     ? gufo_document_set_array(o.document, key.key, &key.items, &error)
                     : gufo_document_set(o.document, key.key, &key.value, &error),
                 &error, "%s", key.key);
    open_document(&o);
    return o;
}

static void close_keys(opened *o)
{
    gufo_model_free(o->model);
    gufo_document_free(o->document);
}

#define LLAMA "general.architecture string llama; "
#define MPT "general.architecture string mpt; "

/* ---- names ---------------------------------------------------------------------------------- */

static void test_entries(void **state)
{
    static const struct {
        const char *keys, *key, *found; /* NULL: none */
    } rows[] = {
        {LLAMA "llama.block_count uint32 1", "{arch}.block_count", "llama.block_count"},
        {LLAMA "llama.num_layers uint32 1", "{arch}.block_count", "llama.num_layers"},
        {LLAMA "mpt.num_layers uint32 1", "{arch}.block_count", NULL},
        {"llama.num_layers uint32 1", "{arch}.block_count", NULL},
        {LLAMA "llama.block_count uint32 1; llama.num_layers uint32 2", "{arch}.block_count",
         "llama.block_count"},
        {LLAMA "llama.num_layers uint32 2; llama.block_count uint32 1", "{arch}.block_count",
         "llama.block_count"},
        {LLAMA "llama.rope.scale float32 2", "{arch}.rope.scaling.factor", "llama.rope.scale"},
        {LLAMA "llama.rope.scale float32 2; llama.rope.scale_linear float32 4",
         "{arch}.rope.scaling.factor", "llama.rope.scale_linear"},
        {MPT "mpt.attention.clip_kqv float32 6", "{arch}.attention.clamp_kqv",
         "mpt.attention.clip_kqv"},
        {LLAMA "mpt.attention.clip_kqv float32 6", "{arch}.attention.clamp_kqv", NULL},
        {"tokenizer.ggml.seperator_token_id uint32 1", "tokenizer.ggml.separator_token_id",
         "tokenizer.ggml.seperator_token_id"},
        {"tokenizer.ggml.seperator_token_id uint32 1; tokenizer.ggml.separator_token_id uint32 2",
         "tokenizer.ggml.separator_token_id", "tokenizer.ggml.separator_token_id"},
        /* Readers in use prefer the old name. */
        {"tokenizer.ggml.fim_pre_token_id uint32 1; tokenizer.ggml.prefix_token_id uint32 2",
         "tokenizer.ggml.fim_pre_token_id", "tokenizer.ggml.prefix_token_id"},
        {"general.source.huggingface.repository string nest/egg", "general.source.repo_url", NULL},
        {"general.name string x", "general.name", "general.name"},
        {"general.name string x", "community.none", NULL},
        {"general.name string x", "general.base_model.{id}.name", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        opened o = open_keys(rows[i].keys);
        gufo_entry entry;

        check(gufo_model_key_entry(o.model, rows[i].key, &entry) == (rows[i].found != NULL), "%s",
              rows[i].keys);
        check(gufo_model_key_entry(o.model, rows[i].key, NULL) == (rows[i].found != NULL), "%s",
              rows[i].keys);
        if (rows[i].found != NULL)
            check_str(entry.key, rows[i].found, "%s", rows[i].keys);
        close_keys(&o);
    }
}

static void test_today(void **state)
{
    static const char *const rows[][3] = {
        {"mpt.attention.clip_kqv", "mpt", "{arch}.attention.clamp_kqv"},
        {"mpt.attention.clamp_kqv", "mpt", "{arch}.attention.clamp_kqv"},
        {"llama.num_rot", "llama", "{arch}.rope.dimension_count"},
        {"tokenizer.embedded.tokens", "", "tokenizer.ggml.tokens"},
        {"general.base_model.3.name", "", "general.base_model.{id}.name"},
        {"community.x", "llama", "none"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const gufo_key_info *info = gufo_key_today(rows[i][0], rows[i][1]);

        check_str(gufo_str_of(info != NULL ? info->key : "none"), rows[i][2], "%s", rows[i][0]);
    }
}

/* An architecture that is longer than all names of keys is still one. */
static void test_long_architecture(void **state)
{
    gufo_error error = no_error();
    opened o = {.document = gufo_document_new(NULL, &error)};
    char name[301], key[400];
    gufo_entry entry;

    (void)state;
    memset(name, 'a', 300);
    name[300] = '\0';
    snprintf(key, sizeof key, "%s.block_count", name);
    check_ok(gufo_document_set_text(o.document, "general.architecture", name, &error), &error,
             "name");
    check_ok(gufo_document_set_u32(o.document, key, 7, &error), &error, "%s", key);
    open_document(&o);
    check(gufo_model_key_entry(o.model, "{arch}.block_count", &entry), "long");
    check_str(entry.key, key, "long");
    check(!gufo_model_key_entry(o.model, "{arch}.context_length", &entry), "absent");
    close_keys(&o);
}

static void test_texts(void **state)
{
    static const char url[] = "general.source.repo_url string https://example.org/x; ";
    static const char repository[] = "general.source.huggingface.repository string nest/egg";
    char both[256], room[64];
    gufo_str text;
    opened o;

    (void)state;
    o = open_keys(repository);
    check(gufo_model_key_text(o.model, "general.source.repo_url", room, sizeof room, &text),
          "front");
    check_str(text, "https://huggingface.co/nest/egg", "front");
    check(!gufo_model_key_text(o.model, "general.source.repo_url", room, 30, &text), "no room");
    check(gufo_model_key_text(o.model, "general.source.repo_url", room, 31, &text), "just room");
    check(!gufo_model_key_text(o.model, "general.source.repo_url", room, 5, &text),
          "no room at all");
    check(!gufo_model_key_text(o.model, "general.name", room, sizeof room, &text), "absent");
    close_keys(&o);
    snprintf(both, sizeof both, "%s%s", url, repository);
    o = open_keys(both);
    check(gufo_model_key_text(o.model, "general.source.repo_url", NULL, 0, &text), "both");
    check_str(text, "https://example.org/x", "both");
    close_keys(&o);
    o = open_keys("general.source.huggingface.repository uint32 1");
    check(!gufo_model_key_text(o.model, "general.source.repo_url", room, sizeof room, &text),
          "a number");
    close_keys(&o);
}

/* ---- values --------------------------------------------------------------------------------- */

#define SIZES LLAMA "llama.embedding_length uint32 100; "

static void test_values(void **state)
{
    static const struct {
        const char *keys, *key;
        gufo_value_type type;
        double number; /* or the length of an array or a string */
    } rows[] = {
        {LLAMA, "{arch}.rope.freq_base", GUFO_VALUE_FLOAT32, 10000},
        {LLAMA "llama.rope.freq_base float32 5", "{arch}.rope.freq_base", GUFO_VALUE_FLOAT32, 5},
        {LLAMA "llama.rope.freq_base float32 5", "{arch}.rope.freq_base_swa", GUFO_VALUE_FLOAT32,
         5},
        {LLAMA, "{arch}.expert_count", GUFO_VALUE_UINT32, 0},
        {LLAMA, "{arch}.attention.causal", GUFO_VALUE_BOOL, 1},
        {LLAMA, "{arch}.swin_norm", GUFO_VALUE_BOOL, 0},
        {LLAMA, "{arch}.rope.scaling.type", GUFO_VALUE_STRING, 6},
        {LLAMA "llama.attention.num_heads uint32 7", "{arch}.attention.head_count_kv",
         GUFO_VALUE_UINT32, 7},
        {LLAMA "llama.attention.head_count uint32[] 7 8", "{arch}.attention.head_count_kv",
         GUFO_VALUE_ARRAY, 2},
        {SIZES "llama.attention.head_count uint32 7", "{arch}.attention.key_length",
         GUFO_VALUE_UINT32, 14},
        {SIZES "llama.attention.head_count uint32[] 9 8", "{arch}.attention.key_length",
         GUFO_VALUE_UINT32, 11},
        {SIZES "llama.attention.head_count uint32 7", "{arch}.rope.dimension_count_swa",
         GUFO_VALUE_UINT32, 14},
        {LLAMA "llama.hidden_size uint32 9; llama.attention.num_heads uint32 3",
         "{arch}.attention.value_length_swa", GUFO_VALUE_UINT32, 3},
        {LLAMA "tokenizer.ggml.merges uint32[] 1 2 3; tokenizer.embedded.tokens uint32[] 4 5",
         "{arch}.vocab_size", GUFO_VALUE_UINT32, 2},
        {"clip.projector_type string mlp", "clip.vision.projector_type", GUFO_VALUE_STRING, 3},
    };
    static const char *const unknown[][2] = {
        {LLAMA, "{arch}.block_count"},
        {LLAMA, "{arch}.attention.key_length"},
        {SIZES "llama.attention.head_count uint32 0", "{arch}.attention.key_length"},
        {SIZES "llama.attention.head_count uint32[]", "{arch}.attention.key_length"},
        {SIZES "llama.attention.head_count string x", "{arch}.attention.key_length"},
        {SIZES "llama.attention.head_count uint32 2", "{arch}.attention.scale"},
        {LLAMA "tokenizer.ggml.tokens uint32 1", "{arch}.vocab_size"},
        {LLAMA, "tokenizer.ggml.add_bos_token"},
        {LLAMA, "community.none"},
        {LLAMA, "clip.vision.projector_type"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        opened o = open_keys(rows[i].keys);
        gufo_value value;
        double number = 0;

        check(gufo_model_key_value(o.model, rows[i].key, &value), "%s", rows[i].keys);
        check_u64(value.type, rows[i].type, "%s", rows[i].key);
        if (value.type == GUFO_VALUE_BOOL)
            number = value.as.b;
        else if (value.type == GUFO_VALUE_STRING)
            number = (double)value.as.str.len;
        else if (value.type == GUFO_VALUE_ARRAY)
            number = (double)value.as.array.count;
        else if (value.type == GUFO_VALUE_FLOAT32)
            number = value.as.f;
        else
            number = (double)value.as.u;
        check(number == rows[i].number, "%s of %s is %g", rows[i].key, rows[i].keys, number);
        close_keys(&o);
    }
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        opened o = open_keys(unknown[i][0]);
        gufo_value value;

        check(!gufo_model_key_value(o.model, unknown[i][1], &value), "%s of %s", unknown[i][1],
              unknown[i][0]);
        close_keys(&o);
    }
}

static void test_getters(void **state)
{
    opened o = open_keys(SIZES "llama.num_layers string x; llama.attention.num_heads uint32 4; "
                               "tokenizer.embedded.scores float32[] 1 2");
    gufo_error error = no_error();
    gufo_array array;
    uint64_t count = 0;
    double real = 0;
    bool flag = true;
    gufo_str text;

    (void)state;
    check_ok(gufo_model_key_u64(o.model, "{arch}.attention.key_length", &count, &error), &error,
             "u64");
    check_u64(count, 25, "u64");
    check_ok(gufo_model_key_f64(o.model, "{arch}.rope.scaling.factor", &real, &error), &error,
             "f64");
    check(real == 1, "f64");
    check_ok(gufo_model_key_bool(o.model, "{arch}.swin_norm", &flag, &error), &error, "bool");
    check(!flag, "bool");
    check_ok(gufo_model_key_str(o.model, "general.type", &text, &error), &error, "str");
    check_str(text, "model", "str");
    check_ok(
        gufo_model_key_array(o.model, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, &array, &error),
        &error, "array");
    check_u64(array.count, 2, "array");
    check_status(gufo_model_key_u64(o.model, "{arch}.block_count", &count, &error), GUFO_E_TYPE,
                 &error, "type");
    check(strstr(error.message, "key \"llama.num_layers\"") != NULL, "%s", error.message);
    check_status(gufo_model_key_u64(o.model, "{arch}.context_length", &count, &error),
                 GUFO_E_NOT_FOUND, &error, "absent");
    check(strstr(error.message, "\"llama.context_length\"") != NULL, "%s", error.message);
    check_status(
        gufo_model_key_array(o.model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &array, &error),
        GUFO_E_NOT_FOUND, &error, "absent");
    check_status(gufo_model_key_str(o.model, "{arch}.rope.freq_base", &text, &error), GUFO_E_TYPE,
                 &error, "the fallback has another type");
    close_keys(&o);
}

/* ---- the tables ----------------------------------------------------------------------------- */

static bool is_pattern(const char *key)
{
    return strchr(key + (strncmp(key, "{arch}", 6) == 0 ? 6 : 0), '{') != NULL;
}

/* Each fallback is a value, or that of keys, or one of these words for people. */
static void test_fallbacks(void **state)
{
    static const char *const words[] = {"by tokenizer", "1 / sqrt(key_length)"};
    opened o = open_keys(LLAMA "llama.embedding_length uint32 64; llama.block_count uint32 2; "
                               "llama.attention.head_count uint32 4; "
                               "llama.context_length uint32 8; "
                               "llama.feed_forward_length uint32 16; "
                               "tokenizer.ggml.tokens uint32[] 1; clip.projector_type string x; "
                               "clip.vision.attention.head_count uint32 2");
    const gufo_key_info *info;

    (void)state;
    for (size_t i = 0; (info = gufo_key_at(i)) != NULL; i++) {
        gufo_value value;
        bool known = info->fallback[0] != '\0';

        for (size_t w = 0; w < COUNT_OF(words); w++)
            known = known && strcmp(info->fallback, words[w]) != 0;
        if (is_pattern(info->key) || gufo_model_key_entry(o.model, info->key, NULL))
            continue;
        check(gufo_model_key_value(o.model, info->key, &value) == known, "%s: %s", info->key,
              info->fallback);
        check(!known || gufo_key_accepts(info, &value), "%s: %s", info->key, info->fallback);
    }
    close_keys(&o);
}

/* A name that is one architecture's own is not another's that begins like it, with a dot or a NUL. */
static void test_own_names(void **state)
{
    static const gufo_str architectures[] = {
        {"mpt.attention", 13}, {"mpt.attention.clip_kqv\0AAAAAAAAAAAAAAAAAAAAAAAA", 47}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(architectures); i++) {
        gufo_error error = no_error();
        opened o = {.document = gufo_document_new(NULL, &error)};

        check_ok(
            gufo_document_set_str(o.document, "general.architecture", architectures[i], &error),
            &error, "%zu", i);
        check_ok(gufo_document_set_u32(o.document, "mpt.attention.clip_kqv", 6, &error), &error,
                 "%zu", i);
        open_document(&o);
        check(!gufo_model_key_entry(o.model, "{arch}.attention.clamp_kqv", NULL), "%zu", i);
        close_keys(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_today),
        cmocka_unit_test(test_long_architecture),
        cmocka_unit_test(test_own_names),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_fallbacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
