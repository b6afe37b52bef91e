/* Patterns: a thin layer over PCRE2. */
#include "cli/core/options/pattern.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef GUFO_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pattern {
    pcre2_code *code;
    pcre2_match_data *match;
};

pattern *pattern_new(const char *text, char message[PATTERN_MESSAGE])
{
    pattern *p = malloc(sizeof *p);
    PCRE2_UCHAR reason[PATTERN_MESSAGE / 2];
    PCRE2_SIZE at = 0;
    int failure = 0;

    snprintf(message, PATTERN_MESSAGE, "out of memory");
    if (p == NULL)
        return NULL;
    p->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                            PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &failure, &at, NULL);
    p->match = p->code != NULL ? pcre2_match_data_create_from_pattern(p->code, NULL) : NULL;
    if (p->match != NULL)
        return p;
    if (p->code == NULL && pcre2_get_error_message(failure, reason, sizeof reason) > 0)
        snprintf(message, PATTERN_MESSAGE, "%s at character %zu", (const char *)reason,
                 (size_t)at + 1);
    pattern_free(p);
    return NULL;
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *pattern_version(void)
{
    return TEXT(PCRE2_MAJOR) "." TEXT(PCRE2_MINOR);
}

void pattern_free(pattern *p)
{
    if (p == NULL)
        return;
    pcre2_match_data_free(p->match);
    pcre2_code_free(p->code);
    free(p);
}

pattern_answer pattern_match(const pattern *p, gufo_str name)
{
    int found = pcre2_match(p->code, (PCRE2_SPTR)name.data, name.len, 0, 0, p->match, NULL);

    if (found >= 0)
        return PATTERN_YES;
    return found == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_TOO_COSTLY;
}

#else

struct pattern {
    char unused;
};

pattern *pattern_new(const char *text, char message[PATTERN_MESSAGE])
{
    (void)text;
    snprintf(message, PATTERN_MESSAGE,
             "this is a minimal build of gufo, without PCRE2: build it without -DGUFO_MINIMAL=ON");
    return NULL;
}

const char *pattern_version(void)
{
    return NULL;
}

void pattern_free(pattern *p)
{
    free(p);
}

pattern_answer pattern_match(const pattern *p, gufo_str name)
{
    (void)p, (void)name;
    return PATTERN_NO;
}

#endif
