/* How much a test tries.  All cases are tried in plain code.  Sanitizers and counters of branches take longer: a test then
 * tries some cases of each kind.  Where a processor is emulated everything takes fifty times as long: it tries few, and skips
 * what does not depend on the machine. */
#ifndef TEST_SUPPORT_PACE_H
#define TEST_SUPPORT_PACE_H

#include <stdbool.h>

/* `all`; `some` where GUFO_PACE is some (cmake/tests.cmake); `few` where a processor is emulated. */
unsigned all_some_or_few(unsigned all, unsigned some, unsigned few);
/* `all`, or `few` where a processor is emulated. */
unsigned all_or_few(unsigned all, unsigned few);
/* Skips the test where a processor is emulated. */
void skip_if_emulated(void);

#endif
