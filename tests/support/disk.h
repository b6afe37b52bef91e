/* The disk of a test: calls that change it fail where the test says so.
 *
 * A program that uses these functions is linked with them in place of the library's
 * (base/files/disk.h). Whatever is not made to fail is done for real. */
#ifndef TEST_SUPPORT_DISK_H
#define TEST_SUPPORT_DISK_H

#include "base/files/disk.h"

/* Counts calls from 0 again, and lets number `call` and all after it fail with errno `failure`. */
void disk_fail_from(unsigned call, int failure);
/* The same, but only that one call fails. */
void disk_fail_once(unsigned call, int failure);
/* All calls succeed again. */
void disk_fail_never(void);
/* Calls since the last of the above. */
unsigned disk_call_count(void);

/* The kernel neither moves nor shares bytes, and inserts no blocks: as on file systems that
 * cannot. */
void disk_without_help(bool without);
/* Syncing succeeds and does nothing: for tests that write many small files and lose no power. */
void disk_without_sync(bool without);

/* Any file system can insert and take out blocks of 4096 bytes, and nothing is synced, which takes
 * most of the time otherwise.  Leases are given unless disk_refuse_lease says so; bytes are neither
 * moved nor shared by the kernel. */
void disk_simulate(bool simulate);
void disk_refuse_lease(bool refuse);

typedef enum disk_call_kind {
    DISK_CREATE, /* a file that was not there */
    DISK_WRITE,
    DISK_RESIZE,
    DISK_INSERT,
    DISK_COLLAPSE,
    DISK_PUNCH,
    DISK_SYNC,
    DISK_SYNC_FOLDER,
    DISK_RENAME,
    DISK_LINK,
    DISK_UNLINK,
    DISK_MAKE_FOLDER,
    DISK_REMOVE_FOLDER,
} disk_call_kind;

/* A call that has succeeded. */
typedef struct disk_call {
    disk_call_kind kind;
    int fd;                /* -1: none */
    const char *path, *to; /* of those without fd, and of DISK_CREATE */
    const void *data;      /* of DISK_WRITE */
    uint64_t offset, size;
} disk_call;

/* Receives every call from now on; NULL: no receiver. */
void disk_observe(void (*observer)(void *context, const disk_call *call), void *context);

#endif
