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

/* Whether what was read is what was there when the input was opened. */
static gufo_status check_input(gufo_copy *c, gufo_error *error)
{
    for (size_t i = 0; i < gufo_set_shard_count(c->input); i++) {
        gufo_status status = gufo_file_unchanged(gufo_set_shard(c->input, i), error);

        if (status == GUFO_OK)
            continue;
        c->failed_path = gufo_set_shard_path(c->input, i);
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
        status = targets_find(c, path, options->replace, error);
    if (status == GUFO_OK)
        status = targets_reserve(c, error);
    if (status == GUFO_OK)
        status = write_outputs(c, options, error);
    if (status == GUFO_OK)
        status = check_input(c, error);
    if (status == GUFO_OK)
        status = targets_commit(c, error);
    targets_discard(c);
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
