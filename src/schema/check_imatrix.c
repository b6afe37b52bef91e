/* Importance matrices: for each tensor of a model, sums of squares and how many were summed.
 *
 *     NAME.in_sum2   F32 [columns, matrices]
 *     NAME.counts    F32 [1, matrices] */
#include <inttypes.h>

#include "base/error.h"
#include "schema/findings_limit.h"
#include "schema/tensor_pairs.h"

static void check_present(checker *c)
{
    static const char *const keys[] = {"imatrix.datasets", "imatrix.chunk_count",
                                       "imatrix.chunk_size"};
    gufo_entry entry;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!gufo_metadata_find(c->model, keys[i], &entry))
            schema_report(c, SCHEMA_IMATRIX_KEYS, schema_place_missing(keys[i]),
                          "key \"%s\" is missing; some readers refuse the file", keys[i]);
}

static void check_chunk_size(checker *c)
{
    gufo_entry entry;
    uint64_t tokens;

    if (gufo_metadata_find(c->model, "imatrix.chunk_size", &entry) &&
        gufo_value_u64(&entry.value, &tokens, NULL) == GUFO_OK && tokens == 0)
        schema_report(c, SCHEMA_IMATRIX_CHUNK_SIZE, schema_place_entry(&entry),
                      "imatrix.chunk_size is 0; readers divide by it");
}

static const pair_rules pairs = {
    .suffixes = {".in_sum2", ".counts"},
    .pair = SCHEMA_IMATRIX_PAIR,
};

static void check_type(checker *c, findings_limit *limit, const gufo_tensor *tensor, size_t shard)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);
    char quoted[GUFO_QUOTE_SIZE];

    if (tensor->type != GUFO_TYPE_F32 && limit_allows(limit, SCHEMA_IMATRIX_TYPE))
        schema_report(c, SCHEMA_IMATRIX_TYPE, schema_place_tensor(tensor, shard),
                      "tensor %s has type %s, not F32", quote_name(quoted, tensor->name),
                      type != NULL ? type->name : "unknown");
}

/* One count for each matrix, however the dimensions are written. */
static void check_shape(checker *c, findings_limit *limit, const gufo_tensor *sums,
                        const gufo_tensor *counts, size_t shard)
{
    char quoted[GUFO_QUOTE_SIZE];

    if (sums->elements != 0 && counts->elements != 0 && sums->elements % counts->elements == 0)
        return;
    if (limit_allows(limit, SCHEMA_IMATRIX_SHAPE))
        schema_report(c, SCHEMA_IMATRIX_SHAPE, schema_place_tensor(sums, shard),
                      "tensor %s has %" PRIu64 " sums for %" PRIu64
                      " counts; each count is for the same number of sums",
                      quote_name(quoted, sums->name), sums->elements, counts->elements);
}

void schema_check_imatrix(checker *c)
{
    findings_limit limit = {{0}};
    char quoted[GUFO_QUOTE_SIZE];
    gufo_tensor tensor, other;
    gufo_str base;
    size_t shard, side;

    check_present(c);
    check_chunk_size(c);
    for (uint64_t i = 0; schema_tensor_at(c, i, &tensor, &shard); i++) {
        if (!pair_side(&pairs, tensor.name, &side, &base)) {
            if (limit_allows(&limit, SCHEMA_IMATRIX_TENSOR))
                schema_report(c, SCHEMA_IMATRIX_TENSOR, schema_place_tensor(&tensor, shard),
                              "tensor %s is neither in_sum2 nor counts of another one",
                              quote_name(quoted, tensor.name));
            continue;
        }
        check_type(c, &limit, &tensor, shard);
        if (pair_other(c, &limit, &pairs, &tensor, shard, &other) && side == 0)
            check_shape(c, &limit, &tensor, &other, shard);
    }
    limit_end(c, &limit);
}
