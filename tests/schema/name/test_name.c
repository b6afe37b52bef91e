/* Names of files: their parts, the reasons of those that do not conform, and names made from files.
 * The matcher is compared with the expression itself in test_name_pcre2.c. */
#include "../../support/folder.h"
#include "../../support/sink.h"

#include "schema/name/name.h"

/* ---- parts ---------------------------------------------------------------------------------- */

enum { PART_COUNT = 8 };

static const char *const part_names[PART_COUNT] = {
    "sidecar", "base name", "size label", "fine tune", "version", "encoding", "type", "shard"};

/* NULL: absent. */
static void check_parts(const char *name, const gufo_name *got, const char *const *expected)
{
    const gufo_str parts[] = {got->sidecar, got->base_name, got->size_label, got->fine_tune,
                              got->version, got->encoding,  got->type,       got->shard};

    for (size_t i = 0; i < PART_COUNT; i++) {
        if (expected[i] == NULL)
            check(parts[i].data == NULL, "%s: no %s", name, part_names[i]);
        else
            check_str(parts[i], expected[i], "%s: %s", name, part_names[i]);
    }
}

typedef struct example {
    const char *name;
    const char *parts[PART_COUNT];
} example;

static const example conforming[] = {
    /* the specification */
    {"Mixtral-8x7B-v0.1-KQ2.gguf", {NULL, "Mixtral", "8x7B", NULL, "v0.1", "KQ2", NULL, NULL}},
    {"Grok-100B-v1.0-Q4_0-00003-of-00009.gguf",
     {NULL, "Grok", "100B", NULL, "v1.0", "Q4_0", NULL, "00003-of-00009"}},
    {"Hermes-2-Pro-Llama-3-8B-v1.0-F16.gguf",
     {NULL, "Hermes-2-Pro-Llama-3", "8B", NULL, "v1.0", "F16", NULL, NULL}},
    {"Phi-3-mini-3.8B-ContextLength4k-instruct-v1.0.gguf",
     {NULL, "Phi-3-mini", "3.8B-ContextLength4k", "instruct", "v1.0", NULL, NULL, NULL}},
    /* sidecars */
    {"mmproj-Qwen3-27B-v1.0-F16.gguf", {"mmproj", "Qwen3", "27B", NULL, "v1.0", "F16", NULL, NULL}},
    {"mtp-Qwen3-27B-v1.0-Q4_K_M.gguf", {"mtp", "Qwen3", "27B", NULL, "v1.0", "Q4_K_M", NULL, NULL}},
    {"mmproj-mtp-8B-v1.gguf", {"mmproj", "mtp", "8B", NULL, "v1", NULL, NULL, NULL}},
    {"mmproj-8B-v1.gguf", {NULL, "mmproj", "8B", NULL, "v1", NULL, NULL, NULL}},
    /* every part at once, and each kind */
    {"mtp-a-7B-x-y-v1.2.3-IQ2_XS-LoRA-00001-of-00002.gguf",
     {"mtp", "a", "7B", "x-y", "v1.2.3", "IQ2_XS", "LoRA", "00001-of-00002"}},
    {"a-7B-v1-vocab.gguf", {NULL, "a", "7B", NULL, "v1", NULL, "vocab", NULL}},
    {"a-7B-v1-LoRA-00001-of-00002.gguf",
     {NULL, "a", "7B", NULL, "v1", NULL, "LoRA", "00001-of-00002"}},
    {"a b-7B-c d-v1.gguf", {NULL, "a b", "7B", "c d", "v1", NULL, NULL, NULL}},
    /* more than one division: the version is the last that can be one */
    {"a-7B-v1-v2.gguf", {NULL, "a", "7B", "v1", "v2", NULL, NULL, NULL}},
    {"a-7B-v1-v2-F16.gguf", {NULL, "a", "7B", "v1", "v2", "F16", NULL, NULL}},
    {"a-7B-v1-00001-of-00002.gguf", {NULL, "a", "7B", NULL, "v1", NULL, NULL, "00001-of-00002"}},
    {"a-7B-v1-00001-of-00002-v2.gguf",
     {NULL, "a", "7B", "v1-00001-of-00002", "v2", NULL, NULL, NULL}},
    /* without a size label, and without anything in the base name */
    {"a-b--v1.gguf", {NULL, "a-b", NULL, NULL, "v1", NULL, NULL, NULL}},
    {"--v1.gguf", {NULL, "", NULL, NULL, "v1", NULL, NULL, NULL}},
};

static void test_conforming(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(conforming); i++) {
        const example *e = &conforming[i];
        gufo_error error = no_error();
        gufo_name name;
        char text[GUFO_NAME_SIZE], cut[8];

        check(gufo_name_match(gufo_str_of(e->name), &name), "%s", e->name);
        check_parts(e->name, &name, e->parts);
        check_ok(gufo_name_explain(gufo_str_of(e->name), &name, &error), &error, "%s", e->name);
        check_parts(e->name, &name, e->parts);
        if (name.size_label.data == NULL)
            continue; /* written with a hyphen less */
        check_u64(gufo_name_format(text, sizeof text, &name), strlen(e->name), "%s", e->name);
        check_str(gufo_str_of(text), e->name, "put together again");
        check_u64(gufo_name_format(cut, sizeof cut, &name), strlen(e->name), "%s", e->name);
        check(strlen(cut) == sizeof cut - 1 && memcmp(cut, e->name, sizeof cut - 1) == 0, "cut");
        check_u64(gufo_name_format(NULL, 0, &name), strlen(e->name), "%s", e->name);
    }
}

/* Only the version is missing. */
static void test_versionless(void **state)
{
    static const example rows[] = {
        {"Hermes-2-Pro-Llama-3-8B-F16.gguf",
         {NULL, "Hermes-2-Pro-Llama-3", "8B", NULL, "v1.0", "F16", NULL, NULL}},
        {"mmproj-a-8x7B-A3B-chat-q4_k_m-LoRA-00001-of-00002.gguf",
         {"mmproj", "a", "8x7B-A3B", "chat", "v1.0", "q4_k_m", "LoRA", "00001-of-00002"}},
        {"a-8B-F16-BF16.gguf", {NULL, "a", "8B", "F16", "v1.0", "BF16", NULL, NULL}},
        {"a-8B-F16-chat.gguf", {NULL, "a", "8B", "F16-chat", "v1.0", NULL, NULL, NULL}},
        {"a-8B-unknown.gguf", {NULL, "a", "8B", "unknown", "v1.0", NULL, NULL, NULL}},
        {"a-8B-Q5_K_XL.gguf", {NULL, "a", "8B", NULL, "v1.0", "Q5_K_XL", NULL, NULL}},
        {"a-8B-vocab.gguf", {NULL, "a", "8B", NULL, "v1.0", NULL, "vocab", NULL}},
        {"a-8B.gguf", {NULL, "a", "8B", NULL, "v1.0", NULL, NULL, NULL}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        gufo_name name;

        check_status(gufo_name_explain(gufo_str_of(rows[i].name), &name, &error), GUFO_E_MALFORMED,
                     &error, "%s", rows[i].name);
        check(strstr(error.message, "the version is missing after ") != NULL, "%s", error.message);
        check_parts(rows[i].name, &name, rows[i].parts);
        check(!gufo_name_match(gufo_str_of(rows[i].name), &name), "%s", rows[i].name);
    }
}

/* The expression matches; the text of the specification says no. */
static void test_numbers(void **state)
{
    static const struct {
        example name;
        uint64_t offset;
        const char *reason;
    } rows[] = {
        {{"a-7b-v1.gguf", {NULL, "a", "7b", NULL, "v1", NULL, NULL, NULL}},
         2,
         "\"7b\" at byte 2 does not end in a scale: K, M, B, T or Q"},
        {{"mtp-a-7G-A3B-v1.gguf", {"mtp", "a", "7G-A3B", NULL, "v1", NULL, NULL, NULL}},
         6,
         "\"7G\" at byte 6 does not end in a scale"},
        {{"-8x-v1.gguf", {NULL, "", "8x", NULL, "v1", NULL, NULL, NULL}},
         1,
         "does not end in a scale"},
        {{"a-7B-v1-00000-of-00003.gguf",
          {NULL, "a", "7B", NULL, "v1", NULL, NULL, "00000-of-00003"}},
         8,
         "\"00000-of-00003\" at byte 8 is not a shard: shards"},
        {{"a-7B-v1-F16-00004-of-00003.gguf",
          {NULL, "a", "7B", NULL, "v1", "F16", NULL, "00004-of-00003"}},
         12,
         "shards are numbered from 00001"},
        {{"a-7B-v1-00000-of-00000.gguf",
          {NULL, "a", "7B", NULL, "v1", NULL, NULL, "00000-of-00000"}},
         8,
         "shards are numbered from 00001"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *nothing[PART_COUNT] = {NULL};
        gufo_str text = gufo_str_of(rows[i].name.name);
        gufo_error error = no_error();
        gufo_name name;

        check_status(gufo_name_explain(text, &name, &error), GUFO_E_MALFORMED, &error, "%s",
                     text.data);
        check(strstr(error.message, rows[i].reason) != NULL, "%s", error.message);
        check_u64(error.offset, rows[i].offset, "%s", error.message);
        check_parts(text.data, &name, rows[i].name.parts);
        check(!gufo_name_match(text, &name), "%s", text.data);
        check_parts(text.data, &name, nothing);
    }
}

static void test_facts(void **state)
{
    static const struct {
        const char *name;
        uint64_t experts, parameters;
        uint32_t shard, shard_count;
    } rows[] = {
        {"Mixtral-8x7B-v0.1-KQ2.gguf", 8, 7000000000, 0, 0},
        {"Grok-100B-v1.0-Q4_0-00003-of-00009.gguf", 0, 100000000000, 3, 9},
        {"a-3.8B-ContextLength4k-v1.gguf", 0, 3800000000, 0, 0},
        {"a-0.35K-v1-99999-of-99999.gguf", 0, 350, 99999, 99999},
        {"a-30x1.5Q-A3B-v1.gguf", 30, 1500000000000000, 0, 0},
        {"a-7.000000000000B-v1.gguf", 0, 7000000000, 0, 0},
        {"a-99999999999999999999x7B-v1.gguf", 0, 0, 0, 0},
        {"a-8x99999999999Q-v1.gguf", 0, 0, 0, 0},
        {"a--v1.gguf", 0, 0, 0, 0},
    };
    gufo_name odd = {.size_label = gufo_str_of("large"), .shard = gufo_str_of("1-of-2")};
    gufo_name_facts facts = gufo_name_read_facts(&odd);

    (void)state;
    check_u64(facts.parameters + facts.shard, 0, "parts that a program has filled in");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_name name;

        check(gufo_name_match(gufo_str_of(rows[i].name), &name), "%s", rows[i].name);
        facts = gufo_name_read_facts(&name);
        check_u64(facts.experts, rows[i].experts, "%s", rows[i].name);
        check_u64(facts.parameters, rows[i].parameters, "%s", rows[i].name);
        check_u64(facts.shard, rows[i].shard, "%s", rows[i].name);
        check_u64(facts.shard_count, rows[i].shard_count, "%s", rows[i].name);
    }
}

/* The reason, and its byte. */
static void test_reasons(void **state)
{
    static const struct {
        const char *name;
        uint64_t offset;
        const char *part;
    } rows[] = {
        {"not-a-known-arrangement.gguf", 23, "a size label"},
        {"a-7B-v1.0", 9, "does not end in .gguf"},
        {"a-7B-v1.GGUF", 12, "does not end in .gguf"},
        {"", 0, "does not end in .gguf"},
        {".gguf", 0, "a size label"},
        {"a_b-7B-v1.gguf", 1, "\"_\" at byte 1 is refused"},
        {"mtp-a_b-7B-v1.gguf", 5, "\"_\" at byte 5 is refused"},
        {"Llama-3.1-8B-v1.0.gguf", 7, "\"3.1\" is not a size label"},
        {"a-4bit-v1.gguf", 2, "\"4bit\" at byte 2 is neither"},
        {"a-v1.gguf", 2, "size label is missing"},
        {"a-v1.0-F16.gguf", 2, "size label is missing"},
        {"a-7B-x.y-v1.gguf", 6, "\".\" at byte 6 is refused"},
        {"a-7B-A3B-x_y.gguf", 10, "a version such as v1.0 is missing"},
        {"a-7B--v1.gguf", 5, "fine tune is empty"},
        {"a-7B-v1--F16.gguf", 8, "empty"},
        {"a-7B-v1-LoRA-F16.gguf", 13, "\"F16\" at byte 13 cannot be there"},
        {"a-7B-v1-F16-x.gguf", 12, "\"x\" at byte 12 cannot be there"},
        {"a-7B-v1-x.y.gguf", 8, "\"x.y\" at byte 8 cannot be there"},
        {"a-7B-v1-F16-00001-of-2.gguf", 12, "\"00001\" at byte 12 cannot be there"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *nothing[PART_COUNT] = {NULL};
        gufo_error error = no_error();
        gufo_name name;

        check_status(gufo_name_explain(gufo_str_of(rows[i].name), &name, &error), GUFO_E_MALFORMED,
                     &error, "%s", rows[i].name);
        check(strstr(error.message, rows[i].part) != NULL, "%s: %s", rows[i].name, error.message);
        check_u64(error.offset, rows[i].offset, "%s: %s", rows[i].name, error.message);
        check_error_shape(&error, GUFO_E_MALFORMED, rows[i].name);
        check_parts(rows[i].name, &name, nothing);
    }
}

/* A million bytes that an engine which tries one division after the other never gets through: the
 * work is linear, or this does not return in time. */
static void test_hostile(void **state)
{
    static const char *const patterns[] = {"-",    "-a",   "-1 ", "a",  "-7B", "-v1",
                                           "-7B-", "-v1-", " ",   "1.", "1",   "-00001-of-00001"};
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE + 16);

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        size_t len = strlen(patterns[i]), end = SIZE - SIZE % len;
        gufo_error error = no_error();
        gufo_name name;

        for (size_t at = 0; at < end; at += len)
            memcpy(text + at, patterns[i], len);
        memcpy(text + end, "!.gguf", 6);
        check(!gufo_name_match((gufo_str){text, end + 6}, &name), "%s", patterns[i]);
        check_status(gufo_name_explain((gufo_str){text, end + 6}, &name, &error), GUFO_E_MALFORMED,
                     &error, "%s", patterns[i]);
        memcpy(text + end, "-7B-v1.gguf", 11);
        (void)gufo_name_match((gufo_str){text, end + 11}, &name);
    }
    free(text);
}

/* ---- pieces of suggestions ------------------------------------------------------------------ */

static void test_titles(void **state)
{
    static const struct {
        const char *text, *base, *size, *fine_tune, *version;
    } rows[] = {
        {"Mistral 7B Instruct v0.2", "Mistral", "7B", "Instruct", "v0.2"},
        {"Meta-Llama-3.1-8B-Instruct", "Meta-Llama-3-1", "8B", "Instruct", ""},
        {"Qwen2.5 1.5B", "Qwen2-5", "1.5B", "", ""},
        {"SQLCoder 4bit", "SQLCoder-4-bit", "", "", ""},
        {"01ai (Yi) -- 34b", "01ai-Yi", "34B", "", ""},
        {"phi-3-mini-4k-instruct", "phi-3-mini-4-k-instruct", "", "", ""},
        {"7B", "7B", "", "", ""},
        {"a v0.2 3B", "a-v0-2", "3B", "", ""},
        {"nomic-embed-text-v1.5", "nomic-embed-text", "", "", "v1.5"},
        {"a-v2-lite", "a-v2-lite", "", "", ""},
        {"v2", "v2", "", "", ""},
        {"...", "", "", "", ""},
        {"été 2x2b3c 1B x_y", "été-2-x2b3c", "1B", "x-y", ""},
        {"Müller’s Modèle—7b", "Müller-s-Modèle", "7B", "", ""},
        {"通义千问（Qwen）·7B 聊天", "通义千问-Qwen", "7B", "聊天", ""},
        {"नमस्ते 3B", "नमस्ते", "3B", "", ""},
        {"a 4ü 🦙 b\xff\xc3z", "a-4-ü-b-z", "", "", ""},
        {"a 7Z", "a-7-Z", "", "", ""},
        {"", "", "", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        name_title title;

        name_read_title(gufo_str_of(rows[i].text), &title);
        check_str(gufo_str_of(title.base.data), rows[i].base, "%s", rows[i].text);
        check_str(gufo_str_of(title.size.data), rows[i].size, "%s", rows[i].text);
        check_str(gufo_str_of(title.fine_tune.data), rows[i].fine_tune, "%s", rows[i].text);
        check_str(gufo_str_of(title.version.data), rows[i].version, "%s", rows[i].text);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        uint64_t experts, parameters;
        const char *label;
    } rows[] = {
        {0, 8030261248, "8B"},
        {0, 8060000000, "8.1B"},
        {0, 70553706496, "71B"},
        {8, 7000000000, "8x7B"},
        {128, 2410000000, "128x2.4B"},
        {0, 352, "0.35K"},
        {0, 1, "0.001K"},
        {0, 1000, "1K"},
        {0, 999499, "999K"},
        {0, 999500, "1M"},
        {0, 9960000, "10M"},
        {0, 134515008, "135M"},
        {0, 1040000000000, "1T"},
        {0, 2500000000000000, "2.5Q"},
        {0, UINT64_MAX, "18447Q"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        name_text text;

        name_write_size(rows[i].experts, rows[i].parameters, &text);
        check_str(name_text_view(&text), rows[i].label, "%" PRIu64, rows[i].parameters);
        check(name_is_size(name_text_view(&text)), "%s", text.data);
    }
}

static void test_sizes_agree(void **state)
{
    static const struct {
        const char *a, *b;
        bool agree;
    } rows[] = {
        {"6.7B", "7B", true},
        {"8x7.2B", "8x7B", true},
        {"7b", "7.2B", true},
        {"999M", "1B", true},
        {"0.35K", "349x1K", false},
        {"8x7B", "7B", false},
        {"8x7B", "16x7B", false},
        {"8B", "7B", false},
        {"1.1B", "1B", true},
        {"1.2B", "1B", false},
        {"7B", "7M", false},
        {"0B", "0B", false},
        {"7B", "7Z", false},
        {"7B-A3B", "7B", false},
        {"99999999999999999999B", "99999999999999999999B", false},
        {"99999999999999999999x1B", "99999999999999999999x1B", false},
        {"99999999999Q", "99999999999Q", false},
        {"1.99999999999999999999B", "2B", false},
        {"", "", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_str a = gufo_str_of(rows[i].a), b = gufo_str_of(rows[i].b);

        check(name_sizes_agree(a, b) == rows[i].agree, "%s, %s", rows[i].a, rows[i].b);
        check(name_sizes_agree(b, a) == rows[i].agree, "%s, %s", rows[i].b, rows[i].a);
    }
}

/* ---- suggestions ---------------------------------------------------------------------------- */

typedef struct fact {
    const char *key, *text;
} fact;

typedef struct shape {
    const char *name;
    uint32_t type, n_dims;
    uint64_t dims[4];
} shape;

typedef struct model {
    const char *expected; /* NULL: none */
    fact facts[7];
    int file_type; /* -1: none */
    shape tensors[6];
} model;

static void add_facts(gufo_document *d, const model *m, gufo_error *error)
{
    for (size_t i = 0; i < COUNT_OF(m->facts) && m->facts[i].key != NULL; i++)
        check_ok(gufo_document_set_text(d, m->facts[i].key, m->facts[i].text, error), error, "%s",
                 m->facts[i].key);
    if (m->file_type >= 0)
        check_ok(gufo_document_set_u32(d, "general.file_type", (uint32_t)m->file_type, error),
                 error, "file type");
}

/* Only the beginning of the file is made: the tensors are as large as they like. */
static gufo_document *plan(const model *m, uint64_t shard, uint64_t shards)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);

    assert_non_null(d);
    add_facts(d, m, &error);
    if (shards > 0) {
        (void)gufo_document_set_u16(d, "split.no", (uint16_t)shard, NULL);
        (void)gufo_document_set_u16(d, "split.count", (uint16_t)shards, NULL);
        (void)gufo_document_set_i32(d, "split.tensors.count", 2, NULL);
    }
    for (size_t i = 0; i < COUNT_OF(m->tensors) && m->tensors[i].name != NULL; i++) {
        const shape *t = &m->tensors[i];

        check_ok(gufo_document_add_tensor(d, t->name, gufo_element_type_by_id(t->type), t->n_dims,
                                          t->dims, &error),
                 &error, "%s", t->name);
    }
    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    return d;
}

/* Of the encoding that the file has, or will have. */
static gufo_status suggest_of(gufo_document *d, const char *type, char out[GUFO_NAME_SIZE],
                              gufo_error *error)
{
    gufo_open_options only_metadata = {.flags = GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_INCOMPLETE};
    size_t size;
    const void *header = document_header(d, &size);
    gufo_model *file = gufo_model_open_memory(header, size, &only_metadata, error);

    check(file != NULL, "%s", error->message);
    gufo_status status = type != NULL ? name_suggest_as(file, type, out, error)
                                      : gufo_model_suggest_name(file, 0, out, error);

    gufo_model_free(file);
    gufo_document_free(d);
    return status;
}

static gufo_status suggest(const model *m, uint64_t shard, uint64_t shards,
                           char out[GUFO_NAME_SIZE], gufo_error *error)
{
    return suggest_of(plan(m, shard, shards), NULL, out, error);
}

static gufo_status suggest_as(const model *m, const char *type, char out[GUFO_NAME_SIZE],
                              gufo_error *error)
{
    return suggest_of(plan(m, 0, 0), type, out, error);
}

static const model models[] = {
    {"Llama-3-1-8B-Instruct-v1.0-Q4_K_M.gguf",
     {{"general.architecture", "llama"},
      {"general.basename", "Llama-3.1"},
      {"general.size_label", "8B"},
      {"general.finetune", "Instruct"}},
     15,
     {{"a", GUFO_TYPE_F32, 1, {4}}}},
    {"Qwen3-30B-A3B-it-v2.5-F16.gguf",
     {{"general.basename", "Qwen3"},
      {"general.size_label", "30B-A3B"},
      {"general.finetune", "(it)"},
      {"general.version", "2.5"}},
     1 + 1024,
     {{"a", GUFO_TYPE_F32, 1, {4}}}},
    {"Mistral-7B-Instruct-v0.2-Q4_K.gguf",
     {{"general.name", "Mistral 7B Instruct v0.2"}, {"general.version", "Beta"}},
     -1,
     {{"a", GUFO_TYPE_F32, 1, {65536}},
      {"b", GUFO_TYPE_Q4_K, 2, {65536, 106000}},
      {"c", GUFO_TYPE_Q6_K, 2, {65536, 1000}}}},
    /* experts: 1.2e9 shared, 5.8e9 of each of 8 */
    {"moe-8x7B-v1.0-BF16.gguf",
     {{"general.basename", "moe"}, {"general.size_label", "large"}},
     32,
     {{"token_embd.weight", GUFO_TYPE_BF16, 2, {1000, 1200000}},
      {"blk.0.ffn_up_exps.weight", GUFO_TYPE_BF16, 3, {1000, 5000000, 8}},
      {"blk.0.ffn_up_exps.bias", GUFO_TYPE_BF16, 2, {800000000, 8}}}},
    {"moe-4x3M-v1.0-F32.gguf",
     {{"general.basename", "moe"}},
     0,
     {{"token_embd.weight", GUFO_TYPE_F32, 2, {1000, 1000}},
      {"blk.0.ffn_up.0.weight", GUFO_TYPE_F32, 2, {1000, 2000}},
      {"blk.0.ffn_up.1.weight", GUFO_TYPE_F32, 2, {1000, 2000}},
      {"blk.0.ffn_up.2.weight", GUFO_TYPE_F32, 2, {1000, 2000}},
      {"blk.0.ffn_up.3.weight", GUFO_TYPE_F32, 2, {1000, 2000}}}},
    {"mmproj-gemma-3-4B-it-v1.0-F16.gguf",
     {{"general.architecture", "clip"},
      {"general.basename", "mmproj-gemma-3"},
      {"general.size_label", "4B"},
      {"general.finetune", "it"}},
     1,
     {{"v.a", GUFO_TYPE_F16, 1, {1000000}}}},
    {"mmproj-gemma-it-v1.0-F16.gguf",
     {{"general.type", "mmproj"}, {"general.basename", "gemma"}, {"general.finetune", "it"}},
     1,
     {{"v.a", GUFO_TYPE_F16, 1, {1000000}}}},
    {"mtp-Qwen3-27B-v1.0-Q8_0.gguf",
     {{"general.name", "Qwen3 27B"}},
     7,
     {{"blk.64.nextn.eh_proj.weight", GUFO_TYPE_Q8_0, 2, {64, 32}},
      {"token_embd.weight", GUFO_TYPE_Q8_0, 2, {64, 32}}}},
    {"Qwen3-0.096K-v1.0-F32.gguf",
     {{"general.name", "Qwen3"}},
     0,
     {{"blk.1.nextn.eh_proj.weight", GUFO_TYPE_F32, 2, {8, 4}},
      {"blk.0.attn_q.weight", GUFO_TYPE_F32, 2, {8, 8}}}},
    /* what people call 7B has 6.74e9; what they call 13B does not */
    {"Llama-2-7B-Chat-v1.0-F16.gguf",
     {{"general.name", "Llama 2 7B Chat"}},
     1,
     {{"a", GUFO_TYPE_F16, 2, {1000000, 6740}}}},
    {"Llama-2-6.7B-Chat-v1.0-F16.gguf",
     {{"general.name", "Llama 2 13B Chat"}},
     1,
     {{"a", GUFO_TYPE_F16, 2, {1000000, 6740}}}},
    {"Mixtral-8x7B-v0.1-Q8_0.gguf",
     {{"general.name", "Mixtral 8x7B v0.1"}},
     7,
     {{"blk.0.ffn_up_exps.weight", GUFO_TYPE_Q8_0, 3, {1024000, 7240, 8}}}},
    /* a version ends the name, or the base name */
    {"nomic-embed-text-0.004K-v1.5-F32.gguf",
     {{"general.name", "nomic-embed-text-v1.5"}},
     0,
     {{"a", GUFO_TYPE_F32, 1, {4}}}},
    {"a-b-0.004K-v2-F32.gguf",
     {{"general.name", "A B"}, {"general.basename", "a-b-v2"}},
     0,
     {{"a", GUFO_TYPE_F32, 1, {4}}}},
    /* nothing says anything */
    {"model-0.004K-v1.0-F32.gguf", {{NULL, NULL}}, -1, {{"a", GUFO_TYPE_F32, 1, {4}}}},
    /* the adapter changes a matrix of 4096 x 2000 */
    {"tiny-8.2M-poet-v1.0-F16-LoRA.gguf",
     {{"general.type", "adapter"}, {"general.basename", "tiny"}, {"general.finetune", "poet"}},
     1,
     {{"a.weight.lora_a", GUFO_TYPE_F16, 2, {4096, 8}},
      {"a.weight.lora_b", GUFO_TYPE_F16, 2, {8, 2000}}}},
    {"gpt-2-0B-v1.0-vocab.gguf", {{"general.name", "gpt-2"}}, 1, {{NULL, 0, 0, {0}}}},
    {"gpt-2-124M-v3-vocab.gguf",
     {{"general.name", "gpt-2"}, {"general.size_label", "124M"}, {"general.version", "V3"}},
     1,
     {{NULL, 0, 0, {0}}}},
    {"llama-0.004K-v1.0-F32.gguf",
     {{"general.architecture", "llama"}, {"general.name", "?"}},
     -1,
     {{"a", GUFO_TYPE_F32, 1, {4}}}},
    {"model-0.004K-模型-v1.0-F32.gguf",
     {{"general.finetune", "模型"}},
     999,
     {{"a", GUFO_TYPE_F32, 1, {4}}}},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-7B-"
     "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb-v1.0.gguf",
     {{"general.basename", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
      {"general.size_label", "7B"},
      {"general.finetune",
       "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb bbbbb"}},
     -1,
     {{"a", GUFO_TYPE_Q8_0, 1, {0}}}},
};

/* Every part is as long as it can be. */
static void test_suggest_too_long(void **state)
{
    char words[80], digits[NAME_PART_MAX], label[NAME_PART_MAX + 1], text[GUFO_NAME_SIZE];
    model m = {NULL,
               {{"general.type", "mmproj"},
                {"general.basename", words},
                {"general.size_label", label},
                {"general.finetune", words},
                {"general.version", digits}},
               15,
               {{"a", GUFO_TYPE_F32, 1, {4}}}};
    gufo_error error = no_error();

    (void)state;
    memset(words, 'a', sizeof words);
    words[sizeof words - 1] = '\0';
    memset(digits, '1', sizeof digits);
    digits[sizeof digits - 1] = '\0';
    snprintf(label, sizeof label, "%sB", digits);
    check_status(suggest(&m, 0, 0, text, &error), GUFO_E_RANGE, &error, "4 parts of 64");
    check(strstr(error.message, "a file name has at most 255") != NULL, "%s", error.message);
}

/* Whether the convention allows what the metadata says: names in ASCII, with a size. */
static bool conforms(const char *name)
{
    bool ascii = true;

    for (const char *at = name; *at != '\0'; at++)
        ascii = ascii && (unsigned char)*at < 0x80;
    return ascii && strncmp(name, "gpt-2-v1.0", 10) != 0 &&
           strncmp(name, "mmproj-gemma-it", 15) != 0;
}

static void test_suggest(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        gufo_error error = no_error();
        char text[GUFO_NAME_SIZE];
        gufo_name name;

        check_ok(suggest(&models[i], 0, 0, text, &error), &error, "%s", models[i].expected);
        check_str(gufo_str_of(text), models[i].expected, "row %zu", i);
        check(gufo_name_match(gufo_str_of(text), &name) == conforms(text), "%s", text);
    }
}

/* The name of a file that will be written with another encoding; signs that could deceive are none of
 * it. */
static void test_suggest_as(void **state)
{
    static const struct {
        model model;
        const char *type;
    } rows[] = {
        {{"Tiny-Llama-7B-Chat-v1.0-Q4_K_M.gguf",
          {{"general.basename", "Tiny-Llama"},
           {"general.size_label", "7B"},
           {"general.finetune", "Chat"}},
          1,
          {{"a", GUFO_TYPE_F16, 1, {4}}}},
         "Q4_K_M"},
        {{"Ernie4-5-7B-v2-F16-LoRA.gguf",
          {{"general.basename", "Ernie4_5"},
           {"general.size_label", "7B"},
           {"general.version", "v2"},
           {"general.type", "adapter"}},
          -1,
          {{"a", GUFO_TYPE_F32, 1, {4}}}},
         "F16"},
        {{"B-7B-v1.0-vocab.gguf",
          {{"general.basename", "B"}, {"general.size_label", "7B"}},
          1,
          {{NULL, 0, 0, {0}}}},
         ""},
        {{"fgg-a-b-7B-v1.0-F16.gguf",
          {{"general.name", "-.\xe2\x80\xae"
                            "fgg\xc2\x85"
                            "a/../b"},
           {"general.size_label", "7B"}},
          1,
          {{"a", GUFO_TYPE_F16, 1, {4}}}},
         "F16"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        char text[GUFO_NAME_SIZE];

        check_ok(suggest_as(&rows[i].model, rows[i].type, text, &error), &error, "row %zu", i);
        check_str(gufo_str_of(text), rows[i].model.expected, "row %zu", i);
        check(gufo_name_match(gufo_str_of(text), NULL), "%s", text);
    }
}

/* Of a shard alone: the first one says all but the size. */
static void test_suggest_shard(void **state)
{
    model labelled = models[0], unlabelled = models[2];
    char text[GUFO_NAME_SIZE];
    gufo_error error = no_error();

    (void)state;
    check_ok(suggest(&labelled, 0, 3, text, &error), &error, "the first of three");
    check_str(gufo_str_of(text), "Llama-3-1-8B-Instruct-v1.0-Q4_K_M-00001-of-00003.gguf", "name");
    check_status(suggest(&labelled, 1, 3, text, &error), GUFO_E_SHARDS, &error, "the second");
    check_ok(suggest(&unlabelled, 0, 3, text, &error), &error, "general.name says the size");
    unlabelled.facts[0].text = "Mistral";
    check_status(suggest(&unlabelled, 0, 3, text, &error), GUFO_E_SHARDS, &error,
                 "size_label is missing");
    check(strstr(error.message, "general.size_label") != NULL, "%s", error.message);
}

static void write_shard(const folder *f, const model *m, uint64_t shard, const char *name)
{
    static const float data[4];
    gufo_error error = no_error();
    sink out = {.document = plan(m, shard, 2)};

    check_ok(sink_open(&out, folder_path(f, name).text, false, &error), &error, "open");
    check_ok(sink_write(&out, 0, 0, data, sizeof data, &error), &error, "write");
    check_ok(sink_finish(&out, &error), &error, "finish");
    sink_free(&out);
}

static void test_suggest_set(void **state)
{
    static const model first = {
        NULL, {{"general.name", "Tiny"}}, 0, {{"a", GUFO_TYPE_F32, 1, {4}}}};
    static const model second = {NULL, {{NULL, NULL}}, -1, {{"b", GUFO_TYPE_F32, 1, {4}}}};
    folder f = folder_new();
    gufo_error error = no_error();
    char text[GUFO_NAME_SIZE];

    (void)state;
    write_shard(&f, &first, 0, "x-00001-of-00002.gguf");
    write_shard(&f, &second, 1, "x-00002-of-00002.gguf");
    gufo_model *set = gufo_model_open(folder_path(&f, "x-00001-of-00002.gguf").text, NULL, &error);

    check(set != NULL, "%s", error.message);
    check_ok(gufo_model_suggest_name(set, 0, text, &error), &error, "first");
    check_str(gufo_str_of(text), "Tiny-0.008K-v1.0-F32-00001-of-00002.gguf", "both are counted");
    check_ok(gufo_model_suggest_name(set, 1, text, &error), &error, "second");
    check_str(gufo_str_of(text), "Tiny-0.008K-v1.0-F32-00002-of-00002.gguf", "second");
    check_status(gufo_model_suggest_name(set, 2, text, &error), GUFO_E_RANGE, &error, "third");
    gufo_model_free(set);
    folder_remove(&f);
}

/* A number of shards that the convention has no digits for. */
static void test_too_many_shards(void **state)
{
    gufo_error error = no_error();
    char text[GUFO_NAME_SIZE];
    gufo_document *d = gufo_document_new(NULL, &error);
    gufo_open_options only_metadata = {.flags = GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_INCOMPLETE};
    size_t size;

    (void)state;
    (void)gufo_document_set_u32(d, "split.count", 100000, NULL);
    (void)gufo_document_set_text(d, "general.size_label", "7B", NULL);
    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    const void *header = document_header(d, &size);
    gufo_model *file = gufo_model_open_memory(header, size, &only_metadata, &error);

    check(file != NULL, "%s", error.message);
    check_status(gufo_model_suggest_name(file, 0, text, &error), GUFO_E_RANGE, &error, "100000");
    gufo_model_free(file);
    gufo_document_free(d);
}

/* ---- placeholders ------------------------------------------------------------------------- */

static void test_placeholders(void **state)
{
    static const char *const patterns[][3] = {
        {"m-{ftype}.gguf", "Q4_K_M", "m-q4_k_m.gguf"},
        {"{FTYPE}/{OUTTYPE}{outtype}", "f16", "F16/F16f16"},
        {"{ftype", "F16", "{ftype"},
        {"{type}{", "F16", "{type}{"},
        {"", "F16", ""},
    };
    char out[64];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        size_t len = strlen(patterns[i][2]);

        check_u64(gufo_name_fill(out, sizeof out, patterns[i][0], patterns[i][1]), len, "%zu", i);
        check_str(gufo_str_of(out), patterns[i][2], "%s", patterns[i][0]);
        check_u64(gufo_name_fill(out, 3, patterns[i][0], patterns[i][1]), len, "%zu", i);
        check_u64(strlen(out), len < 2 ? len : 2, "%zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conforming),       cmocka_unit_test(test_versionless),
        cmocka_unit_test(test_numbers),          cmocka_unit_test(test_facts),
        cmocka_unit_test(test_reasons),          cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_titles),           cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_suggest_as),       cmocka_unit_test(test_suggest),
        cmocka_unit_test(test_suggest_shard),    cmocka_unit_test(test_suggest_set),
        cmocka_unit_test(test_too_many_shards),  cmocka_unit_test(test_sizes_agree),
        cmocka_unit_test(test_suggest_too_long), cmocka_unit_test(test_placeholders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
