/* Chat templates, rendered as Hugging Face's transformers renders them: a library of its own,
 * libgufo_template (pkg-config gufo-template), which knows nothing of model files.
 *
 *     find     gufo_model_chat_template of summary.h
 *     parse    gufo_template_parse
 *     give     gufo_template_values_set            messages, tools ... as JSON
 *     render   gufo_template_render
 *
 * Templates come from strangers.  The interpreter knows values and nothing else: no file, no
 * process, no clock but the one that it is given; steps, memory and recursion have limits.  The
 * language is that of Jinja 3.1 in transformers' sandbox; docs/templates.md has it. */
#ifndef GUFO_TEMPLATE_H
#define GUFO_TEMPLATE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_template gufo_template;
typedef struct gufo_template_values_options gufo_template_values_options;
typedef struct gufo_template_options gufo_template_options;

/* A place in a template, from 1; columns count characters. */
typedef struct gufo_template_place {
    uint64_t line, column;
    uint64_t reserved[2];
} gufo_template_place;

/* Parses a template, which is copied.  A template does not change: any number of threads may render
 * it.  Freed with gufo_template_free.  NULL on failure: GUFO_E_MALFORMED for a fault of its syntax,
 * whose place is in *place (if not NULL) and in the message, and whose byte is the error's offset;
 * GUFO_E_LIMIT, GUFO_E_MEMORY.  `options` may be NULL. */
GUFO_MUST_USE GUFO_API gufo_template *gufo_template_parse(gufo_str source,
                                                          const gufo_parse_options *options,
                                                          gufo_template_place *place,
                                                          gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_template_free(gufo_template *parsed);

/* The variables of a rendering: what the template sees, and nothing else.  One thread at a time may
 * set them; between these calls, any number of threads may render with them.  They take memory of
 * each rendering, too: gufo_template_options.memory counts theirs. */
typedef struct gufo_template_values gufo_template_values;

/* Makes a set without variables, freed with gufo_template_values_free.  `options` may be NULL.  NULL on
 * failure: GUFO_E_MEMORY. */
GUFO_MUST_USE GUFO_API gufo_template_values *gufo_template_values_new(
    const gufo_template_values_options *options, gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_template_values_free(gufo_template_values *values);
/* Sets a variable to a JSON value (RFC 8259; integers of up to 4300 digits, 1000 arrays and objects
 * within each other); name and value are copied.  On failure all is as it was:
 * GUFO_E_MALFORMED with the byte of `json`, GUFO_E_LIMIT, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_template_values_set(gufo_template_values *values, const char *name,
                                              gufo_str json, gufo_error *error);
/* Renders a template: appends to `out`.  `values` may be NULL: no variables; `options` may be NULL.
 * Any number of threads, each with its own `out`.  On failure `out` is as it was:
 *   GUFO_E_STOPPED    the template called raise_exception; the message is its own
 *   GUFO_E_TYPE       an undefined variable, an operation that its values do not have, an unknown
 *                     filter, what the sandbox refuses
 *   GUFO_E_LIMIT      too many steps, too much output or memory, too deep
 *   GUFO_E_MEMORY, GUFO_E_ARGUMENT
 * *place (if not NULL) is where. */
GUFO_API gufo_status gufo_template_render(const gufo_template *parsed,
                                          const gufo_template_values *values,
                                          const gufo_template_options *options, gufo_text *out,
                                          gufo_template_place *place, gufo_error *error);

/* ==== The rest ==================================================================================== */

/* Reports what is wrong with a template, and what in it is dangerous where it is rendered without a
 * sandbox: a gufo_template_judge_fn (base.h), which does not run it.  Time is linear in the template.
 * Any thread. */
GUFO_API gufo_status gufo_template_lint(gufo_str source, const gufo_parse_options *options,
                                        gufo_template_finding_fn *found, void *context,
                                        gufo_error *error);

typedef struct gufo_template_values_options {
    const gufo_allocator *allocator; /* for all memory of the set; NULL: malloc */
    uint64_t memory;                 /* bytes, at most; 0: 512 MiB.  That of a value which another
                                        replaces is given back at the end */
    uint64_t reserved[4];            /* must be zero */
} gufo_template_values_options;

/* Sets a variable to a text, such as bos_token to that of a vocabulary (gufo_vocab_token).
 * GUFO_E_MALFORMED with the byte that is not UTF-8, GUFO_E_LIMIT, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_template_values_set_text(gufo_template_values *values, const char *name,
                                                   gufo_str text, gufo_error *error);
/* Sets a variable for each member of a JSON object.  Fails as gufo_template_values_set. */
GUFO_API gufo_status gufo_template_values_set_all(gufo_template_values *values, gufo_str json,
                                                  gufo_error *error);
/* Whether a variable is set. */
GUFO_API bool gufo_template_values_has(const gufo_template_values *values, const char *name);

typedef struct gufo_template_options {
    int64_t now;                     /* seconds since 1970 (UTC): what strftime_now formats */
    uint64_t steps;                  /* at most; 0: 10 million */
    uint64_t output;                 /* bytes of output, and of each text, at most; 0: 64 MiB */
    uint64_t memory;                 /* bytes of values, with the caller's, at most; 0: 512 MiB */
    uint32_t recursion;              /* macros and blocks within each other at most; 0: 200 */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t seed;        /* of the filter `random`: what it picks is the same everywhere */
    uint64_t reserved[4]; /* must be zero */
} gufo_template_options;

#ifdef __cplusplus
}
#endif

#endif
