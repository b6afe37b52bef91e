/* The private part of a vocabulary: what all algorithms share.
 *
 * Opening fills it in the order of the fields: texts and types as the file has them, the algorithm's
 * own tables, special ids and flags, the rules for known texts, the list of special tokens. */
#ifndef TEXT_VOCABULARY_H
#define TEXT_VOCABULARY_H

#include "text/vocabulary/ids.h"
#include "text/vocabulary/text_table.h"

typedef struct special_list special_list; /* opening/special_list.h */
typedef struct pre_rules pre_rules;       /* pretokenizers/pre_rules.h */

/* Attributes of tokens that are found in texts. */
enum { VOCAB_SPECIAL = GUFO_TOKEN_CONTROL | GUFO_TOKEN_USER_DEFINED | GUFO_TOKEN_UNKNOWN };

/* tokenizer.ggml.token_type */
enum {
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN,
    TOKEN_CONTROL,
    TOKEN_USER_DEFINED,
    TOKEN_UNUSED,
    TOKEN_BYTE,
};

/* Which tokens encoding adds around a text. */
typedef enum frame_kind {
    FRAME_FLAGS,  /* BOS and EOS, as add_bos and add_eos say */
    FRAME_ALWAYS, /* BOS and SEP */
    FRAME_NEVER,
} frame_kind;

struct gufo_vocab {
    gufo_allocator allocator;
    uint32_t size; /* tokens */

    text_table texts;     /* by id */
    float *scores;        /* NULL: all 0 */
    uint8_t *types;       /* of the file; NULL: all normal */
    uint16_t *attributes; /* of gufo_token_attribute */

    struct pipeline *pipeline;               /* of a tokenizer.json, by its own rules; else NULL */
    const struct token_algorithm *algorithm; /* NULL: the pipeline */
    void *tables;      /* of the algorithm; what it is, only the algorithm knows */
    const char *model; /* static */
    frame_kind frame;
    const pre_rules *pre;                 /* BPE alone; else NULL */
    uint32_t special[GUFO_SPECIAL_COUNT]; /* id or GUFO_NO_TOKEN */
    bool add_bos, add_eos, space_prefix, clean_spaces, ignore_merges;
    bool escape_spaces;            /* spaces are U+2581 in token texts */
    bool byte_alphabet;            /* token texts are in the byte alphabet of GPT-2 */
    bool remove_extra_spaces;      /* tokenizer.ggml.remove_extra_whitespaces */
    bool lowercase, strip_accents; /* tokenizer.ggml.normalizer.* */
    bool original;                 /* GUFO_VOCAB_ORIGINAL */
    const char *differs;           /* gufo_vocab_facts.original */
    special_list *specials;        /* tokens that are found in texts */
    char **warnings;
    uint64_t warning_count, warning_room;
};

static inline gufo_str vocab_text(const gufo_vocab *v, uint32_t id)
{
    return text_at(&v->texts, id);
}

/* The token with this text, the last one of several; GUFO_NO_TOKEN. */
static inline uint32_t vocab_find(const gufo_vocab *v, const char *text, size_t len)
{
    return text_table_find(&v->texts, (gufo_str){text, len});
}

static inline float vocab_score(const gufo_vocab *v, uint32_t id)
{
    return v->scores != NULL ? v->scores[id] : 0.0f;
}

/* The type in the file, from 1 to 6; 0: another number. */
static inline unsigned vocab_type(const gufo_vocab *v, uint32_t id)
{
    return v->types != NULL ? v->types[id] : 1;
}

/* Reads tokens, scores and types. */
gufo_status vocab_read_lists(gufo_vocab *v, const gufo_model *model, gufo_error *error);
__attribute__((format(printf, 3, 4))) gufo_status vocab_warn(gufo_vocab *v, gufo_error *error,
                                                             const char *format, ...);

/* The entry "tokenizer.ggml." + name. */
bool vocab_entry(const gufo_model *model, const char *name, gufo_entry *out);

#endif
