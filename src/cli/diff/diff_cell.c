/* What a cell of a candidate says: a measure, or a word where it is not known. */
#include "cli/diff/diff_candidates.h"

const gufo_tensor *diff_row_tensor(const gufo_tensor_difference *row, size_t count)
{
    size_t k = 0;

    if (row[0].a.name.data != NULL)
        return &row[0].a;
    while (k + 1 < count && row[k].b.name.data == NULL)
        k++;
    return &row[k].b;
}

const char *diff_note_word(const gufo_tensor_difference *d)
{
    static const char *const words[] = {[GUFO_DIFFERENCE_NONE] = "same",
                                        [GUFO_DIFFERENCE_ADDED] = "added",
                                        [GUFO_DIFFERENCE_REMOVED] = "missing"};
    double loss;

    if (d->a.name.data == NULL && d->b.name.data == NULL)
        return "";
    if (d->kind != GUFO_DIFFERENCE_CHANGED)
        return words[d->kind];
    if (d->shape)
        return "shape";
    if (!d->has_values)
        return "unknown";
    if (d->values.nonfinite > 0)
        return "nonfinite";
    return gufo_tensor_difference_loss(d, &loss) ? "" : "infinite";
}

bool diff_rmse(const gufo_tensor_difference *d, double *rmse)
{
    *rmse = d->values.rmse;
    return (d->has_values && d->values.compared > 0) ||
           (d->kind == GUFO_DIFFERENCE_NONE && d->a.name.data != NULL);
}
