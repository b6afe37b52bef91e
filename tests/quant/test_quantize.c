/* Quantizing a file: the bytes are those of the encoders, whatever the threads and the memory. */
#include "../support/codec.h"
#include "../support/pace.h"
#include "../support/quantize.h"

#include "quant/quantizer.h"

#include <math.h>

/* Shapes that are cut in every way: one unit, several, several slices, rows longer than a step. */
static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 1100}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {256}},
    {"blk.0.ffn_up.weight", GUFO_TYPE_F16, 2, {512, 3}},
    {"blk.0.ffn_down_exps.weight", GUFO_TYPE_BF16, 3, {256, 5, 7}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F32, 2, {65536, 5}},
    {"empty.weight", GUFO_TYPE_F32, 2, {256, 0}},
    {"output.weight", GUFO_TYPE_Q8_0, 2, {256, 100}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
}

static const test_model model = {.encoding = {3, false},
                                 .metadata = add_metadata,
                                 .entries = 1,
                                 .tensors = tensors,
                                 .tensor_count = COUNT_OF(tensors)};

/* Bytes of a tensor as they are to be: the source decoded and encoded in one go. */
static uint8_t *expected_bytes(const uint8_t *source, const gufo_tensor *from, uint32_t type,
                               const float *importance, uint64_t *size)
{
    const gufo_element_type *old = gufo_element_type_by_id(from->type);
    const gufo_element_type *new = gufo_element_type_by_id(type);
    uint64_t rows = from->elements / from->dims[0], row_size, slice_rows = rows;
    float *values = malloc((size_t)from->elements * sizeof *values + 1);
    gufo_error error = no_error();
    uint8_t *blocks;

    check(gufo_element_row_size(new, from->dims[0], &row_size, NULL) == GUFO_OK, "row");
    *size = rows * row_size;
    blocks = malloc((size_t)*size + 1);
    check(values != NULL && blocks != NULL, "memory");
    check_ok(gufo_decode(old, source, rows, from->dims[0], values,
                         &(gufo_run){.cpu = GUFO_CPU_PORTABLE}, &error),
             &error, "decode");
    if (importance != NULL)
        slice_rows = from->dims[1];
    for (uint64_t row = 0; row < rows; row += slice_rows)
        encode_with(new, GUFO_CPU_PORTABLE, GUFO_EFFORT_REFERENCE, values + row * from->dims[0],
                    slice_rows, from->dims[0],
                    importance != NULL ? importance + row / slice_rows * from->dims[0] : NULL,
                    blocks + row * row_size);
    free(values);
    return blocks;
}

static void check_tensor(const gufo_model *in, const gufo_model *out, const char *name,
                         const float *importance)
{
    gufo_tensor from, to;
    uint8_t *source = tensor_bytes(in, name, &from), *got = tensor_bytes(out, name, &to), *expected;
    uint64_t size;

    check_u64(to.elements, from.elements, "%s", name);
    if (to.type == from.type) {
        check_view(((gufo_str){(char *)got, (size_t)to.size}),
                   ((gufo_str){(char *)source, (size_t)from.size}), "%s: copy", name);
    } else {
        expected = expected_bytes(source, &from, to.type, importance, &size);
        check_u64(to.size, size, "%s", name);
        check(memcmp(got, expected, (size_t)size) == 0, "%s: other bytes", name);
        free(expected);
    }
    free(source);
    free(got);
}

static void check_all_tensors(const char *in_path, const char *out_path)
{
    gufo_model *in = open_path(in_path), *out = open_path(out_path);

    check_u64(gufo_model_tensor_count(out), gufo_model_tensor_count(in), "tensors");
    for (size_t i = 0; i < COUNT_OF(tensors); i++)
        check_tensor(in, out, tensors[i].name, NULL);
    gufo_model_free(in);
    gufo_model_free(out);
}

static uint32_t type_of(const char *path, const char *name)
{
    gufo_model *file = open_path(path);
    gufo_tensor tensor;

    check(gufo_model_tensor_find(file, name, &tensor), "%s", name);
    gufo_model_free(file);
    return tensor.type;
}

static void test_bytes(void **state)
{
    static const char *const types[] = {"F32", "F16", "BF16", "Q4_0", "Q4_K_M", "Q8_0", "COPY"};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");

    (void)state;
    write_model(in.text, &model);
    for (size_t i = all_or_few(0, 5); i < COUNT_OF(types); i++) {
        gufo_quantize_options options = quantize_to(types[i]);

        options.recipe.allow_requantize = true;
        quantize_well(in.text, out.text, &options, types[i]);
        check_all_tensors(in.text, out.text);
        check_u64(entry_count(f.path), 2, "%s: files are left", types[i]);
    }
    check_u64(type_of(out.text, "output.weight"), GUFO_TYPE_Q8_0, "COPY");
    folder_remove(&f);
}

static void test_same_with_all_threads_and_memory(void **state)
{
    static const gufo_run ways[] = {
        {.threads = 1},
        {.threads = 2},
        {.threads = 7, .cpu = GUFO_CPU_PORTABLE},
        {.threads = 40, .memory = UINT64_C(24) << 20},
    };
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), first = folder_path(&f, "first.gguf");
    path_text out = folder_path(&f, "out.gguf");
    gufo_quantize_options options = quantize_to("Q5_1");
    gufo_error error = no_error();

    (void)state;
    skip_if_emulated();
    write_model(in.text, &model);
    options.recipe.allow_requantize = true;
    quantize_well(in.text, first.text, &options, "first");
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        const quantize_how how = {.flags = GUFO_JOB_REPLACE, .run = ways[i]};

        check_ok(quantize_file(in.text, out.text, &options, &how, &error), &error, "way %zu", i);
        check_same_file(out.text, first.text, "again");
    }
    folder_remove(&f);
}

/* ---- measuring ------------------------------------------------------------------------------ */

static gufo_quantizer *run_and_keep(const gufo_model *input, const char *out,
                                    const gufo_quantize_options *options)
{
    gufo_error error = no_error();
    gufo_quantizer *q = gufo_quantizer_new(input, options, &error);

    check(q != NULL, "%s", error.message);
    check_ok(quantize_run(q, out, NULL, &error), &error, "run");
    return q;
}

/* Numbers whose squares no float holds are measured as well as others. */
static void test_loss_of_any_size(void **state)
{
    enum { COUNT = 1000 };
    static const float sizes[] = {1, 1e-30f, 1e30f, 1e-12f};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        float values[COUNT], decoded[COUNT];
        gufo_quantize_loss loss = {0};

        for (size_t k = 0; k < COUNT; k++) {
            values[k] = sizes[i] * (float)(k % 7 + 1);
            decoded[k] = values[k] + sizes[i] * (k == 500 ? 0.5f : 0.0625f);
        }
        assert_true(loss_measure(&loss, values, decoded, COUNT));
        check_u64(loss.count, COUNT, "size %g", (double)sizes[i]);
        check(fabs(gufo_quantize_loss_relative(&loss) / 0.0144193852 - 1) < 1e-5,
              "size %g: relative error %.9g", (double)sizes[i], gufo_quantize_loss_relative(&loss));
        check(fabsf(loss.largest_error / (sizes[i] * 0.5f) - 1) < 1e-5f, "size %g: largest error",
              (double)sizes[i]);
        values[3] = INFINITY;
        decoded[4] = NAN;
        loss = (gufo_quantize_loss){0};
        assert_false(loss_measure(&loss, values, decoded, COUNT));
        check_u64(loss.count, COUNT - 2, "size %g, not finite", (double)sizes[i]);
    }
}

static void check_loss(const gufo_model *in, const gufo_model *out,
                       const gufo_quantizer_tensor *tensor)
{
    gufo_tensor from, to;
    char name[GUFO_MAX_NAME + 1];
    double square_value = 0, square_error = 0;
    float largest = 0;
    gufo_error error = no_error();

    snprintf(name, sizeof name, "%.*s", (int)tensor->name.len, tensor->name.data);
    uint8_t *source = tensor_bytes(in, name, &from), *got = tensor_bytes(out, name, &to);
    float *values = malloc((size_t)from.elements * sizeof *values + 1);
    float *decoded = malloc((size_t)from.elements * sizeof *decoded + 1);

    check(values != NULL && decoded != NULL, "memory");
    check_ok(gufo_decode(gufo_element_type_by_id(from.type), source, 1, from.elements, values, NULL,
                         &error),
             &error, "%s", name);
    check_ok(
        gufo_decode(gufo_element_type_by_id(to.type), got, 1, to.elements, decoded, NULL, &error),
        &error, "%s", name);
    for (uint64_t i = 0; i < from.elements; i++) {
        double difference = (double)values[i] - (double)decoded[i];

        square_value += (double)values[i] * (double)values[i];
        square_error += difference * difference;
        largest = fabsf((float)difference) > largest ? fabsf((float)difference) : largest;
    }
    check_u64(tensor->loss.count, from.elements, "%s", name);
    check(fabs(tensor->loss.square_value / square_value - 1) < 2e-6, "%s: values", name);
    check(fabs(tensor->loss.square_error / square_error - 1) < 2e-6, "%s: errors", name);
    check(tensor->loss.largest_error == largest, "%s: largest error", name);
    check(fabs(gufo_quantize_loss_relative(&tensor->loss) - sqrt(square_error / square_value)) <
              2e-6,
          "%s: relative error", name);
    free(source);
    free(got);
    free(values);
    free(decoded);
}

static void test_loss(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_quantizer_tensor tensor;
    gufo_quantizer *q;
    gufo_model *input;
    size_t measured = 0;

    (void)state;
    write_model(in.text, &model);
    options.recipe.keep_output = true;
    input = gufo_model_open(in.text, NULL, NULL);
    q = run_and_keep(input, out.text, &options);
    gufo_model *before = open_path(in.text), *after = open_path(out.text);

    for (uint64_t i = 0; gufo_quantizer_tensor_at(q, i, &tensor); i++) {
        if (!(tensor.choice.flags & GUFO_RECIPE_CONVERTS) || tensor.source.elements == 0) {
            check_u64(tensor.loss.count, 0, "%s", tensors[i].name);
            continue;
        }
        check_loss(before, after, &tensor);
        measured++;
    }
    check_u64(measured, 4, "tensors");
    gufo_model_free(before);
    gufo_model_free(after);
    gufo_quantizer_free(q);
    gufo_model_free(input);
    folder_remove(&f);
}

static void test_runs_once(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    gufo_quantize_options options = quantize_to("COPY");
    gufo_error error = no_error();
    gufo_quantizer *q;
    gufo_model *input;

    (void)state;
    write_model(in.text, &model);
    input = gufo_model_open(in.text, NULL, NULL);
    q = run_and_keep(input, out.text, &options);
    check_status(quantize_run(q, in.text, NULL, &error), GUFO_E_ARGUMENT, &error, "again");
    gufo_quantizer_free(q);
    gufo_quantizer_free(NULL);
    gufo_model_free(input);
    folder_remove(&f);
}

/* What this version does not know is refused, not passed over. */
static void test_bad_options(void **state)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf");
    gufo_quantize_options flags = quantize_to("COPY"), reserved = quantize_to("COPY");
    gufo_error error = no_error();
    gufo_model *input;

    (void)state;
    write_model(in.text, &model);
    input = gufo_model_open(in.text, NULL, NULL);
    flags.flags = 8;
    reserved.reserved[1] = 1;
    assert_null(gufo_quantizer_new(input, &flags, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "flags");
    assert_null(gufo_quantizer_new(input, &reserved, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "reserved");
    assert_null(gufo_quantizer_new(NULL, NULL, &error));
    check_status(error.code, GUFO_E_ARGUMENT, &error, "no model");
    gufo_model_free(input);
    folder_remove(&f);
}

/* ---- importance ----------------------------------------------------------------------------- */

static float *random_importance(uint64_t count, uint64_t seed)
{
    number_source source = {seed};
    float *values = malloc((size_t)count * sizeof *values);

    check(values != NULL, "memory");
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)(next_number(&source) % 1000 + 1) / 64;
    return values;
}

static void test_importance(void **state)
{
    static const char *const names[] = {"blk.0.ffn_down_exps.weight", "blk.0.ffn_up.weight",
                                        "token_embd.weight"};
    static const uint64_t counts[] = {256 * 7, 512, 100}; /* the last one does not fit */
    importance_entry entries[3];
    float *values[3];
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    path_text matrix = folder_path(&f, "imatrix.dat");
    gufo_quantize_options options = quantize_to("Q4_K_M");
    gufo_error error = no_error();
    uint64_t number;
    gufo_str text;

    (void)state;
    skip_if_emulated();
    write_model(in.text, &model);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        values[i] = random_importance(counts[i], i + 1);
        entries[i] = (importance_entry){names[i], values[i], counts[i]};
    }
    write_importance(matrix.text, entries, COUNT_OF(entries), "text.txt");
    options.importance = gufo_imatrix_open(matrix.text, NULL, &error);
    check(options.importance != NULL, "%s", error.message);
    options.importance_path = "some/imatrix.dat";
    options.importance_name = "matrix of another place";
    options.recipe.allow_requantize = true;
    quantize_well(in.text, out.text, &options, "with importance");

    gufo_model *before = open_path(in.text), *after = open_path(out.text);

    check_tensor(before, after, names[0], values[0]);
    check_tensor(before, after, names[1], values[1]);
    check_tensor(before, after, names[2], NULL);
    check_ok(gufo_model_get_str(after, "quantize.imatrix.file", &text, &error), &error, "file");
    check_str(text, "matrix of another place", "its name, not the path");
    check_ok(gufo_model_get_str(after, "quantize.imatrix.dataset", &text, &error), &error,
             "dataset");
    check_str(text, "text.txt", "dataset");
    check_ok(gufo_model_get_u64(after, "quantize.imatrix.entries_count", &number, &error), &error,
             "n");
    check_u64(number, 3, "entries");
    check_ok(gufo_model_get_u64(after, "quantize.imatrix.chunks_count", &number, &error), &error,
             "n");
    check_u64(number, 9, "chunks");
    gufo_model_free(before);
    gufo_model_free(after);
    gufo_imatrix_free((gufo_imatrix *)options.importance);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        free(values[i]);
    folder_remove(&f);
}

/* Importance of another model: named, before anything is written. */
static void test_importance_that_does_not_fit(void **state)
{
    float *values = random_importance(511, 1);
    importance_entry entry = {"blk.0.ffn_up.weight", values, 511};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    path_text matrix = folder_path(&f, "imatrix.dat");
    gufo_quantize_options options = quantize_to("Q4_K_M");
    gufo_error error = no_error();

    (void)state;
    write_model(in.text, &model);
    write_importance(matrix.text, &entry, 1, "text.txt");
    options.importance = gufo_imatrix_open(matrix.text, NULL, &error);
    check(options.importance != NULL, "%s", error.message);
    options.recipe.allow_requantize = true;
    check_status(quantize_file(in.text, out.text, &options, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "other model");
    check(strstr(error.message, "blk.0.ffn_up.weight") != NULL, "%s", error.message);
    check(strstr(error.message, "511") != NULL, "%s", error.message);
    check(strstr(error.message, "\"other.dat\"") == NULL, "%s", error.message);
    options.importance_path = "other.dat";
    check_status(quantize_file(in.text, out.text, &options, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "other model, with its path");
    check(strstr(error.message, "importance matrix \"other.dat\": the entry for") != NULL, "%s",
          error.message);
    check_u64(entry_count(f.path), 2, "files");
    gufo_imatrix_free((gufo_imatrix *)options.importance);
    free(values);
    folder_remove(&f);
}

/* ---- byte order and removed types ----------------------------------------------------------- */

static void test_big_endian(void **state)
{
    static const char *const types[] = {"COPY", "F16", "Q4_1", "Q4_K_M"};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), big = folder_path(&f, "big.gguf");
    path_text out = folder_path(&f, "out.gguf"), big_out = folder_path(&f, "big-out.gguf");
    test_model reversed = model;

    (void)state;
    reversed.encoding.big = true;
    write_model(in.text, &model);
    write_model(big.text, &reversed);
    for (size_t i = 0; i < all_or_few(COUNT_OF(types), 3); i++) {
        gufo_quantize_options options = quantize_to(types[i]);

        options.recipe.allow_requantize = true;
        quantize_well(in.text, out.text, &options, types[i]);
        quantize_well(big.text, big_out.text, &options, types[i]);
        gufo_model *little = open_path(out.text), *other = open_path(big_out.text);

        check_u64(gufo_model_facts(other).byte_order, GUFO_BIG_ENDIAN, "%s", types[i]);
        for (size_t t = 0; t < COUNT_OF(tensors); t++) {
            gufo_tensor a, b;
            gufo_error error = no_error();
            uint8_t *expected = tensor_bytes(little, tensors[t].name, &a);
            uint8_t *got = tensor_bytes(other, tensors[t].name, &b);
            const gufo_element_type *type = gufo_element_type_by_id(b.type);

            check_u64(b.type, a.type, "%s: %s", types[i], tensors[t].name);
            check_ok(gufo_swap_blocks(type, got, b.size / type->block_bytes, &error), &error, "%s",
                     tensors[t].name);
            check(memcmp(got, expected, (size_t)a.size) == 0, "%s: %s", types[i], tensors[t].name);
            free(expected);
            free(got);
        }
        gufo_model_free(little);
        gufo_model_free(other);
    }
    folder_remove(&f);
}

static void test_interleaved(void **state)
{
    static const test_tensor old[] = {{"a.weight", 31, 2, {64, 12}},
                                      {"b.weight", 33, 2, {4096, 200}},
                                      {"c.weight", 36, 2, {64, 4}}};
    static const test_model old_model = {
        .encoding = {3, false}, .tensors = old, .tensor_count = COUNT_OF(old)};
    folder f = folder_new();
    path_text in = folder_path(&f, "in.gguf"), out = folder_path(&f, "out.gguf");
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_tensor from, to;

    (void)state;
    write_model(in.text, &old_model);
    options.recipe.allow_requantize = true;
    quantize_well(in.text, out.text, &options, "old layouts");
    gufo_model *before = open_path(in.text), *after = open_path(out.text);

    for (size_t i = 0; i < COUNT_OF(old); i++) {
        const gufo_element_type *type = gufo_element_type_by_id(old[i].type), *repacked;
        uint8_t *source = tensor_bytes(before, old[i].name, &from);
        uint8_t *got = tensor_bytes(after, old[i].name, &to);
        uint8_t *expected = malloc((size_t)from.size);
        gufo_error error = no_error();

        check_ok(gufo_repack(type, source, from.dims[1], from.dims[0], expected, &repacked, &error),
                 &error, "%s", old[i].name);
        if (to.type == repacked->id)
            check(memcmp(got, expected, (size_t)from.size) == 0, "%s", old[i].name);
        else
            check(old[i].type == 36 && to.type == GUFO_TYPE_Q4_0, "%s: type %u", old[i].name,
                  (unsigned)to.type);
        free(source);
        free(got);
        free(expected);
    }
    gufo_model_free(before);
    gufo_model_free(after);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_same_with_all_threads_and_memory),
        cmocka_unit_test(test_loss_of_any_size),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_runs_once),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_importance),
        cmocka_unit_test(test_importance_that_does_not_fit),
        cmocka_unit_test(test_big_endian),
        cmocka_unit_test(test_interleaved),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
