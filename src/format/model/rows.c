/* Rows of a tensor: as little-endian blocks, and as numbers.
 *
 *     file --read--> blocks --swap--> little-endian --decode--> numbers
 *
 * In most types, blocks follow each other through the whole tensor, so rows are runs of blocks.
 * The removed interleaved types merge 4 or 8 rows into a band:
 *
 *     band    |group|group|group|group|     a group is one block of each of its rows
 *
 * and reading one row decodes the whole band.  A band never holds rows of two matrices. */
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "codec/interleaved.h"
#include "codec/run.h"
#include "format/model/model.h"

enum { PIECE_BYTES = 256 * 1024 };

/* A tensor seen as rows. */
typedef struct row_view {
    const gufo_model *model; /* of one file */
    const gufo_tensor *tensor;
    const gufo_element_type *type;
    uint64_t columns, count; /* of all rows */
    uint64_t row_bytes;
    uint32_t merged; /* rows of a band; 1: none are merged */
    bool swapped;
} row_view;

static gufo_status check_layout(const row_view *v, gufo_error *error)
{
    if (v->columns % v->type->block_elements != 0)
        return fail_with(error, GUFO_E_ARGUMENT, v->tensor->info_offset,
                         "tensor %s has rows of %s elements, which do not fill blocks of %s",
                         QUOTED(v->tensor->name), GROUPED(v->columns), v->type->name);
    if (v->tensor->dims[1] % v->merged != 0)
        return fail_with(error, GUFO_E_ARGUMENT, v->tensor->info_offset,
                         "tensor %s has matrices of %s rows; %s merges %" PRIu32 " at a time",
                         QUOTED(v->tensor->name), GROUPED(v->tensor->dims[1]), v->type->name,
                         v->merged);
    return GUFO_OK;
}

static gufo_status look_at(row_view *v, const gufo_model *model, const gufo_tensor *tensor,
                           gufo_error *error)
{
    const interleaved *merged = interleaved_find(tensor->type);

    *v = (row_view){.model = model_holding(model, tensor),
                    .tensor = tensor,
                    .type = gufo_element_type_by_id(tensor->type),
                    .columns = tensor->dims[0],
                    .merged = merged != NULL ? merged->rows : 1};
    if (v->model == NULL)
        return refuse(error, GUFO_E_RANGE,
                      "the model has no shard %" PRIu32 ", where tensor %s should be",
                      tensor->shard, QUOTED(tensor->name));
    if (v->type == NULL || v->type->block_elements == 0)
        return fail_with(error, GUFO_E_TYPE, tensor->info_offset,
                         "tensor %s has element type %" PRIu32 ", whose layout is not known",
                         QUOTED(tensor->name), tensor->type);
    v->count = v->columns > 0 ? tensor->elements / v->columns : 0;
    v->row_bytes = v->columns / v->type->block_elements * v->type->block_bytes;
    v->swapped = gufo_model_facts(v->model).byte_order == GUFO_BIG_ENDIAN;
    return check_layout(v, error);
}

static gufo_status check_rows(const row_view *v, uint64_t first, uint64_t rows, gufo_error *error)
{
    if (range_inside(first, rows, v->count))
        return GUFO_OK;
    return refuse(error, GUFO_E_RANGE,
                  "tensor %s has %s rows; %s rows from %" PRIu64 " were asked for",
                  QUOTED(v->tensor->name), GROUPED(v->count), GROUPED(rows), first);
}

/* Reads bytes of data that are whole blocks, or whole groups. */
static gufo_status read_blocks(const row_view *v, uint64_t offset, void *out, size_t size,
                               gufo_error *error)
{
    gufo_status status = gufo_tensor_read_raw(v->model, v->tensor, offset, out, size, error);

    if (status != GUFO_OK || !v->swapped)
        return status;
    return gufo_swap_blocks(v->type, out, size / v->type->block_bytes, error);
}

gufo_status gufo_tensor_read_rows(const gufo_model *model, const gufo_tensor *tensor,
                                  uint64_t first_row, uint64_t rows, void *out, gufo_error *error)
{
    row_view v;
    gufo_status status = look_at(&v, model, tensor, error);

    if (status == GUFO_OK)
        status = check_rows(&v, first_row, rows, error);
    if (status == GUFO_OK && (first_row % v.merged != 0 || rows % v.merged != 0))
        status = refuse(error, GUFO_E_ARGUMENT,
                        "tensor %s has type %s, which merges %" PRIu32
                        " rows; they can only be read together",
                        QUOTED(tensor->name), v.type->name, v.merged);
    if (status == GUFO_OK && rows * v.row_bytes > SIZE_MAX)
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = read_blocks(&v, first_row * v.row_bytes, out, (size_t)(rows * v.row_bytes), error);
    return status == GUFO_OK ? GUFO_OK
                             : model_fail(v.model != NULL ? v.model : model, status, error);
}

/* ---- decoding ------------------------------------------------------------------------------- */

typedef struct decoding {
    row_view v;
    uint64_t first, rows; /* that are asked for */
    float *out;
    const gufo_run *run;
    uint64_t done, total; /* bytes of data */
    uint8_t *blocks;      /* a piece */
    float *numbers;       /* of it, where rows are merged */
    uint64_t piece;       /* bytes of a piece at most */
} decoding;

/* Hands out those rows of a decoded part of a band that were asked for. */
static void hand_out(const decoding *d, uint64_t band, uint64_t column, uint64_t columns)
{
    for (uint32_t r = 0; r < d->v.merged; r++) {
        uint64_t row = band * d->v.merged + r;

        if (row >= d->first && row - d->first < d->rows)
            memcpy(d->out + (row - d->first) * d->v.columns + column, d->numbers + r * columns,
                   (size_t)columns * sizeof *d->out);
    }
}

/* Bytes [from, from + bytes) of the data, piece by piece.  Merged rows are one band, and a piece
 * is a range of columns of all its rows; of others it is so many blocks, wherever rows begin in
 * it. */
static gufo_status decode_range(decoding *d, uint64_t from, uint64_t bytes, gufo_error *error)
{
    const row_view *v = &d->v;
    uint64_t group = (uint64_t)v->type->block_bytes * v->merged;
    gufo_status status = GUFO_OK;

    for (uint64_t at = 0, step; at < bytes && status == GUFO_OK; at += step) {
        uint64_t column = at / group * v->type->block_elements, columns;

        step = smaller(bytes - at, d->piece);
        columns = step / group * v->type->block_elements;
        status = read_blocks(v, from + at, d->blocks, (size_t)step, error);
        if (status == GUFO_OK)
            status = gufo_decode(v->type, d->blocks, v->merged, columns,
                                 v->merged > 1 ? d->numbers : d->out + column, d->run->cpu, error);
        if (status != GUFO_OK)
            break;
        if (v->merged > 1)
            hand_out(d, from / bytes, column, columns);
        d->done += step;
        status = run_progress(d->run, d->done, d->total, error);
    }
    return status;
}

static gufo_status decode_bands(decoding *d, gufo_error *error)
{
    uint64_t last = (d->first + d->rows - 1) / d->v.merged, bytes = d->v.row_bytes * d->v.merged;
    gufo_status status = GUFO_OK;

    for (uint64_t band = d->first / d->v.merged; band <= last && status == GUFO_OK; band++)
        status = decode_range(d, band * bytes, bytes, error);
    return status;
}

/* Pieces are whole blocks or groups; rows that are made come whole, if they are not too long. */
static void choose_piece(decoding *d)
{
    const row_view *v = &d->v;
    uint64_t unit = (uint64_t)v->type->block_bytes * v->merged;

    if (v->model->made != NULL && v->row_bytes > unit)
        unit = v->row_bytes;
    d->piece = unit < PIECE_BYTES ? PIECE_BYTES / unit * unit : unit;
    d->total = d->rows * v->row_bytes;
    if (v->merged > 1)
        d->total = ((d->first + d->rows - 1) / v->merged - d->first / v->merged + 1) * v->merged *
                   v->row_bytes;
    if (d->piece > d->total)
        d->piece = d->total;
}

static gufo_status decode(decoding *d, gufo_error *error)
{
    const gufo_allocator *allocator =
        d->run->allocator != NULL ? d->run->allocator : &d->v.model->allocator;
    const gufo_element_type *type = d->v.type;
    gufo_status status;

    choose_piece(d);
    if (d->piece > SIZE_MAX)
        return fail_memory(error);
    d->blocks = mem_alloc(allocator, (size_t)d->piece);
    if (d->v.merged > 1)
        d->numbers = mem_alloc(allocator, (size_t)(d->piece / type->block_bytes *
                                                   type->block_elements * sizeof *d->numbers));
    if (d->blocks == NULL || (d->v.merged > 1 && d->numbers == NULL))
        status = fail_memory(error);
    else
        status = d->v.merged > 1 ? decode_bands(d, error)
                                 : decode_range(d, d->first * d->v.row_bytes, d->total, error);
    mem_free(allocator, d->blocks);
    mem_free(allocator, d->numbers);
    return status;
}

gufo_status gufo_tensor_decode(const gufo_model *model, const gufo_tensor *tensor,
                               uint64_t first_row, uint64_t rows, float *out, const gufo_run *run,
                               gufo_error *error)
{
    decoding d = {.first = first_row, .rows = rows, .out = out, .run = run_of(run)};
    gufo_status status = run_check(d.run, error);

    if (status == GUFO_OK)
        status = look_at(&d.v, model, tensor, error);
    if (status == GUFO_OK && (d.v.type->flags & GUFO_ELEMENT_DECODES) == 0)
        status = fail_with(error, GUFO_E_TYPE, tensor->info_offset,
                           "tensor %s has element type %s, which cannot be decoded",
                           QUOTED(tensor->name), d.v.type->name);
    if (status == GUFO_OK)
        status = check_rows(&d.v, first_row, rows, error);
    if (status == GUFO_OK && rows > 0)
        status = decode(&d, error);
    return model_fail(d.v.model != NULL ? d.v.model : model, status, error);
}
