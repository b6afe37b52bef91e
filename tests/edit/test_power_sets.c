/* A loss of power at any moment of every planner that writes files: what lies at the outputs is the
 * old set, the new one or none, and the same command makes the new one. */
#include "workshop.h"

#include "../quant/imatrix_files.h"
#include "../support/aside.h"
#include "../support/recording.h"

enum { MOST_OUTPUTS = SHARDS };

struct scene;

/* Writes the outputs in a folder that holds the inputs. */
typedef struct planner {
    const char *label;
    gufo_status (*make)(const folder *f, const struct scene *s, gufo_error *error);
    const char *out; /* the output; of a set, its first shard or what all names begin with */
    size_t copy;     /* of `copies` */
    uint32_t flags;
    gufo_imatrix_format format;
    bool replaces_input;
} planner;

typedef struct scene {
    const planner *planner;
    workshop work;
    folder rebuilt;
    size_t outputs;
    path_text names[MOST_OUTPUTS]; /* without the folder */
    uint8_t *olds[MOST_OUTPUTS], *news[MOST_OUTPUTS];
    size_t old_lens[MOST_OUTPUTS], lens[MOST_OUTPUTS];
    unsigned states, none;
} scene;

/* ---- the planners --------------------------------------------------------------------------- */

static gufo_status copy_in(const folder *f, const scene *s, gufo_error *error)
{
    const gufo_run run = {.threads = 1};
    size_t number = s->planner->copy;
    path_text set = shard_of(folder_path(f, "set").text, 1, SHARDS);
    gufo_model *input = gufo_model_open(
        copies[number].from_set ? set.text : folder_path(f, "in.gguf").text, NULL, error);
    gufo_job *c = input != NULL ? copies[number].plan(input, NULL, error) : NULL;
    gufo_status status = c != NULL ? GUFO_OK : error->code;

    if (c != NULL)
        status = run_job(c, folder_path(f, copies[number].out).text, true, &run, error);
    gufo_job_free(c);
    gufo_model_free(input);
    return status;
}

static gufo_status quantize_in(const folder *f, const scene *s, gufo_error *error)
{
    gufo_quantize_options options = quantize_to("Q8_0");
    /* Not the one that was rebuilt: a journal knows its input by the time of its last change. */
    path_text set = shard_of(folder_path(&s->work.f, "set").text, 1, SHARDS);
    const quantize_how how = {.flags = GUFO_JOB_REPLACE | s->planner->flags, .run = {.threads = 1}};

    options.flags = GUFO_QUANTIZE_KEEP_SPLIT;
    options.recipe.allow_requantize = true;
    return quantize_file(set.text, folder_path(f, set_name).text, &options, &how, error);
}

/* Both formats together.  A run that goes on knows its inputs as quantize does. */
static gufo_status merge_imatrix_in(const folder *f, const scene *s, gufo_error *error)
{
    const gufo_job_options options = {.path = folder_path(f, s->planner->out).text,
                                      .flags = GUFO_JOB_REPLACE | s->planner->flags};
    static const char *const names[2] = {"legacy", "gguf"};
    gufo_imatrix *inputs[2], *sum;
    gufo_job *job;
    gufo_status status;

    for (size_t i = 0; i < 2; i++) {
        inputs[i] = gufo_imatrix_open(folder_path(&s->work.f, names[i]).text, NULL, error);
        check(inputs[i] != NULL, "%s: %s", names[i], error->message);
    }
    sum = gufo_imatrix_merge((const gufo_imatrix *const *)inputs, 2, NULL, error);
    check(sum != NULL, "%s", error->message);
    job = gufo_job_imatrix(sum, s->planner->format, NULL, error);
    status = job != NULL ? gufo_job_run(job, &options, NULL, error) : error->code;
    gufo_job_free(job);
    gufo_imatrix_free(sum);
    gufo_imatrix_free(inputs[0]);
    gufo_imatrix_free(inputs[1]);
    return status;
}

/* A file in another format takes the place of itself. */
static gufo_status convert_imatrix_in(const folder *f, const scene *s, gufo_error *error)
{
    path_text path = folder_path(f, s->planner->out);
    gufo_imatrix *input = gufo_imatrix_open(path.text, NULL, error);
    gufo_status status = input != NULL
                             ? imatrix_save(input, s->planner->format, path.text, true, NULL, error)
                             : error->code;

    gufo_imatrix_free(input);
    return status;
}

/* ---- data that the caller has --------------------------------------------------------------- */

enum { GIVEN_SIZE = 3000, GIVEN_PART = 1000 };

static bool is_shards(void *context, gufo_str name)
{
    static const char *const names[SHARDS] = {"a.weight", "b.weight", "c.weight"};

    return gufo_str_equal(name, gufo_str_of(names[*(const size_t *)context]));
}

/* One tensor of a model, and one that is given. */
static gufo_document *describe(const gufo_model *from, size_t shard, size_t count)
{
    gufo_error error = no_error();
    gufo_document *d = gufo_document_new(NULL, &error);
    const uint64_t dims[] = {GIVEN_SIZE};
    char tensor[] = {'g', (char)('0' + shard), '\0'};

    check(d != NULL, "%s", error.message);
    if (shard == 0)
        check_ok(gufo_document_set_text(d, "general.architecture", "llama", &error), &error,
                 "metadata");
    if (count > 1)
        check_ok(gufo_document_set_shard(d, shard, count, 2 * count, 0, &error), &error, "shard");
    check_ok(gufo_document_copy_tensors(d, from, is_shards, &shard, NULL, &error), &error,
             "copied");
    check_ok(
        gufo_document_add_tensor(d, tensor, gufo_element_type_by_id(GUFO_TYPE_I8), 1, dims, &error),
        &error, "given");
    return d;
}

/* In parts, the last one first, and shards in turn. */
static gufo_status give(gufo_job *job, size_t count, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint8_t part[GIVEN_PART];

    for (size_t at = GIVEN_SIZE; at > 0; at -= GIVEN_PART)
        for (size_t shard = 0; shard < count && status == GUFO_OK; shard++) {
            for (size_t i = 0; i < GIVEN_PART; i++)
                part[i] = pattern_byte((unsigned)shard, at - GIVEN_PART + i);
            status = gufo_job_write(job, shard, 1, at - GIVEN_PART, part, GIVEN_PART, error);
        }
    return status;
}

static gufo_status give_in(const folder *f, const scene *s, gufo_error *error)
{
    const gufo_run one_thread = {.threads = 1};
    const gufo_job_options options = {.path = folder_path(f, s->planner->out).text,
                                      .flags = GUFO_JOB_REPLACE};
    gufo_model *from = open_path(folder_path(f, "in.gguf").text);
    gufo_document *documents[SHARDS];
    gufo_status status;
    gufo_job *job;

    for (size_t i = 0; i < s->outputs; i++)
        documents[i] = describe(from, i, s->outputs);
    job = gufo_job_of_documents(documents, s->outputs, NULL, error);
    status = job != NULL ? gufo_job_open(job, &options, error) : error->code;
    if (status == GUFO_OK)
        status = give(job, s->outputs, error);
    if (status == GUFO_OK)
        status = gufo_job_finish(job, &one_thread, error);
    gufo_job_free(job);
    for (size_t i = 0; i < s->outputs; i++)
        gufo_document_free(documents[i]);
    gufo_model_free(from);
    return status;
}

/* ---- a scene -------------------------------------------------------------------------------- */

static void find_outputs(scene *s)
{
    const char *out = s->planner->out;
    bool is_set = strcmp(out, "out") == 0 || strcmp(out, set_name) == 0;

    s->outputs = is_set ? SHARDS : 1;
    for (size_t i = 0; i < s->outputs; i++)
        if (is_set)
            s->names[i] = shard_of("out", i + 1, SHARDS);
        else
            snprintf(s->names[i].text, sizeof s->names[i].text, "%s", out);
}

static void write_imatrices(const scene *s)
{
    builder legacy = make_legacy(), gguf = make_gguf(true);

    write_file(folder_path(&s->work.f, "legacy").text, legacy.data, legacy.len);
    write_file(folder_path(&s->work.f, "gguf").text, gguf.data, gguf.len);
    if (s->planner->replaces_input)
        write_file(folder_path(&s->work.f, s->names[0].text).text, legacy.data, legacy.len);
    builder_free(&legacy);
    builder_free(&gguf);
}

/* What is at the output before: the input, or the new bytes with another last one, which is tensor
 * data. */
static void find_old(scene *s, size_t i, const path_text *path)
{
    if (s->planner->replaces_input) {
        s->olds[i] = read_file(folder_path(&s->work.f, "legacy").text, &s->old_lens[i]);
    } else {
        s->old_lens[i] = s->lens[i];
        s->olds[i] = malloc(s->lens[i]);
        memcpy(s->olds[i], s->news[i], s->lens[i]);
        s->olds[i][s->lens[i] - 1] ^= 0x01;
    }
    write_file(path->text, s->olds[i], s->old_lens[i]);
}

static scene scene_new(const planner *p)
{
    scene s = {.planner = p, .work = workshop_new(), .rebuilt = folder_new()};
    gufo_error error = no_error();

    disk_simulate(true);
    find_outputs(&s);
    write_imatrices(&s);
    check_ok(p->make(&s.work.f, &s, &error), &error, "%s", p->label);
    for (size_t i = 0; i < s.outputs; i++) {
        path_text path = folder_path(&s.work.f, s.names[i].text);

        s.news[i] = read_file(path.text, &s.lens[i]);
        check(s.news[i] != NULL, "%s: %s", p->label, path.text);
        find_old(&s, i, &path);
    }
    return s;
}

static void scene_end(scene *s)
{
    disk_simulate(false);
    workshop_end(&s->work);
    folder_remove(&s->rebuilt);
    for (size_t i = 0; i < s->outputs; i++) {
        free(s->olds[i]);
        free(s->news[i]);
    }
}

/* ---- power is lost -------------------------------------------------------------------------- */

static bool all_are(const scene *s, uint8_t *const bytes[], const size_t lens[])
{
    bool same = true;

    for (size_t i = 0; i < s->outputs && same; i++) {
        size_t len;
        uint8_t *found = read_file(folder_path(&s->rebuilt, s->names[i].text).text, &len);

        same = found != NULL && len == lens[i] && memcmp(found, bytes[i], len) == 0;
        free(found);
    }
    return same;
}

/* As readers see it: a set opens by its first shard, and only with all others. */
static bool opens(const scene *s)
{
    bool there = true;

    for (size_t i = 0; i < s->outputs; i++)
        there = there && file_exists(folder_path(&s->rebuilt, s->names[i].text).text);
    return there;
}

static void see(void *context, const char *label)
{
    scene *s = context;
    const char *what = s->planner->label;
    gufo_error error = no_error();

    s->states++;
    s->none += !opens(s);
    check(!opens(s) || all_are(s, s->olds, s->old_lens) || all_are(s, s->news, s->lens),
          "%s, %s: a mixture", what, label);
    check_ok(s->planner->make(&s->rebuilt, s, &error), &error, "%s, %s: again", what, label);
    check(all_are(s, s->news, s->lens), "%s, %s: finished", what, label);
    for (size_t i = 0; i < s->outputs; i++)
        check(!file_exists(aside_of(folder_path(&s->rebuilt, s->names[i].text).text).text),
              "%s, %s: something is aside", what, label);
}

static void lose_power(const planner *p)
{
    scene s = scene_new(p);
    gufo_error error = no_error();
    recording *r = recording_start(s.work.f.path);

    check_ok(p->make(&s.work.f, &s, &error), &error, "%s", p->label);
    recording_stop(r);
    for (size_t calls = 0; calls <= recording_calls(r); calls++)
        recording_each_loss(r, calls, RECORDING_ENDS, s.rebuilt.path, see, &s);
    check(s.states > 20, "%s: only %u states", p->label, s.states);
    check(s.outputs == 1 ? s.none == 0 : s.none > 10, "%s: %u states without a set", p->label,
          s.none);
    recording_free(r);
    scene_end(&s);
}

static void test_copies(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        const planner p = {
            .label = copies[i].label, .make = copy_in, .out = copies[i].out, .copy = i};

        if (copies[i].out != NULL)
            lose_power(&p);
    }
}

static void lose_power_of_each(const planner *planners, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lose_power(&planners[i]);
}

static void test_quantize(void **state)
{
    static const planner planners[] = {
        {"quantize --keep-split", quantize_in, set_name, .flags = 0},
        {"quantize --keep-split --resume", quantize_in, set_name, .flags = GUFO_JOB_RESUME},
    };

    (void)state;
    lose_power_of_each(planners, COUNT_OF(planners));
}

static void test_imatrix(void **state)
{
    static const planner planners[] = {
        {"imatrix", merge_imatrix_in, "out.gguf", .format = GUFO_IMATRIX_GGUF},
        {"imatrix --resume", merge_imatrix_in, "out.gguf", .format = GUFO_IMATRIX_GGUF,
         .flags = GUFO_JOB_RESUME},
        {"imatrix, old format", merge_imatrix_in, "out.dat", .format = GUFO_IMATRIX_LEGACY},
        {"imatrix of its output", convert_imatrix_in, "out.gguf", .format = GUFO_IMATRIX_GGUF,
         .replaces_input = true},
    };

    (void)state;
    lose_power_of_each(planners, COUNT_OF(planners));
}

static void test_given(void **state)
{
    static const planner planners[] = {
        {"given data", give_in, "out.gguf", .flags = 0},
        {"given data of a set", give_in, set_name, .flags = 0},
    };

    (void)state;
    lose_power_of_each(planners, COUNT_OF(planners));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_quantize),
        cmocka_unit_test(test_imatrix),
        cmocka_unit_test(test_given),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
