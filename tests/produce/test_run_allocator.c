/* The allocator of a run: all buffers, tables and threads come from it, and all of it goes back;
 * without one the job's is used. */
#include "plans.h"

#include "../support/allocator.h"
#include "../support/builder.h"

enum { SOME = 16, ROWS = 64 };

/* A model with one tensor of F32, from memory. */
static gufo_model *open_model(uint8_t **bytes)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[] = {COLUMNS, ROWS};
    gufo_model *model;
    gufo_error error;
    uint64_t state = 1;

    builder_header(&b, 1, 0);
    builder_tensor(&b, "t.weight", GUFO_TYPE_F32, 2, dims, 0);
    builder_pad(&b, 32);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        builder_f32(&b, (float)(random_next(&state) % 1000) / 1000.0F);
    *bytes = builder_exact_copy(&b, b.len);
    model = gufo_model_open_memory(*bytes, b.len, NULL, &error);
    check(model != NULL, "%s", error.message);
    builder_free(&b);
    return model;
}

/* Each plans its job with malloc and runs it as it is told. */
typedef gufo_status run_fn(const gufo_model *model, const char *out, const gufo_run *run,
                           gufo_error *error);

static gufo_status run_moved(const gufo_model *model, const char *out, const gufo_run *run,
                             gufo_error *error)
{
    const gufo_job_options options = {.path = out, .flags = GUFO_JOB_REPLACE};
    gufo_document *document = gufo_document_from(model, NULL, error);
    gufo_job *job = gufo_job_of_documents(&document, 1, NULL, error);
    gufo_status status = gufo_job_run(job, &options, run, error);

    gufo_job_free(job);
    gufo_document_free(document);
    return status;
}

static gufo_status run_streamed(const gufo_model *model, const char *out, const gufo_run *run,
                                gufo_error *error)
{
    const gufo_endian_options options = {.order = GUFO_BIG_ENDIAN};
    gufo_job *job = gufo_job_endian(model, &options, error);
    int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    gufo_status status = gufo_job_stream(job, fd, run, error);

    assert_int_equal(close(fd), 0);
    gufo_job_free(job);
    return status;
}

static gufo_status run_finished(const gufo_model *model, const char *out, const gufo_run *run,
                                gufo_error *error)
{
    const gufo_job_options options = {.path = out, .flags = GUFO_JOB_REPLACE};
    const gufo_endian_options big = {.order = GUFO_BIG_ENDIAN};
    gufo_job *job = gufo_job_endian(model, &big, error);
    gufo_status status = gufo_job_open(job, &options, error);

    if (status == GUFO_OK)
        status = gufo_job_finish(job, run, error);
    gufo_job_free(job);
    return status;
}

static gufo_status run_quantized(const gufo_model *model, const char *out, const gufo_run *run,
                                 gufo_error *error)
{
    const gufo_job_options options = {.path = out, .flags = GUFO_JOB_REPLACE};
    gufo_quantize_options quantize = {0};
    gufo_quantizer *q;
    gufo_status status;

    assert_true(gufo_quantize_target_by_name("Q4_0", true, &quantize.recipe.target));
    q = gufo_quantizer_new(model, &quantize, error);
    status = gufo_job_run(gufo_quantizer_job(q), &options, run, error);
    gufo_quantizer_free(q);
    return status;
}

static gufo_status run_compared(const gufo_model *model, const char *out, const gufo_run *run,
                                gufo_error *error)
{
    (void)out;
    return gufo_compare(model, model, NULL, run, NULL, error);
}

static gufo_status run_decoded(const gufo_model *model, const char *out, const gufo_run *run,
                               gufo_error *error)
{
    float *values = malloc(ROWS * COLUMNS * sizeof *values);
    gufo_tensor tensor;
    gufo_status status;

    (void)out;
    assert_true(gufo_model_tensor_at(model, 0, &tensor));
    status = gufo_tensor_decode(model, &tensor, 0, ROWS, values, run, error);
    free(values);
    return status;
}

static gufo_status run_scanned(const gufo_model *model, const char *out, const gufo_run *run,
                               gufo_error *error)
{
    gufo_tensor tensor;
    gufo_stats stats;

    (void)out;
    assert_true(gufo_model_tensor_at(model, 0, &tensor));
    return gufo_tensor_scan(model, &tensor, 0, run, &stats, error);
}

static gufo_status run_checked(const gufo_model *model, const char *out, const gufo_run *run,
                               gufo_error *error)
{
    (void)out;
    return gufo_model_check_data(model, run, NULL, NULL, error);
}

static const struct {
    const char *what;
    run_fn *call;
} calls[] = {
    {"gufo_job_run, moved", run_moved}, {"gufo_job_run, quantized", run_quantized},
    {"gufo_job_stream", run_streamed},  {"gufo_job_finish", run_finished},
    {"gufo_compare", run_compared},     {"gufo_tensor_decode", run_decoded},
    {"gufo_tensor_scan", run_scanned},  {"gufo_model_check_data", run_checked},
};

static void test_calls(void **state)
{
    folder f = folder_new();
    path_text out = folder_path(&f, "out.gguf");
    uint8_t *bytes;
    gufo_model *model = open_model(&bytes);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        gufo_error error = no_error();
        counter c;
        gufo_allocator a;
        gufo_run run = {.threads = 2, .allocator = &a};
        size_t requests;

        counter_init(&c);
        a = counter_allocator(&c);
        check_ok(calls[i].call(model, out.text, &run, &error), &error, "%s", calls[i].what);
        check(c.calls > 0, "%s: the allocator is used", calls[i].what);
        check_u64(c.in_use, 0, "%s: all is freed", calls[i].what);
        requests = c.calls;
        for (size_t fail_at = 1; fail_at <= requests; fail_at++) {
            gufo_status status;

            counter_init(&c);
            c.fail_at = fail_at;
            status = calls[i].call(model, out.text, &run, &error);
            check(status == GUFO_E_MEMORY || (status == GUFO_OK && c.denied == 0),
                  "%s, request %zu: %s", calls[i].what, fail_at, gufo_status_name(status));
            check_u64(c.in_use, 0, "%s, request %zu", calls[i].what, fail_at);
        }
    }
    gufo_model_free(model);
    free(bytes);
    folder_remove(&f);
}

/* Transposed and measured pieces, too: the job's own allocator gives only paths and marks. */
static void test_pieces(void **state)
{
    plan p = plan_new(false, SOME);
    gufo_error error = no_error();
    counter of_job, of_run;
    gufo_allocator job_allocator, a;
    gufo_run run = {.threads = 2, .allocator = &a};
    const gufo_job_options options = {.path = p.path.text};
    gufo_job *job;
    size_t planned;

    (void)state;
    counter_init(&of_job);
    counter_init(&of_run);
    job_allocator = counter_allocator(&of_job);
    a = counter_allocator(&of_run);
    p.allocator = &job_allocator;
    job = plan_job(&p, &error);
    check(job != NULL, "%s", error.message);
    planned = of_job.in_use;
    of_job.largest = 0;
    check_ok(gufo_job_run(job, &options, &run, &error), &error, "run");
    for (size_t i = 0; i < p.targets; i++)
        check_file(p.out[i].text, p.expected[i], p.size[i], "target");
    check(of_run.largest > 4096, "buffers");
    check(of_job.largest < 4096, "the job's gave %zu bytes", of_job.largest);
    check_u64(of_run.in_use, 0, "the run has ended");
    check(of_job.in_use >= planned, "the plan is still there");
    gufo_job_free(job);
    check_u64(of_job.in_use, 0, "all is freed");
    plan_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
