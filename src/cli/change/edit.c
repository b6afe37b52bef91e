/* gufo edit [OPTION...] FILE: changes metadata, in place where possible.
 *
 * The library keeps the list of changes and writes; this file reads the command line and reports
 * failures.  It keeps the options that change something in their order, which matters. */
#define _GNU_SOURCE /* realpath */

#include "cli/change/edit.h"
#include "cli/core/terminal/line.h"

#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/input.h"
#include "cli/core/files/progress.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- command line --------------------------------------------------------------------------- */

/* Of the two arguments of --copy-from, argp reads one. */
static int read_change(void *options, const option_given *given)
{
    edit_operation_kind kind = (edit_operation_kind)given->option->lowest;
    struct argp_state *state = given->state;
    edit_options *o = options;
    edit_operation *added;
    const char *path;

    if (kind == EDIT_COPY && state->next == state->argc)
        return report_usage("--copy-from needs a file and a pattern for keys");
    added = array_add(&o->operations, &o->count, sizeof *added);
    if (added == NULL)
        return CODE_FAILED;
    *added = (edit_operation){.kind = kind, .text = given->text};
    if (kind == EDIT_COPY)
        added->glob = state->argv[state->next++];
    path = edit_operand(added);
    return path != NULL ? option_add(&o->read, path) : CODE_OK;
}

#define CHANGE(operation) OPTION_READ(read_change), .lowest = (operation)

static const char *const in_place_words[] = {[GUFO_EDIT_IN_PLACE_IF_SAFE] = "auto",
                                             [GUFO_EDIT_IN_PLACE_ALWAYS] = "yes",
                                             [GUFO_EDIT_IN_PLACE_NEVER] = "no",
                                             NULL};

static const command_option edit_table[] = {
    {.help = "Changes, made in the order given:"},
    {"set", "KEY=[TYPE:]VALUE",
     "Set a key, or with KEY[i] an element of its array; without TYPE, the type of the key",
     CHANGE(EDIT_SET), .common = true},
    {"set-string", "KEY=TEXT", "Set a string, whatever the value looks like",
     CHANGE(EDIT_SET_STRING)},
    {"set-file", "KEY=PATH", "Set a string to the bytes of a file ('-': standard input)",
     CHANGE(EDIT_SET_FILE), .common = true},
    {"set-json", "KEY=[TYPE:]JSON|@PATH",
     "Set an array, as in KEY=uint32:[1,2], from the command line or a file; TYPE is that of its "
     "elements",
     CHANGE(EDIT_SET_JSON), .common = true},
    {"remove", "GLOB", "Remove keys", CHANGE(EDIT_REMOVE), .common = true},
    {"rename", "OLD=NEW", "Rename a key", CHANGE(EDIT_RENAME), .common = true},
    {"rename-tensor", "OLD=NEW", "Rename a tensor", CHANGE(EDIT_RENAME_TENSOR)},
    {"copy-from", "OTHER GLOB", "Copy keys from another file", CHANGE(EDIT_COPY)},
    {.help = "Output:", .group = 2},
    {"output", "OUT", "Write a new file and leave FILE unchanged",
     OPTION_TEXT(edit_options, target.output), .letter = 'o', .group = 2, .common = true},
    {"in-place", "WHEN",
     "Change FILE itself: auto (where that is safe), yes, or no (always a new file)",
     OPTION_CHOICE(edit_options, target.in_place, in_place_words, 0), .group = 2},
    {"reserve", "SIZE", "Leave room, such as 64Ki or 1M, for later edits where the file grows",
     OPTION_SIZE(edit_options, target.reserve, 0, "64K or 1Mi"), .group = 2},
    {"no-padding", NULL, "Leave no room for later edits, and remove gufo.padding",
     OPTION_FLAG(edit_options, target.no_padding), .group = 2},
    {"as-is", NULL, "Also make changes that gufo refuses: misspelt keys, errors, split keys",
     OPTION_FLAG(edit_options, as_is), .group = 2},
    {"dry-run", NULL, "Show the differences and change nothing", OPTION_FLAG(edit_options, dry_run),
     .group = 2, .common = true},
    {"recover", NULL, "Complete an edit that was interrupted", OPTION_FLAG(edit_options, recover),
     .group = 2},
    {0},
};

/* ---- the work ------------------------------------------------------------------------------- */

static int report_failure(const edit_options *o, const gufo_error *error)
{
    const char *path = o->target.output != NULL ? o->target.output : o->path;

    if (error->code == GUFO_E_STOPPED)
        return report_as(CODE_INTERRUPTED, path, "interrupted; nothing was changed");
    return save_report(path, error);
}

static int recover(const edit_options *o, bool asked)
{
    static const char *const results[] = {
        [GUFO_EDIT_RECOVERED_NOTHING] = "no edit was interrupted",
        [GUFO_EDIT_RECOVERED_OLD] = "the file is as it was before the interrupted edit",
        [GUFO_EDIT_RECOVERED_NEW] = "the interrupted edit is complete now",
    };
    gufo_edit_recovery recovery;
    gufo_error error;

    if (gufo_edit_recover(o->path, NULL, &recovery, &error) != GUFO_OK)
        return report_error(o->path, &error);
    if (asked && !o->base.shared->quiet)
        text_print("%s: %s\n", o->path, results[recovery]);
    else if (!asked && recovery != GUFO_EDIT_RECOVERED_NOTHING)
        report_warning(o->path, "%s", results[recovery]);
    return CODE_OK;
}

static bool is_stream(const edit_options *o)
{
    const char *output = o->target.output;

    return output != NULL && (save_is_stdout(output) || save_is_stream(output));
}

/* Writes to standard output, a pipe or a device, which take bytes as they come.  Nothing has to be
 * cleaned up, and a reader may make it wait forever: the first signal ends everything. */
static int stream(const edit_options *o, gufo_edit *edit, const gufo_run *how)
{
    gufo_error error;
    int fd = save_open_stream(o->target.output, &error);

    if (fd < 0)
        return report_refusal(o->target.output, &error);
    gufo_status status = gufo_edit_stream(edit, fd, &o->target, how, &error);

    /* A reader that closes the pipe has seen what it wanted. */
    if (save_close_stream(fd, status, &error) == GUFO_OK ||
        (fd == STDOUT_FILENO && error.system == EPIPE && signals_pipe_closed()))
        return CODE_OK;
    return report_failure(o, &error);
}

static int write_file(const edit_options *o, gufo_edit *edit, const text_stream *report,
                      const gufo_run *how)
{
    gufo_edit_plan plan = {0};
    gufo_status status;
    gufo_error error;
    bool broken = false;
    int code;

    if (o->dry_run)
        status = gufo_edit_plan_for(edit, &o->target, &plan, &error);
    else {
        signals_defer();
        status = gufo_edit_apply(edit, &o->target, how, &plan, &broken, &error);
    }
    if (status == GUFO_OK) {
        edit_report_print(report, &plan, o);
        return CODE_OK;
    }
    code = report_failure(o, &error);
    if (!broken)
        return code;
    return report_as(CODE_FAILED, o->path,
                     "the edit is incomplete; 'gufo edit --recover %s' repairs it", o->path);
}

/* Writes the file when all changes are made. */
static int finish(const edit_options *o, gufo_edit *edit, const text_stream *report)
{
    progress bar;
    gufo_run how = progress_run(&bar, o->base.shared);
    int code;

    progress_start(&bar, o->base.shared->quiet || o->dry_run);
    if (is_stream(o) && !o->dry_run)
        code = stream(o, edit, &how);
    else
        code = write_file(o, edit, report, &how);
    progress_end(&bar);
    return code;
}

/* Caches give blobs the name of their hash, and link to them. */
static void warn_of_names(const edit_options *o)
{
    struct stat info;
    char *path;

    if (o->target.output != NULL || lstat(o->path, &info) != 0 || !S_ISLNK(info.st_mode))
        return;
    path = realpath(o->path, NULL);
    report_warning(o->path, "this is a symlink; gufo changes its target %s",
                   path != NULL ? path : "its file");
    free(path);
}

/* Some keys to remove or copy may be missing: the rest is done, and the exit code says it. */
static int edit_opened(edit_options *o, gufo_edit *edit)
{
    text_stream report = {0};
    int code = edit_apply_operations(edit, o);

    if (code == CODE_OK)
        code = edit_check_changes(edit, o);
    if (code == CODE_OK)
        code = edit_report_changes(&report, edit, o);
    if (code == CODE_OK && gufo_model_facts(gufo_edit_model(edit)).version == 1)
        report_warning(o->path, "the file changes from version 1 to version 3");
    if (code == CODE_OK)
        code = finish(o, edit, &report);
    free(report.text);
    return code == CODE_OK && o->unmatched ? CODE_NO : code;
}

static int edit_file(edit_options *o)
{
    bool reads = o->target.output != NULL;
    gufo_edit_options options = {.flags = reads ? GUFO_EDIT_READ_ONLY : 0,
                                 .max_depth = options_max_depth()};
    gufo_edit *edit;
    gufo_error error;
    int code;

    if (remote_refuse_edit(o->path))
        return CODE_FAILED;
    if (o->dry_run || reads)
        code = input_is_pending(o->path) ? CODE_FAILED : CODE_OK;
    else
        code = recover(o, false);
    if (code != CODE_OK)
        return code;
    if (save_would_replace(o->target.output, o->read.items, o->read.count))
        return CODE_USAGE;
    if (o->dry_run)
        code = save_check_dry(o->target.output, o->path, true);
    if (code != CODE_OK)
        return code;
    if (foreign_file_refuse(o->path))
        return CODE_FAILED;
    signals_reading(o->path);
    edit = gufo_edit_open(o->path, &options, &error);
    if (edit != NULL) {
        warn_of_names(o);
        code = edit_opened(o, edit);
    } else
        code = report_refusal(o->path, &error);
    gufo_edit_free(edit);
    signals_reading(NULL);
    return code;
}

/* One FILE alone, or the form that was meant: "F key=x", "--set key x F". */
static int check_operands(const edit_options *o)
{
    const shared_options *shared = o->base.shared;
    const char *last = o->count > 0 ? o->operations[o->count - 1].text : NULL;

    for (int i = 0; shared->arg_count > 1 && i < shared->arg_count; i++)
        if (strchr(shared->args[i], '=') != NULL && !path_exists(shared->args[i]))
            return report_usage("'%s' is not an option; set a value with --set %s", shared->args[i],
                                shared->args[i]);
    if (shared->arg_count == 2 && last != NULL && strchr(last, '=') == NULL &&
        o->operations[o->count - 1].kind == EDIT_SET)
        return report_usage("--set needs KEY=VALUE: --set %s=%s", last,
                            shared->args[path_exists(shared->args[0])]);
    return shared->arg_count == 1 ? CODE_OK : report_usage("exactly one FILE is needed");
}

static int check_arguments(const edit_options *o)
{
    if (path_is_standard(o->path))
        return report_usage("FILE must be a file, not '-'");
    if (o->recover && (o->count > 0 || o->target.output != NULL || o->dry_run))
        return report_usage("--recover is for a file alone, without changes");
    if (o->target.output != NULL && o->target.in_place == GUFO_EDIT_IN_PLACE_ALWAYS)
        return report_usage("-o and --in-place=yes exclude each other");
    if (o->target.reserve > 0 && o->target.no_padding)
        return report_usage("--reserve and --no-padding exclude each other");
    if (!o->recover && o->count == 0 && o->target.output == NULL && o->target.reserve == 0 &&
        !o->target.no_padding && o->target.in_place != GUFO_EDIT_IN_PLACE_NEVER)
        return report_usage("no change is given");
    if (is_stream(o) && o->base.shared->json && !o->dry_run)
        return report_usage("--json needs an output that is a file");
    return CODE_OK;
}

static int edit_named(void *context)
{
    edit_options *o = context;
    int code = check_operands(o);

    o->path = o->base.shared->args[0];
    o->target.replace = o->base.shared->force;
    if (code == CODE_OK)
        code = check_arguments(o);
    if (code != CODE_OK)
        return code;
    return o->recover ? recover(o, true) : edit_file(o);
}

static void release(void *context)
{
    edit_options *o = context;

    for (size_t i = 0; i < o->count; i++)
        gufo_model_free(o->operations[i].source);
    free(o->operations);
    free(o->read.items);
}

const command_line command_edit = {
    .operands = {"--set=KEY=VALUE|--remove=GLOB|... FILE\n--recover FILE", 1, 0,
                 "exactly one FILE is needed"},
    .doc =
        "Change the metadata of a model.\v"
        "gufo does not write tensor data: the new metadata overwrites the old one, or goes into "
        "blocks that the file system inserts before the data (ext4, XFS).  Where neither is "
        "possible or safe, gufo writes a new file under the same name, and the system shares or "
        "copies the data.  -v shows which.\n\n"
        "TYPE is uint8 to uint64, int8 to int64, float32, float64, bool or string.  Without TYPE "
        "a value has the type that the key has in the file, or else in the registry; if neither "
        "has the key, it becomes bool, integer, float32 or string, as it looks.  An array is "
        "JSON.  KEY[i]=VALUE sets one element of an array, from 0.  For a token id, the text of "
        "the token is a value, too.\n\n"
        "Without --as-is, gufo refuses a key that is nearly a known one, and a change after which "
        "gufo validate finds a new error.  --recover FILE, or the next edit, completes an edit "
        "that was interrupted.  Exit status 1 means that FILE, or OTHER, lacks the key or tensor "
        "to remove, rename or copy.",
    .examples = {{"gufo edit --set general.name='My model' model.gguf", "Changes the file itself."},
                 {"gufo edit --set tokenizer.ggml.eos_token_id='</s>' model.gguf",
                  "Looks the token up in the vocabulary."},
                 {"gufo edit --set-file tokenizer.chat_template=chat.jinja model.gguf",
                  "Replaces the chat template."}},
    COMMAND_OPTIONS(edit_table, edit_options),
    .run = edit_named,
    .release = release,
};
