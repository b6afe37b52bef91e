/* tokenizer.ggml.pre of a byte-level vocabulary: the pre-tokenizer of its tokenizer.json by the name of a known one
 * that cuts alike. */
#ifndef IMPORT_TOKENIZERS_PRE_H
#define IMPORT_TOKENIZERS_PRE_H

#include "gufo/vocab.h"
#include "import/tokenizers/reading.h"
#include "text/formats/token_list.h"

/* ---- where that of a tokenizer.json cuts a text ----------------------------------------------- */

enum { LONGEST_PROBE = 1024 };

/* Whether a text is cut before byte i, for 0 < i < its length. */
typedef struct cut_set {
    bool at[LONGEST_PROBE + 1];
} cut_set;

typedef struct pre_cutter pre_cutter;

/* The pre_tokenizer of tokenizer.json, without the spaces that it may put before texts.  NULL on failure:
 * GUFO_E_TYPE names a step that cannot be followed; GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
pre_cutter *pre_cutter_new(tokenizer_reading *r);
void pre_cutter_free(pre_cutter *cutter); /* NULL is allowed */

/* ---- which cuts can make a difference for a vocabulary ---------------------------------------- */

/* Bytes that follow each other in a token: no merge crosses a cut between others. */
typedef struct byte_pairs {
    uint8_t bits[256][32];
    struct code_map *punctuation; /* as tokenizer.json's own library knows it */
} byte_pairs;

/* Of the normal tokens of a byte-level vocabulary; freed with byte_pairs_free. */
gufo_status byte_pairs_learn(byte_pairs *pairs, const token_list *tokens,
                             const gufo_allocator *allocator, gufo_error *error);
void byte_pairs_free(byte_pairs *pairs, const gufo_allocator *allocator);

/* Whether a cut before text[at], 0 < at < text.len, can make a difference. */
bool cut_is_material(const byte_pairs *pairs, gufo_str text, size_t at);

/* ---- the known ones, and how their cuts differ from others ------------------------------------ */

/* The texts of registry/pretokenizer_probes.tsv. */
typedef struct probe_list {
    const gufo_allocator *allocator;
    gufo_str *texts;
    size_t count;
    gufo_text bytes;
    cut_set *cuts; /* as tokenizer.json says */
} probe_list;

/* Reads the texts and cuts them.  Freed with probe_list_free, also after a failure. */
gufo_status probe_list_make(probe_list *probes, pre_cutter *cutter, const gufo_allocator *allocator,
                            gufo_error *error);
void probe_list_free(probe_list *probes);

/* Counts texts that the shape of a name cuts otherwise, where it is material, up to `most` of them.  `differs`: for
 * each text that was looked at, may be NULL. */
gufo_status known_compare(const probe_list *probes, const byte_pairs *pairs, const char *shape,
                          size_t most, bool *differs, size_t *count, gufo_error *error);
/* Cuts one text as a shape does. */
gufo_status known_cut(const probe_list *probes, const char *shape, gufo_str text, cut_set *cuts,
                      gufo_error *error);

/* ---- which one is meant: pre.c ---------------------------------------------------------------- */

/* The name by which readers cut text as tokenizer.json says; static.  GUFO_E_TYPE: none does, or
 * tokenizer.json cannot be followed; the message says what differs. */
gufo_status pre_choose(tokenizer_reading *r, const token_list *tokens, gufo_str *pre);

#endif
