/* Members about models and tensors. */
#include "cli/core/records/model_json.h"

#include "cli/core/records/tensor_text.h"

#include "gufo/quant.h"

void model_json_shards(json_writer *j, const char *key, const gufo_model *model)
{
    size_t count = gufo_model_shard_count(model);

    if (count < 2)
        return;
    json_begin_array(j, key);
    for (size_t i = 0; i < count; i++)
        json_write_text(j, NULL, gufo_model_name(gufo_model_shard(model, i)));
    json_end_array(j);
}

void model_json_dims(json_writer *j, const gufo_tensor *tensor)
{
    json_begin_array(j, "dims");
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        json_write_u64(j, NULL, tensor->dims[i]);
    json_end_array(j);
}

void model_json_type(json_writer *j, const gufo_tensor *tensor)
{
    json_write_text(j, "type", tensor_type_text(tensor->type).text);
    model_json_dims(j, tensor);
}

void model_json_place(json_writer *j, const char *key, const gufo_tensor *tensor, uint64_t index)
{
    gufo_stats_place place = gufo_stats_place_of(tensor, index);

    json_begin_object(j, key);
    json_write_u64(j, "matrix", place.matrix);
    json_write_u64(j, "row", place.row);
    json_write_u64(j, "column", place.column);
    json_end_object(j);
}
