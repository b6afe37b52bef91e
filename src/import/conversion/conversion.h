/* A checkpoint on its way to a GGUF model.
 *
 *     open.c      everything in order: gufo_import_checkpoint; the entries alone, of files in memory
 *     pieces.c    its tensors with their element types, and the job that makes them
 *     keys.c      the entries of the document, and gguf-metadata.json, which some of them are in
 *     judge.c     whether the model is one that readers take
 *     adapter.c   what differs where the checkpoint is an adapter */
#ifndef IMPORT_CONVERSION_CONVERSION_H
#define IMPORT_CONVERSION_CONVERSION_H

#include "import/adapters/adapter.h"
#include "import/architectures/plan/plan.h"
#include "import/import.h"
#include "import/packed/packed.h"
#include "schema/check/identity.h"

/* gguf-metadata.json: what the files of a framework cannot say about a model, kept beside them by gufo
 * export.
 *
 *     {"version": 1,
 *      "keys": {"general.author": null, "llama.x": {"type": "uint32", "value": 7}},
 *      "order": ["general.architecture", "general.name"],
 *      "type": "F32",
 *      "tensors": ["token_embd.weight", "output_norm.weight"]}
 *
 * A key that it has is as it says, whatever other files say: null is a key that the model does not have.
 * A key under another name that can be renamed for every reader counts as that of today.
 * `order` (the keys of the model), `type` (that of most of its tensors, where their files do not say it)
 * and `tensors` (the order of these) may be missing; what else there is belongs to later versions. */

#define STORED_NAME "gguf-metadata.json"

enum { STORED_VERSION = 1 };

typedef struct stored_metadata {
    json_t *root;           /* the file; NULL: none */
    gufo_document *entries; /* the keys that have a value */
} stored_metadata;

typedef struct conversion {
    gufo_import base;
    gufo_checkpoint_options options; /* while it is opened */
    model_place place;               /* where the files are */
    char *path;                      /* of it, on disk; NULL: it is the caller's */
    char called[FOLDER_NAME_ROOM];   /* what its folder is called */
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
    char base_called[FOLDER_NAME_ROOM];
    /* What the base says of itself, and of a GGUF file the configuration, as a file. */
    char *base_name, *base_uuid; /* of malloc; NULL: nothing */
    char base_weights[IDENTITY_DIGITS + 1];
    char *base_config; /* of malloc */
    memory_file base_file;
    memory_files base_files;
} conversion;

static inline bool is_tower(const conversion *c)
{
    return c->config.kind == CONFIG_OF_TOWER;
}

/* ---- open.c --------------------------------------------------------------------------------- */

extern const import_kind conversion_kind;

/* gufo_import_checkpoint of a place; what it needs outlives the import. */
gufo_import *conversion_open(const model_place *place, const gufo_checkpoint_options *options,
                             gufo_error *error);

/* The entries that a conversion of these files gives, of a model without tensors: *out is the
 * caller's.  `failed`: an object that gets the keys whose rows fail, "@vocab" for the tokenizer, so that the
 * others are there all the same; NULL: a failure is one. */
gufo_status conversion_try(const memory_files *files, json_t *failed,
                           const gufo_allocator *allocator, gufo_document **out, gufo_error *error);

/* ---- keys.c --------------------------------------------------------------------------------- */

/* Reads the vocabulary into a document of its own; *tokens is its length, 0 without one. */
gufo_status conversion_read_vocabulary(conversion *c, uint64_t *tokens, gufo_error *error);
/* Sets the entries of the document, whose tensors are there. */
gufo_status conversion_set_keys(conversion *c, gufo_error *error);

/* ---- judge.c -------------------------------------------------------------------------------- */

/* Fails where the model contradicts its configuration, so that no reader could take it. */
gufo_status conversion_judge(conversion *c, gufo_error *error);

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
/* The conversion that an import is; NULL: it is of another kind. */
const conversion *conversion_of(const gufo_import *import);
/* For import_kind. */
gufo_status conversion_plan(gufo_import *base, gufo_job *job, gufo_error *error);

/* ---- gguf-metadata.json, in keys.c -------------------------------------------------------------- */

/* Reads the file, if the folder has one.  GUFO_E_MALFORMED, GUFO_E_RANGE, GUFO_E_LIMIT and failures of
 * gufo_document_set name it; GUFO_E_IO, GUFO_E_MEMORY.  Nothing is left to close after a failure. */
gufo_status stored_open(stored_metadata *stored, const model_config *config,
                        const gufo_allocator *allocator, gufo_error *error);
void stored_close(stored_metadata *stored);

/* A new document with the entries of another one in the order of the file, those that it does not name
 * behind them; NULL, with GUFO_OK, where the file has no order. */
gufo_status stored_sort(const stored_metadata *stored, const gufo_document *from,
                        const gufo_allocator *allocator, gufo_document **out, gufo_error *error);

/* Puts the tensors of a plan in the order of the file, those that it does not name behind them. */
gufo_status stored_sort_tensors(const stored_metadata *stored, tensor_plan *plan,
                                gufo_error *error);

/* The element type of most of the model; NULL: it says nothing. */
const gufo_element_type *stored_type(const stored_metadata *stored);

#endif
