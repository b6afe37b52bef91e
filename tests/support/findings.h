/* Keeps copies of the findings that a check reports. */
#ifndef TEST_SUPPORT_FINDINGS_H
#define TEST_SUPPORT_FINDINGS_H

#include "check.h"

typedef struct kept_finding {
    const gufo_rule *rule;
    uint64_t offset;
    char *subject;
    size_t subject_len;
    char *message;
} kept_finding;

typedef struct findings {
    kept_finding *items;
    size_t count;
} findings;

void findings_init(findings *f);
void findings_free(findings *f);
/* A gufo_finding_fn; the context is a findings. */
void findings_add(void *context, const gufo_finding *finding);

/* gufo_validate for a path and for a descriptor. */
gufo_status validate_file(const char *path, const gufo_open_options *options,
                          gufo_finding_fn *found, void *context, gufo_error *error);
gufo_status validate_fd(int fd, const gufo_open_options *options, gufo_finding_fn *found,
                        void *context, gufo_error *error);

/* How many findings are of the rule with this name, and the `nth` of them from 0 (or NULL). */
size_t findings_of(const findings *f, const char *rule);
const kept_finding *findings_get(const findings *f, const char *rule, size_t nth);
size_t findings_of_severity(const findings *f, gufo_severity severity);
/* For a failing test: all of them on stderr. */
void findings_print(const findings *f);

#endif
