/* gufo endian FILE OUT: a model in the other byte order. */
#include "cli/commands.h"
#include "cli/copying.h"
#include "cli/report.h"

#include <errno.h>
#include <string.h>

typedef enum wanted_order { ORDER_NONE, ORDER_LITTLE, ORDER_BIG, ORDER_OTHER } wanted_order;

typedef struct endian_options {
    command_input base;
    wanted_order order;
    bool dry_run;
} endian_options;

enum { OPTION_TO = OPTION_COMMAND, OPTION_DRY_RUN };

static const struct argp_option endian_table[] = {
    {"to", OPTION_TO, "ORDER", 0, "The byte order of OUT: little, big, or other", 1},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "Show the result, but write nothing", 1},
    {0},
};

static bool read_order(const char *text, wanted_order *order)
{
    static const char *const words[] = {
        [ORDER_LITTLE] = "little", [ORDER_BIG] = "big", [ORDER_OTHER] = "other"};

    for (size_t i = ORDER_LITTLE; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *order = (wanted_order)i;
            return true;
        }
    }
    report_usage("endian", "--to is little, big or other, not '%s'", text);
    return false;
}

static error_t parse_endian(int key, char *text, struct argp_state *state)
{
    endian_options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o->base.shared;
        return 0;
    case OPTION_TO:
        return read_order(text, &o->order) ? 0 : EINVAL;
    case OPTION_DRY_RUN:
        o->dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp endian_argp = {
    .options = endian_table,
    .parser = parse_endian,
    .args_doc = "FILE OUT",
    .doc = "Write a model in the other byte order.\v"
           "Metadata and the numbers inside the blocks of every tensor are swapped.  OUT is of "
           "version 3.  If FILE is the first shard of a set, OUT must have the name of the first "
           "shard of a set of as many.",
    .children = options_children,
};

static int check_arguments(copying *job, const endian_options *o)
{
    if (!copying_read_two(job, "FILE and OUT"))
        return CODE_USAGE;
    if (o->order == ORDER_NONE)
        return report_usage("endian", "--to is needed: little, big or other");
    return CODE_OK;
}

static gufo_byte_order order_for(const gufo_model *set, wanted_order wanted)
{
    bool is_big = gufo_model_facts(gufo_model_shard(set, 0)).byte_order == GUFO_BIG_ENDIAN;
    bool big = wanted == ORDER_OTHER ? !is_big : wanted == ORDER_BIG;

    return big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN;
}

static gufo_job *plan(const copying *job, wanted_order wanted, gufo_error *error)
{
    gufo_endian_options options = {.order = order_for(job->model, wanted)};

    return gufo_job_endian(job->model, &options, error);
}

int command_endian(int argc, char **argv, shared_options *shared)
{
    endian_options options = {.base = {shared}};
    int code = options_parse(&endian_argp, 0, argc, argv, &options.base);
    copying job = {.shared = shared, .dry_run = options.dry_run};
    gufo_error error;

    if (code != 0 || shared->done)
        return code;
    code = check_arguments(&job, &options);
    if (code == CODE_OK)
        code = copying_open(&job);
    if (code == CODE_OK)
        job.plan = plan(&job, options.order, &error);
    return copying_finish(&job, code, &error);
}
