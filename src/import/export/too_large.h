/* Numbers that the type of a file cannot hold. */
#ifndef IMPORT_EXPORT_TOO_LARGE_H
#define IMPORT_EXPORT_TOO_LARGE_H

#include "produce/produce.h"

/* job_hooks.measure; the context is a pointer to the job, or begins with one.  GUFO_E_RANGE: a
 * finite number became infinite.  Those that are not finite stay what they are. */
gufo_status too_large_measure(void *context, const measured_rows *seen, void *result,
                              gufo_error *error);

#endif
