/* Rows whose numbers are anywhere.
 *
 * Numbers that are wanted are a box: counts, with a stride in the file and one in the result for each.
 * Where the bytes from the first number to the last are few compared with those that are wanted, they
 * are read at once, and the numbers are picked from them.  Otherwise the box is divided along its
 * longest stride in the file.  A packed weight is read as if it were a file of its numbers, or of its
 * rows. */
#include "import/architectures/plan/gather.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "import/packed/packed.h"

enum {
    SPAN_BYTES = 1 << 20, /* that are read at once */
    SPAN_WASTE = 4,       /* bytes read for each that is wanted, where they are more than a page */
    PAGE_BYTES = 4096
};

typedef struct box {
    uint64_t count[VIEW_DIMS], from[VIEW_DIMS], to[VIEW_DIMS]; /* strides in numbers */
    uint64_t offset;                                           /* of the first, in the file */
    uint8_t *out;
    uint32_t n;
} box;

typedef struct pick {
    const gathering *gathering;
    const chunk *chunk;
    uint8_t *span; /* room for any span that is read */
} pick;

/* ---- boxes ---------------------------------------------------------------------------------- */

/* Spreads numbers of a span over the result, from axis `axis` of the box on. */
static void spread(const box *b, uint32_t axis, uint64_t width, const uint8_t *from, uint8_t *to)
{
    if (axis == b->n) {
        copy_number(to, from, (size_t)width);
        return;
    }
    if (axis + 1 == b->n && b->from[axis] == 1 && b->to[axis] == 1) {
        memcpy(to, from, (size_t)(b->count[axis] * width));
        return;
    }
    for (uint64_t i = 0; i < b->count[axis]; i++) {
        if (axis + 1 == b->n)
            copy_number(to, from, (size_t)width);
        else
            spread(b, axis + 1, width, from, to);
        from += b->from[axis] * width;
        to += b->to[axis] * width;
    }
}

static gufo_status read_packed(const gathering *g, const packed_weight *w, uint64_t offset,
                               uint64_t size, uint8_t *out, gufo_error *error)
{
    static gufo_status (*const reads[])(const packed_weight *w, uint64_t first, uint64_t count,
                                        void *out,
                                        gufo_error *error) = {[GATHER_NUMBERS] = unpacked_numbers,
                                                              [GATHER_ROWS] = unpacked_rows,
                                                              [GATHER_BLOCKS] = unpacked_blocks};

    return reads[g->form](w, offset / g->width, size / g->width, out, error);
}

static gufo_status read_bytes(const pick *p, uint64_t offset, uint64_t size, uint8_t *out,
                              gufo_error *error)
{
    const chunk *c = p->chunk;
    gufo_status status = c->packed != NULL
                             ? read_packed(p->gathering, c->packed, offset, size, out, error)
                             : source_read(c->source, offset, out, (size_t)size, error);

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, c->file, p->gathering->checkpoint->files[c->file].path);
    return status;
}

static gufo_status read_span(const pick *p, const box *b, uint64_t size, gufo_error *error)
{
    gufo_status status = read_bytes(p, b->offset, size, p->span, error);

    if (status == GUFO_OK)
        spread(b, 0, p->gathering->width, p->span, b->out);
    return status;
}

/* Whether its elements follow each other, in the file and in the result. */
static bool is_run(const box *b)
{
    return b->n == 0 || (b->n == 1 && b->from[0] == 1 && b->to[0] == 1);
}

/* The bytes from the first number of a box to the end of its last one, and those of its numbers. */
static void measure(const box *b, uint64_t width, uint64_t *span, uint64_t *wanted)
{
    uint64_t last = 0, numbers = 1;

    for (uint32_t i = 0; i < b->n; i++) {
        last += (b->count[i] - 1) * b->from[i];
        numbers *= b->count[i];
    }
    *span = (last + 1) * width;
    *wanted = numbers * width;
}

/* The axis with the longest way in the file. */
static uint32_t longest_axis(const box *b)
{
    uint32_t longest = 0;

    for (uint32_t i = 1; i < b->n; i++)
        if (b->from[i] > b->from[longest] ||
            (b->from[i] == b->from[longest] && b->count[i] > b->count[longest]))
            longest = i;
    return longest;
}

static void remove_axis(box *b, uint32_t axis)
{
    for (b->n--; axis < b->n; axis++) {
        b->count[axis] = b->count[axis + 1];
        b->from[axis] = b->from[axis + 1];
        b->to[axis] = b->to[axis + 1];
    }
}

/* A box with the longest axis cut into pieces whose span fits, or into single entries. */
static gufo_status fill_box(const pick *p, box b, gufo_error *error)
{
    uint64_t width = p->gathering->width, span, wanted, step = 1, end;
    uint32_t axis;
    gufo_status status = GUFO_OK;

    measure(&b, width, &span, &wanted);
    if (is_run(&b))
        return read_bytes(p, b.offset, span, b.out, error);
    if (span <= SPAN_BYTES && (span <= PAGE_BYTES || span / SPAN_WASTE <= wanted))
        return read_span(p, &b, span, error);
    axis = longest_axis(&b);
    end = b.count[axis];
    if (span / SPAN_WASTE <= wanted) /* dense, but too long for one reading */
        step = larger(end / divide_up(span, SPAN_BYTES / 2), 1);
    for (uint64_t i = 0; i < end && status == GUFO_OK; i += step) {
        box part = b;

        part.offset += i * b.from[axis] * width;
        part.out += i * b.to[axis] * width;
        part.count[axis] = smaller(step, end - i);
        if (part.count[axis] == 1)
            remove_axis(&part, axis);
        status = fill_box(p, part, error);
    }
    return status;
}

/* ---- ranges --------------------------------------------------------------------------------- */

/* Numbers [first, first + count) of the chunk inside axes before `axis`: whole entries of that axis
 * are one box, and what is before and behind them is divided further. */
static gufo_status fill_range(const pick *p, uint32_t axis, uint64_t offset, uint64_t first,
                              uint64_t count, uint8_t *out, gufo_error *error)
{
    const chunk *c = p->chunk;
    uint64_t width = p->gathering->width, entry = 1, end = first + count, from, upto;
    box b = {.out = out, .n = c->n_dims - axis};
    gufo_status status = GUFO_OK;

    for (uint32_t i = c->n_dims; i > axis + 1; i--) {
        b.count[i - 1 - axis] = c->count[i - 1];
        b.from[i - 1 - axis] = c->stride[i - 1];
        b.to[i - 1 - axis] = entry;
        entry *= c->count[i - 1];
    }
    from = divide_up(first, entry);
    upto = end / entry;
    if (c->n_dims == axis) { /* a single number */
        b.offset = offset;
        return fill_box(p, b, error);
    }
    if (from > upto) /* all in one entry */
        return fill_range(p, axis + 1, offset + first / entry * c->stride[axis] * width,
                          first % entry, count, out, error);
    if (first % entry != 0)
        status = fill_range(p, axis + 1, offset + first / entry * c->stride[axis] * width,
                            first % entry, entry - first % entry, out, error);
    b.count[0] = upto - from;
    b.from[0] = c->stride[axis];
    b.to[0] = entry;
    b.offset = offset + from * c->stride[axis] * width;
    b.out = out + (from * entry - first) * width;
    if (status == GUFO_OK && b.count[0] > 0)
        status = fill_box(p, b, error);
    if (status == GUFO_OK && end % entry != 0)
        status = fill_range(p, axis + 1, offset + upto * c->stride[axis] * width, 0, end % entry,
                            out + (upto * entry - first) * width, error);
    return status;
}

gufo_status gather_rows(const struct rows *r, uint64_t first, uint64_t count, void *out,
                        gufo_error *error)
{
    const gathering *g = r->context;
    uint64_t number = first * g->columns, end = (first + count) * g->columns;
    uint64_t all = (end - number) * g->width, room = SPAN_WASTE * (all + 1);
    pick p = {.gathering = g,
              .span =
                  mem_alloc(g->allocator, (size_t)smaller(SPAN_BYTES, larger(PAGE_BYTES, room)))};
    uint8_t *to = out;
    gufo_status status = p.span != NULL ? GUFO_OK : fail_memory(error);

    for (uint64_t i = last_begun(g->begins, sizeof *g->begins, g->count, number);
         number < end && status == GUFO_OK; i++) {
        const chunk *c = &g->chunks[i];
        uint64_t inside = number - g->begins[i], some = smaller(end - number, c->numbers - inside);

        p.chunk = c;
        if (chunk_is_zeros(c))
            memset(to, 0, (size_t)(some * g->width));
        else
            status = fill_range(&p, 0, c->offset, inside, some, to, error);
        to += some * g->width;
        number += some;
    }
    mem_free(g->allocator, p.span);
    return status;
}

gufo_status gather_zeros(const struct rows *r, uint64_t first, uint64_t count, void *out,
                         gufo_error *error)
{
    (void)first, (void)error;
    memset(out, 0, (size_t)(count * r->row_bytes));
    return GUFO_OK;
}

/* ---- life ----------------------------------------------------------------------------------- */

static gathering *make_gathering(const view *v, const checkpoint *c, uint64_t columns,
                                 uint64_t width, gather_form form)
{
    uint64_t each = sizeof(chunk) + sizeof(uint64_t), number = 0;
    gathering *g;

    if (v->count > (SIZE_MAX - sizeof *g) / each)
        return NULL;
    g = mem_alloc(v->allocator, sizeof *g + (size_t)(v->count * each));
    if (g == NULL)
        return NULL;
    *g = (gathering){.allocator = v->allocator,
                     .checkpoint = c,
                     .chunks = (chunk *)(void *)(g + 1),
                     .count = v->count,
                     .columns = columns,
                     .width = width,
                     .form = form};
    g->begins = (uint64_t *)(void *)(g->chunks + v->count);
    for (uint64_t i = 0; i < v->count; i++) {
        g->chunks[i] = v->chunks[i];
        g->begins[i] = number;
        number += v->chunks[i].numbers;
    }
    return g;
}

gathering *gather_new(const view *v, const checkpoint *c, uint64_t columns)
{
    return make_gathering(v, c, columns, v->chunks[0].number->bits / 8, GATHER_NUMBERS);
}

gathering *gather_new_rows(const view *v, const checkpoint *c, uint64_t width, gather_form form)
{
    return make_gathering(v, c, 1, width, form);
}
