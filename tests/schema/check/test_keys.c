/* Rules S1: keys.  Each has a file that breaks it, and nothing else, and one that does not. */
#include "../../support/pace.h"
#include "../../support/schema.h"
#include "../../support/sink.h"

static const char flag_bool[] = "tokenizer.ggml.add_bos_token bool true";
static const char architecture_llama4[] = "general.architecture string llama4";
static const char name_text[] = "general.name string Small";
static const char vocab_number[] = "llama.vocab_size uint32 8";
static const char layers_signed[] = "llama.leading_dense_block_count uint32 1";
static const char base_float64[] = "llama.rope.freq_base float64 10000";
static const char base_float32[] = "llama.rope.freq_base float32 10000";
static const char types_uint32[] = "tokenizer.ggml.token_type uint32[] 1 1 1 1 1 1 1 1";
static const char types_int32[] = "tokenizer.ggml.token_type int32[] 3 3 1 1 1 1 1 1";
static const char context_int64[] = "llama.context_length int64 64";
static const char context_uint64[] = "llama.context_length uint64 64";
static const char suffix_new[] = "tokenizer.ggml.fim_suf_token_id uint32 1";
static const char of_a_community[] = "rustformers.quality uint32 9";

#define ARCHITECTURE "general.architecture"
#define S GUFO_LEVEL_STANDARD
/* What is added to the bad file and to the good one, and nothing is offered. */
#define ROW(text, name, bad_add, good_add)                                                 \
    {                                                                                      \
        .label = text, .rule = name, .bad = {.keys = bad_add}, .good = {.keys = good_add}, \
        .level = S                                                                         \
    }

#define TYPE_ROW(text, name, out, bad_add, good_add, kind, how)                \
    {                                                                          \
        .label = text, .rule = name, .bad = {.without = out, .keys = bad_add}, \
        .good = {.without = out, .keys = good_add}, .fix = kind, .level = how  \
    }

/* A value of the wrong kind. */
#define FIT_ROW(text, out, bad_add, good_add, kind, to)                                      \
    {                                                                                        \
        .label = text, .rule = "key-value-type", .bad = {.without = out, .keys = bad_add},   \
        .good = {.without = out, .keys = good_add}, .fix = kind, .fix_value = to, .level = S \
    }

/* The architecture's own keys are left out where another one is meant. */
#define LLAMA_KEYS                                                                        \
    "general.architecture llama.context_length llama.embedding_length llama.block_count " \
    "llama.feed_forward_length llama.rope.dimension_count llama.attention.head_count "    \
    "llama.attention.layer_norm_rms_epsilon"

static const schema_row rows[] = {
    {.label = "unknown architecture",
     .rule = "architecture-unknown",
     .bad = {.without = ARCHITECTURE, .keys = "general.architecture string lama"},
     .good = {.without = LLAMA_KEYS, .keys = architecture_llama4},
     .subject = ARCHITECTURE,
     .level = S},
    {.label = "hyphen",
     .rule = "architecture-characters",
     .bad = {.without = LLAMA_KEYS, .keys = "general.architecture string falcon-h1"},
     .good = {.without = LLAMA_KEYS, .keys = architecture_llama4},
     .level = S},
    {.label = "specified: hyphen",
     .rule = "unspecified",
     .bad = {.without = LLAMA_KEYS, .keys = "general.architecture string falcon-h1"},
     .good = {.without = LLAMA_KEYS, .keys = architecture_llama4},
     .level = GUFO_LEVEL_SPEC},
    ROW("a name that programs do not know", "key-unread", "llama.rope.scale float32 2",
        base_float32),
    ROW("number for text", "key-value-type", "general.name uint32 1", name_text),
    ROW("negative count", "key-value-type", "llama.leading_dense_block_count int32 -1",
        layers_signed),
    FIT_ROW("a count as a text", "", "llama.vocab_size string 8", vocab_number, GUFO_FIX_SET, "8"),
    FIT_ROW("a count as a float", "", "llama.vocab_size float32 8", vocab_number, GUFO_FIX_SET,
            "8"),
    FIT_ROW("a count with a fraction", "", "llama.vocab_size float32 8.5", vocab_number,
            GUFO_FIX_NONE, NULL),
    FIT_ROW("a count in words", "", "llama.vocab_size string 8 tokens", vocab_number, GUFO_FIX_NONE,
            NULL),
    FIT_ROW("an integer for a float", "", "llama.rope.freq_base uint32 1000000", base_float32,
            GUFO_FIX_SET, NULL),
    FIT_ROW("an integer that no float32 is", "", "llama.rope.freq_base uint32 16777217",
            base_float32, GUFO_FIX_NONE, NULL),
    FIT_ROW("a number for a bool", "", "tokenizer.ggml.add_bos_token uint32 1", flag_bool,
            GUFO_FIX_SET, NULL),
    FIT_ROW("a number that no bool is", "", "tokenizer.ggml.add_bos_token uint32 2", flag_bool,
            GUFO_FIX_NONE, NULL),
    FIT_ROW("floats for integers", "tokenizer.ggml.token_type",
            "tokenizer.ggml.token_type float32[] 1 1 1 1 1 1 1 1", types_int32, GUFO_FIX_RETYPE,
            NULL),
    FIT_ROW("fractions for integers", "tokenizer.ggml.token_type",
            "tokenizer.ggml.token_type float32[] 1 1 1 1.5 1 1 1 1", types_int32, GUFO_FIX_NONE,
            NULL),
    TYPE_ROW("a count that is too wide", "key-type-read", "",
             "llama.leading_dense_block_count uint64 1", layers_signed, GUFO_FIX_SET, S),
    TYPE_ROW("a wide float", "key-type-read", "", base_float64, base_float32, GUFO_FIX_SET, S),
    TYPE_ROW("wide scores", "key-type-read", "", "tokenizer.ggml.scores float64[] 0 0 0 0 0 0 0 0",
             "tokenizer.ggml.scores float32[] 0 0 0 0 0 0 0 0", GUFO_FIX_RETYPE, S),
    TYPE_ROW("narrow token types", "key-type-read", "tokenizer.ggml.token_type",
             "tokenizer.ggml.token_type uint8[] 1 1 1 1 1 1 1 1", types_uint32, GUFO_FIX_RETYPE, S),
    TYPE_ROW("a signed context", "key-type-read", "llama.context_length", context_int64,
             context_uint64, GUFO_FIX_SET, S),
    {.label = "a wide shard count",
     .rule = "key-type-read",
     .bad = {.keys = "split.count uint32 1"},
     .good = {.keys = "split.count uint16 1"},
     .fix = GUFO_FIX_SET,
     .fix_value = "1",
     .proposed = true,
     .level = S},
    TYPE_ROW("specified: a signed context", "key-type-specified", "llama.context_length",
             context_int64, context_uint64, GUFO_FIX_SET, GUFO_LEVEL_SPEC),
    TYPE_ROW("specified: a wide float", "key-type-specified", "", base_float64, base_float32,
             GUFO_FIX_SET, GUFO_LEVEL_SPEC),
    TYPE_ROW("specified: unsigned token types", "key-type-specified", "tokenizer.ggml.token_type",
             types_uint32, types_int32, GUFO_FIX_RETYPE, GUFO_LEVEL_SPEC),
    ROW("unknown key of the architecture", "key-unknown", "llama.of_our_own uint32 1",
        "community.llama.of_our_own uint32 1"),
    TYPE_ROW("key of the draft", "key-outdated", "llama.embedding_length",
             "llama.hidden_size uint32 64", NULL, GUFO_FIX_RENAME, S),
    TYPE_ROW("source of the draft", "key-outdated", "",
             "general.url.original_source string https://example.org",
             "general.source.url string https://example.org", GUFO_FIX_RENAME, S),
    ROW("array of numbers for one of texts", "key-value-type", "general.tags int32[] 1 2",
        "general.tags int32[]"),
    {.label = "old name",
     .rule = "key-outdated",
     .bad = {.keys = "tokenizer.ggml.suffix_token_id uint32 1"},
     .good = {.keys = suffix_new},
     .subject = "tokenizer.ggml.suffix_token_id",
     .fix = GUFO_FIX_RENAME,
     .fix_value = "tokenizer.ggml.fim_suf_token_id",
     .level = S},
    ROW("old and new name", "key-outdated",
        "tokenizer.ggml.suffix_token_id uint32 1; tokenizer.ggml.fim_suf_token_id uint32 1",
        "tokenizer.ggml.seperator_token_id uint32 1"),
    ROW("old and new name differ", "key-contradiction",
        "tokenizer.ggml.suffix_token_id uint32 1; tokenizer.ggml.fim_suf_token_id uint32 2",
        suffix_new),
    ROW("separators differ", "key-contradiction",
        "tokenizer.ggml.seperator_token_id uint32 1; tokenizer.ggml.separator_token_id uint32 2",
        "tokenizer.ggml.seperator_token_id uint32 1; tokenizer.ggml.separator_token_id uint32 1"),
    {.label = "one letter wrong",
     .rule = "key-misspelt",
     .bad = {.keys = "llama.rope.freq_bose float32 1"},
     .good = {.keys = base_float32},
     .subject = "llama.rope.freq_bose",
     .fix = GUFO_FIX_RENAME,
     .fix_value = "llama.rope.freq_base",
     .level = S},
    ROW("two letters wrong", "key-misspelt", "general.orgnisaton string us", name_text),
    ROW("beside the right one", "key-unknown",
        "llama.rope.freq_base float32 1; llama.rope.freq_bose float32 2", base_float32),
    ROW("nearly one of another type", "key-unknown", "llama.rope.freq_bose string yes",
        base_float32),
    {.label = "behind a long name",
     .rule = "key-misspelt",
     .bad = {.without = LLAMA_KEYS,
             .keys =
                 "general.architecture string granitehybrid; granitehybrid.expert_cuont uint32 4"},
     .good = {.without = LLAMA_KEYS, .keys = architecture_llama4},
     .fix = GUFO_FIX_RENAME,
     .fix_value = "granitehybrid.expert_count",
     .level = S},
    {.label = "behind a long name, unlike any",
     .rule = "key-unknown",
     .bad = {.without = LLAMA_KEYS,
             .keys =
                 "general.architecture string granitehybrid; granitehybrid.layer_count uint32 4"},
     .good = {.without = LLAMA_KEYS, .keys = architecture_llama4},
     .level = S},
    {.label = "architecture in a key",
     .rule = "key-misspelt",
     .bad = {.keys = "lama.rope.freq_base float32 1"},
     .good = {.keys = base_float32},
     .fix = GUFO_FIX_RENAME,
     .fix_value = "llama.rope.freq_base",
     .level = S},
    ROW("key that says the layout", "key-misspelt", "general.aligment uint32 64", name_text),
    ROW("no prefix", "key-unprefixed", "quality uint32 9", of_a_community),
    ROW("prefix of the standard", "key-unprefixed", "general.quality_of_service uint32 9",
        of_a_community),
    ROW("foreign key", "key-foreign", "qwen2.expert_used_count uint32 2",
        "llama.expert_used_count uint32 2"),
};

static void test_rows(void **state)
{
    (void)state;
    schema_check_rows(rows, COUNT_OF(rows));
}

static void test_complete(void **state)
{
    static const char *const prefixes[] = {"S1"};

    (void)state;
    schema_check_complete(rows, COUNT_OF(rows), prefixes, COUNT_OF(prefixes));
}

/* ---- hints ---------------------------------------------------------------------------------- */

typedef struct kept_hint {
    size_t count;
    char text[512];
} kept_hint;

static void keep_hint(void *context, const gufo_finding *finding)
{
    kept_hint *kept = context;

    static const char *const kinds[] = {
        [GUFO_FIX_NONE] = "none", [GUFO_FIX_SET] = "set", [GUFO_FIX_RENAME] = "rename"};
    gufo_str right = finding->fix.value.as.str;

    kept->count++;
    if (finding->hint != NULL || finding->fix.kind == GUFO_FIX_NONE)
        (void)snprintf(kept->text, sizeof kept->text, "%s",
                       finding->hint != NULL ? finding->hint : "none");
    else
        (void)snprintf(kept->text, sizeof kept->text, "%s %.*s", kinds[finding->fix.kind],
                       (int)right.len, right.data);
}

/* Opens what was planned. */
static gufo_model *open_plan(gufo_document *d, const char *label)
{
    gufo_error error = no_error();
    const void *header;
    size_t size;
    gufo_model *file;

    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "%s", label);
    header = document_header(d, &size);
    file = gufo_model_open_memory(header, size, NULL, &error);
    check(file != NULL, "%s: %s", label, error.message);
    return file;
}

static kept_hint hint_of(const char *key, const char *text)
{
    gufo_check_options options = {.level = GUFO_LEVEL_STANDARD};
    gufo_error error = no_error();
    gufo_document_options lax = {.flags = GUFO_DOCUMENT_AS_READ};
    gufo_document *d = gufo_document_new(&lax, &error);
    kept_hint kept = {0};
    gufo_model *file;

    put_text(d, key, text);
    file = open_plan(d, key);
    check_ok(gufo_model_check_content(file, &options, keep_hint, &kept, &error), &error, "%s", key);
    gufo_model_free(file);
    gufo_document_free(d);
    return kept;
}

static void test_hints(void **state)
{
    static const struct {
        const char *key, *text, *hint;
    } cases[] = {
        {"general.architecture", "lama", "set llama"},
        {"general.nome", "x", "rename general.name"},
        {"General.Name", "x", "rename general.name"},
        {"general.dscriptin", "x", "rename general.description"},
        {"general.zebra", "x", "begin keys of your own"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        kept_hint kept = hint_of(cases[i].key, cases[i].text);

        check_u64(kept.count, 1, "%s", cases[i].key);
        check(strncmp(kept.text, cases[i].hint, strlen(cases[i].hint)) == 0, "%s: %s", cases[i].key,
              kept.text);
    }
}

/* ---- values of every type under every key --------------------------------------------------- */

typedef struct wrong_types {
    const char *key;
    size_t count;
} wrong_types;

static void count_wrong_type(void *context, const gufo_finding *finding)
{
    wrong_types *d = context;

    if (strcmp(finding->rule->name, "key-value-type") == 0) {
        check_str(finding->subject, d->key, "%s", d->key);
        d->count++;
    }
}

/* Numbers that are small, text with a NUL in it, and arrays of a few elements. */
static gufo_status put_any(gufo_document *d, const char *key, int type, gufo_error *error)
{
    static const gufo_str texts[] = {{"a\0b", 3}, {"", 0}, {"\xff", 1}};
    static const uint64_t zeros[4];
    static const gufo_items inner[] = {{GUFO_VALUE_INT8, 3, zeros}, {GUFO_VALUE_STRING, 3, texts}};
    gufo_value_type element = (gufo_value_type)(type - GUFO_VALUE_TYPE_COUNT);
    gufo_items items = {element, 3, zeros};
    gufo_value value = {.type = (gufo_value_type)type};

    if (type < GUFO_VALUE_TYPE_COUNT && value.type != GUFO_VALUE_ARRAY) {
        if (value.type == GUFO_VALUE_STRING)
            value.as.str = texts[0];
        return gufo_document_set(d, key, &value, error);
    }
    if (value.type == GUFO_VALUE_ARRAY)
        items.type = GUFO_VALUE_INT32;
    else if (element == GUFO_VALUE_STRING)
        items.items = texts;
    else if (element == GUFO_VALUE_ARRAY)
        items = (gufo_items){GUFO_VALUE_ARRAY, 2, inner};
    return gufo_document_set_array(d, key, &items, error);
}

static void check_type_of_key(const char *key, int type)
{
    gufo_check_options options = {.level = GUFO_LEVEL_MODEL, .path = key};
    wrong_types found = {.key = key};
    gufo_error error = no_error();
    gufo_document_options lax = {.flags = GUFO_DOCUMENT_AS_READ};
    gufo_document *d = gufo_document_new(&lax, &error);
    gufo_entry entry;
    gufo_model *file;

    check_ok(put_any(d, key, type, &error), &error, "%s, type %d", key, type);
    if (strcmp(key, "general.architecture") != 0)
        put_text(d, "general.architecture", "llama");
    file = open_plan(d, key);
    check_ok(gufo_model_check_content(file, &options, count_wrong_type, &found, &error), &error,
             "%s", key);
    check(gufo_model_find(file, key, &entry), "%s", key);
    check_u64(found.count, gufo_key_accepts(gufo_key_find(key, "llama"), &entry.value) ? 0 : 1,
              "%s, type %d", key, type);
    gufo_model_free(file);
    gufo_document_free(d);
}

/* Keys of other architectures are not looked at any further. */
static bool is_foreign(const char *key)
{
    size_t len = strcspn(key, ".");

    return gufo_arch_find_str((gufo_str){key, len}) != NULL && strncmp(key, "llama.", 6) != 0;
}

static void test_every_type(void **state)
{
    static const char arch[] = "{arch}";
    const gufo_key_info *info;

    (void)state;
    for (size_t i = 0; (info = gufo_key_at(i)) != NULL; i += all_or_few(1, 7)) {
        char key[256];
        bool of_llama = strncmp(info->key, arch, strlen(arch)) == 0;

        (void)snprintf(key, sizeof key, "%s%s", of_llama ? "llama" : "",
                       info->key + (of_llama ? strlen(arch) : 0));
        if (strchr(key, '{') != NULL || strcmp(key, "general.alignment") == 0 ||
            gufo_key_find(key, "llama") != info)
            continue;
        for (int type = 0; type < 2 * GUFO_VALUE_TYPE_COUNT; type++)
            if (!is_foreign(key))
                check_type_of_key(key, type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_every_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
