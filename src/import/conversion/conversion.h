/* A checkpoint on its way to a GGUF model.
 *
 *     open.c      everything in order: gufo_import_checkpoint
 *     keys.c      the entries of the document
 *     pieces.c    its tensors, and the job that makes them
 *     types.c     element types of a conversion */
#ifndef IMPORT_CONVERSION_CONVERSION_H
#define IMPORT_CONVERSION_CONVERSION_H

#include "import/architectures/tensors.h"
#include "import/quantized/find.h"

typedef struct conversion {
    gufo_import base;
    gufo_checkpoint_options options; /* while it is opened */
    checkpoint checkpoint;
    packed_set packed;
    model_config config;
    tensor_plan plan;
    gufo_document *vocabulary; /* tokenizer.* keys, which come last */
    bool has_tensors;
} conversion;

/* The conversion that an import is; NULL: it is of another kind. */
const conversion *conversion_of(const gufo_import *import);

/* ---- keys.c --------------------------------------------------------------------------------- */

/* Reads the vocabulary into a document of its own; *tokens is its length, 0 without one. */
gufo_status conversion_read_vocabulary(conversion *c, uint64_t *tokens, gufo_error *error);
/* Sets the entries of the document, whose tensors are there. */
gufo_status conversion_set_keys(conversion *c, gufo_error *error);

/* ---- pieces.c ------------------------------------------------------------------------------- */

/* Adds the tensors of the plan to the document. */
gufo_status conversion_add_tensors(conversion *c, gufo_error *error);
/* For import_kind. */
gufo_status conversion_plan(const gufo_import *base, gufo_job *job, gufo_error *error);

#endif
