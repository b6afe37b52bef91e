/* A worker: parts of a job, one after the other.
 *
 *     the plan --compare--> a part --its log begun--> units, synced, noted --> complete --> the next part
 *
 * What a log says is true, so a part goes on behind what all of its logs together say. */
#include "produce/parts/plan.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/memory.h"

typedef struct part_worker {
    gufo_job *job;
    const gufo_job_options *outputs;
    const gufo_plan_options *options;
    const gufo_run *run;
    gufo_plan *plan;
    char *folder;
    logs logs;
    job_cut cut;
    work work;
    gufo_part_result *result;
    bool *failed; /* parts, in this call */
    gufo_error
        first; /* why the first of them has, or one that another try may help against; code GUFO_OK: none */
    bool committed; /* by another process, meanwhile */
} part_worker;

/* ---- one part ------------------------------------------------------------------------------- */

/* A part that is being made. */
typedef struct part_making {
    part_worker *worker;
    job_part part;
    targets targets;
    part_log log;
    keeper keeper;
} part_making;

/* Runs of marks become records: a mark says that its unit is done, and has its result. */
static gufo_status append_marks(void *context, const journal_mark *marks, size_t count,
                                gufo_error *error)
{
    part_making *m = context;
    size_t size = m->log.of->result_size;
    gufo_status status = GUFO_OK;

    if (count == 0)
        return log_beat(&m->log, error);
    for (size_t i = 0, end; i < count && status == GUFO_OK; i = end) {
        uint64_t first = size > 0 ? marks[i].units_done - 1 : m->log.next_unit;

        for (end = i + 1; end < count && marks[end].units_done == marks[end - 1].units_done + 1;)
            end++;
        status = log_units(&m->log, first, marks[end - 1].units_done, marks[i].result, error);
    }
    return status == GUFO_OK ? log_sync(&m->log, error) : status;
}

static gufo_status note_unit(void *context, uint64_t number, uint64_t index, const void *result,
                             gufo_error *error)
{
    part_making *m = context;
    const journal_mark mark = {index, number + 1, result};
    plain_piece room;
    unit u = cut_find(m->worker->job, number, &room);

    return keeper_note(&m->keeper, &mark, cut_bytes(&u), error);
}

static gufo_status make_units(part_making *m, uint64_t from, gufo_error *error)
{
    work *w = &m->worker->work;
    const keeper_sink log = {
        .append = append_marks, .context = m, .keeps_results = true, .beats = true};
    gufo_status status;

    w->note = note_unit;
    w->note_context = m;
    w->done = 0;
    w->total = m->part.total;
    keeper_start(&m->keeper, &m->targets, &log, true);
    status = spans_run_part(&m->targets, w, &m->part, from, error);
    keeper_stop(&m->keeper);
    if (status == GUFO_OK)
        status = job_check_inputs(m->worker->job, error);
    /* Targets are closed, and so synced, by now; after a failure what is done is worth keeping. */
    if (status == GUFO_OK || status == GUFO_E_STOPPED)
        if (keeper_save(&m->keeper, status == GUFO_OK ? error : NULL) != GUFO_OK &&
            status == GUFO_OK)
            status = m->keeper.status;
    keeper_free(&m->keeper);
    m->worker->result->bytes += w->done;
    return status;
}

/* How the work has ended, for others to see: of a failure its reason. */
static gufo_status end_part(part_making *m, gufo_status status, gufo_error *error)
{
    if (status == GUFO_OK)
        return log_end(&m->log, GUFO_PART_COMPLETE, NULL, error);
    (void)log_end(&m->log, status == GUFO_E_STOPPED ? GUFO_PART_WAITING : GUFO_PART_FAILED,
                  status == GUFO_E_STOPPED ? NULL : error->message, NULL);
    return status;
}

/* What the plan says of a part decides which of its units are done. */
static gufo_status check_part_of_plan(const part_making *m, gufo_error *error)
{
    const plan_part *part = &m->worker->plan->parts[m->part.number];

    return part->first_unit == m->part.first_unit && part->end_unit == m->part.end_unit
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "part %s of the plan is not that of this work",
                        GROUPED(m->part.number));
}

static gufo_status make_found(part_making *m, uint64_t from, gufo_error *error)
{
    part_worker *w = m->worker;
    gufo_status status = check_part_of_plan(m, error);

    if (status != GUFO_OK)
        return status;
    if (w->options->on_part != NULL)
        w->options->on_part(w->options->part_context, m->part.number, w->plan->part_count);
    status = targets_find_part(&m->targets, w->job, w->outputs, &m->part, error);
    if (status == GUFO_OK)
        status = make_units(m, from, error);
    targets_end(&m->targets, true);
    return status;
}

/* Whether another process has committed and cleaned up: the output has its name, and the plan is gone. */
static bool is_committed(const part_worker *w)
{
    size_t size = gufo_job_output_path(w->job, w->outputs->path, 0, NULL, 0) + 1;
    char *path = mem_alloc(&w->job->allocator, size);
    gufo_error reason;
    struct stat info;
    gufo_plan *plan;
    bool named = false;

    if (path != NULL) {
        (void)gufo_job_output_path(w->job, w->outputs->path, 0, path, size);
        named = stat(path, &info) == 0;
        mem_free(&w->job->allocator, path);
    }
    if (!named)
        return false;
    plan = gufo_plan_open(w->outputs->path, &reason);
    gufo_plan_free(plan);
    return plan == NULL && reason.code == GUFO_E_NOT_FOUND;
}

/* The log of a part that was begun after the commit would keep the folder; the part cannot be made, unless it has no
 * bytes. */
static gufo_status end_after_commit(part_worker *w, const part_log *log)
{
    (void)disk_unlink(log->path);
    (void)disk_remove_folder(w->folder);
    w->committed = true;
    return GUFO_OK;
}

/* Units of a part from `from` on.  *taken: another worker has begun this attempt; nothing is done. */
static gufo_status make_part(part_worker *w, uint64_t number, uint64_t from, unsigned attempt,
                             bool *taken, gufo_error *error)
{
    part_making m = {.worker = w};
    gufo_status status = log_create(&m.log, &w->logs, number, attempt, from, taken, error);

    if (status == GUFO_OK && !*taken) {
        status = part_find(w->job, &w->cut, number, &m.part, error);
        if (status == GUFO_OK)
            status = make_found(&m, from, error);
        status = end_part(&m, status, error);
        w->result->made += status == GUFO_OK;
        part_free(&w->job->allocator, &m.part);
    }
    if (status != GUFO_E_STOPPED && m.log.path != NULL && !*taken && is_committed(w))
        status = end_after_commit(w, &m.log);
    log_close(&m.log);
    return status;
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Whether all other parts would end in this way, too, perhaps after hours. */
static bool ends_all(gufo_status status)
{
    return status == GUFO_E_STOPPED || status == GUFO_E_CHANGED || status == GUFO_E_MEMORY;
}

static bool is_refusal(gufo_status status)
{
    return status == GUFO_E_ARGUMENT || status == GUFO_E_EXISTS;
}

/* A part that fails, because a disk cannot read it or a value cannot be encoded, ends no other part. */
static gufo_status go_on(part_worker *w, uint64_t number, gufo_status status, gufo_error *error)
{
    if (status == GUFO_OK || ends_all(status))
        return status;
    w->failed[number] = true;
    w->result->failed++;
    if (w->first.code == GUFO_OK || (is_refusal(w->first.code) && !is_refusal(status)))
        w->first = *error;
    if (w->options->on_failure != NULL)
        w->options->on_failure(w->options->part_context, number, error);
    return GUFO_OK;
}

/* ---- which parts ---------------------------------------------------------------------------- */

static gufo_status look(const part_worker *w, uint64_t number, uint64_t *from, part_logs *found,
                        gufo_error *error)
{
    return plan_part_look(w->plan, &w->logs, number, from, found, error);
}

/* A part of this worker's share: whatever others do, it is made, unless it is complete. */
static gufo_status make_own(part_worker *w, uint64_t number, gufo_error *error)
{
    part_logs found;
    uint64_t from;
    bool taken = true;
    gufo_status status = look(w, number, &from, &found, error);

    if (status != GUFO_OK)
        return status;
    for (unsigned attempt = found.attempts + 1;
         found.state != GUFO_PART_COMPLETE && status == GUFO_OK && taken && !w->committed;
         attempt++)
        status = make_part(w, number, from, attempt, &taken, error);
    w->result->complete += status == GUFO_OK;
    return status;
}

bool gufo_part_has(const gufo_part *share, uint64_t part, uint64_t count)
{
    /* part * workers / count, which overflows */
    const uint64_t whole = share->workers / count, rest = share->workers % count;

    return share->next || part * whole + part * rest / count == share->worker;
}

static gufo_status make_share(part_worker *w, const gufo_part *part, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t p = 0; p < w->plan->part_count && status == GUFO_OK; p++)
        if (gufo_part_has(part, p, w->plan->part_count))
            status = go_on(w, p, make_own(w, p, error), error);
    return status;
}

/* Whether nobody works on a part that was begun. */
static bool is_left(const part_worker *w, const part_logs *found)
{
    struct timespec now;

    if (found->state != GUFO_PART_RUNNING)
        return found->state != GUFO_PART_COMPLETE;
    now = logs_now(&w->logs);
    return plan_silence(&found->changed, &now) >= SILENCE_SECONDS;
}

/* A part that others have begun. */
static gufo_status make_left(part_worker *w, uint64_t number, gufo_error *error)
{
    part_logs found;
    uint64_t from;
    bool taken;
    gufo_status status = look(w, number, &from, &found, error);

    if (status == GUFO_OK && !w->failed[number] && is_left(w, &found)) {
        status = make_part(w, number, from, found.attempts + 1, &taken, error);
        if (status == GUFO_OK)
            status = look(w, number, &from, &found, error);
    }
    w->result->complete += status == GUFO_OK && found.state == GUFO_PART_COMPLETE;
    return status;
}

/* First what nobody has begun, then what nobody works on any more; each part once. */
static gufo_status make_next(part_worker *w, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    bool taken;

    for (uint64_t p = 0; p < w->plan->part_count && status == GUFO_OK && !w->committed; p++)
        status =
            go_on(w, p, make_part(w, p, w->plan->parts[p].first_unit, 1, &taken, error), error);
    for (uint64_t p = 0; p < w->plan->part_count && status == GUFO_OK && !w->committed; p++)
        status = go_on(w, p, make_left(w, p, error), error);
    if (w->committed)
        w->result->complete = w->plan->part_count;
    return status;
}

/* The parts of a share, or what is left; after failures the error of one. */
static gufo_status make_parts(part_worker *w, const gufo_part *part, gufo_error *error)
{
    gufo_status status;

    w->failed = mem_array(&w->job->allocator, w->plan->part_count, sizeof *w->failed);
    if (w->failed == NULL)
        return fail_memory(error);
    w->result->count = w->plan->part_count;
    status = part->next ? make_next(w, error) : make_share(w, part, error);
    mem_free(&w->job->allocator, w->failed);
    if (status == GUFO_OK && w->first.code != GUFO_OK && !w->committed)
        return fail_as(error, &w->first);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static gufo_status check_part(const gufo_part *part, gufo_error *error)
{
    if (part == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the part is missing");
    if (!part->next && part->worker >= part->workers)
        return refuse(error, GUFO_E_RANGE, "of %s workers none has number %s",
                      GROUPED(part->workers), GROUPED(part->worker));
    return reserved_check(part->reserved, "gufo_part", error);
}

gufo_status parts_check_job(const gufo_job *job, const gufo_job_options *outputs, gufo_error *error)
{
    gufo_status status = job_check_options(outputs, error);

    if (status != GUFO_OK)
        return status;
    if ((outputs->flags & ~(uint32_t)GUFO_JOB_REPLACE) != 0)
        return refuse(error, GUFO_E_ARGUMENT, "a part has no flags but GUFO_JOB_REPLACE");
    if (job->target_count == 0)
        return refuse(error, GUFO_E_ARGUMENT, "the job writes no file");
    if (job->begins_with_data)
        return refuse(
            error, GUFO_E_ARGUMENT,
            "this format has sums of all its data in front of it; it is not made in parts");
    return GUFO_OK;
}

/* The plan of the first worker; where none is there, this worker makes it. */
static gufo_plan *open_or_make(const part_worker *w, const gufo_part *part, gufo_error *error)
{
    uint64_t workers = part->workers != 0 ? part->workers : 1;
    gufo_plan *here, *plan = gufo_plan_open(w->outputs->path, error);

    if (plan != NULL || error->code != GUFO_E_NOT_FOUND)
        return plan;
    here = gufo_plan_of_job(w->job, w->outputs, workers, w->options, error);
    if (here != NULL)
        plan = maker_plan(w->job, w->outputs, here, w->run, error);
    gufo_plan_free(here);
    return plan;
}

static gufo_status find_plan(part_worker *w, const gufo_part *part, gufo_error *error)
{
    gufo_status status = plan_options_check(w->options, error);

    if (status != GUFO_OK)
        return status;
    w->plan = open_or_make(w, part, error);
    if (w->plan == NULL)
        return error->code;
    status = plan_check_job(w->plan, w->job, error);
    if (status != GUFO_OK)
        return status;
    w->folder = plan_folder_path(w->outputs->path, &w->job->allocator);
    if (w->folder == NULL)
        return fail_memory(error);
    w->logs = plan_logs(w->plan, w->folder);
    return plan_cut(w->plan, w->job, &w->cut, error);
}

gufo_status gufo_plan_run(gufo_job *job, const gufo_job_options *outputs, const gufo_part *part,
                          const gufo_plan_options *options, const gufo_run *run,
                          gufo_part_result *result, gufo_error *error)
{
    static const gufo_plan_options none = {0};
    gufo_part_result own;
    gufo_error reason;
    part_worker w = {.job = job,
                     .outputs = outputs,
                     .options = options != NULL ? options : &none,
                     .run = run_of(run),
                     .result = result != NULL ? result : &own};
    gufo_status status = check_part(part, &reason);

    *w.result = (gufo_part_result){0};
    if (status == GUFO_OK)
        status = parts_check_job(job, outputs, &reason);
    job->by_parts = true;
    if (status == GUFO_OK)
        status = job_start(job, &w.work, run, false, &reason);
    if (status != GUFO_OK)
        return fail_as(error, &reason);
    status = find_plan(&w, part, &reason);
    if (status == GUFO_OK)
        status = make_parts(&w, part, &reason);
    cut_free(&job->allocator, &w.cut);
    mem_free(&job->allocator, w.folder);
    gufo_plan_free(w.plan);
    work_end(&w.work);
    return status == GUFO_OK ? GUFO_OK : fail_as(error, &reason);
}
