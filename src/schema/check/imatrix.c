/* Importance matrices: for each tensor of a model, sums of squares and how many were summed.
 *
 *     NAME.in_sum2   F32 [columns, matrices]
 *     NAME.counts    F32 [1, matrices] */

#include "schema/check/check.h"

static void check_keys(check_context *c)
{
    static const char *const keys[] = {"imatrix.datasets", "imatrix.chunk_count",
                                       "imatrix.chunk_size"};
    gufo_entry entry;
    uint64_t tokens;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!gufo_metadata_find(c->model, keys[i], NULL))
            schema_report(c, RULE_IMATRIX_KEYS, at_missing(keys[i]),
                          "key \"%s\" is missing; some readers refuse the file", keys[i]);
    if (schema_check_number(c, "imatrix.chunk_size", &entry, &tokens) && tokens == 0)
        schema_report(c, RULE_IMATRIX_CHUNK_SIZE, at_entry(&entry),
                      "imatrix.chunk_size is 0; readers divide by it");
}

static void look_at(check_context *c, const gufo_tensor *tensor, bool paired)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);

    if (!paired)
        schema_report(c, RULE_IMATRIX_TENSOR, at_tensor(tensor),
                      "tensor %s is neither in_sum2 nor counts of another one",
                      QUOTED(tensor->name));
    else if (tensor->type != GUFO_TYPE_F32)
        schema_report(c, RULE_IMATRIX_TYPE, at_tensor(tensor), "tensor %s has type %s, not F32",
                      QUOTED(tensor->name), type != NULL ? type->name : "unknown");
}

/* One count for each matrix, however the dimensions are written. */
static void compare(check_context *c, const gufo_tensor *sums, const gufo_tensor *counts,
                    gufo_str base)
{
    (void)base;
    if (sums->elements == 0 || counts->elements == 0 || sums->elements % counts->elements != 0)
        schema_report(
            c, RULE_IMATRIX_SHAPE, at_tensor(sums),
            "tensor %s has %s sums for %s counts; each count is for the same number of sums",
            QUOTED(sums->name), GROUPED(sums->elements), GROUPED(counts->elements));
}

void schema_check_imatrix(check_context *c)
{
    static const pair_rules pairs = {{".in_sum2", ".counts"}, RULE_IMATRIX_PAIR, look_at, compare};

    check_keys(c);
    schema_check_pairs(c, &pairs);
}
