/* What is dangerous in a template, and what is wrong with it: gufo_template_lint.
 *
 * A template may reach through the attributes of any Python object to the interpreter itself, and
 * run commands (CVE-2024-34359, CVE-2026-5760).  The judge parses the template, and looks in the
 * tree for the names that lead there.  Texts that are put together from constants are computed, by
 * the interpreter and within small limits, so that '__cla' ~ 'ss__' is found, too.  It does not run
 * the template: it misses a name that comes from its input. */
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "gufo/base.h"
#include "template/machine/machine.h"
#include "template/syntax/parser.h"

#include <stdio.h>
#include <string.h>

enum risky_flags {
    RISKY_CALLED = 1, /* only where it is called */
    RISKY_OWN = 2,    /* not where the template gives the name a value itself */
    RISKY_MEMBER = 4, /* only where a part of it is taken */
};

enum { RISKY_NAMES = 17 };

typedef struct risky_names {
    const char *what; /* what such a name is */
    unsigned flags;
    const char *names[RISKY_NAMES]; /* the last is NULL */
} risky_names;

/* Ways to Python's frames, code and classes; then what opens files and connections and starts
 * processes, as an attribute (os.popen) or as a variable.  Words that are common names of things in
 * chats are risky only where they are called, or where the template has not defined them itself. */

static const char inner[] = "is an inner part of Python or Jinja",
                  access_name[] = "gives access to files, programs or the network",
                  built_in[] = "has no parts that a template needs";

static const risky_names attributes[] = {
    {inner,
     0,
     {"mro", "func_globals", "func_code", "func_closure", "func_dict", "func_defaults", "im_class",
      "im_func", "im_self", "gi_frame", "gi_code", "gi_yieldfrom", "cr_frame", "cr_code",
      "ag_frame", "ag_code"}},
    {inner,
     0,
     {"tb_frame", "tb_next", "f_globals", "f_locals", "f_builtins", "f_code", "f_back", "co_code",
      "_TemplateReference__context", "_context", "_environment", "_func", "_iterator",
      "_Macro__arguments", "_module", "_recurse"}},
    {access_name,
     0,
     {"import_module", "import_string", "load_module", "from_pyfile", "popen", "Popen",
      "check_output", "subprocess", "urlopen"}},
    {access_name, RISKY_CALLED, {"from_string", "system", "open", "eval", "exec", "socket"}},
};

static const risky_names variables[] = {
    {access_name,
     RISKY_OWN,
     {"os", "sys", "posix", "pty", "shutil", "socket", "requests", "request", "config"}},
    {access_name,
     0,
     {"subprocess", "importlib", "builtins", "ctypes", "urllib", "urlopen", "popen",
      "get_flashed_messages", "url_for", "getattr", "setattr"}},
    {access_name,
     RISKY_OWN | RISKY_CALLED,
     {"system", "open", "eval", "exec", "compile", "globals", "locals", "vars"}},
    {built_in,
     RISKY_OWN | RISKY_MEMBER,
     {"lipsum", "cycler", "joiner", "namespace", "range", "dict", "raise_exception",
      "strftime_now"}},
};

static const risky_names *find(const risky_names *groups, size_t count, gufo_str name)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; groups[i].names[j] != NULL; j++)
            if (gufo_str_equal(name, gufo_str_of(groups[i].names[j])))
                return &groups[i];
    return NULL;
}

/* The group of an attribute, or of a variable; NULL if it is harmless. */
static const risky_names *risky_attribute(gufo_str name)
{
    return find(attributes, sizeof(attributes) / sizeof(*attributes), name);
}

static const risky_names *risky_variable(gufo_str name)
{
    return find(variables, sizeof(variables) / sizeof(*variables), name);
}

static bool is_name_byte(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || (uint8_t)c >= 0x80;
}

/* Whether a name is one of Python's own, such as __class__. */
static bool risky_is_dunder(gufo_str name)
{
    size_t start = 0;

    while (start < name.len && name.data[start] == '_')
        start++;
    /* Nothing but underscores is a line, not a name. */
    return start >= 2 && start < name.len && str_ends(name, "__") &&
           str_span(name, 0, is_name_byte) == name.len;
}

/* Whether a text has such a name, as an attribute: "__class__", "a.__class__", "{0.__class__}". */
static bool risky_has_dunder(gufo_str text)
{
    bool format = text.len != 0 && memchr(text.data, '{', text.len) != NULL;
    bool bare = true; /* only names with dots between them */

    for (size_t i = 0; i < text.len; i++)
        bare = bare && (is_name_byte(text.data[i]) || text.data[i] == '.');
    for (size_t at = 0, end; at < text.len; at = end) {
        char before = at == 0 ? '.' : text.data[at - 1];

        end = at + str_span(text, at, is_name_byte);
        if ((bare || (format && (before == '.' || before == '['))) && end != at &&
            risky_is_dunder((gufo_str){text.data + at, end - at}))
            return true;
        end += end == at;
    }
    return false;
}

enum { COMPUTED_STEPS = 2000, COMPUTED_BYTES = 1 << 16 };

typedef struct lint_place {
    uint32_t at;
    bool dangerous;
    const char *message;
} lint_place;

typedef struct judge {
    gufo_template *tree;
    heap memory;
    lint_place *places;
    size_t count, room;
    uint8_t *fixed; /* by node: whether it is made of constants alone */
    uint8_t *inner; /* by node: it is a part of one that is */
    uint8_t *own;   /* by constant: the template gives this name a value */
} judge;

__attribute__((format(printf, 4, 5))) static bool add(judge *j, uint32_t at, bool dangerous,
                                                      const char *format, ...)
{
    char sentence[GUFO_QUOTE_SIZE + 200], *copy;
    va_list rest;
    int len;

    va_start(rest, format);
    len = vsnprintf(sentence, sizeof(sentence), format, rest);
    va_end(rest);
    if (j->count == j->room) {
        size_t room = j->room == 0 ? 16 : j->room * 2;
        lint_place *grown = heap_array(&j->memory, room, sizeof(lint_place));

        if (grown == NULL)
            return false;
        if (j->count != 0)
            memcpy(grown, j->places, j->count * sizeof(lint_place));
        j->places = grown;
        j->room = room;
    }
    copy = len < 0 ? NULL : heap_take(&j->memory, (uint64_t)len + 1);
    if (copy == NULL)
        return false;
    memcpy(copy, sentence, strlen(sentence) + 1);
    j->places[j->count++] = (lint_place){at, dangerous, copy};
    return true;
}

static const node *at_index(const judge *j, uint32_t index)
{
    return &j->tree->nodes[index];
}

static gufo_str constant_of(const judge *j, uint32_t constant)
{
    value v = j->tree->constants.items[constant];

    return v.kind == VALUE_STRING ? bytes_of(v.as.string) : (gufo_str){NULL, 0};
}

/* The text that a node is; {NULL, 0} if it is not a constant text. */
static gufo_str text_at(const judge *j, uint32_t index)
{
    const node *n = at_index(j, index);

    return n->kind == NODE_CONSTANT ? constant_of(j, n->a) : (gufo_str){NULL, 0};
}

/* ==== Names ================================================================================== */

static bool judge_dunder(judge *j, uint32_t at, gufo_str text)
{
    return add(j, at, true,
               "%s has one of Python's own names, a way from the template to what runs it",
               QUOTED(text));
}

/* A name that is taken from an object; `called`: and called. */
static bool judge_attribute(judge *j, uint32_t at, gufo_str name, bool called)
{
    const risky_names *group = risky_attribute(name);

    if (risky_is_dunder(name))
        return judge_dunder(j, at, name);
    if (group == NULL || ((group->flags & RISKY_CALLED) != 0 && !called))
        return true;
    return add(j, at, true, "%s %s", QUOTED(name), group->what);
}

static bool judge_variable(judge *j, const node *n, bool called, bool member)
{
    gufo_str name = constant_of(j, n->a);
    const risky_names *group = risky_variable(name);

    if (n->op != 0 || group == NULL)
        return true;
    if (((group->flags & RISKY_OWN) != 0 && j->own[n->a]) ||
        ((group->flags & RISKY_CALLED) != 0 && !called) ||
        ((group->flags & RISKY_MEMBER) != 0 && !member))
        return true;
    return add(j, n->at, true, "%s %s", QUOTED(name), group->what);
}

/* What a part is taken of: a built-in function has none that is needed. */
static bool judge_member_of(judge *j, uint32_t object)
{
    const node *n = at_index(j, object);
    const risky_names *group = n->kind == NODE_NAME ? risky_variable(constant_of(j, n->a)) : NULL;

    return group == NULL || (group->flags & RISKY_MEMBER) == 0 || judge_variable(j, n, false, true);
}

/* An attribute that a filter takes by name: it must not be computed. */
static bool judge_attribute_argument(judge *j, uint32_t argument, const char *filter)
{
    const node *n = at_index(j, argument);
    value v = n->kind == NODE_CONSTANT ? j->tree->constants.items[n->a] : FAILED;

    if (v.kind == VALUE_STRING)
        return judge_attribute(j, n->at, bytes_of(v.as.string), false);
    if (v.kind != VALUE_FAILED || j->fixed[argument] != 0)
        return true;
    return add(j, n->at, true, "'%s' takes an attribute whose name the template computes", filter);
}

static bool judge_filter(judge *j, const node *n)
{
    gufo_str name = constant_of(j, n->c);
    bool attr = gufo_str_equal(name, gufo_str_of("attr"));
    bool group = gufo_str_equal(name, gufo_str_of("groupby"));
    bool map = gufo_str_equal(name, gufo_str_of("map"));
    char label[64];

    (void)snprintf(label, sizeof(label), "%.*s", (int)(name.len > 60 ? 60 : name.len), name.data);
    if (n->d == 0)
        return add(j, n->at, false, "no filter is called %s", QUOTED(name));
    if (attr && n->a != 0 && !judge_member_of(j, n->a))
        return false;
    if ((attr || group) && n->b != 0 && at_index(j, n->b)->kind < NODE_KEYWORD)
        return judge_attribute_argument(j, n->b, label);
    if (map && n->b != 0 && at_index(j, n->b)->next != 0 &&
        gufo_str_equal(text_at(j, n->b), gufo_str_of("attr")))
        return judge_attribute_argument(j, at_index(j, n->b)->next, label);
    for (uint32_t at = n->b; at != 0; at = at_index(j, at)->next) {
        const node *keyword = at_index(j, at);

        if (keyword->kind == NODE_KEYWORD &&
            gufo_str_equal(constant_of(j, keyword->a), gufo_str_of("attribute")) &&
            !judge_attribute_argument(j, keyword->b, label))
            return false;
    }
    return true;
}

static bool judge_call(judge *j, const node *n)
{
    const node *callee = at_index(j, n->a);
    gufo_str item;

    if (callee->kind == NODE_NAME) {
        const risky_names *group = risky_variable(constant_of(j, callee->a));

        return group == NULL || (group->flags & RISKY_CALLED) == 0 ||
               judge_variable(j, callee, true, false);
    }
    item = callee->kind == NODE_ATTRIBUTE ? constant_of(j, callee->b)
           : callee->kind == NODE_ITEM    ? text_at(j, callee->b)
                                          : (gufo_str){NULL, 0};
    if (item.data == NULL || risky_attribute(item) == NULL ||
        (risky_attribute(item)->flags & RISKY_CALLED) == 0)
        return true;
    return judge_attribute(j, callee->at, item, true);
}

/* The template itself, as its blocks see it. */
static bool is_self(const judge *j, uint32_t index)
{
    const node *n = at_index(j, index);

    return n->kind == NODE_NAME && gufo_str_equal(constant_of(j, n->a), gufo_str_of("self"));
}

static bool judge_node(judge *j, uint32_t index)
{
    const node *n = at_index(j, index);
    gufo_str text;

    switch (n->kind) {
    case NODE_NAME:
        text = constant_of(j, n->a);
        return risky_is_dunder(text) ? judge_dunder(j, n->at, text)
                                     : judge_variable(j, n, false, false);
    case NODE_ATTRIBUTE:
        text = constant_of(j, n->b);
        if (is_self(j, n->a) && str_begins(text, "_") && risky_attribute(text) == NULL)
            return add(j, n->at, true, "%s is an inner part of the template", QUOTED(text));
        return judge_attribute(j, n->at, constant_of(j, n->b), false) && judge_member_of(j, n->a);
    case NODE_ITEM:
        text = text_at(j, n->b);
        if (text.data != NULL && !risky_is_dunder(text) &&
            !judge_attribute(j, at_index(j, n->b)->at, text, false))
            return false;
        return judge_member_of(j, n->a);
    case NODE_CALL:
        return judge_call(j, n);
    case NODE_FILTER:
        return judge_filter(j, n);
    case NODE_TEST:
        return n->d != 0 ||
               add(j, n->at, false, "no test is called %s", QUOTED(constant_of(j, n->c)));
    case NODE_OTHER_TEMPLATE:
        return add(j, n->at, true, "%s reads another template", QUOTED(constant_of(j, n->a)));
    default:
        return true;
    }
}

/* ==== Constants ============================================================================== */

static bool all_fixed(const judge *j, uint32_t first)
{
    for (uint32_t at = first; at != 0; at = at_index(j, at)->next)
        if (!j->fixed[at])
            return false;
    return true;
}

/* Whether a node is made of constants, where what it consists of is known. */
static bool is_fixed(const judge *j, const node *n)
{
    const node *callee;

    switch (n->kind) {
    case NODE_CONSTANT:
        return true;
    case NODE_BINARY:
    case NODE_PAIR:
        return j->fixed[n->a] && j->fixed[n->b];
    case NODE_UNARY:
        return j->fixed[n->a];
    case NODE_CONCAT:
    case NODE_LIST:
    case NODE_TUPLE:
    case NODE_DICT:
        return all_fixed(j, n->a);
    case NODE_SLICE:
        return (n->a == 0 || j->fixed[n->a]) && (n->b == 0 || j->fixed[n->b]) &&
               (n->c == 0 || j->fixed[n->c]);
    case NODE_ITEM:
        return j->fixed[n->a] && j->fixed[n->b];
    case NODE_FILTER:
        return n->a != 0 && n->d != 0 && j->fixed[n->a] && all_fixed(j, n->b);
    case NODE_KEYWORD: /* dict(__cla=x, ss__=x)|join: values do not matter */
        return j->fixed[n->b] || at_index(j, n->b)->kind == NODE_NAME;
    case NODE_CALL:
        callee = at_index(j, n->a);
        if (callee->kind == NODE_NAME)
            return gufo_str_equal(constant_of(j, callee->a), gufo_str_of("dict")) &&
                   all_fixed(j, n->b);
        return callee->kind == NODE_ATTRIBUTE && j->fixed[callee->a] && all_fixed(j, n->b);
    default:
        return false;
    }
}

static void mark_inner(judge *j, uint32_t first)
{
    for (uint32_t at = first; at != 0; at = at_index(j, at)->next)
        j->inner[at] = 1;
}

/* The parts of a node that is made of constants: they need not be computed themselves. */
static void mark_parts(judge *j, const node *n)
{
    bool list = n->kind == NODE_CONCAT || n->kind == NODE_LIST || n->kind == NODE_TUPLE ||
                n->kind == NODE_DICT;

    if (n->kind == NODE_CONSTANT)
        return;
    if (list) {
        mark_inner(j, n->a);
        return;
    }
    if (n->kind == NODE_CALL && at_index(j, n->a)->kind == NODE_ATTRIBUTE)
        j->inner[at_index(j, n->a)->a] = 1;
    if (n->kind != NODE_KEYWORD && n->a != 0)
        j->inner[n->a] = 1;
    if (n->b != 0)
        mark_inner(j, n->b);
    if (n->kind == NODE_SLICE && n->c != 0)
        j->inner[n->c] = 1;
}

/* Arguments stand behind what they are for, so that a second look finds more. */
static void find_fixed(judge *j)
{
    for (int look = 0; look < 3; look++)
        for (uint32_t i = 1; i < j->tree->node_count; i++)
            j->fixed[i] = j->fixed[i] || is_fixed(j, at_index(j, i));
    for (uint32_t i = 1; i < j->tree->node_count; i++)
        if (j->fixed[i])
            mark_parts(j, at_index(j, i));
}

/* The value of a node that is made of constants; false on failure. */
static bool judge_computed(judge *j, uint32_t index)
{
    gufo_error ignored;
    machine m = {.language = &jinja,
                 .tree = j->tree,
                 .key = j->tree->key,
                 .steps = COMPUTED_STEPS,
                 .out_limit = COMPUTED_BYTES,
                 .recursion_limit = 1};
    bool done = true, hidden;
    value v;

    heap_init(&m.memory, &j->memory.allocator, COMPUTED_BYTES * 4, &ignored);
    m.memory.text_limit = COMPUTED_BYTES;
    m.frame = frame_new(&m, NULL);
    v = m.frame == NULL ? FAILED : evaluate(&m, index);
    hidden = v.kind == VALUE_STRING && risky_has_dunder(bytes_of(v.as.string));
    if (hidden)
        done = judge_dunder(j, at_index(j, index)->at, bytes_of(v.as.string));
    mem_free(&m.memory.allocator, m.out);
    heap_free(&m.memory);
    return done;
}

static bool judge_constant(judge *j, uint32_t index)
{
    const node *n = at_index(j, index);

    if (n->kind == NODE_CONSTANT) {
        gufo_str text = constant_of(j, n->a);

        return text.data == NULL || !risky_has_dunder(text) || judge_dunder(j, n->at, text);
    }
    return !j->fixed[index] || j->inner[index] || n->kind == NODE_SLICE || n->kind == NODE_PAIR ||
           n->kind == NODE_KEYWORD || judge_computed(j, index);
}

/* ==== The whole ============================================================================== */

static void find_own(judge *j)
{
    for (uint32_t i = 1; i < j->tree->node_count; i++) {
        const node *n = at_index(j, i);

        if ((n->kind == NODE_NAME && n->op != 0) || n->kind == NODE_MACRO ||
            n->kind == NODE_PARAMETER)
            j->own[n->a] = 1;
    }
}

static uint8_t *flags_new(judge *j, size_t count)
{
    uint8_t *flags = heap_take(&j->memory, count);

    if (flags != NULL)
        memset(flags, 0, count);
    return flags;
}

static bool judge_tree(judge *j)
{
    j->fixed = flags_new(j, (size_t)j->tree->node_count + 1);
    j->inner = flags_new(j, (size_t)j->tree->node_count + 1);
    j->own = flags_new(j, j->tree->constants.count + 1);
    if (j->fixed == NULL || j->inner == NULL || j->own == NULL)
        return false;
    find_own(j);
    find_fixed(j);
    for (uint32_t i = 1; i < j->tree->node_count; i++)
        if (!judge_node(j, i) || !judge_constant(j, i))
            return false;
    return true;
}

static bool comes_before(const void *a, const void *b)
{
    return ((const lint_place *)a)->at < ((const lint_place *)b)->at;
}

/* Reports the findings in the order of the source, which is walked once; \r\n was one byte in the
 * tree. */
static void report_places(judge *j, gufo_str source, gufo_template_finding_fn *found, void *context)
{
    gufo_template_finding finding = {.line = 1, .column = 1};
    uint32_t at = 0;

    sort_items(j->places, j->count, sizeof(lint_place), comes_before);
    for (size_t i = 0; i < j->count; i++) {
        if (i != 0 && j->places[i].at == j->places[i - 1].at)
            continue; /* one place is one finding */
        for (; at < j->places[i].at && finding.offset < source.len; at++) {
            gufo_str rest = str_from(source, (size_t)finding.offset);
            bool ends = *rest.data == '\n' || *rest.data == '\r';

            finding.offset += str_begins(rest, "\r\n") ? 2 : 1;
            finding.line += ends;
            finding.column = ends ? 1 : finding.column + (((uint8_t)*rest.data & 0xC0) != 0x80);
        }
        finding.dangerous = j->places[i].dangerous;
        finding.message = j->places[i].message;
        if (!found(context, &finding))
            return;
    }
}

/* What the parser says is the only finding, without its place, which the finding has. */
static gufo_status report_fault(const gufo_error *fault, gufo_template_place place,
                                gufo_template_finding_fn *found, void *context, gufo_error *error)
{
    gufo_template_finding finding = {.line = place.line, .column = place.column};
    const char *behind = strstr(fault->message, ": ");

    if (fault->code == GUFO_E_MEMORY)
        return fail_as(error, fault);
    finding.offset = fault->offset == GUFO_NO_OFFSET ? 0 : fault->offset;
    finding.message = str_begins(gufo_str_of(fault->message), "line ") && behind != NULL
                          ? behind + 2
                          : fault->message;
    (void)found(context, &finding);
    return GUFO_OK;
}

gufo_status gufo_template_lint(gufo_str source, const gufo_parse_options *options,
                               gufo_template_finding_fn *found, void *context, gufo_error *error)
{
    gufo_template_place place;
    gufo_status status = parse_options_check(options, error);
    gufo_error fault;
    judge j;

    if (status != GUFO_OK)
        return status;
    j = (judge){.tree = gufo_template_parse(source, options, &place, &fault)};
    if (j.tree == NULL)
        return report_fault(&fault, place, found, context, error);
    heap_init(&j.memory, options != NULL ? options->allocator : NULL, UINT64_MAX, error);
    if (judge_tree(&j))
        report_places(&j, source, found, context);
    else
        status = j.memory.status;
    heap_free(&j.memory);
    gufo_template_free(j.tree);
    return status;
}
