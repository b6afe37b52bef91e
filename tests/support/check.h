/* What every test includes first: cmocka in the order it wants, and checks that say which row of a
 * table failed.
 *
 * cmocka leaves a failing test with longjmp.  Nothing here may therefore fail a check in a forked
 * child: see run_in_child in process.h. */
#ifndef TEST_SUPPORT_CHECK_H
#define TEST_SUPPORT_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gufo.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* check(condition, "row %s", name): fails the test with the condition and the formatted label. */
#define check(condition, ...)                                          \
    do {                                                               \
        if (!(condition))                                              \
            check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__); \
    } while (0)

/* check_u64(got, expected, "row %s", name): two unsigned numbers are equal. */
#define check_u64(got, expected, ...) \
    check_u64_at(__FILE__, __LINE__, #got, (uint64_t)(got), (uint64_t)(expected), __VA_ARGS__)

/* check_str(view, "text", "row"): a gufo_str has exactly the bytes of a C string. */
#define check_str(got, expected, ...) \
    check_bytes_at(__FILE__, __LINE__, #got, got, gufo_str_of(expected), __VA_ARGS__)
#define check_view(got, expected, ...) \
    check_bytes_at(__FILE__, __LINE__, #got, got, expected, __VA_ARGS__)

/* check_status(status, expected, &error, "row"): a status, showing the error's message if not. */
#define check_status(got, expected, error, ...) \
    check_status_at(__FILE__, __LINE__, #got, got, expected, error, __VA_ARGS__)
#define check_ok(got, error, ...) \
    check_status_at(__FILE__, __LINE__, #got, got, GUFO_OK, error, __VA_ARGS__)

__attribute__((noreturn, format(printf, 4, 5))) void check_failed(const char *file, int line,
                                                                  const char *what,
                                                                  const char *label, ...);
__attribute__((format(printf, 6, 7))) void check_u64_at(const char *file, int line,
                                                        const char *what, uint64_t got,
                                                        uint64_t expected, const char *label, ...);
__attribute__((format(printf, 6, 7))) void check_bytes_at(const char *file, int line,
                                                          const char *what, gufo_str got,
                                                          gufo_str expected, const char *label,
                                                          ...);
__attribute__((format(printf, 7, 8))) void check_status_at(const char *file, int line,
                                                           const char *what, gufo_status got,
                                                           gufo_status expected,
                                                           const gufo_error *error,
                                                           const char *label, ...);

/* An error as a check left it: fills of the last call cannot be mistaken for those of this one. */
gufo_error no_error(void);

/* Every error must have a code, one line of text, and no control characters in it. */
void check_error_shape(const gufo_error *error, gufo_status expected, const char *label);

#endif
