/* Vocabularies of tiktoken: a line for each token, its bytes in base64 and its rank, which is its id.
 * Special tokens come from tokenizer_config.json. */
#include "import/tokenizers/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "import/tokenizers/readers.h"
#include "text/formats/base64.h"

enum { LARGEST_RANK_FILE = 32 << 20, EXTRA_TOKENS = 205 };

/* ---- lines ---------------------------------------------------------------------------------- */

static gufo_status read_line(rank_table *table, gufo_str line, buffer *bytes, uint64_t number)
{
    const char *space = memchr(line.data, ' ', line.len);
    gufo_str letters = {line.data, space != NULL ? (size_t)(space - line.data) : 0};
    bool memory = true;
    uint64_t rank;

    bytes->len = 0;
    if (space == NULL || !str_number(str_from(line, letters.len + 1), &rank) ||
        !base64_read(letters, bytes, &memory))
        return !memory
                   ? fail_memory(table->r->error)
                   : reading_fail(table->r, GUFO_E_MALFORMED, table->file,
                                  "line %" PRIu64 " is not a token in base64 and its rank", number);
    return rank_table_add(table, rank, (gufo_str){(const char *)bytes->data, bytes->len});
}

static gufo_status read_lines(rank_table *table, gufo_str text)
{
    buffer bytes = {.allocator = table->r->allocator};
    gufo_status status = GUFO_OK;
    uint64_t number = 1;

    for (size_t at = 0; status == GUFO_OK && at < text.len; number++) {
        gufo_str line = str_line(text, &at);

        if (line.len > 0)
            status = read_line(table, line, &bytes, number);
    }
    buffer_free(&bytes);
    return status;
}

/* ---- tokens --------------------------------------------------------------------------------- */

typedef struct rank_reading {
    tokenizer_reading *r;
    rank_table table;
    token_list list;
    uint64_t largest, named; /* ids of added tokens; how many */
} rank_reading;

static gufo_status measure_added(void *context, const named_token *token)
{
    rank_reading *k = context;

    k->largest = larger(k->largest, token->id);
    k->named++;
    return GUFO_OK;
}

static gufo_status place_special(rank_reading *k, uint64_t id, gufo_str text)
{
    if (id >= k->list.count)
        return reading_fail(k->r, GUFO_E_RANGE, "tokenizer_config.json",
                            "token %s has id %" PRIu64 ", but the model has %s tokens",
                            QUOTED(text), id, GROUPED(k->list.count));
    if (gufo_str_equal(text, gufo_str_of("<|endoftext|>"))) {
        k->r->has_end = true;
        k->r->end = (uint32_t)id;
    }
    return reading_place(k->r, "tokenizer_config.json", &k->list, id, text, TOKEN_CONTROL);
}

static gufo_status place_added(void *context, const named_token *token)
{
    return place_special(context, token->id, token->text);
}

/* The tokens that Qwen's program has behind the ranks. */
static gufo_status place_extra(rank_reading *k)
{
    static const char *const first[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    gufo_status status = GUFO_OK;
    uint64_t id = k->table.count;

    for (size_t i = 0; status == GUFO_OK && i < sizeof first / sizeof *first && id < k->list.count;
         i++)
        status = place_special(k, id++, gufo_str_of(first[i]));
    for (unsigned i = 0; status == GUFO_OK && i < EXTRA_TOKENS && id < k->list.count; i++) {
        char *room = token_list_room(&k->list, 24);

        if (room == NULL)
            return fail_memory(k->r->error);
        status =
            place_special(k, id++, (gufo_str){room, (size_t)snprintf(room, 24, "<|extra_%u|>", i)});
    }
    return status;
}

static gufo_status place_all(rank_reading *k, bool has_extra)
{
    tokenizer_reading *r = k->r;
    uint64_t size = reading_size(r, "vocab_size");
    gufo_status status = reading_each_decoded(r, measure_added, k);

    if (status == GUFO_OK && size == 0)
        size = larger(k->table.count, k->named > 0 ? k->largest + 1 : 0);
    if (status == GUFO_OK && k->table.count > size)
        return reading_fail(r, GUFO_E_RANGE, k->table.file,
                            "a token has rank %" PRIu64 ", but the model has %s tokens",
                            k->table.count - 1, GROUPED(size));
    if (status == GUFO_OK)
        status =
            token_list_make(&k->list, size, k->table.count + k->named, 0, r->allocator, r->error);
    for (uint64_t rank = 0; status == GUFO_OK && rank < k->table.count; rank++)
        if (k->table.tokens[rank].text.data != NULL)
            k->list.tokens[rank] = (listed_token){k->table.tokens[rank].text, 0, TOKEN_NORMAL};
    if (status == GUFO_OK)
        status = reading_each_decoded(r, place_added, k);
    return status == GUFO_OK && has_extra && k->named == 0 ? place_extra(k) : status;
}

static gufo_status write_all(rank_reading *k, const char *pre, bool has_extra)
{
    tokenizer_reading *r = k->r;
    gufo_status status = place_all(k, has_extra);

    if (!has_extra)
        r->has_end = false;
    if (status == GUFO_OK)
        status = reading_set_names(r, "gpt2", r->request->pre != NULL ? r->request->pre : pre);
    if (status == GUFO_OK)
        status = token_list_write(&k->list, false, r->document, r->error);
    return status == GUFO_OK ? rank_table_write_merges(&k->table, MERGES_BY_PAIRS) : status;
}

static gufo_status read_ranks(tokenizer_reading *r, const char *file, const char *pre,
                              bool has_extra)
{
    buffer bytes = {.allocator = r->allocator};
    rank_reading k = {.r = r};
    bool found;
    gufo_status status = reading_file(r, file, &bytes, &found);

    if (status == GUFO_OK && !found) {
        status = reading_pass(r, file, NULL);
    } else if (status == GUFO_OK && bytes.len > LARGEST_RANK_FILE) {
        status = reading_fail(r, GUFO_E_LIMIT, file, "%s bytes, but at most %s are read",
                              GROUPED(bytes.len), GROUPED(LARGEST_RANK_FILE));
    } else if (status == GUFO_OK) {
        status = rank_table_make(&k.table, r, file);
        if (status == GUFO_OK)
            status = read_lines(&k.table, (gufo_str){(const char *)bytes.data, bytes.len});
        if (status == GUFO_OK)
            status = write_all(&k, pre, has_extra);
        rank_table_free(&k.table);
    }
    token_list_free(&k.list);
    buffer_free(&bytes);
    return status;
}

gufo_status read_qwen(tokenizer_reading *r)
{
    return read_ranks(r, "qwen.tiktoken", "qwen2", true);
}

gufo_status read_tiktoken(tokenizer_reading *r)
{
    return read_ranks(r, "tiktoken.model", "kimi-k2", false);
}
