/* What the tensors of a GGUF model are called in a framework: the table export_names. */
#ifndef IMPORT_EXPORT_NAMES_H
#define IMPORT_EXPORT_NAMES_H

#include "gufo/format.h"
#include "import/architectures/configuration/config.h"
#include "import/containers/checkpoint.h"
#include "import/import.h"

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

#endif
