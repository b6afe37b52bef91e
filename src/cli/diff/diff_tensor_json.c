/* What gufo diff --json writes of a tensor, of two models and of several. */
#include "cli/diff/diff.h"

#include "cli/core/model_json.h"

const char *const diff_kind_names[GUFO_DIFFERENCE_COUNT] = {[GUFO_DIFFERENCE_NONE] = "same",
                                                            [GUFO_DIFFERENCE_ADDED] = "added",
                                                            [GUFO_DIFFERENCE_REMOVED] = "removed",
                                                            [GUFO_DIFFERENCE_CHANGED] = "changed"};

void diff_write_tensor(json_writer *j, const gufo_tensor *tensor)
{
    model_json_type(j, tensor);
    json_write_u64(j, "offset", tensor->offset);
    json_write_u64(j, "size", tensor->size);
}

void diff_write_values(json_writer *j, const gufo_tensor *tensor, const gufo_value_difference *v)
{
    json_begin_object(j, "values");
    json_write_u64(j, "compared", v->compared);
    json_write_u64(j, "unequal", v->unequal);
    json_write_u64(j, "nonfinite", v->nonfinite);
    json_write_f64(j, "max_abs", v->largest);
    model_json_place(j, "max_abs_at", tensor, v->largest_at);
    json_write_f64(j, "rmse", v->rmse);
    json_write_f64(j, "relative_rmse", v->relative);
    json_write_f64(j, "cosine", v->cosine);
    json_end_object(j);
}

void diff_write_counts(json_writer *j, const char *key, const uint64_t *counts)
{
    json_begin_object(j, key);
    for (size_t i = 0; i < GUFO_DIFFERENCE_COUNT; i++)
        json_write_u64(j, diff_kind_names[i], counts[i]);
    json_end_object(j);
}
