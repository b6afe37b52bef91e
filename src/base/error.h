/* Filling a gufo_error. */
#ifndef GUFO_BASE_ERROR_H
#define GUFO_BASE_ERROR_H

#include "base/text.h"

#include "gufo/base.h"

#include <stdarg.h>

/* Fill *error (if not NULL) and return `code`, so that a failure is one statement:
 *     return fail_with(error, GUFO_E_RANGE, at, "no element %" PRIu64, index); */
__attribute__((format(printf, 4, 5))) gufo_status fail_with(gufo_error *error, gufo_status code,
                                                            uint64_t offset, const char *format,
                                                            ...);

/* The same for what is wrong at no byte of a file: an argument, a limit, a state. */
__attribute__((format(printf, 3, 4))) gufo_status refuse(gufo_error *error, gufo_status code,
                                                         const char *format, ...);

/* As fail_with with GUFO_E_IO; appends the text of errno value `system`. */
__attribute__((format(printf, 3, 4))) gufo_status fail_io(gufo_error *error, int system,
                                                          const char *format, ...);

gufo_status fail_memory(gufo_error *error);

/* Passes on a failure whose code the caller had to see first. */
gufo_status fail_as(gufo_error *error, const gufo_error *reason);

/* Passes on a failure of a function that the caller of the library provides: a code that does not
 * exist becomes GUFO_E_IO, texts are terminated, and the message is escaped as quote_name does.
 * The file stays as it is spelt. */
gufo_status fail_from_callback(gufo_error *error, gufo_status status, const gufo_error *reason);

/* Names the file of a failure, unless it names one already: lower layers know what is wrong, upper
 * ones in which file.  `name` may be NULL: the file has none. */
void fail_in(gufo_error *error, gufo_file_role role, uint32_t index, const char *name);

/* GUFO_E_ARGUMENT if the reserved fields of a struct are not zero: they are those of a later
 * version. `what` is the struct's name. */
gufo_status reserved_check(const uint64_t reserved[4], const char *what, gufo_error *error);
/* The same for gufo_parse_options, which may be NULL. */
gufo_status parse_options_check(const gufo_parse_options *options, gufo_error *error);

/* GUFO_E_ARGUMENT if `flags` holds any that are not `known`.  `what` is the struct's name, or the
 * function's. */
gufo_status flags_check(uint32_t flags, uint32_t known, const char *what, gufo_error *error);

/* Room for a message. */
#define GUFO_MESSAGE_SIZE (sizeof((gufo_error *)NULL)->message)

/* Room for a quoted name: 64 bytes of name escape to at most 384, longer names are cut. */
#define GUFO_QUOTE_SIZE 400

/* Writes `text` in double quotes into `out` and returns it.  Control characters, bidi controls,
 * quotes, backslashes and bytes that are not UTF-8 are escaped; what does not fit is cut, with
 * "...". */
const char *quote_name(char out[GUFO_QUOTE_SIZE], gufo_str text);

/* The same as an argument of one of the functions above; it lives as long as the block. */
#define QUOTED(text) quote_name((char[GUFO_QUOTE_SIZE]){""}, text)

/* A count or a size as such an argument: 1,235,814,400.  Positions, ids, versions and values of keys have
 * no groups. */
#define GROUPED(number) gufo_number_grouped((char[GUFO_GROUPED_SIZE]){""}, number)

#endif
