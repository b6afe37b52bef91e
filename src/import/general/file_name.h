/* The name of the file that a conversion writes. */
#ifndef IMPORT_GENERAL_FILE_NAME_H
#define IMPORT_GENERAL_FILE_NAME_H

#include "gufo/document.h"
#include "gufo/name.h"

/* The name by the naming convention: what general.* of the document says, then `type`, the short name
 * of a file type ("Q4_K_M"; NULL for a vocabulary alone).  Parts that the model does not have are
 * missing.  GUFO_E_RANGE for a name that is too long. */
gufo_status file_name_of(const gufo_document *document, const char *type, char out[GUFO_NAME_SIZE],
                         gufo_error *error);

/* Replaces {ftype} and {outtype} in an output's name by the type in lower case, {FTYPE} and {OUTTYPE} by
 * the same in upper case.  Writes at most `size` bytes with the terminator and returns the bytes that
 * are needed without it, like snprintf. */
size_t file_name_fill(char *out, size_t size, gufo_str pattern, const char *type);

#endif
