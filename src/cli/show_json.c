/* gufo show --json: one object per file. */
#include "cli/show.h"

#include "cli/stdout.h"
#include "cli/value.h"

#include <inttypes.h>
#include <stdio.h>

static void write_facts(json_writer *j, const input *in)
{
    const gufo_model *file = in->model;
    show_totals totals = show_sum(in);

    json_write_key(j, "path");
    json_write_text(j, in->path);
    json_write_key(j, "file_size");
    json_write_u64(j, totals.file_size);
    json_write_key(j, "version");
    json_write_u64(j, gufo_model_facts(file).version);
    json_write_key(j, "byte_order");
    json_write_text(j, gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN ? "big" : "little");
    json_write_key(j, "alignment");
    json_write_u64(j, gufo_model_facts(file).alignment);
    json_write_key(j, "data_offset");
    json_write_u64(j, gufo_model_facts(file).data_offset);
    json_write_key(j, "data_size");
    json_write_u64(j, totals.data_size);
    json_write_key(j, "parameters");
    json_write_u64(j, totals.parameters);
}

static void write_shards(json_writer *j, const input *in)
{
    if (gufo_model_shard_count(in->model) < 2)
        return;
    json_write_key(j, "shards");
    json_begin_array(j);
    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++)
        json_write_text(j, gufo_model_name(gufo_model_shard(in->model, i)));
    json_end_array(j);
}

/* The first fault of the first damaged file. */
static void write_damage(json_writer *j, const input *in)
{
    const gufo_error *damage = NULL;
    size_t shard = 0;

    for (; shard < gufo_model_shard_count(in->model) && damage == NULL; shard++)
        damage = gufo_model_damage(gufo_model_shard(in->model, shard));
    if (damage == NULL)
        return;
    json_write_key(j, "damaged");
    json_begin_object(j);
    json_write_offset(j, damage->offset);
    json_write_key(j, "message");
    json_write_text(j, damage->message);
    if (gufo_model_shard_count(in->model) > 1) {
        json_write_key(j, "shard");
        json_write_u64(j, shard);
    }
    json_end_object(j);
}

static bool write_metadata(json_writer *j, const input *in, const show_options *options)
{
    uint64_t limit = options->limit_given ? options->array_limit : VALUE_ALL;
    gufo_entry entry;
    bool sound = true;

    json_write_key(j, "metadata");
    json_begin_array(j);
    for (uint64_t i = 0; !stdout_broken() && gufo_metadata_at(in->model, i, &entry); i++)
        if (show_matches(options->metadata_glob, entry.key))
            sound = value_write_entry(j, &entry, limit) && sound;
    json_end_array(j);
    return sound;
}

static void write_type(json_writer *j, uint32_t id)
{
    const gufo_element_type *type = gufo_element_type_by_id(id);
    char unknown[32];

    snprintf(unknown, sizeof unknown, "type %" PRIu32, id);
    json_write_text(j, type != NULL ? type->name : unknown);
}

static void write_tensor(json_writer *j, const gufo_tensor *tensor)
{
    json_write_key(j, "name");
    json_write_str(j, tensor->name);
    json_write_key(j, "type");
    write_type(j, tensor->type);
    json_write_key(j, "dims");
    json_begin_array(j);
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        json_write_u64(j, tensor->dims[i]);
    json_end_array(j);
    json_write_key(j, "elements");
    json_write_u64(j, tensor->elements);
    json_write_offset(j, tensor->offset);
    json_write_key(j, "size");
    json_write_u64(j, tensor->size);
}

static void write_tensors(json_writer *j, const input *in, const show_options *options)
{
    gufo_tensor tensor;

    json_write_key(j, "tensors");
    json_begin_array(j);
    for (uint64_t i = 0; !stdout_broken() && gufo_tensor_at(in->model, i, &tensor); i++) {
        if (!show_matches(options->tensor_glob, tensor.name))
            continue;
        json_begin_object(j);
        write_tensor(j, &tensor);
        if (gufo_model_shard_count(in->model) > 1) {
            json_write_key(j, "shard");
            json_write_u64(j, tensor.shard + 1);
        }
        json_end_object(j);
    }
    json_end_array(j);
}

bool show_write_json(const input *in, const show_options *options)
{
    json_writer j = json_writer_start(stdout);
    bool sound = true;

    json_begin_object(&j);
    write_facts(&j, in);
    write_shards(&j, in);
    write_damage(&j, in);
    if (show_has_metadata(options))
        sound = write_metadata(&j, in, options);
    if (show_has_tensors(options))
        write_tensors(&j, in, options);
    json_end_object(&j);
    json_writer_line(&j);
    return sound;
}
