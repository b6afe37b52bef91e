/* Outputs of a largest size: which tensors each one takes, and that a set of them is the model. */
#include "../support/check.h"
#include "../support/quantize.h"

static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {256, 40}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {256}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {256, 64}},
    {"blk.0.ffn_up.weight", GUFO_TYPE_F16, 2, {256, 64}},
    {"output.weight", GUFO_TYPE_F32, 2, {256, 40}},
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

typedef struct place {
    folder f;
    path_text in;
    gufo_model *input;
} place;

static void place_open(place *p)
{
    gufo_error error;

    p->f = folder_new();
    p->in = folder_path(&p->f, "in.gguf");
    write_model(p->in.text, &model);
    p->input = gufo_model_open(p->in.text, NULL, &error);
    check(p->input != NULL, "%s", error.message);
}

static void place_close(place *p)
{
    gufo_model_free(p->input);
    folder_remove(&p->f);
}

/* The sizes and the tensors of the outputs. */
typedef struct outputs {
    size_t count;
    uint64_t largest, tensors[8];
} outputs;

static outputs plan(const place *p, uint64_t size, uint64_t most, size_t more)
{
    static const char *const types[] = {"Q8_0", "F16"};
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_quantize_target targets[COUNT_OF(types)];
    gufo_quantizer *q;
    gufo_job_output out;
    outputs found = {0};
    gufo_error error;

    for (size_t i = 0; i < more; i++)
        check(gufo_quantize_target_by_name(types[i], false, &targets[i]), "%s", types[i]);
    options.split_size = size;
    options.split_tensors = most;
    options.more_targets = targets;
    options.more_count = more;
    q = gufo_quantizer_new(p->input, &options, &error);
    check(q != NULL, "%s", error.message);
    found.count = gufo_job_output_count(gufo_quantizer_job(q)) / (more + 1);
    for (size_t i = 0; i < found.count * (more + 1); i++) {
        check(gufo_job_output_at(gufo_quantizer_job(q), i, &out), "output %zu", i);
        found.largest = out.size > found.largest ? out.size : found.largest;
        if (i < found.count)
            found.tensors[i] = out.tensor_count;
    }
    gufo_quantizer_free(q);
    return found;
}

static void test_tensors(void **state)
{
    place p;
    outputs found;

    (void)state;
    place_open(&p);
    found = plan(&p, 0, 2, 0);
    check_u64(found.count, 3, "shards of two tensors");
    check(found.tensors[0] == 2 && found.tensors[1] == 2 && found.tensors[2] == 1, "2 2 1");
    check_u64(plan(&p, 0, 100, 0).count, 1, "one shard of all");
    check_u64(plan(&p, 0, 1, 2).count, COUNT_OF(tensors), "the same of every target");
    place_close(&p);
}

static void test_sizes(void **state)
{
    place p;

    (void)state;
    place_open(&p);
    for (uint64_t size = 15000; size <= 60000; size += 5000) {
        outputs found = plan(&p, size, 0, 0);
        outputs several = plan(&p, 4 * size, 0, 2);

        check(found.count > 0 && found.largest <= size, "%" PRIu64 ": %" PRIu64, size,
              found.largest);
        check(several.count > 0 && several.largest <= 4 * size, "%" PRIu64 ": %" PRIu64, size,
              several.largest);
    }
    check_u64(plan(&p, 1, 0, 0).count, COUNT_OF(tensors), "each tensor has a file at least");
    place_close(&p);
}

static void test_refused(void **state)
{
    gufo_quantize_options options = quantize_to("Q4_0");
    gufo_error error;
    place p;

    (void)state;
    place_open(&p);
    options.split_tensors = 2;
    options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
    check(gufo_quantizer_new(p.input, &options, &error) == NULL, "both kinds of shards");
    check(error.code == GUFO_E_ARGUMENT, "%s", error.message);
    place_close(&p);
}

static void test_written(void **state)
{
    const gufo_open_options alone = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_quantize_options options = quantize_to("Q4_0");
    path_text whole, first, third;
    gufo_model *set, *one;
    gufo_error error;
    place p;

    (void)state;
    place_open(&p);
    whole = folder_path(&p.f, "whole.gguf");
    quantize_well(p.in.text, whole.text, &options, "whole");
    options.split_tensors = 2;
    first = folder_path(&p.f, "out-00001-of-00003.gguf");
    third = folder_path(&p.f, "out-00003-of-00003.gguf");
    quantize_well(p.in.text, folder_path(&p.f, "out.gguf").text, &options, "shards");
    one = gufo_model_open(whole.text, NULL, &error);
    check(one != NULL, "%s", error.message);
    set = gufo_model_open(third.text, &alone, &error);
    check(set != NULL, "%s", error.message);
    check_u64(gufo_model_tensor_count(set), 1, "tensors of the third shard");
    check(!gufo_model_find(set, "general.architecture", NULL), "keys are in the first one");
    gufo_model_free(set);
    set = gufo_model_open(first.text, &alone, &error);
    check(set != NULL && gufo_model_find(set, "general.architecture", NULL) &&
              gufo_model_find(set, GUFO_SPLIT_COUNT_KEY, NULL),
          "the first shard");
    gufo_model_free(set);
    gufo_model_free(one);
    place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
