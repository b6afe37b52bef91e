/* Tokens on standard output, in the forms that tokenize and detokenize have. */
#ifndef CLI_TEXT_TOKENIZE_WRITE_H
#define CLI_TEXT_TOKENIZE_WRITE_H

#include "cli/core/values/json.h"

#include "gufo/vocab.h"

typedef enum token_form {
    TOKENS_TABLE,   /* ids and pieces, a line each */
    TOKENS_IDS,     /* [1, 2, 3] */
    TOKENS_PIECES,  /* a line each */
    TOKENS_COUNT,   /* how many */
    TOKENS_JSON,    /* {"path": FILE, "tokens": [{"id", "piece"}...], "count"} */
    TOKENS_EXPLAIN, /* steps of encoding, a line each */
    TOKENS_STEPS,   /* the same as JSON */
} token_form;

typedef struct token_writer {
    const gufo_vocab *vocab;
    token_form form;
    json_writer json;
    gufo_text piece; /* of one token after the other */
    uint64_t count;
    int digits; /* of the highest id */
} token_writer;

/* `path` is the model's, for JSON. */
token_writer token_writer_start(const gufo_vocab *vocab, token_form form, const char *path);
/* All ids exist; `spans` is what each stands for, or NULL.  Returns the exit code. */
int token_writer_put(token_writer *w, const uint32_t *ids, const gufo_span *spans, size_t count);
/* Ends the output, unless something has failed, so that a part is not taken for the whole; frees
 * what the writer holds in any case.  Returns `code`. */
int token_writer_end(token_writer *w, int code);

/* A gufo_tokenize_fn with a token_writer as its context, for the forms that show steps. */
void token_writer_step(void *writer, const gufo_tokenize_event *event);

/* A line: ids as a JSON array. */
void token_write_array(const uint32_t *ids, size_t count);

#endif
