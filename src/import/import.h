/* The private part of an import: what every importer fills. */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "gufo/import.h"
#include "gufo/schema.h"
#include "produce/produce.h"

/* What an importer is, to the functions that all of them share. */
typedef struct import_kind {
    /* Plans the file: all inputs, the target of the document, and its pieces, one for each
     * tensor. */
    gufo_status (*plan)(gufo_import *import, gufo_job *job, gufo_error *error);
    bool (*tensor_at)(const gufo_import *import, uint64_t index, gufo_import_tensor *out);
    const char *(*part_at)(const gufo_import *import, uint32_t index);
    void (*close)(gufo_import *import); /* what the importer has beyond the fields below */
} import_kind;

typedef struct import_setting {
    gufo_import_setting shown; /* its key is `key` */
    char *key;
} import_setting;

/* The first member of what an importer makes. */
struct gufo_import {
    gufo_allocator allocator;
    const import_kind *kind;
    gufo_import_facts facts;
    gufo_document *document;
    import_setting *settings;
    char **warnings;
    uint64_t *forced; /* numbers of warnings */
    uint64_t setting_count, setting_room, warning_count, warning_room, forced_count, forced_room;
    gufo_job *peeked;   /* makes rows of the model */
    gufo_model *opened; /* the model, which is freed with the import */
};

/* Adds a setting that is known, assumed or missing; its value is that of the document, or has only
 * a type.  `why` is static. */
gufo_status import_add_setting(gufo_import *import, gufo_str key, gufo_setting_origin origin,
                               bool required, gufo_value_type type, const char *why,
                               gufo_error *error);
__attribute__((format(printf, 3, 4))) gufo_status import_warn(gufo_import *import,
                                                              gufo_error *error, const char *format,
                                                              ...);
/* The last warning would be an error but for GUFO_CHECKPOINT_FORCE_CONFIG. */
gufo_status import_note_forced(gufo_import *import, gufo_error *error);
/* Names the settings that are assumed in the document, in `gufo.assumed`; none: no such key. */
gufo_status import_name_assumed(gufo_import *import, gufo_error *error);
/* Sets all entries of another document in that of the import; `from` may be NULL. */
gufo_status import_set_entries(gufo_import *import, const gufo_document *from, gufo_error *error);
/* The name of today of a key that has another one which every reader takes for that; false: it is to
 * stay. */
bool import_new_name(gufo_str key, gufo_str architecture, char out[GUFO_KEY_NAME_SIZE]);
/* Sets the entries of the tokenizer of another model, with names of today. */
gufo_status import_copy_vocabulary(gufo_document *document, const gufo_model *from,
                                   gufo_error *error);
/* Opens the model that the document describes, whose rows the plan makes. */
gufo_status import_open_model(gufo_import *import, gufo_error *error);

#endif
