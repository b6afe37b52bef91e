/* One pass over the data of a tensor.
 *
 *     file --pread--> blocks --swap--> little-endian --decode--> floats --> doubles --> visit
 *          |----------- a chunk --------------| |--------------- a piece ---------------|
 *
 * Chunks go to any thread; what they give is taken in their order. */
#include "quant/stats/stats.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "codec/coding.h"
#include "codec/interleaved.h"

enum { CHUNK_ELEMENTS = 256 * 1024 };

/* ---- layout --------------------------------------------------------------------------------- */

static gufo_status find_type(const gufo_tensor *tensor, const gufo_element_type **type,
                             gufo_error *error)
{
    *type = gufo_element_type_by_id(tensor->type);
    if (*type == NULL)
        return fail_with(error, GUFO_E_TYPE, tensor->info_offset,
                         "tensor %s has element type %" PRIu32 ", which is not known",
                         QUOTED(tensor->name), tensor->type);
    if (((*type)->flags & GUFO_ELEMENT_DECODES) == 0)
        return fail_with(error, GUFO_E_TYPE, tensor->info_offset,
                         "tensor %s has element type %s, which cannot be decoded",
                         QUOTED(tensor->name), (*type)->name);
    return GUFO_OK;
}

static gufo_status check_rows(const gufo_tensor *tensor, const stats_layout *layout,
                              gufo_error *error)
{
    const gufo_element_type *type = layout->type;

    if (tensor->dims[0] % type->block_elements != 0)
        return fail_with(error, GUFO_E_ARGUMENT, tensor->info_offset,
                         "tensor %s has rows of %s elements, which do not fill blocks of "
                         "%s",
                         QUOTED(tensor->name), GROUPED(tensor->dims[0]), type->name);
    if (tensor->elements / tensor->dims[0] % layout->rows != 0)
        return fail_with(error, GUFO_E_ARGUMENT, tensor->info_offset,
                         "tensor %s has %s rows; %s merges %" PRIu32 " at a time",
                         QUOTED(tensor->name), GROUPED(tensor->elements / tensor->dims[0]),
                         type->name, layout->rows);
    return GUFO_OK;
}

gufo_status stats_lay_out(const gufo_tensor *tensor, stats_layout *layout, gufo_error *error)
{
    const interleaved *merged = interleaved_find(tensor->type);
    gufo_status status;

    *layout = (stats_layout){.rows = merged != NULL ? merged->rows : 1};
    status = find_type(tensor, &layout->type, error);
    if (status != GUFO_OK || tensor->elements == 0)
        return status;
    status = check_rows(tensor, layout, error);
    if (status != GUFO_OK)
        return status;
    layout->columns = merged != NULL ? tensor->dims[0] : tensor->elements;
    layout->group_elements = (uint64_t)layout->rows * layout->type->block_elements;
    layout->group_bytes = (uint64_t)layout->rows * layout->type->block_bytes;
    layout->groups = tensor->available / layout->group_bytes;
    layout->groups_per_band = layout->columns / layout->type->block_elements;
    layout->groups_per_chunk = CHUNK_ELEMENTS / layout->group_elements;
    return GUFO_OK;
}

/* Which group of the piece, and which column of its band, value `at` is in. */
static uint64_t column_in_piece(const stats_piece *piece, uint64_t at)
{
    return at % (piece->groups * piece->layout->type->block_elements);
}

uint64_t stats_index(const stats_piece *piece, uint64_t at)
{
    const stats_layout *layout = piece->layout;
    uint64_t elements = layout->type->block_elements;
    uint64_t row =
        piece->group / layout->groups_per_band * layout->rows + at / (piece->groups * elements);
    uint64_t column =
        piece->group % layout->groups_per_band * elements + column_in_piece(piece, at);

    return row * layout->columns + column;
}

uint64_t stats_offset(const stats_piece *piece, uint64_t at)
{
    const stats_layout *layout = piece->layout;
    uint64_t group = piece->group + column_in_piece(piece, at) / layout->type->block_elements;

    if (piece->tensor->offset == GUFO_NO_OFFSET)
        return GUFO_NO_OFFSET;
    return piece->tensor->offset + group * layout->group_bytes;
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* What a thread works with. */
typedef struct stats_worker {
    uint8_t *chunk;
    float floats[STATS_PIECE];
    double values[STATS_PIECE];
} stats_worker;

typedef struct walk {
    const stats_pass *pass;
    stats_worker *workers;
    gufo_cpu cpu;
    uint64_t groups_done;
} walk;

static gufo_status decode_piece(const walk *w, stats_worker *worker, stats_piece *piece,
                                gufo_error *error)
{
    const stats_layout *layout = piece->layout;

    if (w->pass->undecoded)
        return GUFO_OK;
    piece->values = worker->values;
    piece->count = piece->groups * layout->group_elements;
    return decode_wide(layout->type, piece->blocks, layout->rows, piece->count / layout->rows,
                       worker->floats, worker->values, w->cpu, error);
}

/* ---- chunks --------------------------------------------------------------------------------- */

static gufo_status read_chunk(const stats_pass *pass, uint64_t first, uint64_t groups,
                              uint8_t *blocks, gufo_error *error)
{
    const stats_layout *layout = pass->layout;
    uint64_t size = groups * layout->group_bytes;
    gufo_status status = gufo_tensor_read_raw(
        pass->model, pass->tensor, first * layout->group_bytes, blocks, (size_t)size, error);

    if (status != GUFO_OK || !pass->swapped)
        return status;
    return gufo_swap_blocks(layout->type, blocks, groups * layout->rows, error);
}

/* Groups of chunk `index`. */
static uint64_t groups_of(const stats_layout *layout, uint64_t index)
{
    return smaller(layout->groups_per_chunk, layout->groups - index * layout->groups_per_chunk);
}

static gufo_status visit_chunk(void *context, unsigned thread, uint64_t index, void *result,
                               gufo_error *error)
{
    const walk *w = context;
    const stats_pass *pass = w->pass;
    const stats_layout *layout = pass->layout;
    stats_worker *worker = &w->workers[thread];
    uint64_t first = index * layout->groups_per_chunk, groups = groups_of(layout, index);
    gufo_status status = read_chunk(pass, first, groups, worker->chunk, error);

    for (uint64_t done = 0; done < groups && status == GUFO_OK;) {
        stats_piece piece = {.tensor = pass->tensor,
                             .layout = layout,
                             .group = first + done,
                             .blocks = worker->chunk + done * layout->group_bytes};
        uint64_t band_rest = layout->groups_per_band - piece.group % layout->groups_per_band;

        piece.groups =
            smaller(smaller(STATS_PIECE / layout->group_elements, groups - done), band_rest);
        status = decode_piece(w, worker, &piece, error);
        if (status == GUFO_OK)
            pass->visit(pass->context, &piece, result);
        done += piece.groups;
    }
    return status;
}

static gufo_status take_chunk(void *context, uint64_t index, const void *result, gufo_error *error)
{
    walk *w = context;
    const stats_pass *pass = w->pass;

    pass->take(pass->context, result);
    w->groups_done += groups_of(pass->layout, index);
    return run_progress(pass->run, pass->bytes_before + w->groups_done * pass->layout->group_bytes,
                        pass->bytes_in_all, error);
}

/* ---- the pass ------------------------------------------------------------------------------- */

static void free_workers(stats_worker *workers, unsigned count, const gufo_allocator *allocator)
{
    for (unsigned i = 0; workers != NULL && i < count; i++)
        mem_free(allocator, workers[i].chunk);
    mem_free(allocator, workers);
}

static gufo_status make_workers(walk *w, unsigned count, const gufo_allocator *allocator,
                                gufo_error *error)
{
    const stats_layout *layout = w->pass->layout;
    uint64_t groups = smaller(layout->groups_per_chunk, layout->groups);
    size_t chunk_bytes = (size_t)(groups * layout->group_bytes);

    w->workers = mem_zero(allocator, count * sizeof *w->workers);
    if (w->workers == NULL)
        return fail_memory(error);
    for (unsigned i = 0; i < count; i++) {
        w->workers[i].chunk = mem_alloc(allocator, chunk_bytes);
        if (w->workers[i].chunk == NULL)
            return fail_memory(error);
    }
    return GUFO_OK;
}

gufo_status stats_run_pass(const stats_pass *pass, gufo_error *error)
{
    const stats_layout *layout = pass->layout;
    const gufo_allocator *allocator = run_allocator(pass->run);
    walk w = {.pass = pass, .cpu = pass->run->cpu};
    parallel_loop loop = {.threads = pass->run->threads,
                          .result_size = pass->result_size,
                          .context = &w,
                          .work = visit_chunk,
                          .hand_over = take_chunk};
    gufo_status status;

    if (layout->groups == 0)
        return GUFO_OK;
    loop.end = (layout->groups - 1) / layout->groups_per_chunk + 1;
    loop.threads = thread_count(loop.threads);
    if (loop.threads > loop.end)
        loop.threads = (unsigned)loop.end;
    status = make_workers(&w, loop.threads, allocator, error);
    if (status == GUFO_OK)
        status = parallel_run(&loop, allocator, error);
    free_workers(w.workers, loop.threads, allocator);
    return status;
}
