/* Which tensors of a checkpoint are parts of packed weights. */
#ifndef IMPORT_PACKED_FIND_H
#define IMPORT_PACKED_FIND_H

#include "import/architectures/configuration/config.h"
#include "import/packed/packed.h"

/* ---- methods.c: how a checkpoint is quantized, as its configuration says it ---------------- */

enum { METHOD_KINDS = 4, METHOD_NAME = 64 };

/* A kind, and the element types that its first part has ("F8_E4M3 U8"); NULL: any. */
typedef struct packed_choice {
    const packed_kind *kind;
    const char *types;
} packed_choice;

/* A row of the table of methods. */
typedef struct packed_method {
    const char *name; /* quant_method */
    /* A field of the configuration, and its values, for which the row is ("gemm GEMM"); NULL: any. */
    const char *field, *values;
    packed_choice
        kinds[METHOD_KINDS]; /* up to the first without a kind; the first that fits is it */
    gufo_status (*read)(const json_t *how, packed_settings *out, gufo_error *error);
    const char *refused; /* why such weights are not read; NULL: they are */
} packed_method;

typedef struct packed_how {
    char name[METHOD_NAME];      /* quant_method; "": the checkpoint is not quantized */
    char value[METHOD_NAME];     /* of the field that the method was chosen by; "": by none */
    const packed_method *method; /* NULL: an unknown one */
    packed_settings settings;
    json_t *file; /* that was read for it; freed with method_close */
    const char *file_name;
} packed_how;

/* Reads quantization_config of config.json, or the files that say it where that does not.  A method
 * that is unknown or refused does not fail here: weights may be plain numbers all the same. */
gufo_status method_open(packed_how *how, const model_config *config, gufo_error *error);
void method_close(packed_how *how);

/* ---- find.c -------------------------------------------------------------------------------- */

/* The packed weights of a checkpoint. */
typedef struct packed_set {
    const gufo_allocator *allocator;
    packed_how how;
    packed_weight *weights;
    uint64_t count;
    struct packed_cache *cache; /* of all weights */
    checkpoint_tensor *files;   /* the tensors as the files have them: what parts point to */
} packed_set;

/* Puts a tensor in place of the parts of each packed weight of a checkpoint: NAME.weight, of F32,
 * with the weight as its `packed`.  What only the running of a quantized model needs (scales of
 * activations) is taken out of the checkpoint.  Other tensors, and checkpoints that are not quantized,
 * stay as they are.  Linear time.
 *   GUFO_E_TYPE       a method that is not read
 *   GUFO_E_MALFORMED  parts that are missing, or do not fit each other
 * and what reading files gives.  Freed with packed_free, also after a failure, before the checkpoint is
 * closed, whose tensors it owns parts of. */
gufo_status packed_find(packed_set *set, checkpoint *c, const model_config *config,
                        gufo_error *error);
void packed_free(packed_set *set);

#endif
