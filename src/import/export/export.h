/* The way back: a GGUF model as the files of a framework.
 *
 *     ../architectures/inverse: config.json
 *     vocabulary.c  the files of the tokenizer (tokenizer_config.c)
 *     metadata.c    gguf-metadata.json: what no file of a framework can say
 *     all_files.c   all of these, and README.md (files.c: the list)
 *     names.c       what tensors are called in a framework
 *     invert.c      operations on tensors, the other way round: arithmetic, numbers that are stored twice
 *     arrange.c     where numbers go
 *     tensors.c     the tensors of the files
 *     writers.c     files of tensors: safetensors, npz
 *     job.c         all files, as targets of one job
 *
 * Operations are not written twice.  The exporter makes the tensors of a checkpoint up (names and
 * shapes), plans its conversion with the rules of gufo convert, and inverts the views that come out:
 * what a view takes from where is also what goes back to where. */
#ifndef IMPORT_EXPORT_EXPORT_H
#define IMPORT_EXPORT_EXPORT_H

#include <jansson.h>

#include "gufo/import.h"

/* A file beside those of tensors. */
typedef struct export_file {
    const char *name; /* "config.json"; static */
    char *bytes;      /* of malloc */
    size_t size;
} export_file;

enum { EXPORT_FILES = 16 };

typedef struct export_files {
    export_file list[EXPORT_FILES];
    uint32_t count;
    char **warnings; /* sentences: what is lost or approximate; of malloc */
    uint64_t warning_count, warning_room;
} export_files;

void export_files_free(export_files *files);
__attribute__((format(printf, 3, 4))) gufo_status export_warn(export_files *files,
                                                              gufo_error *error, const char *format,
                                                              ...);

/* ---- all_files.c ---------------------------------------------------------------------------- */

/* The fields of config.json, as inverse_config, whose warnings are those of `files`. */
gufo_status export_config(const gufo_model *model, json_t **out, export_files *files,
                          gufo_error *error);

/* Adds config.json (`config`, to which this may add torch_dtype and the like), generation_config.json,
 * gguf-metadata.json, README.md and the files of the tokenizer. */
gufo_status export_add_files(const gufo_model *model, json_t *config, export_files *files,
                             gufo_error *error);

#endif
