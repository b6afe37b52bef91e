/* Tables of a catalogue. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "cli/catalogue.h"

/* Writes all rows, with columns below each other, or as JSON: {"keys":[{...},...]}.  `arch`: only
 * the rows of that architecture; NULL: all. */
void list_print(const catalogue *c, const char *arch);
void list_write(const catalogue *c, const char *arch);

#endif
