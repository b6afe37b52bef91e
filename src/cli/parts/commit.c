/* gufo commit OUT: the files of a job in parts get their names.
 *
 * The plan has the command of the first worker.  The same command runs once more, makes the same job, and commits it in
 * the place where it would run it; so what follows, reports and checks, is that of the command. */
#include "cli/parts/parts.h"

#include "cli/commands.h"
#include "cli/core/files/path.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/number.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A worker that has failed, and goes on with another part, is not seen for a moment. */
enum { BETWEEN_PARTS = 2 };

typedef struct commit_options {
    command_input base;
    bool wait;
} commit_options;

static const command_option commit_table[] = {
    {"wait", NULL,
     "Wait for the first worker, and until all parts are complete, or one has failed and nobody "
     "works any more",
     OPTION_FLAG(commit_options, wait)},
    {0},
};

/* ---- all parts ------------------------------------------------------------------------------ */

static int report_missing(const char *out, const gufo_plan *plan, bool json)
{
    const plan_sums sums = plan_sum(plan);
    const uint64_t missing = sums.parts - sums.states[GUFO_PART_COMPLETE];
    part_list list;
    int code = part_list_find(&list, plan, out, PART_MISSING, NULL);

    if (code == CODE_OK && json) {
        json_writer j = json_begin_document(out);

        plan_write_sums(&j, &sums);
        part_list_write(&j, "parts", &list, false);
        json_end_document(&j);
    } else if (code == CODE_OK) {
        part_list_print(&list, false);
    }
    part_list_free(&list);
    return code == CODE_OK ? report_as(CODE_NO, out, "%s of %s %s not complete; nothing is named",
                                       human_grouped(missing).text,
                                       human_counted(sums.parts, "part", "parts").text,
                                       missing == 1 ? "is" : "are")
                           : code;
}

static int report_interrupted(const char *out)
{
    return report_as(CODE_INTERRUPTED, out, "interrupted; the same command continues");
}

/* Waits for them if asked.  *gone: another commit was quicker. */
static int wait_for_parts(const commit_options *o, const char *out, gufo_plan *plan, bool *gone)
{
    unsigned idle = 0; /* looks at failures, while nobody works */
    int code = CODE_OK;

    for (*gone = false; code == CODE_OK && !*gone;) {
        const plan_sums sums = plan_sum(plan);

        if (sums.states[GUFO_PART_COMPLETE] == sums.parts)
            return CODE_OK;
        if (sums.states[GUFO_PART_FAILED] == 0 || sums.states[GUFO_PART_RUNNING] > 0)
            idle = 0;
        else
            idle++;
        if (!o->wait || idle > BETWEEN_PARTS)
            return report_missing(out, plan, o->base.shared->json);
        if (!plan_wait(1))
            return report_interrupted(out);
        code = plan_look(plan, out, gone);
    }
    return code;
}

/* ---- the command of the plan ---------------------------------------------------------------- */

/* The words point into the plan. */
static const char **list_words(const gufo_plan *plan, size_t *count)
{
    const char **words;

    for (*count = 0; gufo_plan_argument(plan, *count) != NULL;)
        ++*count;
    words = calloc(*count + 1, sizeof *words);
    for (size_t i = 0; words != NULL && i < *count; i++)
        words[i] = gufo_plan_argument(plan, i);
    return words;
}

/* A path that holds in another folder, too; NULL after a report. */
static char *whole_path(const char *out)
{
    char folder[PATH_MAX];

    if (*out == '/')
        return path_with(out, "");
    if (getcwd(folder, sizeof folder) != NULL)
        return path_format("%s/%s", folder, out);
    (void)report_system(out, errno);
    return NULL;
}

static int run_command(const commit_options *o, const char *path, const gufo_plan *plan)
{
    const shared_options *own = o->base.shared;
    const char *folder = gufo_plan_folder(plan);
    shared_options shared = {.commands = own->commands,
                             .gufo = own->gufo,
                             .json = own->json,
                             .quiet = own->quiet,
                             .verbose = own->verbose,
                             .threads = own->threads,
                             .color = own->color,
                             .force = own->force,
                             .commits = path,
                             .planned = path};
    int code;

    shared.words = list_words(plan, &shared.word_count);
    if (shared.words == NULL)
        return report_memory(NULL);
    /* Where the folder does not exist, all paths have to be absolute. */
    if (folder != NULL && path_is_folder(folder) && chdir(folder) != 0)
        code = report_system(folder, errno);
    else
        code = command_line_start(&shared);
    free((void *)shared.words);
    return code;
}

static int clean(const char *out, const char *path)
{
    gufo_error error;
    bool done;

    return gufo_plan_clean(path, &done, &error) == GUFO_OK ? CODE_OK : report_refusal(out, &error);
}

static int commit_plan(const commit_options *o, const char *out, const gufo_plan *plan)
{
    char *path = whole_path(out);
    int code = path != NULL ? run_command(o, path, plan) : CODE_FAILED;

    if (code == CODE_OK)
        code = clean(out, path);
    free(path);
    return code;
}

/* Who waits may be started before the first worker. */
static int wait_for_plan(const commit_options *o, const char *out)
{
    while (o->wait && !plan_is_begun(out))
        if (!plan_wait(1))
            return report_interrupted(out);
    return CODE_OK;
}

static int commit(void *context)
{
    const commit_options *o = context;
    const char *out = o->base.shared->args[0];
    gufo_plan *plan = NULL;
    int code;
    bool gone;

    signals_defer();
    code = wait_for_plan(o, out);
    if (code == CODE_OK)
        code = plan_open(out, &plan);
    gone = plan == NULL;
    if (code == CODE_OK && plan != NULL)
        code = wait_for_parts(o, out, plan, &gone);
    if (code == CODE_OK && !gone)
        code = commit_plan(o, out, plan);
    else if (code == CODE_OK)
        code = clean(out, out); /* a commit may have been stopped while it did that */
    if (code == CODE_OK && gone)
        report_note(out, "it is complete, and has no parts any more");
    gufo_plan_free(plan);
    return code;
}

const command_line command_commit = {
    .operands = {"OUT", 1, 1, "OUT is needed"},
    .doc = "Give the files of a job their names when all its parts are complete.\v"
           "OUT is what the workers were given as OUT, with --part.  gufo runs the command of the "
           "plan, "
           "OUT.parts/plan, once more, to commit it: it needs the inputs, and reports what the "
           "command "
           "reports.  An interrupted commit goes on where it was.\n\n"
           "Exit status 1 means that parts are not complete: they are listed, and nothing is "
           "named.  If OUT is "
           "there and OUT.parts is not, nothing is left to do, and the status is 0.",
    .examples = {{"gufo commit model-q4_k_m.gguf", "Names the file that workers have made."},
                 {"gufo commit --wait model-q4_k_m.gguf", "Waits for the workers first."}},
    COMMAND_OPTIONS(commit_table, commit_options),
    .run = commit,
};
