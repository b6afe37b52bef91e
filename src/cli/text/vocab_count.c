/* gufo vocab: counting, in the vocabulary and in a text. */
#include <stdlib.h>

#include "cli/core/terminal/stdout.h"
#include "cli/text/blocks.h"
#include "cli/text/vocab.h"
#include "text/vocabulary/ids.h"
#include "text/census.h"

enum { LONGEST = 10 };

/* ---- the vocabulary ------------------------------------------------------------------------- */

static gufo_status count_reach(vocab_report *r, gufo_error *error)
{
    uint8_t *reach = calloc(r->facts.size, 1);
    gufo_status status;

    if (reach == NULL)
        return GUFO_E_MEMORY;
    status = census_reach(r->vocab, &r->options->run, reach, error);
    for (uint32_t id = 0; status == GUFO_OK && id < r->facts.size; id++) {
        r->tested += reach[id] == REACH_ITSELF || reach[id] == REACH_OTHERS;
        if (reach[id] == REACH_OTHERS)
            status = ids_add(&r->unreachable, id) ? GUFO_OK : GUFO_E_MEMORY;
    }
    free(reach);
    return status;
}

static void count_types(vocab_report *r)
{
    gufo_token token;

    for (uint32_t id = 0; gufo_vocab_token(r->vocab, id, &token); id++)
        r->types[token.type > 0 && token.type < VOCAB_TYPES ? token.type : 0]++;
}

int vocab_count(vocab_report *r)
{
    vocab_listed listed = r->options->listed;
    gufo_status status = GUFO_OK;
    gufo_error error = {.code = GUFO_OK};

    count_types(r);
    if (listed == LISTED_NONE || listed == LISTED_DUPLICATES)
        status = census_duplicates(r->vocab, &r->duplicates, &error);
    if (status == GUFO_OK && (listed == LISTED_NONE || listed == LISTED_LONGEST))
        status = census_longest(r->vocab, listed == LISTED_NONE ? LONGEST : SIZE_MAX, &r->longest,
                                &error);
    if (status == GUFO_OK && (listed == LISTED_NONE || listed == LISTED_UNREACHABLE))
        status = count_reach(r, &error);
    if (status == GUFO_E_MEMORY)
        return report_memory(r->path);
    return status == GUFO_OK ? CODE_OK : report_error(r->path, &error);
}

/* ---- a text --------------------------------------------------------------------------------- */

int vocab_count_text(vocab_report *r)
{
    gufo_tokenize_options options = {.run = &r->options->run};
    gufo_error error;
    gufo_tokenizer *tokenizer = gufo_tokenizer_new(r->vocab, &options, &error);
    gufo_status status = GUFO_OK;
    gufo_ids ids = {0};
    gufo_str block;
    blocks in;
    int code;

    if (tokenizer == NULL)
        return report_error(r->path, &error);
    code = blocks_open(&in, r->options->text);
    while (code == CODE_OK && status == GUFO_OK && (code = blocks_next(&in, &block)) == CODE_OK &&
           block.len > 0) {
        status = gufo_tokenizer_feed(tokenizer, block, &ids, &error);
        r->text_bytes += block.len;
        r->text_tokens += ids.count;
        ids.count = 0;
    }
    blocks_close(&in);
    if (code == CODE_OK && status == GUFO_OK)
        status = gufo_tokenizer_end(tokenizer, &ids, &error);
    r->text_tokens += ids.count;
    gufo_ids_free(&ids);
    gufo_tokenizer_free(tokenizer);
    return status == GUFO_OK ? code : report_error(r->path, &error);
}
