/* Commands to copy, as a shell reads them; they are safe for a terminal. */
#ifndef CLI_CORE_TERMINAL_SHELL_H
#define CLI_CORE_TERMINAL_SHELL_H

#include "gufo/base.h"

#include <stdio.h>

/* Writes a text as a shell reads it as (a part of) one word. */
void shell_put(FILE *out, gufo_str text);
/* A space and a path: one that begins with a hyphen is not an option. */
void shell_put_file(FILE *out, const char *path);

#endif
