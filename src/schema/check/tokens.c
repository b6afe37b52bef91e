/* Tokens by text.
 *
 * A vocabulary has hundreds of thousands of tokens, and its merges ask three times as often.  Most
 * of the time would go by waiting for memory: neither table nor texts fit into the nearest cache.
 * So most questions are answered by the slot alone, and questions come in groups, whose slots are
 * fetched together:
 *
 *     slot   start: the first 8 bytes of the text, zeros behind a shorter one
 *            tag: 24 bits of the hash, and the length (255: that or more)
 *            number: id + 1
 *
 * A text of up to 8 bytes is equal if start and tag are; a longer one is compared. */
#include "schema/check/vocabulary.h"

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

/* A text with what is compared first. */
typedef struct asked_text {
    gufo_str text;
    uint64_t hash, start;
    uint32_t tag;
} asked_text;

/* The slot where the search begins.  Not the remainder of a power of two: the table would be twice
 * as large as it must be, and pages as well have to be looked up. */
static inline uint64_t home_of(const token_list *list, uint64_t hash)
{
    return (hash >> 32) * list->slot_count >> 32;
}

/* Begins to fetch the slot, too.  Of a short text the eight bytes of `start` are hashed: all are of
 * one length then. */
static inline asked_text ask(const token_list *list, gufo_str text)
{
    uint64_t start = load_start(text.data, text.len);
    bool is_short = text.len <= sizeof start;
    gufo_str hashed = {is_short ? (const char *)&start : text.data,
                       is_short ? sizeof start : text.len};
    uint64_t hash = hash_text(list->key, hashed);
    uint32_t len = (uint32_t)smaller(text.len, UINT8_MAX);

    __builtin_prefetch(&list->slots[home_of(list, hash)]);
    return (asked_text){text, hash, start, (uint32_t)hash << 8 | len};
}

static inline bool is_in(const token_list *list, const token_slot *slot, const asked_text *asked)
{
    return slot->tag == asked->tag && slot->start == asked->start &&
           (asked->text.len <= sizeof slot->start ||
            gufo_str_equal(list->texts[slot->number - 1], asked->text));
}

/* The slot of a text, or the empty one where it belongs. */
static inline token_slot *slot_of(const token_list *list, const asked_text *asked)
{
    uint64_t at = home_of(list, asked->hash);

    while (list->slots[at].number != 0 && !is_in(list, &list->slots[at], asked))
        at = at + 1 < list->slot_count ? at + 1 : 0;
    return &list->slots[at];
}

static void add_group(token_list *list, uint64_t first, size_t count)
{
    asked_text asked[TOKENS_AT_ONCE];

    for (size_t i = 0; i < count; i++)
        asked[i] = ask(list, list->texts[first + i]);
    for (size_t i = 0; i < count; i++) {
        token_slot *slot = slot_of(list, &asked[i]);

        if (slot->number == 0) {
            *slot = (token_slot){asked[i].start, asked[i].tag, (uint32_t)(first + i + 1)};
        } else if (list->repeated++ == 0) {
            list->again = first + i;
            list->before = slot->number - 1;
        }
    }
}

static gufo_status allocate(token_list *list, uint64_t count, gufo_error *error)
{
    uint64_t slots = count + count / 3 + 1;

    list->slot_count = slots;
    if (slots > SIZE_MAX / sizeof *list->slots)
        return fail_memory(error);
    list->texts = mem_alloc(list->allocator, ((size_t)count + 1) * sizeof *list->texts);
    list->slots = mem_zero(list->allocator, (size_t)slots * sizeof *list->slots);
    return list->texts != NULL && list->slots != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status tokens_load(token_list *list, const gufo_array *array, const gufo_allocator *allocator,
                        gufo_error *error)
{
    gufo_array_iter iter = gufo_array_start(array);
    gufo_status status;
    gufo_value text;

    *list = (token_list){.key = hash_key_new(), .allocator = allocator};
    if (array->count >= UINT32_MAX)
        return refuse(error, GUFO_E_RANGE, "too many tokens");
    status = allocate(list, array->count, error);
    if (status != GUFO_OK) {
        tokens_free(list);
        return status;
    }
    while (list->count < array->count && gufo_array_next(&iter, &text)) {
        list->texts[list->count++] = text.as.str;
        list->longest = larger(list->longest, text.as.str.len);
    }
    for (uint64_t i = 0; i < list->count; i += TOKENS_AT_ONCE)
        add_group(list, i, (size_t)smaller(list->count - i, TOKENS_AT_ONCE));
    return GUFO_OK;
}

void tokens_free(token_list *list)
{
    mem_free(list->allocator, list->texts);
    mem_free(list->allocator, list->slots);
    *list = (token_list){0};
}

void tokens_find(const token_list *list, const gufo_str texts[], size_t count, uint32_t ids[])
{
    asked_text asked[TOKENS_AT_ONCE];

    for (size_t i = 0; i < count; i++)
        asked[i] = ask(list, texts[i]);
    for (size_t i = 0; i < count; i++) /* an empty slot gives TOKEN_NONE */
        ids[i] = slot_of(list, &asked[i])->number - 1;
}
