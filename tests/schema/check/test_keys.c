/* Rules S1: keys.  Each has a file that breaks it, and nothing else, and one that does not. */
#include "../../support/schema.h"
#include "../../support/sink.h"

static void architecture_llama4(gufo_document *d)
{
    put_text(d, "general.architecture", "llama4");
}

static void architecture_misspelt(gufo_document *d)
{
    put_text(d, "general.architecture", "lama");
}

static void architecture_hyphen(gufo_document *d)
{
    put_text(d, "general.architecture", "falcon-h1");
}

static void name_number(gufo_document *d)
{
    put_u32(d, "general.name", 1);
}

static void name_text(gufo_document *d)
{
    put_text(d, "general.name", "Small");
}

static void vocab_text(gufo_document *d)
{
    put_text(d, "llama.vocab_size", "8");
}

static void vocab_float(gufo_document *d)
{
    put_f32(d, "llama.vocab_size", 8);
}

static void vocab_number(gufo_document *d)
{
    put_u32(d, "llama.vocab_size", 8);
}

static void vocab_fraction(gufo_document *d)
{
    put_f32(d, "llama.vocab_size", 8.5F);
}

static void vocab_words(gufo_document *d)
{
    put_text(d, "llama.vocab_size", "8 tokens");
}

static void base_integer(gufo_document *d)
{
    put_u32(d, "llama.rope.freq_base", 1000000);
}

/* More digits than a float32 has. */
static void base_long(gufo_document *d)
{
    put_u32(d, "llama.rope.freq_base", 16777217);
}

static void flag_number(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.add_bos_token", 1);
}

static void flag_two(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.add_bos_token", 2);
}

static void flag_bool(gufo_document *d)
{
    put_bool(d, "tokenizer.ggml.add_bos_token", true);
}

static void types_float(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_FLOAT32, SCHEMA_TOKENS,
              (float[SCHEMA_TOKENS]){1, 1, 1, 1, 1, 1, 1, 1});
}

static void types_fraction(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_FLOAT32, SCHEMA_TOKENS,
              (float[SCHEMA_TOKENS]){1, 1, 1, 1.5F, 1, 1, 1, 1});
}

static void layers_negative(gufo_document *d)
{
    put_i32(d, "llama.leading_dense_block_count", -1);
}

static void layers_signed(gufo_document *d)
{
    put_u32(d, "llama.leading_dense_block_count", 1);
}

static void layers_uint64(gufo_document *d)
{
    const gufo_value value = {.type = GUFO_VALUE_UINT64, .as.u = 1};

    put_value(d, "llama.leading_dense_block_count", &value);
}

static void base_float64(gufo_document *d)
{
    const gufo_value value = {.type = GUFO_VALUE_FLOAT64, .as.f = 10000};

    put_value(d, "llama.rope.freq_base", &value);
}

static void base_float32(gufo_document *d)
{
    put_f32(d, "llama.rope.freq_base", 10000);
}

static void scores_float64(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT64, SCHEMA_TOKENS,
              (double[SCHEMA_TOKENS]){0});
}

static void scores_float32(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.scores", GUFO_VALUE_FLOAT32, SCHEMA_TOKENS,
              (float[SCHEMA_TOKENS]){0});
}

static void types_uint8(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_UINT8, SCHEMA_TOKENS,
              (uint8_t[SCHEMA_TOKENS]){1, 1, 1, 1, 1, 1, 1, 1});
}

static void types_uint32(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_UINT32, SCHEMA_TOKENS,
              (uint32_t[SCHEMA_TOKENS]){1, 1, 1, 1, 1, 1, 1, 1});
}

static void types_int32(gufo_document *d)
{
    put_array(d, "tokenizer.ggml.token_type", GUFO_VALUE_INT32, SCHEMA_TOKENS, schema_types);
}

static void context_int64(gufo_document *d)
{
    const gufo_value value = {.type = GUFO_VALUE_INT64, .as.i = 64};

    put_value(d, "llama.context_length", &value);
}

static void context_uint64(gufo_document *d)
{
    const gufo_value value = {.type = GUFO_VALUE_UINT64, .as.u = 64};

    put_value(d, "llama.context_length", &value);
}

static void split_uint32(gufo_document *d)
{
    put_u32(d, "split.count", 1);
}

static void split_uint16(gufo_document *d)
{
    put_u16(d, "split.count", 1);
}

static void own_key(gufo_document *d)
{
    put_u32(d, "llama.of_our_own", 1);
}

static void community_key(gufo_document *d)
{
    put_u32(d, "community.llama.of_our_own", 1);
}

static void draft_keys(gufo_document *d)
{
    put_u32(d, "llama.hidden_size", 64);
}

static void draft_source(gufo_document *d)
{
    put_text(d, "general.url.original_source", "https://example.org");
}

static void source_today(gufo_document *d)
{
    put_text(d, "general.source.url", "https://example.org");
}

static void tokens_of_numbers(gufo_document *d)
{
    put_array(d, "general.tags", GUFO_VALUE_INT32, 2, (int32_t[]){1, 2});
}

static void tags_empty(gufo_document *d)
{
    put_array(d, "general.tags", GUFO_VALUE_INT32, 0, NULL);
}

static void suffix_old(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.suffix_token_id", 1);
}

static void suffix_new(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.fim_suf_token_id", 1);
}

static void suffix_both(gufo_document *d)
{
    suffix_old(d);
    suffix_new(d);
}

static void suffix_differs(gufo_document *d)
{
    suffix_old(d);
    put_u32(d, "tokenizer.ggml.fim_suf_token_id", 2);
}

static void separator_typo(gufo_document *d)
{
    put_u32(d, "tokenizer.ggml.seperator_token_id", 1);
}

static void separator_both(gufo_document *d)
{
    separator_typo(d);
    put_u32(d, "tokenizer.ggml.separator_token_id", 1);
}

static void separator_differs(gufo_document *d)
{
    separator_typo(d);
    put_u32(d, "tokenizer.ggml.separator_token_id", 2);
}

static void one_letter_wrong(gufo_document *d)
{
    put_f32(d, "llama.rope.freq_bose", 1);
}

static void two_letters_wrong(gufo_document *d)
{
    put_text(d, "general.orgnisaton", "us");
}

static void architecture_wrong(gufo_document *d)
{
    put_f32(d, "lama.rope.freq_base", 1);
}

static void number_of_its_own(gufo_document *d, const char *key)
{
    put_text(d, "general.architecture", "granitehybrid");
    put_u32(d, key, 4);
}

static void count_misspelt(gufo_document *d)
{
    number_of_its_own(d, "granitehybrid.expert_cuont");
}

/* Only the architecture's name makes it look like "granitehybrid.expert_count". */
static void count_of_layers(gufo_document *d)
{
    number_of_its_own(d, "granitehybrid.layer_count");
}

static void layout_misspelt(gufo_document *d)
{
    put_u32(d, "general.aligment", 64);
}

static void wrong_beside_right(gufo_document *d)
{
    put_f32(d, "llama.rope.freq_base", 1);
    put_f32(d, "llama.rope.freq_bose", 2);
}

static void nearly_of_another_type(gufo_document *d)
{
    put_text(d, "llama.rope.freq_bose", "yes");
}

static void without_prefix(gufo_document *d)
{
    put_u32(d, "quality", 9);
}

static void in_the_standard(gufo_document *d)
{
    put_u32(d, "general.quality_of_service", 9);
}

static void of_a_community(gufo_document *d)
{
    put_u32(d, "rustformers.quality", 9);
}

static void of_another_architecture(gufo_document *d)
{
    put_u32(d, "qwen2.expert_used_count", 2);
}

static void of_its_own(gufo_document *d)
{
    put_u32(d, "llama.expert_used_count", 2);
}

#define ARCHITECTURE "general.architecture"
#define S GUFO_LEVEL_STANDARD
/* What is added to the bad file and to the good one, and nothing is offered. */
#define ROW(text, name, bad_add, good_add)                                               \
    {                                                                                    \
        .label = text, .rule = name, .bad = {.add = bad_add}, .good = {.add = good_add}, \
        .level = S                                                                       \
    }

#define TYPE_ROW(text, name, out, bad_add, good_add, kind, how)               \
    {                                                                         \
        .label = text, .rule = name, .bad = {.without = out, .add = bad_add}, \
        .good = {.without = out, .add = good_add}, .fix = kind, .level = how  \
    }

/* A value of the wrong kind. */
#define FIT_ROW(text, out, bad_add, good_add, kind, to)                                     \
    {                                                                                       \
        .label = text, .rule = "key-value-type", .bad = {.without = out, .add = bad_add},   \
        .good = {.without = out, .add = good_add}, .fix = kind, .fix_value = to, .level = S \
    }

/* The architecture's own keys are left out where another one is meant. */
#define LLAMA_KEYS                                                                        \
    "general.architecture llama.context_length llama.embedding_length llama.block_count " \
    "llama.feed_forward_length llama.rope.dimension_count llama.attention.head_count "    \
    "llama.attention.layer_norm_rms_epsilon"

static const schema_row rows[] = {
    {.label = "unknown architecture",
     .rule = "architecture-unknown",
     .bad = {.without = ARCHITECTURE, .add = architecture_misspelt},
     .good = {.without = LLAMA_KEYS, .add = architecture_llama4},
     .subject = ARCHITECTURE,
     .level = S},
    {.label = "hyphen",
     .rule = "architecture-characters",
     .bad = {.without = LLAMA_KEYS, .add = architecture_hyphen},
     .good = {.without = LLAMA_KEYS, .add = architecture_llama4},
     .level = S},
    ROW("number for text", "key-value-type", name_number, name_text),
    ROW("negative count", "key-value-type", layers_negative, layers_signed),
    FIT_ROW("a count as a text", "", vocab_text, vocab_number, GUFO_FIX_SET, "8"),
    FIT_ROW("a count as a float", "", vocab_float, vocab_number, GUFO_FIX_SET, "8"),
    FIT_ROW("a count with a fraction", "", vocab_fraction, vocab_number, GUFO_FIX_NONE, NULL),
    FIT_ROW("a count in words", "", vocab_words, vocab_number, GUFO_FIX_NONE, NULL),
    FIT_ROW("an integer for a float", "", base_integer, base_float32, GUFO_FIX_SET, NULL),
    FIT_ROW("an integer that no float32 is", "", base_long, base_float32, GUFO_FIX_NONE, NULL),
    FIT_ROW("a number for a bool", "", flag_number, flag_bool, GUFO_FIX_SET, NULL),
    FIT_ROW("a number that no bool is", "", flag_two, flag_bool, GUFO_FIX_NONE, NULL),
    FIT_ROW("floats for integers", "tokenizer.ggml.token_type", types_float, types_int32,
            GUFO_FIX_RETYPE, NULL),
    FIT_ROW("fractions for integers", "tokenizer.ggml.token_type", types_fraction, types_int32,
            GUFO_FIX_NONE, NULL),
    TYPE_ROW("a count that is too wide", "key-type-read", "", layers_uint64, layers_signed,
             GUFO_FIX_SET, S),
    TYPE_ROW("a wide float", "key-type-read", "", base_float64, base_float32, GUFO_FIX_SET, S),
    TYPE_ROW("wide scores", "key-type-read", "", scores_float64, scores_float32, GUFO_FIX_RETYPE,
             S),
    TYPE_ROW("narrow token types", "key-type-read", "tokenizer.ggml.token_type", types_uint8,
             types_uint32, GUFO_FIX_RETYPE, S),
    TYPE_ROW("a signed context", "key-type-read", "llama.context_length", context_int64,
             context_uint64, GUFO_FIX_SET, S),
    {.label = "a wide shard count",
     .rule = "key-type-read",
     .bad = {.add = split_uint32},
     .good = {.add = split_uint16},
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
    ROW("unknown key of the architecture", "key-unknown", own_key, community_key),
    TYPE_ROW("key of the draft", "key-outdated", "llama.embedding_length", draft_keys, NULL,
             GUFO_FIX_RENAME, S),
    TYPE_ROW("source of the draft", "key-outdated", "", draft_source, source_today, GUFO_FIX_RENAME,
             S),
    ROW("array of numbers for one of texts", "key-value-type", tokens_of_numbers, tags_empty),
    {.label = "old name",
     .rule = "key-outdated",
     .bad = {.add = suffix_old},
     .good = {.add = suffix_new},
     .subject = "tokenizer.ggml.suffix_token_id",
     .fix = GUFO_FIX_RENAME,
     .fix_value = "tokenizer.ggml.fim_suf_token_id",
     .level = S},
    ROW("old and new name", "key-outdated", suffix_both, separator_typo),
    ROW("old and new name differ", "key-contradiction", suffix_differs, suffix_new),
    ROW("separators differ", "key-contradiction", separator_differs, separator_both),
    {.label = "one letter wrong",
     .rule = "key-misspelt",
     .bad = {.add = one_letter_wrong},
     .good = {.add = base_float32},
     .subject = "llama.rope.freq_bose",
     .fix = GUFO_FIX_RENAME,
     .fix_value = "llama.rope.freq_base",
     .level = S},
    ROW("two letters wrong", "key-misspelt", two_letters_wrong, name_text),
    ROW("beside the right one", "key-unknown", wrong_beside_right, base_float32),
    ROW("nearly one of another type", "key-unknown", nearly_of_another_type, base_float32),
    {.label = "behind a long name",
     .rule = "key-misspelt",
     .bad = {.without = LLAMA_KEYS, .add = count_misspelt},
     .good = {.without = LLAMA_KEYS, .add = architecture_llama4},
     .fix = GUFO_FIX_RENAME,
     .fix_value = "granitehybrid.expert_count",
     .level = S},
    {.label = "behind a long name, unlike any",
     .rule = "key-unknown",
     .bad = {.without = LLAMA_KEYS, .add = count_of_layers},
     .good = {.without = LLAMA_KEYS, .add = architecture_llama4},
     .level = S},
    {.label = "architecture in a key",
     .rule = "key-misspelt",
     .bad = {.add = architecture_wrong},
     .good = {.add = base_float32},
     .fix = GUFO_FIX_RENAME,
     .fix_value = "llama.rope.freq_base",
     .level = S},
    ROW("key that says the layout", "key-misspelt", layout_misspelt, name_text),
    ROW("no prefix", "key-unprefixed", without_prefix, of_a_community),
    ROW("prefix of the standard", "key-unprefixed", in_the_standard, of_a_community),
    ROW("foreign key", "key-foreign", of_another_architecture, of_its_own),
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
    file = gufo_open_memory(header, size, NULL, &error);
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
    check_ok(gufo_check(file, &options, keep_hint, &kept, &error), &error, "%s", key);
    gufo_close(file);
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
        return gufo_document_set(d, gufo_str_of(key), &value, error);
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
    check_ok(gufo_check(file, &options, count_wrong_type, &found, &error), &error, "%s", key);
    check(gufo_metadata_find(file, key, &entry), "%s", key);
    check_u64(found.count,
              gufo_key_accepts(gufo_key_find(gufo_str_of(key), gufo_str_of("llama")), &entry.value)
                  ? 0
                  : 1,
              "%s, type %d", key, type);
    gufo_close(file);
    gufo_document_free(d);
}

/* Keys of other architectures are not looked at any further. */
static bool is_foreign(const char *key)
{
    size_t len = strcspn(key, ".");

    return gufo_arch_find((gufo_str){key, len}) != NULL && strncmp(key, "llama.", 6) != 0;
}

static void test_every_type(void **state)
{
    static const char arch[] = "{arch}";
    const gufo_key_info *info;

    (void)state;
    for (size_t i = 0; (info = gufo_key_at(i)) != NULL; i++) {
        char key[256];
        bool of_llama = strncmp(info->key, arch, strlen(arch)) == 0;

        (void)snprintf(key, sizeof key, "%s%s", of_llama ? "llama" : "",
                       info->key + (of_llama ? strlen(arch) : 0));
        if (strchr(key, '{') != NULL || strcmp(key, "general.alignment") == 0 ||
            gufo_key_find(gufo_str_of(key), gufo_str_of("llama")) != info)
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
