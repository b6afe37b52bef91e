/* From a row of a piece to bytes of a file.
 *
 * A segment with counts 2, 3 and strides 3, 1 takes rows 0 3 1 4 2 5 of its source.  Contiguous
 * rows of the source are read at once: a segment with stride 1 is one run, however long. */
#include "produce/units/work.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/coding.h"
#include "codec/interleaved.h"

enum { DIMS = 3 };

/* ---- checking ------------------------------------------------------------------------------- */

/* Counts of one say nothing, and a count that continues where the one before ends is part of it. */
static void join_counts(segment *s)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < DIMS; i++) {
        if (s->count[i] == 1)
            continue;
        if (kept > 0 && s->stride[i] == s->count[kept - 1] * s->stride[kept - 1]) {
            s->count[kept - 1] *= s->count[i];
            continue;
        }
        s->count[kept] = s->count[i];
        s->stride[kept++] = s->stride[i];
    }
    for (; kept < DIMS; kept++) {
        s->count[kept] = 1;
        s->stride[kept] = 0;
    }
}

/* The rows of a segment, and whether its last one is inside the source. */
static bool measure_segment(const segment *s, const rows *r, uint64_t *count)
{
    uint64_t last = s->first;

    *count = 1;
    for (unsigned i = 0; i < DIMS; i++) {
        uint64_t reach;

        if (s->count[i] == 0 || !checked_mul(*count, s->count[i], count) ||
            !checked_mul(s->count[i] - 1, s->stride[i], &reach) || !checked_add(last, reach, &last))
            return false;
    }
    return last < r->count;
}

bool rows_check(piece *p, uint64_t row_count)
{
    uint64_t begin = 0, count;

    for (uint32_t i = 0; i < p->n_segments; i++) {
        segment *s = &p->segments[i];

        if (s->source >= p->n_sources || !measure_segment(s, &p->sources[s->source], &count))
            return false;
        join_counts(s);
        s->begin = begin;
        if (!checked_add(begin, count, &begin))
            return false;
    }
    return begin == row_count;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* The last segment that begins at or before a row. */
static const segment *segment_of(const piece *p, uint64_t row)
{
    return &p->segments[last_begun(&p->segments->begin, sizeof *p->segments, p->n_segments, row)];
}

row_run rows_find(const piece *p, uint64_t row, uint64_t most)
{
    const segment *s = segment_of(p, row);
    uint64_t at = row - s->begin, fast = at % s->count[0], rest = at / s->count[0];
    row_run run = {.rows = &p->sources[s->source], .count = 1};

    run.first = s->first + fast * s->stride[0] + rest % s->count[1] * s->stride[1] +
                rest / s->count[1] * s->stride[2];
    if (s->stride[0] == 1)
        run.count = s->count[0] - fast;
    run.count = smaller(run.count, most);
    return run;
}

/* ---- what comes next ------------------------------------------------------------------------ */

/* Rows of a segment from row `from` of it on: side by side they are what is left, else they are anywhere in it. */
static void expect_segment(const rows *r, const segment *s, uint64_t from, uint64_t rows_in_all)
{
    uint64_t first = s->first, last = first;

    for (unsigned i = 0; i < DIMS; i++)
        last += (s->count[i] - 1) * s->stride[i];
    if (s->stride[0] == 1 && s->count[0] == rows_in_all)
        first += from;
    source_expect(r->source, r->offset + first * r->row_bytes, (last - first + 1) * r->row_bytes);
}

void rows_expect(const piece *p, uint64_t row, uint64_t count)
{
    const uint64_t end = row + count;

    while (row < end) {
        const segment *s = segment_of(p, row);
        const rows *r = &p->sources[s->source];
        const uint64_t in_all = s->count[0] * s->count[1] * s->count[2];

        if (r->source != NULL && r->source->user.expect != NULL)
            expect_segment(r, s, row - s->begin, in_all);
        row = s->begin + in_all;
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

gufo_status rows_fail(const gufo_job *job, const rows *r, gufo_status status, gufo_error *error)
{
    const job_input *input = &job->inputs[r->input];

    if (status != GUFO_OK)
        fail_in(error, input->role, input->index, input->name);
    return status;
}

gufo_status rows_read(const gufo_job *job, const row_run *run, void *out, gufo_error *error)
{
    const rows *r = run->rows;

    if (r->source != NULL)
        return rows_read_part(job, run, 0, (size_t)(run->count * r->row_bytes), out, error);
    return rows_fail(job, r, r->read(r, run->first, run->count, out, error), error);
}

/* Bytes of a row that `read` gives whole. */
static gufo_status read_inside(const gufo_job *job, const row_run *run, uint64_t from, size_t size,
                               void *out, gufo_error *error)
{
    const rows *r = run->rows;
    uint8_t *row = mem_array(&job->allocator, r->row_bytes, 1);
    gufo_status status = row != NULL ? r->read(r, run->first, 1, row, error) : fail_memory(error);

    if (status == GUFO_OK)
        memcpy(out, row + from, size);
    mem_free(&job->allocator, row);
    return rows_fail(job, r, status, error);
}

gufo_status rows_read_part(const gufo_job *job, const row_run *run, uint64_t from, size_t size,
                           void *out, gufo_error *error)
{
    const rows *r = run->rows;
    uint64_t place = r->offset + run->first * r->row_bytes + from;

    if (r->source == NULL)
        return read_inside(job, run, from, size, out, error);
    return rows_fail(job, r, source_read(r->source, place, out, size, error), error);
}

gufo_status rows_gather(const gufo_job *job, const piece *p, uint64_t row, uint64_t count,
                        uint8_t *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t done = 0; done < count && status == GUFO_OK;) {
        row_run run = rows_find(p, row + done, count - done);

        status = rows_read(job, &run, out, error);
        out += run.count * run.rows->row_bytes;
        done += run.count;
    }
    return status;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static gufo_status decode_blocks(const row_run *run, uint8_t *bytes, float *out, gufo_cpu cpu,
                                 gufo_error *error)
{
    const rows *r = run->rows;
    gufo_status status = GUFO_OK;

    if (r->swapped)
        status = gufo_swap_blocks(r->type, bytes,
                                  run->count * (r->row_bytes / r->type->block_bytes), error);
    if (status != GUFO_OK)
        return status;
    /* Rows back to back are one long row, unless blocks are merged over several. */
    if (interleaved_find(r->type->id) != NULL)
        return coding_decode(r->type, bytes, run->count, r->columns, out, cpu, error);
    return coding_decode(r->type, bytes, 1, run->count * r->columns, out, cpu, error);
}

gufo_status rows_decode(const gufo_job *job, const row_run *run, const float *const *sides,
                        uint8_t *bytes, float *out, gufo_cpu cpu, gufo_error *error)
{
    const rows *r = run->rows;
    gufo_status status;

    if (r->unpack != NULL)
        status = r->unpack->floats(r, sides, bytes, run->first, run->count, out, error);
    else
        status = decode_blocks(run, bytes, out, cpu, error);
    return rows_fail(job, r, status, error);
}
