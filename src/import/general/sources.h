/* Where the values of general.* come from. */
#ifndef IMPORT_GENERAL_SOURCES_H
#define IMPORT_GENERAL_SOURCES_H

#include "import/general/general.h"
#include "import/general/model_id.h"
#include "import/general/size_label.h"
#include "import/json_file.h"
#include "import/model_folder.h"

typedef struct general_sources {
    gufo_import *import;
    json_t *metadata;         /* the caller's; NULL: none */
    const json_t *decided;    /* keys that are decided elsewhere; NULL: none */
    const json_t *generation; /* generation_config.json; NULL: none */
    json_t *card;             /* front matter of README.md; NULL: none */
    folder_name folder;
    parameter_count count;
    id_scale scale;
    model_id ids[2];    /* of config.json, and of the folder */
    gufo_str odd_field; /* a field of the card whose value is of no use; empty: none */
} general_sources;

/* The value of a key in the caller's metadata.  *decided: the key is there, so that other sources do
 * not count; null says that the model has no such key. */
const json_t *sources_metadata(const general_sources *s, const char *key, bool *decided);

/* The first of these fields of the card (blanks divide them) that is present; `set`: and not null, nor an
 * empty text.  *name (may be NULL) is which. */
const json_t *sources_card(const general_sources *s, const char *fields, bool set, gufo_str *name);

#endif
