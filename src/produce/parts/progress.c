/* The folder of a plan, and how far its parts are. */
#include "produce/parts/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/source.h"
#include "base/files/trust.h"
#include "base/memory.h"

/* A plan of a million parts and tensors. */
#define MOST_TEXT (UINT64_C(1) << 30)

/* ---- the folder ----------------------------------------------------------------------------- */

char *plan_folder_path(const char *path, const gufo_allocator *allocator)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/')
        len--;
    return mem_join(allocator, (gufo_str){path, len}, gufo_str_of(".parts"));
}

/* A link may lead to what another user has written. */
gufo_status plan_folder_check(const char *folder, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    struct stat info;

    if (lstat(folder, &info) != 0)
        status = errno == ENOENT
                     ? refuse(error, GUFO_E_NOT_FOUND, "no part of this output was begun")
                     : fail_io(error, errno, "cannot examine the folder of parts");
    else if (!S_ISDIR(info.st_mode))
        status = refuse(error, GUFO_E_ARGUMENT, "it is not a folder of parts");
    else if (!trust_is_ours(folder, &info))
        status = refuse(error, GUFO_E_ARGUMENT, "the folder of parts belongs to another user");
    else if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        status = refuse(error, GUFO_E_ARGUMENT, "other users may write to the folder of parts");
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_JOURNAL, 0, folder);
    return status;
}

gufo_status plan_folder_find(const char *path, const gufo_allocator *allocator, char **folder,
                             gufo_error *error)
{
    *folder = NULL;
    if (path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the path of the output is missing");
    *folder = plan_folder_path(path, allocator);
    return *folder != NULL ? plan_folder_check(*folder, error) : fail_memory(error);
}

logs plan_logs(const gufo_plan *plan, const char *folder)
{
    return (logs){.folder = folder,
                  .plan = plan->hash,
                  .result_size = (size_t)plan->result_size,
                  .allocator = &plan->allocator};
}

/* Reads the whole file; GUFO_E_NOT_FOUND without one. */
static gufo_status read_file(const char *path, gufo_text *out, gufo_error *error)
{
    int fd = disk_open(path, O_RDONLY | TRUST_OPEN_FLAGS, 0);
    gufo_status status = GUFO_OK;
    struct stat info;
    size_t got = 0;

    if (fd < 0)
        return errno == ENOENT ? refuse(error, GUFO_E_NOT_FOUND, "no part of this output was begun")
                               : fail_io(error, errno, "cannot open the plan");
    if (fstat(fd, &info) != 0)
        status = fail_io(error, errno, "cannot examine the plan");
    else if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size > MOST_TEXT)
        status = refuse(error, GUFO_E_MALFORMED, "it is not a plan");
    else if (!text_reserve(out, (size_t)info.st_size + 1))
        status = fail_memory(error);
    else
        status = source_read_fd(fd, 0, out->data, (size_t)info.st_size, &got, error);
    out->len = got;
    (void)close(fd);
    return status;
}

static gufo_plan *read_plan(const char *folder, gufo_error *error)
{
    const gufo_allocator *a = &default_allocator;
    char *file = mem_join(a, gufo_str_of(folder), gufo_str_of("/" PLAN_NAME));
    gufo_text text = {0};
    gufo_plan *plan = NULL;
    gufo_status status = file != NULL ? read_file(file, &text, error) : fail_memory(error);

    if (status == GUFO_OK)
        plan = gufo_plan_read(text.data, text.len, error);
    if (plan == NULL && file != NULL)
        fail_in(error, GUFO_FILE_JOURNAL, 0, file);
    gufo_text_free(&text);
    mem_free(a, file);
    return plan;
}

gufo_plan *gufo_plan_open(const char *path, gufo_error *error)
{
    gufo_plan *plan = NULL;
    char *folder;

    if (plan_folder_find(path, &default_allocator, &folder, error) == GUFO_OK)
        plan = read_plan(folder, error);
    mem_free(&default_allocator, folder);
    return plan;
}

/* ---- how far the parts are ------------------------------------------------------------------ */

/* A worker begins where the logs before its own end, so each log goes on with what they say. */
static void note_done(void *context, uint64_t first, uint64_t count, const uint8_t *results)
{
    uint64_t *next = context;

    (void)results;
    if (first <= *next)
        *next = larger(*next, first + count);
}

gufo_status plan_part_look(const gufo_plan *plan, const logs *of, uint64_t number, uint64_t *next,
                           part_logs *found, gufo_error *error)
{
    const plan_part *part = &plan->parts[number];
    gufo_status status;

    *next = part->first_unit;
    status = logs_read(of, number, false, note_done, next, found, error);
    *next = smaller(*next, part->end_unit);
    /* A later worker has ended it, but what it went on from was lost with the power. */
    if (found->state == GUFO_PART_COMPLETE && *next < part->end_unit)
        found->state = GUFO_PART_WAITING;
    return status;
}

double plan_silence(const struct timespec *changed, const struct timespec *now)
{
    double seconds =
        (double)(now->tv_sec - changed->tv_sec) + (double)(now->tv_nsec - changed->tv_nsec) / 1e9;

    return seconds > 0 ? seconds : 0;
}

static char *kept_text(const gufo_plan *plan, const char *text, gufo_status *status,
                       gufo_error *error)
{
    char *copy = *text != '\0' ? mem_text(&plan->allocator, gufo_str_of(text)) : NULL;

    if (*text != '\0' && copy == NULL)
        *status = fail_memory(error);
    return copy;
}

static gufo_status look_at_part(gufo_plan *plan, const logs *of, uint64_t number,
                                const struct timespec *now, gufo_error *error)
{
    plan_state *state = &plan->states[number];
    part_logs found;
    uint64_t next;
    gufo_status status = plan_part_look(plan, of, number, &next, &found, error);

    if (status != GUFO_OK)
        return status;
    state->state = found.state;
    state->units_done = next - plan->parts[number].first_unit;
    state->silent = found.attempts > 0 ? plan_silence(&found.changed, now) : 0;
    if (found.state == GUFO_PART_RUNNING && state->silent >= SILENCE_SECONDS)
        state->state = GUFO_PART_SILENT;
    state->worker = kept_text(plan, found.worker, &status, error);
    state->reason = kept_text(plan, found.reason, &status, error);
    return status;
}

static void complete_outputs(gufo_plan *plan)
{
    for (uint64_t i = 0; i < plan->output_count; i++)
        plan->outputs[i].complete = true;
    for (uint64_t i = 0; i < plan->part_count; i++)
        for (size_t k = plan->parts[i].first_range;
             plan->states[i].state != GUFO_PART_COMPLETE && k < plan_range_end(plan, i); k++)
            plan->outputs[plan->ranges[k].output].complete = false;
}

gufo_status gufo_plan_look(gufo_plan *plan, const char *path, gufo_error *error)
{
    char *folder;
    gufo_status status = plan_folder_find(path, &plan->allocator, &folder, error);
    struct timespec now;
    logs of;

    plan_free_states(plan);
    if (status == GUFO_OK) {
        of = plan_logs(plan, folder);
        now = logs_now(&of);
        plan->states = mem_array(&plan->allocator, plan->part_count, sizeof *plan->states);
        if (plan->states == NULL)
            status = fail_memory(error);
    }
    for (uint64_t i = 0; i < plan->part_count && status == GUFO_OK; i++)
        status = look_at_part(plan, &of, i, &now, error);
    if (status == GUFO_OK)
        complete_outputs(plan);
    mem_free(&plan->allocator, folder);
    return status;
}
