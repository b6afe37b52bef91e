/* Work in a child process: for what changes the whole process (user, limits, mounts). */
#ifndef TEST_SUPPORT_PROCESS_H
#define TEST_SUPPORT_PROCESS_H

#include "check.h"

/* What a child answers: 0 is success, CHILD_SKIP that this machine cannot do it, anything else the
 * number of the step that failed. */
#define CHILD_SKIP 77

/* Runs `work` in a forked child, which must not use cmocka's checks; its result (or 128 + signal). */
int run_in_child(int (*work)(void *context), void *context);

/* A pipe whose read end is returned and into which a child writes `len` bytes.  feeder_end closes it
 * and waits for the child. */
typedef struct feeder {
    int fd;
    long child;
} feeder;
feeder feeder_start(const void *data, size_t len);
void feeder_end(feeder *f);

#endif
