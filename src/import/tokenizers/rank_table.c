/* Tokens by rank, and the merges that follow: bytes are joined in the order of the ranks of what they
 * make. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "import/tokenizers/ranks.h"

enum { LARGEST_GAP = 1 << 16, MOST_WORK = 1 << 30 };

/* ---- tokens --------------------------------------------------------------------------------- */

gufo_status rank_table_make(rank_table *table, tokenizer_reading *r, const char *file)
{
    *table = (rank_table){
        .r = r, .file = file, .texts = {.allocator = r->allocator}, .ranks = json_object()};
    byte_alphabet_fill(&table->alphabet);
    return table->ranks != NULL ? GUFO_OK : fail_memory(r->error);
}

void rank_table_free(rank_table *table)
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

gufo_status rank_table_add(rank_table *table, uint64_t rank, gufo_str bytes)
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

gufo_status rank_table_write_merges(const rank_table *table, merge_rule rule)
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
