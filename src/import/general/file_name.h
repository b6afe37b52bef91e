/* Placeholders in the name of the file that a conversion writes. */
#ifndef IMPORT_GENERAL_FILE_NAME_H
#define IMPORT_GENERAL_FILE_NAME_H

#include "gufo/base.h"

/* Replaces {ftype} and {outtype} in an output's name by the type in lower case, {FTYPE} and {OUTTYPE} by
 * the same in upper case.  Writes at most `size` bytes with the terminator and returns the bytes that
 * are needed without it, like snprintf. */
size_t file_name_fill(char *out, size_t size, gufo_str pattern, const char *type);

#endif
