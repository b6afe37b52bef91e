/* Bands of rows that threads share.
 *
 *     band    | scales | columns 0 ... | columns 512 ... | ...     parts: each is read by one thread
 *
 * A thread that wants a band reads parts that none has begun, and waits for those of others.  A band
 * that could not be read is forgotten: threads that want its rows read them directly, and see why. */
#include "base/checked.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"
#include "import/packed/cache.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

/* Some rows of a weight of whole numbers.
 *
 * A scale of zero makes numbers zero.  Where their codes say that they are not, the scale was lost:
 * that is refused. */

enum { MOST_GROUPS = 1 << 24 /* of a row */ };

gufo_status integers_groups(const packed_weight *w, uint64_t *groups, gufo_error *error)
{
    uint64_t group = w->settings.group == 0 ? w->columns : w->settings.group;

    if (w->columns == 0 || w->rows == 0)
        return refuse(error, GUFO_E_MALFORMED, "it has no numbers");
    if (w->columns % group != 0)
        return refuse(error, GUFO_E_MALFORMED, "groups of %s columns do not divide rows of %s",
                      GROUPED(group), GROUPED(w->columns));
    *groups = w->columns / group;
    if (*groups > MOST_GROUPS)
        return refuse(error, GUFO_E_LIMIT, "its rows have %s groups, more than %s",
                      GROUPED(*groups), GROUPED(MOST_GROUPS));
    return GUFO_OK;
}

static const integer_layout *layout_of(const band *b)
{
    return b->w->kind->integers;
}

void band_close(band *b)
{
    mem_free(b->w->allocator, b->block);
}

static bool has_order(const packed_weight *w)
{
    const uint32_t part = w->kind->integers->order_part;

    return part != NO_PART && w->parts[part] != NULL;
}

/* The bytes of a band of so many rows; UINT64_MAX: more than can be counted. */
static uint64_t band_size(const packed_weight *w, uint64_t rows, bool has_codes)
{
    uint64_t order = 0, each, size, groups;

    if (integers_groups(w, &groups, NULL) != GUFO_OK ||
        !checked_mul(has_order(w) ? w->columns : 0, sizeof(uint32_t), &order) ||
        !checked_add(groups * (sizeof(float) + sizeof(uint16_t)), has_codes ? w->columns : 0,
                     &each) ||
        !checked_mul(rows, each, &size) || !checked_add(size, order, &size))
        return UINT64_MAX;
    return size;
}

/* The groups of columns.  Those that were never set are all -1; where column / group says the same,
 * no list is needed. */
static gufo_status read_order(band *b, gufo_error *error)
{
    const packed_weight *w = b->w;
    uint64_t unset = 0, same = 0;
    gufo_status status;

    status = packed_words(w, layout_of(b)->order_part, 0, w->columns, b->order, error);
    for (uint64_t i = 0; i < w->columns && status == GUFO_OK; i++) {
        unset += b->order[i] == UINT32_MAX;
        same += b->order[i] == i / b->group;
    }
    for (uint64_t i = 0; i < w->columns && status == GUFO_OK && unset < w->columns; i++)
        if (b->order[i] >= b->groups)
            status = packed_fail(w, layout_of(b)->order_part, i, error,
                                 "column %" PRIu64 " has group %" PRIu32 " of %" PRIu64, i,
                                 b->order[i], b->groups);
    if (unset == w->columns || same == w->columns)
        b->order = NULL;
    return status;
}

gufo_status band_open(band *b, const packed_weight *w, uint64_t most, bool has_codes, void *room,
                      gufo_error *error)
{
    uint8_t *at = room;
    gufo_status status;

    *b = (band){.w = w};
    status = integers_groups(w, &b->groups, error);
    if (status != GUFO_OK)
        return status;
    b->group = w->columns / b->groups;
    if (at == NULL)
        at = b->block = mem_array(w->allocator, band_size(w, most, has_codes), 1);
    if (at == NULL)
        return fail_memory(error);
    /* The widest numbers first: all are aligned. */
    b->scales = (float *)(void *)at;
    at += most * b->groups * sizeof *b->scales;
    if (has_order(w)) {
        b->order = (uint32_t *)(void *)at;
        at += w->columns * sizeof *b->order;
    }
    b->zeros = (uint16_t *)(void *)at;
    at += most * b->groups * sizeof *b->zeros;
    b->codes = has_codes ? at : NULL;
    return b->order != NULL ? read_order(b, error) : GUFO_OK;
}

/* The element of the part of scales. */
static uint64_t scale_index(const band *b, uint64_t row, uint64_t group)
{
    return layout_of(b)->groups_first ? group * b->w->rows + b->first + row
                                      : (b->first + row) * b->groups + group;
}

/* A code is at most 256 from its zero. */
static gufo_status check_finite(const band *b, gufo_error *error)
{
    for (uint64_t i = 0; i < b->count * b->groups; i++)
        if (!(fabsf(b->scales[i]) <= FLT_MAX / 256))
            return packed_fail(b->w, layout_of(b)->scale_part,
                               scale_index(b, i / b->groups, i % b->groups), error, "a scale is %s",
                               packed_fault_of_scale(b->scales[i]));
    return GUFO_OK;
}

gufo_status band_check_row(const band *b, uint64_t row, gufo_error *error)
{
    const float *scales = b->scales + row * b->groups;
    const uint8_t *codes = b->codes + row * b->w->columns;
    bool found = false;

    for (uint64_t i = 0; i < b->groups; i++)
        found = found || !(fabsf(scales[i]) > 0);
    for (uint64_t i = 0; found && i < b->w->columns; i++) {
        uint64_t group = band_group(b, i);

        if (!(fabsf(scales[group]) > 0) && codes[i] != b->zeros[row * b->groups + group])
            return packed_fail(b->w, layout_of(b)->scale_part, scale_index(b, row, group), error,
                               "the scale of numbers that are not zero is zero");
    }
    return GUFO_OK;
}

gufo_status band_scales(band *b, gufo_error *error)
{
    gufo_status status = layout_of(b)->scales(b->w, b->first, b->count, b->scales, b->zeros, error);

    return status == GUFO_OK ? check_finite(b, error) : status;
}

gufo_status band_codes(band *b, uint64_t column, uint64_t columns, gufo_error *error)
{
    const integer_box box = {b->first, b->count, column, columns};

    return layout_of(b)->codes(b->w, &box, b->codes, error);
}

/* Scales and zeros of weights whose rows are columns of their parts. */

gufo_status columns_open(const packed_weight *w, gufo_error *error)
{
    const uint64_t per = 32 / w->settings.bits;
    uint64_t groups = 0;
    gufo_status status = integers_groups(w, &groups, error);
    const uint64_t zeros[] = {groups, w->rows / per}, scales[] = {groups, w->rows};

    if (status == GUFO_OK && w->rows % per != 0)
        status =
            packed_fail(w, COLUMNS_WEIGHT, 0, error, "%s outputs do not fill words of %s numbers",
                        GROUPED(w->rows), GROUPED(per));
    if (status == GUFO_OK)
        status = packed_expect(w, COLUMNS_ZEROS, PACKED_WORDS, 2, zeros, error);
    if (status == GUFO_OK)
        status = packed_expect(w, COLUMNS_SCALES, PACKED_FLOATS, 2, scales, error);
    if (status == GUFO_OK && w->parts[COLUMNS_ORDER] != NULL)
        status = packed_expect(w, COLUMNS_ORDER, PACKED_WORDS, 1, &w->columns, error);
    return status;
}

/* The zeros and scales of one group, as they are stored; `words` has room for as many as there are
 * rows. */
static gufo_status read_group(const packed_weight *w, uint64_t group, uint64_t first,
                              uint64_t count, uint32_t *words, float *floats, gufo_error *error)
{
    const uint64_t per = 32 / w->settings.bits, from = first / per;
    gufo_status status = packed_words(w, COLUMNS_ZEROS, group * (w->rows / per) + from,
                                      divide_up(first + count, per) - from, words, error);

    return status == GUFO_OK
               ? packed_floats(w, COLUMNS_SCALES, group * w->rows + first, count, floats, error)
               : status;
}

static uint32_t zero_of(const packed_weight *w, const columns_zeros *z, uint32_t word, uint64_t row)
{
    const uint32_t bits = w->settings.bits, k = (uint32_t)(row % (32 / bits));

    return (word >> bits * (z->places != NULL ? z->places[k] : k) & ((1u << bits) - 1u)) + z->add;
}

gufo_status columns_scales(const packed_weight *w, const columns_zeros *z, uint64_t first,
                           uint64_t count, float *scales, uint16_t *zeros, gufo_error *error)
{
    const uint64_t groups = w->parts[COLUMNS_SCALES]->shape[0], per = 32 / w->settings.bits;
    uint32_t *words = mem_array(w->allocator, count, sizeof *words);
    float *floats = mem_array(w->allocator, count, sizeof *floats);
    gufo_status status = words == NULL || floats == NULL ? fail_memory(error) : GUFO_OK;

    for (uint64_t i = 0; i < groups && status == GUFO_OK; i++) {
        status = read_group(w, i, first, count, words, floats, error);
        for (uint64_t k = 0; k < count && status == GUFO_OK; k++) {
            scales[k * groups + i] = floats[k];
            zeros[k * groups + i] =
                (uint16_t)zero_of(w, z, words[(first + k) / per - first / per], first + k);
        }
    }
    mem_free(w->allocator, words);
    mem_free(w->allocator, floats);
    return status;
}

enum { LEAST_ROWS = 64 /* of a band that is worth it */ };

typedef struct slot {
    band band;
    void *room; /* PACKED_CACHE_BAND bytes; NULL: it was not used yet */
    bool is_open;
    bool failed;
    uint32_t users;
    uint64_t parts, begun, ended;
    uint64_t last_use;
} slot;

typedef struct packed_cache {
    const gufo_allocator *allocator;
    mutex lock; /* of all that is below, except for what bands hold */
    condition read;
    slot slots[PACKED_CACHE_SLOTS];
    uint64_t uses;
} packed_cache;

packed_cache *packed_cache_new(const gufo_allocator *allocator, gufo_error *error)
{
    packed_cache *c = mem_zero(allocator, sizeof *c);

    if (c == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    c->allocator = allocator;
    mutex_init(&c->lock);
    condition_init(&c->read);
    return c;
}

void packed_cache_free(packed_cache *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < PACKED_CACHE_SLOTS; i++)
        mem_free(c->allocator, c->slots[i].room);
    condition_destroy(&c->read);
    mutex_destroy(&c->lock);
    mem_free(c->allocator, c);
}

/* ---- slots ---------------------------------------------------------------------------------- */

static slot *find_slot(packed_cache *c, const packed_weight *w, uint64_t row)
{
    for (uint32_t i = 0; i < PACKED_CACHE_SLOTS; i++) {
        slot *s = &c->slots[i];

        if (s->is_open && !s->failed && s->band.w == w && row >= s->band.first &&
            row - s->band.first < s->band.count)
            return s;
    }
    return NULL;
}

/* The one that was not used for the longest time; NULL: all are in use. */
static slot *free_slot(packed_cache *c)
{
    slot *oldest = NULL;

    for (uint32_t i = 0; i < PACKED_CACHE_SLOTS; i++)
        if (c->slots[i].users == 0 && (oldest == NULL || c->slots[i].last_use < oldest->last_use))
            oldest = &c->slots[i];
    return oldest;
}

/* The rows of a band; 0: too few fit. */
static uint64_t band_rows(const packed_weight *w)
{
    uint64_t none = band_size(w, 0, true), each = band_size(w, 1, true) - none, rows;

    if (none > PACKED_CACHE_BAND || each == 0)
        return 0;
    rows = (PACKED_CACHE_BAND - none) / each;
    return rows < LEAST_ROWS ? 0 : smaller(rows / LEAST_ROWS * LEAST_ROWS, w->rows);
}

/* A slot for the band that has a row; *out stays NULL where none is free. */
static gufo_status open_slot(packed_cache *c, const packed_weight *w, uint64_t row, slot **out,
                             gufo_error *error)
{
    slot *s = free_slot(c);
    const uint64_t rows = band_rows(w);
    gufo_status status;

    if (s == NULL || rows == 0)
        return GUFO_OK;
    if (s->room == NULL)
        s->room = mem_alloc(c->allocator, PACKED_CACHE_BAND);
    if (s->room == NULL)
        return fail_memory(error);
    *s = (slot){.room = s->room};
    status = band_open(&s->band, w, rows, true, s->room, error);
    if (status != GUFO_OK)
        return status;
    s->is_open = true;
    s->band.first = row / rows * rows;
    s->band.count = smaller(rows, w->rows - s->band.first);
    s->parts = 1 + divide_up(w->columns, INTEGER_COLUMNS_STEP);
    *out = s;
    return GUFO_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static gufo_status read_part(band *b, uint64_t part, gufo_error *error)
{
    uint64_t column;

    if (part == 0)
        return band_scales(b, error);
    column = (part - 1) * INTEGER_COLUMNS_STEP;
    return band_codes(b, column, smaller(INTEGER_COLUMNS_STEP, b->w->columns - column), error);
}

/* Reads parts that none has begun, and waits for the others.  The lock is held before and after. */
static gufo_status read_band(packed_cache *c, slot *s, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    while (s->begun < s->parts && !s->failed) {
        uint64_t part = s->begun++;

        mutex_unlock(&c->lock);
        status = read_part(&s->band, part, error);
        mutex_lock(&c->lock);
        s->ended++;
        s->failed = s->failed || status != GUFO_OK;
        if (s->ended == s->begun)
            condition_broadcast(&c->read);
    }
    while (s->ended < s->begun)
        condition_wait(&c->read, &c->lock);
    return status;
}

gufo_status packed_cache_take(packed_cache *c, const packed_weight *w, uint64_t row,
                              const band **out, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    slot *s;

    *out = NULL;
    mutex_lock(&c->lock);
    s = find_slot(c, w, row);
    if (s == NULL)
        status = open_slot(c, w, row, &s, error);
    if (s != NULL) {
        s->users++;
        s->last_use = ++c->uses;
        status = read_band(c, s, error);
        if (s->failed)
            s->users--;
        else
            *out = &s->band;
    }
    mutex_unlock(&c->lock);
    return status;
}

void packed_cache_give_back(packed_cache *c, const band *b)
{
    mutex_lock(&c->lock);
    for (uint32_t i = 0; i < PACKED_CACHE_SLOTS; i++)
        if (&c->slots[i].band == b)
            c->slots[i].users--;
    mutex_unlock(&c->lock);
}
