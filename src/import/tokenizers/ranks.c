/* Vocabularies by rank: of tiktoken and Qwen, of Mistral (tekken.json), of RWKV World.
 *
 * Those of tiktoken have a line for each token, its bytes in base64 and its rank, which is its id.
 * Special tokens come from tokenizer_config.json. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "import/tokenizers/reading.h"
#include "base/base64.h"
#include "text/formats/rwkv_world.h"
#include "text/characters/byte_alphabet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ==== tokens by rank =========================================================================== */

/* Bytes are joined in the order of the ranks of what they make. */

enum { LONGEST_RANKED = 256 }; /* bytes of a token */

typedef struct ranked_token {
    gufo_str text; /* in the byte alphabet; no data: the rank has none */
} ranked_token;

typedef struct rank_table {
    tokenizer_reading *r;
    const char *file;
    byte_texts alphabet;
    token_list texts; /* memory of the texts */
    ranked_token *tokens;
    uint64_t count, room;
    json_t *ranks; /* text: rank */
} rank_table;

/* Which merges are found. */
typedef enum merge_rule {
    MERGES_BY_PAIRS, /* the two parts that the bytes of a token become with the ranks below its own */
    MERGES_ALL_SPLITS /* all pairs of tokens that make a token, by the ranks of their parts */
} merge_rule;

enum { LARGEST_GAP = 1 << 16, MOST_WORK = 1 << 30 };

/* ---- tokens --------------------------------------------------------------------------------- */

static gufo_status rank_table_make(rank_table *table, tokenizer_reading *r, const char *file)
{
    *table = (rank_table){
        .r = r, .file = file, .texts = {.allocator = r->allocator}, .ranks = json_object()};
    byte_alphabet_fill(&table->alphabet);
    return table->ranks != NULL ? GUFO_OK : fail_memory(r->error);
}

static void rank_table_free(rank_table *table)
{
    token_list_free(&table->texts);
    if (table->tokens != NULL)
        mem_free(table->r->allocator, table->tokens);
    json_decref(table->ranks);
}

static gufo_status make_room(rank_table *table, uint64_t rank)
{
    while (table->count <= rank) {
        ranked_token *list =
            mem_grow(table->r->allocator, table->tokens, table->count, &table->room, sizeof *list);

        if (list == NULL)
            return fail_memory(table->r->error);
        table->tokens = list;
        list[table->count++] = (ranked_token){{NULL, 0}};
    }
    return GUFO_OK;
}

/* Adds a token of these bytes, whose rank is at most a little beyond those that exist. */
static gufo_status rank_table_add(rank_table *table, uint64_t rank, gufo_str bytes)
{
    gufo_status status;
    char *text;
    size_t len = 0;

    if (bytes.len == 0 || bytes.len > LONGEST_RANKED)
        return reading_fail(table->r, GUFO_E_LIMIT, table->file,
                            "the token of rank %" PRIu64 " has %s bytes", rank, GROUPED(bytes.len));
    if (rank > json_object_size(table->ranks) + LARGEST_GAP)
        return reading_fail(table->r, GUFO_E_LIMIT, table->file,
                            "a token has rank %" PRIu64 ", but only %zu came before it", rank,
                            json_object_size(table->ranks));
    status = make_room(table, rank);
    text = status == GUFO_OK ? token_list_room(&table->texts, 2 * bytes.len) : NULL;
    if (text == NULL)
        return fail_memory(table->r->error);
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];

        memcpy(text + len, table->alphabet.text[byte], table->alphabet.len[byte]);
        len += table->alphabet.len[byte];
    }
    if (table->tokens[rank].text.data != NULL || json_object_getn(table->ranks, text, len) != NULL)
        return reading_fail(table->r, GUFO_E_MALFORMED, table->file,
                            "rank %" PRIu64 ", or its token %s, occurs twice", rank,
                            QUOTED(((gufo_str){text, len})));
    table->tokens[rank].text = (gufo_str){text, len};
    return json_object_setn_new(table->ranks, text, len, json_integer((json_int_t)rank)) == 0
               ? GUFO_OK
               : fail_memory(table->r->error);
}

/* ---- merges --------------------------------------------------------------------------------- */

typedef struct merge_list {
    const rank_table *table;
    token_list texts; /* memory of the merges */
    gufo_str *merges;
    uint64_t count, room;
} merge_list;

static gufo_status add_merge(merge_list *list, gufo_str left, gufo_str right)
{
    tokenizer_reading *r = list->table->r;
    gufo_str *merges =
        mem_grow(r->allocator, list->merges, list->count, &list->room, sizeof *merges);
    char *text = merges != NULL ? token_list_room(&list->texts, left.len + right.len + 1) : NULL;

    if (merges != NULL)
        list->merges = merges;
    if (text == NULL)
        return fail_memory(r->error);
    memcpy(text, left.data, left.len);
    text[left.len] = ' ';
    memcpy(text + left.len + 1, right.data, right.len);
    merges[list->count++] = (gufo_str){text, left.len + right.len + 1};
    return GUFO_OK;
}

static uint64_t rank_of(const rank_table *table, const char *text, size_t len)
{
    const json_t *rank = json_object_getn(table->ranks, text, len);

    return rank != NULL ? (uint64_t)json_integer_value(rank) : UINT64_MAX;
}

/* Where characters of the byte alphabet begin, and the end of the text. */
static size_t find_starts(gufo_str text, size_t starts[LONGEST_RANKED + 1])
{
    size_t count = 0;

    for (size_t at = 0; at < text.len; at++)
        if (((uint8_t)text.data[at] & 0xC0) != 0x80)
            starts[count++] = at;
    starts[count] = text.len;
    return count;
}

/* Joins the pair of lowest rank until two parts are left; what stays apart has no merge. */
static gufo_status merge_by_pairs(merge_list *list, uint64_t rank)
{
    gufo_str text = list->table->tokens[rank].text;
    size_t starts[LONGEST_RANKED + 1], count = find_starts(text, starts);
    uint64_t ranks[LONGEST_RANKED]; /* of part i with the next one */

    for (size_t i = 0; i + 1 < count; i++)
        ranks[i] = rank_of(list->table, text.data + starts[i], starts[i + 2] - starts[i]);
    while (count > 2) {
        size_t best = 0;

        for (size_t i = 1; i + 1 < count; i++)
            if (ranks[i] < ranks[best])
                best = i;
        if (ranks[best] >= rank)
            return GUFO_OK;
        memmove(starts + best + 1, starts + best + 2, (count - best - 1) * sizeof *starts);
        if (best + 2 < count)
            memmove(ranks + best + 1, ranks + best + 2, (count - best - 2) * sizeof *ranks);
        count--;
        for (size_t i = best > 0 ? best - 1 : 0; i <= best && i + 1 < count; i++)
            ranks[i] = rank_of(list->table, text.data + starts[i], starts[i + 2] - starts[i]);
    }
    return count == 2 ? add_merge(list, (gufo_str){text.data, starts[1]},
                                  (gufo_str){text.data + starts[1], text.len - starts[1]})
                      : GUFO_OK;
}

typedef struct split_row {
    uint64_t left, right; /* ranks */
} split_row;

static bool is_before(const void *a, const void *b)
{
    const split_row *first = a, *second = b;

    return first->left != second->left ? first->left < second->left : first->right < second->right;
}

static gufo_status merge_all_splits(merge_list *list, uint64_t rank)
{
    gufo_str text = list->table->tokens[rank].text;
    size_t starts[LONGEST_RANKED + 1], count = find_starts(text, starts), found = 0;
    split_row splits[LONGEST_RANKED];
    gufo_status status = GUFO_OK;

    for (size_t i = 1; i < count; i++) {
        split_row row = {rank_of(list->table, text.data, starts[i]),
                         rank_of(list->table, text.data + starts[i], text.len - starts[i])};

        if (row.left != UINT64_MAX && row.right != UINT64_MAX)
            splits[found++] = row;
    }
    sort_items(splits, found, sizeof *splits, is_before);
    for (size_t i = 0; status == GUFO_OK && i < found; i++)
        status = add_merge(list, list->table->tokens[splits[i].left].text,
                           list->table->tokens[splits[i].right].text);
    return status;
}

/* A token is cut at each of its bytes, and both parts are looked up: as many bytes as its length times
 * itself.  Vocabularies have few long tokens; one of long tokens alone would take minutes. */
static gufo_status check_work(const rank_table *table)
{
    uint64_t work = 0;

    for (uint64_t rank = 0; rank < table->count && work <= MOST_WORK; rank++)
        work += (uint64_t)table->tokens[rank].text.len * table->tokens[rank].text.len;
    return work <= MOST_WORK
               ? GUFO_OK
               : reading_fail(table->r, GUFO_E_LIMIT, table->file, "too many long tokens");
}

/* Sets tokenizer.ggml.merges. */
static gufo_status rank_table_write_merges(const rank_table *table, merge_rule rule)
{
    tokenizer_reading *r = table->r;
    merge_list list = {.table = table, .texts = {.allocator = r->allocator}};
    gufo_status status = check_work(table);

    for (uint64_t rank = 0; status == GUFO_OK && rank < table->count; rank++)
        if (table->tokens[rank].text.data != NULL)
            status = rule == MERGES_BY_PAIRS ? merge_by_pairs(&list, rank)
                                             : merge_all_splits(&list, rank);
    if (status == GUFO_OK && list.count > 0)
        status = gufo_document_set_array(r->document, TOKENIZER_KEY("merges"),
                                         &(gufo_items){GUFO_VALUE_STRING, list.count, list.merges},
                                         r->error);
    token_list_free(&list.texts);
    if (list.merges != NULL)
        mem_free(r->allocator, list.merges);
    return status;
}

/* ==== tekken.json ============================================================================== */

/* tekken.json, the vocabulary of Mistral: special tokens first, then tokens by rank. */

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

/* ==== RWKV World =============================================================================== */

/* Vocabularies of RWKV World, which the room text reads. */

gufo_status read_rwkv(tokenizer_reading *r)
{
    buffer bytes = {.allocator = r->allocator};
    uint64_t size = reading_size(r, "vocab_size");
    bool found;
    gufo_status status = reading_file(r, WORLD_FILE, &bytes, &found);

    if (status == GUFO_OK && !found)
        status = reading_pass(r, WORLD_FILE, NULL);
    else if (status == GUFO_OK && size > UINT32_MAX)
        status = refuse(r->error, GUFO_E_LIMIT, "the vocabulary would be too large");
    else if (status == GUFO_OK) {
        status = rwkv_world_document((gufo_str){(const char *)bytes.data, bytes.len},
                                     (uint32_t)size, r->allocator, r->document, r->error);
        if (status != GUFO_OK)
            reading_name_file(r, WORLD_FILE);
    }
    buffer_free(&bytes);
    return status;
}

enum { LARGEST_RANK_FILE = 32 << 20, EXTRA_TOKENS = 205 };

/* ==== files of ranks =========================================================================== */

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
