/* What an old file becomes. */
#ifndef LEGACY_PLAN_H
#define LEGACY_PLAN_H

#include "gufo/import.h"
#include "import/import.h"
#include "legacy/file.h"

enum { LEGACY_SOURCES = 8 };

/* A tensor of the GGUF model, of the rows of one record or, one after the other, of several. */
typedef struct legacy_tensor {
    char name[GUFO_MAX_NAME + 1];
    gufo_str source; /* the name of the first record */
    const legacy_file *file;
    uint32_t records[LEGACY_SOURCES]; /* in the parts; none: mel filters */
    uint32_t record_count;
    const legacy_name *row; /* NULL: the name stays */
    legacy_order order;     /* that is to be changed */
    uint32_t n_dims;
    uint64_t dims[GUFO_MAX_DIMS];
    const gufo_element_type *type;
    /* What it costs, by GUFO_LEGACY_MEASURE. */
    legacy_loss same_name, f16;
    bool measured;
} legacy_tensor;

/* The meaning of letters in the shapes of names: 0 where none was seen. */
typedef struct legacy_shapes {
    uint64_t size[128];
    bool flipped; /* some matrices are the other way round */
} legacy_shapes;

/* ---- shapes.c ------------------------------------------------------------------------------- */

/* The dimensions that a record has in the whole model, of all parts. */
void legacy_whole(const legacy_file *file, const legacy_record *record, const legacy_name *row,
                  uint64_t ne[LEGACY_MAX_DIMS]);
/* Checks that the tensors are those of a model: names, dimensions, all layers.  Chooses between
 * families that only tensors tell apart. */
gufo_status legacy_check_shapes(legacy_file *file, legacy_shapes *shapes, gufo_error *error);

/* Checks that what is left out of a starcoder model are copies: reads all keys and values. */
gufo_status legacy_check_copies(const legacy_file *file, gufo_error *error);

/* ---- rows.c --------------------------------------------------------------------------------- */

/* The record that a tensor begins with, in the first part. */
static inline const legacy_record *first_record(const legacy_tensor *t)
{
    return &t->file->parts[0].records[t->records[0]];
}

/* Reads the blocks that may lose something, and notes in the tensors what they lose. */
gufo_status legacy_measure_all(legacy_tensor *tensors, uint64_t count, gufo_legacy_keep keep,
                               const gufo_run *run, const gufo_allocator *allocator,
                               gufo_error *error);

/* Adds the tensor's piece to a job whose inputs are the parts. */
gufo_status legacy_add_piece(gufo_job *job, const legacy_tensor *t, uint64_t place,
                             gufo_error *error);

/* ---- an import of an old file ----------------------------------------------------------------- */

typedef struct legacy_import {
    gufo_import base;
    legacy_file file;
    legacy_shapes shapes;
    legacy_tensor *tensors;
    uint64_t tensor_count, tensor_room;
    char *called; /* the file, as a text */
} legacy_import;

/* tensors.c: the list of tensors, with their types. */
gufo_status legacy_plan_tensors(legacy_import *im, const gufo_legacy_options *options,
                                gufo_error *error);
/* keys.c: the document's entries. */
gufo_status legacy_set_keys(legacy_import *im, const gufo_legacy_options *options,
                            gufo_error *error);
/* adapter.c: GGLA, LoRA adapters. */
gufo_import *legacy_open_adapter(const char *path, const gufo_legacy_options *options,
                                 gufo_error *error);
/* gguf.c: GGUF of version 1 or 2. */
gufo_import *legacy_open_gguf(const char *path, const gufo_legacy_options *options,
                              gufo_error *error);

#endif
