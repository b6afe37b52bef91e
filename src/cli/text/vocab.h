/* gufo vocab: what its files share (vocab.c, vocab_report.c, vocab_diff.c). */
#ifndef CLI_TEXT_VOCAB_H
#define CLI_TEXT_VOCAB_H

#include "cli/core/files/input.h"

#include "gufo/vocab.h"

/* --list */
typedef enum vocab_listed {
    LISTED_NONE,
    LISTED_TOKENS,
    LISTED_SPECIAL,
    LISTED_LONGEST,
    LISTED_DUPLICATES,
    LISTED_UNREACHABLE,
} vocab_listed;

/* --export */
typedef enum vocab_form { EXPORT_NONE, EXPORT_TOKENIZER_JSON, EXPORT_VOCAB_TXT } vocab_form;

typedef struct vocab_options {
    command_input base;
    const char *text, *pre;
    unsigned tokenizer; /* gufo_tokenizer_kind */
    vocab_listed listed;
    vocab_form form;
    gufo_run run;
    gufo_vocab_options how; /* what of these is for opening */
} vocab_options;

typedef struct vocab_report {
    const vocab_options *options;
    const char *path;
    const gufo_vocab *vocab;
    gufo_vocab_facts facts;
    uint64_t types[GUFO_TOKEN_TYPE_COUNT];
    uint64_t lengths[GUFO_TOKEN_LENGTHS];
    gufo_ids special, longest, duplicates, unreachable;
    uint64_t tested;                  /* tokens with a text of their own */
    uint64_t text_bytes, text_tokens; /* of --text */
} vocab_report;

/* ---- vocab_report.c ------------------------------------------------------------------------- */

/* Facts about the vocabulary, or with --list tokens. */
void vocab_facts(const vocab_report *r);
void vocab_list(const vocab_report *r);

/* The names of what is listed; the last is NULL. */
extern const char *const vocab_lists[];
/* What a token gives, or, if that is nothing, its text; in quotes.  It lives until the next call with
 * the same `room`. */
gufo_str vocab_quoted(const gufo_vocab *vocab, uint32_t id, gufo_text *room);

/* ---- vocab_diff.c --------------------------------------------------------------------------- */

int vocab_diff(const vocab_options *options);

#endif
