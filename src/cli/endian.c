/* gufo endian FILE OUT: a model in the other byte order. */
#include "cli/commands.h"
#include "cli/copying.h"
#include "cli/report.h"

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
    {0},
};

static gufo_byte_order order_for(const gufo_model *set, wanted_order wanted)
{
    bool is_big = gufo_model_facts(gufo_model_shard(set, 0)).byte_order == GUFO_BIG_ENDIAN;
    bool big = wanted == ORDER_OTHER ? !is_big : wanted == ORDER_BIG;

    return big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN;
}

static int plan(copying *job, gufo_error *error)
{
    wanted_order wanted = ((const endian_options *)(const void *)job)->order;
    const gufo_endian_options options = {.order = order_for(job->model, wanted)};

    job->plan = gufo_job_endian(job->model, &options, error);
    return CODE_OK;
}

static int endian(void *context)
{
    endian_options *o = context;

    if (o->order == ORDER_NONE)
        return report_usage("endian", "--to is needed: little, big or other");
    o->job.output = o->job.base.shared->args[1];
    return copying_run(&o->job, plan);
}

const command_line command_endian = {
    .operands = "FILE OUT",
    .doc = "Write a model in the other byte order.\v"
           "Metadata and the numbers inside the blocks of every tensor are swapped.  OUT is of "
           "version 3.  If FILE is the first shard of a set, OUT must have the name of the first "
           "shard of a set of as many.",
    .options = endian_table,
    .size = sizeof(endian_options),
    .least = 2,
    .most = 2,
    .needed = "FILE and OUT are needed",
    .run = endian,
};
