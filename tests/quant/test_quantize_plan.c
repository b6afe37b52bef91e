/* The plan of the quantizer: metadata, layers that are left out, alignment; and that looking at a
 * plan writes nothing. */
#include "../support/allocator.h"
#include "../support/quantize.h"

#include "quant/quantizer.h"

#include <unistd.h>

enum { LAYERS = 4 };

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {64, 10}},
    {"blk.0.attn_v.weight", GUFO_TYPE_F32, 2, {64, 8}},
    {"blk.1.attn_v.weight", GUFO_TYPE_F32, 2, {64, 9}},
    {"blk.2.attn_v.weight", GUFO_TYPE_F32, 2, {64, 10}},
    {"blk.3.attn_v.weight", GUFO_TYPE_F32, 2, {64, 11}},
    {"v.blk.10.attn_v.weight", GUFO_TYPE_F32, 2, {64, 12}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "general.file_type", 1);
    builder_kv_u32(b, "general.alignment", 128);
    builder_kv_u32(b, "llama.block_count", LAYERS);
    builder_kv_array(b, "llama.attention.head_count_kv", GUFO_VALUE_UINT32, LAYERS);
    for (uint32_t i = 0; i < LAYERS; i++)
        builder_u32(b, 10 + i);
    builder_kv_array(b, "llama.other", GUFO_VALUE_UINT32, LAYERS + 1);
    for (uint32_t i = 0; i <= LAYERS; i++)
        builder_u32(b, 20 + i);
    builder_kv_str(b, "some.unknown.key", "kept");
    builder_key(b, "some.nan", GUFO_VALUE_FLOAT32);
    builder_u32(b, 0x7f812345); /* a signalling NaN: its bits stay */
}

static const test_model model = {.encoding = {3, false},
                                 .alignment = 128,
                                 .metadata = add_metadata,
                                 .entries = 8,
                                 .tensors = tensors,
                                 .tensor_count = COUNT_OF(tensors)};

/* A model, and what quantizing it gave. */
typedef struct place {
    folder f;
    path_text in, out;
    gufo_model *file; /* the result */
} place;

static place quantized(const gufo_quantize_options *options, const char *label)
{
    place p = {.f = folder_new()};

    p.in = folder_path(&p.f, "in.gguf");
    p.out = folder_path(&p.f, "out.gguf");
    write_model(p.in.text, &model);
    quantize_well(p.in.text, p.out.text, options, label);
    p.file = open_path(p.out.text);
    return p;
}

static void place_end(place *p)
{
    gufo_model_free(p->file);
    folder_remove(&p->f);
}

static void check_keys(const gufo_model *file, const char *const *keys, size_t count)
{
    gufo_entry entry;

    check_u64(gufo_model_entry_count(file), count, "entries");
    for (size_t i = 0; i < count; i++) {
        check(gufo_model_entry_at(file, i, &entry), "entry %zu", i);
        check_str(entry.key, keys[i], "entry %zu", i);
    }
}

static uint64_t number(const gufo_model *file, const char *key)
{
    gufo_error error = no_error();
    uint64_t value;

    check_ok(gufo_model_get_u64(file, key, &value, &error), &error, "%s", key);
    return value;
}

static void check_numbers(const gufo_model *file, const char *key, const uint32_t *expected,
                          size_t count)
{
    gufo_error error = no_error();
    uint32_t values[8];
    gufo_array array;

    check_ok(gufo_model_get_array(file, key, GUFO_VALUE_UINT32, &array, &error), &error, "%s", key);
    check_u64(array.count, count, "%s", key);
    check_ok(gufo_array_read(&array, 0, count, values, &error), &error, "%s", key);
    for (size_t i = 0; i < count; i++)
        check_u64(values[i], expected[i], "%s: element %zu", key, i);
}

/* ---- metadata ------------------------------------------------------------------------------- */

static void test_metadata(void **state)
{
    static const char *const keys[] = {"general.architecture",
                                       "general.file_type",
                                       "general.alignment",
                                       "llama.block_count",
                                       "llama.attention.head_count_kv",
                                       "llama.other",
                                       "some.unknown.key",
                                       "some.nan",
                                       "general.quantization_version"};
    gufo_quantize_options options = quantize_to("Q4_0");
    place p = quantized(&options, "Q4_0");
    gufo_entry entry;
    uint8_t bits[4];

    (void)state;
    check_keys(p.file, keys, COUNT_OF(keys));
    check_u64(number(p.file, "general.file_type"), 2, "file type");
    check_u64(number(p.file, "general.quantization_version"), 2, "version");
    check(gufo_model_find(p.file, "general.quantization_version", &entry) &&
              entry.value.type == GUFO_VALUE_UINT32,
          "type");
    check_u64(gufo_model_facts(p.file).alignment, 128, "alignment");
    check_u64(gufo_model_facts(p.file).data_offset % 128, 0, "data");
    check(gufo_model_find(p.file, "some.nan", &entry), "NaN");
    check(gufo_model_read_raw(p.file, entry.value_offset, bits, 4, NULL) == GUFO_OK, "NaN");
    check(memcmp(bits, "\x45\x23\x81\x7f", 4) == 0, "NaN: other bits");
    place_end(&p);
}

/* An element type that is not a file type: the old file type would be wrong. */
static void test_no_file_type(void **state)
{
    gufo_quantize_options options = quantize_to("Q8_1");
    gufo_quantize_options copy = quantize_to("COPY");
    place p = quantized(&options, "Q8_1");
    gufo_entry entry;

    (void)state;
    check(!gufo_model_find(p.file, "general.file_type", &entry), "Q8_1");
    place_end(&p);
    p = quantized(&copy, "COPY");
    check_u64(number(p.file, "general.file_type"), 1, "COPY");
    place_end(&p);
}

static void test_overrides(void **state)
{
    static const gufo_quantize_override overrides[] = {
        {.key = "some.unknown.key", .value = {.type = GUFO_VALUE_INT16, .as.i = -3}},
        {.key = "new.key", .value = {.type = GUFO_VALUE_BOOL, .as.b = true}},
        {.key = "general.file_type", .value = {.type = GUFO_VALUE_UINT32, .as.u = 77}},
        {.key = "general.alignment", .value = {.type = GUFO_VALUE_UINT32, .as.u = 64}},
        {.key = "new.key",
         .value = {.type = GUFO_VALUE_UINT8, .as.u = 9}}, /* the last one counts */
    };
    static const char *const keys[] = {"general.architecture",
                                       "general.file_type",
                                       "general.alignment",
                                       "llama.block_count",
                                       "llama.attention.head_count_kv",
                                       "llama.other",
                                       "some.unknown.key",
                                       "some.nan",
                                       "general.quantization_version",
                                       "new.key"};
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_error error = no_error();
    int64_t negative;

    (void)state;
    options.overrides = overrides;
    options.override_count = COUNT_OF(overrides);
    place p = quantized(&options, "overrides");

    check_keys(p.file, keys, COUNT_OF(keys));
    check_ok(gufo_model_get_i64(p.file, "some.unknown.key", &negative, &error), &error, "number");
    check(negative == -3, "number");
    check_u64(number(p.file, "general.file_type"), 77, "file type");
    check_u64(number(p.file, "new.key"), 9, "new key");
    check_u64(gufo_model_facts(p.file).alignment, 64, "alignment");
    place_end(&p);
}

/* What the user says about the model counts for the recipe, too: with eight experts it keeps keys
 * and values in Q8_0. */
static void test_overridden_facts(void **state)
{
    static const gufo_quantize_override overrides[] = {
        {.key = "llama.expert_count", .value = {.type = GUFO_VALUE_UINT32, .as.u = 8}},
        {.key = "llamas.block_count", .value = {.type = GUFO_VALUE_UINT32, .as.u = 8}},
    };
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_tensor tensor;

    (void)state;
    place p = quantized(&options, "as it is");

    check(gufo_model_tensor_find(p.file, "blk.1.attn_v.weight", &tensor), "tensor");
    check_u64(tensor.type, GUFO_TYPE_Q4_0, "as it is");
    place_end(&p);
    options.overrides = overrides;
    options.override_count = COUNT_OF(overrides);
    p = quantized(&options, "eight experts");
    check(gufo_model_tensor_find(p.file, "blk.1.attn_v.weight", &tensor), "tensor");
    check_u64(tensor.type, GUFO_TYPE_Q8_0, "eight experts");
    place_end(&p);
}

static void test_bad_override(void **state)
{
    static const gufo_quantize_override override = {
        .key = "general.alignment", .value = {.type = GUFO_VALUE_UINT32, .as.u = 3}};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf");
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_error error = no_error();

    (void)state;
    write_model(in.text, &model);
    options.overrides = &override;
    options.override_count = 1;
    check_status(quantize_file(in.text, folder_path(&f, "out.gguf").text, &options, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "alignment 3");
    check_u64(entry_count(f.path), 1, "files");
    folder_remove(&f);
}

/* What the user sets has to keep the rules for new files, which the input need not. */
static void test_overrides_are_strict(void **state)
{
    static const struct {
        gufo_quantize_override override;
        const char *words;
    } cases[] = {
        {{.key = "bad key", .value = {.type = GUFO_VALUE_BOOL}}, "bad key"},
        {{.key = "", .value = {.type = GUFO_VALUE_BOOL}}, "key"},
        {{.key = "general.alignment", .value = {.type = GUFO_VALUE_UINT32, .as.u = 12}}, "12"},
        {{.key = "a.text", .value = {.type = GUFO_VALUE_STRING, .as.str = {"\xff", 1}}}, "UTF-8"},
        {{.key = "a.number", .value = {.type = GUFO_VALUE_UINT8, .as.u = 256}}, "does not fit"},
        {{.key = "a.number", .value = {.type = (gufo_value_type)99}}, "99"},
    };
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf");
    gufo_error error = no_error();

    (void)state;
    write_model(in.text, &model);
    gufo_model *input = gufo_model_open(in.text, NULL, &error);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        gufo_quantize_options options = quantize_to("Q8_0");

        options.overrides = &cases[i].override;
        options.override_count = 1;
        check(gufo_quantizer_new(input, &options, &error) == NULL, "case %zu", i);
        check_u64(error.code, GUFO_E_ARGUMENT, "case %zu", i);
        check(strstr(error.message, cases[i].words) != NULL, "case %zu: %s", i, error.message);
    }
    gufo_model_free(input);
    folder_remove(&f);
}

/* ---- importance ----------------------------------------------------------------------------- */

/* Plans with the importance matrix of all ones for a tensor, and gives the plan's file. */
static place with_importance(const char *dataset, const char *path)
{
    static float ones[64];
    static const importance_entry entry = {"blk.0.attn_v.weight", ones, COUNT_OF(ones)};
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_error error = no_error();
    folder f = folder_new();
    path_text matrix = folder_path(&f, "imatrix.dat");
    gufo_imatrix *imatrix;
    place p;

    for (size_t i = 0; i < COUNT_OF(ones); i++)
        ones[i] = 1;
    write_importance(matrix.text, &entry, 1, dataset);
    imatrix = gufo_imatrix_open(matrix.text, NULL, &error);
    check(imatrix != NULL, "%s", error.message);
    options.importance = imatrix;
    options.importance_path = path;
    p = quantized(&options, "importance");
    gufo_imatrix_free(imatrix);
    folder_remove(&f);
    return p;
}

/* What is not known, or is not text, is not reported. */
static void test_told_of_importance(void **state)
{
    static const struct {
        const char *dataset, *path;
        bool tells_dataset, tells_path, tells_chunks;
    } cases[] = {
        {"text", "imatrix.dat", true, true, true},
        {NULL, "", false, false, false},
        {"t\xff", "\xc3(", false, false, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        place p = with_importance(cases[i].dataset, cases[i].path);
        gufo_entry entry;

        check(gufo_model_find(p.file, "quantize.imatrix.file", &entry) == cases[i].tells_path,
              "case %zu: path", i);
        check(gufo_model_find(p.file, "quantize.imatrix.dataset", &entry) == cases[i].tells_dataset,
              "case %zu: dataset", i);
        check(gufo_model_find(p.file, "quantize.imatrix.chunks_count", &entry) ==
                  cases[i].tells_chunks,
              "case %zu: chunks", i);
        check_u64(number(p.file, "quantize.imatrix.entries_count"), 1, "case %zu", i);
        place_end(&p);
    }
}

/* A plan that was only to be looked at may hold what cannot be made. */
static void test_impossible(void **state)
{
    static const test_tensor wide[] = {{"a.weight", GUFO_TYPE_F32, 2, {256, 4}}};
    static const test_model wide_model = {
        .encoding = {3, false}, .tensors = wide, .tensor_count = 1};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    gufo_quantize_options options = quantize_to("IQ1_S");
    gufo_error error = no_error();

    (void)state;
    write_model(in.text, &wide_model);
    check_status(quantize_file(in.text, out.text, &options, NULL, &error), GUFO_E_NOT_FOUND, &error,
                 "planned");
    options.recipe.plan_only = true;
    check_status(quantize_file(in.text, out.text, &options, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "run");
    check(strstr(error.message, "\"a.weight\" cannot become IQ1_S") != NULL, "%s", error.message);
    check_u64(entry_count(f.path), 1, "files");
    folder_remove(&f);
}

/* ---- layers --------------------------------------------------------------------------------- */

static void test_layer_names(void **state)
{
    static const struct {
        const char *name;
        bool found;
        uint64_t layer;
        size_t at, len;
    } cases[] = {
        {"blk.7.a.weight", true, 7, 4, 1},
        {"v.blk.12.", true, 12, 6, 2},
        {"blk.x.blk.3.a", true, 3, 10, 1},
        {"blk.18446744073709551615.a", true, UINT64_MAX, 4, 20},
        {"blk.18446744073709551616.a", false, 0, 0, 0},
        {"blk.99999999999999999999999.a", false, 0, 0, 0},
        {"blk.007.a", true, 7, 4, 3},
        {"blk.", false, 0, 0, 0},
        {"blk..a", false, 0, 0, 0},
        {"blk.5", false, 0, 0, 0},
        {"blk.5a.b", false, 0, 0, 0},
        {"blk./.a", false, 0, 0, 0},
        {"blk.:.a", false, 0, 0, 0},
        {"", false, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t layer = 0;
        size_t at = 0, len = 0;

        check(layer_find(gufo_str_of(cases[i].name), &layer, &at, &len) == cases[i].found, "%s",
              cases[i].name);
        if (!cases[i].found)
            continue;
        check_u64(layer, cases[i].layer, "%s", cases[i].name);
        check_u64(at, cases[i].at, "%s", cases[i].name);
        check_u64(len, cases[i].len, "%s", cases[i].name);
    }
}

/* A model that does not say what it is, or an impossible one: no number of layers to change. */
static char long_name[300];

static void add_long_architecture(builder *b)
{
    builder_kv_str(b, "general.architecture", long_name);
}

static void add_architecture_only(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static void add_longest_architecture(builder *b)
{
    builder_kv_strn(b, "general.architecture", long_name, 250);
}

static void add_arrays(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "llama.block_count", 2);
    builder_kv_array(b, "llama.names", GUFO_VALUE_STRING, 2);
    for (int i = 0; i < 2; i++) {
        builder_length(b, 1);
        builder_raw(b, "x", 1);
    }
    builder_kv_array(b, "other.numbers.of.two", GUFO_VALUE_UINT8, 2);
    builder_raw(b, "ab", 2);
    builder_kv_array(b, "short", GUFO_VALUE_UINT8, 2);
    builder_raw(b, "ab", 2);
}

static void test_pruned_without_facts(void **state)
{
    static const struct {
        void (*metadata)(builder *b);
        uint64_t entries;
    } cases[] = {{NULL, 0},
                 {add_long_architecture, 1},
                 {add_longest_architecture, 1},
                 {add_architecture_only, 1},
                 {add_arrays, 5}};
    static const uint64_t pruned[] = {1};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");

    (void)state;
    memset(long_name, 'a', sizeof long_name - 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        test_model plain = {.encoding = {3, false},
                            .metadata = cases[i].metadata,
                            .entries = cases[i].entries,
                            .tensors = tensors,
                            .tensor_count = COUNT_OF(tensors)};
        gufo_quantize_options options = quantize_to("COPY");

        options.pruned_layers = pruned;
        options.pruned_count = COUNT_OF(pruned);
        write_model(in.text, &plain);
        quantize_well(in.text, out.text, &options, "pruned");
        gufo_model *file = open_path(out.text);
        gufo_entry entry;

        check_u64(gufo_model_tensor_count(file), COUNT_OF(tensors) - 1, "case %zu", i);
        check_u64(gufo_model_entry_count(file), cases[i].entries + 1, "case %zu", i);
        for (uint64_t e = 0; gufo_model_entry_at(file, e, &entry); e++)
            check(entry.value.type != GUFO_VALUE_ARRAY || entry.value.as.array.count == 2,
                  "case %zu: entry %" PRIu64, i, e);
        gufo_model_free(file);
    }
    folder_remove(&f);
}

static uint32_t count_type;

static void add_tensor_count(builder *b)
{
    builder_key(b, "split.tensors.count", count_type);
    builder_number(b, COUNT_OF(tensors), count_type == GUFO_VALUE_UINT16 ? 2 : 8);
}

/* The number of tensors keeps its type, if that is one that it can have. */
static void test_tensor_count_of_set(void **state)
{
    static const struct {
        uint32_t type, expected;
    } cases[] = {{GUFO_VALUE_UINT16, GUFO_VALUE_UINT16},
                 {GUFO_VALUE_UINT64, GUFO_VALUE_UINT64},
                 {GUFO_VALUE_INT64, GUFO_VALUE_INT32},
                 {GUFO_VALUE_FLOAT64, GUFO_VALUE_INT32}};
    static const uint64_t pruned[] = {1};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        test_model counted = {.encoding = {3, false},
                              .metadata = add_tensor_count,
                              .entries = 1,
                              .tensors = tensors,
                              .tensor_count = COUNT_OF(tensors)};
        gufo_quantize_options options = quantize_to("COPY");
        gufo_entry entry;

        count_type = cases[i].type;
        options.pruned_layers = pruned;
        options.pruned_count = COUNT_OF(pruned);
        options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
        write_model(in.text, &counted);
        quantize_well(in.text, out.text, &options, "counted");
        gufo_model *file = open_path(out.text);

        check(gufo_model_find(file, "split.tensors.count", &entry), "case %zu", i);
        check_u64((uint64_t)entry.value.type, cases[i].expected, "case %zu", i);
        check_u64(number(file, "split.tensors.count"), COUNT_OF(tensors) - 1, "case %zu", i);
        gufo_model_free(file);
    }
    folder_remove(&f);
}

/* Two layers must not get one name. */
static void test_pruned_to_the_same_name(void **state)
{
    static const test_tensor twins[] = {{"blk.0.a.weight", GUFO_TYPE_F32, 2, {64, 2}},
                                        {"blk.1.a.weight", GUFO_TYPE_F32, 2, {64, 2}},
                                        {"blk.01.a.weight", GUFO_TYPE_F32, 2, {64, 2}}};
    static const test_model twin_model = {
        .encoding = {3, false}, .tensors = twins, .tensor_count = COUNT_OF(twins)};
    static const uint64_t pruned[] = {0};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_error error = no_error();

    (void)state;
    write_model(in.text, &twin_model);
    quantize_well(in.text, out.text, &options, "all layers");
    options.pruned_layers = pruned;
    options.pruned_count = COUNT_OF(pruned);
    check_status(quantize_file(in.text, folder_path(&f, "b.gguf").text, &options, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "twins");
    check(strstr(error.message, "two tensors would have the name \"blk.0.a.weight\"") != NULL, "%s",
          error.message);
    check_u64(entry_count(f.path), 2, "files");
    folder_remove(&f);
}

static void test_pruned_layers(void **state)
{
    static const uint64_t pruned[] = {2, 0, 2};
    static const char *const names[] = {"token_embd.weight", "blk.0.attn_v.weight",
                                        "blk.1.attn_v.weight", "v.blk.8.attn_v.weight"};
    static const uint64_t rows[] = {10, 9, 11, 12};
    static const uint32_t heads[] = {11, 13}, other[] = {20, 21, 22, 23, 24};
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_tensor tensor;

    (void)state;
    options.pruned_layers = pruned;
    options.pruned_count = COUNT_OF(pruned);
    place p = quantized(&options, "without layers");

    check_u64(gufo_model_tensor_count(p.file), COUNT_OF(names), "tensors");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        check(gufo_model_tensor_at(p.file, i, &tensor), "tensor %zu", i);
        check_str(tensor.name, names[i], "tensor %zu", i);
        check_u64(tensor.dims[1], rows[i], "tensor %zu", i);
    }
    check_u64(number(p.file, "llama.block_count"), 2, "layers");
    check_numbers(p.file, "llama.attention.head_count_kv", heads, COUNT_OF(heads));
    check_numbers(p.file, "llama.other", other, COUNT_OF(other));
    place_end(&p);
}

static void test_no_such_layer(void **state)
{
    static const uint64_t pruned[] = {0, 7};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf");
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_error error = no_error();

    (void)state;
    write_model(in.text, &model);
    options.pruned_layers = pruned;
    options.pruned_count = COUNT_OF(pruned);
    check_status(quantize_file(in.text, folder_path(&f, "out.gguf").text, &options, NULL, &error),
                 GUFO_E_ARGUMENT, &error, "layer 7");
    check(strstr(error.message, "layer 7") != NULL, "%s", error.message);
    folder_remove(&f);
}

/* ---- looking -------------------------------------------------------------------------------- */

static void test_looking_writes_nothing(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_error error = no_error();
    gufo_quantizer_tensor tensor;
    gufo_quantizer *q;
    gufo_model *input;
    uint64_t size;
    size_t len;

    (void)state;
    write_model(in.text, &model);
    input = gufo_model_open(in.text, NULL, &error);
    q = gufo_quantizer_new(input, &options, &error);
    check(q != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        check(gufo_quantizer_tensor_at(q, i, &tensor), "tensor %zu", i);
        check_str(tensor.name, tensors[i].name, "tensor %zu", i);
        check_u64(tensor.choice.size, tensor.source.elements / 32 * 34, "%s", tensors[i].name);
        check(!tensor.has_importance && !tensor.unfit_importance, "%s", tensors[i].name);
    }
    check(!gufo_quantizer_tensor_at(q, COUNT_OF(tensors), &tensor), "past the end");
    check_u64(entry_count(f.path), 1, "files");
    size = gufo_quantizer_output_size(q);
    check_ok(quantize_run(q, out.text, NULL, &error), &error, "run");
    free(read_file(out.text, &len));
    check_u64(len, size, "size");
    gufo_quantizer_free(q);
    gufo_model_free(input);
    folder_remove(&f);
}

static void test_no_tensors(void **state)
{
    static const uint8_t bytes[] = "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_error error = no_error();
    folder f = folder_new();
    path_text path = folder_path(&f, "empty.gguf");

    (void)state;
    write_file(path.text, bytes, sizeof bytes);
    gufo_model *input = gufo_model_open(path.text, NULL, &error);

    check(input != NULL, "%s", error.message);
    gufo_quantizer *q = gufo_quantizer_new(input, &options, &error);

    check(q != NULL, "a model without tensors: %s", error.message);
    check_ok(quantize_run(q, folder_path(&f, "out.gguf").text, NULL, &error), &error,
             "a model without tensors");
    gufo_quantizer_free(q);
    gufo_model_free(input);
    folder_remove(&f);
}

/* Every request for memory fails once: no leak, no file. */
static void test_without_memory(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    gufo_error error = no_error();
    gufo_model *input;
    size_t failed = 0;

    (void)state;
    write_model(in.text, &model);
    input = gufo_model_open(in.text, NULL, &error);
    for (size_t fail_at = 1;; fail_at++) {
        gufo_quantize_options options = quantize_to("Q4_1");
        const quantize_how how = {.run = {.threads = 2}};
        counter c;
        gufo_status status;

        counter_init(&c);
        c.fail_at = fail_at;
        gufo_allocator allocator = counter_allocator(&c);

        options.allocator = &allocator;
        gufo_quantizer *q = gufo_quantizer_new(input, &options, &error);

        status = q == NULL ? error.code : quantize_run(q, out.text, &how, &error);
        gufo_quantizer_free(q);
        check_u64(c.in_use, 0, "request %zu: leak", fail_at);
        if (c.calls < fail_at)
            break;
        if (c.denied == 0) { /* a block was to become smaller */
            check_ok(status, &error, "request %zu", fail_at);
            check(unlink(out.text) == 0, "output");
            continue;
        }
        check_status(status, GUFO_E_MEMORY, &error, "request %zu", fail_at);
        check_u64(entry_count(f.path), 1, "request %zu: files", fail_at);
        failed++;
    }
    check(failed > 20, "only %zu requests", failed);
    gufo_model_free(input);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_no_file_type),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_overridden_facts),
        cmocka_unit_test(test_bad_override),
        cmocka_unit_test(test_pruned_layers),
        cmocka_unit_test(test_overrides_are_strict),
        cmocka_unit_test(test_told_of_importance),
        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_layer_names),
        cmocka_unit_test(test_pruned_without_facts),
        cmocka_unit_test(test_pruned_to_the_same_name),
        cmocka_unit_test(test_tensor_count_of_set),
        cmocka_unit_test(test_no_such_layer),
        cmocka_unit_test(test_looking_writes_nothing),
        cmocka_unit_test(test_no_tensors),
        cmocka_unit_test(test_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
