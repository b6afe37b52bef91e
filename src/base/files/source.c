/* Sources of bytes; source.h has the idea.  What a descriptor needs is in source_fd.c. */
#include "base/files/source.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum { FIRST_READ = 64 * 1024, DRAIN_READ = 64 * 1024 };

/* A caller's reader need not say why it failed. */
static gufo_status read_user(const source *s, uint64_t offset, void *buffer, size_t size,
                             gufo_error *error)
{
    gufo_error reason;
    gufo_status status;

    (void)fail_with(&reason, GUFO_E_IO, offset, "the source cannot be read");
    status = s->user.read(s->user.context, offset, buffer, size, &reason);
    return status == GUFO_OK ? GUFO_OK : fail_from_callback(error, status, &reason);
}

/* What a caller's reader has at hand. */
static gufo_status read_some_user(const source *s, uint64_t offset, void *buffer, size_t least,
                                  size_t size, size_t *got, gufo_error *error)
{
    gufo_error reason;
    gufo_status status;

    (void)fail_with(&reason, GUFO_E_IO, offset, "the source cannot be read");
    *got = 0;
    status = s->user.read_some(s->user.context, offset, buffer, least, size, got, &reason);
    if (status == GUFO_OK && (*got < least || *got > size))
        status = reason.code;
    return status == GUFO_OK ? GUFO_OK : fail_from_callback(error, status, &reason);
}

static gufo_status fetch_user(source *s, uint64_t offset, void *buffer, size_t size, size_t *got,
                              gufo_error *error)
{
    *got = size;
    return read_user(s, offset, buffer, size, error);
}

void source_open_memory(source *s, const void *data, size_t size)
{
    *s = (source){.fd = -1, .base = data, .have = size, .size = size};
}

void source_open_user(source *s, const gufo_source *user, uint64_t buffer_limit,
                      const gufo_allocator *allocator)
{
    *s = (source){.fd = -1,
                  .size = user->size,
                  .fetch = fetch_user,
                  .user = *user,
                  .allocator = allocator,
                  .buffer_limit = buffer_limit};
}

void source_close(source *s)
{
    source_close_fd(s);
    if (s->buffer != NULL)
        mem_free(s->allocator, s->buffer);
    if (s->user.close != NULL)
        s->user.close(s->user.context);
    *s = (source){.fd = -1};
}

static gufo_status resize_buffer(source *s, uint64_t capacity, gufo_error *error)
{
    uint8_t *bigger =
        capacity > SIZE_MAX ? NULL : mem_resize(s->allocator, s->buffer, (size_t)capacity);

    if (bigger == NULL)
        return fail_memory(error);
    s->base = s->buffer = bigger;
    s->capacity = (size_t)capacity;
    return GUFO_OK;
}

/* How far to read next: doubling, so that the cost stays linear.  A length in the file does not
 * count before its bytes have arrived. */
static uint64_t next_goal(const source *s)
{
    uint64_t goal = s->have < FIRST_READ / 2 ? FIRST_READ : s->have * 2;

    if (goal > s->size)
        goal = s->size;
    return goal > s->buffer_limit ? s->buffer_limit : goal;
}

/* Reads the next bytes up to `goal`, of which those up to `upto` are needed. */
static gufo_status read_next(source *s, uint64_t upto, uint64_t goal, gufo_error *error)
{
    const size_t most = (size_t)(goal - s->have), least = (size_t)(smaller(upto, goal) - s->have);
    const bool may_be_short = s->user.read_some != NULL;
    size_t got = 0;
    gufo_status status =
        may_be_short ? read_some_user(s, s->have, s->buffer + s->have, least, most, &got, error)
                     : s->fetch(s, s->have, s->buffer + s->have, most, &got, error);

    if (status != GUFO_OK)
        return status;
    s->have += got;
    if (s->have < goal &&
        !may_be_short) /* the end came early: a pipe's, or the file was truncated */
        s->size = s->have;
    return GUFO_OK;
}

/* Reads on, towards `upto` at least. */
static gufo_status read_on(source *s, uint64_t upto, gufo_error *error)
{
    uint64_t room = next_goal(s), goal = s->no_read_ahead && upto < room ? upto : room;
    gufo_status status;

    s->over_limit = goal <= s->have;
    if (s->over_limit)
        return fail_with(error, GUFO_E_LIMIT, s->have,
                         "metadata is longer than %s bytes, the limit for input that "
                         "cannot be mapped",
                         GROUPED(s->buffer_limit));
    if (goal > s->capacity && (status = resize_buffer(s, room, error)) != GUFO_OK)
        return status;
    status = read_next(s, upto, goal, error);
    return status == GUFO_OK ? source_note(s, s->have, error) : status;
}

gufo_status source_need(source *s, uint64_t upto, gufo_error *error)
{
    while (s->have < upto && s->have < s->size && upto <= s->size) {
        gufo_status status = read_on(s, upto, error);

        if (status != GUFO_OK)
            return status;
    }
    return GUFO_OK;
}

void source_trim(source *s, uint64_t used)
{
    if (s->buffer == NULL || used == 0 || used >= s->capacity)
        return;
    if (resize_buffer(s, used, NULL) == GUFO_OK)
        s->have = s->have < used ? s->have : used;
}

gufo_status source_drain(source *s, gufo_error *error)
{
    uint8_t scrap[DRAIN_READ];
    uint64_t total = s->have;

    if (s->size != SOURCE_SIZE_UNKNOWN)
        return GUFO_OK;
    for (;;) {
        size_t got;
        gufo_status status = s->fetch(s, total, scrap, sizeof scrap, &got, error);

        if (status != GUFO_OK)
            return status;
        total += got;
        if (got < sizeof scrap)
            break;
        if ((status = source_note(s, total, error)) != GUFO_OK)
            return status;
    }
    s->size = total;
    return GUFO_OK;
}

gufo_status source_unchanged(const source *s, gufo_error *error)
{
    gufo_error reason;
    gufo_status status;

    if (s->user.unchanged == NULL)
        return source_unchanged_fd(s, error);
    (void)refuse(&reason, GUFO_E_CHANGED, "the source was changed while it was being read");
    status = s->user.unchanged(s->user.context, &reason);
    return status == GUFO_OK ? GUFO_OK : fail_from_callback(error, status, &reason);
}

void source_expect(const source *s, uint64_t offset, uint64_t size)
{
    if (s->user.expect != NULL && size > 0)
        s->user.expect(s->user.context, offset, size);
}

void source_end(source *s)
{
    if (s->size == SOURCE_SIZE_UNKNOWN)
        s->size = s->have;
}

gufo_status source_read(const source *s, uint64_t offset, void *buffer, size_t size,
                        gufo_error *error)
{
    gufo_status status;
    size_t got = size;

    if (s->fd >= 0 && !s->sequential)
        status = source_read_fd(s->fd, offset, buffer, size, &got, error);
    else if (range_inside(offset, size, s->have)) {
        memcpy(buffer, s->base + offset, size);
        return GUFO_OK;
    } else if (s->user.read != NULL)
        status = read_user(s, offset, buffer, size, error);
    else
        return fail_with(error, GUFO_E_ARGUMENT, offset,
                         "data of a pipe can be read only once; give a file");
    if (status == GUFO_OK && got < size)
        return fail_with(error, GUFO_E_TRUNCATED, offset + got,
                         "the file was truncated while it was being read");
    return status;
}
