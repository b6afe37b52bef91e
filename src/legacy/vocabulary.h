/* Vocabularies of old files, as the tokenizer.* keys that they become. */
#ifndef LEGACY_VOCABULARY_H
#define LEGACY_VOCABULARY_H

#include "gufo/base.h"
#include "gufo/document.h"

/* A token as the old file has it. */
typedef struct legacy_token {
    gufo_str bytes; /* a view into memory that lives as long as the file is open */
    float score;    /* 0 where the file has none */
} legacy_token;

typedef struct legacy_vocabulary {
    legacy_token *tokens;
    uint64_t count;
    bool has_scores;
    /* Merges, "first second" each in the byte alphabet; only GGCC files have them. */
    gufo_str *merges;
    uint64_t merge_count;
} legacy_vocabulary;

/* More tokens than any vocabulary has. */
#define LEGACY_MAX_TOKENS (UINT64_C(1) << 24)

/* How the texts of a family have to be read (docs/legacy.md). */
typedef enum legacy_texts {
    LEGACY_TEXTS_NONE,    /* the file has no vocabulary */
    LEGACY_TEXTS_PIECES,  /* LLaMA: SentencePiece, with its bytes and control tokens */
    LEGACY_TEXTS_UNIGRAM, /* Replit: SentencePiece unigram with scores, texts as they are */
    LEGACY_TEXTS_BYTES,   /* raw bytes of each token: gpt-2, gpt-j, starcoder, falcon */
    LEGACY_TEXTS_DECODED, /* decoded text, where what is not UTF-8 was lost: gpt-neox, bloom */
    LEGACY_TEXTS_LATIN,   /* each byte as a character from U+0000 to U+00FF: mpt */
    LEGACY_TEXTS_WHISPER, /* raw bytes, and special tokens that the loader makes up */
} legacy_texts;

typedef struct legacy_text_rule {
    legacy_texts texts;
    const char *model; /* tokenizer.ggml.model */
    const char *pre;   /* tokenizer.ggml.pre; NULL: the model needs none */
    /* Ids of special tokens, if the text there is one of such a token: other models of the family
     * may have another tokenizer.  -1: none. */
    int64_t bos, eos, unknown, padding;
} legacy_text_rule;

typedef struct legacy_text_report {
    uint64_t lossy;   /* tokens whose bytes are not known: they hold U+FFFD, or share a text */
    uint64_t renamed; /* that had to get another text to stay unique */
    uint64_t added;   /* that no merge makes: put into the vocabulary beside them */
    uint64_t unmade;  /* the same, but too many: the ids are not in the order of the merges */
    bool merges;      /* were in the file, or could be reconstructed */
    const char
        *no_merges; /* why a tokenizer that needs merges has none; NULL: it has, or needs none */
} legacy_text_report;

/* Sets tokenizer.ggml.model, pre, tokens, scores, token_type, merges and the ids of special tokens,
 * for `rows` tokens: those of the embedding, which may be more than the vocabulary has.  Sets
 * nothing without a vocabulary.  GUFO_E_LIMIT for more than LEGACY_MAX_TOKENS, GUFO_E_MALFORMED for
 * a score that is not finite; a call that fails may have set some of the keys. */
gufo_status legacy_set_vocabulary(gufo_document *document, const legacy_vocabulary *vocabulary,
                                  const legacy_text_rule *rule, uint64_t rows,
                                  const gufo_allocator *allocator, legacy_text_report *report,
                                  gufo_error *error);

/* ---- the merges of a byte-level vocabulary, found again from its tokens ----------------------- */

/* The ids of the tokens whose texts are joined to a token. */
typedef struct legacy_merge {
    uint32_t left, right;
} legacy_merge;

#define MERGE_NONE UINT32_MAX

/* For each of `count` tokens (empty bytes: no token of merges) the two that make it, MERGE_NONE for
 * one that no merge makes.  *complete is false if the vocabulary is built to make that take long,
 * and was given up.  GUFO_E_MEMORY. */
gufo_status legacy_merges_find(const gufo_str *bytes, uint64_t count,
                               const gufo_allocator *allocator, legacy_merge *merges,
                               bool *complete, gufo_error *error);

#endif
