/* Several types from one reading: each file is that of a run for its type alone, rows are read
 * once, and the files appear together or not at all. */
#include "../support/codec.h"
#include "../support/parts.h"
#include "../support/quantize.h"

#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS = 256, MOST = 6 };

/* What is copied for all types, for some, and for none; with fallbacks, stacks, an interleaved type
 * that is repacked for some, and nothing at all. */
static const test_tensor tensors[] = {
    {"token_embd.weight", GUFO_TYPE_F32, 2, {COLUMNS, 6}},
    {"blk.0.attn_norm.weight", GUFO_TYPE_F32, 1, {COLUMNS}},
    {"blk.0.attn_q.weight", GUFO_TYPE_F16, 2, {COLUMNS, 1500}}, /* 2 units */
    {"blk.0.attn_v.weight", GUFO_TYPE_Q8_0, 2, {COLUMNS, 8}},
    {"blk.0.ffn_down.weight", GUFO_TYPE_F32, 2, {96, 5}},
    {"blk.1.ffn_down_exps.weight", GUFO_TYPE_F32, 3, {COLUMNS, 3, 3}},
    {"blk.1.empty.weight", GUFO_TYPE_F32, 2, {COLUMNS, 0}},
    {"blk.1.ffn_up.weight", GUFO_TYPE_Q4_0_4_4, 2, {COLUMNS, 8}},
    {"blk.1.ints", GUFO_TYPE_I32, 1, {5}},
    {"output.weight", GUFO_TYPE_BF16, 2, {COLUMNS, 5}},
};

static void add_metadata(builder *b)
{
    builder_kv_str(b, "general.architecture", "llama");
    builder_kv_u32(b, "general.file_type", 1);
}

static test_model model_of(encoding e)
{
    return (test_model){.encoding = e,
                        .metadata = add_metadata,
                        .entries = 2,
                        .tensors = tensors,
                        .tensor_count = COUNT_OF(tensors)};
}

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct place {
    folder f;
    path_text in, imatrix;
    path_text out[MOST], alone[MOST]; /* "0.gguf" ..., and those of runs for one type */
    gufo_imatrix *importance;
    gufo_quantize_target targets[MOST];
    const char *more[MOST];
    size_t count;
    gufo_quantize_options options;
} place;

static void set_types(place *p, const char *const *types, size_t count)
{
    p->count = count;
    for (size_t i = 0; i < count; i++)
        p->targets[i] = quantize_to(types[i]).recipe.target;
    p->options.recipe.target = p->targets[0];
    p->options.more_targets = p->targets + 1;
    p->options.more_count = count - 1;
}

static const char *const usual[] = {"Q4_K_M", "Q8_0", "COPY", "Q4_0", "F16", "IQ2_XS"};

static place *place_new(encoding e)
{
    const test_model model = model_of(e);
    place *p = calloc(1, sizeof *p);

    check(p != NULL, "memory");
    p->f = folder_new();
    p->in = folder_path(&p->f, "in.gguf");
    p->imatrix = folder_path(&p->f, "imatrix.dat");
    for (size_t i = 0; i < MOST; i++) {
        char name[32];

        snprintf(name, sizeof name, "%zu.gguf", i);
        p->out[i] = folder_path(&p->f, name);
        snprintf(name, sizeof name, "alone-%zu.gguf", i);
        p->alone[i] = folder_path(&p->f, name);
        if (i > 0)
            p->more[i - 1] = p->out[i].text;
    }
    write_model(p->in.text, &model);
    p->options.recipe.allow_requantize = true;
    set_types(p, usual, COUNT_OF(usual) - 1);
    return p;
}

static void place_end(place *p)
{
    gufo_imatrix_free(p->importance);
    folder_remove(&p->f);
    free(p);
}

/* For some of the tensors; every expert has its own. */
static void add_importance(place *p)
{
    static float means[COLUMNS * 3];
    const importance_entry entries[] = {
        {"token_embd.weight", means, COLUMNS},
        {"blk.0.attn_q.weight", means + 5, COLUMNS},
        {"blk.0.attn_v.weight", means + 7, COLUMNS},
        {"blk.1.ffn_up.weight", means + 7, COLUMNS},
        {"blk.1.ffn_down_exps.weight", means, 3 * COLUMNS},
        {"blk.0.ffn_down.weight", means + 9, 96},
        {"output.weight", means + 3, COLUMNS},
    };
    number_source source = {7};
    gufo_error error = no_error();

    for (size_t i = 0; i < COUNT_OF(means); i++)
        means[i] = (float)(next_number(&source) % 1000 + 1) / 64;
    write_importance(p->imatrix.text, entries, COUNT_OF(entries), NULL);
    p->importance = gufo_imatrix_open(p->imatrix.text, NULL, &error);
    check(p->importance != NULL, "%s", error.message);
    p->options.importance = p->importance;
    p->options.importance_path = "imatrix.dat";
    set_types(p, usual, COUNT_OF(usual));
}

typedef struct stopper {
    uint64_t calls, stop_at;
} stopper;

static bool stop(void *context, uint64_t done, uint64_t total)
{
    stopper *s = context;

    return done <= total && ++s->calls != s->stop_at;
}

static gufo_status run_job(place *p, gufo_quantizer *q, uint32_t flags, uint64_t stop_at,
                           uint64_t memory, gufo_error *error)
{
    const gufo_job_options options = {
        .path = p->out[0].text, .flags = flags, .more_paths = p->more, .more_count = p->count - 1};
    stopper s = {0, stop_at};
    const gufo_run how = {.threads = 2, .memory = memory, .progress = stop, .progress_context = &s};

    return gufo_job_run(gufo_quantizer_job(q), &options, &how, error);
}

static gufo_quantizer *plan(const gufo_model *input, const gufo_quantize_options *options)
{
    gufo_error error = no_error();
    gufo_quantizer *q = gufo_quantizer_new(input, options, &error);

    check(q != NULL, "%s", error.message);
    return q;
}

static gufo_status run(place *p, uint32_t flags, uint64_t stop_at, gufo_error *error)
{
    gufo_model *input = gufo_model_open(p->in.text, NULL, error);
    gufo_quantizer *q;
    gufo_status status;

    check(input != NULL, "%s", error->message);
    q = plan(input, &p->options);
    status = run_job(p, q, flags, stop_at, 0, error);
    gufo_quantizer_free(q);
    gufo_model_free(input);
    return status;
}

static gufo_quantize_options options_of(const place *p, size_t target)
{
    gufo_quantize_options alone = p->options;

    alone.recipe.target = p->targets[target];
    alone.more_targets = NULL;
    alone.more_count = 0;
    return alone;
}

static void make_alone(place *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const gufo_quantize_options alone = options_of(p, i);

        quantize_well(p->in.text, p->alone[i].text, &alone, p->targets[i].name);
    }
}

static void check_outputs(const place *p, const char *label)
{
    for (size_t i = 0; i < p->count; i++)
        check_same_file(p->out[i].text, p->alone[i].text, label);
}

static void remove_outputs(const place *p)
{
    for (size_t i = 0; i < p->count; i++)
        check(unlink(p->out[i].text) == 0, "%s", p->out[i].text);
}

/* ---- the same bytes ------------------------------------------------------------------------- */

/* The plan and the losses are those of a run for one type. */
static void check_tensors(const gufo_model *input, const place *p, const gufo_quantizer *several)
{
    uint64_t size = 0;

    for (size_t i = 0; i < p->count; i++) {
        const gufo_quantize_options options = options_of(p, i);
        gufo_quantizer *alone = plan(input, &options);
        const gufo_job_options to = {.path = p->alone[i].text, .flags = GUFO_JOB_REPLACE};
        gufo_error error = no_error();
        gufo_quantizer_tensor a, b;

        check_ok(gufo_job_run(gufo_quantizer_job(alone), &to, NULL, &error), &error, "alone");
        for (uint64_t t = 0; gufo_quantizer_tensor_at(alone, t, &a); t++) {
            check(gufo_quantizer_target_tensor_at(several, i, t, &b), "tensor %" PRIu64, t);
            check(a.choice.type == b.choice.type && a.choice.size == b.choice.size &&
                      a.choice.reason == b.choice.reason && same_loss(&a.loss, &b.loss),
                  "%s: %s", p->targets[i].name, tensors[t].name);
        }
        check_u64(gufo_quantizer_target_size(several, i), gufo_quantizer_output_size(alone),
                  "size");
        size += gufo_quantizer_output_size(alone);
        gufo_quantizer_free(alone);
    }
    check_u64(gufo_quantizer_output_size(several), size, "all sizes");
    check(!gufo_quantizer_target_tensor_at(several, p->count, 0, NULL), "past the end");
    check_u64(gufo_quantizer_target_size(several, p->count), 0, "past the end");
}

static void check_same(place *p, const char *label)
{
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p->in.text, NULL, &error);
    gufo_quantizer *q = plan(input, &p->options);

    check_u64(gufo_job_output_count(gufo_quantizer_job(q)), p->count, "outputs");
    check_ok(run_job(p, q, 0, 0, 0, &error), &error, "%s", label);
    check_tensors(input, p, q);
    check_outputs(p, label);
    gufo_quantizer_free(q);
    gufo_model_free(input);
    remove_outputs(p);
}

static void test_same_bytes(void **state)
{
    (void)state;
    for (size_t e = 0; e < ENCODING_COUNT; e++) {
        place *p = place_new(all_encodings[e]);

        check_same(p, encoding_name(all_encodings[e]));
        add_importance(p);
        check_same(p, "with importance");
        place_end(p);
    }
}

/* ---- one reading ---------------------------------------------------------------------------- */

typedef struct counter {
    gufo_model *file;
    uint64_t rows[COUNT_OF(tensors)];
} counter;

static bool entry_at(void *context, uint64_t index, gufo_entry *out)
{
    return gufo_model_entry_at(((counter *)context)->file, index, out);
}

static bool tensor_at(void *context, uint64_t index, gufo_tensor *out)
{
    return gufo_model_tensor_at(((counter *)context)->file, index, out);
}

static gufo_status read_rows(void *context, uint64_t index, uint64_t first, uint64_t rows,
                             void *out, gufo_error *error)
{
    counter *c = context;
    gufo_tensor tensor;

    __atomic_fetch_add(&c->rows[index], rows, __ATOMIC_RELAXED);
    check(gufo_model_tensor_at(c->file, index, &tensor), "tensor %" PRIu64, index);
    return gufo_tensor_read_rows(c->file, &tensor, first, rows, out, error);
}

static void test_rows_are_read_once(void **state)
{
    place *p = place_new((encoding){3, false});
    const gufo_open_options named = {.name = "made"};
    test_model model = model_of((encoding){3, false});
    test_tensor list[COUNT_OF(tensors)];
    gufo_error error = no_error();
    counter c = {.file = NULL};
    gufo_model *made;
    gufo_quantizer *q;

    (void)state;
    memcpy(list, tensors, sizeof list);
    for (size_t i = 0; i < COUNT_OF(list); i++) /* a made model has no removed types */
        list[i].type = list[i].type == GUFO_TYPE_Q4_0_4_4 ? GUFO_TYPE_Q4_0 : list[i].type;
    model.tensors = list;
    write_model(p->in.text, &model);
    c.file = gufo_model_open(p->in.text, NULL, &error);
    check(c.file != NULL, "%s", error.message);
    made =
        gufo_model_open_provider(&(gufo_provider){.context = &c,
                                                  .entry_count = gufo_model_entry_count(c.file),
                                                  .tensor_count = gufo_model_tensor_count(c.file),
                                                  .entry_at = entry_at,
                                                  .tensor_at = tensor_at,
                                                  .read_rows = read_rows},
                                 &named, &error);
    check(made != NULL, "%s", error.message);
    make_alone(p);
    q = plan(made, &p->options);
    check_ok(run_job(p, q, 0, 0, 0, &error), &error, "run");
    check_outputs(p, "made");
    for (size_t i = 0; i < COUNT_OF(tensors); i++) {
        uint64_t rows = 1;

        for (uint32_t d = 1; d < tensors[i].n_dims; d++)
            rows *= tensors[i].dims[d];
        check_u64(c.rows[i], rows, "%s", tensors[i].name);
    }
    gufo_quantizer_free(q);
    gufo_model_free(made);
    gufo_model_free(c.file);
    place_end(p);
}

/* ---- interruptions -------------------------------------------------------------------------- */

static void test_stopped_anywhere(void **state)
{
    place *p = place_new((encoding){3, false});
    gufo_error error = no_error();
    uint64_t stops = 0;

    (void)state;
    make_alone(p);
    while (run(p, GUFO_JOB_RESUMABLE, stops + 1, &error) == GUFO_E_STOPPED) {
        stops++;
        for (size_t i = 0; i < p->count; i++)
            check(!file_exists(p->out[i].text), "an output after %" PRIu64, stops);
        check_ok(run(p, GUFO_JOB_RESUME, 0, &error), &error, "resumed after %" PRIu64, stops);
        check_outputs(p, "resumed");
        remove_outputs(p);
        check_u64(entry_count(p->f.path), 1 + p->count, "files");
    }
    check_outputs(p, "not stopped");
    check(stops >= COUNT_OF(tensors) - 1, "%" PRIu64 " stops", stops);
    place_end(p);
}

/* Other types, or another order, is another job. */
static void test_resumed_with_other_types(void **state)
{
    static const char *const others[][2] = {{"Q8_0", "Q4_0"}, {"Q4_0", "Q8_0"}, {"Q4_0", "Q4_1"}};
    place *p = place_new((encoding){3, false});
    gufo_error error = no_error();

    (void)state;
    set_types(p, others[0], 2);
    check_status(run(p, GUFO_JOB_RESUMABLE, 2, &error), GUFO_E_STOPPED, &error, "stopped");
    for (size_t i = 1; i < COUNT_OF(others); i++) {
        set_types(p, others[i], 2);
        check_status(run(p, GUFO_JOB_RESUME, 0, &error), GUFO_E_ARGUMENT, &error, "%s",
                     others[i][0]);
    }
    set_types(p, others[0], 2);
    make_alone(p);
    check_ok(run(p, GUFO_JOB_RESUME, 0, &error), &error, "resumed");
    check_outputs(p, "resumed");
    place_end(p);
}

/* ---- all or nothing ------------------------------------------------------------------------- */

/* A value that fits one type and not the other. */
static void test_value_too_large_for_one(void **state)
{
    static const test_tensor only[] = {{"a.weight", GUFO_TYPE_F32, 2, {COLUMNS, 2}}};
    static const char *const types[] = {"BF16", "F16"};
    const test_model model = {.encoding = {3, false}, .tensors = only, .tensor_count = 1};
    place *p = place_new((encoding){3, false});
    const float large = 1e30f;
    gufo_error error = no_error();
    uint8_t *bytes;
    size_t len;

    (void)state;
    write_model(p->in.text, &model);
    bytes = read_file(p->in.text, &len);
    memcpy(bytes + len - sizeof large, &large, sizeof large);
    write_file(p->in.text, bytes, len);
    free(bytes);
    set_types(p, types, 2);
    check_status(run(p, GUFO_JOB_RESUMABLE, 0, &error), GUFO_E_RANGE, &error, "too large");
    check(strstr(error.message, "too large for F16") != NULL, "%s", error.message);
    check_u64(entry_count(p->f.path), 1, "nothing is left");
    place_end(p);
}

static void test_outputs_that_exist(void **state)
{
    place *p = place_new((encoding){3, false});
    gufo_error error = no_error();

    (void)state;
    make_alone(p);
    for (size_t i = 0; i < p->count; i++) {
        write_file(p->out[i].text, "old", 3);
        check_status(run(p, GUFO_JOB_RESUMABLE, 0, &error), GUFO_E_EXISTS, &error, "output %zu", i);
        check(strcmp(error.file, p->out[i].text) == 0, "%s", error.file);
        check_file(p->out[i].text, "old", 3, "the old one");
        check_u64(entry_count(p->f.path), 2 + p->count, "nothing else");
        check_ok(run(p, GUFO_JOB_REPLACE, 0, &error), &error, "replaced %zu", i);
        check_outputs(p, "replaced");
        remove_outputs(p);
    }
    place_end(p);
}

/* ---- refused -------------------------------------------------------------------------------- */

static void test_paths(void **state)
{
    place *p = place_new((encoding){3, false});
    gufo_error error = no_error();

    (void)state;
    p->more[1] = p->out[1].text;
    check_status(run(p, 0, 0, &error), GUFO_E_ARGUMENT, &error, "twice the same");
    p->more[1] = p->in.text;
    check_status(run(p, 0, 0, &error), GUFO_E_ARGUMENT, &error, "the input");
    p->more[1] = p->out[2].text;
    p->count--;
    check_status(run(p, 0, 0, &error), GUFO_E_ARGUMENT, &error, "one path less than types");
    check_u64(entry_count(p->f.path), 1, "nothing is left");
    place_end(p);
}

static void test_options(void **state)
{
    gufo_quantize_target many[GUFO_QUANTIZE_TARGETS] = {{0}};
    place *p = place_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p->in.text, NULL, &error);
    gufo_quantizer *q;

    (void)state;
    p->options.more_targets = NULL;
    check(gufo_quantizer_new(input, &p->options, &error) == NULL, "no list");
    check_u64(error.code, GUFO_E_ARGUMENT, "no list");
    p->options.more_targets = many;
    p->options.more_count = GUFO_QUANTIZE_TARGETS;
    check(gufo_quantizer_new(input, &p->options, &error) == NULL, "too many");
    check_u64(error.code, GUFO_E_LIMIT, "too many");
    p->options.more_count--;
    gufo_quantizer_free(plan(input, &p->options));
    many[3].reserved[1] = 1;
    check(gufo_quantizer_new(input, &p->options, &error) == NULL, "reserved");
    check_u64(error.code, GUFO_E_ARGUMENT, "reserved");
    set_types(p, usual, 2);
    q = plan(input, &p->options);
    check_status(gufo_job_stream(gufo_quantizer_job(q), 1, NULL, &error), GUFO_E_ARGUMENT, &error,
                 "a stream");
    gufo_quantizer_free(q);
    gufo_model_free(input);
    place_end(p);
}

/* Too little memory is refused, a little more is enough; the bytes are the same. */
static void test_memory(void **state)
{
    place *p = place_new((encoding){3, false});
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p->in.text, NULL, &error);
    uint64_t least = UINT64_C(16) << 20;
    gufo_status status;

    (void)state;
    make_alone(p);
    do {
        gufo_quantizer *q = plan(input, &p->options);

        status = run_job(p, q, 0, 0, least, &error);
        gufo_quantizer_free(q);
        least += UINT64_C(1) << 20;
    } while (status == GUFO_E_LIMIT && least < UINT64_C(128) << 20);
    check_ok(status, &error, "least memory");
    check(least > UINT64_C(18) << 20, "16 MiB are enough");
    check_outputs(p, "least memory");
    gufo_model_free(input);
    place_end(p);
}

/* ---- shards --------------------------------------------------------------------------------- */

enum { SHARDS = 2 };

static int shard;

static void add_shard(builder *b)
{
    builder_kv_u16(b, "split.no", (uint16_t)shard);
    builder_kv_u16(b, "split.count", SHARDS);
    builder_kv_i32(b, "split.tensors.count", 4);
}

static path_text shard_path(const place *p, const char *prefix, int number)
{
    char name[64];

    snprintf(name, sizeof name, "%s-%05d-of-%05d.gguf", prefix, number + 1, SHARDS);
    return folder_path(&p->f, name);
}

/* Each type becomes a set, and the shards have the bytes of a set that is made alone. */
static void test_kept_shards(void **state)
{
    static const char *const types[] = {"Q8_0", "Q4_0"};
    place *p = place_new((encoding){3, false});
    gufo_error error = no_error();

    (void)state;
    for (shard = 0; shard < SHARDS; shard++) {
        const test_model model = {.encoding = {3, false},
                                  .metadata = add_shard,
                                  .entries = 3,
                                  .tensors = tensors + 2 * shard,
                                  .tensor_count = 2};

        write_model(shard_path(p, "in", shard).text, &model);
    }
    p->in = shard_path(p, "in", 0);
    set_types(p, types, 2);
    p->options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
    make_alone(p);
    for (uint64_t stop_at = 1; stop_at < 4; stop_at++) {
        check_status(run(p, GUFO_JOB_RESUMABLE, stop_at, &error), GUFO_E_STOPPED, &error, "stop");
        check_ok(run(p, GUFO_JOB_RESUME | GUFO_JOB_REPLACE, 0, &error), &error, "resumed");
        for (int i = 0; i < SHARDS; i++) {
            check_same_file(shard_path(p, "0", i).text, shard_path(p, "alone-0", i).text, "Q8_0");
            check_same_file(shard_path(p, "1", i).text, shard_path(p, "alone-1", i).text, "Q4_0");
            check(unlink(shard_path(p, "0", i).text) == 0, "first");
            check(unlink(shard_path(p, "1", i).text) == 0, "second");
        }
    }
    check_u64(entry_count(p->f.path), 1 + 3 * SHARDS, "files");
    place_end(p);
}

/* ---- in parts -------------------------------------------------------------------------------- */

static void check_in_parts(place *p, size_t count, uint64_t split_size)
{
    static const char *const quick[] = {"Q8_0", "Q4_0", "COPY"};
    const gufo_job_options outputs = {
        .path = p->out[0].text, .more_paths = p->more, .more_count = count - 1};
    gufo_error error = no_error();
    gufo_model *input = gufo_model_open(p->in.text, NULL, &error);
    gufo_quantizer *whole, *parted;
    char label[64];

    check(input != NULL, "%s", error.message);
    set_types(p, quick, count);
    p->options.split_size = split_size;
    whole = plan(input, &p->options);
    parted = plan(input, &p->options);
    (void)snprintf(label, sizeof label, "%zu types, shards of %" PRIu64, count, split_size);
    check_parts(gufo_quantizer_job(whole), gufo_quantizer_job(parted), &outputs, label);
    gufo_quantizer_free(whole);
    gufo_quantizer_free(parted);
    gufo_model_free(input);
}

static void test_parts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        place *p = place_new((encoding){3, i == 1});

        add_importance(p);
        check_in_parts(p, i < 2 ? 1 : 3, i % 2 == 0 ? 0 : 100000);
        place_end(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_rows_are_read_once),
        cmocka_unit_test(test_stopped_anywhere),
        cmocka_unit_test(test_resumed_with_other_types),
        cmocka_unit_test(test_value_too_large_for_one),
        cmocka_unit_test(test_outputs_that_exist),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_kept_shards),
        cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
