/* A checkpoint on its way to a GGUF model.
 *
 *     open.c      everything in order: gufo_import_checkpoint
 *     keys.c      the entries of the document
 *     stored.c    gguf-metadata.json, which some of them are in
 *     trial.c     the entries alone, of files in memory
 *     pieces.c    its tensors, and the job that makes them
 *     judge.c     whether the model is one that readers take
 *     types.c     element types of a conversion
 *     adapter.c   what differs where the checkpoint is an adapter */
#ifndef IMPORT_CONVERSION_CONVERSION_H
#define IMPORT_CONVERSION_CONVERSION_H

#include "import/adapters/adapter.h"
#include "import/architectures/plan/tensors.h"
#include "import/conversion/stored.h"
#include "import/packed/find.h"
#include "schema/check/identity.h"

typedef struct conversion {
    gufo_import base;
    gufo_checkpoint_options options; /* while it is opened */
    model_place place;               /* where the files are */
    char *path;                      /* of it, on disk; NULL: it is the caller's */
    import_bounds bounds;            /* of all files */
    checkpoint checkpoint;
    packed_set packed;
    model_config config;
    tensor_plan plan;
    gufo_document *vocabulary; /* tokenizer.* keys, which come last */
    stored_metadata stored;
    json_t *metadata; /* what the caller says, while it is opened; NULL: nothing */
    json_t *failed;   /* see keys_request; lent */
    json_t *origins;  /* of keys, see keys_request */
    bool has_tensors;
    bool is_adapter; /* whose base the configuration is of */
    bool is_base;    /* of an adapter, which is open, too */
    adapter adapter;
    char *base_path; /* the folder of the base; NULL: it is a GGUF file */
    model_place base_place;
    /* What the base says of itself, and of a GGUF file the configuration, as a file. */
    char *base_name, *base_uuid; /* of malloc; NULL: nothing */
    char base_weights[IDENTITY_DIGITS + 1];
    char *base_config; /* of malloc */
    memory_file base_file;
    memory_files base_files;
} conversion;

/* The conversion that an import is; NULL: it is of another kind. */
const conversion *conversion_of(const gufo_import *import);

/* ---- open.c --------------------------------------------------------------------------------- */

extern const import_kind conversion_kind;

/* gufo_import_checkpoint of a place; what it needs outlives the import. */
gufo_import *conversion_open(const model_place *place, const gufo_checkpoint_options *options,
                             gufo_error *error);

/* The documents of the entries, with general.architecture. */
gufo_status conversion_make_documents(conversion *c, gufo_error *error);
/* Puts the entries in the order that gguf-metadata.json has. */
gufo_status conversion_sort_keys(conversion *c, gufo_error *error);

/* ---- keys.c --------------------------------------------------------------------------------- */

/* Reads the vocabulary into a document of its own; *tokens is its length, 0 without one. */
gufo_status conversion_read_vocabulary(conversion *c, uint64_t *tokens, gufo_error *error);
/* Sets the entries of the document, whose tensors are there. */
gufo_status conversion_set_keys(conversion *c, gufo_error *error);

/* ---- judge.c -------------------------------------------------------------------------------- */

/* Fails where the model contradicts its configuration, so that no reader could take it. */
gufo_status conversion_judge(conversion *c, gufo_error *error);

/* ---- trial.c -------------------------------------------------------------------------------- */

/* The entries that a conversion of these files gives, of a model without tensors: *out is the
 * caller's.  `failed`: an object that gets the keys whose rows fail, "@vocab" for the tokenizer, so that the
 * others are there all the same; NULL: a failure is one. */
gufo_status conversion_try(const memory_files *files, json_t *failed,
                           const gufo_allocator *allocator, gufo_document **out, gufo_error *error);

/* ---- adapter.c ------------------------------------------------------------------------------ */

/* Reads the settings of an adapter, whose checkpoint is open, and the configuration of its base. */
gufo_status conversion_open_adapter(conversion *c, gufo_error *error);
/* Takes what the adapter will name its base by. */
gufo_status conversion_take_base(conversion *c, const gufo_model *base, gufo_error *error);
gufo_status conversion_plan_adapter(conversion *c, gufo_error *error);
/* adapter.* */
gufo_status conversion_set_adapter_keys(conversion *c, gufo_error *error);

/* ---- pieces.c ------------------------------------------------------------------------------- */

/* Adds the tensors of the plan to the document. */
gufo_status conversion_add_tensors(conversion *c, gufo_error *error);
/* For import_kind. */
gufo_status conversion_plan(gufo_import *base, gufo_job *job, gufo_error *error);

#endif
