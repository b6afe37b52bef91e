/* Patterns for names: regular expressions of the PCRE2 library, case-sensitive, that match anywhere
 * in a name.  A gufo that was built without the library knows none. */
#ifndef CLI_CORE_OPTIONS_PATTERN_H
#define CLI_CORE_OPTIONS_PATTERN_H

#include "gufo/base.h"

typedef struct pattern pattern;

#define PATTERN_MESSAGE 256

typedef enum pattern_answer {
    PATTERN_NO,
    PATTERN_YES,
    PATTERN_TOO_COSTLY, /* more steps than the library allows */
} pattern_answer;

/* NULL, with the reason in `message`, for one that is malformed (or without the library, where the
 * reason is the package that is missing). */
pattern *pattern_new(const char *text, char message[PATTERN_MESSAGE]);
/* NULL is allowed. */
void pattern_free(pattern *p);

/* Of the library, such as "10.42"; NULL without it. */
const char *pattern_version(void);

pattern_answer pattern_match(const pattern *p, gufo_str name);

#endif
