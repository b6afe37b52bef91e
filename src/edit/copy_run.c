/* A run, from the plan to files with their names.
 *
 *     find targets --> reserve --> write one by one --> input unchanged? --> names
 *          |              |               |                    |               |
 *          +--------------+---------------+--------------------+---------------+--> nothing is left */
#include "base/error.h"
#include "edit/copy.h"

static gufo_status check_unused(gufo_copy *c, gufo_error *error)
{
    if (c->used)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "the copy was written before");
    c->used = true;
    return GUFO_OK;
}

/* What is not the input's fault is an output's. */
static gufo_status name_output(const gufo_copy *c, gufo_status status, gufo_error *error)
{
    uint32_t index = 0;

    if (status == GUFO_OK || c->failed_path == NULL)
        return status;
    while (index < c->output_count && c->paths[index] != c->failed_path)
        index++;
    if (index < c->output_count)
        fail_in(error, GUFO_FILE_OUTPUT, index, c->failed_path);
    return status;
}

/* Whether what was read is what was there when the input was opened. */
static gufo_status check_input(gufo_copy *c, gufo_error *error)
{
    for (size_t i = 0; i < gufo_model_shard_count(c->input); i++) {
        gufo_status status = gufo_model_unchanged(gufo_model_shard(c->input, i), error);

        if (status == GUFO_OK)
            continue;
        c->failed_path = gufo_model_name(gufo_model_shard(c->input, i));
        return status;
    }
    return GUFO_OK;
}

static gufo_status write_outputs(gufo_copy *c, const gufo_copy_run_options *options,
                                 gufo_error *error)
{
    copy_producer producer;
    gufo_status status = producer_start(&producer, c, options, error);

    for (size_t i = 0; i < c->output_count && status == GUFO_OK; i++) {
        status = target_open(c, i, error);
        if (status == GUFO_OK)
            status = produce_file(&producer, i, c->files[i].fd, error);
        if (status == GUFO_OK)
            status = target_close(c, i, error);
    }
    producer_end(&producer);
    return status;
}

gufo_status gufo_copy_run(gufo_copy *c, const char *path, const gufo_copy_run_options *options,
                          gufo_error *error)
{
    static const gufo_copy_run_options standard = {0};
    gufo_error ignored;
    gufo_status status;

    error = error != NULL ? error : &ignored;
    options = options != NULL ? options : &standard;
    status = check_unused(c, error);
    if (status == GUFO_OK)
        status = copy_targets_find(c, path, options->replace, error);
    if (status == GUFO_OK)
        status = copy_targets_reserve(c, error);
    if (status == GUFO_OK)
        status = write_outputs(c, options, error);
    if (status == GUFO_OK)
        status = check_input(c, error);
    if (status == GUFO_OK)
        status = copy_targets_commit(c, error);
    (void)name_output(c, status, error);
    copy_targets_discard(c);
    return status;
}

gufo_status gufo_copy_stream(gufo_copy *c, int fd, const gufo_copy_run_options *options,
                             gufo_error *error)
{
    static const gufo_copy_run_options standard = {0};
    copy_producer producer;
    gufo_error ignored;
    gufo_status status;

    error = error != NULL ? error : &ignored;
    if (c->output_count != 1)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "%zu files cannot be written to one stream", c->output_count);
    status = check_unused(c, error);
    if (status == GUFO_OK)
        status = producer_start(&producer, c, options != NULL ? options : &standard, error);
    if (status != GUFO_OK)
        return status;
    status = produce_stream(&producer, fd, error);
    producer_end(&producer);
    return status == GUFO_OK ? check_input(c, error) : status;
}
