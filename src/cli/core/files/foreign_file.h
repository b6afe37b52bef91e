/* Models in other formats, seen as the GGUF files that `gufo migrate` and `gufo convert` make of
 * them: files of formats before GGUF, and what training frameworks save. */
#ifndef CLI_CORE_FILES_FOREIGN_FILE_H
#define CLI_CORE_FILES_FOREIGN_FILE_H

#include "gufo/files.h"
#include "gufo/find.h"
#include "gufo/format.h"

typedef struct foreign_kind {
    const char *name;    /* "GGJT version 1", "safetensors", "Hugging Face model" */
    const char *noun;    /* " file", or nothing where the name says what it is */
    const char *command; /* that makes a GGUF file of it: "migrate", "convert" */
    bool converts;       /* the second one */
} foreign_kind;

/* What a file is by its first bytes, or a folder by the names in it; false for any other, also of
 * GGUF, and where the library was left out.  `kind` may be NULL.  Any thread. */
bool foreign_file_find(const char *path, foreign_kind *kind);

/* The same in a word. */
gufo_find_kind foreign_file_kind(const char *path);

/* What it is opened for. */
typedef enum foreign_use {
    FOREIGN_SEEN,    /* reported with what it is seen as; of a checkpoint without rules, or without
                        a known tokenizer, what is understood, with a warning */
    FOREIGN_JUDGED,  /* reported with what the import warns of; what lacks rules is a failure */
    FOREIGN_OUTLINE, /* for a list: as FOREIGN_SEEN, without a vocabulary and without reports */
} foreign_use;

/* Opens such a model.  Tensors of old files have the types that nearly every such file gets, and
 * what they lack is assumed, or missing.  Closed with gufo_model_free. */
gufo_model *foreign_file_open(const char *path, foreign_use use, gufo_error *error);

/* Reports what the import of such a model warns of. */
void foreign_file_warn(const gufo_model *model, const char *path);

/* The path of part `index` of what such a model was made of; NULL past the last one, and for any
 * other model.  It lives as long as the model. */
const char *foreign_file_part_at(const gufo_model *model, uint32_t index);

/* Whether a file at `output` would replace one that such a model at `path` was made of, or become
 * one, by its name and the folder; after a report. */
bool foreign_file_spoiled(const char *path, const char *output);

/* Guards the files in the folder of such a model at `path`, by their names: it is made of some of them.
 * False, with the guard freed, after a report. */
bool foreign_file_guard(const char *path, gufo_guard *guard);

/* Reports such a model, which the command does not take, and names what helps; false for others. */
bool foreign_file_refuse(const char *path);

#endif
