/* --part and commit. */
#include "cli/core/jobs/part_run.h"

#include "cli/core/jobs/part_list.h"
#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what cannot be made in parts ------------------------------------------------------------ */

int part_check(const command_input *input, const char *out, const part_conflict *conflicts,
               size_t count)
{
    const part_option *part = &input->part;

    if (!part->given)
        return part->align == 0 ? CODE_OK : report_usage("--part-align needs --part");
    if ((part->align & (part->align - 1)) != 0)
        return report_usage("--part-align must be a power of two, such as 1M");
    if (out != NULL && (path_is_standard(out) || (save_is_stream(out) && !path_is_folder(out))))
        return report_usage("--part writes to files alone, whose places many workers can write to");
    /* A worker that comes late, after the commit, would begin it all again. */
    if (input->shared->force && input->shared->commits == NULL)
        return report_usage("--part replaces no file, with --force neither: remove OUT before the "
                            "workers start");
    for (size_t i = 0; i < count; i++)
        if (conflicts[i].given)
            return report_usage("%s", conflicts[i].sentence);
    return CODE_OK;
}

int part_check_beside(const command_input *input, const char *out, const char *path,
                      const char *option)
{
    const gufo_save_options options = {.flags = GUFO_SAVE_REPLACE};
    char folder[PATH_MAX], other[PATH_MAX];
    gufo_text target = {0};
    char *file = NULL;
    int code = CODE_OK;

    if (!input->part.given || gufo_save_check(path, &options, &target, NULL) != GUFO_OK)
        return CODE_OK; /* it is refused where it is written */
    file = path_format("%.*s", (int)target.len, target.data);
    gufo_text_free(&target);
    if (file == NULL || !path_folder(file, folder) || !path_folder(out, other))
        code = CODE_FAILED;
    else if (!path_same(folder, other))
        code =
            report_usage("with --part the file of %s must be in the folder of OUT: 'gufo commit' "
                         "writes it, and a plan names no file elsewhere",
                         option);
    free(file);
    return code;
}

/* ---- names ---------------------------------------------------------------------------------- */

const char *part_name(command_input *input, const char *out, const char *name, const char *own)
{
    const char *path = input->shared->planned != NULL ? input->shared->planned : out;
    const char *planned = NULL;

    if (!input->part.given || path == NULL)
        return own;
    if (input->part.plan == NULL)
        input->part.plan = gufo_plan_open(path, NULL);
    if (input->part.plan != NULL)
        planned = gufo_plan_note_find(input->part.plan, name);
    return planned != NULL ? planned : own;
}

/* The names that there are. */
static size_t list_names(const job_run *how, gufo_plan_note out[JOB_NAMES])
{
    size_t count = 0;

    for (size_t i = 0; i < JOB_NAMES; i++)
        if (how->names[i].text != NULL)
            out[count++] = how->names[i];
    return count;
}

/* The plan of another first worker, whose machine has other names, may have come in between. */
static bool has_other_names(const job_run *how)
{
    gufo_plan *plan = gufo_plan_open(how->files.path, NULL);
    gufo_plan_note names[JOB_NAMES];
    const size_t count = list_names(how, names);
    bool others = false;

    for (size_t i = 0; plan != NULL && i < count; i++) {
        const char *planned = gufo_plan_note_find(plan, names[i].name);

        others = others || (planned != NULL && strcmp(planned, names[i].text) != 0);
    }
    gufo_plan_free(plan);
    return others;
}

/* Once: with the plan's names nothing differs any more. */
static bool takes_names(job_run *how)
{
    shared_options *shared = how->input->shared;

    if (shared->planned != NULL || !has_other_names(how))
        return false;
    shared->planned = path_with(how->files.path, "");
    how->code = shared->planned != NULL ? CODE_AGAIN : CODE_FAILED;
    return true;
}

/* ---- a worker ------------------------------------------------------------------------------- */

/* What a worker has made. */
typedef struct made_parts {
    const char *path;
    uint64_t *numbers; /* owned */
    size_t count;
    gufo_part_result result;
    record_list list;
} made_parts;

static const record_field made_fields[] = {
    {"parts", NULL, RECORD_PLAIN, RECORD_AT(made_parts, result.count)},
    {"made", NULL, RECORD_LIST, RECORD_AT(made_parts, list), .of = &record_numbers},
    {"complete", NULL, RECORD_PLAIN, RECORD_AT(made_parts, result.complete)},
    {"failed", NULL, RECORD_PLAIN, RECORD_AT(made_parts, result.failed)},
    {"bytes", NULL, RECORD_PLAIN, RECORD_AT(made_parts, result.bytes)},
};
static const record_type made_type = RECORD_OF(made_parts, made_fields, 0);

static void add_part(void *context, uint64_t part, uint64_t count)
{
    made_parts *made = context;
    uint64_t *number = array_add(&made->numbers, &made->count, sizeof *number);

    (void)count;
    if (number != NULL)
        *number = part;
}

/* It is the last one that was begun. */
static void remove_part(void *context, uint64_t part, const gufo_error *error)
{
    made_parts *made = context;

    (void)error;
    if (made->count > 0 && made->numbers[made->count - 1] == part)
        made->count--;
}

/* "0-3, 7" */
static void put_numbers(FILE *out, const made_parts *made)
{
    for (size_t i = 0, end; i < made->count; i = end) {
        for (end = i + 1; end < made->count && made->numbers[end] == made->numbers[end - 1] + 1;)
            end++;
        fprintf(out, "%s%" PRIu64, i > 0 ? ", " : "", made->numbers[i]);
        if (end > i + 1)
            fprintf(out, "-%" PRIu64, made->numbers[end - 1]);
    }
}

static void print_made(const made_parts *made, bool next)
{
    const gufo_part_result *r = &made->result;
    line l;

    line_begin(&l);
    text_put(l.out, gufo_str_of(made->path), TEXT_PLAIN);
    fprintf(l.out, ": made %s of %s", human_grouped(r->made).text,
            human_counted(r->count, "part", "parts").text);
    if (made->count > 0) {
        fputs(" (", l.out);
        put_numbers(l.out, made);
        putc(')', l.out);
    }
    fprintf(l.out, ", read %s", human_file_size(r->bytes).text);
    if (r->failed > 0) {
        fprintf(l.out, "; %s: gufo parts",
                human_counted(r->failed, "part failed", "parts failed").text);
        shell_put_file(l.out, made->path);
    }
    if (next && r->complete == r->count) {
        fputs("; all are complete: gufo commit", l.out);
        shell_put_file(l.out, made->path);
    }
    line_end(&l);
}

static void report_made(const job_run *how, made_parts *made)
{
    const shared_options *shared = how->input->shared;

    made->list = (record_list){.items = made->numbers, .count = made->count};
    if (shared->json)
        record_write_document(made->path, &made_type, made);
    else if (!shared->quiet)
        print_made(made, how->input->part.share.next);
}

/* What no repetition helps against. */
static int report_refused(const job_run *how, const gufo_error *error)
{
    return report_as(CODE_USAGE, error->file[0] != '\0' ? error->file : how->files.path, "%s%s",
                     error->message,
                     error->code == GUFO_E_EXISTS
                         ? " (--part replaces nothing: remove it before the workers start)"
                         : "");
}

/* What ends the command without a word of its own about the error. */
static job_end end_part(job_run *how, gufo_status status, const gufo_error *error)
{
    if (status == GUFO_E_ARGUMENT && takes_names(how))
        return JOB_REPORTED;
    if (status == GUFO_E_EXISTS || status == GUFO_E_ARGUMENT)
        how->code = report_refused(how, error);
    else if (status == GUFO_E_STOPPED)
        how->code = report_as(CODE_INTERRUPTED, how->files.path,
                              "interrupted; what is done stays: the same command continues");
    else
        return JOB_FAILED;
    return JOB_REPORTED;
}

static job_end make_parts(job_run *how, gufo_job *job, const gufo_run *run, gufo_error *error)
{
    const shared_options *shared = how->input->shared;
    made_parts made = {.path = how->files.path};
    gufo_plan_note names[JOB_NAMES];
    const gufo_plan_options options = {.align = how->input->part.align,
                                       .command = shared->words,
                                       .command_count = shared->word_count,
                                       .notes = names,
                                       .note_count = list_names(how, names),
                                       .on_part = add_part,
                                       .on_failure = remove_part,
                                       .part_context = &made};
    gufo_status status = gufo_plan_run(job, &how->files, &how->input->part.share, &options, run,
                                       &made.result, error);

    progress_end(run->progress_context);
    how->code = CODE_OK;
    if (status == GUFO_OK || made.result.failed > 0)
        report_made(how, &made);
    free(made.numbers);
    return status == GUFO_OK ? JOB_REPORTED : end_part(how, status, error);
}

/* ---- commit --------------------------------------------------------------------------------- */

/* The plan may have been moved away from its output. */
static bool is_committed(const job_run *how)
{
    char *here = path_with(how->files.path, ".parts");
    char *there = path_with(how->input->shared->commits, ".parts");
    bool same = here != NULL && there != NULL && path_same(here, there);

    free(here);
    free(there);
    return same;
}

static job_end commit(job_run *how, gufo_job *job, const gufo_run *run, gufo_error *error)
{
    const char *path = how->input->shared->commits;
    uint64_t missing = 0;
    gufo_status status;

    if (!is_committed(how)) {
        how->code = report_as(CODE_USAGE, path, "the command of its plan writes to %s instead",
                              how->files.path);
        return JOB_REPORTED;
    }
    status = gufo_plan_commit(job, &how->files, run, &missing, error);
    progress_end(run->progress_context);
    if (status == GUFO_E_STOPPED)
        how->code = report_as(CODE_INTERRUPTED, path, "interrupted; the same command continues");
    else if (status == GUFO_E_ARGUMENT)
        how->code = report_refused(how, error);
    else if (status != GUFO_OK)
        return JOB_FAILED;
    else if (missing > 0)
        how->code = report_as(CODE_NO, path, "%s not complete",
                              human_counted(missing, "part is", "parts are").text);
    else
        return JOB_DONE;
    return JOB_REPORTED;
}

job_end part_run(job_run *how, gufo_job *job, const gufo_run *run, gufo_error *error)
{
    signals_defer();
    how->files.flags = how->input->shared->force ? GUFO_JOB_REPLACE : 0;
    return how->input->shared->commits != NULL ? commit(how, job, run, error)
                                               : make_parts(how, job, run, error);
}

/* ---- parts that are not made ---------------------------------------------------------------- */

/* The plan that is there, whose parts are made for however many workers; NULL: there is none. */
static gufo_status find_plan(const job_run *how, const gufo_plan *here, gufo_plan **plan,
                             gufo_error *error)
{
    *plan = gufo_plan_open(how->files.path, error);
    if (*plan == NULL)
        return error->code == GUFO_E_NOT_FOUND ? GUFO_OK : error->code;
    return gufo_plan_compare(*plan, here, error);
}

/* Parts of `plan`, whose files `here` spells as this command does. */
static int show_parts(const job_run *how, const gufo_plan *plan, const gufo_plan *here)
{
    part_list list;
    int code = part_list_find(&list, plan, NULL, PART_ALL_STATES, &how->input->part.share);

    if (code == CODE_OK)
        code = part_list_name(&list, here);
    if (code == CODE_OK && how->input->shared->json) {
        json_writer j = json_begin_document(how->files.path);

        json_write_bool(&j, "dry_run", true);
        json_write_u64(&j, "part_count", gufo_plan_part_count(plan));
        part_list_write(&j, "parts", &list, true);
        json_end_document(&j);
    } else if (code == CODE_OK) {
        part_list_print(&list, true);
    }
    part_list_free(&list);
    return code;
}

job_end part_show(job_run *how, gufo_job *job, gufo_error *error)
{
    const part_option *part = &how->input->part;
    const gufo_plan_options options = {.align = part->align};
    const uint64_t workers = part->share.workers > 0 ? part->share.workers : 1;
    gufo_plan *here = gufo_plan_of_job(job, &how->files, workers, &options, error), *plan = NULL;
    gufo_status status = here != NULL ? find_plan(how, here, &plan, error) : error->code;
    job_end end = JOB_REPORTED;

    if (status == GUFO_OK)
        how->code = show_parts(how, plan != NULL ? plan : here, here);
    else
        end = end_part(how, status, error);
    gufo_plan_free(plan);
    gufo_plan_free(here);
    return end;
}
