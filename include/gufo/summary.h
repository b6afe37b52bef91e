/* A model in a few facts: sums over its tensors, and values that several keys describe. */
#ifndef GUFO_SUMMARY_H
#define GUFO_SUMMARY_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GUFO_SUMMARY_TYPES =
        64, /* element types that are counted; the last one: all that are unknown */
    GUFO_MOST_SPECIAL_TOKENS = 32,
    GUFO_MOST_PARENTS = 64, /* base models: gufo ignores more */
};

/* The tensors of one element type. */
typedef struct gufo_type_sum {
    uint64_t tensors, elements;
} gufo_type_sum;

typedef struct gufo_summary {
    const gufo_model *model; /* that it is about */
    gufo_facts facts;
    uint64_t parameters;    /* elements; UINT64_MAX if that overflows */
    uint64_t tensor_size;   /* bytes of tensor data without padding */
    uint64_t tensors;       /* their number, */
    uint64_t complete;      /* and of those with all their bytes */
    bool sizes_known;       /* false if a tensor's type has no known layout */
    double bits_per_weight; /* 0 where sizes or parameters are not known */
    const char *file_type;  /* of general.file_type: "Q4_K_M"; NULL if the file has no known one */
    const char *
        quantization; /* the file type, or else the element type of most elements; NULL without tensors */
    gufo_type_sum types[GUFO_SUMMARY_TYPES]; /* by id */
    uint64_t reserved[8];
} gufo_summary;

/* Sums up a model, in one walk over its tensor infos.  *out refers to the model.  Any thread. */
GUFO_API void gufo_model_summarize(const gufo_model *model, gufo_summary *out);
/* "Q4_K" for an index of `types`; "unknown" for the last one, and where none exists.  Static. */
GUFO_API const char *gufo_summary_type_name(size_t index);
/* The index of the type with most tensors after *place in the order of their number and name; false
 * after the last.  *place begins as GUFO_SUMMARY_TYPES. */
GUFO_API bool gufo_summary_next_type(const gufo_summary *summary, size_t *place);

/* A token with a special meaning. */
typedef struct gufo_model_token {
    gufo_str role; /* "bos": a part of its key; static */
    uint64_t id;
    bool has_text; /* false: the vocabulary has no such token */
    gufo_str text; /* a view of the model */
    uint64_t reserved[2];
} gufo_model_token;

/* Fills `out` with the special tokens of a model, in the order of the registry, under any name that their
 * keys have; returns their number.  One walk over the vocabulary.  Any thread. */
GUFO_API size_t gufo_model_special_tokens(const gufo_model *model,
                                          gufo_model_token out[GUFO_MOST_SPECIAL_TOKENS]);

/* A model that this one is made from: general.base_model.*; empty parts are not known.  Views of the
 * model. */
typedef struct gufo_parent {
    gufo_str name, organization, url;
    gufo_str reserved[2];
} gufo_parent;

/* Base model `index`; false past the last. */
GUFO_API bool gufo_model_parent_at(const gufo_model *model, uint64_t index, gufo_parent *out);

/* Finds the chat template `name` of a model (tokenizer.chat_template.NAME), or the one without a name
 * for NULL.  *out is a view of the model.  GUFO_E_NOT_FOUND; GUFO_E_TYPE for a key that is not a
 * string.  Any thread. */
GUFO_API gufo_status gufo_model_chat_template(const gufo_model *model, const char *name,
                                              gufo_str *out, gufo_error *error);
/* The next chat template of a model, in the order of the file; false past the last.  *place begins as 0.
 * *name is empty for the one without a name.  Either may be NULL; views of the model.  Any thread. */
GUFO_API bool gufo_model_next_chat_template(const gufo_model *model, uint64_t *place,
                                            gufo_str *name, gufo_str *source);

#ifdef __cplusplus
}
#endif

#endif
