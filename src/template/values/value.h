/* The values of a template: those of Python, as far as templates need them.
 *
 * Values do not change, with three exceptions: a namespace, what is left of an iterator, and the
 * state of a loop, a cycler or a joiner.  So values may share parts: a slice is a view into its
 * string.  Strings are UTF-8. */
#ifndef TEMPLATE_VALUE_H
#define TEMPLATE_VALUE_H

#include "base/checked.h"
#include "base/hash.h"
#include "gufo/base.h"

/* ==== Memory ============================================================================== */

/* Memory of one rendering, or of one parsed template: taken piece by piece, given back at once. */

typedef struct heap {
    gufo_allocator allocator;
    struct heap_chunk *chunks;
    char *free;
    size_t left;         /* bytes from `free` on */
    uint64_t used;       /* bytes taken from the allocator */
    uint64_t limit;      /* `used` at most */
    uint64_t text_limit; /* bytes of one text at most */
    gufo_error *error;   /* where failures go; may be NULL */
    gufo_status status;  /* of the first failure */
} heap;

void heap_init(heap *memory, const gufo_allocator *allocator, uint64_t limit, gufo_error *error);
void heap_free(heap *memory);

/* Gives back what was taken since `mark`, a copy of *memory of that moment. */
void heap_return(heap *memory, const heap *mark);

/* Bytes that are not cleared; NULL on failure, which *error and `status` have. */
void *heap_take(heap *memory, uint64_t size);
/* The same for `count` elements of `size` bytes. */
void *heap_array(heap *memory, uint64_t count, size_t size);

#define HEAP_NEW(memory, type) ((type *)heap_take((memory), sizeof(type)))

/* ==== Values ============================================================================== */

typedef enum value_kind {
    VALUE_FAILED = 0, /* not a value: the rendering ends */
    VALUE_ABSENT,     /* not a value: an argument that was not given */
    VALUE_UNDEFINED,
    VALUE_NONE,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_BIG, /* an integer that 64 bits do not hold: see number.h */
    VALUE_FLOAT,
    VALUE_STRING,
    VALUE_LIST,
    VALUE_TUPLE,
    VALUE_DICT,
    VALUE_RANGE,
    VALUE_VIEW,     /* keys, values or items of a dict */
    VALUE_ITERATOR, /* what filters such as map give: can be gone through once */
    VALUE_NAMESPACE,
    VALUE_LOOP,
    VALUE_MACRO,
    VALUE_METHOD,   /* of a value */
    VALUE_FUNCTION, /* range, dict ... */
    VALUE_CYCLER,
    VALUE_JOINER,
} value_kind;

typedef struct string string;
typedef struct array array;
typedef struct dict dict;

typedef struct value {
    value_kind kind;
    union {
        bool truth;
        int64_t integer;
        double real;
        const string *string;
        const struct big *big;
        const array *list; /* VALUE_LIST, VALUE_TUPLE */
        const dict *dict;
        const struct undefined *undefined;
        const struct range *range;
        const struct view *view;
        const struct macro *macro;
        const struct method *method;
        const struct native *function;
        struct iterator *iterator;
        struct dict *names; /* VALUE_NAMESPACE */
        struct loop *loop;
        struct cycler *cycler;
    } as;
} value;

/* Room that a string or a list shares with longer ones: see string_add. */
typedef struct shared_room {
    void *data;
    size_t used, room;
} shared_room;

struct string {
    const char *data;
    size_t len, chars; /* bytes and code points */
    bool markup;       /* safe: nothing in it needs escaping */
    shared_room *shared;
};

struct array {
    const value *items;
    size_t count;
    bool is_group; /* of groupby: a tuple whose items have names */
    shared_room *shared;
};

typedef struct list_grouped {
    value pair[2];
    struct array list;
} list_grouped;

typedef struct dict_entry {
    value key, value;
    uint64_t hash;
} dict_entry;

struct dict {
    dict_entry *entries; /* in the order in which keys came */
    uint32_t *slots;     /* entry + 1, or 0; NULL while the dict is small */
    uint32_t count, room, slot_count;
};

/* What a name or an attribute gives that does not exist. */
typedef struct undefined {
    value owner; /* whose attribute; ABSENT: a name */
    value name;
    bool unsafe; /* the sandbox hides it */
    const char *why;
} undefined;

typedef struct range {
    value start, stop, step; /* integers */
    size_t count;
} range;

typedef enum view_kind { VIEW_KEYS, VIEW_VALUES, VIEW_ITEMS } view_kind;

typedef struct view {
    const dict *dict;
    view_kind kind;
} view;

typedef struct iterator {
    value source; /* a list, mostly */
    size_t at;
    const char *what; /* as Python prints it */
} iterator;

typedef struct cycler {
    const array *items;
    size_t at;
    const string *separator; /* of a joiner */
} cycler;

static inline value value_of(value_kind kind)
{
    return (value){.kind = kind};
}

#define FAILED value_of(VALUE_FAILED)
#define NONE value_of(VALUE_NONE)

static inline bool is_failed(value v)
{
    return v.kind == VALUE_FAILED;
}

static inline bool is_given(value v)
{
    return v.kind != VALUE_ABSENT;
}

static inline value value_bool(bool truth)
{
    return (value){.kind = VALUE_BOOL, .as.truth = truth};
}

static inline value value_int(int64_t integer)
{
    return (value){.kind = VALUE_INT, .as.integer = integer};
}

static inline value value_float(double real)
{
    return (value){.kind = VALUE_FLOAT, .as.real = real};
}

static inline gufo_str bytes_of(const string *text)
{
    return (gufo_str){text->data, text->len};
}

static inline bool string_is_ascii(const string *text)
{
    return text->chars == text->len;
}

/* ==== Making: FAILED without memory ========================================================== */

/* A copy; a view of bytes that live as long as the heap. */
value string_new(heap *memory, gufo_str text);
value string_view(heap *memory, gufo_str text);
value string_cast(heap *memory, const string *text, bool markup);
/* A view of a part of a string. */
value string_part(heap *memory, const string *whole, size_t from, size_t len);
/* One after the other.  What is appended to the last result again and again is not copied each
 * time: the result may share the memory of `a`. */
value string_add(heap *memory, const string *a, gufo_str b, bool markup);
size_t string_count_chars(gufo_str text);

value list_new(heap *memory, value_kind kind, const value *items, size_t count);
value list_take(heap *memory, value_kind kind, const value *items, size_t count);
value list_add(heap *memory, value_kind kind, const array *a, const value *items, size_t count);
value tuple_pair(heap *memory, value first, value second);
value iterator_new(heap *memory, value source, const char *what);

/* A list that grows. */
typedef struct item_list {
    value *items;
    size_t count, room;
} item_list;
bool items_push(heap *memory, item_list *list, value v);

/* Python's name of the type of a value: "str" ... */
const char *value_type(value v);
bool value_is_number(value v); /* an integer or a float */
bool value_is_string(value v);
/* An integer that 64 bits hold; false for others. */
bool value_integer(value v, int64_t *out);
/* Whether it is an int of any size, or a bool, which counts as one. */
bool value_is_integer(value v);

/* ==== Dicts ================================================================================== */

dict *dict_new(heap *memory);
/* Keys are hashable values: see value_hash. */
const dict_entry *dict_find(const dict *d, hash_key key, value name);
const dict_entry *dict_find_text(const dict *d, hash_key key, gufo_str name);
/* Makes room for as many keys; false on failure, which leaves the dict as it was. */
bool dict_reserve(heap *memory, dict *d, hash_key key, size_t room);
/* Adds or replaces; false on failure. */
bool dict_set(heap *memory, dict *d, hash_key key, value name, value v);

void dict_clear(dict *d);
/* False for what cannot be a key: lists, dicts ... */
bool value_hash(hash_key key, value v, uint64_t *hash);
/* The steps that hashing and comparing a key count for: tuples that share parts are as large as what
 * they are written as.  Counting ends at `most`. */
uint64_t value_key_cost(value v, uint64_t most);
/* Equality of keys: of hashable values. */
bool value_same_key(value a, value b);

/* ==== json_read.c: JSON as values ========================================================= */

/* Reads a JSON text.  FAILED with GUFO_E_MALFORMED at the byte of the fault, GUFO_E_LIMIT ... */
value json_read(heap *memory, hash_key key, gufo_str json);

#endif
