/* The job that measures losses: a piece for each tensor that has an option whose loss is not known, a
 * result for each of these options.  An adapter rounds what becomes F16 or BF16 otherwise, so that these
 * have a piece of their own.  Nothing is written. */
#include "quant/losses/losses.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

/* What the process needs beside buffers, tables of encoders and lists: an estimate on the safe side. */
#define OTHER_MEMORY (UINT64_C(12) << 20)

/* ---- what the job asks ---------------------------------------------------------------------- */

static const quant_tensor *tensor_of(const sampling *s, uint64_t number)
{
    return &s->losses->q->tensors[s->pieces[number].tensor];
}

static gufo_status importance(void *context, uint64_t number, uint64_t slice, float *out,
                              gufo_error *error)
{
    const sampling *s = context;

    return weights_read(s->losses->q, tensor_of(s, number), slice, out, error);
}

/* Adds the finite values that a type makes infinite, or NaN: all of them is lost.  A run does not count
 * them. */
static void add_overflow(const measured_rows *seen, sampled *out)
{
    uint64_t count = seen->count * seen->columns;

    for (uint64_t i = gufo_first_nonfinite(seen->decoded, count); i < count; i++) {
        double value = (double)seen->values[i], square = value * value;

        if (!isfinite(seen->values[i]) || isfinite(seen->decoded[i]))
            continue;
        square *= seen->importance != NULL ? (double)seen->importance[i % seen->columns] : 1;
        out->error += square;
        out->value += square;
    }
}

static gufo_status measure(void *context, const measured_rows *seen, void *result,
                           gufo_error *error)
{
    const sampling *s = context;
    const loss_piece *p = &s->pieces[seen->piece];
    sampled *out = (sampled *)result + seen->made;
    quant_loss loss = {.weighted_value = 0};
    gufo_status status;

    if (seen->made == p->count)
        return sample_weigh(s, seen, error);
    status = pieces_measure(s->losses->q, tensor_of(s, seen->piece),
                            s->results[p->first + seen->made].option->type, seen, &loss, error);
    out->error += seen->importance != NULL ? loss.weighted_error : loss.plain.square_error;
    out->value += seen->importance != NULL ? loss.weighted_value : loss.plain.square_value;
    if ((s->losses->q->options.flags & GUFO_QUANTIZE_KEEP_NONFINITE) != 0)
        add_overflow(seen, out);
    return status;
}

/* ---- pieces --------------------------------------------------------------------------------- */

static bool is_half(const gufo_element_type *type)
{
    return type->id == GUFO_TYPE_F16 || type->id == GUFO_TYPE_BF16;
}

/* The result that shows the numbers of rows, encoded as what costs nothing. */
static made weighing(const quant_tensor *t, bool halves)
{
    return pieces_encoded(t, gufo_element_type_by_id(halves ? GUFO_TYPE_BF16 : GUFO_TYPE_F32));
}

/* Adds a piece for the options of a tensor that are not known: those that are halves, or those that are
 * not. */
static gufo_status add_piece(sampling *s, uint64_t tensor, bool halves, uint64_t *number,
                             uint64_t *result, gufo_error *error)
{
    gufo_losses *l = s->losses;
    const quant_tensor *t = &l->q->tensors[tensor];
    loss_piece *p = &s->pieces[*number];
    made results[GUFO_QUANTIZE_TARGETS + 1];

    *p = (loss_piece){.tensor = tensor, .first = (size_t)*result};
    for (size_t i = 0; i < l->tensors[tensor].count; i++) {
        loss_option *o = loss_option_of(l, tensor, i);
        bool is_other = t->change_count > 0 && o->type != NULL && is_half(o->type) != halves;

        if (is_other || loss_is_known(o))
            continue;
        results[p->count] = pieces_encoded(t, o->type);
        s->results[*result] = (loss_result){.option = o};
        ++*result;
        p->count++;
    }
    if (p->count == 0)
        return GUFO_OK;
    ++*number;
    results[p->count] = weighing(t, halves);
    return pieces_add_tensor(l->q, s->job, t, results, p->count + 1, t->has_importance, error);
}

static gufo_status add_pieces(sampling *s, gufo_error *error)
{
    const gufo_quantizer *q = s->losses->q;
    uint64_t count = 0, results = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < q->tensor_count && status == GUFO_OK; i++) {
        status = add_piece(s, i, false, &count, &results, error);
        if (status == GUFO_OK && q->tensors[i].change_count > 0)
            status = add_piece(s, i, true, &count, &results, error);
    }
    return status;
}

/* ---- the job -------------------------------------------------------------------------------- */

static gufo_status make_job(sampling *s, gufo_error *error)
{
    gufo_losses *l = s->losses;
    gufo_status status;

    s->job = job_new(&l->allocator, error);
    if (s->job == NULL)
        return GUFO_E_MEMORY;
    s->job->hooks = (job_hooks){.context = s,
                                .importance = importance,
                                .measure = measure,
                                .result_size = (GUFO_QUANTIZE_TARGETS + 1) * sizeof(sampled)};
    s->job->effort = l->q->options.effort;
    s->job->memory = GUFO_QUANTIZE_MEMORY;
    s->job->other_memory = OTHER_MEMORY + adapters_memory(l->q);
    status = pieces_add_inputs(l->q, s->job, error);
    if (status == GUFO_OK)
        status = add_pieces(s, error);
    s->job = job_planned(s->job, status, error);
    return status == GUFO_OK && s->job == NULL ? GUFO_E_MEMORY : status;
}

static gufo_status make_lists(sampling *s, gufo_error *error)
{
    const gufo_losses *l = s->losses;

    s->pieces = mem_array(&l->allocator, 2 * l->q->tensor_count, sizeof *s->pieces);
    s->results = mem_array(&l->allocator, l->option_count, sizeof *s->results);
    return s->pieces != NULL && s->results != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status gufo_losses_measure(gufo_losses *l, const gufo_run *run, gufo_error *error)
{
    sampling s = {.losses = l};
    const job_sampler sampler = {.context = &s, .next = sample_next, .take = sample_take};
    gufo_status status = make_lists(&s, error);

    if (status == GUFO_OK)
        status = make_job(&s, error);
    if (status == GUFO_OK) {
        for (uint64_t i = 0; i < s.job->piece_count; i++)
            sample_begin(&s, &s.pieces[i], i);
        s.job->other_memory += sample_memory(&s);
        status = job_measure_samples(s.job, run, &sampler, error);
    }
    gufo_job_free(s.job);
    mem_free(&l->allocator, s.samples);
    mem_free(&l->allocator, s.times);
    mem_free(&l->allocator, s.weights);
    mem_free(&l->allocator, s.pieces);
    mem_free(&l->allocator, s.results);
    return status;
}
