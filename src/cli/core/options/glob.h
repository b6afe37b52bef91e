/* Patterns of the shell: `*`, `?`, `[...]`. */
#ifndef CLI_CORE_OPTIONS_GLOB_H
#define CLI_CORE_OPTIONS_GLOB_H

#include "cli/core/options/options.h"

#include "gufo/format.h"

/* Whether `name` matches; everything matches NULL. */
bool glob_matches(const char *glob, gufo_str name);
/* Finds the next entry or tensor whose name matches, from *next on, and moves *next behind it;
 * false past the last. */
bool glob_next_entry(const char *glob, const gufo_model *model, uint64_t *next, gufo_entry *out);
bool glob_next_tensor(const char *glob, const gufo_model *model, uint64_t *next, gufo_tensor *out);
/* Whether the name matches one of several patterns; every name does without patterns. */
bool glob_selects(const option_texts *globs, gufo_str name);

#endif
