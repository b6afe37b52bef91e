/* Merging adapters: every number is base + scale * (alpha / rank) * B A, in double, rounded once, for
 * all types, shapes and ways to run.  The other side is plain loops over decoded numbers. */
#include "../support/allocator.h"
#include "../support/codec.h"
#include "../support/pace.h"
#include "../support/parts.h"
#include "../support/quantize.h"

#include <math.h>
#include <unistd.h>

/* ---- files ---------------------------------------------------------------------------------- */

static const test_tensor base_tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 40}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {256}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {256, 70}},
    {"blk.0.attn_k.weight", GUFO_TYPE_BF16, 2, {512, 33}},
    {"blk.0.attn_v.weight", GUFO_TYPE_Q8_0, 2, {256, 20}},
    {"blk.0.attn_output.weight", GUFO_TYPE_Q4_K, 2, {256, 20}},
    {"blk.0.ffn_down_exps.weight", GUFO_TYPE_F16, 3, {256, 5, 3}},
    {"blk.0.ffn_up.weight", GUFO_TYPE_F16, 2, {20480, 3}},
    {"output.weight", GUFO_TYPE_F16, 2, {256, 40}}, /* in no adapter */
};

static const test_tensor first_tensors[] = {
    {"token_embd.weight.lora_a", GUFO_TYPE_F32, 2, {3, 40}},
    {"token_embd.weight.lora_b", GUFO_TYPE_F16, 2, {3, 256}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F16, 1, {256}},
    {"blk.0.attn_q.weight.lora_a", GUFO_TYPE_F32, 2, {256, 8}},
    {"blk.0.attn_q.weight.lora_b", GUFO_TYPE_F32, 2, {8, 70}},
    {"blk.0.attn_k.weight.lora_a", GUFO_TYPE_BF16, 2, {512, 1}},
    {"blk.0.attn_k.weight.lora_b", GUFO_TYPE_F16, 2, {1, 33}},
    {"blk.0.attn_v.weight.lora_a", GUFO_TYPE_Q8_0, 2, {256, 32}},
    {"blk.0.attn_v.weight.lora_b", GUFO_TYPE_Q8_0, 2, {32, 20}},
    {"blk.0.attn_output.weight.lora_a", GUFO_TYPE_F32, 2, {256, 70}},
    {"blk.0.attn_output.weight.lora_b", GUFO_TYPE_F32, 2, {70, 20}},
    {"blk.0.ffn_down_exps.weight.lora_a", GUFO_TYPE_F32, 3, {256, 2, 3}},
    {"blk.0.ffn_down_exps.weight.lora_b", GUFO_TYPE_F32, 3, {2, 5, 3}},
    {"blk.0.ffn_up.weight.lora_a", GUFO_TYPE_F32, 2, {20480, 4}},
    {"blk.0.ffn_up.weight.lora_b", GUFO_TYPE_F32, 2, {4, 3}},
};

static const test_tensor second_tensors[] = {
    {"blk.0.attn_q.weight.lora_a", GUFO_TYPE_F32, 2, {256, 5}},
    {"blk.0.attn_q.weight.lora_b", GUFO_TYPE_F32, 2, {5, 70}},
    {"blk.0.attn_k.weight.lora_a", GUFO_TYPE_F32, 2, {512, 4}},
    {"blk.0.attn_k.weight.lora_b", GUFO_TYPE_F32, 2, {4, 33}},
};

enum { FLOAT32 = 6 }; /* a value type */

static void add_architecture(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "general.name", "Base");
}

static void add_adapter(builder *b, float alpha)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_str(b, "general.type", "adapter");
    builder_kv_str(b, "adapter.type", "lora");
    builder_key(b, "adapter.lora.alpha", FLOAT32);
    builder_f32(b, alpha);
}

static void add_first(builder *b)
{
    add_adapter(b, 100);
}

static void add_second(builder *b)
{
    add_adapter(b, 33);
}

#define MODEL(add, count, list, is_big)                                                    \
    {                                                                                      \
        .encoding = {3, is_big}, .metadata = (add), .entries = (count), .tensors = (list), \
        .tensor_count = COUNT_OF(list)                                                     \
    }

static const test_model base = MODEL(add_architecture, 2, base_tensors, false);
static const test_model first = MODEL(add_first, 4, first_tensors, false);
static const test_model second = MODEL(add_second, 4, second_tensors, true);

enum { ADAPTERS = 2 };
static const double scales[ADAPTERS] = {0.7, -1.5}, alphas[ADAPTERS] = {100, 33};

typedef struct files {
    folder f;
    path_text base, out;
    gufo_model *input, *adapters[ADAPTERS];
    gufo_quantize_adapter list[ADAPTERS];
} files;

static void files_open(files *s)
{
    static const test_model *const models[ADAPTERS] = {&first, &second};
    static const char *const names[ADAPTERS] = {"first.gguf", "second.gguf"};

    s->f = folder_new();
    s->base = folder_path(&s->f, "base.gguf");
    s->out = folder_path(&s->f, "out.gguf");
    write_model(s->base.text, &base);
    s->input = open_path(s->base.text);
    for (size_t i = 0; i < ADAPTERS; i++) {
        path_text path = folder_path(&s->f, names[i]);

        write_model(path.text, models[i]);
        s->adapters[i] = open_path(path.text);
        s->list[i] = (gufo_quantize_adapter){.model = s->adapters[i], .scale = scales[i]};
    }
}

static void files_close(files *s)
{
    for (size_t i = 0; i < ADAPTERS; i++)
        gufo_model_free(s->adapters[i]);
    gufo_model_free(s->input);
    folder_remove(&s->f);
}

static void merge(files *s, const char *type, size_t adapters, const gufo_run *run)
{
    gufo_quantize_options options = quantize_to(type);
    const quantize_how how = {.flags = GUFO_JOB_REPLACE, .run = run != NULL ? *run : (gufo_run){0}};
    gufo_error error = no_error();

    options.recipe.allow_requantize = true;
    options.adapters = s->list;
    options.adapter_count = adapters;
    check_ok(quantize_file(s->base.text, s->out.text, &options, &how, &error), &error, "%s", type);
}

/* ---- the other side ------------------------------------------------------------------------- */

static float *numbers_of(const gufo_model *model, const char *name, const char *suffix,
                         gufo_tensor *tensor)
{
    char text[128];
    gufo_error error = no_error();
    float *out;

    (void)snprintf(text, sizeof text, "%s%s", name, suffix);
    if (!gufo_model_tensor_find(model, text, tensor))
        return NULL;
    out = malloc((size_t)tensor->elements * sizeof *out);
    check(out != NULL, "memory");
    check_ok(
        gufo_tensor_decode(model, tensor, 0, tensor->elements / tensor->dims[0], out, NULL, &error),
        &error, "%s", text);
    return out;
}

/* B A at row and column of a matrix. */
static double product_at(const float *a, const gufo_tensor *of_a, const float *b,
                         const gufo_tensor *of_b, bool embedding, const uint64_t at[3])
{
    uint64_t rank = of_b->dims[0], matrix = at[2];
    double sum = 0;

    for (uint64_t k = 0; k < rank; k++)
        sum += embedding ? (double)a[at[1] * rank + k] * (double)b[at[0] * rank + k]
                         : (double)b[(matrix * of_b->dims[1] + at[1]) * rank + k] *
                               (double)a[(matrix * rank + k) * of_a->dims[0] + at[0]];
    return sum;
}

/* Adds what one adapter does to all numbers. */
static void add_expected(double *values, const gufo_tensor *tensor, const char *name,
                         const gufo_model *adapter, double factor)
{
    gufo_tensor a, b, whole;
    float *in_place = numbers_of(adapter, name, "", &whole);
    float *left = numbers_of(adapter, name, ".lora_a", &a);
    float *right = numbers_of(adapter, name, ".lora_b", &b);
    bool embedding = strcmp(name, "token_embd.weight") == 0;

    for (uint64_t i = 0; i < tensor->elements; i++) {
        uint64_t row = i / tensor->dims[0];
        const uint64_t at[3] = {i % tensor->dims[0], row % tensor->dims[1], row / tensor->dims[1]};

        if (in_place != NULL)
            values[i] = (double)in_place[i];
        else if (left != NULL)
            values[i] +=
                factor / (double)b.dims[0] * product_at(left, &a, right, &b, embedding, at);
    }
    free(in_place);
    free(left);
    free(right);
}

/* The nearest number with `bits` bits that is a multiple of 2^least, ties to even. */
static double nearest(double value, int bits, int least)
{
    int exponent;
    double unit;

    if (value == 0)
        return value;
    (void)frexp(value, &exponent);
    unit = ldexp(1, exponent - bits < least ? least : exponent - bits);
    return rint(value / unit) * unit;
}

/* As floats, which the type holds or which are to be encoded. */
static void round_all(const double *values, uint64_t count, uint32_t type, float *out)
{
    for (uint64_t i = 0; i < count; i++)
        out[i] = (float)(type == GUFO_TYPE_F16    ? nearest(values[i], 11, -24)
                         : type == GUFO_TYPE_BF16 ? nearest(values[i], 8, -133)
                                                  : values[i]);
}

static void check_merged(const files *s, const gufo_model *out, const char *name, size_t adapters)
{
    gufo_tensor tensor, got;
    float *numbers = numbers_of(s->input, name, "", &tensor);
    double *values = malloc((size_t)tensor.elements * sizeof *values);
    uint8_t *bytes = tensor_bytes(out, name, &got), *expected;
    uint64_t columns = tensor.dims[0];

    expected = malloc((size_t)got.size);
    check(values != NULL && expected != NULL, "memory");
    for (uint64_t i = 0; i < tensor.elements; i++)
        values[i] = (double)numbers[i];
    for (size_t i = 0; i < adapters; i++)
        add_expected(values, &tensor, name, s->adapters[i], scales[i] * alphas[i]);
    round_all(values, tensor.elements, got.type, numbers);
    encode_with(gufo_element_type_by_id(got.type), GUFO_CPU_PORTABLE, GUFO_EFFORT_REFERENCE,
                numbers, tensor.elements / columns, columns, NULL, expected);
    check(memcmp(bytes, expected, (size_t)got.size) == 0, "%s as %s", name,
          gufo_element_type_by_id(got.type)->name);
    free(expected);
    free(bytes);
    free(values);
    free(numbers);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void check_type(files *s, const char *type, size_t adapters)
{
    gufo_model *out;
    gufo_tensor tensor;

    merge(s, type, adapters, NULL);
    out = open_path(s->out.text);
    for (size_t i = 0; i < COUNT_OF(base_tensors); i++) {
        check_merged(s, out, base_tensors[i].name, adapters);
        check(gufo_model_tensor_find(out, base_tensors[i].name, &tensor), "%s",
              base_tensors[i].name);
        if (strcmp(type, "COPY") == 0)
            check_u64(tensor.type, base_tensors[i].type, "%s", base_tensors[i].name);
    }
    gufo_model_free(out);
}

static void test_types(void **state)
{
    static const char *const types[] = {"COPY", "F32", "F16", "BF16", "Q8_0", "Q4_K_M"};
    files s;

    (void)state;
    files_open(&s);
    for (size_t i = 0; i < all_or_few(COUNT_OF(types), 2); i++)
        for (size_t adapters = 1; adapters <= ADAPTERS; adapters++)
            check_type(&s, types[i], adapters);
    files_close(&s);
}

static void test_same_with_all_threads_and_memory(void **state)
{
    static const gufo_run ways[] = {{.threads = 4},
                                    {.threads = 2, .cpu = GUFO_CPU_PORTABLE},
                                    {.threads = 3, .memory = UINT64_C(28) << 20}};
    files s;
    path_text one;

    (void)state;
    skip_if_emulated();
    files_open(&s);
    merge(&s, "COPY", ADAPTERS, &(gufo_run){.threads = 1});
    one = folder_path(&s.f, "one.gguf");
    check(rename(s.out.text, one.text) == 0, "rename");
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        merge(&s, "COPY", ADAPTERS, &ways[i]);
        check_same_file(s.out.text, one.text, "again");
    }
    files_close(&s);
}

/* Several types from one reading round in the same way, or not at all. */
static void test_several_types(void **state)
{
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_quantize_options f16 = quantize_to("F16"), q4 = quantize_to("Q4_0");
    gufo_error error = no_error();
    gufo_quantizer *q;
    files s;

    (void)state;
    files_open(&s);
    options.recipe.allow_requantize = true;
    options.adapters = s.list;
    options.adapter_count = 1;
    options.more_count = 1;
    options.more_targets = &q4.recipe.target;
    q = gufo_quantizer_new(s.input, &options, &error);
    check(q != NULL, "%s", error.message);
    gufo_quantizer_free(q);
    options.more_targets = &f16.recipe.target;
    q = gufo_quantizer_new(s.input, &options, &error);
    check(q == NULL && error.code == GUFO_E_ARGUMENT, "types that round differently");
    files_close(&s);
}

static void test_interrupted(void **state)
{
    gufo_quantize_options options = quantize_to("F16");
    const quantize_how stopped = {.stop_at = 4, .run = {.threads = 2}};
    const quantize_how resumed = {.flags = GUFO_JOB_RESUME};
    gufo_error error = no_error();
    path_text one;
    files s;

    (void)state;
    files_open(&s);
    merge(&s, "F16", 1, NULL);
    one = folder_path(&s.f, "one.gguf");
    check(rename(s.out.text, one.text) == 0, "rename");
    options.adapters = s.list;
    options.adapter_count = 1;
    check_status(quantize_file(s.base.text, s.out.text, &options, &stopped, &error), GUFO_E_STOPPED,
                 &error, "stop");
    /* The journal belongs to that scale. */
    s.list[0].scale = 0.5;
    check(quantize_file(s.base.text, s.out.text, &options, &resumed, &error) != GUFO_OK,
          "another scale");
    s.list[0].scale = scales[0];
    check_ok(quantize_file(s.base.text, s.out.text, &options, &resumed, &error), &error, "resume");
    check_same_file(s.out.text, one.text, "resumed");
    files_close(&s);
}

/* The factors of one tensor, at least, have to fit into memory. */
static void test_memory(void **state)
{
    gufo_quantize_options options = quantize_to("COPY");
    const quantize_how little = {.run = {.threads = 1, .memory = UINT64_C(13) << 20}};
    gufo_error error = no_error();
    files s;

    (void)state;
    files_open(&s);
    options.adapters = s.list;
    options.adapter_count = 1;
    check_status(quantize_file(s.base.text, s.out.text, &options, &little, &error), GUFO_E_LIMIT,
                 &error, "memory");
    check(access(s.out.text, F_OK) != 0, "an output is left");
    files_close(&s);
}

/* ---- failures ------------------------------------------------------------------------------- */

static const test_tensor small_base[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {64, 10}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {64, 8}},
};

static const test_tensor small_adapter[] = {
    {"token_embd.weight.lora_a", GUFO_TYPE_F32, 2, {3, 10}},
    {"token_embd.weight.lora_b", GUFO_TYPE_F32, 2, {3, 64}},
    {"blk.0.attn_q.weight.lora_a", GUFO_TYPE_F32, 2, {64, 2}},
    {"blk.0.attn_q.weight.lora_b", GUFO_TYPE_F32, 2, {2, 8}},
};

typedef struct small {
    folder f;
    path_text adapter_path, out;
    gufo_model *input;
    gufo_quantize_adapter adapter;
} small;

static small small_open(void)
{
    static const test_model base_model = MODEL(add_architecture, 2, small_base, false);
    static const test_model adapter_model = MODEL(add_first, 4, small_adapter, false);
    small s = {.f = folder_new()};
    path_text path = folder_path(&s.f, "base.gguf");

    s.adapter_path = folder_path(&s.f, "adapter.gguf");
    s.out = folder_path(&s.f, "out.gguf");
    write_model(path.text, &base_model);
    write_model(s.adapter_path.text, &adapter_model);
    s.input = open_path(path.text);
    s.adapter.model = open_path(s.adapter_path.text);
    return s;
}

static void small_close(small *s)
{
    gufo_model_free((gufo_model *)s->adapter.model);
    gufo_model_free(s->input);
    folder_remove(&s->f);
}

static gufo_quantizer *small_plan(const small *s, const gufo_allocator *allocator,
                                  gufo_error *error)
{
    gufo_quantize_options options = quantize_to("COPY");

    options.adapters = &s->adapter;
    options.adapter_count = 1;
    options.allocator = allocator;
    return gufo_quantizer_new(s->input, &options, error);
}

/* Every request for memory fails once: no leak, and no file. */
static void test_without_memory(void **state)
{
    static const quantize_how one_thread = {.run = {.threads = 1}};
    small s = small_open();
    gufo_error error = no_error();
    size_t fail_at = 0, calls;

    (void)state;
    do {
        gufo_allocator allocator;
        gufo_quantizer *q;
        gufo_status status;
        counter c;

        counter_init(&c);
        c.fail_at = ++fail_at;
        allocator = counter_allocator(&c);
        q = small_plan(&s, &allocator, &error);
        status = q == NULL ? error.code : quantize_run(q, s.out.text, &one_thread, &error);
        gufo_quantizer_free(q);
        calls = c.calls;
        check_u64(c.in_use, 0, "request %zu: leak", fail_at);
        check_status(status, c.denied > 0 ? GUFO_E_MEMORY : GUFO_OK, &error, "request %zu",
                     fail_at);
        if (c.denied > 0)
            check_u64(entry_count(s.f.path), 2, "request %zu: files", fail_at);
        (void)unlink(s.out.text);
    } while (calls >= fail_at);
    check(fail_at > 30, "only %zu requests", fail_at);
    small_close(&s);
}

/* The error names the adapter, and nothing is left. */
static void test_cut_adapter(void **state)
{
    static const quantize_how one_thread = {.run = {.threads = 1}};
    small s = small_open();
    gufo_error error = no_error();
    gufo_quantizer *q = small_plan(&s, NULL, &error);

    (void)state;
    check(q != NULL, "%s", error.message);
    check(truncate(s.adapter_path.text, 700) == 0, "truncate");
    check(quantize_run(q, s.out.text, &one_thread, &error) != GUFO_OK, "a cut adapter");
    check(strstr(error.file, "adapter.gguf") != NULL, "%s: %s", error.file, error.message);
    check(access(s.out.text, F_OK) != 0, "an output is left");
    gufo_quantizer_free(q);
    small_close(&s);
}

static void check_refused(files *s, gufo_quantize_adapter adapter, gufo_status expected,
                          const char *part)
{
    gufo_quantize_options options = quantize_to("COPY");
    gufo_error error = no_error();
    gufo_quantizer *q;

    options.adapters = &adapter;
    options.adapter_count = 1;
    q = gufo_quantizer_new(s->input, &options, &error);
    check(q == NULL, "%s", part);
    check_status(error.code, expected, &error, "%s", part);
    check(strstr(error.message, part) != NULL, "%s: %s", part, error.message);
}

static void test_refused(void **state)
{
    files s;

    (void)state;
    files_open(&s);
    check_refused(&s, (gufo_quantize_adapter){.model = NULL}, GUFO_E_ARGUMENT, "model is missing");
    check_refused(&s, (gufo_quantize_adapter){.model = s.adapters[0], .scale = (double)NAN},
                  GUFO_E_ARGUMENT, "not finite");
    check_refused(&s, (gufo_quantize_adapter){.model = s.adapters[0], .reserved = {0, 1}},
                  GUFO_E_ARGUMENT, "reserved");
    check_refused(&s, (gufo_quantize_adapter){.model = s.input}, GUFO_E_MALFORMED,
                  "not an adapter");
    files_close(&s);
}

static void test_parts(void **state)
{
    gufo_quantize_options options = quantize_to("Q8_0");
    gufo_error error = no_error();
    gufo_quantizer *whole, *parted;
    files s;

    (void)state;
    files_open(&s);
    options.recipe.allow_requantize = true;
    options.adapters = s.list;
    options.adapter_count = ADAPTERS;
    whole = gufo_quantizer_new(s.input, &options, &error);
    parted = gufo_quantizer_new(s.input, &options, &error);
    check(whole != NULL && parted != NULL, "%s", error.message);
    check_parts(gufo_quantizer_job(whole), gufo_quantizer_job(parted),
                &(gufo_job_options){.path = s.out.text}, "merged");
    gufo_quantizer_free(whole);
    gufo_quantizer_free(parted);
    files_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_same_with_all_threads_and_memory),
        cmocka_unit_test(test_several_types),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_cut_adapter),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
