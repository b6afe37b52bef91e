/* Work beside the test: in a child process, for what changes the whole process (user, limits,
 * mounts), or in a thread that feeds a pipe. */
#ifndef TEST_SUPPORT_PROCESS_H
#define TEST_SUPPORT_PROCESS_H

#include "check.h"

#include <pthread.h>

/* What a child answers: 0 is success, CHILD_SKIP that this machine cannot do it, anything else the
 * number of the step that failed. */
#define CHILD_SKIP 77

/* Runs `work` in a forked child, which must not use cmocka's checks; its result (or 128 +
 * signal). */
int run_in_child(int (*work)(void *context), void *context);

/* A pipe into which a thread writes `len` bytes, which must stay until feeder_end; that closes the
 * read end `fd` and waits for the thread.  Must stay where it is meanwhile. */
typedef struct feeder {
    int fd;
    int write_end;
    const uint8_t *data;
    size_t len;
    pthread_t thread;
} feeder;
void feeder_start(feeder *f, const void *data, size_t len);
void feeder_end(feeder *f);

#endif
