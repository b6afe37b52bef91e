/* A gufo_allocator that counts what it hands out and can fail at any call. */
#ifndef TEST_SUPPORT_ALLOCATOR_H
#define TEST_SUPPORT_ALLOCATOR_H

#include "check.h"

#include <pthread.h>

typedef struct counter {
    size_t in_use;  /* bytes that are allocated now */
    size_t peak;    /* the most there ever were, old and new block of a growing one both counted */
    size_t largest; /* the largest single request */
    size_t calls;   /* requests for memory (frees do not count) */
    size_t fail_at; /* the number of the request that fails, from 1; 0: none */
    bool fail_on;   /* every request from fail_at on fails */
    size_t denied;  /* requests that failed and asked for more than the block had */
    pthread_mutex_t lock;
} counter;

void counter_init(counter *c);
gufo_allocator counter_allocator(counter *c);

#endif
