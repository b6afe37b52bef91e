/* make_plan IN OUT [WORD...]: makes all parts of a big-endian IN, by a plan whose command is these words: also one that gufo
 * would never write. */
#include "gufo.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    gufo_plan_options options = {.command_count = 0};
    const gufo_endian_options big = {.order = GUFO_BIG_ENDIAN};
    const gufo_part all = {.worker = 0, .workers = 1};
    gufo_model *model = NULL;
    gufo_job *job = NULL;
    gufo_status status = GUFO_E_ARGUMENT;
    gufo_error error = {.code = GUFO_OK};

    if (argc < 3)
        return 2;
    options.command = (const char *const *)argv + 3;
    options.command_count = (size_t)argc - 3;
    model = gufo_model_open(argv[1], NULL, &error);
    job = model != NULL ? gufo_job_endian(model, &big, &error) : NULL;
    if (job != NULL) {
        const gufo_job_options files = {.path = argv[2]};

        status = gufo_plan_run(job, &files, &all, &options, NULL, NULL, &error);
    }
    if (status != GUFO_OK)
        fprintf(stderr, "make_plan: %s\n", error.message);
    gufo_job_free(job);
    gufo_model_free(model);
    return status == GUFO_OK ? 0 : 1;
}
