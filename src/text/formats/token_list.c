/* The tokens of a vocabulary by id.  All readers fill such a list; what they do not fill is
 * padding. */
#include "text/formats/token_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

enum {
    MOST_TOKENS = 1 << 26,
    MOST_PADDING = 1 << 18,
    PADDING_ROOM = 16, /* "[PAD4294967295]" */
    BLOCK_SIZE = 1 << 16,
};

struct token_block {
    struct token_block *before;
    size_t used, size;
    char bytes[];
};

/* ---- making --------------------------------------------------------------------------------- */

gufo_status token_list_make(token_list *list, uint64_t count, uint64_t known, float score,
                            const gufo_allocator *allocator, gufo_error *error)
{
    *list = (token_list){.allocator = allocator};
    if (count == 0)
        return refuse(error, GUFO_E_MALFORMED, "the vocabulary is empty");
    if (count > MOST_TOKENS || (count > known && count - known > MOST_PADDING))
        return refuse(error, GUFO_E_LIMIT,
                      "the vocabulary would have %s tokens, but its files name only %s",
                      GROUPED(count), GROUPED(known));
    list->tokens = mem_array(allocator, count, sizeof *list->tokens);
    if (list->tokens == NULL)
        return fail_memory(error);
    list->count = (uint32_t)count;
    for (uint32_t id = 0; id < list->count; id++)
        list->tokens[id] = (listed_token){.score = score, .type = TOKEN_UNUSED};
    return GUFO_OK;
}

void token_list_free(token_list *list)
{
    while (list->blocks != NULL) {
        struct token_block *block = list->blocks;

        list->blocks = block->before;
        mem_free(list->allocator, block);
    }
    if (list->tokens != NULL)
        mem_free(list->allocator, list->tokens);
    list->tokens = NULL;
}

char *token_list_room(token_list *list, size_t size)
{
    struct token_block *block = list->blocks;

    if (block == NULL || block->size - block->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

        if (room > SIZE_MAX - sizeof *block)
            return NULL;
        block = mem_alloc(list->allocator, sizeof *block + room);
        if (block == NULL)
            return NULL;
        *block = (struct token_block){list->blocks, 0, room};
        list->blocks = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

gufo_status token_list_with_spaces(token_list *list, gufo_str text, gufo_str *out,
                                   gufo_error *error)
{
    char *room;

    *out = text;
    if (str_search(text, gufo_str_of(WORD_START)) == NULL)
        return GUFO_OK;
    room = token_list_room(list, text.len);
    if (room == NULL)
        return fail_memory(error);
    *out = (gufo_str){room, 0};
    for (size_t at = 0; at < text.len;) {
        bool is_space = str_begins(str_from(text, at), WORD_START);

        room[out->len++] = is_space ? ' ' : text.data[at];
        at += is_space ? strlen(WORD_START) : 1;
    }
    return GUFO_OK;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static gufo_status mark_word(token_list *list, gufo_str *text, gufo_error *error)
{
    char *marked = token_list_room(list, strlen(WORD_START) + text->len);

    if (marked == NULL)
        return fail_memory(error);
    memcpy(marked, WORD_START, strlen(WORD_START));
    memcpy(marked + strlen(WORD_START), text->data, text->len);
    *text = (gufo_str){marked, strlen(WORD_START) + text->len};
    return GUFO_OK;
}

static gufo_status finish_text(token_list *list, listed_token *token, bool words, gufo_error *error)
{
    if (token->type == TOKEN_USER_DEFINED &&
        token_list_with_spaces(list, token->text, &token->text, error) != GUFO_OK)
        return GUFO_E_MEMORY;
    if (!words || token->type == TOKEN_CONTROL || token->type == TOKEN_UNKNOWN ||
        token_is_padding(token))
        return GUFO_OK;
    if (!str_begins(token->text, "##") || token->text.len == 2)
        return mark_word(list, &token->text, error);
    token->text = str_from(token->text, 2);
    return GUFO_OK;
}

gufo_status token_list_finish(token_list *list, bool words, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint32_t id = 0; status == GUFO_OK && id < list->count; id++)
        status = finish_text(list, &list->tokens[id], words, error);
    return status;
}

bool token_looks_special(gufo_str text)
{
    static const struct {
        const char *begin, *end;
    } shapes[] = {
        {"<|", "|>"},
        {"<\xef\xbd\x9c", "\xef\xbd\x9c>"}, /* U+FF5C */
        {"<unused", ">"},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (str_begins(text, shapes[i].begin) && str_ends(text, shapes[i].end))
            return true;
    return str_is_word(text, "<pad> <mask> <2mass> [@BOS@]");
}

bool token_is_byte(gufo_str text)
{
    return text.len == 6 && str_begins(text, "<0x") && text.data[5] == '>' &&
           is_hex(text.data[3]) && is_hex(text.data[4]);
}

/* ---- writing -------------------------------------------------------------------------------- */

static gufo_status name_padding(token_list *list, gufo_error *error)
{
    for (uint32_t id = 0; id < list->count; id++) {
        listed_token *token = &list->tokens[id];
        char *room;

        if (!token_is_padding(token))
            continue;
        room = token_list_room(list, PADDING_ROOM);
        if (room == NULL)
            return fail_memory(error);
        token->text =
            (gufo_str){room, (size_t)snprintf(room, PADDING_ROOM, "[PAD%" PRIu32 "]", id)};
    }
    return GUFO_OK;
}

typedef void copy_column(void *column, uint32_t id, const listed_token *token);

static void copy_text(void *column, uint32_t id, const listed_token *token)
{
    ((gufo_str *)column)[id] = token->text;
}

static void copy_score(void *column, uint32_t id, const listed_token *token)
{
    ((float *)column)[id] = token->score;
}

static void copy_type(void *column, uint32_t id, const listed_token *token)
{
    ((int32_t *)column)[id] = token->type;
}

static const struct {
    const char *key;
    gufo_value_type type;
    size_t size;
    copy_column *copy;
} columns[] = {
    {TOKENIZER_KEY("tokens"), GUFO_VALUE_STRING, sizeof(gufo_str), copy_text},
    {TOKENIZER_KEY("scores"), GUFO_VALUE_FLOAT32, sizeof(float), copy_score},
    {TOKENIZER_KEY("token_type"), GUFO_VALUE_INT32, sizeof(int32_t), copy_type},
};

gufo_status token_list_write(token_list *list, bool scored, gufo_document *document,
                             gufo_error *error)
{
    gufo_status status = name_padding(list, error);

    for (size_t i = 0; status == GUFO_OK && i < sizeof columns / sizeof *columns; i++) {
        void *column;

        if (columns[i].copy == copy_score && !scored)
            continue;
        column = mem_array(list->allocator, list->count, columns[i].size);
        if (column == NULL)
            return fail_memory(error);
        for (uint32_t id = 0; id < list->count; id++)
            columns[i].copy(column, id, &list->tokens[id]);
        status = gufo_document_set_array(
            document, columns[i].key, &(gufo_items){columns[i].type, list->count, column}, error);
        mem_free(list->allocator, column);
    }
    return status;
}
