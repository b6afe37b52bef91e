/* The disk of a test: calls that change it fail where the test says so.
 *
 * A program that uses these functions is linked with them in place of the library's (base/disk.h).
 * Whatever is not made to fail is done for real. */
#ifndef TEST_SUPPORT_DISK_H
#define TEST_SUPPORT_DISK_H

#include "base/disk.h"

/* Counts calls from 0 again, and lets number `call` and all after it fail with errno `failure`. */
void disk_fail_from(unsigned call, int failure);
/* The same, but only that one call fails. */
void disk_fail_once(unsigned call, int failure);
/* All calls succeed again. */
void disk_fail_never(void);
/* Calls since the last of the above. */
unsigned disk_call_count(void);

/* The kernel neither moves nor shares bytes, and inserts no blocks: as on file systems that cannot. */
void disk_without_help(bool without);

#endif
