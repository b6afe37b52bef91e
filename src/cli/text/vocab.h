/* gufo vocab: what its files share. */
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
} vocab_options;

/* The names of what is listed and of formats; the last is NULL. */
extern const char *const vocab_lists[], *const vocab_forms[];

/* A model that was opened for its vocabulary. */
typedef struct vocab_input {
    input in;
    gufo_vocab *vocab;
} vocab_input;

/* Returns the exit code; closed in any case. */
int vocab_input_open(vocab_input *v, const char *path, const vocab_options *options);
void vocab_input_close(vocab_input *v);

/* Rows of the types of a file, from 1; 0 is any other number. */
#define VOCAB_TYPES 7
const char *vocab_type_name(int32_t type);

typedef struct vocab_report {
    const vocab_options *options;
    const char *path;
    const gufo_vocab *vocab;
    gufo_vocab_facts facts;
    uint64_t types[VOCAB_TYPES];
    gufo_ids longest, duplicates, unreachable;
    uint64_t tested;                  /* tokens with a text of their own */
    uint64_t text_bytes, text_tokens; /* of --text */
} vocab_report;

/* Counts (vocab_count.c).  Return the exit code. */
int vocab_count(vocab_report *r);
int vocab_count_text(vocab_report *r);

void vocab_text(const vocab_report *r);
void vocab_json(const vocab_report *r);
int vocab_list(vocab_report *r);
/* A table of tokens (vocab_list.c). */
void vocab_list_table(const vocab_report *r, const gufo_ids *ids);
/* An object of a list. */
struct json_writer;
void vocab_list_token(struct json_writer *j, const vocab_report *r, uint32_t id);
int vocab_export(const vocab_input *v, const vocab_options *options);
int vocab_diff(const vocab_options *options);

/* What a token gives, or, if that is nothing, its text; in quotes.  It lives until the next call with
 * the same `room`. */
gufo_str vocab_quoted(const gufo_vocab *vocab, uint32_t id, gufo_text *room);

#endif
