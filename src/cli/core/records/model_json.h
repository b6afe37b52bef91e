/* Members of JSON objects about a model and its tensors, for several commands. */
#ifndef CLI_CORE_RECORDS_MODEL_JSON_H
#define CLI_CORE_RECORDS_MODEL_JSON_H

#include "cli/core/records/record.h"

#include "gufo/format.h"

/* The paths of the shards as an array, if there are several. */
void model_json_shards(json_writer *j, const char *key, const gufo_model *model);
/* {"matrix":0,"row":17,"column":4}: gufo_stats_place, where an element of a tensor is. */
extern const record_type model_json_place;

#endif
