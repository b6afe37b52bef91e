/* Asks another program. */
#ifndef CLI_ESTIMATE_MACHINE_ASK_H
#define CLI_ESTIMATE_MACHINE_ASK_H

#include <stdbool.h>
#include <stddef.h>

/* Runs a program of PATH without a shell, with nothing to read, for at most five seconds, and stores what
 * it prints as text; false if there is none, it fails, takes longer, or prints more. */
bool machine_ask(const char *const *words, char *answer, size_t size);

#endif
