/* Ids of models, such as "mistralai/Mixtral-8x7B-Instruct-v0.1", and what their parts mean. */
#ifndef IMPORT_GENERAL_MODEL_ID_H
#define IMPORT_GENERAL_MODEL_ID_H

#include "gufo/document.h"

typedef enum id_part {
    ID_NO_PART,      /* always "" */
    ID_NAME,         /* "Mixtral-8x7B-Instruct-v0.1" */
    ID_ORGANIZATION, /* "mistralai" */
    ID_BASENAME,     /* "Mixtral" */
    ID_SIZE,         /* "8x7B" */
    ID_FINETUNE,     /* "Instruct" */
    ID_VERSION,      /* "v0.1" */
    ID_PARTS,
} id_part;

/* The longest id that is taken apart, and room for any part of one: a size may grow by a point. */
enum { ID_LONGEST = 512, ID_ROOM = 2 * ID_LONGEST };

typedef struct model_id {
    char part[ID_PARTS][ID_ROOM]; /* "": the id does not have it */
} model_id;

/* How many numbers a model has, to which sizes in its id are compared. */
typedef struct id_scale {
    uint64_t parameters; /* 0: not known */
    bool adapter;        /* at least an eighth of this, and perhaps far more */
} id_scale;

/* Takes an id apart: one with a blank in it is a name and nothing else, one that is too long or not
 * UTF-8 is nothing. */
void model_id_read(gufo_str text, const id_scale *scale, model_id *out);

/* "tiny-model v2 GQA" becomes "Tiny Model v2 GQA": words without capitals get one, unless they are a
 * version or begin with a digit.  At most ID_LONGEST bytes are taken. */
void model_id_title(gufo_str text, char out[ID_ROOM]);

/* ---- the size of a model, counted from its tensors -------------------------------------------- */

typedef struct parameter_count {
    uint64_t shared;  /* in no expert's tensors */
    uint64_t expert;  /* of one expert */
    uint64_t experts; /* 0: a model without */
    uint64_t total;   /* UINT64_MAX: that, or more */
} parameter_count;

parameter_count count_parameters(const gufo_document *document);

enum { SIZE_LABEL_ROOM = 64 };

/* "6.7B", "8x7.2B": as the converters of the field write it. */
void size_label_write(const parameter_count *count, char out[SIZE_LABEL_ROOM]);

#endif
