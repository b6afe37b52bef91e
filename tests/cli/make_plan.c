/* make_plan IN OUT [WORD...]: makes all parts of a big-endian IN, by a plan whose command is these words: also one that gufo
 * would never write.
 * make_plan --quantize TYPE IN OUT: only the plan of IN as TYPE, for sizes for which no disk has room. */
#include "gufo.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static gufo_status make_all(const gufo_model *model, char **words, int count, gufo_error *error)
{
    const gufo_plan_options options = {.command = (const char *const *)words + 1,
                                       .command_count = (size_t)count - 1};
    const gufo_endian_options big = {.order = GUFO_BIG_ENDIAN};
    const gufo_part all = {.worker = 0, .workers = 1};
    const gufo_job_options files = {.path = words[0]};
    gufo_job *job = gufo_job_endian(model, &big, error);
    gufo_status status =
        job != NULL ? gufo_plan_run(job, &files, &all, &options, NULL, NULL, error) : error->code;

    gufo_job_free(job);
    return status;
}

/* As OUT.parts/plan. */
static gufo_status write_plan(const gufo_plan *plan, const char *out, gufo_error *error)
{
    gufo_text text = {0};
    gufo_status status = gufo_plan_write(plan, &text, error);
    char path[4096];
    FILE *file;

    if (status == GUFO_OK) {
        (void)snprintf(path, sizeof path, "%s.parts", out);
        (void)mkdir(path, 0755);
        (void)snprintf(path, sizeof path, "%s.parts/plan", out);
        file = fopen(path, "w");
        if (file == NULL || fwrite(text.data, 1, text.len, file) != text.len || fclose(file) != 0)
            status = GUFO_E_IO;
    }
    gufo_text_free(&text);
    return status;
}

static gufo_status plan_only(const gufo_model *model, const char *type, const char *out,
                             gufo_error *error)
{
    const gufo_job_options files = {.path = out};
    gufo_quantize_options options = {0};
    gufo_quantizer *q = NULL;
    gufo_plan *plan = NULL;
    gufo_status status;

    if (gufo_quantize_target_by_name(type, false, &options.recipe.target))
        q = gufo_quantizer_new(model, &options, error);
    if (q != NULL)
        plan = gufo_plan_of_job(gufo_quantizer_job(q), &files, 1, NULL, error);
    status = plan != NULL ? write_plan(plan, out, error) : GUFO_E_ARGUMENT;
    gufo_plan_free(plan);
    gufo_quantizer_free(q);
    return status;
}

int main(int argc, char **argv)
{
    const bool quantizes = argc > 1 && strcmp(argv[1], "--quantize") == 0;
    gufo_error error = {.code = GUFO_OK};
    gufo_model *model;
    gufo_status status = GUFO_E_IO;

    if (argc < (quantizes ? 5 : 3))
        return 2;
    model = gufo_model_open(argv[quantizes ? 3 : 1], NULL, &error);
    if (model != NULL)
        status = quantizes ? plan_only(model, argv[2], argv[4], &error)
                           : make_all(model, argv + 2, argc - 2, &error);
    if (status != GUFO_OK)
        fprintf(stderr, "make_plan: %s\n", error.message);
    gufo_model_free(model);
    return status == GUFO_OK ? 0 : 1;
}
