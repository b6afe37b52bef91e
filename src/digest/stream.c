/* Hashing the data of a model while it streams by.
 *
 * Bytes are read once, in the order of the infos, into a ring of slots.  Every algorithm goes over
 * them on two lanes: one makes the hashes of the tensors, one that of everything.  A lane takes
 * chunk after chunk; lanes are independent of each other, and a slot is free again when all have
 * passed:
 *
 *     chunks           | a | a | a | b | c | c | d |         in order: tensors a, b, c, d
 *     lane sha256      ------------^                         everything
 *     lane sha256      --------^                             tensors
 *     lane xxh64       --------------------^
 *     slots                    [           being read    ]
 *
 * Threads have no fixed work: each takes the lane that is farthest behind and has a chunk waiting,
 * or else reads the next chunk.  The longest chain is one hash over everything, so that more
 * threads than lanes and readers could not make it faster.  What comes out does not depend on who
 * did what.
 *
 * Results of a tensor wait in the slot of its last chunk, and are handed on when that is freed. */
#include "gufo/digest.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/threads.h"
#include "codec/run.h"
#include "digest/algorithm.h"

enum { CHUNK_BYTES = 256 * 1024, SLOTS = 64, MOST_LANES = 2 * GUFO_DIGEST_COUNT };

/* Where a chunk comes from. */
typedef struct place {
    uint64_t tensor; /* its index in the model */
    uint64_t offset; /* in it */
} place;

typedef struct slot {
    uint8_t *data;
    place place;
    gufo_tensor tensor;
    size_t size;
    bool last;    /* of its tensor */
    bool loaded;  /* all bytes are present */
    unsigned due; /* lanes that have not passed */
    gufo_digests digests;
} slot;

typedef struct lane {
    hasher hasher;
    bool whole;    /* over everything; else one hash per tensor */
    bool busy;     /* some thread is at it */
    uint64_t next; /* chunk */
} lane;

/* What is below the lock changes while threads run, and is guarded by it; a slot that is being read
 * belongs to who reads it, a lane that is busy to who is at it. */
typedef struct stream {
    const gufo_model *model;
    const gufo_digest_options *options;
    const gufo_run *run;
    uint64_t total; /* bytes */
    gufo_digests *all;
    uint8_t *memory;
    mutex lock;
    condition changed;
    slot slots[SLOTS];
    lane lanes[MOST_LANES];
    unsigned lane_count;
    place next;       /* chunk to read */
    uint64_t claimed; /* chunks that are read or were */
    uint64_t freed;
    uint64_t done; /* bytes of freed chunks */
    uint64_t tensors;
    bool exhausted; /* nothing is left to read */
    gufo_status status;
    uint64_t failed_chunk;
    gufo_error error;
} stream;

static slot *slot_of(stream *s, uint64_t chunk)
{
    return &s->slots[chunk % SLOTS];
}

/* Of several failures that of the first chunk counts. */
static void note_failure(stream *s, uint64_t chunk, gufo_status status, const gufo_error *error)
{
    if (s->status != GUFO_OK && s->failed_chunk <= chunk)
        return;
    s->status = status;
    s->failed_chunk = chunk;
    s->error = *error;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A provider may fail to describe a tensor that it has described before. */
static void note_changed(stream *s)
{
    gufo_error error;
    gufo_status status =
        refuse(&error, GUFO_E_CHANGED, "the model does not give tensor %" PRIu64 " any more",
               s->next.tensor);

    fail_in(&error, GUFO_FILE_INPUT, 0, gufo_model_name(s->model));
    note_failure(s, s->claimed, status, &error);
}

/* Prepares the slot of the next chunk; false if none exists. */
static bool claim(stream *s)
{
    slot *to = slot_of(s, s->claimed);
    gufo_tensor tensor;

    s->exhausted = s->next.tensor >= gufo_model_tensor_count(s->model);
    if (s->exhausted)
        return false;
    if (!gufo_model_tensor_at(s->model, s->next.tensor, &tensor) || tensor.size < s->next.offset) {
        note_changed(s);
        return false;
    }
    to->tensor = tensor;
    to->place = s->next;
    to->size = (size_t)smaller(tensor.size - s->next.offset, CHUNK_BYTES);
    to->last = s->next.offset + to->size == tensor.size;
    to->loaded = false;
    to->due = s->lane_count;
    s->next.offset += to->size;
    if (to->last)
        s->next = (place){.tensor = to->place.tensor + 1};
    s->claimed++;
    return true;
}

/* Reads the next chunk if there is one; without the lock meanwhile. */
static void read_next(stream *s)
{
    uint64_t chunk = s->claimed;
    slot *to = slot_of(s, chunk);
    gufo_status status;
    gufo_error error;

    if (!claim(s))
        return;
    mutex_unlock(&s->lock);
    status =
        gufo_tensor_read_raw(s->model, &to->tensor, to->place.offset, to->data, to->size, &error);
    mutex_lock(&s->lock);
    to->loaded = status == GUFO_OK;
    if (status != GUFO_OK)
        note_failure(s, chunk, status, &error);
}

/* ---- handing on ----------------------------------------------------------------------------- */

static gufo_status hand_on(stream *s, const slot *from, gufo_error *error)
{
    const gufo_digest_options *o = s->options;

    s->done += from->size;
    if (from->last && o->tensor != NULL &&
        !o->tensor(o->context, s->tensors, &from->tensor, &from->digests))
        return refuse(error, GUFO_E_STOPPED, "stopped");
    s->tensors += from->last;
    return run_progress(s->run, s->done, s->total, error);
}

/* Frees slots that all lanes have passed, in order. */
static void free_slots(stream *s)
{
    while (s->status == GUFO_OK && s->freed < s->claimed) {
        slot *from = slot_of(s, s->freed);
        gufo_status status;
        gufo_error error;

        if (!from->loaded || from->due > 0)
            return;
        status = hand_on(s, from, &error);
        if (status != GUFO_OK)
            note_failure(s, s->freed, status, &error);
        s->freed++;
    }
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* The lane that is farthest behind, of those that can continue; NULL if none can. */
static lane *find_lane(stream *s)
{
    lane *found = NULL;

    for (unsigned i = 0; i < s->lane_count; i++) {
        lane *l = &s->lanes[i];

        if (!l->busy && l->next < s->claimed && slot_of(s, l->next)->loaded &&
            (found == NULL || l->next < found->next))
            found = l;
    }
    return found;
}

static gufo_status hash_slot(lane *l, slot *from, gufo_error *error)
{
    gufo_status status = hasher_add(&l->hasher, from->data, from->size, error);

    if (status != GUFO_OK || l->whole || !from->last)
        return status;
    return hasher_finish(&l->hasher, from->digests.bytes[l->hasher.algorithm], error);
}

/* One chunk of a lane; without the lock meanwhile. */
static void advance(stream *s, lane *l)
{
    slot *from = slot_of(s, l->next);
    gufo_status status;
    gufo_error error;

    l->busy = true;
    mutex_unlock(&s->lock);
    status = hash_slot(l, from, &error);
    mutex_lock(&s->lock);
    l->busy = false;
    if (status != GUFO_OK)
        note_failure(s, l->next, status, &error);
    l->next++;
    from->due--;
    free_slots(s);
}

/* ---- threads -------------------------------------------------------------------------------- */

static bool is_over(const stream *s)
{
    return s->status != GUFO_OK || (s->exhausted && s->freed == s->claimed);
}

static gufo_status run_thread(void *context, unsigned thread, uint64_t index, void *result,
                              gufo_error *error)
{
    stream *s = context;

    (void)thread;
    (void)index;
    (void)result;
    (void)error;
    mutex_lock(&s->lock);
    while (!is_over(s)) {
        lane *l = find_lane(s);

        if (l != NULL)
            advance(s, l);
        else if (!s->exhausted && s->claimed - s->freed < SLOTS)
            read_next(s);
        else {
            condition_wait(&s->changed, &s->lock);
            continue;
        }
        condition_broadcast(&s->changed);
    }
    mutex_unlock(&s->lock);
    return GUFO_OK;
}

static unsigned threads_of(const stream *s)
{
    unsigned wanted = thread_count(s->run->threads);

    return (unsigned)smaller(wanted, s->lane_count + 2); /* two that read */
}

static gufo_status run_threads(stream *s, const gufo_allocator *allocator, gufo_error *error)
{
    parallel_loop loop = {.threads = threads_of(s), .context = s, .work = run_thread};
    gufo_status status;

    loop.end = loop.threads;
    mutex_init(&s->lock);
    condition_init(&s->changed);
    status = parallel_run(&loop, allocator, error);
    condition_destroy(&s->changed);
    mutex_destroy(&s->lock);
    if (status != GUFO_OK || s->status == GUFO_OK)
        return status;
    if (error != NULL)
        *error = s->error;
    return s->status;
}

/* ---- setting up ----------------------------------------------------------------------------- */

static gufo_status open_lane(stream *s, unsigned algorithm, bool whole, gufo_error *error)
{
    lane *l = &s->lanes[s->lane_count];
    gufo_status status = hasher_open(&l->hasher, (gufo_digest_algorithm)algorithm, error);

    l->whole = whole;
    s->lane_count++;
    return status;
}

static gufo_status open_lanes(stream *s, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (s->options->algorithms == 0)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_digest_options.algorithms is missing");
    if (s->options->algorithms >> GUFO_DIGEST_COUNT != 0)
        return refuse(error, GUFO_E_ARGUMENT, "not a set of algorithms: 0x%" PRIx32,
                      s->options->algorithms);
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT && status == GUFO_OK; i++) {
        bool tensors =
            s->options->tensor != NULL && !gufo_digest_kind_of((gufo_digest_algorithm)i)->file_only;

        if ((s->options->algorithms >> i & 1) == 0)
            continue;
        status = open_lane(s, i, true, error);
        if (status == GUFO_OK && tensors)
            status = open_lane(s, i, false, error);
    }
    return status;
}

static gufo_status open_slots(stream *s, const gufo_allocator *allocator, gufo_error *error)
{
    s->memory = mem_alloc(allocator, (size_t)SLOTS * CHUNK_BYTES);
    if (s->memory == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < SLOTS; i++)
        s->slots[i].data = s->memory + i * CHUNK_BYTES;
    return GUFO_OK;
}

/* Adds up the bytes, and refuses what cannot be read. */
static gufo_status measure(stream *s, gufo_error *error)
{
    gufo_tensor tensor;

    for (size_t i = 0; i < gufo_model_shard_count(s->model); i++) {
        const gufo_model *shard = gufo_model_shard(s->model, i);

        if (gufo_model_has_data(shard))
            continue;
        (void)refuse(error, GUFO_E_ARGUMENT, "the data of a pipe cannot be hashed");
        fail_in(error, GUFO_FILE_INPUT, (uint32_t)i, gufo_model_name(shard));
        return GUFO_E_ARGUMENT;
    }
    for (uint64_t t = 0; gufo_model_tensor_at(s->model, t, &tensor); t++)
        if (!checked_add(s->total, tensor.size, &s->total))
            return refuse(error, GUFO_E_RANGE,
                          "the tensors have more bytes in total than can be counted");
    return GUFO_OK;
}

static gufo_status finish_lanes(stream *s, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (unsigned i = 0; i < s->lane_count && status == GUFO_OK; i++)
        if (s->lanes[i].whole)
            status = hasher_finish(&s->lanes[i].hasher, s->all->bytes[s->lanes[i].hasher.algorithm],
                                   error);
    return status;
}

static gufo_status run_stream(stream *s, const gufo_allocator *allocator, gufo_error *error)
{
    gufo_status status = measure(s, error);

    if (status == GUFO_OK)
        status = open_lanes(s, error);
    if (status == GUFO_OK)
        status = open_slots(s, allocator, error);
    if (status == GUFO_OK)
        status = run_threads(s, allocator, error);
    return status == GUFO_OK ? finish_lanes(s, error) : status;
}

gufo_status gufo_model_digest(const gufo_model *model, const gufo_digest_options *options,
                              const gufo_run *run, gufo_digests *all, gufo_error *error)
{
    static const gufo_digest_options standard = {0};
    const gufo_allocator *allocator = run_allocator(run_of(run));
    gufo_status status = run_check(run_of(run), error);
    gufo_digests ignored;
    stream *s;

    options = options != NULL ? options : &standard;
    all = all != NULL ? all : &ignored;
    memset(all, 0, sizeof *all);
    if (status == GUFO_OK && model == NULL)
        status = refuse(error, GUFO_E_ARGUMENT, "the model is missing");
    if (status == GUFO_OK)
        status = reserved_check(options->reserved, "gufo_digest_options", error);
    if (status != GUFO_OK)
        return status;
    s = mem_zero(allocator, sizeof *s);
    if (s == NULL)
        return fail_memory(error);
    s->model = model;
    s->options = options;
    s->run = run_of(run);
    s->all = all;
    status = run_stream(s, allocator, error);
    for (unsigned i = 0; i < s->lane_count; i++)
        hasher_close(&s->lanes[i].hasher);
    mem_free(allocator, s->memory);
    mem_free(allocator, s);
    if (status != GUFO_OK && status != GUFO_E_STOPPED)
        fail_in(error, GUFO_FILE_INPUT, 0, gufo_model_name(model));
    return status;
}
