/* Times as strftime writes them in the C locale. */
#ifndef TEMPLATE_STRFTIME_H
#define TEMPLATE_STRFTIME_H

#include "template/machine/machine.h"

/* Writes a time, in seconds since 1970 (UTC). */
bool write_time(machine *m, gufo_str format, int64_t seconds);

#endif
