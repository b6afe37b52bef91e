/* tekken.json, the vocabulary of Mistral: special tokens first, then tokens by rank. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/tokenizers/ranks.h"
#include "import/tokenizers/readers.h"
#include "text/formats/base64.h"

#define TEKKEN_FILE "tekken.json"

enum { USUAL_SPECIALS = 1000, MOST_SPECIALS = 1 << 16, SPECIAL_ROOM = 24 };

/* Those of files of version 3, which do not say them. */
static const char *const usual[] = {
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
};

typedef struct tekken_reading {
    tokenizer_reading *r;
    rank_table table;
    token_list list;
    uint64_t specials, size;
} tekken_reading;

/* ---- special tokens ------------------------------------------------------------------------- */

static gufo_status set_special(tekken_reading *t, uint64_t id, gufo_str text)
{
    static const struct {
        const char *text, *key;
    } roles[] = {{"<s>", TOKENIZER_KEY("bos_token_id")},
                 {"</s>", TOKENIZER_KEY("eos_token_id")},
                 {"<unk>", TOKENIZER_KEY("unknown_token_id")},
                 {"<pad>", TOKENIZER_KEY("padding_token_id")}};
    gufo_status status = GUFO_OK;

    if (!token_is_padding(&t->list.tokens[id]))
        return reading_fail(t->r, GUFO_E_MALFORMED, TEKKEN_FILE,
                            "two special tokens have rank %" PRIu64, id);
    t->list.tokens[id] = (listed_token){text, 0, TOKEN_CONTROL};
    for (size_t i = 0; status == GUFO_OK && i < sizeof roles / sizeof *roles; i++)
        if (gufo_str_equal(text, gufo_str_of(roles[i].text)))
            status = gufo_document_set_u32(t->r->document, roles[i].key, (uint32_t)id, t->r->error);
    return status;
}

static gufo_status place_listed(tekken_reading *t, const json_t *list)
{
    gufo_status status = GUFO_OK;
    size_t index;
    json_t *entry;

    json_array_foreach(list, index, entry)
    {
        const json_t *text = json_object_get(entry, "token_str");
        uint64_t id;

        if (!reading_id(json_object_get(entry, "rank"), &id) || id >= t->specials ||
            !json_is_string(text) || json_string_length(text) == 0)
            return reading_fail(t->r, GUFO_E_MALFORMED, TEKKEN_FILE,
                                "special token %zu has no text, or no rank below %" PRIu64, index,
                                t->specials);
        status = set_special(t, id, json_str(text));
        if (status != GUFO_OK)
            break;
    }
    return status;
}

static gufo_status place_specials(tekken_reading *t, const json_t *json)
{
    const json_t *list = json_member(json, "special_tokens");
    gufo_status status = list != NULL ? place_listed(t, list) : GUFO_OK;

    for (uint64_t id = 0;
         list == NULL && status == GUFO_OK && id < t->specials && id < sizeof usual / sizeof *usual;
         id++)
        status = set_special(t, id, gufo_str_of(usual[id]));
    for (uint64_t id = 0; status == GUFO_OK && id < t->specials; id++) {
        listed_token *token = &t->list.tokens[id];
        char *room;

        if (!token_is_padding(token))
            continue;
        room = token_list_room(&t->list, SPECIAL_ROOM);
        if (room == NULL)
            return fail_memory(t->r->error);
        token->text =
            (gufo_str){room, (size_t)snprintf(room, SPECIAL_ROOM, "<SPECIAL_%" PRIu64 ">", id)};
        token->type = TOKEN_CONTROL;
    }
    return status;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static gufo_status add_entry(tekken_reading *t, const json_t *entry, size_t index, buffer *bytes)
{
    const json_t *letters = json_object_get(entry, "token_bytes");
    bool memory = true;
    uint64_t rank;

    bytes->len = 0;
    if (!reading_id(json_object_get(entry, "rank"), &rank) || !json_is_string(letters) ||
        !base64_read(json_str(letters), bytes, &memory))
        return !memory ? fail_memory(t->r->error)
                       : reading_fail(t->r, GUFO_E_MALFORMED, TEKKEN_FILE,
                                      "entry %zu of \"vocab\" has no rank, or no bytes in base64",
                                      index);
    if (rank >= t->size - t->specials)
        return reading_fail(t->r, GUFO_E_RANGE, TEKKEN_FILE,
                            "entry %zu of \"vocab\" has rank %" PRIu64
                            ", but the model has %s tokens beside the special ones",
                            index, rank, GROUPED(t->size - t->specials));
    return rank_table_add(&t->table, rank, (gufo_str){(const char *)bytes->data, bytes->len});
}

/* The vocabulary may go on behind what the model has. */
static gufo_status read_vocab(tekken_reading *t, const json_t *vocab)
{
    buffer bytes = {.allocator = t->r->allocator};
    size_t count = (size_t)smaller(json_array_size(vocab), t->size - t->specials);
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < count; i++)
        status = add_entry(t, json_array_get(vocab, i), i, &bytes);
    for (uint64_t rank = 0; status == GUFO_OK && rank < t->table.count; rank++)
        if (t->table.tokens[rank].text.data != NULL)
            t->list.tokens[t->specials + rank] =
                (listed_token){t->table.tokens[rank].text, 0, TOKEN_NORMAL};
    buffer_free(&bytes);
    return status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

static gufo_status set_size(const tekken_reading *t)
{
    char key[128];
    const char *architecture = t->r->config->architecture;

    if (architecture == NULL)
        return GUFO_OK;
    (void)snprintf(key, sizeof key, "%s.vocab_size", architecture);
    return gufo_document_set_u32(t->r->document, key, t->list.count, t->r->error);
}

static gufo_status set_padding(const tekken_reading *t)
{
    gufo_document_entry end;

    if (gufo_document_find(t->r->document, TOKENIZER_KEY("padding_token_id"), NULL) ||
        !gufo_document_find(t->r->document, TOKENIZER_KEY("eos_token_id"), &end))
        return GUFO_OK;
    return gufo_document_set_u32(t->r->document, TOKENIZER_KEY("padding_token_id"),
                                 (uint32_t)end.value.as.u, t->r->error);
}

static gufo_status write_keys(tekken_reading *t)
{
    tokenizer_reading *r = t->r;
    gufo_status status = rank_table_write_merges(&t->table, MERGES_ALL_SPLITS);

    if (status == GUFO_OK)
        status = set_padding(t);
    if (status == GUFO_OK)
        status = token_list_write(&t->list, true, r->document, r->error);
    if (status == GUFO_OK)
        status = set_size(t);
    if (status == GUFO_OK)
        status =
            gufo_document_set_bool(r->document, TOKENIZER_KEY("add_bos_token"), true, r->error);
    return status == GUFO_OK ? gufo_document_set_bool(r->document, TOKENIZER_KEY("add_eos_token"),
                                                      false, r->error)
                             : status;
}

static gufo_status read_sizes(tekken_reading *t, const json_t *json)
{
    const json_t *config = json_member(json, "config"), *vocab = json_member(json, "vocab");

    if (!json_is_array(vocab))
        return reading_fail(t->r, GUFO_E_MALFORMED, TEKKEN_FILE, "it has no list \"vocab\"");
    if (!reading_id(json_object_get(config, "default_num_special_tokens"), &t->specials))
        t->specials = USUAL_SPECIALS;
    if (!reading_id(json_object_get(config, "default_vocab_size"), &t->size))
        t->size = json_array_size(vocab) + t->specials;
    if (t->specials > MOST_SPECIALS || t->size < t->specials)
        return reading_fail(t->r, GUFO_E_RANGE, TEKKEN_FILE,
                            "%s special tokens of %s tokens are too many", GROUPED(t->specials),
                            GROUPED(t->size));
    return token_list_make(&t->list, larger(t->size, reading_size(t->r, "vocab_size")),
                           json_array_size(vocab) + t->specials, 0, t->r->allocator, t->r->error);
}

gufo_status read_mistral(tokenizer_reading *r)
{
    tekken_reading t = {.r = r};
    json_t *json;
    gufo_status status = reading_json(r, TEKKEN_FILE, &json);

    if (status != GUFO_OK || json == NULL)
        return status != GUFO_OK ? status : reading_pass(r, TEKKEN_FILE, NULL);
    status = rank_table_make(&t.table, r, TEKKEN_FILE);
    if (status == GUFO_OK)
        status = read_sizes(&t, json);
    if (status == GUFO_OK)
        status = reading_set_names(r, "gpt2", r->request->pre != NULL ? r->request->pre : "tekken");
    if (status == GUFO_OK)
        status = place_specials(&t, json);
    if (status == GUFO_OK)
        status = read_vocab(&t, json_member(json, "vocab"));
    if (status == GUFO_OK)
        status = write_keys(&t);
    rank_table_free(&t.table);
    token_list_free(&t.list);
    json_decref(json);
    return status;
}
