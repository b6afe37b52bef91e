/* A model in a few facts: sums over its tensors, and values that several keys describe.
 *
 *     gufo_model_summarize(model, &summary);
 *     printf("%s, %.1f bits per weight\n", summary.quantization, summary.bits_per_weight); */
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
    uint64_t reserved[1];
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

/* ==== Vocabularies in numbers ================================================================= */

/* Lengths that are counted each; the last one counts longer ones, too. */
#define GUFO_TOKEN_LENGTHS 65
#define GUFO_TOKEN_KIND_ROOM 8 /* of gufo_vocab_census.kinds */

/* A token that is shown. */
typedef struct gufo_census_token {
    uint64_t id;
    gufo_str text; /* what it gives on its own, or, if that is nothing, its text; any bytes */
    gufo_str role; /* "bos"; empty: none */
    uint64_t reserved[2];
} gufo_census_token;

/* The tokens of a kind (tokenizer.ggml.token_type). */
typedef struct gufo_census_kind {
    const char *name; /* "normal"; static */
    uint64_t tokens;
    uint64_t reserved[2];
} gufo_census_kind;

/* What a vocabulary holds: gufo_vocab_census_new of vocab.h counts it, report.h draws it. */
typedef struct gufo_vocab_census {
    gufo_str model, pre; /* "gpt2"; the pre-tokenizer, empty: none */
    uint64_t tokens;
    gufo_census_kind kinds[GUFO_TOKEN_KIND_ROOM]; /* by their number, also those of no token */
    size_t kind_count;
    /* Tokens that are written in texts, by the bytes that they give. */
    uint64_t lengths[GUFO_TOKEN_LENGTHS];
    /* Those with a role; those that give the most bytes; those at both ends.  Some of them. */
    const gufo_census_token *special, *longest, *first, *last;
    size_t special_count, longest_count, first_count, last_count;
    uint64_t reserved[8];
} gufo_vocab_census;

/* What is shown of a chat template: gufo_chat_reviews_new of text.h judges and renders it, report.h draws it. */
typedef struct gufo_chat_review {
    gufo_str name;                         /* empty: the one without a name */
    gufo_str source;                       /* its text; a view of the model, as the name is */
    const gufo_template_finding *findings; /* in its order; a line of 0 is not known */
    size_t finding_count;
    gufo_str messages,
        rendered; /* an example: what was rendered, and what came of it; empty: none */
    uint64_t reserved[4];
} gufo_chat_review;

/* ==== Tensors in groups ======================================================================= */

/* Tensors whose names differ in one number alone, and that have the same type and shape, as one line:
 *
 *     blk.0.attn_q.weight  Q4_K  4096 x 4096
 *     blk.1.attn_q.weight  Q4_K  4096 x 4096      blk.0-1,3.attn_q.weight  Q4_K  4096 x 4096
 *     blk.3.attn_q.weight  Q4_K  4096 x 4096
 *
 * The number is the first segment of the name, between points, that is one: of at most nine digits, the
 * first of several not 0.  Groups are in the order of their first tensors in the model.  Immutable: any
 * number of threads may use one. */
typedef struct gufo_tensor_groups gufo_tensor_groups;

typedef struct gufo_tensor_groups_options {
    bool (*keep)(void *context, gufo_str name); /* tensors that are listed; NULL: all */
    void *keep_context;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_tensor_groups_options;

/* Groups the tensors of a model, which must live as long as the result; freed with
 * gufo_tensor_groups_free.  `options` may be NULL.  NULL on failure:
 * GUFO_E_MEMORY, GUFO_E_LIMIT for 2^32 tensors or more, GUFO_E_ARGUMENT for reserved fields. */
GUFO_MUST_USE GUFO_API gufo_tensor_groups *gufo_tensor_groups_new(
    const gufo_model *model, const gufo_tensor_groups_options *options, gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_tensor_groups_free(gufo_tensor_groups *groups);

typedef struct gufo_tensor_group {
    gufo_tensor first; /* in the model; the others have its type and dims */
    uint64_t count;    /* tensors */
    uint64_t size;     /* bytes of data of all, without padding; UINT64_MAX if that overflows */
    uint64_t reserved[4];
} gufo_tensor_group;

/* Group `index`; false past the last. */
GUFO_API bool gufo_tensor_groups_at(const gufo_tensor_groups *groups, uint64_t index,
                                    gufo_tensor_group *out);
/* The index in the model of a member of a group, in the order of their numbers; false past the last of
 * either. */
GUFO_API bool gufo_tensor_groups_member(const gufo_tensor_groups *groups, uint64_t index,
                                        uint64_t member, uint64_t *tensor);
/* Puts the name of a group, "blk.0-2,5.attn_q.weight", in the place of *name, which the caller frees; it
 * may hold any bytes, as names may.  GUFO_E_RANGE past the last group; GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_tensor_groups_name(const gufo_tensor_groups *groups, uint64_t index,
                                             gufo_text *name, gufo_error *error);

/* ==== Tensors by layer and role =============================================================== */

#define GUFO_NO_LAYER UINT64_MAX

/* "ffn_down" and 3 of "blk.3.ffn_down.weight"; "output" and GUFO_NO_LAYER of "output.weight".  A part of
 * the name.  `layer` may be NULL.  Any thread. */
GUFO_API gufo_str gufo_tensor_role(gufo_str name, uint64_t *layer);

enum { GUFO_MOST_LAYERS = 1024, GUFO_MOST_ROLES = 256 };

/* A table of tensors: a row for each layer, a column for each role, in the order in which they were
 * added; and those outside of layers.
 *
 *              attn_q  ffn_down
 *     layer 0  .       .             token_embd  output
 *           1  .       .
 *
 * One thread at a time adds; then any number may read. */
typedef struct gufo_layers gufo_layers;

typedef struct gufo_layers_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_layers_options;

/* An empty table, freed with gufo_layers_free; `options` may be NULL.  NULL on failure: GUFO_E_MEMORY,
 * GUFO_E_ARGUMENT. */
GUFO_MUST_USE GUFO_API gufo_layers *gufo_layers_new(const gufo_layers_options *options,
                                                    gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_layers_free(gufo_layers *layers);
/* Adds a tensor, whose name must live as long as the table.  *item is what the caller calls it, such as its
 * index in the model; where the place is taken, it becomes that of the tensor which has it, and the new one
 * is dropped.  Layers and roles past the limits above are counted alone.  GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_layers_add(gufo_layers *layers, gufo_str name, uint32_t *item,
                                     gufo_error *error);
/* The number of layers, up to the last one that has a tensor; of roles; of tensors that the limits leave
 * out. */
GUFO_API uint64_t gufo_layers_count(const gufo_layers *layers);
GUFO_API size_t gufo_layers_role_count(const gufo_layers *layers);
GUFO_API uint64_t gufo_layers_left_out(const gufo_layers *layers);
/* The name of a role; empty past the last. */
GUFO_API gufo_str gufo_layers_role(const gufo_layers *layers, size_t role);
/* The tensor of a layer and role; false if there is none.  `item` may be NULL. */
GUFO_API bool gufo_layers_at(const gufo_layers *layers, uint64_t layer, size_t role,
                             uint32_t *item);
/* Tensor `index` of those outside of layers, at most GUFO_MOST_ROLES; false past the last.  Either output may be
 * NULL. */
GUFO_API bool gufo_layers_other(const gufo_layers *layers, size_t index, gufo_str *role,
                                uint32_t *item);

#ifdef __cplusplus
}
#endif

#endif
