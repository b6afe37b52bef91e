/* Filling a gufo_error. */
#ifndef GUFO_BASE_ERROR_H
#define GUFO_BASE_ERROR_H

#include "gufo/base.h"

#include <stdarg.h>

/* Fill *error (if not NULL) and return `code`, so that a failure is one statement:
 *     return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET, "no element %" PRIu64, index); */
__attribute__((format(printf, 4, 5))) gufo_status fail_with(gufo_error *error, gufo_status code,
                                                            uint64_t offset, const char *format,
                                                            ...);

/* As fail_with with GUFO_E_IO; appends the text of errno value `system`. */
__attribute__((format(printf, 3, 4))) gufo_status fail_io(gufo_error *error, int system,
                                                          const char *format, ...);

gufo_status fail_memory(gufo_error *error);

/* Room for a quoted name: 64 bytes of name escape to at most 384, longer names are cut. */
#define GUFO_QUOTE_SIZE 400

/* Writes `text` in double quotes into `out` and returns it.  Control characters, bidi controls,
 * quotes, backslashes and bytes that are not UTF-8 are escaped; what does not fit is cut, with
 * "...". */
const char *quote_name(char out[GUFO_QUOTE_SIZE], gufo_str text);

#endif
