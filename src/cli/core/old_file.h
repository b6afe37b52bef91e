/* Model files of formats before GGUF, seen as the GGUF files that `gufo migrate` makes of them. */
#ifndef CLI_CORE_OLD_FILE_H
#define CLI_CORE_OLD_FILE_H

#include "gufo/format.h"

/* What a regular file is by its first bytes: "GGJT version 1" ...; NULL for any other file, also of
 * GGUF, and where the library was left out.  Any thread. */
const char *old_file_kind(const char *path);

/* Opens such a file.  Its tensors have the types that nearly every such file gets, and what it
 * lacks is assumed, or missing.  *size (may be NULL) is that of all its parts.  Closed with
 * gufo_close. */
gufo_model *old_file_open(const char *path, uint64_t *size, gufo_error *error);

/* The path of part `index` of the file that such a model was made of; NULL past the last one, and
 * for any other model.  It lives as long as the model. */
const char *old_file_part_at(const gufo_model *model, uint32_t index);

/* Reports such a file, which the command does not take, and names what helps; false for others. */
bool old_file_refuse(const char *path);

#endif
