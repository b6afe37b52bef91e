/* A list of words; new texts lie in blocks that grow with the vocabulary.
 *
 * Tokenizers look tokens up by text, so that a text belongs to one token alone.  Old converters
 * wrote the same text for several: where they decoded parts of characters, and for the rows of an
 * embedding that no token uses.  The first of them keeps it. */
#include "legacy/word_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

typedef struct word_block {
    struct word_block *next;
    size_t used, size;
    char data[];
} word_block;

enum { BLOCK_SIZE = 1 << 16 };

gufo_status word_list_new(word_list *list, uint64_t count, const gufo_allocator *allocator,
                          gufo_error *error)
{
    *list = (word_list){.allocator = allocator, .count = count};
    list->texts = mem_array(allocator, count, sizeof *list->texts);
    list->bytes = mem_array(allocator, count, sizeof *list->bytes);
    list->types = mem_array(allocator, count, sizeof *list->types);
    list->repeated = mem_array(allocator, count, sizeof *list->repeated);
    if (list->texts == NULL || list->bytes == NULL || list->types == NULL || list->repeated == NULL)
        return fail_memory(error);
    for (uint64_t id = 0; id < count; id++)
        list->types[id] = WORD_NORMAL;
    return GUFO_OK;
}

void word_list_free(word_list *list)
{
    word_block *next;

    for (word_block *block = list->blocks; block != NULL; block = next) {
        next = block->next;
        mem_free(list->allocator, block);
    }
    name_index_free(&list->index, list->allocator);
    mem_free(list->allocator, list->texts);
    mem_free(list->allocator, list->bytes);
    mem_free(list->allocator, list->types);
    mem_free(list->allocator, list->repeated);
    *list = (word_list){0};
}

char *word_list_room(word_list *list, size_t size)
{
    word_block *block = list->blocks;

    if (block == NULL || size > block->size - block->used) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

        block = room > SIZE_MAX - sizeof *block ? NULL
                                                : mem_alloc(list->allocator, sizeof *block + room);
        if (block == NULL)
            return NULL;
        *block = (word_block){.next = list->blocks, .size = room};
        list->blocks = block;
    }
    block->used += size;
    return block->data + (block->used - size);
}

word_padding word_padding_of(uint64_t id)
{
    word_padding padding;

    (void)snprintf(padding.text, sizeof padding.text, "[PAD%" PRIu64 "]", id);
    return padding;
}

bool word_has_replacement(gufo_str text)
{
    static const char replacement[] = "\xef\xbf\xbd";

    for (size_t at = 0; at + 3 <= text.len; at++)
        if (memcmp(text.data + at, replacement, 3) == 0)
            return true;
    return false;
}

bool word_is_readable(gufo_str text)
{
    return text.len > 0 && gufo_utf8_valid_prefix(text) == text.len && !word_has_replacement(text);
}

static gufo_str text_of(const void *owner, uint64_t id)
{
    return ((const word_list *)owner)->texts[id];
}

/* Gives a word that is not in the index a text; false if another word has it. */
static bool add_text(word_list *list, uint64_t id, gufo_str text)
{
    uint64_t first;

    list->texts[id] = text;
    return name_index_add(&list->index, id, &first);
}

bool word_list_rename(word_list *list, uint64_t id, gufo_str text)
{
    uint64_t first;

    if (name_index_find(&list->index, text, &first))
        return false;
    name_index_remove(&list->index, id);
    return add_text(list, id, text);
}

bool word_list_pad(word_list *list, uint64_t id)
{
    word_padding padding = word_padding_of(id);
    size_t len = strlen(padding.text);
    char *text = word_list_room(list, len);

    if (text == NULL)
        return false;
    memcpy(text, padding.text, len);
    list->texts[id] = (gufo_str){text, len};
    list->types[id] = WORD_UNUSED;
    return true;
}

/* A file may well use "[PAD7]" for another token; every "_" that is appended then was in a text of
 * the file, so that the steps are at most as many as its tokens. */
static gufo_status add_padding(word_list *list, uint64_t id, gufo_error *error)
{
    word_padding padding = word_padding_of(id);
    size_t len = strlen(padding.text), more = 0;
    char *text = word_list_room(list, len);

    list->types[id] = WORD_UNUSED;
    while (text != NULL) {
        memcpy(text, padding.text, len);
        memset(text + len, '_', more);
        if (add_text(list, id, (gufo_str){text, len + more}))
            return GUFO_OK;
        more++;
        text = word_list_room(list, len + more);
    }
    return fail_memory(error);
}

gufo_status word_list_make_unique(word_list *list, bool keep_empty, gufo_error *error)
{
    gufo_status status =
        name_index_new(&list->index, list->count, text_of, list, list->allocator, error);
    uint64_t first;

    if (status != GUFO_OK)
        return status;
    for (uint64_t id = 0; id < list->count; id++)
        list->repeated[id] =
            list->texts[id].len == 0 ? !keep_empty : !name_index_add(&list->index, id, &first);
    for (uint64_t id = 0; id < list->count && status == GUFO_OK; id++) {
        if (!list->repeated[id])
            continue;
        if (word_is_readable(list->bytes[id]) && add_text(list, id, list->bytes[id]))
            list->types[id] = WORD_USER_DEFINED;
        else
            status = add_padding(list, id, error);
        list->bytes[id] = (gufo_str){0};
    }
    return status;
}
