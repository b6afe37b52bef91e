/* How wide terminals are. */
#ifndef CLI_CORE_TERMINAL_H
#define CLI_CORE_TERMINAL_H

#include <stddef.h>

/* How wide a terminal is now. */
size_t terminal_columns(int fd);
/* The same, unless COLUMNS says how wide lines should be. */
size_t terminal_width(int fd);

#endif
