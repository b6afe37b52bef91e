/* The tensors of a checkpoint that are written: names, shapes, types and places. */

#ifndef IMPORT_EXPORT_TENSORS_H
#define IMPORT_EXPORT_TENSORS_H

#include "gufo/format.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/plan/plan.h"
#include "import/containers/checkpoint.h"
#include "import/export/export.h"
#include "import/import.h"
#include "produce/produce.h"

/* ---- names.c: what tensors are called in a framework, the table export_names --------------- */

/* A tensor of one number, which the model has in a key. */
typedef struct given_number {
    uint64_t tensor; /* of the checkpoint */
    float value;
} given_number;

/* A checkpoint that was made up: tensors of F32 one after the other in a file that does not exist,
 * whose conversion gives the tensors of the model. */
typedef struct made_up {
    checkpoint checkpoint;
    checkpoint_file file;
    name_index by_name;  /* of the tensors of the model */
    given_number *given; /* in the order of their tensors */
    uint64_t given_count, given_room;
    bool *covered; /* for each of them: whether the conversion gives it */
} made_up;

/* Makes it up.  Tensors that nothing gives are not an error: `covered` says which.  Freed with
 * names_free, also after a failure. */
gufo_status names_make_up(made_up *m, const gufo_model *model, gufo_import *import,
                          const model_config *config, uint64_t tokens, gufo_error *error);
void names_free(made_up *m);

/* Whether gufo convert computes a tensor from the configuration. */
bool names_is_generated(gufo_str name);

/* ---- invert.c ------------------------------------------------------------------------------ */

/* Operations on tensors, the other way round.
 *
 * A made-up checkpoint is converted without data.  A chunk of a view says which numbers of a
 * tensor of the checkpoint follow each other in a tensor of the model; with both sides changed, it is a
 * box: where the numbers of a tensor of the model go.
 *
 *     chunk    numbers 0 3 1 4 2 5 of the source are 0 1 2 3 4 5 of the result   counts 3, 2  strides 1, 3
 *     box      the same, with strides 2, 1 in the result */
typedef struct box {
    uint64_t owner;    /* tensor of the checkpoint */
    uint64_t tensor;   /* of the model */
    uint64_t to, from; /* the first number, in both */
    strided_pair walk; /* steps in numbers */
} box;

uint64_t box_numbers(const box *b);
/* Whether both have the same counts and steps in the checkpoint, wherever they begin. */
bool boxes_fill_alike(const box *a, const box *b);

/* What gives the numbers of a tensor of the checkpoint. */
typedef struct undoing {
    uint64_t first_box, box_count;
    row_op ops[VIEW_OPS];
    uint32_t n_ops;
    bool exact;   /* in every type: nothing is computed, or numbers are scaled by powers of 2 */
    bool ternary; /* all numbers become their mean size, with a sign, or 0 */
} undoing;

typedef struct inversion {
    const gufo_model *model;
    const made_up *made;
    const gufo_allocator *allocator;
    tensor_plan plan; /* owns the tables of operations */
    box *boxes;       /* in the order of their owners, and of `to` */
    uint64_t box_count, box_room;
    undoing *undoings; /* of each tensor of the checkpoint */
    bool *given;   /* tensors of the model that the conversion gives, or generates as they are */
    bool *differs; /* that the conversion generates with other numbers */
} inversion;

/* Freed with inversion_free, also after a failure.  GUFO_E_TYPE for a tensor of the model that has another
 * shape than the conversion gives. */
gufo_status inversion_open(inversion *v, const gufo_model *model, const made_up *own,
                           gufo_import *import, const model_config *config, uint64_t tokens,
                           gufo_error *error);
void inversion_free(inversion *v);

/* The type whose numbers become those of the model again: F16, if all do in F16, where a conversion works
 * on numbers of F16; else F32.  *exact: false where even those become other numbers, as far as that is tried:
 * not for ternary numbers, and scales of rows.  Sets the operations that make them; reads the numbers. */
gufo_status undo_choose_type(const inversion *v, undoing *u, const gufo_element_type **type,
                             bool *exact, gufo_error *error);

/* GUFO_E_TYPE where the model has other numbers in a tensor that a conversion would make a copy of another
 * one: they would be lost. */
gufo_status copies_check(const inversion *v, gufo_error *error);

/* ---- arrange.c: pieces for the engine ------------------------------------------------------ */

/* Adds what makes tensor `owner` of the checkpoint, with numbers of `type`, at `place` of a target.
 *   GUFO_E_TYPE   a type that is not decoded; blocks whose numbers go to several places
 *   GUFO_E_LIMIT  numbers that are scattered over too many places */
gufo_status arrange(gufo_job *job, const inversion *v, uint64_t owner,
                    const gufo_element_type *type, uint32_t target, uint64_t place,
                    gufo_error *error);

/* ---- tensors.c ----------------------------------------------------------------------------- */

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

/* Files of tensors: what is written around the numbers. */

enum { EXPORT_NAME_SIZE = 64 };

/* Files of safetensors that have at most `shard_size` bytes of tensors, and at least one tensor: sets
 * `file` and `offset` of all tensors, and adds a target for each file, with a piece for each tensor.  With
 * several files model.safetensors.index.json is a target, too.  The headers belong to the caller:
 * `blocks`, of the plan's allocator. */
typedef struct written_files {
    void **blocks; /* headers, names */
    uint64_t block_count, block_room;
} written_files;

void written_free(written_files *w, const gufo_allocator *a);
/* Adds a target with these bytes in front of `data` bytes of pieces; `name` is copied. */
gufo_status written_target(written_files *w, gufo_job *job, const char *name, const void *header,
                           size_t header_size, uint64_t data, uint64_t tensors, uint32_t *number,
                           gufo_error *error);

gufo_status safetensors_write_all(written_files *w, gufo_job *job, export_plan *plan,
                                  uint64_t shard_size, gufo_error *error);
/* One file, model.npz. */
gufo_status npz_write_all(written_files *w, gufo_job *job, export_plan *plan, gufo_error *error);

#endif
