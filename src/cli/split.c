/* gufo split FILE OUTPREFIX: one model as several files. */
#include "cli/commands.h"
#include "cli/copying.h"
#include "cli/report.h"

#include "base/checked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct split_options {
    command_input base;
    gufo_split_options bounds;
    bool dry_run;
} split_options;

enum {
    OPTION_MAX_SIZE = OPTION_COMMAND,
    OPTION_MAX_TENSORS,
    OPTION_METADATA_ALONE,
    OPTION_DRY_RUN,
};

static const struct argp_option split_table[] = {
    {"max-size", OPTION_MAX_SIZE, "SIZE", 0,
     "At most this many bytes per file: a number with K, M or G (thousands) or Ki, Mi or Gi", 1},
    {"max-tensors", OPTION_MAX_TENSORS, "N", 0, "At most N tensors per file", 1},
    {"no-tensor-first-split", OPTION_METADATA_ALONE, NULL, 0,
     "Put only metadata, no tensors, into the first file", 1},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "Show which files would be written, but write nothing", 1},
    {0},
};

/* "50M" is 50,000,000, "50Mi" is 52,428,800. */
static bool read_size(const char *text, uint64_t *out)
{
    static const struct {
        const char *suffix;
        uint64_t bytes;
    } units[] = {{"", 1},
                 {"K", 1000},
                 {"M", 1000 * 1000},
                 {"G", 1000 * 1000 * 1000},
                 {"Ki", UINT64_C(1) << 10},
                 {"Mi", UINT64_C(1) << 20},
                 {"Gi", UINT64_C(1) << 30}};
    char *end;

    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    bool good = *text >= '0' && *text <= '9' && errno == 0 && number > 0;

    for (size_t i = 0; i < sizeof units / sizeof *units && good; i++)
        if (strcmp(end, units[i].suffix) == 0 && checked_mul(number, units[i].bytes, out))
            return true;
    report_usage("split", "--max-size needs a size such as 500M or 2G, not '%s'", text);
    return false;
}

static error_t parse_split(int key, char *text, struct argp_state *state)
{
    split_options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o->base.shared;
        return 0;
    case OPTION_MAX_SIZE:
        return read_size(text, &o->bounds.max_size) ? 0 : EINVAL;
    case OPTION_MAX_TENSORS:
        return options_number(o->base.shared, "--max-tensors", text, 1, INT32_MAX,
                              &o->bounds.max_tensors)
                   ? 0
                   : EINVAL;
    case OPTION_METADATA_ALONE:
        o->bounds.metadata_alone = true;
        return 0;
    case OPTION_DRY_RUN:
        o->dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp split_argp = {
    .options = split_table,
    .parser = parse_split,
    .args_doc = "FILE OUTPREFIX",
    .doc = "Split a model into several files.\v"
           "The files are OUTPREFIX-00001-of-000NN.gguf and so on; all of them appear, or none.  "
           "FILE may be the first shard of a set, which is then split again.  A tensor that "
           "is larger than the limit gets its own file.",
    .children = options_children,
};

/* A folder alone would give files named "-00001-of-000NN.gguf". */
static bool is_prefix(const char *path)
{
    size_t len = strlen(path);

    return len > 0 && path[len - 1] != '/';
}

static int check_options(const split_options *o, const copying *job)
{
    if (strcmp(job->output, "-") == 0)
        return report_usage("split", "several files cannot go to standard output");
    if (!is_prefix(job->output))
        return report_usage(
            "split", "OUTPREFIX has to end in the beginning of a file name, not '%s'", job->output);
    if ((o->bounds.max_size > 0) == (o->bounds.max_tensors > 0))
        return report_usage("split", "either --max-size or --max-tensors is needed");
    return CODE_OK;
}

int command_split(int argc, char **argv, shared_options *shared)
{
    split_options options = {.base = {shared}};
    int code = options_parse(&split_argp, 0, argc, argv, &options.base);
    copying job = {.shared = shared, .dry_run = options.dry_run};
    gufo_error error;

    if (code != 0 || shared->done)
        return code;
    code =
        copying_read_two(&job, "FILE and OUTPREFIX") ? check_options(&options, &job) : CODE_USAGE;
    if (code == CODE_OK)
        code = copying_open(&job);
    if (code == CODE_OK)
        job.plan = gufo_job_split(job.model, &options.bounds, &error);
    return copying_finish(&job, code, &error);
}
