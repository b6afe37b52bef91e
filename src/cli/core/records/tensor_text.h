/* What a tensor is, in words and in JSON. */
#ifndef CLI_CORE_RECORDS_TENSOR_TEXT_H
#define CLI_CORE_RECORDS_TENSOR_TEXT_H

#include "cli/core/values/json.h"
#include "gufo/format.h"

typedef struct tensor_text {
    char text[96];
} tensor_text;

/* "Q4_K", or "type 57" for an unknown one. */
tensor_text tensor_type_text(uint32_t id);
/* "4096 x 32000" with the separator " x "; "scalar" without dimensions. */
tensor_text tensor_shape_text(const gufo_tensor *tensor, const char *separator);
/* Bits for each weight; 0 without weights. */
double tensor_bits(uint64_t bytes, uint64_t weights);

/* ---- what its name says ---------------------------------------------------------------------- */

#define TENSOR_NO_LAYER UINT64_MAX

/* "ffn_down" and 3 of "blk.3.ffn_down.weight"; "output" and TENSOR_NO_LAYER of "output.weight".  A part of
 * the name.  `layer` may be NULL. */
gufo_str tensor_role(gufo_str name, uint64_t *layer);

/* ---- members of JSON, for several commands --------------------------------------------------- */

/* The paths of the shards as an array, if there are several. */
void model_json_shards(json_writer *j, const char *key, const gufo_model *model);
/* "dims":[...] */
void model_json_dims(json_writer *j, const gufo_tensor *tensor);
/* "type":"Q4_K","dims":[...] */
void model_json_type(json_writer *j, const gufo_tensor *tensor);
/* {"matrix":0,"row":17,"column":4}: where element `index` of a tensor is. */
void model_json_place(json_writer *j, const char *key, const gufo_tensor *tensor, uint64_t index);

#endif
