/* Models in other formats, seen as the GGUF files that `gufo migrate` and `gufo convert` make of
 * them: files of formats before GGUF, and what training frameworks save. */
#ifndef CLI_CORE_FOREIGN_FILE_H
#define CLI_CORE_FOREIGN_FILE_H

#include "gufo/format.h"

typedef struct foreign_kind {
    const char *name;    /* "GGJT version 1", "safetensors", "Hugging Face model" */
    const char *noun;    /* " file", or nothing where the name says what it is */
    const char *command; /* that makes a GGUF file of it: "migrate", "convert" */
} foreign_kind;

/* What a file is by its first bytes, or a folder by the names in it; false for any other, also of
 * GGUF, and where the library was left out.  `kind` may be NULL.  Any thread. */
bool foreign_file_find(const char *path, foreign_kind *kind);

/* Opens such a model.  Tensors of old files have the types that nearly every such file gets, and
 * what they lack is assumed, or missing; those of a checkpoint without rules, or without a known
 * tokenizer, are shown as they are, with a warning.  *size (may be NULL) is that of all its parts.
 * Closed with gufo_close. */
gufo_model *foreign_file_open(const char *path, uint64_t *size, gufo_error *error);

/* The path of part `index` of what such a model was made of; NULL past the last one, and for any
 * other model.  It lives as long as the model. */
const char *foreign_file_part_at(const gufo_model *model, uint32_t index);

/* Reports such a model, which the command does not take, and names what helps; false for others. */
bool foreign_file_refuse(const char *path);

#endif
