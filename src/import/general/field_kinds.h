/* Kinds of fields of general.*: how a field is found in its sources, and written. */
#ifndef IMPORT_GENERAL_FIELD_KINDS_H
#define IMPORT_GENERAL_FIELD_KINDS_H

#include "import/general/sources.h"

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
