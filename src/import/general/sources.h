/* Where the values of general.* come from, and how each is written. */
#ifndef IMPORT_GENERAL_SOURCES_H
#define IMPORT_GENERAL_SOURCES_H

#include "import/general/general.h"
#include "import/general/model_id.h"
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
    bool is_tower;      /* it sees images or hears */
    model_id ids[2];    /* of config.json, and of the folder */
    gufo_str odd_field; /* a field of the card whose value is of no use; empty: none */
} general_sources;

/* The first of these fields of the card (blanks divide them) that is present; `set`: and not null, nor an
 * empty text.  *name (may be NULL) is which. */
const json_t *sources_card(const general_sources *s, const char *fields, bool set, gufo_str *name);

/* ---- kinds of fields: how a field is found in its sources, and written ------------------------ */

struct general_field;

typedef struct field_kind {
    gufo_status (*write)(general_sources *s, const struct general_field *field, gufo_error *error);
    /* Whether a value of the caller's metadata is right; what it should be. */
    bool (*fits)(const json_t *value);
    const char *wanted;
} field_kind;

typedef struct general_field {
    const char *key; /* of groups, their beginning: "general.dataset." */
    const field_kind *kind;
    const char *card;       /* its fields of the card: the first that is set; of a list: all */
    const char *generation; /* its field of generation_config.json */
    id_part part;           /* of an id */
    bool title;             /* which is written as a title */
    /* What is known without being said; it writes nothing if nothing is. */
    void (*known)(const general_sources *s, char out[ID_ROOM]);
    const char *metadata; /* what the caller's metadata call it; NULL: as its key */
} general_field;

/* Fields of the card that have languages: what is none of those is a tag. */
#define GENERAL_CARD_LANGUAGES "languages language"

extern const field_kind card_text, card_license, card_tags, card_languages, card_whole, card_real,
    field_parents;

static inline const char *field_metadata_name(const general_field *field)
{
    return field->metadata != NULL ? field->metadata : field->key;
}

#endif
