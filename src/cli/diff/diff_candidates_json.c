/* gufo diff --json with several candidates: one object.
 *
 *     {"original":PATH,"candidates":[{"path":PATH},...],"tensors":[{"name":...,"candidates":[...]},
 *      ...],"totals":[...],"steps":[...],"same":false} */
#include "cli/diff/diff_candidates.h"

#include "cli/core/records/tensor_text.h"

static void begin(candidates_report *r)
{
    json_writer *j = &r->j;

    json_begin_object(j, NULL);
    json_write_text(j, "original", r->paths[0]);
    model_json_shards(j, "shards", r->models[0]);
    json_begin_array(j, "candidates");
    for (size_t k = 1; k <= r->count; k++) {
        json_begin_object(j, NULL);
        json_write_text(j, "path", r->paths[k]);
        model_json_shards(j, "shards", r->models[k]);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "tensors");
}

/* null, where neither the original nor the candidate has the tensor. */
static void write_candidate(json_writer *j, const gufo_tensor_difference *d)
{
    double loss;

    if (d->a.name.data == NULL && d->b.name.data == NULL) {
        json_write_null(j, NULL);
        return;
    }
    json_begin_object(j, NULL);
    json_write_text(j, "difference", diff_kind_names[d->kind]);
    if (d->b.name.data != NULL)
        diff_write_tensor(j, &d->b);
    if (gufo_tensor_difference_loss(d, &loss))
        json_write_f64(j, "loss", loss);
    else
        json_write_null(j, "loss");
    if (d->has_values)
        diff_write_values(j, &d->a, &d->values);
    json_end_object(j);
}

static void write_row(candidates_report *r, const gufo_tensor_difference *row)
{
    json_writer *j = &r->j;

    progress_end(&r->bar);
    json_begin_object(j, NULL);
    json_write_str(j, "name", diff_row_tensor(row, r->count)->name);
    if (row[0].a.name.data != NULL)
        diff_write_tensor(j, &row[0].a);
    json_begin_array(j, "candidates");
    for (size_t k = 0; k < r->count; k++)
        write_candidate(j, &row[k]);
    json_end_array(j);
    json_end_object(j);
}

static void write_sum(json_writer *j, const gufo_candidate *sum)
{
    json_begin_object(j, NULL);
    json_write_u64(j, "size", sum->bytes);
    json_write_f64(j, "bits_per_weight", tensor_bits(sum->bytes, sum->elements));
    json_write_f64(j, "loss", sum->loss);
    diff_write_counts(j, "tensor_counts", sum->tensors);
    json_write_u64(j, "unmeasured", sum->unmeasured);
    json_write_u64(j, "nonfinite", sum->nonfinite);
    json_write_bool(j, "same", sum->same);
    json_end_object(j);
}

/* Candidates by their places in "candidates". */
static void write_step(json_writer *j, const diff_step *step)
{
    json_begin_object(j, NULL);
    json_write_u64(j, "from", step->from);
    json_write_u64(j, "to", step->to);
    json_write_u64(j, "bytes", step->bytes);
    json_write_f64(j, "loss", step->loss);
    json_begin_array(j, "best");
    for (size_t i = 0; i < step->count; i++) {
        const diff_gain *gain = &step->best[i];

        json_begin_object(j, NULL);
        json_write_str(j, "name", gain->name);
        json_write_text(j, "from", tensor_type_text(gain->from).text);
        json_write_text(j, "to", tensor_type_text(gain->to).text);
        json_write_u64(j, "bytes", gain->bytes);
        json_write_f64(j, "loss", gain->loss);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void end(candidates_report *r, const gufo_error *failure)
{
    json_writer *j = &r->j;
    bool same = true;

    json_end_array(j);
    if (failure != NULL) {
        json_write_text(j, "error", failure->message);
        json_end_document(j);
        return;
    }
    json_begin_array(j, "totals");
    for (size_t k = 0; k < r->count; k++) {
        write_sum(j, &r->sums[k]);
        same = same && r->sums[k].same;
    }
    json_end_array(j);
    json_begin_array(j, "steps");
    for (size_t i = 0; i < r->steps.count; i++)
        write_step(j, &r->steps.steps[i]);
    json_end_array(j);
    json_write_bool(j, "same", same);
    json_end_document(j);
}

const candidates_form candidates_json = {begin, write_row, end};
