/* The public side of templates. */
#include "gufo/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "template/values/value.h"
#include "template/machine/machine.h"

enum { LARGEST_TEMPLATE = 16 << 20 };

static const uint64_t default_steps = 10000000, default_output = 64u << 20,
                      default_memory = 512u << 20, parse_memory = 1u << 30;

static uint64_t limit_of(uint64_t given, uint64_t preset)
{
    return given == 0 ? preset : given;
}

/* ==== Parsing ================================================================================ */

static gufo_template_place tree_place(const gufo_template *tree, uint32_t at)
{
    gufo_template_place place;

    str_place(tree->source, at, &place.line, &place.column);
    return place;
}

/* A copy whose line ends are \n, without one at its end. */
static bool take_source(gufo_template *tree, gufo_str source)
{
    char *copy = heap_take(&tree->memory, source.len);
    size_t len = 0;

    if (copy == NULL)
        return false;
    for (size_t i = 0; i < source.len; i++) {
        bool pair = source.data[i] == '\r' && i + 1 < source.len && source.data[i + 1] == '\n';

        copy[len++] = source.data[i] == '\r' ? '\n' : source.data[i];
        i += pair;
    }
    if (len != 0 && copy[len - 1] == '\n')
        len--;
    tree->source = (gufo_str){copy, len};
    return true;
}

/* The byte of the caller's text that became byte `at` of the copy. */
static uint64_t original_byte(gufo_str source, uint32_t at)
{
    size_t i = 0;

    for (uint32_t n = 0; n < at && i < source.len; n++)
        i += source.data[i] == '\r' && i + 1 < source.len && source.data[i + 1] == '\n' ? 2 : 1;
    return i;
}

/* Puts the place in front of the sentence. */
static void add_place(gufo_error *error, gufo_template_place at)
{
    char sentence[GUFO_MESSAGE_SIZE];

    (void)snprintf(sentence, sizeof(sentence), "%s", error->message);
    (void)snprintf(error->message, sizeof(error->message),
                   "line %" PRIu64 ", column %" PRIu64 ": %.950s", at.line, at.column, sentence);
}

static bool parse_source(gufo_template *tree, gufo_str source, gufo_template_place *place)
{
    gufo_error *error = tree->memory.error;
    uint32_t at = 0;

    if (!take_source(tree, source))
        return false;
    if (parse_tree(tree, &jinja.tables, &at))
        return true;
    *place = tree_place(tree, at);
    if (tree->memory.status != GUFO_E_MEMORY) {
        error->offset = original_byte(source, at);
        add_place(error, *place);
    }
    return false;
}

static bool check_source(gufo_str source, gufo_error *error)
{
    size_t valid;

    if (source.len > LARGEST_TEMPLATE)
        return refuse(error, GUFO_E_LIMIT, "a template of more than %s bytes",
                      GROUPED(LARGEST_TEMPLATE)) == GUFO_OK;
    valid = gufo_utf8_valid_prefix(source);
    if (valid != source.len)
        return fail_with(error, GUFO_E_MALFORMED, valid, "the template is not UTF-8") == GUFO_OK;
    return true;
}

gufo_template *gufo_template_parse(gufo_str source, const gufo_parse_options *options,
                                   gufo_template_place *place, gufo_error *error)
{
    const gufo_allocator *allocator = options != NULL ? options->allocator : NULL;
    gufo_template_place nowhere;
    gufo_error local;
    gufo_template *tree;

    if (place == NULL)
        place = &nowhere;
    *place = (gufo_template_place){.line = 1, .column = 1};
    if (parse_options_check(options, error) != GUFO_OK || !check_source(source, error))
        return NULL;
    tree = mem_zero(mem_allocator(allocator), sizeof(*tree));
    if (tree == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    heap_init(&tree->memory, allocator, parse_memory, error != NULL ? error : &local);
    tree->key = hash_key_new();
    if (!parse_source(tree, source, place)) {
        gufo_template_free(tree);
        return NULL;
    }
    tree->memory.error = NULL;
    return tree;
}

void gufo_template_free(gufo_template *parsed)
{
    gufo_allocator allocator;

    if (parsed == NULL)
        return;
    allocator = parsed->memory.allocator;
    heap_free(&parsed->memory);
    mem_free(&allocator, parsed);
}

/* ==== Variables ============================================================================== */

struct gufo_template_values {
    heap memory;
    hash_key key;
    dict *names;
};

gufo_template_values *gufo_template_values_new(const gufo_template_values_options *options,
                                               gufo_error *error)
{
    static const gufo_template_values_options defaults = {0};
    const gufo_template_values_options *o = options != NULL ? options : &defaults;
    gufo_template_values *values;

    if (reserved_check(o->reserved, "gufo_template_values_options", error) != GUFO_OK)
        return NULL;
    values = mem_zero(mem_allocator(o->allocator), sizeof(*values));
    if (values != NULL) {
        heap_init(&values->memory, o->allocator, limit_of(o->memory, default_memory), NULL);
        values->key = hash_key_new();
        values->names = dict_new(&values->memory);
    }
    if (values == NULL || values->names == NULL) {
        gufo_template_values_free(values);
        (void)fail_memory(error);
        return NULL;
    }
    return values;
}

void gufo_template_values_free(gufo_template_values *values)
{
    gufo_allocator allocator;

    if (values == NULL)
        return;
    allocator = values->memory.allocator;
    heap_free(&values->memory);
    mem_free(&allocator, values);
}

/* What a call that sets variables leaves behind: all of them, or what was there at `mark`. */
static gufo_status end_setting(gufo_template_values *values, const heap *mark, bool done)
{
    gufo_status status = values->memory.status;

    if (!done)
        heap_return(&values->memory, mark);
    values->memory.error = NULL;
    values->memory.status = GUFO_OK;
    return done ? GUFO_OK : status != GUFO_OK ? status : GUFO_E_MEMORY;
}

/* `v` is FAILED if it could not be made. */
static bool set_value(gufo_template_values *values, const char *name, value v)
{
    value key = is_failed(v) ? v : string_new(&values->memory, gufo_str_of(name));

    return !is_failed(key) && dict_set(&values->memory, values->names, values->key, key, v);
}

gufo_status gufo_template_values_set(gufo_template_values *values, const char *name, gufo_str json,
                                     gufo_error *error)
{
    heap mark = values->memory;

    values->memory.error = error;
    return end_setting(values, &mark,
                       set_value(values, name, json_read(&values->memory, values->key, json)));
}

gufo_status gufo_template_values_set_text(gufo_template_values *values, const char *name,
                                          gufo_str text, gufo_error *error)
{
    size_t valid = gufo_utf8_valid_prefix(text);
    heap mark = values->memory;

    if (valid != text.len)
        return fail_with(error, GUFO_E_MALFORMED, valid, "the text is not UTF-8");
    values->memory.error = error;
    return end_setting(values, &mark, set_value(values, name, string_new(&values->memory, text)));
}

/* All keys of a dict: nothing fails once there is room for them. */
static bool set_members(gufo_template_values *values, const dict *members)
{
    size_t together = (size_t)values->names->count + members->count;
    bool done = dict_reserve(&values->memory, values->names, values->key, together);

    for (uint32_t i = 0; done && i < members->count; i++)
        (void)dict_set(&values->memory, values->names, values->key, members->entries[i].key,
                       members->entries[i].value);
    return done;
}

gufo_status gufo_template_values_set_all(gufo_template_values *values, gufo_str json,
                                         gufo_error *error)
{
    heap mark = values->memory;
    value v;

    values->memory.error = error;
    v = json_read(&values->memory, values->key, json);
    if (!is_failed(v) && v.kind != VALUE_DICT) {
        values->memory.status =
            fail_with(error, GUFO_E_MALFORMED, 0, "the variables are a JSON object");
        v = FAILED;
    }
    return end_setting(values, &mark, !is_failed(v) && set_members(values, v.as.dict));
}

bool gufo_template_values_has(const gufo_template_values *values, const char *name)
{
    return dict_find_text(values->names, values->key, gufo_str_of(name)) != NULL;
}

/* ==== Rendering ============================================================================== */

/* Appends to the caller's text. */
static gufo_status give_output(machine *m, gufo_text *out, gufo_error *error)
{
    const gufo_allocator *allocator = mem_allocator(out->allocator);
    char *grown;

    if (m->out_len > out->room - out->len) {
        if (m->out_len > SIZE_MAX / 2 - out->len)
            return fail_memory(error);
        grown = mem_resize(allocator, out->data, out->len + m->out_len);
        if (grown == NULL)
            return fail_memory(error);
        out->data = grown;
        out->room = out->len + m->out_len;
    }
    if (m->out_len != 0)
        memcpy(out->data + out->len, m->out, m->out_len);
    out->len += m->out_len;
    return GUFO_OK;
}

static void machine_init(machine *m, const gufo_template *parsed,
                         const gufo_template_values *values, const gufo_template_options *options,
                         gufo_error *error)
{
    *m = (machine){.language = &jinja,
                   .tree = parsed,
                   .context = values == NULL ? NULL : values->names,
                   .key = values == NULL ? parsed->key : values->key,
                   .steps = limit_of(options->steps, default_steps),
                   .out_limit = limit_of(options->output, default_output),
                   .recursion_limit = options->recursion == 0 ? 200 : options->recursion,
                   .now = options->now,
                   .random = options->seed};
    if (m->out_limit > SIZE_MAX / 4)
        m->out_limit = SIZE_MAX / 4;
    heap_init(&m->memory, options->allocator, limit_of(options->memory, default_memory), error);
    m->memory.used = values == NULL ? 0 : values->memory.used;
    m->memory.text_limit = m->out_limit;
}

/* Says where, except of a message of the template's own. */
static void fail_at(machine *m, gufo_template_place *place)
{
    *place = tree_place(m->tree, m->at);
    if (!m->raised && m->memory.status != GUFO_E_MEMORY)
        add_place(m->memory.error, *place);
}

gufo_status gufo_template_render(const gufo_template *parsed, const gufo_template_values *values,
                                 const gufo_template_options *options, gufo_text *out,
                                 gufo_template_place *place, gufo_error *error)
{
    static const gufo_template_options defaults = {0};
    gufo_template_place nowhere;
    gufo_error local;
    gufo_status status;
    machine m;

    if (parsed == NULL || out == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "gufo_template_render: no template or no output");
    if (options == NULL)
        options = &defaults;
    status = reserved_check(options->reserved, "gufo_template_options", error);
    if (status != GUFO_OK)
        return status;
    if (error == NULL)
        error = &local;
    machine_init(&m, parsed, values, options, error);
    m.frame = frame_new(&m, NULL);
    if (m.frame != NULL && execute(&m, parsed->body) != FLOW_FAILED && !machine_failed(&m))
        m.memory.status = give_output(&m, out, error);
    else
        fail_at(&m, place == NULL ? &nowhere : place);
    status = m.memory.status;
    mem_free(&m.memory.allocator, m.out);
    heap_free(&m.memory);
    return status;
}
