/* A tensor as a piece of a job: where its rows are, and in which order.
 *
 * q k v of each head, or of each group of heads, become all q, all k, all v: rows in another order.
 * The elements of a bias are rows of one number each, so the same order serves them. */
#include "base/checked.h"
#include "base/error.h"
#include "legacy/plan.h"
#include "produce/produce.h"

enum { MOST_SEGMENTS = 3 };

/* What a piece is made of, while it is planned. */
typedef struct planning {
    const legacy_tensor *tensor;
    rows sources[LEGACY_MAX_PARTS];
    segment segments[LEGACY_MAX_PARTS];
    uint32_t source_count, segment_count;
    uint64_t columns, row_bytes, rows; /* of the piece */
} planning;

/* ---- sources -------------------------------------------------------------------------------- */

static gufo_status read_made_rows(const rows *r, uint64_t first, uint64_t count, void *out,
                                  gufo_error *error)
{
    return legacy_read_rows(r->context, first, count, out, error);
}

static void add_source(planning *p, uint32_t input, uint64_t offset, uint64_t count)
{
    p->sources[p->source_count++] = (rows){.input = input,
                                           .source = &p->tensor->file->parts[input].source,
                                           .offset = offset,
                                           .row_bytes = p->row_bytes,
                                           .count = count,
                                           .columns = p->columns,
                                           .type = p->tensor->type};
}

/* The bytes of the file: of every part, or of every record. */
static void add_copied_sources(planning *p)
{
    const legacy_tensor *t = p->tensor;
    uint32_t parts = first_record(t)->n_dims == 2 ? t->file->part_count : 1;

    for (uint32_t part = 0; part < parts; part++)
        for (uint32_t i = 0; i < t->record_count; i++) {
            const legacy_record *r = &t->file->parts[part].records[t->records[i]];

            add_source(p, part, r->offset, r->size / p->row_bytes);
        }
}

static void add_sources(planning *p)
{
    if (p->tensor->record_count == 0) {
        add_source(p, 0, p->tensor->file->parts[0].mel_offset, p->rows);
        return;
    }
    if (legacy_is_copied(p->tensor)) {
        add_copied_sources(p);
        return;
    }
    p->sources[p->source_count++] = (rows){.read = read_made_rows,
                                           .context = (void *)p->tensor,
                                           .row_bytes = p->row_bytes,
                                           .count = p->rows,
                                           .columns = p->columns,
                                           .type = p->tensor->type};
}

/* ---- orders --------------------------------------------------------------------------------- */

/* Heads of attention, as the header and the shapes say. */
typedef struct heads {
    uint64_t all, groups, size; /* heads, heads of keys and values, rows of one */
} heads;

static void add_segment(planning *p, uint64_t first, uint64_t count, uint64_t times,
                        uint64_t stride)
{
    p->segments[p->segment_count++] =
        (segment){.first = first, .count = {count, times, 1}, .stride = {1, stride, 0}};
}

/* [head][q k v] is [group][q... k v] with one head in each group. */
static void add_groups(planning *p, const heads *h)
{
    uint64_t q = h->all / h->groups * h->size, stride = q + 2 * h->size;

    add_segment(p, 0, q, h->groups, stride);
    add_segment(p, q, h->size, h->groups, stride);
    add_segment(p, q + h->size, h->size, h->groups, stride);
}

/* All q, and the first head of k and of v. */
static void add_one_kv(planning *p, const heads *h)
{
    uint64_t q = h->all * h->size;

    add_segment(p, 0, q, 1, 0);
    add_segment(p, q, h->size, 1, 0);
    add_segment(p, 2 * q, h->size, 1, 0);
}

static heads find_heads(const legacy_tensor *t)
{
    uint64_t all = (uint64_t)field_of(t->file, FIELD_HEAD);
    heads h = {.all = all, .groups = all, .size = (uint64_t)field_of(t->file, FIELD_EMBD) / all};

    if (t->order == ORDER_GROUPS)
        h.groups = (uint64_t)field_of(t->file, FIELD_HEAD_KV);
    return h;
}

/* Rows that attention has in the file: what the order is about. */
static uint64_t rows_before(const legacy_tensor *t, const heads *h)
{
    return t->order == ORDER_GROUPS ? (h->all + 2 * h->groups) * h->size : 3 * h->all * h->size;
}

static gufo_status add_order(planning *p, gufo_error *error)
{
    heads h;

    if (p->tensor->order == ORDER_AS_IS || p->tensor->order == ORDER_FLIPPED ||
        p->tensor->order == ORDER_STACKED) {
        for (uint32_t i = 0; i < p->source_count; i++) {
            add_segment(p, 0, p->sources[i].count, 1, 0);
            p->segments[i].source = i;
        }
        return GUFO_OK;
    }
    h = find_heads(p->tensor);
    if (p->sources[0].count != rows_before(p->tensor, &h))
        return fail_with(error, GUFO_E_MALFORMED, first_record(p->tensor)->header,
                         "tensor %s has %s rows of queries, keys and values, not %s",
                         QUOTED(p->tensor->source), GROUPED(p->sources[0].count),
                         GROUPED(rows_before(p->tensor, &h)));
    if (p->tensor->order == ORDER_ONE_KV)
        add_one_kv(p, &h);
    else
        add_groups(p, &h);
    return GUFO_OK;
}

/* ---- the piece ------------------------------------------------------------------------------ */

/* Rows of the file: of a bias whose order changes, each number. */
static gufo_status begin(planning *p, gufo_error *error)
{
    const legacy_tensor *t = p->tensor;
    uint64_t all = 1, ne[LEGACY_MAX_DIMS];

    if (t->record_count == 0) {
        p->columns = t->dims[0];
        p->rows = t->dims[1];
        return gufo_element_row_size(t->type, p->columns, &p->row_bytes, error);
    }
    legacy_whole(t->file, first_record(t), t->row, ne);
    for (uint32_t i = 0; i < LEGACY_MAX_DIMS; i++)
        all *= ne[i];
    p->columns = t->order != ORDER_AS_IS && first_record(t)->n_dims == 1 ? 1 : ne[0];
    if (first_record(t)->layout->block_length == 1 && t->row != NULL && t->row->dims != NULL)
        p->columns = 1; /* other dimensions: just numbers */
    p->rows = all / p->columns;
    return gufo_element_row_size(t->type, p->columns, &p->row_bytes, error);
}

gufo_status legacy_add_piece(gufo_job *job, const legacy_tensor *t, uint64_t place,
                             gufo_error *error)
{
    planning *p = mem_zero(t->file->allocator, sizeof *p);
    bool flip = t->order == ORDER_FLIPPED;
    gufo_status status;

    if (p == NULL)
        return fail_memory(error);
    p->tensor = t;
    status = begin(p, error);
    if (status == GUFO_OK) {
        add_sources(p);
        status = add_order(p, error);
    }
    if (status == GUFO_OK) {
        made result = {.place = place, .row_bytes = p->row_bytes, .type = t->type};
        piece all = {.how = flip ? PIECE_MAKE : PIECE_MOVE,
                     .name = gufo_str_of(t->name),
                     .sources = p->sources,
                     .segments = p->segments,
                     .made = &result,
                     .n_sources = p->source_count,
                     .n_segments = p->segment_count,
                     .n_made = 1,
                     .transpose = flip,
                     .columns = p->columns,
                     .slices = 1};

        for (uint32_t i = 0; i < p->segment_count; i++)
            all.slice_rows += p->segments[i].count[0] * p->segments[i].count[1];
        if (flip) { /* columns of the file become rows */
            all.columns = all.slice_rows;
            all.slice_rows = p->columns;
            status = gufo_element_row_size(t->type, all.columns, &result.row_bytes, error);
        }
        if (status == GUFO_OK)
            status = job_add_piece(job, &all, error);
    }
    mem_free(t->file->allocator, p);
    return status;
}
