/* The job of the quantizer: one piece for each tensor, with a result for each target.
 *
 *     METHOD_COPY       moved; made if another target reads the rows: the blocks pass
 *     METHOD_REPACK     made: blocks pass, repacked
 *     METHOD_CONVERT    made: encoded with importance, measured
 *
 * The hook measures a list for each piece: the loss of each target.  With importance every matrix
 * of a stack of experts is a separate slice. */
#include "base/error.h"

#include <math.h>

#include "base/checked.h"
#include "base/hash.h"
#include "base/memory.h"
#include "format/document/document.h"
#include "produce/produce.h"
#include "quant/quantizer.h"
#include "quant/stats/stats.h"

/* What the process needs beside the buffers of threads and the tables of encoders, an estimate on
 * the safe side. */
#define OTHER_MEMORY (UINT64_C(12) << 20)
#define TENSOR_MEMORY 768

/* ---- what is not finite --------------------------------------------------------------------- */

/* Rows of a tensor on their way: [row, row + rows) of it. */
typedef struct step {
    gufo_tensor tensor;
    const gufo_element_type *to;
    uint64_t row, rows;
    const float *values, *decoded;
} step;

static const char *kind_of(float value)
{
    return isnan(value) ? "NaN" : value < 0 ? "negative infinity" : "infinity";
}

/* Where a row is in the file; a made model has no places. */
static uint64_t offset_of_row(const gufo_tensor *tensor, uint64_t row)
{
    uint64_t count = tensor->elements / tensor->dims[0];

    if (tensor->offset == GUFO_NO_OFFSET)
        return GUFO_NO_OFFSET;
    return tensor->offset + row * (tensor->size / count);
}

/* Value `at` of a step is wrong. */
static gufo_status fail_value(const step *s, uint64_t at, gufo_error *error)
{
    uint64_t columns = s->tensor.dims[0], row = s->row + at / columns;
    float value = s->values[at];
    const char *name = QUOTED(s->tensor.name);
    place_text place = stats_place_text(&s->tensor, s->row * columns + at);

    if (!isfinite(value))
        return fail_with(error, GUFO_E_RANGE, offset_of_row(&s->tensor, row),
                         "tensor %s: the value in %s is %s", name, place.text, kind_of(value));
    return fail_with(error, GUFO_E_RANGE, offset_of_row(&s->tensor, row),
                     "tensor %s: the value %.9g in %s is too large for %s", name, (double)value,
                     place.text, s->to->name);
}

/* The largest value of the block that value `at` is in. */
static uint64_t largest_in_block(const gufo_element_type *type, const float *values, uint64_t at)
{
    uint64_t begin = at - at % type->block_elements, largest = begin;

    for (uint64_t i = begin; i < begin + type->block_elements; i++)
        if (fabsf(values[i]) > fabsf(values[largest]))
            largest = i;
    return largest;
}

/* Names the first value that is not finite, or that its block cannot hold: then other values of the
 * block may be lost, too. */
static gufo_status fail_step(const step *s, gufo_error *error)
{
    uint64_t count = s->rows * s->tensor.dims[0];
    uint64_t at = gufo_first_nonfinite(s->values, count);

    if (at == count)
        at = largest_in_block(s->to, s->values, gufo_first_nonfinite(s->decoded, count));
    return fail_value(s, at, error);
}

/* ---- what the job asks ---------------------------------------------------------------------- */

gufo_status pieces_measure(const gufo_quantizer *q, const quant_tensor *tensor,
                           const gufo_element_type *to, const measured_rows *seen, quant_loss *loss,
                           gufo_error *error)
{
    if (seen->importance != NULL)
        loss_weigh(loss, seen->importance, seen->values, seen->decoded, seen->count, seen->columns);
    if (loss_measure(&loss->plain, seen->values, seen->decoded, seen->count * seen->columns) ||
        (q->options.flags & GUFO_QUANTIZE_KEEP_NONFINITE))
        return GUFO_OK;
    return fail_step(
        &(step){quant_source(q, tensor), to, seen->row, seen->count, seen->values, seen->decoded},
        error);
}

static gufo_status measure(void *context, const measured_rows *seen, void *result,
                           gufo_error *error)
{
    const gufo_quantizer *q = context;
    quant_loss *losses = result;

    return pieces_measure(q, &q->tensors[seen->piece],
                          quant_result_of(q, seen->made, seen->piece)->to, seen,
                          &losses[seen->made], error);
}

static void add_losses(void *context, void *sum, const void *result)
{
    const gufo_quantizer *q = context;
    const quant_loss *more = result;
    quant_loss *losses = sum;

    for (size_t i = 0; i < q->target_count; i++) {
        gufo_quantize_loss_add(&losses[i].plain, &more[i].plain);
        losses[i].weighted_value += more[i].weighted_value;
        losses[i].weighted_error += more[i].weighted_error;
    }
}

static gufo_status importance(void *context, uint64_t number, uint64_t slice, float *out,
                              gufo_error *error)
{
    const gufo_quantizer *q = context;

    return weights_read(q, &q->tensors[number], slice, out, error);
}

/* A plan may have been made only to be looked at. */
static gufo_status check_possible(const gufo_quantizer *q, gufo_error *error)
{
    for (uint64_t i = 0; i < q->target_count * q->tensor_count; i++)
        if (q->results[i].flags & GUFO_RECIPE_IMPOSSIBLE)
            return refuse(
                error, GUFO_E_ARGUMENT, "tensor %s cannot become %s without importance data",
                QUOTED(q->tensors[i % q->tensor_count].source_name), q->results[i].to->name);
    return GUFO_OK;
}

/* Numbers of the importance matrix are read only for a job that is run. */
static gufo_status begin(void *context, const gufo_run *run, gufo_error *error)
{
    const gufo_quantizer *q = context;
    gufo_status status = check_possible(q, error);

    (void)run;
    q->job->identity = q->options.flags & GUFO_QUANTIZE_KEEP_NONFINITE;
    /* A plan of parts has samples of the matrix. */
    return status == GUFO_OK && !q->job->by_parts ? weights_hash(q, &q->job->identity, error)
                                                  : status;
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Whether the rows of a tensor are read: for any target, or from a model that is made. */
static bool is_read(const gufo_quantizer *q, uint64_t index, const gufo_tensor *input)
{
    bool reads = gufo_model_facts(q->input).is_made;

    for (size_t i = 0; i < q->target_count; i++)
        reads = reads || quant_result_of(q, i, index)->method != METHOD_COPY;
    return reads && input->size > 0;
}

static bool is_converted(const gufo_quantizer *q, uint64_t index)
{
    for (size_t i = 0; i < q->target_count; i++)
        if (quant_result_of(q, i, index)->method == METHOD_CONVERT)
            return true;
    return false;
}

made pieces_encoded(const quant_tensor *t, const gufo_element_type *to)
{
    return (made){.target = NO_TARGET,
                  .type = to,
                  .encode = true,
                  .weighs = t->has_importance && (to->flags & GUFO_ELEMENT_WEIGHS) != 0,
                  .measure = true,
                  .weighted = t->has_importance};
}

/* The result of a tensor for target `number`, whose file has it at `place`. */
static made result_of(const gufo_quantizer *q, size_t number, uint64_t index, uint64_t place)
{
    const quant_tensor *t = &q->tensors[index];
    const quant_result *r = quant_result_of(q, number, index);
    const gufo_document *document = quant_document_of(q, number, t->output);
    made m = {.type = r->to};

    if (r->method == METHOD_CONVERT)
        m = pieces_encoded(t, r->to);
    m.target = (uint32_t)(number * q->output_count + t->output);
    m.place = place;
    m.swap = gufo_document_byte_order(document) == GUFO_BIG_ENDIAN;
    return m;
}

/* Bytes that stay as they are, in all targets. */
static gufo_status add_copy(gufo_quantizer *q, const quant_tensor *t, const gufo_tensor *input,
                            const uint64_t *places, gufo_error *error)
{
    const rows from = job_byte_rows(q->job, input->shard, input->offset, input->size);
    made results[GUFO_QUANTIZE_TARGETS];

    for (size_t i = 0; i < q->target_count; i++)
        results[i] = (made){.target = (uint32_t)(i * q->output_count + t->output),
                            .place = places[i],
                            .row_bytes = 1};
    return job_add_results(q->job, PIECE_MOVE, input->name, &from, results,
                           (uint32_t)q->target_count, 1, error);
}

gufo_status pieces_add_tensor(const gufo_quantizer *q, gufo_job *job, const quant_tensor *t,
                              made *results, uint32_t count, bool weighs, gufo_error *error)
{
    const gufo_tensor input = quant_source(q, t);
    uint64_t slices = weighs ? input.dims[2] * input.dims[3] : 1;

    if (t->change_count > 0)
        return adapters_add_tensor(q, job, t, results, count, slices, error);
    return job_add_tensor(job, input.shard, &input, t->index, results, count, slices, error);
}

/* Tensor `index` is at `places` of its outputs. */
static gufo_status add_tensor(gufo_quantizer *q, uint64_t index, const uint64_t *places,
                              gufo_error *error)
{
    const quant_tensor *t = &q->tensors[index];
    const gufo_tensor input = quant_source(q, t);
    bool weighs = is_converted(q, index) && t->has_importance;
    made results[GUFO_QUANTIZE_TARGETS];

    if (!is_read(q, index, &input))
        return add_copy(q, t, &input, places, error);
    for (size_t i = 0; i < q->target_count; i++)
        results[i] = result_of(q, i, index, places[i]);
    return pieces_add_tensor(q, q->job, t, results, (uint32_t)q->target_count, weighs, error);
}

/* Tensors of one output follow each other, and its layout is packed. */
static gufo_status add_tensors(void *context, gufo_error *error)
{
    gufo_quantizer *q = context;
    uint64_t places[GUFO_QUANTIZE_TARGETS];
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < q->tensor_count && status == GUFO_OK; i++) {
        const uint32_t shard = q->tensors[i].output;
        bool begins = i == 0 || q->tensors[i - 1].output != shard;

        for (size_t k = 0; k < q->target_count; k++) {
            const gufo_layout *layout = &quant_document_of(q, k, shard)->layout;

            if (begins)
                places[k] = layout->data_offset;
            else
                (void)layout_advance(layout, quant_result_of(q, k, i - 1)->size, &places[k]);
        }
        status = add_tensor(q, i, places, error);
    }
    return status;
}

/* ---- the job -------------------------------------------------------------------------------- */

gufo_status pieces_add_inputs(const gufo_quantizer *q, gufo_job *job, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint32_t number;

    for (uint32_t i = 0; i < gufo_model_shard_count(q->input) && status == GUFO_OK; i++)
        status = job_add_model(job, q->input, i, &number, error);
    if (status == GUFO_OK)
        status = adapters_add_inputs(q, job, error);
    return status == GUFO_OK ? weights_add_inputs(q, job, error) : status;
}

static gufo_status add_targets(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint32_t number;

    q->job->other_memory =
        OTHER_MEMORY + q->target_count * q->tensor_count * TENSOR_MEMORY + adapters_memory(q);
    for (size_t i = 0; i < q->target_count * q->output_count && status == GUFO_OK; i++) {
        const void *header;
        size_t size = 0;

        status = job_add_document_target(q->job, q->documents[i], &number, error);
        if (status == GUFO_OK)
            status = gufo_document_header(q->documents[i], &header, &size, error);
        q->job->other_memory += 4 * (uint64_t)size;
        document_forget_tensors(q->documents[i]); /* from now on it is asked for its header */
    }
    return status;
}

gufo_status pieces_make_job(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status;

    q->job = job_new(&q->allocator, error);
    if (q->job == NULL)
        return GUFO_E_MEMORY;
    q->job->identity = q->options.flags & GUFO_QUANTIZE_KEEP_NONFINITE;
    q->job->choices[q->job->choice_count++] =
        (job_choice){"keep-nonfinite", q->job->identity != 0 ? "on" : "off"};
    q->job->hooks = (job_hooks){.context = q,
                                .begin = begin,
                                .importance = importance,
                                .measure = measure,
                                .add = add_losses,
                                .result_size = q->target_count * sizeof(quant_loss)};
    q->job->effort = q->options.effort;
    q->job->memory = GUFO_QUANTIZE_MEMORY;
    q->job->naming = JOB_NAMED_STEM;
    q->job->set_count = (uint32_t)q->target_count;
    q->job->add_pieces = add_tensors;
    status = pieces_add_inputs(q, q->job, error);
    if (status == GUFO_OK)
        status = add_targets(q, error);
    if (status == GUFO_OK)
        status = add_tensors(q, error);
    q->job = job_planned(q->job, status, error);
    return status == GUFO_OK && q->job == NULL ? GUFO_E_MEMORY : status;
}

quant_loss pieces_loss(const gufo_quantizer *q, size_t target, uint64_t index)
{
    const quant_loss *losses = NULL;

    if (q->job->results != NULL) /* it has been run */
        losses = job_result(q->job, index);
    return losses != NULL ? losses[target] : (quant_loss){.weighted_value = 0};
}

/* Outputs of a largest size: which tensors each one takes.
 *
 * Tensors keep their order; a shard takes the next one as long as its file stays within the limits
 * for every target.  The first shard has all keys. */

enum { SHARD_KEYS = 256 }; /* bytes that the keys of a shard take at most, and its header */

/* A shard that is being filled. */
typedef struct filling {
    uint64_t size, tensors;
} filling;

/* The bytes of a tensor in the file: its info, and its data as the largest target has it. */
static bool tensor_size(const gufo_quantizer *q, uint64_t index, uint64_t *out)
{
    const quant_tensor *t = &q->tensors[index];
    uint64_t alignment = gufo_document_alignment(q->documents[0]), largest = 0, data;

    for (size_t i = 0; i < q->target_count; i++)
        largest = larger(largest, quant_result_of(q, i, index)->size);
    return checked_align(largest, alignment, &data) &&
           checked_add(data, document_info_size(quant_name(q, t), quant_source(q, t).n_dims), out);
}

static bool has_room(const gufo_quantizer *q, const filling *f, uint64_t size)
{
    const gufo_quantize_options *o = &q->options;
    uint64_t sum;

    if (o->split_tensors > 0 && f->tensors >= o->split_tensors)
        return false;
    return o->split_size == 0 || (checked_add(f->size, size, &sum) && sum <= o->split_size);
}

static gufo_status put_tensors(gufo_quantizer *q, uint64_t base, gufo_error *error)
{
    filling f = {.size = base};

    q->output_count = 1;
    for (uint64_t i = 0; i < q->tensor_count; i++) {
        uint64_t size;

        if (!tensor_size(q, i, &size))
            return refuse(error, GUFO_E_RANGE, "tensor %s is too large",
                          QUOTED(quant_name(q, &q->tensors[i])));
        if (f.tensors > 0 && !has_room(q, &f, size)) {
            f = (filling){.size = SHARD_KEYS};
            q->output_count++;
        }
        f.size += size;
        f.tensors++;
        q->tensors[i].output = (uint32_t)(q->output_count - 1);
    }
    if (q->output_count > GUFO_MAX_SHARDS)
        return refuse(error, GUFO_E_ARGUMENT, "%s shards would be needed; %s are possible",
                      GROUPED(q->output_count), GROUPED(GUFO_MAX_SHARDS));
    return GUFO_OK;
}

/* The same number in all shards of a target, which differs between models: a hash of what one file
 * would begin with. */
static gufo_status make_ids(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    q->shard_ids = mem_array(&q->allocator, q->target_count, sizeof *q->shard_ids);
    if (q->shard_ids == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < q->target_count && status == GUFO_OK; i++) {
        const void *header;
        size_t size = 0;

        status = gufo_document_header(q->documents[i], &header, &size, error);
        if (status == GUFO_OK)
            q->shard_ids[i] = hash_text((hash_key){0, 0}, (gufo_str){header, size});
    }
    return status;
}

gufo_status shards_divide(gufo_quantizer *q, gufo_error *error)
{
    uint64_t base = gufo_document_metadata_size(q->documents[0]) + SHARD_KEYS;
    gufo_status status = make_ids(q, error);

    return status == GUFO_OK ? put_tensors(q, base, error) : status;
}
