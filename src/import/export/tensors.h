/* The tensors of a checkpoint that are written: names, shapes, types and places. */
#ifndef IMPORT_EXPORT_TENSORS_H
#define IMPORT_EXPORT_TENSORS_H

#include "import/export/export.h"
#include "import/export/invert.h"

typedef struct export_tensor {
    const checkpoint_tensor *like; /* its name and shape */
    uint64_t owner;                /* its number in the made-up checkpoint */
    const gufo_element_type *type;
    const number_type *number; /* the same, as frameworks call it */
    uint64_t size, offset;     /* bytes, and where they are in the data of its file */
    uint32_t file;
} export_tensor;

/* All that is known of the tensors before a job is made. */
typedef struct export_plan {
    gufo_allocator allocator;
    const gufo_model *model;
    gufo_import import; /* what the rules of gufo convert want to see of one */
    model_config config;
    made_up made;
    inversion inversion;
    export_tensor *tensors; /* by name */
    uint64_t count;
    export_files files; /* and the warnings */
} export_plan;

typedef struct export_types {
    const gufo_element_type *matrices; /* of two dimensions and more; NULL: as they are */
    const gufo_element_type *decoded;  /* of what is quantized */
    bool without_bf16;                 /* F32 takes its place */
} export_types;

/* Finds names, shapes and types of all tensors.  Takes over what is in `warnings`.  Freed with
 * export_plan_close, also after a failure.
 *   GUFO_E_TYPE  an architecture without rules; a tensor that has no name in the frameworks */
gufo_status export_plan_open(export_plan *p, const gufo_model *model, json_t *config,
                             const export_types *types, export_files *warnings,
                             const gufo_allocator *allocator, gufo_error *error);
void export_plan_close(export_plan *p);

#endif
