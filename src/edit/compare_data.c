/* Comparing the bytes of two tensors of one element type.
 *
 * Both are read in chunks of whole blocks, side by side on many threads.  Where the byte orders of
 * the files differ, the blocks of the big-endian one are swapped first.  After the first chunk with
 * a difference nothing more is read. */
#include <string.h>

#include "base/error.h"
#include "edit/compare.h"

enum { CHUNK_BYTES = 256 * 1024 };

typedef struct byte_walk {
    comparing *c;
    const compared_side *sides;
    uint64_t size;  /* bytes to compare */
    uint64_t chunk; /* bytes of a chunk: whole groups of blocks */
    void *memory;   /* two chunks for each thread */
    bool turn;
    gufo_tensor_difference *difference;
} byte_walk;

/* The result of a chunk. */
typedef struct byte_result {
    bool differs;
    uint64_t first;
} byte_result;

static uint64_t size_of_chunk(const byte_walk *w, uint64_t index)
{
    uint64_t rest = w->size - index * w->chunk;

    return rest < w->chunk ? rest : w->chunk;
}

static gufo_status read_side(const byte_walk *w, size_t side, uint64_t index, uint8_t *to,
                             gufo_error *error)
{
    const compared_side *s = &w->sides[side];
    uint64_t size = size_of_chunk(w, index);
    gufo_status status = compare_read(s, index * w->chunk, to, size, error);

    if (status != GUFO_OK || !w->turn || !s->big)
        return status;
    return gufo_swap_blocks(s->type, to, size / s->type->block_bytes, error);
}

static gufo_status compare_chunk(void *context, unsigned thread, uint64_t index, void *result,
                                 gufo_error *error)
{
    byte_walk *w = context;
    byte_result *out = result;
    uint8_t *a = (uint8_t *)w->memory + (size_t)(2 * thread * w->chunk), *b = a + w->chunk;
    uint64_t size = size_of_chunk(w, index), at = 0;
    gufo_status status = read_side(w, 0, index, a, error);

    if (status == GUFO_OK)
        status = read_side(w, 1, index, b, error);
    if (status != GUFO_OK || memcmp(a, b, (size_t)size) == 0)
        return status;
    while (a[at] == b[at])
        at++;
    *out = (byte_result){.differs = true, .first = index * w->chunk + at};
    return GUFO_OK;
}

/* A difference ends the loop as a failure would. */
static gufo_status take_chunk(void *context, uint64_t index, const void *result, gufo_error *error)
{
    byte_walk *w = context;
    const byte_result *chunk = result;

    if (!chunk->differs)
        return compare_progress(w->c, index * w->chunk + size_of_chunk(w, index), error);
    w->difference->data = true;
    w->difference->first = chunk->first;
    return refuse(error, GUFO_E_STOPPED, "a difference was found");
}

static gufo_status walk(byte_walk *w, gufo_error *error)
{
    parallel_loop loop = {.end = (w->size - 1) / w->chunk + 1,
                          .result_size = sizeof(byte_result),
                          .context = w,
                          .work = compare_chunk,
                          .hand_over = take_chunk};
    gufo_status status = compare_run(w->c, &loop, 2 * (size_t)w->chunk, &w->memory, error);

    return w->difference->data ? GUFO_OK : status;
}

/* The bytes that are compared.  The size of an unknown type reaches to the next tensor, and may be
 * more by padding than it is in another file. */
static bool common_size(const compared_side sides[2], uint64_t *size)
{
    const gufo_tensor *a = sides[0].tensor, *b = sides[1].tensor;
    uint64_t more = a->size > b->size ? a->size - b->size : b->size - a->size;
    const gufo_model *longer = sides[a->size > b->size ? 0 : 1].model;

    *size = a->size < b->size ? a->size : b->size;
    return more == 0 ||
           (!a->size_known && !b->size_known && more < gufo_model_facts(longer).alignment);
}

gufo_status compare_tensor_bytes(comparing *c, const compared_side sides[2],
                                 gufo_tensor_difference *difference, gufo_error *error)
{
    byte_walk w = {.c = c,
                   .sides = sides,
                   .chunk = CHUNK_BYTES,
                   .turn = sides[0].big != sides[1].big,
                   .difference = difference};
    bool has_blocks = sides[0].type != NULL && sides[0].type->block_bytes > 0;

    if (!common_size(sides, &w.size)) {
        difference->data = true;
        difference->first = w.size;
        return GUFO_OK;
    }
    if (w.turn && !has_blocks) {
        difference->data = difference->unordered = true;
        return GUFO_OK;
    }
    if (has_blocks)
        w.chunk -= w.chunk % ((uint64_t)sides[0].rows * sides[0].type->block_bytes);
    return w.size > 0 ? walk(&w, error) : GUFO_OK;
}
