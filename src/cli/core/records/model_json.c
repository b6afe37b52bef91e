/* Members about models and tensors. */
#include "cli/core/records/model_json.h"

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

static const record_field place_fields[] = {
    {"matrix", NULL, RECORD_PLAIN, RECORD_AT(gufo_stats_place, matrix)},
    {"row", NULL, RECORD_PLAIN, RECORD_AT(gufo_stats_place, row)},
    {"column", NULL, RECORD_PLAIN, RECORD_AT(gufo_stats_place, column)},
};
const record_type model_json_place = RECORD_OF(gufo_stats_place, place_fields, 0);
