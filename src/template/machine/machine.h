/* One rendering: its limits, its output and its variables. */
#ifndef TEMPLATE_MACHINE_H
#define TEMPLATE_MACHINE_H

#include "template/syntax/tree.h"
#include "template/values/characters.h"

/* The variables of a scope. */
typedef struct frame {
    struct frame *parent;
    dict *names;
} frame;

struct machine;
struct loop;
struct macro;

typedef enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_FAILED } flow;

/* What the lower parts of the interpreter ask of the upper ones, so that calls between files go one
 * way: language.c has the only one. */
typedef struct language {
    table_set tables;
    const table *(*methods)(value_kind kind);
    value (*evaluate)(struct machine *m, uint32_t at);
    flow (*execute)(struct machine *m, uint32_t first);
    /* Gives a value to a name, to several, or to a member of a namespace. */
    bool (*assign)(struct machine *m, uint32_t target, value v);
    /* Runs a `for` over a value. */
    flow (*run_loop)(struct machine *m, const node *n, value source, uint64_t depth);
    value (*loop_length)(struct machine *m, struct loop *l);
    value (*loop_attribute)(struct machine *m, struct loop *l, gufo_str name);
    value (*macro_attribute)(struct machine *m, const struct macro *called, gufo_str name);
} language;

extern const language jinja;

typedef struct machine {
    const language *language;
    heap memory; /* its status is that of the rendering */
    const gufo_template *tree;
    const dict *context; /* the caller's variables; may be NULL */
    hash_key key;
    frame *frame;
    char *out; /* the output; what is being made of parts lies at its end */
    size_t out_len, out_room;
    uint64_t out_limit, steps;
    uint32_t depth; /* of functions in C that call each other for what is nested */
    uint32_t recursion, recursion_limit; /* macros within each other */
    uint32_t at;                         /* in the source: what is being run */
    bool escape;                         /* {% autoescape true %} */
    bool raised;                         /* by raise_exception */
    int64_t now;
    uint64_t random; /* the state of the filter of that name */
    value filtered;  /* the text of a block that is being filtered */
    value cursor;    /* see string_offset */
    size_t cursor_char, cursor_byte;
} machine;

/* How deep functions in C call each other: about a megabyte of stack. */
enum { MACHINE_DEPTH = 1500 };

/* The first failure remains. */
__attribute__((format(printf, 3, 4))) value machine_fail(machine *m, gufo_status status,
                                                         const char *format, ...);
#define fail_type(m, ...) machine_fail((m), GUFO_E_TYPE, __VA_ARGS__)
#define fail_limit(m, ...) machine_fail((m), GUFO_E_LIMIT, __VA_ARGS__)

static inline bool machine_failed(const machine *m)
{
    return m->memory.status != GUFO_OK;
}

/* Counts steps; false when there are too many.  Work on texts counts a step per 256 bytes. */
bool machine_spend(machine *m, uint64_t steps);
static inline bool machine_spend_bytes(machine *m, uint64_t bytes)
{
    return machine_spend(m, bytes / 256 + 1);
}
/* Before a value is looked up as a key, and before a number is compared. */
bool machine_spend_key(machine *m, value key);
static inline bool machine_spend_number(machine *m, value number)
{
    return number.kind != VALUE_BIG || machine_spend_key(m, number);
}
bool machine_enter(machine *m);
static inline void machine_leave(machine *m)
{
    m->depth--;
}

/* Appends to the output; false at its limit. */
bool out_write(machine *m, gufo_str text);
bool out_text(machine *m, const char *text);
bool out_repeat(machine *m, gufo_str text, uint64_t times);
/* What was written since `mark`. */
gufo_str out_since(const machine *m, size_t mark);
/* Takes what was written since `mark`, an earlier m->out_len, as a string. */
value out_cut(machine *m, size_t mark);

/* ==== print.c ================================================================================ */

/* Writes a value as str() or as repr() gives it. */
bool print_str(machine *m, value v);
bool print_repr(machine *m, value v);
/* The digits of the size of an integer in a base, as a string. */
value print_digits(machine *m, value integer, unsigned base, bool upper);
/* With &, <, >, ' and " as entities, unless the value is safe. */
bool print_escaped(machine *m, value v);
bool escape_text(machine *m, gufo_str text);
/* str(v): the value itself where it is a string. */
value text_of(machine *m, value v);
/* The sentence about an undefined value that is used. */
value fail_undefined(machine *m, value v);

/* ==== machine.c ============================================================================== */

bool value_truth(value v);
/* The length of what has one; FAILED for others. */
value value_length(machine *m, value v);
bool value_has_length(value v);
/* A number as a float; false for an integer that is too large. */
bool value_as_real(machine *m, value v, double *out);
/* An integer as the index that it comes closest to, as slices take it; false for what is none. */
bool value_as_index(value v, int64_t *out);
/* The number at a place of a range. */
value range_item(machine *m, const range *r, size_t index);

/* ==== operate.c ============================================================================== */

value operate(machine *m, uint8_t op, value a, value b);
value operate_sign(machine *m, uint8_t op, value a);
/* These give false on failure, too. */
bool value_equal(machine *m, value a, value b);
bool value_before(machine *m, value a, value b);
/* ==, !=, <, in ... */
bool value_compares(machine *m, uint8_t op, value a, value b);

/* ==== iterate.c ============================================================================== */

typedef struct iteration {
    value source;
    size_t at, left; /* how many items are left */
} iteration;

bool value_is_iterable(value v);
/* False on failure: what is not iterable. */
bool iterate(machine *m, value source, iteration *out);
/* False at the end; *out may be FAILED. */
bool iterate_next(machine *m, iteration *it, value *out);
/* All items as a list. */
bool iterate_all(machine *m, value source, item_list *out);
value iterate_list(machine *m, value source, value_kind kind);

/* ==== access.c =============================================================================== */

value undefined_name(machine *m, value name);
value undefined_because(machine *m, const char *why);
/* Sets a key of a dict that is being made; false for a key that cannot be one. */
bool dict_put(machine *m, dict *d, value key, value v);
/* a.name and a[key], with Jinja's fallback of each to the other. */
value get_attribute(machine *m, value object, value name);
value get_item(machine *m, value object, value key);
value get_slice(machine *m, value object, value from, value to, value step);
/* "a.b.0", as filters take it. */
value get_path(machine *m, value object, value path);
/* The byte of a character of a string. */
size_t string_offset(machine *m, const string *text, size_t character);
/* The method of a value; NULL if it has none of this name. */
const native *find_method(const machine *m, value object, gufo_str name);

/* ==== call.c ================================================================================= */

value call_native(machine *m, const native *row, value self, const arguments *in);
value call_value(machine *m, value function, const arguments *in);
/* What a filter or a test of this name gives: for map, select ... */
value call_named(machine *m, const table *rows, value name, value target, const arguments *in);
/* Whether the value can be called at all. */
bool value_is_callable(value v);

typedef struct macro {
    const node *node;
    frame *frame;
    value name; /* NONE: what a {% call %} gives as `caller` */
} macro;

typedef struct method {
    const native *row;
    value self;
} method;

value call_macro(machine *m, const macro *called, const arguments *in);
/* name, arguments ...; ABSENT for others. */
value macro_attribute(machine *m, const macro *called, gufo_str name);

/* ==== loop.c ==================================================================================== */

typedef struct loop {
    const node *node;
    iteration source;
    frame *test_frame;
    bool has_next, ended;
    value next, previous, current;
    uint64_t index; /* from 0 */
    uint64_t depth; /* from 0: loops of loop(...) */
    bool was_asked; /* `changed` has values */
    value asked;
    item_list rest; /* what was pulled to know the length */
    size_t rest_at;
} loop;

/* The next item: false at the end, or on failure. */
bool loop_advance(machine *m, loop *l);
value loop_attribute(machine *m, loop *l, gufo_str name);
value loop_length(machine *m, loop *l);
const table *loop_methods(void);

/* ==== evaluate.c, execute.c ================================================================== */

value evaluate(machine *m, uint32_t at);
flow execute(machine *m, uint32_t first);
/* The value of a name. */
value look_up(machine *m, const node *n);
/* Calls what the node at `at` calls, with a `caller`. */
value evaluate_call_block(machine *m, uint32_t at, value caller);
frame *frame_new(machine *m, frame *parent);
/* Gives a value to a name, to several, or to a member of a namespace. */
bool assign(machine *m, uint32_t target, value v);
bool assign_name(machine *m, value name, value v);
/* Runs a `for` over a value: the loop of `loop(...)`. */
flow execute_loop(machine *m, const node *n, value source, uint64_t depth);

static inline const node *tree_node(const machine *m, uint32_t at)
{
    return &m->tree->nodes[at];
}

static inline value tree_constant(const machine *m, uint32_t constant)
{
    return m->tree->constants.items[constant];
}

/* ==== format.c ============================================================================ */

/* format % given: a tuple gives several values, a dict those that are named. */
value format_percent(machine *m, const string *format, value given);
/* format.format(...): arguments by position and by name. */
value format_braces(machine *m, const string *format, const arguments *in);

/* ==== text_work.c: what functions in C use ================================================ */

/* A string argument; NULL on failure, which names its place by `what`. */
const string *take_string(machine *m, value v, const char *what);
/* An integer argument; `preset` where it is absent. */
bool take_integer(machine *m, value v, int64_t preset, int64_t *out);
/* The same for a bound of what is looked at: larger ones are as good as the largest. */
bool take_index(machine *m, value v, int64_t preset, int64_t *out);
/* A string that a function in C wrote since `mark`, safe if `like` is. */
value cut_like(machine *m, size_t mark, const string *like);
/* Writes a text in another case. */
bool write_case(machine *m, gufo_str text, letter_case to);
bool write_point(machine *m, uint32_t point);
/* One character of `text`, which is `len` bytes long. */
bool write_point_case(machine *m, gufo_str text, size_t at, size_t len, letter_case to);
/* Writes `text` with `from` replaced, `limit` times at most (negative: always). */
bool write_replaced(machine *m, gufo_str text, gufo_str from, gufo_str to, int64_t limit);
/* Writes a text of `chars` characters at least `width` wide; `side` is where it stands:
 * < > ^, c as str.center. */
bool write_padded(machine *m, gufo_str text, size_t chars, char side, int64_t width, gufo_str fill);
const char *find_bytes(gufo_str text, gufo_str part);
/* Without the characters of `chars` (NULL: white space) at its ends. */
gufo_str strip_text(gufo_str text, const string *chars, bool left, bool right);
/* The value of a part of a string. */
value part_of(machine *m, const string *whole, gufo_str part);
/* The next line of *rest, and the length of its end; false: no more lines. */
bool next_line(gufo_str *rest, gufo_str *line, size_t *end);

#endif
