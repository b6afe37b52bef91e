/* Threads with their memory, and the progress that they report. */
#include "produce/units/work.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

/* Tables beside the rows of a piece: scales of another format, the factors of a low-rank product,
 * an order of columns.  They are small compared with their piece, and are kept in memory, as
 * floats, while their piece is made, and others whose tables fit beside them. */

/* The side table of a place in the list; NULL where none exists. */
static const rows *side_at(const piece *p, uint64_t place)
{
    uint64_t of_sources = (uint64_t)p->n_sources * ROWS_SIDES;

    if (place < of_sources)
        return p->sources[place / ROWS_SIDES].side[place % ROWS_SIDES];
    place -= of_sources;
    return p->ops[place / OP_SIDES].side[place % OP_SIDES];
}

static uint64_t side_count(const piece *p)
{
    return (uint64_t)p->n_sources * ROWS_SIDES + (uint64_t)p->n_ops * OP_SIDES;
}

static bool side_size(const rows *r, uint64_t *numbers, uint64_t *raw)
{
    uint64_t size;

    return checked_mul(r->count, r->columns, numbers) &&
           checked_mul(*numbers, sizeof(float), &size) &&
           checked_mul(r->count, r->row_bytes, raw) && *raw <= SIZE_MAX && size <= SIZE_MAX;
}

gufo_status side_measure(const piece *p, uint64_t *bytes, gufo_error *error)
{
    *bytes = 0;
    for (uint64_t i = 0; i < side_count(p); i++) {
        const rows *r = side_at(p, i);
        uint64_t numbers, raw;

        if (r == NULL)
            continue;
        if (!side_size(r, &numbers, &raw) || !checked_add(*bytes, numbers * sizeof(float), bytes) ||
            !checked_add(*bytes, raw, bytes))
            return refuse(error, GUFO_E_LIMIT, "a table beside tensor %s is larger than any memory",
                          QUOTED(p->name));
    }
    return GUFO_OK;
}

static gufo_status load_side(const work *w, const rows *r, float **out, gufo_error *error)
{
    static const float *const none[ROWS_SIDES] = {NULL};
    const row_run all = {.rows = r, .count = r->count};
    uint64_t numbers = 0, raw = 0;
    gufo_status status = GUFO_OK;
    uint8_t *bytes;

    (void)side_size(r, &numbers, &raw);
    bytes = mem_alloc(&w->allocator, (size_t)raw + 1);
    *out = mem_alloc(&w->allocator, (size_t)numbers * sizeof(float) + 1);
    if (bytes == NULL || *out == NULL)
        status = fail_memory(error);
    if (status == GUFO_OK && r->count > 0)
        status = rows_read(w->job, &all, bytes, error);
    if (status == GUFO_OK && r->count > 0)
        status = rows_decode(w->job, &all, none, bytes, *out, w->cpu, error);
    mem_free(&w->allocator, bytes);
    return status;
}

bool side_exists(const piece *p)
{
    bool exists = p->n_ops > 0;

    for (uint32_t i = 0; i < p->n_sources; i++)
        exists = exists || p->sources[i].unpack != NULL;
    return exists;
}

static gufo_status load_piece(const work *w, const piece *p, side_tables *s, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *s = (side_tables){.count = side_count(p)};
    if (!side_exists(p))
        return GUFO_OK;
    s->tables = mem_zero(&w->allocator, ((size_t)s->count + 1) * sizeof *s->tables);
    if (s->tables == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < s->count && status == GUFO_OK; i++)
        if (side_at(p, i) != NULL)
            status = load_side(w, side_at(p, i), &s->tables[i], error);
    return status;
}

gufo_status side_load(work *w, uint64_t first, uint64_t count, gufo_error *error)
{
    loaded_sides *s = &w->sides;
    gufo_status status = GUFO_OK;
    plain_piece room;

    s->first = first;
    for (s->count = 0; s->count < count && status == GUFO_OK; s->count++)
        status =
            load_piece(w, job_piece_at(w->job, first + s->count, &room), &s->of[s->count], error);
    if (status != GUFO_OK)
        side_free(w);
    return status;
}

void side_free(work *w)
{
    loaded_sides *s = &w->sides;

    for (; s->count > 0; s->count--) {
        side_tables *one = &s->of[s->count - 1];

        for (uint64_t i = 0; one->tables != NULL && i < one->count; i++)
            mem_free(&w->allocator, one->tables[i]);
        mem_free(&w->allocator, one->tables);
    }
}

enum { BUFFER_ALIGNMENT = 64, MOST_THREADS = 1024 };

static uint64_t aligned(uint64_t size)
{
    return size + (BUFFER_ALIGNMENT - size % BUFFER_ALIGNMENT) % BUFFER_ALIGNMENT;
}

static void enlarge(uint64_t *size, uint64_t other)
{
    if (other > *size)
        *size = other;
}

/* ---- memory --------------------------------------------------------------------------------- */

/* What a job needs: for each thread, and once. */
typedef struct needs {
    unit_buffers each;
    uint64_t each_size;
    uint64_t sides, band; /* the largest; of a band, what one unit takes */
    uint64_t neediest;    /* piece */
    uint64_t most;
} needs;

static uint64_t size_of(const unit_buffers *b)
{
    return aligned(b->source) + aligned(b->coded) + 2 * aligned(b->values) + aligned(b->operated) +
           aligned(b->importance);
}

static uint64_t band_of(const piece *p)
{
    uint64_t count = p->unit_rows < p->slice_rows ? p->unit_rows : p->slice_rows;

    return p->transpose ? count * p->columns * cell_size(p) : 0;
}

/* What reading keeps: sources of a piece share it. */
static uint64_t kept_by_sources(const piece *p)
{
    uint64_t kept = 0;

    for (uint32_t i = 0; i < p->n_sources; i++)
        enlarge(&kept, p->sources[i].memory);
    return kept;
}

static gufo_status add_needs(needs *n, const gufo_job *job, uint64_t index, bool to_stream,
                             gufo_error *error)
{
    plain_piece room;
    const piece *p = job_piece_at(job, index, &room);
    unit_buffers b = cut_buffers(p, to_stream);
    uint64_t sides;
    gufo_status status = side_measure(p, &sides, error);

    if (status != GUFO_OK || p->units == 0)
        return status;
    sides += kept_by_sources(p);
    if (size_of(&b) + sides + band_of(p) > n->most) {
        n->most = size_of(&b) + sides + band_of(p);
        n->neediest = index;
    }
    enlarge(&n->each.source, b.source);
    enlarge(&n->each.coded, b.coded);
    enlarge(&n->each.values, b.values);
    enlarge(&n->each.operated, b.operated);
    enlarge(&n->each.importance, b.importance);
    enlarge(&n->sides, sides);
    enlarge(&n->band, band_of(p));
    return GUFO_OK;
}

static gufo_status find_needs(needs *n, const gufo_job *job, bool to_stream, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *n = (needs){.most = 0};
    for (uint64_t i = 0; i < job->piece_count && status == GUFO_OK; i++)
        status = add_needs(n, job, i, to_stream, error);
    n->each_size = size_of(&n->each);
    return status;
}

/* That tables of several pieces take, beside those of one. */
#define MORE_SIDES (UINT64_C(16) << 20)

/* As many threads as are wanted and as memory allows; a band gets the rest, or tables some of it.  `other` is taken
 * already. */
static gufo_status share_memory(work *w, const needs *n, uint64_t other, unsigned wanted,
                                gufo_error *error)
{
    uint64_t fixed = other + n->sides + n->band;
    uint64_t left = w->memory > fixed ? w->memory - fixed : 0;
    uint64_t fitting = n->each_size > 0 ? left / n->each_size : wanted;

    if (fitting == 0 && n->most > 0)
        return refuse(error, GUFO_E_LIMIT, "tensor %s needs %s bytes of memory, the limit is %s",
                      QUOTED(job_piece_at(w->job, n->neediest, &(plain_piece){0})->name),
                      GROUPED(fixed + n->each_size), GROUPED(w->memory));
    w->threads = fitting < wanted ? (unsigned)(fitting > 0 ? fitting : 1) : wanted;
    left -= smaller(left, w->threads * n->each_size);
    if (n->band > 0)
        w->band.capacity = n->band + left;
    w->sides.capacity = n->sides + (n->band > 0 ? 0 : smaller(left, MORE_SIDES));
    return GUFO_OK;
}

/* ---- encoders ------------------------------------------------------------------------------- */

/* What an encoder's tables take, where it has some. */
#define ENCODER_MEMORY (UINT64_C(2) << 20)

static gufo_status make_encoder(const work *w, const gufo_element_type *type, gufo_error *error)
{
    const gufo_encoder_options options = {
        .cpu = w->cpu, .effort = w->job->effort, .allocator = &w->allocator};
    gufo_error reason;

    if (w->encoders[type->id] != NULL)
        return GUFO_OK;
    w->encoders[type->id] = gufo_encoder_new(type, &options, &reason);
    return w->encoders[type->id] != NULL ? GUFO_OK : fail_as(error, &reason);
}

/* One for each type; *memory is what they take. */
static gufo_status make_encoders(work *w, uint64_t *memory, gufo_error *error)
{
    const gufo_job *job = w->job;
    size_t count = gufo_element_type_count();
    gufo_status status = GUFO_OK;

    *memory = 0;
    w->encoders = mem_zero(&w->allocator, count * sizeof(gufo_encoder *));
    if (w->encoders == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < job->piece_count; i++) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);

        for (uint32_t k = 0; k < p->n_made && status == GUFO_OK; k++)
            if (p->made[k].encode && p->units > 0)
                status = make_encoder(w, p->made[k].type, error);
    }
    for (size_t i = 0; i < count; i++)
        *memory += w->encoders[i] != NULL ? ENCODER_MEMORY : 0;
    return status;
}

static void free_encoders(work *w)
{
    for (size_t i = 0; w->encoders != NULL && i < gufo_element_type_count(); i++)
        gufo_encoder_free(w->encoders[i]);
    mem_free(&w->allocator, w->encoders);
    w->encoders = NULL;
}

/* ---- threads -------------------------------------------------------------------------------- */

static void *cut_buffer(uint8_t **rest, uint64_t size)
{
    uint8_t *begin = *rest;

    *rest += aligned(size);
    return begin;
}

static void place_buffers(work *w, const unit_buffers *each)
{
    uint8_t *at = w->buffers;

    at += (BUFFER_ALIGNMENT - (uintptr_t)at % BUFFER_ALIGNMENT) % BUFFER_ALIGNMENT;
    for (unsigned i = 0; i < w->threads; i++) {
        worker *t = &w->workers[i];

        t->source = cut_buffer(&at, each->source);
        t->source_size = (size_t)each->source;
        t->coded = cut_buffer(&at, each->coded);
        t->values = cut_buffer(&at, each->values);
        t->decoded = cut_buffer(&at, each->values);
        t->operated = cut_buffer(&at, each->operated);
        t->importance = cut_buffer(&at, each->importance);
        t->importance_piece = UINT64_MAX;
    }
}

/* No more than what the largest transposed piece takes at once. */
static void limit_band(work *w)
{
    uint64_t most = 0;

    for (uint64_t i = 0; i < w->job->piece_count; i++) {
        plain_piece room;
        const piece *p = job_piece_at(w->job, i, &room);
        uint64_t size;

        if (p->transpose) {
            if (!checked_mul(p->slice_rows * p->columns, cell_size(p), &size))
                size = UINT64_MAX;
            enlarge(&most, size);
        }
    }
    if (w->band.capacity > most)
        w->band.capacity = most;
}

static gufo_status make_workers(work *w, const needs *n, gufo_error *error)
{
    const gufo_allocator *a = &w->allocator;
    uint64_t size = w->threads * n->each_size + BUFFER_ALIGNMENT;

    w->workers = mem_zero(a, w->threads * sizeof *w->workers);
    w->buffers = size <= SIZE_MAX ? mem_alloc(a, (size_t)size) : NULL;
    if (w->band.capacity > 0 && w->band.capacity <= SIZE_MAX)
        w->band.cells = mem_alloc(a, (size_t)w->band.capacity);
    if (w->workers == NULL || w->buffers == NULL || (w->band.capacity > 0 && w->band.cells == NULL))
        return fail_memory(error);
    place_buffers(w, &n->each);
    return GUFO_OK;
}

gufo_status work_begin(work *w, gufo_job *job, const gufo_run *run, bool to_stream,
                       gufo_error *error)
{
    unsigned wanted = thread_count(run->threads < MOST_THREADS ? run->threads : MOST_THREADS);
    uint64_t tables;
    gufo_status status;
    needs n;

    *w = (work){.job = job,
                .allocator = run->allocator != NULL ? *run->allocator : job->allocator,
                .cpu = run->cpu,
                .memory = run->memory != 0 ? run->memory : job->memory,
                .total = job->total,
                .run = run};
    status = make_encoders(w, &tables, error);
    if (status == GUFO_OK)
        status = find_needs(&n, job, to_stream, error);
    if (status == GUFO_OK)
        status = share_memory(w, &n, tables + job->other_memory, wanted, error);
    if (status == GUFO_OK) {
        limit_band(w);
        status = make_workers(w, &n, error);
    }
    if (status != GUFO_OK)
        work_end(w);
    return status;
}

void work_end(work *w)
{
    const gufo_allocator *a = &w->allocator;

    side_free(w);
    free_encoders(w);
    mem_free(a, w->band.cells);
    mem_free(a, w->buffers);
    mem_free(a, w->workers);
    w->workers = NULL;
    w->buffers = w->band.cells = NULL;
}

/* ---- reports -------------------------------------------------------------------------------- */

gufo_status work_fail_target(const work *w, uint32_t target, gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, target, w->paths != NULL ? w->paths[target] : NULL);
    return status;
}

gufo_status work_write(const work *w, uint32_t target, uint64_t at, const uint8_t *bytes,
                       uint64_t size, gufo_error *error)
{
    const byte_range to = part_clip(w->part, target, at, size);
    gufo_status status = to.from == to.to
                             ? GUFO_OK
                             : output_write_at(w->files[target], to.from, bytes + (to.from - at),
                                               (size_t)(to.to - to.from), error);

    return work_fail_target(w, target, status, error);
}

gufo_status work_advance(work *w, uint64_t bytes, gufo_error *error)
{
    w->done += bytes;
    return run_progress(w->run, w->done, w->total, error);
}

/* ---- the beginning of a run ------------------------------------------------------------------ */

static gufo_status check_nothing_given(const gufo_job *job, gufo_error *error)
{
    for (uint64_t i = 0; i < job->piece_count; i++) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);

        if (p->how == PIECE_GIVEN && p->slice_rows > 0)
            return refuse(error, GUFO_E_ARGUMENT,
                          "the caller must give the data of tensor %s (gufo_job_open)",
                          QUOTED(p->name));
    }
    return GUFO_OK;
}

gufo_status job_start(gufo_job *job, work *w, const gufo_run *run, bool to_stream,
                      gufo_error *error)
{
    gufo_status status = job_add_counted(job, error);

    if (status == GUFO_OK)
        status = check_nothing_given(job, error);
    if (status == GUFO_OK)
        status = job_begin(job, run_of(run), error);
    return status == GUFO_OK ? work_begin(w, job, run_of(run), to_stream, error) : status;
}
