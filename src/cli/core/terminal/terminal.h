/* How wide terminals are, and what they take. */
#ifndef CLI_CORE_TERMINAL_TERMINAL_H
#define CLI_CORE_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* How wide a terminal is now. */
size_t terminal_columns(int fd);
/* The same, unless COLUMNS says how wide lines should be. */
size_t terminal_width(int fd);
/* Whether TERM says that terminals take nothing but text: a shell in an editor does. */
bool terminal_is_dumb(void);

#endif
