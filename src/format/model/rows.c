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
#include "base/threads.h"
#include "codec/coding.h"
#include "codec/interleaved.h"
#include "codec/run.h"
#include "format/model/model.h"

enum { PIECE_BYTES = 256 * 1024, PIECES_LEAST = 2 }; /* of a thread */

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

/* A stretch of the data is all of it; of merged rows it is a band.  A piece is a part of one: merged, it
 * is a range of columns of all rows of the band, else so many blocks, wherever rows begin in it. */
typedef struct decoding {
    row_view v;
    uint64_t first, rows; /* that are asked for */
    float *out;
    const gufo_run *run;
    bool one_thread;                     /* the caller's */
    uint64_t begin, stretch;             /* bytes before the first one, and of each */
    uint64_t piece, pieces, piece_count; /* bytes; of a stretch; of all */
    uint64_t piece_numbers;
    unsigned threads;
    uint8_t *blocks; /* a piece for each thread */
    float *numbers;  /* of it, where rows are merged */
} decoding;

/* Hands out those rows of a decoded part of a band that were asked for. */
static void hand_out(const decoding *d, const float *numbers, uint64_t band, uint64_t column,
                     uint64_t columns)
{
    for (uint32_t r = 0; r < d->v.merged; r++) {
        uint64_t row = band * d->v.merged + r;

        if (row >= d->first && row - d->first < d->rows)
            memcpy(d->out + (row - d->first) * d->v.columns + column, numbers + r * columns,
                   (size_t)columns * sizeof *d->out);
    }
}

static uint64_t piece_size(const decoding *d, uint64_t index)
{
    return smaller(d->stretch - index % d->pieces * d->piece, d->piece);
}

static gufo_status decode_piece(void *context, unsigned thread, uint64_t index, void *result,
                                gufo_error *error)
{
    const decoding *d = context;
    const row_view *v = &d->v;
    uint64_t group = (uint64_t)v->type->block_bytes * v->merged, size = piece_size(d, index);
    uint64_t at = index % d->pieces * d->piece, from = d->begin + index / d->pieces * d->stretch;
    uint64_t column = at / group * v->type->block_elements;
    uint64_t columns = size / group * v->type->block_elements;
    uint8_t *blocks = d->blocks + thread * d->piece;
    float *numbers = v->merged > 1 ? d->numbers + thread * d->piece_numbers : d->out + column;
    gufo_status status = read_blocks(v, from + at, blocks, (size_t)size, error);

    (void)result;
    if (status == GUFO_OK)
        status = coding_decode(v->type, blocks, v->merged, columns, numbers, d->run->cpu, error);
    if (status == GUFO_OK && v->merged > 1)
        hand_out(d, numbers, from / d->stretch, column, columns);
    return status;
}

static gufo_status note_piece(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const decoding *d = context;
    uint64_t done = index / d->pieces * d->stretch + index % d->pieces * d->piece;

    (void)result;
    return run_progress(d->run, done + piece_size(d, index),
                        d->piece_count / d->pieces * d->stretch, error);
}

/* Pieces are whole blocks or groups; rows that are made come whole, if they are not too long. */
static void choose_pieces(decoding *d)
{
    const row_view *v = &d->v;
    uint64_t unit = (uint64_t)v->type->block_bytes * v->merged, stretches = 1;

    if (v->model->made != NULL && v->row_bytes > unit)
        unit = v->row_bytes;
    d->piece = unit < PIECE_BYTES ? PIECE_BYTES / unit * unit : unit;
    d->begin = d->first * v->row_bytes;
    d->stretch = d->rows * v->row_bytes;
    if (v->merged > 1) {
        d->stretch = v->row_bytes * v->merged;
        d->begin = d->first / v->merged * d->stretch;
        stretches = (d->first + d->rows - 1) / v->merged - d->first / v->merged + 1;
    }
    d->piece = larger(1, smaller(d->piece, d->stretch));
    d->piece_numbers = d->piece / v->type->block_bytes * v->type->block_elements;
    d->pieces = (d->stretch - 1) / d->piece + 1;
    d->piece_count = d->pieces * stretches;
    d->threads = 1;
    if (!d->one_thread) /* one with less to do takes longer to start than it saves */
        d->threads = (unsigned)larger(
            1, smaller(thread_count(d->run->threads), d->piece_count / PIECES_LEAST));
}

static gufo_status decode(decoding *d, gufo_error *error)
{
    const gufo_allocator *allocator =
        d->run->allocator != NULL ? d->run->allocator : &d->v.model->allocator;
    parallel_loop loop = {.context = d, .work = decode_piece, .hand_over = note_piece};
    gufo_status status;

    choose_pieces(d);
    d->blocks = mem_array(allocator, d->piece, d->threads);
    if (d->v.merged > 1)
        d->numbers = mem_array(allocator, d->piece_numbers, d->threads * sizeof *d->numbers);
    loop.end = d->piece_count;
    loop.threads = d->threads;
    if (d->blocks == NULL || (d->v.merged > 1 && d->numbers == NULL))
        status = fail_memory(error);
    else
        status = parallel_run(&loop, allocator, error);
    mem_free(allocator, d->blocks);
    mem_free(allocator, d->numbers);
    return status;
}

/* Whether the program reads the bytes: its source may be for one thread. */
static bool has_user_source(const gufo_model *model)
{
    return model->file != NULL && model->file->source.user.read != NULL;
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
    d.one_thread = status == GUFO_OK && run == NULL && has_user_source(d.v.model);
    if (status == GUFO_OK && rows > 0)
        status = decode(&d, error);
    return model_fail(d.v.model != NULL ? d.v.model : model, status, error);
}
