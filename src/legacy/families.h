/* What is known of the families of old files: one row per header that occurred, name, key. */
#ifndef LEGACY_FAMILIES_H
#define LEGACY_FAMILIES_H

#include "legacy/vocabulary.h"

/* ---- headers -------------------------------------------------------------------------------- */

/* The numbers of a header. */
typedef enum legacy_field {
    FIELD_END,
    FIELD_VOCAB,
    FIELD_CTX,
    FIELD_EMBD,
    FIELD_MULT,
    FIELD_HEAD,
    FIELD_HEAD_KV,
    FIELD_LAYER,
    FIELD_ROT,
    FIELD_PARALLEL,
    FIELD_ALIBI, /* a float, as the next one */
    FIELD_CLIP,
    FIELD_RELEASE, /* 7 or 40: the Falcon */
    FIELD_FTYPE,
    FIELD_MERGES,
    FIELD_AUDIO_CTX,
    FIELD_AUDIO_STATE,
    FIELD_AUDIO_HEAD,
    FIELD_AUDIO_LAYER,
    FIELD_TEXT_CTX,
    FIELD_TEXT_STATE,
    FIELD_TEXT_HEAD,
    FIELD_TEXT_LAYER,
    FIELD_MELS,
    FIELD_COUNT,
} legacy_field;

enum { LEGACY_MAX_FIELDS = 16 };

typedef enum legacy_container {
    CONTAINER_GGML,
    CONTAINER_GGMF,
    CONTAINER_GGJT,
    CONTAINER_GGCC,
    CONTAINER_RWKV, /* GGMF with a version of rwkv.cpp */
    CONTAINER_GGLA, /* adapters: adapter.c */
} legacy_container;

typedef enum legacy_form_flags {
    FORM_VOCAB = 1,    /* a vocabulary follows the header */
    FORM_COUNTED = 2,  /* its count is said once more, or is another one */
    FORM_FEWER = 4,    /* that count may be smaller */
    FORM_SCORES = 8,   /* each token has a score */
    FORM_ALIGNED = 16, /* data begins at multiples of 32 */
    FORM_GROUPED = 64, /* q, k and v of Falcon in groups */
    FORM_MELS = 128,   /* mel filters before the vocabulary */
    FORM_PARTS = 512,  /* may be in several files */
    FORM_EMPTY = 1024, /* a file without tensors is valid */
} legacy_form_flags;

/* ---- names ---------------------------------------------------------------------------------- */

/* What is done with the rows of a tensor. */
typedef enum legacy_order {
    ORDER_AS_IS,
    ORDER_DROP,    /* the tensor is not part of the model */
    ORDER_FLIPPED, /* a matrix that files of 2022 have the other way round */
    ORDER_HEADS,   /* [head][q k v] becomes [q k v][head] */
    ORDER_GROUPS,  /* the same by groups of heads, in FORM_GROUPED files */
    ORDER_ONE_KV,  /* k and v of all heads are copies of one, which is kept */
    ORDER_STACKED, /* one after the other with others of the same new name, as in the table */
} legacy_order;

/* How LLaMA's parts divide a matrix. */
typedef enum legacy_division {
    DIVIDED_ROWS,
    DIVIDED_COLUMNS,
} legacy_division;

/* Whether a model has such a tensor, in each layer where the name has one. */
typedef enum legacy_need {
    NEEDED,
    LATER,    /* in all layers but the first */
    OPTIONAL, /* in all layers, or in none */
    ONE_WAY,  /* all of these, or all of the next kind */
    OTHER_WAY,
} legacy_need;

/* What a family writes in another way than the frameworks whose names the registry has. */
typedef struct legacy_spelling {
    const char *ours, *theirs;
} legacy_spelling;

typedef struct legacy_name {
    const char *old_name; /* "%" is the number of a layer */
    const char *name;     /* NULL: as the table hf_tensor_names has it; of names that stay */
    /* Its dimensions: E embedding, V vocabulary, C context, F feed forward, K keys and values, Q
     * all three of attention, q the same of heads in groups; of Whisper's encoder S embedding, O
     * context and B mels, of its decoder T embedding and P context; a digit itself; "?" any.  A
     * letter means the same everywhere in the file. */
    const char *shape;
    legacy_order order;
    legacy_division division;
    legacy_need need;
    const char *dims; /* the dimensions that it gets, by letters; NULL: those that it has */
    const char *
        also; /* the old name of another tensor with the same numbers, written before; NULL: none */
} legacy_name;

#define ROW(...)    \
    {               \
        __VA_ARGS__ \
    }
/* A tensor as it is, and one that goes. */
#define NAME(old, shape_) .old_name = old, .shape = shape_
#define DROPPED(old) .old_name = old, .shape = "?", .order = ORDER_DROP, .need = OPTIONAL

/* ---- keys ----------------------------------------------------------------------------------- */

typedef enum legacy_source {
    FROM_FIELD,     /* of the header */
    FROM_SHAPE,     /* the dimension that the letter `shape` stands for */
    FROM_HEAD_SIZE, /* embedding / heads */
    FROM_KV_SHAPE,  /* K / head size */
    FROM_TENSOR,    /* whether the file has the tensor `text` */
    FROM_TABLE,     /* `number` or `text`: what all such files have */
    ASSUMED,        /* `number`: what nearly all such files have */
} legacy_source;

typedef struct legacy_key {
    const char *key; /* "{arch}." stands for the architecture */
    gufo_value_type type;
    legacy_source from;
    legacy_field field;
    char shape;
    double number;
    const char *text;
    const char *why; /* of an assumed one */
} legacy_key;

/* The beginning of a row. */
#define LEGACY_KEY(key_, type_, from_) .key = "{arch}." key_, .type = type_, .from = from_

/* A size of model of which more is known than of its family: by the header's numbers. */
typedef struct legacy_size {
    int32_t embedding, layers;
    int32_t vocabulary; /* 0: any */
    bool groups;        /* heads of queries share those of keys and values */
    const char *key;    /* as in legacy_key */
    double number;      /* instead of what is assumed of the family */
    const char *why;
} legacy_size;

/* ---- families ------------------------------------------------------------------------------- */

/* Tensors of layers, where names stay: what their names begin with, before the number of the
 * layer. */
typedef struct legacy_blocks {
    const char *start;
    legacy_field layers;
} legacy_blocks;

enum { LEGACY_MAX_BLOCKS = 2 };

typedef struct legacy_family {
    const char *name; /* what it is called, and what --arch calls it */
    const char *arch; /* general.architecture */
    legacy_text_rule text;
    const legacy_name *names;         /* ended by a row without an old name; NULL: names stay */
    const legacy_spelling *spellings; /* of names, done in order, each once; likewise; NULL: none */
    const legacy_key *keys;           /* likewise */
    const legacy_size *sizes;         /* likewise, by keys; NULL: all sizes are alike */
    const char *like;                 /* the family whose header it has; NULL: it has its own */
    /* Where names stay: layers; and tensors outside of them that have to be there. */
    legacy_blocks blocks[LEGACY_MAX_BLOCKS];
    const legacy_name *fixed;
} legacy_family;

/* A header that occurred. */
typedef struct legacy_form {
    const legacy_family *family;
    legacy_container container;
    uint32_t first_version, last_version; /* 0: it has none */
    uint32_t flags;
    uint8_t fields[LEGACY_MAX_FIELDS]; /* ended by FIELD_END */
    const char *name_start;            /* what the first tensor's name begins with: words */
    const char *doubt;                 /* what else such a file could be, a sentence; NULL */
} legacy_form;

/* All of them, those first that are told apart most surely; ended by one without a family. */
extern const legacy_form legacy_forms[];
/* Families that have the header of another one. */
extern const legacy_family legacy_starcoder, legacy_rwkv6, legacy_rwkv7;

/* The family that --arch names; NULL: none. */
const legacy_family *legacy_family_find(const char *name);
/* Whether a family has this general.architecture. */
bool legacy_is_arch(gufo_str name);

/* The row of a tensor's name; *layer becomes the number in it, UINT64_MAX without one.  NULL:
 * unknown. */
const legacy_name *legacy_name_find(const legacy_family *family, gufo_str name, uint64_t *layer);
/* Writes what an old name is called now, for a layer; the new name of a row, or the old one. */
void legacy_name_write(const legacy_family *family, const char *old_name, uint64_t layer,
                       char out[GUFO_MAX_NAME + 1]);
void legacy_name_write_new(const legacy_family *family, const legacy_name *row, uint64_t layer,
                           char out[GUFO_MAX_NAME + 1]);
void legacy_name_write_old(const legacy_name *row, uint64_t layer, char *out, size_t size);

#endif
