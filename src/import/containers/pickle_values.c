/* The memory of the machine that reads pickles, every part of it bounded. */
#include "import/containers/pickle_values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

gufo_status pickle_fail(pickle *p, gufo_status code, const char *format, ...)
{
    char message[GUFO_MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fail_with(p->error, code, p->base + p->opcode_at, "%s", message);
}

static gufo_status fail_limit(pickle *p, const char *what, int most)
{
    return pickle_fail(p, GUFO_E_LIMIT, "the pickle has more than %d %s", most, what);
}

/* ---- objects -------------------------------------------------------------------------------- */

gufo_str pickle_text(const pickle *p, pickle_value value)
{
    if (value.kind != PICKLE_TEXT)
        return (gufo_str){"", 0};
    return (gufo_str){(const char *)p->source->base + value.is.text.at, value.is.text.len};
}

const pickle_object *pickle_items(const pickle *p, pickle_value value)
{
    static const pickle_object nothing;
    bool has_items = value.kind >= PICKLE_TUPLE && value.kind <= PICKLE_DICT;

    return has_items ? &p->objects[value.is.object] : &nothing;
}

gufo_status pickle_make(pickle *p, pickle_kind kind, pickle_value *out)
{
    pickle_object *objects;

    if (p->object_count == PICKLE_MAX_OBJECTS)
        return fail_limit(p, "tuples, lists and dictionaries", PICKLE_MAX_OBJECTS);
    objects =
        mem_grow(p->allocator, p->objects, p->object_count, &p->object_room, sizeof *p->objects);
    if (objects == NULL)
        return fail_memory(p->error);
    p->objects = objects;
    objects[p->object_count] = (pickle_object){0};
    *out = (pickle_value){.kind = kind, .is.object = p->object_count++};
    return GUFO_OK;
}

gufo_status pickle_add(pickle *p, pickle_value to, pickle_value value)
{
    pickle_object *object = &p->objects[to.is.object];
    pickle_value *items;

    if (p->value_count == PICKLE_MAX_VALUES)
        return fail_limit(p, "values", PICKLE_MAX_VALUES);
    items = mem_grow(p->allocator, object->items, object->count, &object->room, sizeof *items);
    if (items == NULL)
        return fail_memory(p->error);
    object->items = items;
    items[object->count++] = value;
    p->value_count++;
    return GUFO_OK;
}

gufo_status pickle_gather(pickle *p, pickle_kind kind, uint64_t first, pickle_value *out)
{
    const uint64_t count = p->depth - first;
    gufo_status status = pickle_make(p, kind, out);
    pickle_object *object;

    if (status != GUFO_OK || count == 0)
        return status;
    if (count > PICKLE_MAX_VALUES - p->value_count)
        return fail_limit(p, "values", PICKLE_MAX_VALUES);
    object = &p->objects[out->is.object];
    object->items = mem_array(p->allocator, count, sizeof *object->items);
    if (object->items == NULL)
        return fail_memory(p->error);
    object->count = object->room = count;
    memcpy(object->items, p->stack + first, (size_t)count * sizeof *object->items);
    p->depth = first;
    p->value_count += count;
    return GUFO_OK;
}

/* ---- the stack ------------------------------------------------------------------------------ */

gufo_status pickle_push(pickle *p, pickle_value value)
{
    pickle_value *stack;

    if (p->depth == PICKLE_MAX_STACK)
        return fail_limit(p, "values on its stack", PICKLE_MAX_STACK);
    stack = mem_grow(p->allocator, p->stack, p->depth, &p->stack_room, sizeof *p->stack);
    if (stack == NULL)
        return fail_memory(p->error);
    p->stack = stack;
    stack[p->depth++] = value;
    return GUFO_OK;
}

gufo_status pickle_peek(pickle *p, uint64_t below, pickle_value *out)
{
    uint64_t floor = p->mark_count > 0 ? p->marks[p->mark_count - 1] : 0;

    if (p->depth - floor <= below)
        return pickle_fail(p, GUFO_E_MALFORMED, "the stack of the pickle is empty here");
    *out = p->stack[p->depth - 1 - below];
    return GUFO_OK;
}

gufo_status pickle_pop(pickle *p, pickle_value *out)
{
    gufo_status status = pickle_peek(p, 0, out);

    if (status == GUFO_OK)
        p->depth--;
    return status;
}

gufo_status pickle_mark(pickle *p)
{
    uint64_t *marks;

    if (p->mark_count == PICKLE_MAX_STACK)
        return fail_limit(p, "marks", PICKLE_MAX_STACK);
    marks = mem_grow(p->allocator, p->marks, p->mark_count, &p->mark_room, sizeof *p->marks);
    if (marks == NULL)
        return fail_memory(p->error);
    p->marks = marks;
    marks[p->mark_count++] = p->depth;
    return GUFO_OK;
}

gufo_status pickle_unmark(pickle *p, uint64_t *first)
{
    if (p->mark_count == 0)
        return pickle_fail(p, GUFO_E_MALFORMED, "the pickle has set no mark before");
    *first = p->marks[--p->mark_count];
    return GUFO_OK;
}

/* ---- the memo ------------------------------------------------------------------------------- */

static gufo_status grow_memo(pickle *p, uint64_t index)
{
    uint64_t room = 2 * index + 8;
    pickle_value *memo = mem_resize(p->allocator, p->memo, (size_t)room * sizeof *memo);

    if (memo == NULL)
        return fail_memory(p->error);
    memset(memo + p->memo_room, 0, (size_t)(room - p->memo_room) * sizeof *memo);
    p->memo = memo;
    p->memo_room = room;
    return GUFO_OK;
}

/* A writer numbers what it keeps one after the other; a number far beyond would only take memory. */
gufo_status pickle_memo_put(pickle *p, uint64_t index, pickle_value value)
{
    gufo_status status;

    if (index >= PICKLE_MAX_MEMO || index > 2 * (p->at - p->begin))
        return pickle_fail(p, GUFO_E_LIMIT,
                           "number %" PRIu64 " of the memo is beyond what the pickle "
                           "can have",
                           index);
    status = index < p->memo_room ? GUFO_OK : grow_memo(p, index);
    if (status != GUFO_OK)
        return status;
    p->memo_count += p->memo[index].kind == PICKLE_UNSET;
    p->memo[index] = value;
    return GUFO_OK;
}

gufo_status pickle_memo_get(pickle *p, uint64_t index, pickle_value *out)
{
    if (index >= p->memo_room || p->memo[index].kind == PICKLE_UNSET)
        return pickle_fail(p, GUFO_E_MALFORMED, "number %" PRIu64 " of the memo was not set",
                           index);
    *out = p->memo[index];
    return GUFO_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

void pickle_clear(pickle *p)
{
    p->depth = p->mark_count = p->memo_count = 0;
    p->stopped = false;
    if (p->memo_room > 0)
        memset(p->memo, 0, (size_t)p->memo_room * sizeof *p->memo);
}

void pickle_free(pickle *p)
{
    for (uint64_t i = 0; i < p->object_count; i++)
        mem_free(p->allocator, p->objects[i].items);
    mem_free(p->allocator, p->objects);
    mem_free(p->allocator, p->stack);
    mem_free(p->allocator, p->memo);
    mem_free(p->allocator, p->marks);
    *p = (pickle){.allocator = p->allocator};
}
