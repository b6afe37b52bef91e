/* The counting allocator: every block carries its size in front, so that what is in use is known.
 *
 * Growing a block always moves it, and the peak counts old and new together: that is the worst case
 * of realloc, and it finds pointers that were kept into the old block. */
#include "allocator.h"

typedef union block_head {
    size_t size;
    max_align_t align;
} block_head;

void counter_init(counter *c)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
}

/* Whether this request may succeed; counts it.  `had`: the size of the block until now. */
static bool admit(counter *c, size_t size, size_t had)
{
    bool fails;

    pthread_mutex_lock(&c->lock);
    c->calls++;
    if (size > c->largest)
        c->largest = size;
    fails = c->fail_at != 0 && (c->calls == c->fail_at || (c->fail_on && c->calls > c->fail_at));
    if (!fails) {
        c->in_use += size;
        if (c->in_use > c->peak)
            c->peak = c->in_use;
    }
    c->denied += fails && size > had;
    pthread_mutex_unlock(&c->lock);
    return !fails;
}

static void release(counter *c, block_head *head)
{
    pthread_mutex_lock(&c->lock);
    c->in_use -= head->size;
    pthread_mutex_unlock(&c->lock);
    free(head);
}

static void *counter_resize(void *context, void *block, size_t size)
{
    counter *c = context;
    block_head *old = block == NULL ? NULL : (block_head *)block - 1;
    block_head *new_head;

    if (size == 0) {
        if (old != NULL)
            release(c, old);
        return NULL;
    }
    if (size > SIZE_MAX - sizeof *new_head || !admit(c, size, old == NULL ? 0 : old->size))
        return NULL;
    new_head = malloc(sizeof *new_head + size);
    if (new_head == NULL) {
        pthread_mutex_lock(&c->lock);
        c->in_use -= size;
        pthread_mutex_unlock(&c->lock);
        return NULL;
    }
    new_head->size = size;
    memset(new_head + 1, 0xa5, size);
    if (old != NULL) {
        memcpy(new_head + 1, block, old->size < size ? old->size : size);
        release(c, old);
    }
    return new_head + 1;
}

gufo_allocator counter_allocator(counter *c)
{
    return (gufo_allocator){counter_resize, c};
}
