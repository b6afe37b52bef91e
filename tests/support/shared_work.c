#include "shared_work.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const gufo_plan_options fine = {.align = 4096};

shared_work shared_work_new(const test_model *model, const char *const *types, size_t count)
{
    shared_work p = {.f = folder_new(), .count = count, .plan_options = &fine};

    p.in = folder_path(&p.f, "in.gguf");
    p.parts = folder_path(&p.f, "0.gguf.parts");
    write_model(p.in.text, model);
    for (size_t i = 0; i < count; i++) {
        char name[32];

        snprintf(name, sizeof name, "%zu.gguf", i);
        p.out[i] = folder_path(&p.f, name);
        snprintf(name, sizeof name, "alone-%zu.gguf", i);
        p.alone[i] = folder_path(&p.f, name);
        p.targets[i] = quantize_to(types[i]).recipe.target;
    }
    return p;
}

void shared_work_end(shared_work *p)
{
    folder_remove(&p->f);
}

/* The options refer to the place, which stays where it is. */
static const gufo_quantize_options *options_of(shared_work *p)
{
    p->options.recipe.target = p->targets[0];
    p->options.more_targets = p->targets + 1;
    p->options.more_count = p->count - 1;
    p->options.recipe.allow_requantize = true;
    return &p->options;
}

gufo_job_options shared_outputs(shared_work *p, const path_text *paths)
{
    for (size_t i = 0; i + 1 < p->count; i++)
        p->more[i] = paths[i + 1].text;
    return (gufo_job_options){.path = paths[0].text,
                              .more_paths = p->more,
                              .more_count = p->count - 1,
                              .flags = p->flags};
}

shared_worker shared_worker_new(shared_work *p, gufo_error *error)
{
    shared_worker w = {.model = gufo_model_open(p->in.text, NULL, error)};

    if (w.model != NULL)
        w.q = gufo_quantizer_new(w.model, options_of(p), error);
    return w;
}

void shared_worker_end(shared_worker *w)
{
    gufo_quantizer_free(w->q);
    gufo_model_free(w->model);
}

void shared_alone(shared_work *p)
{
    gufo_error error = no_error();
    shared_worker w = shared_worker_new(p, &error);
    const gufo_job_options outputs = shared_outputs(p, p->alone);

    check(w.q != NULL, "%s", error.message);
    check_ok(gufo_job_run(gufo_quantizer_job(w.q), &outputs, NULL, &error), &error, "alone");
    shared_worker_end(&w);
}

gufo_status shared_run(shared_work *p, const gufo_part *part, const gufo_run *run,
                       gufo_part_result *result, gufo_error *error)
{
    shared_worker w = shared_worker_new(p, error);
    const gufo_job_options outputs = shared_outputs(p, p->out);
    gufo_status status = w.q == NULL ? error->code
                                     : gufo_plan_run(gufo_quantizer_job(w.q), &outputs, part,
                                                     p->plan_options, run, result, error);

    shared_worker_end(&w);
    return status;
}

void shared_run_well(shared_work *p, uint64_t number, uint64_t workers, const char *label)
{
    const gufo_part part = {.worker = number, .workers = workers};
    gufo_part_result result;
    gufo_error error = no_error();

    check_ok(shared_run(p, &part, NULL, &result, &error), &error, "%s", label);
    check(result.count >= 1, "%s: no part", label);
}

gufo_status shared_commit(shared_work *p, uint64_t *missing, gufo_error *error)
{
    shared_worker w = shared_worker_new(p, error);
    const gufo_job_options outputs = shared_outputs(p, p->out);
    gufo_status status =
        w.q == NULL ? error->code
                    : gufo_plan_commit(gufo_quantizer_job(w.q), &outputs, NULL, missing, error);

    shared_worker_end(&w);
    return status;
}

bool shared_is_done(const shared_work *p)
{
    bool same = true;

    for (size_t i = 0; i < p->count && same; i++) {
        size_t len, alone_len;
        uint8_t *bytes = read_file(p->out[i].text, &len);
        uint8_t *alone = read_file(p->alone[i].text, &alone_len);

        same = bytes != NULL && alone != NULL && len == alone_len && memcmp(bytes, alone, len) == 0;
        free(bytes);
        free(alone);
    }
    return same;
}

void shared_finish(shared_work *p, const char *label)
{
    gufo_error error = no_error();
    uint64_t missing = 0;
    bool done;

    check_ok(shared_commit(p, &missing, &error), &error, "%s", label);
    check(missing == 0, "%s: %" PRIu64 " parts are missing", label, missing);
    for (size_t i = 0; i < p->count; i++)
        check_same_file(p->out[i].text, p->alone[i].text, label);
    check_ok(gufo_plan_clean(p->out[0].text, &done, &error), &error, "%s", label);
    check(done && !file_exists(p->parts.text), "%s: the plan is still there", label);
    for (size_t i = 0; i < p->count; i++)
        check(unlink(p->out[i].text) == 0, "%s", p->out[i].text);
}

void shared_age(const char *path)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

    (void)utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}
