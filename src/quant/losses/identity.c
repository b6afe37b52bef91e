/* What losses depend on, beside tensor and type: the files that rows come from, what is done to them,
 * importance, effort.
 *
 * A plan of a job that makes floats of every tensor says all of that, and nothing of the types that are
 * wanted this time. */
#include "quant/losses/losses.h"

#include "base/error.h"
#include "base/hash.h"

static bool has_floats(const gufo_quantizer *q, const quant_tensor *t)
{
    const gufo_element_type *from = quant_source_type(q, t);

    return from != NULL && (from->flags & GUFO_ELEMENT_DECODES) != 0 &&
           quant_source(q, t).elements > 0;
}

static gufo_status add_tensor(const gufo_losses *l, gufo_job *job, const quant_tensor *t,
                              gufo_error *error)
{
    made floats = {
        .target = NO_TARGET, .type = gufo_element_type_by_id(GUFO_TYPE_F32), .encode = true};

    return has_floats(l->q, t)
               ? pieces_add_tensor(l->q, job, t, &floats, 1, t->has_importance, error)
               : GUFO_OK;
}

static gufo_status plan(const gufo_losses *l, gufo_job *job, gufo_error *error)
{
    const gufo_quantizer *q = l->q;
    gufo_status status = pieces_add_inputs(q, job, error);

    job->effort = q->options.effort;
    job->identity = q->options.flags & GUFO_QUANTIZE_KEEP_NONFINITE;
    for (uint64_t i = 0; i < q->tensor_count && status == GUFO_OK; i++)
        status = add_tensor(l, job, &q->tensors[i], error);
    return status == GUFO_OK ? weights_hash(q, &job->identity, error) : status;
}

gufo_status losses_identify(const gufo_losses *l, loss_identity *out, gufo_error *error)
{
    gufo_job *job = job_new(&l->allocator, error);
    gufo_status status;

    if (job == NULL)
        return GUFO_E_MEMORY;
    status = plan(l, job, error);
    job = job_planned(job, status, error);
    if (job == NULL)
        return status != GUFO_OK ? status : GUFO_E_MEMORY;
    status = job_identity(job, &out->inputs, &out->plan, error);
    gufo_job_free(job);
    return status;
}
