/* Plans that commands look at. */
#include "cli/parts/parts.h"

#include "cli/core/files/path.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/number.h"
#include "cli/core/values/str.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Whether a folder has the first one of shards whose names begin so, or, without a name, anything at all. */
static bool folder_has(const char *folder, const char *name, size_t len)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    uint32_t number, count;
    bool found = false;
    size_t prefix;

    while (listing != NULL && !found && (entry = readdir(listing)) != NULL)
        found = name == NULL
                    ? strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0
                    : gufo_shard_path_parse(entry->d_name, &prefix, &number, &count) &&
                          number == 1 && prefix == len && memcmp(entry->d_name, name, len) == 0;
    if (listing != NULL)
        (void)closedir(listing);
    return found;
}

/* Whether the output is there: a file, a folder of files, or the shards that begin with its name. */
static bool is_there(const char *out)
{
    const char *name = path_name(out);
    const size_t suffix = ends_with(gufo_str_of(name), ".gguf") ? strlen(".gguf") : 0;
    char folder[PATH_MAX];

    if (path_is_folder(out))
        return folder_has(out, NULL, 0);
    return path_exists(out) ||
           (path_folder(out, folder) && folder_has(folder, name, strlen(name) - suffix));
}

bool plan_is_begun(const char *out)
{
    gufo_error error;
    gufo_plan *plan = gufo_plan_open(out, &error);
    bool begun = plan != NULL || error.code != GUFO_E_NOT_FOUND || is_there(out);

    gufo_plan_free(plan);
    return begun;
}

int plan_open(const char *out, gufo_plan **plan)
{
    gufo_error error;
    bool gone;
    int code;

    *plan = gufo_plan_open(out, &error);
    if (*plan == NULL && error.code != GUFO_E_NOT_FOUND)
        return report_refusal(out, &error);
    if (*plan == NULL)
        return is_there(out) ? CODE_OK
                             : report_as(CODE_FAILED, out,
                                         "neither the output nor its plan, %s.parts/plan, is there",
                                         path_name(out));
    code = plan_look(*plan, out, &gone);
    if (code != CODE_OK || gone) {
        gufo_plan_free(*plan);
        *plan = NULL;
    }
    return code;
}

int plan_look(gufo_plan *plan, const char *out, bool *gone)
{
    gufo_error error;
    gufo_status status = gufo_plan_look(plan, out, &error);

    *gone = status == GUFO_E_NOT_FOUND && is_there(out);
    return status == GUFO_OK || *gone ? CODE_OK : report_refusal(out, &error);
}

/* ---- sums ----------------------------------------------------------------------------------- */

plan_sums plan_sum(const gufo_plan *plan)
{
    plan_sums sums = {0};
    gufo_part_info info;

    for (; gufo_plan_part_at(plan, sums.parts, &info); sums.parts++) {
        sums.states[info.state]++;
        sums.bytes += info.bytes;
        sums.bytes_done += info.bytes_done;
    }
    return sums;
}

/* In the order in which people want to know. */
static const struct {
    gufo_part_state state;
    const char *word;
} words[] = {{GUFO_PART_COMPLETE, "complete"},
             {GUFO_PART_RUNNING, "running"},
             {GUFO_PART_SILENT, "silent"},
             {GUFO_PART_FAILED, "failed"},
             {GUFO_PART_WAITING, "waiting"}};

void plan_put_sums(FILE *out, const plan_sums *sums)
{
    const char *before = ": ";

    fputs(human_counted(sums->parts, "part", "parts").text, out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sums->states[words[i].state] > 0) {
            fprintf(out, "%s%s %s", before, human_grouped(sums->states[words[i].state]).text,
                    words[i].word);
            before = ", ";
        }
}

void plan_write_sums(json_writer *j, const plan_sums *sums)
{
    json_write_u64(j, "part_count", sums->parts);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        json_write_u64(j, words[i].word, sums->states[words[i].state]);
    json_write_u64(j, "bytes", sums->bytes);
    json_write_u64(j, "bytes_done", sums->bytes_done);
}

/* ---- time ----------------------------------------------------------------------------------- */

bool plan_wait(double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct timespec time = {.tv_sec = whole,
                                  .tv_nsec = (long)(1e9 * (seconds - (double)whole))};

    if (!signals_stopped())
        (void)nanosleep(&time, NULL);
    return !signals_stopped();
}
