/* Opening a model: finding its files, and checking that all are present. */
#include "base/error.h"

#include <inttypes.h>

#include "codec/run.h"
#include "format/file/file.h"
#include "format/model/model.h"
#include "format/rules/rules.h"
#include "format/value/value.h"

static const gufo_open_options default_options = {0};

/* A model that is complete, or nothing. */
static gufo_model *checked(gufo_model *model, gufo_status status)
{
    if (status == GUFO_OK)
        return model;
    gufo_model_free(model);
    return NULL;
}

static gufo_model *open_alone(const gufo_input *input, const gufo_open_options *options,
                              gufo_error *error)
{
    opening_state o;
    gufo_model *model;

    opening_init(&o, options);
    model = model_open_file(input, &o, 0, error);
    opening_end(&o);
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
    return reserved_check((const uint64_t[4]){user->reserved[0]}, "gufo_source", error);
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

/* GUFO_E_ARGUMENT for what this version does not know. */
static gufo_status model_check_options(const gufo_open_options *options, gufo_error *error)
{
    const uint32_t known = GUFO_OPEN_LENIENT | GUFO_OPEN_NO_MAP | GUFO_OPEN_METADATA_ONLY |
                           GUFO_OPEN_AS_GGML | GUFO_OPEN_NO_READ_AHEAD | GUFO_OPEN_INCOMPLETE;

    if (flags_check(options->flags, known, "gufo_open_options", error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
    if (options->max_depth > GUFO_LARGEST_DEPTH)
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_open_options.max_depth is %" PRIu64 "; arrays may be nested %d deep",
                      options->max_depth, GUFO_LARGEST_DEPTH);
    if (options->run != NULL && run_check(options->run, error) != GUFO_OK)
        return GUFO_E_ARGUMENT;
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

gufo_model *gufo_model_open(const char *path, const gufo_open_options *options, gufo_error *error)
{
    const gufo_input input = gufo_input_path(path);
    uint32_t number, count;
    size_t prefix_len;
    gufo_status status;
    gufo_model *model;
    opening_state o;

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
    opening_init(&o, options);
    status = shards_open_beside(model, path, prefix_len, count, &o, error);
    opening_end(&o);
    return checked(model, status);
}

gufo_model *gufo_model_open_fd(int fd, const gufo_open_options *options, gufo_error *error)
{
    return open_input(gufo_input_fd(fd), options, error);
}

gufo_model *gufo_model_open_memory(const void *data, size_t size, const gufo_open_options *options,
                                   gufo_error *error)
{
    return open_input(gufo_input_memory(data, size), options, error);
}

gufo_model *gufo_model_open_source(const gufo_source *user, const gufo_open_options *options,
                                   gufo_error *error)
{
    return open_input(gufo_input_source(user), options, error);
}

gufo_model *gufo_model_open_shards(const gufo_input *inputs, size_t count,
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
    if (model != NULL) {
        opening_state o;
        gufo_status status;

        opening_init(&o, options);
        status = shards_open_list(model, inputs, count, &o, error);
        opening_end(&o);
        return checked(model, status);
    }
    if (count < 1 || count > GUFO_MAX_SHARDS)
        (void)refuse(error, GUFO_E_ARGUMENT, "a model has 1 to %s files; %s were given",
                     GROUPED(GUFO_MAX_SHARDS), GROUPED(count));
    for (size_t i = 0; i < count; i++)
        model_close_input(&inputs[i]);
    return NULL;
}

/* Opening a model behind a provider: its keys, names and shapes are checked once, here. */

/* The index cannot ask again where asking fails: an empty name then equals no other. */
static gufo_str key_of(const void *owner, uint64_t index)
{
    gufo_entry entry;

    return made_entry_at(owner, index, &entry) ? entry.key : (gufo_str){"", 0};
}

static gufo_str name_of(const void *owner, uint64_t index)
{
    const made_model *m = owner;
    gufo_tensor tensor;

    return made_ask_tensor(m, index, &tensor) ? tensor.name : (gufo_str){"", 0};
}

static gufo_status fail_asking(const char *what, uint64_t index, gufo_error *error)
{
    return refuse(error, GUFO_E_ARGUMENT, "the provider does not describe %s %" PRIu64, what,
                  index);
}

static gufo_status check_value(const gufo_entry *entry, gufo_error *error)
{
    const gufo_value *value = &entry->value;
    gufo_error reason = {.code = GUFO_OK};

    if (value_type_row(value->type) == NULL ||
        (value->type == GUFO_VALUE_ARRAY && value_type_row(value->as.array.type) == NULL))
        return rule_failure(error, RULE_VALUE_TYPE,
                            "value of key %s has a type that does not exist", QUOTED(entry->key));
    if (value_check(value, &reason) == GUFO_OK &&
        (value->type != GUFO_VALUE_ARRAY || array_filled(&value->as.array)))
        return GUFO_OK;
    if (reason.code == GUFO_OK)
        (void)array_fail_unfilled(&value->as.array, &reason);
    return refuse(error, reason.code, "value of key %s: %.200s", QUOTED(entry->key),
                  reason.message);
}

static gufo_status check_entry(made_model *m, uint64_t index, gufo_error *error)
{
    gufo_entry entry;
    gufo_status status;
    uint64_t first;

    if (!made_ask_entry(m, index, &entry))
        return fail_asking("entry", index, error);
    status = names_check(entry.key, key_rules, error);
    if (status == GUFO_OK)
        status = check_value(&entry, error);
    if (status == GUFO_OK && !name_index_add(&m->keys, index, &first))
        status = rule_failure(error, RULE_KEY_DUPLICATE, "key %s occurs twice", QUOTED(entry.key));
    return status;
}

static gufo_status check_tensor(made_model *m, uint64_t index, gufo_error *error)
{
    const gufo_element_type *type;
    uint64_t first, elements, size;
    gufo_tensor tensor;
    gufo_status status;

    if (!made_ask_tensor(m, index, &tensor))
        return fail_asking("tensor", index, error);
    type = gufo_element_type_by_id(tensor.type);
    status = names_check(tensor.name, name_rules, error);
    if (status == GUFO_OK)
        status = tensor_check_shape(tensor.name, tensor.type, tensor.n_dims, tensor.dims, true,
                                    &elements, &size, error);
    /* Unlike a file, a made model must say how large its tensors are. */
    if (status == GUFO_OK && (type == NULL || type->block_elements == 0))
        status = refuse(error, GUFO_E_TYPE,
                        "tensor %s has element type %" PRIu32 ", whose layout is not known",
                        QUOTED(tensor.name), tensor.type);
    if (status == GUFO_OK && !name_index_add(&m->names, index, &first))
        status =
            rule_failure(error, RULE_NAME_DUPLICATE, "tensor %s occurs twice", QUOTED(tensor.name));
    return status;
}

static gufo_status find_alignment(made_model *m, gufo_error *error)
{
    gufo_entry entry;
    gufo_status status;

    m->alignment = GUFO_DEFAULT_ALIGNMENT;
    if (!made_entry_find(m, gufo_str_of(GUFO_ALIGNMENT_KEY), &entry))
        return GUFO_OK;
    /* Not by entry.key: a provider may give another one each time that it is asked. */
    status =
        content_check_value(gufo_str_of(GUFO_ALIGNMENT_KEY), &entry.value, CONTENT_AS_READ, error);
    if (status != GUFO_OK)
        return status;
    m->alignment = (uint32_t)entry.value.as.u;
    return GUFO_OK;
}

static gufo_status check_counts(const gufo_provider *provider, const gufo_open_options *options,
                                gufo_error *error)
{
    uint64_t entries = file_count_limit(options->max_metadata);
    uint64_t tensors = file_count_limit(options->max_tensors);

    if (provider->entry_count <= entries && provider->tensor_count <= tensors)
        return GUFO_OK;
    return rule_failure(
        error, RULE_COUNT_LIMIT,
        "the model has %s metadata entries and %s tensors; at most %s and %s are allowed",
        GROUPED(provider->entry_count), GROUPED(provider->tensor_count), GROUPED(entries),
        GROUPED(tensors));
}

/* The counts are claims: memory follows what the provider describes. */
static gufo_status load(made_model *m, const gufo_allocator *allocator, gufo_error *error)
{
    const gufo_provider *provider = &m->provider;
    gufo_status status = name_index_new(&m->keys, 0, key_of, m, allocator, error);

    if (status == GUFO_OK)
        status = name_index_new(&m->names, 0, name_of, m, allocator, error);
    for (uint64_t i = 0; i < provider->entry_count && status == GUFO_OK; i++) {
        status = name_index_grow(&m->keys, i, allocator, error);
        if (status == GUFO_OK)
            status = check_entry(m, i, error);
    }
    for (uint64_t i = 0; i < provider->tensor_count && status == GUFO_OK; i++) {
        status = name_index_grow(&m->names, i, allocator, error);
        if (status == GUFO_OK)
            status = check_tensor(m, i, error);
    }
    return status == GUFO_OK ? find_alignment(m, error) : status;
}

/* Takes over the provider. */
static gufo_status begin(gufo_model *model, const gufo_provider *provider, gufo_error *error)
{
    model->made = mem_zero(&model->allocator, sizeof *model->made);
    if (model->made == NULL)
        return fail_memory(error);
    model->made->provider = *provider;
    return GUFO_OK;
}

static gufo_status check_functions(const gufo_provider *provider, gufo_error *error)
{
    const char *missing = NULL;

    if (provider->entry_count > 0 && provider->entry_at == NULL)
        missing = "entry_at";
    else if (provider->tensor_count > 0 && provider->tensor_at == NULL)
        missing = "tensor_at";
    else if (provider->tensor_count > 0 && provider->read_rows == NULL)
        missing = "read_rows";
    return missing == NULL ? GUFO_OK
                           : refuse(error, GUFO_E_ARGUMENT, "gufo_provider.%s is missing", missing);
}

gufo_model *gufo_model_open_provider(const gufo_provider *provider,
                                     const gufo_open_options *options, gufo_error *error)
{
    static const gufo_open_options standard = {0};
    gufo_model *model;
    gufo_status status;

    options = options != NULL ? options : &standard;
    if (provider == NULL) {
        (void)refuse(error, GUFO_E_ARGUMENT, "the provider is missing");
        return NULL;
    }
    model = model_new(mem_allocator(options->allocator), options->name, error);
    status = model != NULL ? begin(model, provider, error) : GUFO_E_MEMORY;
    if (status != GUFO_OK && provider->close != NULL)
        provider->close(provider->context);
    if (status == GUFO_OK)
        status = model_check_options(options, error);
    if (status == GUFO_OK)
        status = reserved_check(provider->reserved, "gufo_provider", error);
    if (status == GUFO_OK)
        status = check_functions(provider, error);
    if (status == GUFO_OK)
        status = check_counts(provider, options, error);
    if (status == GUFO_OK)
        status = load(model->made, &model->allocator, error);
    if (status == GUFO_OK && (options->flags & GUFO_OPEN_INCOMPLETE) == 0)
        status = shards_check_alone(model, error);
    if (status == GUFO_OK)
        return model;
    fail_in(error, GUFO_FILE_INPUT, 0, options->name);
    gufo_model_free(model);
    return NULL;
}
