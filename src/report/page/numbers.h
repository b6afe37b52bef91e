/* Numbers as the page writes them: one place, so that the same number looks the same everywhere. */
#ifndef GUFO_REPORT_PAGE_NUMBERS_H
#define GUFO_REPORT_PAGE_NUMBERS_H

#include "gufo/print.h"

/* Lives as long as the expression that it is in: html(p, "%s", as_grouped(n).text). */
typedef struct number_text {
    char text[64];
} number_text;

number_text as_grouped(uint64_t value);                                    /* 1,235,814,400 */
number_text as_counted(uint64_t value, const char *one, const char *many); /* 36 layers */
number_text as_bytes(uint64_t value);                                      /* 1,235 bytes */
number_text as_memory(uint64_t value);                                     /* 770.3 MiB */
number_text as_short(uint64_t value);                                      /* 8.03 B */
number_text as_share(double part, double whole);                           /* 66 %, 4.2 %, 0.05 % */
number_text as_fixed(double value, unsigned decimals);                     /* 4.90 */
number_text as_measured(double value); /* three digits: 0.0293, 1.5e-7 */
/* A place in a picture, with two decimals at most and none that are 0. */
number_text as_place(double value);

/* A number that was computed, as one of bytes or tokens: cut off at what 64 bits hold; 0 for less, and NaN. */
uint64_t whole_of(double value);

#endif
