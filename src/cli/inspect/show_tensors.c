/* Tensors of gufo show, for people and in JSON. */
#include "cli/inspect/show.h"

#include "cli/core/glob.h"
#include "cli/core/human.h"

#include <inttypes.h>

enum { SHARDS = 1 }; /* a part: the model has several */

typedef struct tensor_row {
    gufo_tensor tensor;
    uint32_t shard; /* from 1 */
    char mark[16];  /* "#2" */
    char size[64];  /* with the bytes that are missing */
} tensor_row;

/* A damaged file, or a model that is not written yet, has no offset. */
static const record_field fields[] = {
    {"name", "", RECORD_STR, RECORD_AT(tensor_row, tensor.name), .width = -1},
    {"type", "", RECORD_TYPE, RECORD_AT(tensor_row, tensor.type), .width = -1},
    {"dims", "", RECORD_SHAPE, RECORD_AT(tensor_row, tensor), .width = -1, .drop = 1},
    {"elements", NULL, RECORD_COUNT, RECORD_AT(tensor_row, tensor.elements)},
    {NULL, "", RECORD_CHARS, RECORD_AT(tensor_row, mark), .part = SHARDS, .width = -2, .drop = 2},
    {"offset", "", RECORD_OFFSET, RECORD_AT(tensor_row, tensor.offset), .instead = "?", .width = 1,
     .drop = 3},
    {"size", NULL, RECORD_BYTES, RECORD_AT(tensor_row, tensor.size)},
    {NULL, "", RECORD_CHARS, RECORD_AT(tensor_row, size), .width = 1},
    {"shard", NULL, RECORD_PLAIN, RECORD_AT(tensor_row, shard), .part = SHARDS},
};

show_tensors show_tensors_of(const gufo_model *model, const char *glob)
{
    const record_type type =
        RECORD_OF(tensor_row, fields, gufo_model_shard_count(model) > 1 ? SHARDS : 0);

    return (show_tensors){model, glob, 0, snprintf(NULL, 0, "%zu", gufo_model_shard_count(model)),
                          type};
}

bool show_make_tensor(const void *context, uint64_t index, void *record)
{
    show_tensors *rows = *(show_tensors *const *)context;
    tensor_row *row = record;
    gufo_tensor *tensor = &row->tensor;

    rows->next = index > 0 ? rows->next : 0;
    if (!glob_next_tensor(rows->glob, rows->model, &rows->next, tensor))
        return false;
    row->shard = tensor->shard + 1;
    snprintf(row->mark, sizeof row->mark, "#%-*" PRIu32, rows->digits, row->shard);
    if (tensor->available < tensor->size)
        snprintf(row->size, sizeof row->size, "%.24s, %.24s missing",
                 human_file_size(tensor->size).text,
                 human_file_size(tensor->size - tensor->available).text);
    else
        snprintf(row->size, sizeof row->size, "%.24s", human_file_size(tensor->size).text);
    return true;
}
