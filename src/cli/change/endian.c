/* gufo endian FILE OUT: a model in the other byte order. */
#include "cli/commands.h"
#include "cli/core/files/copying.h"

typedef enum wanted_order { ORDER_NONE, ORDER_LITTLE, ORDER_BIG, ORDER_OTHER } wanted_order;

typedef struct endian_options {
    copying job;
    wanted_order order;
} endian_options;

static const char *const orders[] = {"little", "big", "other", NULL};

static const command_option endian_table[] = {
    {"to", "ORDER", "The byte order of OUT: little, big, or other",
     OPTION_CHOICE(endian_options, order, orders, ORDER_LITTLE)},
    {"dry-run", NULL, "Show the result, but write nothing",
     OPTION_FLAG(endian_options, job.dry_run)},
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
    {0},
};

static gufo_job *plan(copying *job, gufo_error *error)
{
    wanted_order wanted = ((const endian_options *)(const void *)job)->order;
    const gufo_model *first = gufo_model_shard(job->model, 0);
    bool is_big = gufo_model_facts(first).byte_order == GUFO_BIG_ENDIAN;
    bool big = wanted == ORDER_OTHER ? !is_big : wanted == ORDER_BIG;
    const gufo_endian_options options = {.order = big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN};

    return gufo_job_endian(job->model, &options, error);
}

static int endian(void *context)
{
    endian_options *o = context;

    if (o->order == ORDER_NONE)
        return report_usage("--to is needed: little, big or other");
    return copying_run(&o->job, plan);
}

const command_line command_endian = {
    .operands = {"--to=ORDER FILE OUT", 2, 2, "FILE and OUT are needed"},
    .out = 2,
    .doc = "Write a model in the other byte order.\v"
           "gufo swaps the bytes of metadata and of the numbers inside the blocks of every "
           "tensor.  OUT is of version 3.  If FILE is the first shard of a set, OUT must have the "
           "name of the first shard of a set of the same size.",
    .examples = {{"gufo endian --to=big model.gguf model-be.gguf", "Writes a big-endian copy."},
                 {"gufo endian --to=other --dry-run model-be.gguf model.gguf",
                  "Shows what becomes of a file of either byte order."}},
    COMMAND_OPTIONS(endian_table, endian_options),
    .run = endian,
};
