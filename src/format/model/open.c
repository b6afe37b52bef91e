/* Opening a model: finding its files, and checking that all are present. */
#include <inttypes.h>

#include "base/error.h"
#include "format/model/model.h"

static const gufo_open_options default_options = {0};

/* A model that is complete, or nothing. */
static gufo_model *checked(gufo_model *model, gufo_status status)
{
    if (status == GUFO_OK)
        return model;
    gufo_close(model);
    return NULL;
}

static gufo_model *open_alone(const gufo_input *input, const gufo_open_options *options,
                              gufo_error *error)
{
    gufo_model *model = model_open_file(input, options, 0, error);

    if (model == NULL || (options->flags & GUFO_OPEN_INCOMPLETE) != 0)
        return model;
    return checked(model, shards_check_alone(model, error));
}

static gufo_status check_source(const gufo_source *user, gufo_error *error)
{
    if (user == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_input.source is missing");
    if (user->read == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_source.read is missing");
    return reserved_check(user->reserved, "gufo_source", error);
}

static gufo_status check_input(const gufo_input *input, gufo_error *error)
{
    if (input->kind > GUFO_INPUT_SOURCE)
        return refuse(error, GUFO_E_ARGUMENT, "an input is of kind %d, which does not exist",
                      (int)input->kind);
    gufo_status status = reserved_check(input->reserved, "gufo_input", error);

    if (status != GUFO_OK)
        return status;
    if (input->kind == GUFO_INPUT_PATH && input->path == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_input.path is missing");
    if (input->kind == GUFO_INPUT_MEMORY && input->data == NULL && input->size > 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_input.data is missing");
    if (input->kind == GUFO_INPUT_SOURCE)
        return check_source(input->source, error);
    return GUFO_OK;
}

gufo_status model_check_options(const gufo_open_options *options, gufo_error *error)
{
    const uint32_t known = GUFO_OPEN_LENIENT | GUFO_OPEN_NO_MAP | GUFO_OPEN_METADATA_ONLY |
                           GUFO_OPEN_AS_GGML | GUFO_OPEN_NO_READ_AHEAD | GUFO_OPEN_INCOMPLETE;

    if (flags_check(options->flags, known, "gufo_open_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if (options->max_depth > GUFO_LARGEST_DEPTH)
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_open_options.max_depth is %" PRIu64 "; arrays may be nested %d deep",
                      options->max_depth, GUFO_LARGEST_DEPTH);
    return reserved_check(options->reserved, "gufo_open_options", error);
}

/* An input that cannot be opened at all is closed all the same. */
static bool accept(const gufo_input *inputs, size_t count, const gufo_open_options *options,
                   gufo_error *error)
{
    gufo_status status = model_check_options(options, error);

    for (size_t i = 0; i < count && status == GUFO_OK; i++) {
        status = check_input(&inputs[i], error);
        if (status != GUFO_OK)
            fail_in(error, GUFO_FILE_INPUT, (uint32_t)i, model_input_name(&inputs[i], options));
    }
    for (size_t i = 0; i < count && status != GUFO_OK; i++)
        model_close_input(&inputs[i]);
    return status == GUFO_OK;
}

static gufo_model *open_input(gufo_input input, const gufo_open_options *options, gufo_error *error)
{
    options = options != NULL ? options : &default_options;
    return accept(&input, 1, options, error) ? open_alone(&input, options, error) : NULL;
}

/* ---- what callers open ---------------------------------------------------------------------- */

gufo_model *gufo_open(const char *path, const gufo_open_options *options, gufo_error *error)
{
    const gufo_input input = gufo_input_path(path);
    uint32_t number, count;
    size_t prefix_len;
    gufo_model *model;

    options = options != NULL ? options : &default_options;
    if ((options->flags & GUFO_OPEN_INCOMPLETE) != 0 || path == NULL ||
        !gufo_shard_path_parse(path, &prefix_len, &number, &count) || number != 1 || count == 1)
        return open_input(input, options, error);
    if (!accept(&input, 1, options, error))
        return NULL;
    model = model_new(mem_allocator(options->allocator), path, error);
    if (model == NULL) {
        fail_in(error, GUFO_FILE_INPUT, 0, path);
        return NULL;
    }
    return checked(model, shards_open_beside(model, path, prefix_len, count, options, error));
}

gufo_model *gufo_open_fd(int fd, const gufo_open_options *options, gufo_error *error)
{
    return open_input(gufo_input_fd(fd), options, error);
}

gufo_model *gufo_open_memory(const void *data, size_t size, const gufo_open_options *options,
                             gufo_error *error)
{
    return open_input(gufo_input_memory(data, size), options, error);
}

gufo_model *gufo_open_source(const gufo_source *user, const gufo_open_options *options,
                             gufo_error *error)
{
    return open_input(gufo_input_source(user), options, error);
}

gufo_model *gufo_open_shards(const gufo_input *inputs, size_t count,
                             const gufo_open_options *options, gufo_error *error)
{
    gufo_model *model;

    options = options != NULL ? options : &default_options;
    if (!accept(inputs, count, options, error))
        return NULL;
    if (count == 1)
        return open_alone(inputs, options, error);
    model =
        count >= 1 && count <= GUFO_MAX_SHARDS
            ? model_new(mem_allocator(options->allocator), model_input_name(inputs, options), error)
            : NULL;
    if (model != NULL)
        return checked(model, shards_open_list(model, inputs, count, options, error));
    if (count < 1 || count > GUFO_MAX_SHARDS)
        (void)refuse(error, GUFO_E_ARGUMENT, "a model has 1 to %s files; %s were given",
                     GROUPED(GUFO_MAX_SHARDS), GROUPED(count));
    for (size_t i = 0; i < count; i++)
        model_close_input(&inputs[i]);
    return NULL;
}
