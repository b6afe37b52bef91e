/* The opcodes of pickles: those that files of tensors need have a function, the others only a name.
 *
 * Source: the documentation of Python's pickletools. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "import/containers/torch_objects.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ==== the memory of the machine, every part of it bounded ====================================== */

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

/* An object with the values of the stack from `first` on, which it takes. */
static gufo_status pickle_gather(pickle *p, pickle_kind kind, uint64_t first, pickle_value *out)
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

static gufo_status pickle_push(pickle *p, pickle_value value)
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

/* The value `below` the top, which stays. */
static gufo_status pickle_peek(pickle *p, uint64_t below, pickle_value *out)
{
    uint64_t floor = p->mark_count > 0 ? p->marks[p->mark_count - 1] : 0;

    if (p->depth - floor <= below)
        return pickle_fail(p, GUFO_E_MALFORMED, "the stack of the pickle is empty here");
    *out = p->stack[p->depth - 1 - below];
    return GUFO_OK;
}

/* Takes the top of the stack, above the last mark. */
static gufo_status pickle_pop(pickle *p, pickle_value *out)
{
    gufo_status status = pickle_peek(p, 0, out);

    if (status == GUFO_OK)
        p->depth--;
    return status;
}

static gufo_status pickle_mark(pickle *p)
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

/* Removes the last mark: *first is the depth where it was. */
static gufo_status pickle_unmark(pickle *p, uint64_t *first)
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
static gufo_status pickle_memo_put(pickle *p, uint64_t index, pickle_value value)
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

static gufo_status pickle_memo_get(pickle *p, uint64_t index, pickle_value *out)
{
    if (index >= p->memo_room || p->memo[index].kind == PICKLE_UNSET)
        return pickle_fail(p, GUFO_E_MALFORMED, "number %" PRIu64 " of the memo was not set",
                           index);
    *out = p->memo[index];
    return GUFO_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void pickle_clear(pickle *p)
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

enum { MAX_GLOBAL = 256, FIRST_PROTOCOL = 2, LAST_PROTOCOL = 5 };

/* Makes `size` more bytes readable at p->at. */
static gufo_status need(pickle *p, uint64_t size)
{
    gufo_status status;
    uint64_t end;

    if (!checked_add(p->at, size, &end) || end > p->source->size)
        return pickle_fail(p, GUFO_E_TRUNCATED, "the pickle ends inside an opcode");
    if (end > PICKLE_MAX_SIZE)
        return pickle_fail(p, GUFO_E_LIMIT, "the pickle is longer than %s bytes",
                           GROUPED(PICKLE_MAX_SIZE));
    status = source_need(p->source, end, p->error);
    if (status == GUFO_OK && p->source->have < end) /* the file became shorter */
        status = pickle_fail(p, GUFO_E_TRUNCATED, "the pickle ends inside an opcode");
    return status;
}

/* ==== the machine ============================================================================== */

/* ---- numbers, texts, constants -------------------------------------------------------------- */

static gufo_status run_proto(pickle *p)
{
    if (p->opcode_at != p->begin || p->argument < FIRST_PROTOCOL || p->argument > LAST_PROTOCOL)
        return pickle_fail(p, GUFO_E_MALFORMED,
                           "the protocol %" PRIu64 " of the pickle is unknown, or not at its start",
                           p->argument);
    return GUFO_OK;
}

/* The bytes of a frame follow: it only says how many. */
static gufo_status run_frame(pickle *p)
{
    (void)p;
    return GUFO_OK;
}

static gufo_status run_none(pickle *p)
{
    return pickle_push(p, (pickle_value){.kind = PICKLE_NONE});
}

static gufo_status run_bool(pickle *p)
{
    return pickle_push(p, (pickle_value){.kind = PICKLE_BOOL, .is.number = p->opcode == 0x88});
}

static gufo_status push_number(pickle *p, int64_t number)
{
    return pickle_push(p, (pickle_value){.kind = PICKLE_INT, .is.number = number});
}

static gufo_status run_unsigned(pickle *p)
{
    return push_number(p, (int64_t)p->argument);
}

static gufo_status run_signed(pickle *p)
{
    return push_number(p, (int32_t)(uint32_t)p->argument);
}

/* Little-endian, in two's complement, as long as it has to be. */
static gufo_status run_long(pickle *p)
{
    gufo_status status = need(p, p->argument);
    uint64_t number = 0;

    if (status != GUFO_OK)
        return status;
    if (p->argument > sizeof number)
        return pickle_fail(p, GUFO_E_RANGE, "a number has %s bytes", GROUPED(p->argument));
    for (uint64_t i = p->argument; i-- > 0;)
        number = number << 8 | p->source->base[p->at + i];
    if (p->argument > 0 && p->argument < sizeof number &&
        (p->source->base[p->at + p->argument - 1] & 0x80) != 0)
        number |= UINT64_MAX << 8 * p->argument;
    p->at += p->argument;
    return push_number(p, (int64_t)number);
}

static gufo_status run_float(pickle *p)
{
    uint64_t bits = __builtin_bswap64(p->argument);
    pickle_value value = {.kind = PICKLE_FLOAT};

    memcpy(&value.is.real, &bits, sizeof bits);
    return pickle_push(p, value);
}

static gufo_status run_text(pickle *p)
{
    gufo_status status = need(p, p->argument);
    pickle_value value = {.kind = PICKLE_TEXT, .is.text = {(uint32_t)p->at, (uint32_t)p->argument}};

    if (status != GUFO_OK)
        return status;
    p->at += p->argument;
    return pickle_push(p, value);
}

/* ---- containers ----------------------------------------------------------------------------- */

static gufo_status run_mark(pickle *p)
{
    return pickle_mark(p);
}

static gufo_status push_empty(pickle *p, pickle_kind kind)
{
    pickle_value value;
    gufo_status status = pickle_make(p, kind, &value);

    return status == GUFO_OK ? pickle_push(p, value) : status;
}

static gufo_status run_empty_dict(pickle *p)
{
    return push_empty(p, PICKLE_DICT);
}

static gufo_status run_empty_list(pickle *p)
{
    return push_empty(p, PICKLE_LIST);
}

static gufo_status run_empty_tuple(pickle *p)
{
    return push_empty(p, PICKLE_TUPLE);
}

static gufo_status run_empty_set(pickle *p)
{
    return push_empty(p, PICKLE_SET);
}

static gufo_status push_tuple(pickle *p, uint64_t first)
{
    pickle_value tuple;
    gufo_status status = pickle_gather(p, PICKLE_TUPLE, first, &tuple);

    return status == GUFO_OK ? pickle_push(p, tuple) : status;
}

static gufo_status run_tuple(pickle *p)
{
    uint64_t first = 0;
    gufo_status status = pickle_unmark(p, &first);

    return status == GUFO_OK ? push_tuple(p, first) : status;
}

/* TUPLE1, TUPLE2, TUPLE3 */
static gufo_status run_short_tuple(pickle *p)
{
    const uint64_t count = (uint64_t)p->opcode - 0x84;
    pickle_value last;
    gufo_status status = pickle_peek(p, count - 1, &last);

    return status == GUFO_OK ? push_tuple(p, p->depth - count) : status;
}

/* Adds the values of the stack from `first` on to what is below them, of a kind. */
static gufo_status add_values(pickle *p, uint64_t first, pickle_kind kind)
{
    const uint64_t count = p->depth - first;
    pickle_value to;
    gufo_status status = pickle_peek(p, count, &to);

    if (status != GUFO_OK)
        return status;
    if (to.kind != kind)
        return pickle_fail(p, GUFO_E_MALFORMED,
                           "the pickle adds values to something that is not a %s",
                           kind == PICKLE_DICT ? "dictionary" : "list");
    if (kind == PICKLE_DICT && count % 2 != 0)
        return pickle_fail(p, GUFO_E_MALFORMED, "a dictionary gets a name without a value");
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        status = pickle_add(p, to, p->stack[first + i]);
    p->depth = first;
    return status;
}

static gufo_status add_marked(pickle *p, pickle_kind kind)
{
    uint64_t first = 0;
    gufo_status status = pickle_unmark(p, &first);

    return status == GUFO_OK ? add_values(p, first, kind) : status;
}

static gufo_status add_some(pickle *p, uint64_t count, pickle_kind kind)
{
    pickle_value value;
    gufo_status status = pickle_peek(p, count, &value);

    return status == GUFO_OK ? add_values(p, p->depth - count, kind) : status;
}

static gufo_status run_append(pickle *p)
{
    return add_some(p, 1, PICKLE_LIST);
}

static gufo_status run_appends(pickle *p)
{
    return add_marked(p, PICKLE_LIST);
}

static gufo_status run_set_item(pickle *p)
{
    return add_some(p, 2, PICKLE_DICT);
}

static gufo_status run_set_items(pickle *p)
{
    return add_marked(p, PICKLE_DICT);
}

/* ---- the memo ------------------------------------------------------------------------------- */

static gufo_status put(pickle *p, uint64_t index)
{
    pickle_value value;
    gufo_status status = pickle_peek(p, 0, &value);

    return status == GUFO_OK ? pickle_memo_put(p, index, value) : status;
}

static gufo_status run_put(pickle *p)
{
    return put(p, p->argument);
}

static gufo_status run_memoize(pickle *p)
{
    return put(p, p->memo_count);
}

static gufo_status run_get(pickle *p)
{
    pickle_value value;
    gufo_status status = pickle_memo_get(p, p->argument, &value);

    return status == GUFO_OK ? pickle_push(p, value) : status;
}

/* ---- names and what would be calls ---------------------------------------------------------- */

static gufo_status push_global(pickle *p, gufo_str module, gufo_str name)
{
    char whole[2 * MAX_GLOBAL + 2];
    pickle_value value;
    gufo_status status;

    if (module.len > MAX_GLOBAL || name.len > MAX_GLOBAL)
        return pickle_fail(p, GUFO_E_LIMIT, "the name of a global has more than %d bytes",
                           MAX_GLOBAL);
    memcpy(whole, module.data, module.len);
    whole[module.len] = '.';
    memcpy(whole + module.len + 1, name.data, name.len);
    status = p->host->find(p, (gufo_str){whole, module.len + 1 + name.len}, &value);
    return status == GUFO_OK ? pickle_push(p, value) : status;
}

/* A line of the pickle, as offsets: reading on may move the bytes. */
static gufo_status take_line(pickle *p, pickle_value *out)
{
    const uint64_t begin = p->at;
    gufo_status status;

    while ((status = need(p, 1)) == GUFO_OK && p->source->base[p->at] != '\n' &&
           p->at - begin <= MAX_GLOBAL)
        p->at++;
    *out = (pickle_value){.kind = PICKLE_TEXT,
                          .is.text = {(uint32_t)begin, (uint32_t)(p->at - begin)}};
    p->at++;
    return status;
}

static gufo_status run_global(pickle *p)
{
    pickle_value module, name;
    gufo_status status = take_line(p, &module);

    if (status == GUFO_OK && module.is.text.len <= MAX_GLOBAL)
        status = take_line(p, &name);
    else
        name = module;
    return status == GUFO_OK ? push_global(p, pickle_text(p, module), pickle_text(p, name))
                             : status;
}

static gufo_status run_stack_global(pickle *p)
{
    pickle_value module = {0}, name = {0};
    gufo_status status = pickle_pop(p, &name);

    if (status == GUFO_OK)
        status = pickle_pop(p, &module);
    if (status != GUFO_OK)
        return status;
    if (module.kind != PICKLE_TEXT || name.kind != PICKLE_TEXT)
        return pickle_fail(p, GUFO_E_MALFORMED, "the name of a global is not a text");
    return push_global(p, pickle_text(p, module), pickle_text(p, name));
}

/* REDUCE and NEWOBJ: a global and its arguments. */
static gufo_status run_call(pickle *p)
{
    pickle_value arguments, global, value;
    gufo_status status = pickle_pop(p, &arguments);

    if (status == GUFO_OK)
        status = pickle_pop(p, &global);
    if (status == GUFO_OK && (global.kind != PICKLE_GLOBAL || arguments.kind != PICKLE_TUPLE))
        status =
            pickle_fail(p, GUFO_E_MALFORMED, "the pickle calls something that is not a global");
    if (status == GUFO_OK)
        status = p->host->call(p, global, arguments, &value);
    return status == GUFO_OK ? pickle_push(p, value) : status;
}

/* Attributes, which say nothing about tensors. */
static gufo_status run_build(pickle *p)
{
    pickle_value state, object;
    gufo_status status = pickle_pop(p, &state);

    if (status == GUFO_OK)
        status = pickle_peek(p, 0, &object);
    if (status == GUFO_OK && object.kind != PICKLE_DICT && object.kind != PICKLE_OPAQUE)
        status = pickle_fail(p, GUFO_E_TYPE,
                             "the pickle gives attributes to something that is not a dictionary");
    return status;
}

static gufo_status run_persistent(pickle *p)
{
    pickle_value id, value;
    gufo_status status = pickle_pop(p, &id);

    if (status == GUFO_OK)
        status = p->host->load(p, id, &value);
    return status == GUFO_OK ? pickle_push(p, value) : status;
}

static gufo_status run_stop(pickle *p)
{
    p->stopped = true;
    if (p->depth != 1 || p->mark_count != 0)
        return pickle_fail(p, GUFO_E_MALFORMED, "the pickle ends with %s values",
                           GROUPED(p->depth));
    return pickle_pop(p, &p->result);
}

/* ---- opcodes -------------------------------------------------------------------------------- */

static const struct opcode_row {
    const char *name;
    gufo_status (*run)(pickle *p); /* NULL: refused */
    unsigned width;                /* bytes of p->argument, little-endian */
} opcodes[256] = {
    ['('] = {"MARK", run_mark, 0},
    [')'] = {"EMPTY_TUPLE", run_empty_tuple, 0},
    ['.'] = {"STOP", run_stop, 0},
    ['0'] = {"POP", NULL, 0},
    ['1'] = {"POP_MARK", NULL, 0},
    ['2'] = {"DUP", NULL, 0},
    ['B'] = {"BINBYTES", NULL, 0},
    ['C'] = {"SHORT_BINBYTES", NULL, 0},
    ['F'] = {"FLOAT", NULL, 0},
    ['G'] = {"BINFLOAT", run_float, 8},
    ['I'] = {"INT", NULL, 0},
    ['J'] = {"BININT", run_signed, 4},
    ['K'] = {"BININT1", run_unsigned, 1},
    ['L'] = {"LONG", NULL, 0},
    ['M'] = {"BININT2", run_unsigned, 2},
    ['N'] = {"NONE", run_none, 0},
    ['P'] = {"PERSID", NULL, 0},
    ['Q'] = {"BINPERSID", run_persistent, 0},
    ['R'] = {"REDUCE", run_call, 0},
    ['S'] = {"STRING", NULL, 0},
    ['T'] = {"BINSTRING", NULL, 0},
    ['U'] = {"SHORT_BINSTRING", run_text, 1},
    ['V'] = {"UNICODE", NULL, 0},
    ['X'] = {"BINUNICODE", run_text, 4},
    [']'] = {"EMPTY_LIST", run_empty_list, 0},
    ['a'] = {"APPEND", run_append, 0},
    ['b'] = {"BUILD", run_build, 0},
    ['c'] = {"GLOBAL", run_global, 0},
    ['d'] = {"DICT", NULL, 0},
    ['e'] = {"APPENDS", run_appends, 0},
    ['g'] = {"GET", NULL, 0},
    ['h'] = {"BINGET", run_get, 1},
    ['i'] = {"INST", NULL, 0},
    ['j'] = {"LONG_BINGET", run_get, 4},
    ['l'] = {"LIST", NULL, 0},
    ['o'] = {"OBJ", NULL, 0},
    ['p'] = {"PUT", NULL, 0},
    ['q'] = {"BINPUT", run_put, 1},
    ['r'] = {"LONG_BINPUT", run_put, 4},
    ['s'] = {"SETITEM", run_set_item, 0},
    ['t'] = {"TUPLE", run_tuple, 0},
    ['u'] = {"SETITEMS", run_set_items, 0},
    ['}'] = {"EMPTY_DICT", run_empty_dict, 0},
    [0x80] = {"PROTO", run_proto, 1},
    [0x81] = {"NEWOBJ", run_call, 0},
    [0x82] = {"EXT1", NULL, 0},
    [0x83] = {"EXT2", NULL, 0},
    [0x84] = {"EXT4", NULL, 0},
    [0x85] = {"TUPLE1", run_short_tuple, 0},
    [0x86] = {"TUPLE2", run_short_tuple, 0},
    [0x87] = {"TUPLE3", run_short_tuple, 0},
    [0x88] = {"NEWTRUE", run_bool, 0},
    [0x89] = {"NEWFALSE", run_bool, 0},
    [0x8a] = {"LONG1", run_long, 1},
    [0x8b] = {"LONG4", NULL, 0},
    [0x8c] = {"SHORT_BINUNICODE", run_text, 1},
    [0x8d] = {"BINUNICODE8", NULL, 0},
    [0x8e] = {"BINBYTES8", NULL, 0},
    [0x8f] = {"EMPTY_SET", run_empty_set, 0},
    [0x90] = {"ADDITEMS", NULL, 0},
    [0x91] = {"FROZENSET", NULL, 0},
    [0x92] = {"NEWOBJ_EX", NULL, 0},
    [0x93] = {"STACK_GLOBAL", run_stack_global, 0},
    [0x94] = {"MEMOIZE", run_memoize, 0},
    [0x95] = {"FRAME", run_frame, 8},
    [0x96] = {"BYTEARRAY8", NULL, 0},
    [0x97] = {"NEXT_BUFFER", NULL, 0},
    [0x98] = {"READONLY_BUFFER", NULL, 0},
};

/* Reads p->opcode and p->argument. */
static gufo_status take_opcode(pickle *p, const struct opcode_row **row)
{
    gufo_status status;

    p->opcode_at = p->at;
    status = need(p, 1);
    if (status != GUFO_OK)
        return status;
    p->opcode = p->source->base[p->at++];
    *row = &opcodes[p->opcode];
    if ((*row)->name == NULL)
        return pickle_fail(p, GUFO_E_MALFORMED, "pickles have no opcode 0x%02x", p->opcode);
    if ((*row)->run == NULL)
        return pickle_fail(p, GUFO_E_TYPE,
                           "the pickle has the opcode %s, which no file of tensors needs",
                           (*row)->name);
    status = need(p, (*row)->width);
    if (status != GUFO_OK)
        return status;
    p->argument = load_start(p->source->base + p->at, (*row)->width);
    p->at += (*row)->width;
    return GUFO_OK;
}

gufo_status pickle_read(pickle *p)
{
    const struct opcode_row *row;
    gufo_status status = GUFO_OK;

    pickle_clear(p);
    p->begin = p->at;
    while (status == GUFO_OK && !p->stopped) {
        status = take_opcode(p, &row);
        if (status == GUFO_OK)
            status = row->run(p);
    }
    return status;
}
