/* Values: the memory that they are in, making values, and what they are. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "template/values/number.h"
#include "template/values/value.h"

#include <stdalign.h>
#include <string.h>

/* Memory is cut from chunks that double in size; nothing is given back before all of it.  A
 * rendering is short, its limit is small, and values may share parts without counting owners. */

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20, ALIGNMENT = 16 };

typedef struct heap_chunk {
    struct heap_chunk *next;
    alignas(ALIGNMENT) char data[];
} heap_chunk;

void heap_init(heap *memory, const gufo_allocator *allocator, uint64_t limit, gufo_error *error)
{
    *memory = (heap){.allocator = *mem_allocator(allocator),
                     .limit = limit,
                     .text_limit = UINT64_MAX,
                     .error = error};
}

void heap_return(heap *memory, const heap *mark)
{
    while (memory->chunks != mark->chunks) {
        heap_chunk *next = memory->chunks->next;

        mem_free(&memory->allocator, memory->chunks);
        memory->chunks = next;
    }
    memory->free = mark->free;
    memory->left = mark->left;
    memory->used = mark->used;
}

void heap_free(heap *memory)
{
    heap_return(memory, &(heap){0});
}

static void *fail(heap *memory, gufo_status status)
{
    if (memory->status != GUFO_OK)
        return NULL;
    memory->status = status;
    if (status == GUFO_E_LIMIT)
        (void)refuse(memory->error, GUFO_E_LIMIT, "values take more than %s bytes",
                     GROUPED(memory->limit));
    else
        (void)fail_memory(memory->error);
    return NULL;
}

/* A chunk with room for `size` bytes. */
static heap_chunk *add_chunk(heap *memory, size_t size)
{
    heap_chunk *chunk;
    uint64_t whole;

    if (!checked_add(size, sizeof(heap_chunk), &whole) || whole > SIZE_MAX ||
        memory->used > memory->limit || whole > memory->limit - memory->used)
        return fail(memory, GUFO_E_LIMIT);
    chunk = mem_alloc(&memory->allocator, (size_t)whole);
    if (chunk == NULL)
        return fail(memory, GUFO_E_MEMORY);
    memory->used += whole;
    chunk->next = memory->chunks;
    memory->chunks = chunk;
    return chunk;
}

void *heap_take(heap *memory, uint64_t size)
{
    uint64_t need;
    heap_chunk *chunk;
    size_t grown;
    void *taken;

    if (!checked_align(size == 0 ? 1 : size, ALIGNMENT, &need) || need > SIZE_MAX / 2)
        return fail(memory, GUFO_E_LIMIT);
    if (need > memory->left && need > LARGEST_CHUNK / 8) {
        chunk = add_chunk(memory, (size_t)need);
        return chunk == NULL ? NULL : chunk->data;
    }
    if (need > memory->left) {
        grown = (size_t)smaller(larger(memory->used, FIRST_CHUNK), LARGEST_CHUNK);
        grown = (size_t)smaller(grown, memory->limit - smaller(memory->limit, memory->used));
        grown = (size_t)larger(grown > sizeof(heap_chunk) ? grown - sizeof(heap_chunk) : 0, need);
        chunk = add_chunk(memory, grown);
        if (chunk == NULL)
            return NULL;
        memory->free = chunk->data;
        memory->left = grown;
    }
    taken = memory->free;
    memory->free += need;
    memory->left -= (size_t)need;
    return taken;
}

void *heap_array(heap *memory, uint64_t count, size_t size)
{
    uint64_t bytes;

    if (!checked_mul(count, size, &bytes))
        return fail(memory, GUFO_E_LIMIT);
    return heap_take(memory, bytes);
}

size_t string_count_chars(gufo_str text)
{
    size_t chars = 0;

    for (size_t i = 0; i < text.len; i++)
        chars += ((uint8_t)text.data[i] & 0xC0) != 0x80;
    return chars;
}

static value string_make(heap *memory, gufo_str text, size_t chars)
{
    string *made = HEAP_NEW(memory, string);

    if (made == NULL)
        return FAILED;
    *made = (string){.data = text.data, .len = text.len, .chars = chars};
    return (value){.kind = VALUE_STRING, .as.string = made};
}

value string_view(heap *memory, gufo_str text)
{
    return string_make(memory, text, string_count_chars(text));
}

value string_new(heap *memory, gufo_str text)
{
    char *copy = heap_take(memory, text.len);

    if (copy == NULL)
        return FAILED;
    if (text.len != 0)
        memcpy(copy, text.data, text.len);
    return string_view(memory, (gufo_str){copy, text.len});
}

value string_cast(heap *memory, const string *text, bool markup)
{
    string *made;

    if (text->markup == markup)
        return (value){.kind = VALUE_STRING, .as.string = text};
    made = HEAP_NEW(memory, string);
    if (made == NULL)
        return FAILED;
    *made = *text;
    made->markup = markup;
    return (value){.kind = VALUE_STRING, .as.string = made};
}

value string_part(heap *memory, const string *whole, size_t from, size_t len)
{
    gufo_str part = {whole->data + from, len};
    value made;

    if (from == 0 && len == whole->len)
        return (value){.kind = VALUE_STRING, .as.string = whole};
    made = string_make(memory, part, string_is_ascii(whole) ? len : string_count_chars(part));
    return is_failed(made) ? made : string_cast(memory, made.as.string, whole->markup);
}

/* Room that begins with `used` elements of `data` and has `more` free ones.  If `shared` ends where
 * `data` ends, and has the room, it is that one. */
static shared_room *room_for(heap *memory, shared_room *shared, const void *data, size_t used,
                             size_t more, size_t size)
{
    shared_room *made;
    uint64_t room;

    if (shared != NULL && shared->data == data && shared->used == used &&
        shared->room - used >= more)
        return shared;
    made = HEAP_NEW(memory, shared_room);
    if (made == NULL || !checked_add(used, more, &room))
        return NULL;
    /* Only what is appended to a second time will grow on. */
    if (shared != NULL)
        room = smaller(room * 2, room + memory->limit / 8 / size);
    *made = (shared_room){heap_array(memory, room, size), used, (size_t)room};
    if (made->data == NULL)
        return NULL;
    if (used != 0)
        memcpy(made->data, data, used * size);
    return made;
}

static value fail_long(heap *memory)
{
    memory->status = GUFO_E_LIMIT;
    (void)refuse(memory->error, GUFO_E_LIMIT, "a text of more than %llu bytes",
                 (unsigned long long)memory->text_limit);
    return FAILED;
}

value string_add(heap *memory, const string *a, gufo_str b, bool markup)
{
    shared_room *room;
    string *made;

    if (b.len > memory->text_limit || a->len > memory->text_limit - b.len)
        return fail_long(memory);
    room = room_for(memory, a->shared, a->data, a->len, b.len, 1);
    made = HEAP_NEW(memory, string);
    if (room == NULL || made == NULL)
        return FAILED;
    if (b.len != 0)
        memcpy((char *)room->data + a->len, b.data, b.len);
    room->used = a->len + b.len;
    *made = (string){.data = room->data,
                     .len = room->used,
                     .chars = a->chars + string_count_chars(b),
                     .markup = markup,
                     .shared = room};
    return (value){.kind = VALUE_STRING, .as.string = made};
}

value list_take(heap *memory, value_kind kind, const value *items, size_t count)
{
    array *made = HEAP_NEW(memory, array);

    if (made == NULL)
        return FAILED;
    *made = (array){.items = items, .count = count};
    return (value){.kind = kind, .as.list = made};
}

value list_new(heap *memory, value_kind kind, const value *items, size_t count)
{
    value *copy = heap_array(memory, count, sizeof(value));

    if (copy == NULL)
        return FAILED;
    if (count != 0)
        memcpy(copy, items, count * sizeof(value));
    return list_take(memory, kind, copy, count);
}

value list_add(heap *memory, value_kind kind, const array *a, const value *items, size_t count)
{
    shared_room *room = room_for(memory, a->shared, a->items, a->count, count, sizeof(value));
    array *made = HEAP_NEW(memory, array);

    if (room == NULL || made == NULL)
        return FAILED;
    if (count != 0)
        memcpy((value *)room->data + a->count, items, count * sizeof(value));
    room->used = a->count + count;
    *made = (array){.items = room->data, .count = room->used, .shared = room};
    return (value){.kind = kind, .as.list = made};
}

value tuple_pair(heap *memory, value first, value second)
{
    return list_new(memory, VALUE_TUPLE, (value[]){first, second}, 2);
}

value iterator_new(heap *memory, value source, const char *what)
{
    iterator *made;

    if (is_failed(source))
        return source;
    made = HEAP_NEW(memory, iterator);
    if (made == NULL)
        return FAILED;
    *made = (iterator){source, 0, what};
    return (value){.kind = VALUE_ITERATOR, .as.iterator = made};
}

bool items_push(heap *memory, item_list *list, value v)
{
    size_t room = list->room == 0 ? 8 : list->room * 2;
    value *grown;

    if (is_failed(v))
        return false;
    if (list->count == list->room) {
        grown = heap_array(memory, room, sizeof(value));
        if (grown == NULL)
            return false;
        if (list->count != 0)
            memcpy(grown, list->items, list->count * sizeof(value));
        list->items = grown;
        list->room = room;
    }
    list->items[list->count++] = v;
    return true;
}

const char *value_type(value v)
{
    static const char *const names[] = {
        [VALUE_FAILED] = "?",
        [VALUE_ABSENT] = "?",
        [VALUE_UNDEFINED] = "Undefined",
        [VALUE_NONE] = "NoneType",
        [VALUE_BOOL] = "bool",
        [VALUE_INT] = "int",
        [VALUE_BIG] = "int",
        [VALUE_FLOAT] = "float",
        [VALUE_STRING] = "str",
        [VALUE_LIST] = "list",
        [VALUE_TUPLE] = "tuple",
        [VALUE_DICT] = "dict",
        [VALUE_RANGE] = "range",
        [VALUE_VIEW] = "dict_items",
        [VALUE_ITERATOR] = "generator",
        [VALUE_NAMESPACE] = "Namespace",
        [VALUE_LOOP] = "LoopContext",
        [VALUE_MACRO] = "Macro",
        [VALUE_METHOD] = "builtin_function_or_method",
        [VALUE_FUNCTION] = "function",
        [VALUE_CYCLER] = "Cycler",
        [VALUE_JOINER] = "Joiner",
    };
    static const char *const views[] = {"dict_keys", "dict_values", "dict_items"};

    if (v.kind == VALUE_VIEW)
        return views[v.as.view->kind];
    return v.kind == VALUE_STRING && v.as.string->markup ? "Markup" : names[v.kind];
}

bool value_is_number(value v)
{
    return v.kind == VALUE_FLOAT || value_is_integer(v);
}

bool value_is_string(value v)
{
    return v.kind == VALUE_STRING;
}

bool value_integer(value v, int64_t *out)
{
    *out = v.kind == VALUE_BOOL ? v.as.truth : v.kind == VALUE_INT ? v.as.integer : 0;
    return v.kind == VALUE_BOOL || v.kind == VALUE_INT;
}

bool value_is_integer(value v)
{
    return v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_BIG;
}
