/* A made model becomes the same files as the file that it describes. */
#include "../support/pace.h"
#include "../support/quantize.h"

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 1500}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {256}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {512, 3}},
    {"blk.0.ffn_down_exps.weight", GUFO_TYPE_BF16, 3, {256, 5, 7}},
    {"blk.0.empty.weight", GUFO_TYPE_F32, 2, {256, 0}},
    {"blk.0.ints", GUFO_TYPE_I32, 1, {5}},
    {"output.weight", GUFO_TYPE_Q8_0, 2, {256, 100}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_array(b, "some.words", GUFO_VALUE_STRING, 2);
    builder_str(b, "one");
    builder_str(b, "two");
}

static const test_model model = {.encoding = {3, false},
                                 .metadata = add_metadata,
                                 .entries = 2,
                                 .tensors = tensors,
                                 .tensor_count = COUNT_OF(tensors)};

/* ---- a provider that describes a file ------------------------------------------------------- */

typedef struct teller {
    gufo_model *file;
    uint64_t broken; /* a tensor whose rows cannot be had; UINT64_MAX: none */
} teller;

static bool entry_at(void *context, uint64_t index, gufo_entry *out)
{
    return gufo_model_entry_at(((teller *)context)->file, index, out);
}

static bool tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    return gufo_model_tensor_at(((teller *)context)->file, index, out);
}

static gufo_status read_rows(void *context, uint64_t index, uint64_t first, uint64_t rows,
                             void *out, gufo_error *error)
{
    const teller *t = context;
    gufo_tensor tensor;

    if (index == t->broken) {
        snprintf(error->message, sizeof error->message, "nothing to make it from");
        return error->code = GUFO_E_IO;
    }
    check(gufo_model_tensor_at(t->file, index, &tensor), "tensor %" PRIu64, index);
    return gufo_tensor_read_rows(t->file, &tensor, first, rows, out, error);
}

/* A file, and a made model of the same content. */
typedef struct place {
    folder f;
    path_text in, out;
    teller teller;
    gufo_model *made;
} place;

static place *place_new(void)
{
    const gufo_open_options named = {.name = "made"};
    place *p = calloc(1, sizeof *p);
    gufo_error error = no_error();

    check(p != NULL, "memory");
    p->f = folder_new();
    p->in = folder_path(&p->f, "in.gguf");
    p->out = folder_path(&p->f, "out.gguf");
    write_model(p->in.text, &model);
    p->teller = (teller){gufo_model_open(p->in.text, NULL, &error), UINT64_MAX};
    check(p->teller.file != NULL, "%s", error.message);
    p->made = gufo_model_open_provider(
        &(gufo_provider){.context = &p->teller,
                         .entry_count = gufo_model_entry_count(p->teller.file),
                         .tensor_count = gufo_model_tensor_count(p->teller.file),
                         .entry_at = entry_at,
                         .tensor_at = tensor_at,
                         .read_rows = read_rows},
        &named, &error);
    check(p->made != NULL, "%s", error.message);
    return p;
}

static void place_end(place *p)
{
    gufo_model_free(p->made);
    gufo_model_free(p->teller.file);
    folder_remove(&p->f);
    free(p);
}

static gufo_quantizer *plan(const gufo_model *input, const gufo_quantize_options *options)
{
    gufo_error error = no_error();
    gufo_quantizer *q = gufo_quantizer_new(input, options, &error);

    check(q != NULL, "%s", error.message);
    return q;
}

static void check_losses(const gufo_quantizer *a, const gufo_quantizer *b, const char *label)
{
    gufo_quantizer_tensor of_a, of_b;

    for (uint64_t i = 0; gufo_quantizer_tensor_at(a, i, &of_a); i++)
        check(gufo_quantizer_tensor_at(b, i, &of_b) && same_loss(&of_a.loss, &of_b.loss),
              "%s: tensor %" PRIu64, label, i);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void check_same_outputs(const place *p, const gufo_quantize_options *options,
                               const char *label)
{
    const quantize_how replacing = {.flags = GUFO_JOB_REPLACE};
    path_text expected = folder_path(&p->f, "expected.gguf");
    gufo_quantizer *of_file = plan(p->teller.file, options), *of_made = plan(p->made, options);
    gufo_error error = no_error();

    check_ok(quantize_run(of_file, expected.text, &replacing, &error), &error, "%s", label);
    check_ok(quantize_run(of_made, p->out.text, &replacing, &error), &error, "%s", label);
    check_same_file(p->out.text, expected.text, label);
    check_losses(of_made, of_file, label);
    gufo_quantizer_free(of_file);
    gufo_quantizer_free(of_made);
}

static void test_same_as_file(void **state)
{
    static const char *const types[] = {"COPY", "F16", "Q8_0", "Q4_K_M"};
    static float means[256 * 7];
    static const importance_entry entry = {"blk.0.ffn_down_exps.weight", means, COUNT_OF(means)};
    place *p = place_new();
    path_text matrix = folder_path(&p->f, "imatrix.dat");
    gufo_error error = no_error();
    gufo_imatrix *imatrix;

    (void)state;
    skip_if_emulated();
    for (size_t i = 0; i < COUNT_OF(means); i++)
        means[i] = (float)(i % 11 + 1);
    write_importance(matrix.text, &entry, 1, NULL);
    imatrix = gufo_imatrix_open(matrix.text, NULL, &error);
    check(imatrix != NULL, "%s", error.message);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_quantize_options options = quantize_to(types[i]);

        options.recipe.allow_requantize = true;
        check_same_outputs(p, &options, types[i]);
        options.importance = imatrix;
        check_same_outputs(p, &options, types[i]);
    }
    check_same_outputs(p, NULL, "no options");
    gufo_imatrix_free(imatrix);
    place_end(p);
}

/* Rows that cannot be had: the error names the model, and nothing is left. */
static void test_broken(void **state)
{
    static const char *const types[] = {"COPY", "Q8_0"};
    place *p = place_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        gufo_quantize_options options = quantize_to(types[i]);
        gufo_quantizer *q = plan(p->made, &options);
        gufo_error error = no_error();

        p->teller.broken = 2;
        check_status(quantize_run(q, p->out.text, NULL, &error), GUFO_E_IO, &error, "%s", types[i]);
        check(error.role == GUFO_FILE_INPUT && strcmp(error.file, "made") == 0, "%s", error.file);
        check(strstr(error.message, "nothing to make it from") != NULL, "%s", error.message);
        check_u64(entry_count(p->f.path), 1, "files");
        gufo_quantizer_free(q);
        p->teller.broken = UINT64_MAX;
    }
    place_end(p);
}

static void test_resumed(void **state)
{
    place *p = place_new();
    path_text expected = folder_path(&p->f, "expected.gguf");
    gufo_quantize_options options = quantize_to("Q8_0");

    (void)state;
    quantize_well(p->in.text, expected.text, &options, "without a pause");
    for (uint64_t units = 1; units <= 5; units++) {
        const quantize_how stopping = {.stop_at = units}, resuming = {.flags = GUFO_JOB_RESUME};
        gufo_quantizer *first = plan(p->made, &options), *second = plan(p->made, &options);
        gufo_error error = no_error();

        check_status(quantize_run(first, p->out.text, &stopping, &error), GUFO_E_STOPPED, &error,
                     "stop");
        check_ok(quantize_run(second, p->out.text, &resuming, &error), &error, "resumed");
        check_same_file(p->out.text, expected.text, "resumed");
        check(remove(p->out.text) == 0, "output");
        gufo_quantizer_free(first);
        gufo_quantizer_free(second);
    }
    place_end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_file),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_resumed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
