/* One unit on its way from one element type to another:
 *
 *     input --read--> blocks --decode--> values --encode--> blocks --write--> output
 *                                          |                  |
 *                                          |               decode
 *                                          v                  v
 *                                          finite? how far off?
 *
 * All of it happens in step-sized pieces but reading and writing.  Blocks of a big-endian file are
 * turned on the way in and out. */
#include "quant/quantizer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"

/* ---- what is not finite --------------------------------------------------------------------- */

/* "row 12, column 7", and the matrix of a stack. */
static void describe_place(char *out, size_t size, const quant_tensor *tensor, uint64_t row,
                           uint64_t column)
{
    gufo_stats_place place =
        gufo_stats_place_of(&tensor->source, row * tensor->source.dims[0] + column);
    int len = 0;

    if (tensor->source.n_dims > 2)
        len = snprintf(out, size, "matrix %" PRIu64 ", ", place.matrix);
    (void)snprintf(out + len, size - (size_t)len, "row %" PRIu64 ", column %" PRIu64, place.row,
                   place.column);
}

static const char *kind_of(float value)
{
    return isnan(value) ? "NaN" : value < 0 ? "negative infinity" : "infinity";
}

static gufo_status fail_value(const quant_tensor *tensor, uint64_t row, uint64_t column,
                              float value, gufo_error *error)
{
    uint64_t offset = tensor->source.offset + row * tensor->cut.row_bytes_from;
    char quoted[GUFO_QUOTE_SIZE], place[128];

    describe_place(place, sizeof place, tensor, row, column);
    (void)quote_name(quoted, tensor->source.name);
    if (!isfinite(value))
        return fail_with(error, GUFO_E_RANGE, offset, "tensor %s: the value in %s is %s", quoted,
                         place, kind_of(value));
    return fail_with(error, GUFO_E_RANGE, offset,
                     "tensor %s: the value %.9g in %s is too large for %s", quoted, (double)value,
                     place, tensor->to->name);
}

/* ---- a step --------------------------------------------------------------------------------- */

/* Rows [row, row + rows) of the tensor, which are in the worker's buffers from byte `from` and `to`
 * on. */
typedef struct step {
    uint64_t row, rows, columns;
    const uint8_t *from;
    uint8_t *to;
} step;

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
static gufo_status fail_step(const quant_tensor *tensor, const step *s, const float *values,
                             const float *decoded, gufo_error *error)
{
    uint64_t count = s->rows * s->columns;
    uint64_t at = gufo_first_nonfinite(values, count);

    if (at == count)
        at = largest_in_block(tensor->to, values, gufo_first_nonfinite(decoded, count));
    return fail_value(tensor, s->row + at / s->columns, at % s->columns, values[at], error);
}

static gufo_status convert_step(quant_worker *worker, const quant_tensor *tensor, const step *s,
                                const float *importance, gufo_quantize_loss *loss,
                                gufo_error *error)
{
    const gufo_quantize_options *options = &worker->q->options;
    const gufo_encoder *encoder = worker->q->encoders[tensor->to->id];
    gufo_status status = gufo_decode(tensor->from, s->from, s->rows, s->columns, worker->values,
                                     options->cpu, error);

    if (status == GUFO_OK)
        status = gufo_encoder_encode(encoder, worker->values, s->rows, s->columns, importance,
                                     s->to, error);
    if (status == GUFO_OK)
        status = gufo_decode(tensor->to, s->to, s->rows, s->columns, worker->decoded, options->cpu,
                             error);
    if (status == GUFO_OK &&
        !loss_measure(loss, worker->values, worker->decoded, s->rows * s->columns) &&
        !(options->flags & GUFO_QUANTIZE_KEEP_NONFINITE))
        status = fail_step(tensor, s, worker->values, worker->decoded, error);
    return status;
}

static gufo_status convert_rows(quant_worker *worker, const quant_unit *unit,
                                const float *importance, gufo_quantize_loss *loss,
                                gufo_error *error)
{
    const quant_cut *cut = &unit->tensor->cut;
    gufo_status status = GUFO_OK;

    for (uint64_t done = 0; done < unit->rows && status == GUFO_OK; done += cut->rows_per_step) {
        uint64_t rest = unit->rows - done;
        step s = {.row = unit->row + done,
                  .rows = rest < cut->rows_per_step ? rest : cut->rows_per_step,
                  .columns = unit->tensor->source.dims[0],
                  .from = worker->source + done * cut->row_bytes_from,
                  .to = worker->coded + done * cut->row_bytes_to};

        status = convert_step(worker, unit->tensor, &s, importance, loss, error);
    }
    return status;
}

/* ---- a unit --------------------------------------------------------------------------------- */

/* The importance of the unit's slice, into *importance: NULL if there is none. */
static gufo_status load_importance(quant_worker *worker, const quant_unit *unit,
                                   const float **importance, gufo_error *error)
{
    const quant_tensor *tensor = unit->tensor;
    gufo_status status;

    *importance = NULL;
    if (!tensor->has_importance || !(tensor->to->flags & GUFO_ELEMENT_WEIGHS))
        return GUFO_OK;
    *importance = worker->importance;
    if (worker->importance_tensor == unit->index && worker->importance_slice == unit->slice)
        return GUFO_OK;
    worker->importance_tensor = UINT64_MAX;
    worker->blame = BLAME_IMPORTANCE;
    status =
        gufo_imatrix_importance(worker->q->options.importance, tensor->importance_index,
                                tensor->source.dims[0], unit->slice, worker->importance, error);
    if (status != GUFO_OK)
        return status;
    worker->blame = BLAME_INPUT;
    worker->importance_tensor = unit->index;
    worker->importance_slice = unit->slice;
    return GUFO_OK;
}

/* Turns the byte order of the blocks that a big-endian file has, or is to have. */
static gufo_status swap_rows(const gufo_file *file, const gufo_element_type *type, uint8_t *blocks,
                             uint64_t size, gufo_error *error)
{
    if (gufo_file_byte_order(file) == GUFO_LITTLE_ENDIAN)
        return GUFO_OK;
    return gufo_swap_blocks(type, blocks, size / type->block_bytes, error);
}

static gufo_status make_blocks(quant_worker *worker, const quant_unit *unit,
                               gufo_quantize_loss *loss, gufo_error *error)
{
    const quant_tensor *tensor = unit->tensor;
    const gufo_element_type *repacked;
    const float *importance;
    gufo_status status;

    if (tensor->cut.method == METHOD_REPACK)
        return gufo_repack(tensor->from, worker->source, unit->rows, tensor->source.dims[0],
                           worker->coded, &repacked, error);
    status = load_importance(worker, unit, &importance, error);
    return status == GUFO_OK ? convert_rows(worker, unit, importance, loss, error) : status;
}

static gufo_status write_unit(quant_worker *worker, const quant_unit *unit, gufo_error *error)
{
    const quant_tensor *tensor = unit->tensor;
    const quant_output *out = &worker->q->outputs[tensor->output];
    uint64_t place, size;

    worker->blame = BLAME_OUTPUT;
    (void)gufo_writer_tensor(out->writer, tensor->output_index, &place, &size);
    return output_write(out->file, place + unit->to, worker->coded, (size_t)unit->to_size, error);
}

gufo_status unit_convert(quant_worker *worker, const quant_unit *unit, gufo_quantize_loss *loss,
                         gufo_error *error)
{
    const quant_tensor *tensor = unit->tensor;
    const gufo_file *file = gufo_set_shard(worker->q->input, tensor->shard);
    gufo_status status = gufo_tensor_read(file, &tensor->source, unit->from, worker->source,
                                          (size_t)unit->from_size, error);

    if (status == GUFO_OK)
        status = swap_rows(file, tensor->from, worker->source, unit->from_size, error);
    if (status == GUFO_OK)
        status = make_blocks(worker, unit, loss, error);
    if (status == GUFO_OK)
        status = swap_rows(file, tensor->to, worker->coded, unit->to_size, error);
    return status == GUFO_OK ? write_unit(worker, unit, error) : status;
}
