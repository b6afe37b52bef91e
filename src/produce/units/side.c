/* Tables beside the rows of a piece: scales of another format, the factors of a low-rank product,
 * an order of columns.  They are small compared with their piece, and are kept in memory, as
 * floats, while their piece is made, and others whose tables fit beside them. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "produce/units/work.h"

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

/* Tables come from files: an order may name columns that do not exist. */
static gufo_status check_usable(const side_tables *s, const piece *p, gufo_error *error)
{
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const row_op_kind *kind = p->ops[i].kind;

        if (kind->usable != NULL && !kind->usable(side_of_op(s, p, i), p->columns))
            return refuse(error, GUFO_E_MALFORMED,
                          "tensor %s: the table for the operation \"%s\" holds an invalid number",
                          QUOTED(p->name), kind->name);
    }
    return GUFO_OK;
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
    return status == GUFO_OK ? check_usable(s, p, error) : status;
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
