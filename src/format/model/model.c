/* The model itself: its files, its facts, and closing it. */
#include "format/model/model.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/sort.h"

/* ---- beginning and end ---------------------------------------------------------------------- */

gufo_model *model_new(const gufo_allocator *allocator, const char *name, gufo_error *error)
{
    gufo_model *model = mem_zero(allocator, sizeof *model);

    if (model != NULL) {
        model->allocator = *allocator;
        model->shards.size = sizeof(gufo_model *);
        if (name != NULL)
            model->name = mem_text(allocator, gufo_str_of(name));
        if (name == NULL || model->name != NULL)
            return model;
    }
    mem_free(allocator, model);
    (void)fail_memory(error);
    return NULL;
}

void gufo_model_free(gufo_model *model)
{
    gufo_allocator allocator;

    if (model == NULL)
        return;
    allocator = model->allocator;
    if (model_is_set(model))
        model->file = NULL; /* the first shard's */
    for (size_t i = 0; i < model->shards.count; i++)
        gufo_model_free(model_part(model, i));
    file_close(model->file);
    made_close(model->made, &allocator);
    name_index_free(&model->names, &allocator);
    records_free(&model->shards, &allocator);
    mem_free(&allocator, model->name);
    mem_free(&allocator, model);
}

/* ---- one file ------------------------------------------------------------------------------- */

void model_close_input(const gufo_input *input)
{
    if (input->kind == GUFO_INPUT_SOURCE && input->source != NULL && input->source->close != NULL)
        input->source->close(input->source->context);
}

const char *model_input_name(const gufo_input *input, const gufo_open_options *options)
{
    if (input->kind == GUFO_INPUT_PATH)
        return input->path;
    return input->name != NULL ? input->name : options->name;
}

gufo_model *model_open_file(const gufo_input *input, opening_state *o, uint32_t number,
                            gufo_error *error)
{
    const char *name = model_input_name(input, o->options);
    gufo_model *model = model_new(mem_allocator(o->options->allocator), name, error);

    if (model == NULL) {
        model_close_input(input);
        fail_in(error, GUFO_FILE_INPUT, number, name);
        return NULL;
    }
    model->number = number;
    model->file = file_open(input, o, number, error);
    if (model->file != NULL) {
        if (model->file->damaged)
            fail_in(&model->file->damage, GUFO_FILE_INPUT, number, name);
        return model;
    }
    fail_in(error, GUFO_FILE_INPUT, number, name);
    gufo_model_free(model);
    return NULL;
}

/* ---- shards --------------------------------------------------------------------------------- */

size_t gufo_model_shard_count(const gufo_model *model)
{
    return model_is_set(model) ? (size_t)model->shards.count : 1;
}

const gufo_model *gufo_model_shard(const gufo_model *model, size_t index)
{
    if (index >= gufo_model_shard_count(model))
        return NULL;
    return model_is_set(model) ? model_part(model, index) : model;
}

bool gufo_model_mapping(const gufo_model *model, size_t shard, gufo_mapping *out)
{
    const gufo_model *part = gufo_model_shard(model, shard);
    const source *s;

    if (part == NULL)
        return false;
    *out = (gufo_mapping){.path = part->name, .fd = -1};
    if (part->file == NULL)
        return true;
    s = &part->file->source;
    out->fd = s->sequential ? -1 : s->fd;
    out->size = s->size;
    out->is_mapped = s->mapping != NULL;
    /* What was read into memory is a part of the file alone. */
    out->data = s->mapping != NULL || s->fetch == NULL ? s->base : NULL;
    return true;
}

const char *gufo_model_name(const gufo_model *model)
{
    return model != NULL ? model->name : NULL;
}

static bool begins_by(const void *model, size_t part, const void *index)
{
    return model_part(model, part)->first <= *(const uint64_t *)index;
}

size_t model_owner(const gufo_model *model, uint64_t index)
{
    return first_row_from(model, (size_t)model->shards.count, begins_by, &index) - 1;
}

const gufo_model *model_holding(const gufo_model *model, const gufo_tensor *tensor)
{
    return model_is_set(model) ? gufo_model_shard(model, tensor->shard) : model;
}

/* ---- failures ------------------------------------------------------------------------------- */

gufo_status model_fail(const gufo_model *model, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, model->number, model->name);
    return status;
}

gufo_status model_need_files(const gufo_model *model, const char *what, gufo_error *error)
{
    if (model->made == NULL)
        return GUFO_OK;
    return model_fail(
        model, refuse(error, GUFO_E_ARGUMENT, "the model is not a GGUF file: it has no %s", what),
        error);
}

/* ---- facts ---------------------------------------------------------------------------------- */

static gufo_facts facts_of(const gguf_file *file)
{
    return (gufo_facts){
        .version = file->encoding.version,
        .byte_order = (gufo_byte_order)file->encoding.byte_order,
        .alignment = file->alignment,
        .size = file->source.size,
        .infos_end = file->infos_end,
        .data_offset = file->data_offset,
        .data_size = file->data_end > file->data_offset ? file->data_end - file->data_offset : 0,
        .claimed_metadata = file->claimed_metadata,
        .claimed_tensors = file->claimed_tensors};
}

/* What sizes add up to is for people; sparse files make it more than any disk has. */
static void add(uint64_t *sum, uint64_t more)
{
    if (!checked_add(*sum, more, sum))
        *sum = UINT64_MAX;
}

gufo_facts gufo_model_facts(const gufo_model *model)
{
    gufo_facts facts;

    if (model->made != NULL)
        return made_facts(model->made);
    facts = facts_of(model->file);
    for (size_t i = 1; i < model->shards.count; i++) {
        gufo_facts more = facts_of(model_part(model, i)->file);

        add(&facts.size, more.size);
        add(&facts.data_size, more.data_size);
        add(&facts.claimed_tensors, more.claimed_tensors);
    }
    return facts;
}

const gufo_error *gufo_model_damage(const gufo_model *model)
{
    for (size_t i = 0; i < gufo_model_shard_count(model); i++) {
        const gguf_file *file = gufo_model_shard(model, i)->file;

        if (file != NULL && file->damaged)
            return &file->damage;
    }
    return NULL;
}

bool gufo_model_has_data(const gufo_model *model)
{
    for (size_t i = 0; i < gufo_model_shard_count(model); i++) {
        const gguf_file *file = gufo_model_shard(model, i)->file;

        if (file != NULL && file->source.sequential)
            return false;
    }
    return true;
}

gufo_status gufo_model_unchanged(const gufo_model *model, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < gufo_model_shard_count(model) && status == GUFO_OK; i++) {
        const gufo_model *shard = gufo_model_shard(model, i);

        if (shard->file != NULL)
            status = model_fail(shard, source_unchanged(&shard->file->source, error), error);
    }
    return status;
}

gufo_status gufo_model_read_raw(const gufo_model *model, uint64_t offset, void *buffer, size_t size,
                                gufo_error *error)
{
    gufo_status status = model_need_files(model, "bytes to read", error);

    if (status == GUFO_OK && model_is_set(model))
        status = refuse(error, GUFO_E_ARGUMENT,
                        "a model of several shards has no bytes of its own; read one shard");
    if (status == GUFO_OK)
        status = file_read(model->file, offset, buffer, size, error);
    return model_fail(model, status, error);
}
