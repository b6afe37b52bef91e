/* gufo show --json: one object per file. */
#include "cli/inspect/show.h"

#include "cli/core/glob.h"
#include "cli/core/model_json.h"
#include "cli/core/stdout.h"
#include "cli/core/tensor_text.h"
#include "cli/core/value.h"

#include <stdio.h>

static void write_facts(json_writer *j, const input *in)
{
    const gufo_model *file = in->model;
    show_totals totals = show_sum(in);

    json_write_u64(j, "file_size", totals.file_size);
    json_write_u64(j, "version", gufo_model_facts(file).version);
    json_write_text(j, "byte_order",
                    gufo_model_facts(file).byte_order == GUFO_BIG_ENDIAN ? "big" : "little");
    json_write_u64(j, "alignment", gufo_model_facts(file).alignment);
    json_write_u64(j, "data_offset", gufo_model_facts(file).data_offset);
    json_write_u64(j, "data_size", totals.data_size);
    json_write_u64(j, "parameters", totals.parameters);
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
    json_begin_object(j, "damaged");
    json_write_offset(j, damage->offset);
    json_write_text(j, "message", damage->message);
    if (gufo_model_shard_count(in->model) > 1)
        json_write_u64(j, "shard", shard);
    json_end_object(j);
}

static bool write_metadata(json_writer *j, const input *in, const show_options *options)
{
    uint64_t limit = options->limit_given ? options->array_limit : VALUE_ALL;
    gufo_entry entry;
    bool sound = true;

    json_begin_array(j, "metadata");
    for (uint64_t i = 0; !stdout_broken() && gufo_metadata_at(in->model, i, &entry); i++)
        if (glob_matches(options->metadata_glob, entry.key))
            sound = value_write_entry(j, NULL, &entry, limit) && sound;
    json_end_array(j);
    return sound;
}

static void write_tensors(json_writer *j, const input *in, const show_options *options)
{
    gufo_tensor tensor;

    json_begin_array(j, "tensors");
    for (uint64_t i = 0; !stdout_broken() && gufo_tensor_at(in->model, i, &tensor); i++) {
        if (!glob_matches(options->tensor_glob, tensor.name))
            continue;
        json_begin_object(j, NULL);
        json_write_str(j, "name", tensor.name);
        json_write_text(j, "type", tensor_type_text(tensor.type).text);
        model_json_dims(j, &tensor);
        json_write_u64(j, "elements", tensor.elements);
        json_write_offset(j, tensor.offset);
        json_write_u64(j, "size", tensor.size);
        if (gufo_model_shard_count(in->model) > 1)
            json_write_u64(j, "shard", tensor.shard + 1);
        json_end_object(j);
    }
    json_end_array(j);
}

bool show_write_json(const input *in, const show_options *options)
{
    json_writer j = json_begin_document(in->path);
    bool both = options->only_metadata == options->only_tensors, sound = true;

    write_facts(&j, in);
    model_json_shards(&j, "shards", in->model);
    write_damage(&j, in);
    if (both || options->only_metadata)
        sound = write_metadata(&j, in, options);
    if (both || options->only_tensors)
        write_tensors(&j, in, options);
    json_end_document(&j);
    return sound;
}
