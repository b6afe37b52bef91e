/* Names that are meant: by a pattern, or by a word that is near. */
#ifndef CLI_CORE_OPTIONS_NAMES_H
#define CLI_CORE_OPTIONS_NAMES_H

#include "cli/core/options/options.h"
#include "gufo/base.h"
#include "gufo/format.h"

/* ---- patterns of the shell: `*`, `?`, `[...]` ------------------------------------------------ */

/* Whether `name` matches; everything matches NULL. */
bool glob_matches(const char *glob, gufo_str name);
/* Finds the next entry or tensor whose name matches, from *next on, and moves *next behind it;
 * false past the last. */
bool glob_next_entry(const char *glob, const gufo_model *model, uint64_t *next, gufo_entry *out);
bool glob_next_tensor(const char *glob, const gufo_model *model, uint64_t *next, gufo_tensor *out);
/* Whether the name matches one of several patterns; every name does without patterns. */
bool glob_selects(const option_texts *globs, gufo_str name);

/* ---- regular expressions --------------------------------------------------------------------- */

/* Of the PCRE2 library, case-sensitive; they match anywhere in a name.  A gufo that was built without the
 * library knows none. */
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

/* ---- suggestions ----------------------------------------------------------------------------- */

/* "did you mean 'show'?": finds the name that is nearest to a word that names nothing. */
typedef struct suggestion {
    gufo_str word, name; /* `name`: the nearest so far; empty: none is near */
    size_t best;         /* its distance; without a name, the first distance that is too far */
    char text[1024];     /* more than a report shows */
} suggestion;

suggestion suggest_start(gufo_str word);
/* Returns whether the name is nearer than those before it, or as near and first by its bytes. */
bool suggest_offer(suggestion *s, gufo_str name);
/* "; did you mean 'show'?", with `before` in front of the name; "" if no name is near. */
const char *suggest_text(suggestion *s, const char *before);

#endif
