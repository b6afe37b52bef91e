/* gufo imatrix: importance matrices.
 *
 *     gufo imatrix show FILE...         their content (imatrix_show.c)
 *     gufo imatrix merge OUT IN...      the sum of several
 *     gufo imatrix convert IN OUT       the other format
 *
 * To convert is to merge one. */
#include "cli/quantize/imatrix.h"

#include "cli/core/values/str.h"
#include "cli/commands.h"
#include "cli/core/files/input.h"
#include "cli/core/jobs/job_run.h"
#include "cli/core/files/save.h"
#include "cli/core/options/names.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/json.h"
#include "cli/core/values/number.h"

#include <stdlib.h>
#include <string.h>

/* ---- command line --------------------------------------------------------------------------- */

static const command_option imatrix_table[] = {
    {"format", "FORMAT",
     "Write gguf or dat (default: dat if the name of OUT ends in .dat, else gguf)",
     OPTION_CHOICE(imatrix_options, format, imatrix_formats, 0),
     .given = offsetof(imatrix_options, format_given)},
    {"chunk-size", "N",
     "Tokens of a chunk if the file does not record them, as in every .dat (default: 512)",
     OPTION_NUMBER(imatrix_options, chunk_size, 1, UINT32_MAX)},
    {"output", "OUT", "The file that merge and convert write ('-': standard output)",
     OPTION_OUTPUT},
    {0},
};

/* ---- formats -------------------------------------------------------------------------------- */

static gufo_imatrix_format format_of(const imatrix_options *options, const char *path)
{
    if (options->format_given)
        return options->format;
    return ends_with(gufo_str_of(path), ".dat") ? GUFO_IMATRIX_LEGACY : GUFO_IMATRIX_GGUF;
}

/* ---- input ---------------------------------------------------------------------------------- */

static int open_imatrix(const char *path, const imatrix_options *options, gufo_imatrix **out)
{
    gufo_imatrix_options open_options = {.chunk_size = (uint32_t)options->chunk_size, .name = path};
    gufo_error error;

    *out = gufo_imatrix_open(path_is_standard(path) ? "/dev/stdin" : path, &open_options, &error);
    return *out != NULL ? CODE_OK : report_refusal(path, &error);
}

/* ---- output --------------------------------------------------------------------------------- */

/* Counts entries that no token reached: the old format drops them, GGUF keeps them. */
static uint64_t count_left_out(const gufo_imatrix *imatrix, gufo_imatrix_format format)
{
    gufo_imatrix_entry entry;
    uint64_t left_out = 0;

    if (format != GUFO_IMATRIX_LEGACY)
        return 0;
    for (uint64_t i = 0; gufo_imatrix_entry_at(imatrix, i, &entry); i++) {
        imatrix_unreached u = imatrix_unreached_start(imatrix, i, &entry);
        uint64_t matrix, unreached = 0;

        while (imatrix_unreached_next(&u, &matrix, NULL) && matrix == unreached)
            unreached++;
        left_out += unreached == entry.matrices;
    }
    return left_out;
}

static void warn_of_loss(const char *path, const gufo_imatrix *imatrix, gufo_imatrix_format format,
                         uint64_t left_out)
{
    gufo_str dataset;

    if (left_out > 0)
        report_warning(path, "%s %s left out: the old format has no place for %s",
                       human_grouped(left_out).text,
                       left_out == 1 ? "entry without data is" : "entries without data are",
                       left_out == 1 ? "it" : "them");
    if (format == GUFO_IMATRIX_LEGACY && gufo_imatrix_dataset_at(imatrix, 1, &dataset))
        report_warning(path, "the old format keeps the name of one dataset, the last");
}

static int save(const char *path, const gufo_imatrix *imatrix, gufo_imatrix_format format,
                const imatrix_options *options)
{
    const shared_options *shared = options->base.shared;
    job_run how = {.files = {.path = path, .flags = shared->force ? GUFO_JOB_REPLACE : 0},
                   .input = &options->base,
                   .no_bar = true};
    gufo_error error;
    gufo_job *job = gufo_job_imatrix(imatrix, format, NULL, &error);
    job_end end = job != NULL ? job_run_start(&how, job, &error) : JOB_FAILED;

    gufo_job_free(job);
    return end == JOB_DONE ? CODE_OK : save_report(path, &error);
}

static void print_result(const char *path, const gufo_imatrix *imatrix, gufo_imatrix_format format,
                         uint64_t entries)
{
    json_writer j = json_begin_document(path);

    json_write_text(&j, "format", imatrix_formats[format]);
    json_write_u64(&j, "entry_count", entries);
    json_write_u64(&j, "chunk_count", gufo_imatrix_chunk_count(imatrix));
    json_write_u64(&j, "chunk_size", gufo_imatrix_chunk_size(imatrix));
    json_end_document(&j);
}

/* ---- merging -------------------------------------------------------------------------------- */

static int merge_opened(const char *path, const gufo_imatrix *const *opened, size_t count,
                        const imatrix_options *options)
{
    gufo_imatrix_format format = format_of(options, path);
    gufo_error error;
    gufo_imatrix *sum = gufo_imatrix_merge(opened, count, NULL, &error);
    uint64_t left_out;
    int code;

    if (sum == NULL)
        return report_error(NULL, &error);
    left_out = count_left_out(sum, format);
    warn_of_loss(path, sum, format, left_out);
    code = save(path, sum, format, options);
    if (code == CODE_OK && options->base.shared->json)
        print_result(path, sum, format, gufo_imatrix_entry_count(sum) - left_out);
    gufo_imatrix_free(sum);
    return code;
}

static int merge(char **inputs, int count, const imatrix_options *options)
{
    const char *path = options->base.output;
    gufo_imatrix **opened;
    int code = CODE_OK;

    if (save_is_stdout(path) && options->base.shared->json)
        return report_usage("--json and '-' as output exclude each other");
    opened = calloc((size_t)count, sizeof(gufo_imatrix *));
    if (opened == NULL)
        return report_memory(NULL);
    for (int i = 0; i < count && code == CODE_OK; i++)
        code = open_imatrix(inputs[i], options, &opened[i]);
    if (code == CODE_OK)
        code = merge_opened(path, (const gufo_imatrix *const *)opened, (size_t)count, options);
    for (int i = 0; i < count; i++)
        gufo_imatrix_free(opened[i]);
    free(opened);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int merge_named(imatrix_options *options)
{
    shared_options *shared = options->base.shared;

    if (options->base.output == NULL && shared->arg_count > 1)
        options->base.output = command_line_take(shared, 1);
    if (options->base.output == NULL || shared->arg_count < 2)
        return report_usage("merge: OUT and IN are needed");
    return merge(shared->args + 1, shared->arg_count - 1, options);
}

static int convert_named(imatrix_options *options)
{
    shared_options *shared = options->base.shared;

    if (shared->arg_count == 3 && options->base.output != NULL)
        return command_line_twice(shared->args[2]);
    if (shared->arg_count == 3)
        options->base.output = command_line_take(shared, 2);
    if (options->base.output == NULL || shared->arg_count != 2)
        return report_usage("convert: IN and OUT are needed, no more");
    return merge(shared->args + 1, 1, options);
}

static int show_named(imatrix_options *options)
{
    const shared_options *shared = options->base.shared;
    int worst = CODE_OK;

    if (shared->arg_count < 2 || options->base.output != NULL)
        return report_usage("show needs a FILE and takes no output");
    for (int i = 1; i < shared->arg_count; i++) {
        gufo_imatrix *imatrix;
        int code = open_imatrix(shared->args[i], options, &imatrix);

        if (code == CODE_OK)
            code = imatrix_show(shared->args[i], imatrix, options);
        gufo_imatrix_free(imatrix);
        worst = worst_code(worst, code);
    }
    return worst;
}

static int run(void *context)
{
    static const struct {
        const char *name;
        int (*run)(imatrix_options *options);
    } actions[] = {{"show", show_named}, {"merge", merge_named}, {"convert", convert_named}};
    imatrix_options *options = context;
    const char *action = options->base.shared->args[0];
    suggestion near = suggest_start(gufo_str_of(action));

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(action, actions[i].name) == 0)
            return actions[i].run(options);
        suggest_offer(&near, gufo_str_of(actions[i].name));
    }
    return report_usage("unknown subcommand '%s'%s", action,
                        near.name.len > 0 ? suggest_text(&near, "")
                                          : "; use show, merge or convert");
}

const command_line command_imatrix = {
    .operands = {"show FILE...\nmerge OUT IN...\nconvert IN OUT", 1, 0,
                 "the subcommand is missing: show, merge or convert"},
    .doc =
        "Show, merge and convert importance matrices.\v"
        "For every tensor, 'show' prints how much text its numbers come from, which experts got "
        "no token, and which values gufo cannot use.  'merge' writes the sum of several matrices, "
        "'convert' writes one in the other format: GGUF, or the old one of imatrix.dat.  OUT may "
        "be '-' for standard output.",
    .examples = {{"gufo imatrix show imatrix.gguf", "Shows how much text every tensor has seen."},
                 {"gufo imatrix merge all.gguf wiki.dat code.dat", "Adds two matrices."}},
    COMMAND_OPTIONS(imatrix_table, imatrix_options),
    .run = run,
};
