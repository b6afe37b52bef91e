/* Rows whose numbers are anywhere.
 *
 * Numbers that are wanted are a box: counts, with a stride in the file and one in the result for each.
 * Where the bytes from the first number to the last are few compared with those that are wanted, they
 * are read at once, and the numbers are picked from them.  Otherwise the box is divided along its
 * longest stride in the file.  A packed weight is read as if it were a file of its numbers, or of its
 * rows. */
#include "import/architectures/plan/plan.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "import/containers/checkpoint.h"
#include "import/packed/packed.h"

enum {
    SPAN_BYTES = 1 << 20, /* that are read at once */
    SPAN_WASTE = 4,       /* bytes read for each that is wanted, where they are more than a page */
    PAGE_BYTES = 4096
};

/* Numbers of a chunk, and where they go. */
typedef struct box {
    strided_pair walk; /* steps in numbers */
    uint64_t offset;   /* of the first, in the file */
    uint8_t *out;
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
    if (axis == b->walk.n) {
        copy_number(to, from, (size_t)width);
        return;
    }
    if (axis + 1 == b->walk.n && b->walk.from[axis] == 1 && b->walk.to[axis] == 1) {
        memcpy(to, from, (size_t)(b->walk.count[axis] * width));
        return;
    }
    for (uint64_t i = 0; i < b->walk.count[axis]; i++) {
        if (axis + 1 == b->walk.n)
            copy_number(to, from, (size_t)width);
        else
            spread(b, axis + 1, width, from, to);
        from += b->walk.from[axis] * width;
        to += b->walk.to[axis] * width;
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
    return b->walk.n == 0 || (b->walk.n == 1 && b->walk.from[0] == 1 && b->walk.to[0] == 1);
}

/* The bytes from the first number of a box to the end of its last one, and those of its numbers. */
static void measure(const box *b, uint64_t width, uint64_t *span, uint64_t *wanted)
{
    uint64_t last = 0, numbers = 1;

    for (uint32_t i = 0; i < b->walk.n; i++) {
        last += (b->walk.count[i] - 1) * b->walk.from[i];
        numbers *= b->walk.count[i];
    }
    *span = (last + 1) * width;
    *wanted = numbers * width;
}

/* The axis with the longest way in the file. */
static uint32_t longest_axis(const box *b)
{
    uint32_t longest = 0;

    for (uint32_t i = 1; i < b->walk.n; i++)
        if (b->walk.from[i] > b->walk.from[longest] ||
            (b->walk.from[i] == b->walk.from[longest] && b->walk.count[i] > b->walk.count[longest]))
            longest = i;
    return longest;
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
    end = b.walk.count[axis];
    if (span / SPAN_WASTE <= wanted) /* dense, but too long for one reading */
        step = larger(end / divide_up(span, SPAN_BYTES / 2), 1);
    for (uint64_t i = 0; i < end && status == GUFO_OK; i += step) {
        box part = b;

        part.offset += i * b.walk.from[axis] * width;
        part.out += i * b.walk.to[axis] * width;
        part.walk.count[axis] = smaller(step, end - i);
        if (part.walk.count[axis] == 1)
            strided_pair_remove(&part.walk, axis);
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
    box b = {.out = out, .walk.n = c->box.n - axis};
    gufo_status status = GUFO_OK;

    for (uint32_t i = c->box.n; i > axis + 1; i--) {
        b.walk.count[i - 1 - axis] = c->box.count[i - 1];
        b.walk.from[i - 1 - axis] = c->box.stride[i - 1];
        b.walk.to[i - 1 - axis] = entry;
        entry *= c->box.count[i - 1];
    }
    from = divide_up(first, entry);
    upto = end / entry;
    if (c->box.n == axis) { /* a single number */
        b.offset = offset;
        return fill_box(p, b, error);
    }
    if (from > upto) /* all in one entry */
        return fill_range(p, axis + 1, offset + first / entry * c->box.stride[axis] * width,
                          first % entry, count, out, error);
    if (first % entry != 0)
        status = fill_range(p, axis + 1, offset + first / entry * c->box.stride[axis] * width,
                            first % entry, entry - first % entry, out, error);
    b.walk.count[0] = upto - from;
    b.walk.from[0] = c->box.stride[axis];
    b.walk.to[0] = entry;
    b.offset = offset + from * c->box.stride[axis] * width;
    b.out = out + (from * entry - first) * width;
    if (status == GUFO_OK && b.walk.count[0] > 0)
        status = fill_box(p, b, error);
    if (status == GUFO_OK && end % entry != 0)
        status = fill_range(p, axis + 1, offset + upto * c->box.stride[axis] * width, 0,
                            end % entry, out + (upto * entry - first) * width, error);
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

static gathering *make_gathering(const view *v, uint64_t columns, uint64_t width, gather_form form)
{
    uint64_t each = sizeof(chunk) + sizeof(uint64_t), number = 0;
    gathering *g;

    if (v->count > (SIZE_MAX - sizeof *g) / each)
        return NULL;
    g = mem_alloc(v->allocator, sizeof *g + (size_t)(v->count * each));
    if (g == NULL)
        return NULL;
    *g = (gathering){.allocator = v->allocator,
                     .checkpoint = v->checkpoint,
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

gathering *gather_new(const view *v, uint64_t columns)
{
    return make_gathering(v, columns, v->chunks[0].number->bits / 8, GATHER_NUMBERS);
}

gathering *gather_new_rows(const view *v, uint64_t width, gather_form form)
{
    return make_gathering(v, 1, width, form);
}

/* The numbers of a view, a part at a time. */

gufo_status numbers_open(number_reader *r, const view *v, gufo_error *error)
{
    const chunk *first = v->chunks;

    *r = (number_reader){.allocator = v->allocator, .numbers = v->numbers};
    for (uint64_t i = 1; i < v->count; i++)
        if (v->chunks[i].number != first->number || v->chunks[i].swapped != first->swapped)
            return refuse(error, GUFO_E_TYPE, "its parts have several types");
    if (v->count == 0)
        return GUFO_OK;
    if (first->number == &product_number)
        return refuse(
            error, GUFO_E_TYPE,
            "the rules of the architecture look at its numbers, which an adapter does not "
            "have");
    if (!number_is_read(first->number))
        return refuse(error, GUFO_E_TYPE, "numbers of type %s are not converted",
                      first->number->name);
    r->number = first->number;
    r->gathering = gather_new(v, 1);
    r->bytes = mem_array(v->allocator, NUMBERS_AT_ONCE, first->number->bits / 8);
    if (r->gathering == NULL || r->bytes == NULL)
        return fail_memory(error);
    r->rows = (rows){.read = gather_rows,
                     .context = r->gathering,
                     .row_bytes = first->number->bits / 8,
                     .count = v->numbers,
                     .columns = 1,
                     .type = number_element_type(first->number),
                     .unpack = unpack_find(first->number),
                     .swapped = first->swapped && first->number->bits > 8};
    return GUFO_OK;
}

void numbers_close(number_reader *r)
{
    if (r->allocator != NULL) {
        mem_free(r->allocator, r->gathering);
        mem_free(r->allocator, r->bytes);
    }
    *r = (number_reader){0};
}

gufo_status numbers_bytes(const number_reader *r, uint64_t first, uint64_t count, gufo_error *error)
{
    return gather_rows(&r->rows, first, count, r->bytes, error);
}

gufo_status numbers_floats(const number_reader *r, uint64_t first, uint64_t count, float *out,
                           gufo_error *error)
{
    gufo_status status = numbers_bytes(r, first, count, error);

    return status == GUFO_OK
               ? unpack_floats(r->number, r->rows.swapped, r->bytes, count, out, error)
               : status;
}

/* Factors of packed weights.
 *
 *     blk.0.attn_q.weight       blocks             W = block * scale
 *     blk.0.attn_q.scale        one number; for a stack of experts one for each
 *     blk.0.attn_q.input_scale  the same, of what the weight is multiplied with */

const char *const factor_names[FACTORS] = {".scale", ".input_scale"};

/* Sets the factors of matrices that a chunk is in; false if such a matrix has others. */
static bool set_factors(const factor_lists *l, const float *own, uint64_t first, uint64_t begin,
                        uint64_t end)
{
    for (uint64_t entry = first; entry < end; entry++)
        for (unsigned i = 0; i < FACTORS; i++) {
            float *to = &l->list[i][entry];

            if (entry < begin && *to != own[i])
                return false;
            *to = own[i];
        }
    return true;
}

static gufo_status fill_lists(const view *v, const factor_lists *l, bool *fit, gufo_error *error)
{
    const packed_weight *last = NULL;
    uint64_t each = v->numbers / l->entries, at = 0;
    float own[FACTORS] = {1, 1};
    gufo_status status = GUFO_OK;

    *fit = true;
    for (uint64_t i = 0; i < v->count && *fit && status == GUFO_OK; i++) {
        const chunk *c = &v->chunks[i];
        uint64_t end = at + c->numbers;

        if (c->packed != last)
            status =
                unpacked_fail(c->packed, c->packed->kind->factors(c->packed, own, error), error);
        last = c->packed;
        /* A matrix that began in the chunk before has factors already. */
        *fit = status == GUFO_OK &&
               set_factors(l, own, at / each, (at + each - 1) / each, (end + each - 1) / each);
        at = end;
    }
    return status;
}

gufo_status factors_read(const view *v, factor_lists *l, bool *fit, gufo_error *error)
{
    l->entries = v->n_dims == 3 ? v->shape[0] : 1;
    l->list[0] = mem_array(v->allocator, l->entries, FACTORS * sizeof *l->list[0]);
    if (l->list[0] == NULL)
        return fail_memory(error);
    l->list[1] = l->list[0] + l->entries;
    return fill_lists(v, l, fit, error);
}

void factors_free(const view *v, const factor_lists *l)
{
    mem_free(v->allocator, l->list[0]);
}

bool factors_are_one(const float *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (fabsf(list[i] - 1) > 1e-6f)
            return false;
    return true;
}
