/* Bytes that were fetched; chunks.h has the idea.  A list, the newest first: it has a few dozen chunks at most. */
#include "remote/ranges/chunks.h"

#include <string.h>

#include "base/checked.h"
#include "base/memory.h"

chunk *chunk_new(gufo_remote *remote, size_t size)
{
    chunk *c = size > SIZE_MAX - sizeof *c ? NULL : mem_alloc(&remote->allocator, sizeof *c + size);

    if (c != NULL)
        *c = (chunk){.size = size};
    return c;
}

void chunk_free(gufo_remote *remote, chunk *c)
{
    mem_free(&remote->allocator, c);
}

/* ---- the list; with its lock ----------------------------------------------------------------- */

static void unlink_chunk(chunk_list *list, chunk *c)
{
    *(c->newer != NULL ? &c->newer->older : &list->newest) = c->older;
    *(c->older != NULL ? &c->older->newer : &list->oldest) = c->newer;
    list->bytes -= c->size;
}

static void put_first(chunk_list *list, chunk *c)
{
    c->newer = NULL;
    c->older = list->newest;
    *(c->older != NULL ? &c->older->newer : &list->oldest) = c;
    list->newest = c;
    list->bytes += c->size;
}

static chunk *find(const chunk_list *list, const void *owner, uint64_t offset)
{
    for (chunk *c = list->newest; c != NULL; c = c->older)
        if (c->owner == owner && offset >= c->offset && offset - c->offset < c->size)
            return c;
    return NULL;
}

/* ---- what files ask -------------------------------------------------------------------------- */

void chunks_add(gufo_remote *remote, chunk *c)
{
    chunk_list *list = &remote->chunks;

    mutex_lock(&list->lock);
    put_first(list, c);
    while (list->bytes > CHUNKS_ROOM && list->oldest != NULL) {
        chunk *last = list->oldest;

        unlink_chunk(list, last);
        chunk_free(remote, last);
    }
    mutex_unlock(&list->lock);
}

size_t chunks_copy(gufo_remote *remote, const void *owner, uint64_t offset, void *buffer,
                   size_t size)
{
    chunk_list *list = &remote->chunks;
    uint8_t *to = buffer;
    size_t done = 0;
    chunk *c;

    mutex_lock(&list->lock);
    while (done < size && (c = find(list, owner, offset + done)) != NULL) {
        const size_t from = (size_t)(offset + done - c->offset);
        const size_t step = (size_t)smaller(size - done, c->size - from);

        memcpy(to + done, c->bytes + from, step);
        done += step;
        unlink_chunk(list, c);
        put_first(list, c);
    }
    mutex_unlock(&list->lock);
    return done;
}

uint64_t chunks_missing(gufo_remote *remote, const void *owner, uint64_t offset, uint64_t size)
{
    chunk_list *list = &remote->chunks;
    uint64_t missing = size;

    mutex_lock(&list->lock);
    for (const chunk *c = list->newest; c != NULL; c = c->older)
        if (c->owner == owner && c->offset >= offset)
            missing = smaller(missing, c->offset - offset);
    mutex_unlock(&list->lock);
    return missing;
}

void chunks_drop(gufo_remote *remote, const void *owner)
{
    chunk_list *list = &remote->chunks;
    chunk *next;

    mutex_lock(&list->lock);
    for (chunk *c = list->newest; c != NULL; c = next) {
        next = c->older;
        if (c->owner == owner) {
            unlink_chunk(list, c);
            chunk_free(remote, c);
        }
    }
    mutex_unlock(&list->lock);
}
