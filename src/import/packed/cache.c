/* Bands of rows that threads share.
 *
 *     band    | scales | columns 0 ... | columns 512 ... | ...     parts: each is read by one thread
 *
 * A thread that wants a band reads parts that none has begun, and waits for those of others.  A band
 * that could not be read is forgotten: threads that want its rows read them directly, and see why. */
#include "import/packed/cache.h"

#include <pthread.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

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
    pthread_mutex_t lock; /* of all that is below, except for what bands hold */
    pthread_cond_t read;
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
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->read, NULL);
    return c;
}

void packed_cache_free(packed_cache *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < PACKED_CACHE_SLOTS; i++)
        mem_free(c->allocator, c->slots[i].room);
    (void)pthread_cond_destroy(&c->read);
    (void)pthread_mutex_destroy(&c->lock);
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

        (void)pthread_mutex_unlock(&c->lock);
        status = read_part(&s->band, part, error);
        (void)pthread_mutex_lock(&c->lock);
        s->ended++;
        s->failed = s->failed || status != GUFO_OK;
        if (s->ended == s->begun)
            (void)pthread_cond_broadcast(&c->read);
    }
    while (s->ended < s->begun)
        (void)pthread_cond_wait(&c->read, &c->lock);
    return status;
}

gufo_status packed_cache_take(packed_cache *c, const packed_weight *w, uint64_t row,
                              const band **out, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    slot *s;

    *out = NULL;
    (void)pthread_mutex_lock(&c->lock);
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
    (void)pthread_mutex_unlock(&c->lock);
    return status;
}

void packed_cache_give_back(packed_cache *c, const band *b)
{
    (void)pthread_mutex_lock(&c->lock);
    for (uint32_t i = 0; i < PACKED_CACHE_SLOTS; i++)
        if (&c->slots[i].band == b)
            c->slots[i].users--;
    (void)pthread_mutex_unlock(&c->lock);
}
