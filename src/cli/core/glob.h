/* Patterns of the shell: `*`, `?`, `[...]`. */
#ifndef CLI_CORE_GLOB_H
#define CLI_CORE_GLOB_H

#include "cli/core/options.h"

#include "gufo/base.h"

/* Whether `name` matches; everything matches NULL. */
bool glob_matches(const char *glob, gufo_str name);
/* Whether it matches one of several, or there are none. */
bool glob_selects(const option_texts *globs, gufo_str name);

#endif
