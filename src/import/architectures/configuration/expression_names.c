/* The names in expressions: fields of the configuration, and those that are not fields: blocks,
 * ftype, pooling ...  A path "a.b" is a field of an object. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/expression.h"

/* ---- objects --------------------------------------------------------------------------------- */

static json_t *fields_of(const expression_scope *s)
{
    return s->fields;
}

static json_t *raw_of(const expression_scope *s)
{
    return s->config->raw;
}

static json_t *tokenizer_of(const expression_scope *s)
{
    return s->config->tokenizer;
}

static json_t *generation_of(const expression_scope *s)
{
    return s->config->generation;
}

static json_t *ropes_of(const expression_scope *s)
{
    return s->config->ropes;
}

static json_t *rope_of(const expression_scope *s)
{
    json_t *full = json_object_get(s->config->ropes, "full_attention");

    return full != NULL ? full : s->config->ropes;
}

static json_t *rope_of_windows(const expression_scope *s)
{
    return json_object_get(s->config->ropes, "sliding_attention");
}

/* What a path may begin with. */
static const struct object_row {
    const char *name;
    json_t *(*get)(const expression_scope *scope);
} objects[] = {
    {"raw", raw_of},     {"tokcfg", tokenizer_of}, {"generation", generation_of},
    {"ropes", ropes_of}, {"rope", rope_of},        {"swa", rope_of_windows},
};

static gufo_str next_part(gufo_str *path)
{
    const char *dot = memchr(path->data, '.', path->len);
    gufo_str part = {path->data, dot != NULL ? (size_t)(dot - path->data) : path->len};

    *path = str_from(*path, dot != NULL ? part.len + 1 : part.len);
    return part;
}

/* ---- fields that are read -------------------------------------------------------------------- */

/* The field that became a parameter of rotary positions; NULL: it is in an object of them. */
static const char *rope_field(const expression_scope *s, const json_t *value)
{
    const char *name;
    json_t *field;

    json_object_foreach(s->config->fields, name, field)
    {
        if (field == value && !json_is_boolean(field) && !json_is_null(field))
            return name;
    }
    return NULL;
}

/* Notes a field as the file has it; `path` is a name of the tables. */
static gufo_status note_field(const expression_scope *s, const char *path, json_t *value,
                              gufo_error *error)
{
    json_t *origins = json_object_get(s->config->origins, path);
    bool noted = origins != NULL ? json_object_update(s->read, origins) == 0
                                 : json_object_set(s->read, path, value) == 0;

    return noted ? GUFO_OK : fail_memory(error);
}

static gufo_status note_rope(const expression_scope *s, gufo_str path, json_t *value,
                             gufo_error *error)
{
    const char *name = rope_field(s, value);
    bool is_new = json_object_get(s->config->fields, "rope_parameters") != NULL;
    char text[160];

    if (name != NULL)
        return note_field(s, name, value, error);
    (void)snprintf(text, sizeof text, "%s.%.*s", is_new ? "rope_parameters" : "rope_scaling",
                   (int)path.len, path.data);
    return note_field(s, text, value, error);
}

/* Those of other files, and of elements of a list, are not the configuration's. */
static gufo_status note_path(const expression_scope *s, gufo_str path, json_t *value,
                             gufo_error *error)
{
    gufo_str rest = path, first = next_part(&rest);
    char text[160];

    if (s->read == NULL || value == NULL || path.len >= sizeof text)
        return GUFO_OK;
    if (rest.len > 0 && str_is_word(first, "x tokcfg generation"))
        return GUFO_OK;
    if (rest.len > 0 && str_is_word(first, "rope ropes swa"))
        return note_rope(s, rest, value, error);
    if (rest.len > 0 && str_is_word(first, "raw"))
        path = rest;
    (void)snprintf(text, sizeof text, "%.*s", (int)path.len, path.data);
    return note_field(s, text, value, error);
}

/* ---- single names ---------------------------------------------------------------------------- */

/* Failures name the field that was found, or all. */
static gufo_status find_blocks(const expression_scope *s, term *out, gufo_error *error)
{
    static const char *const fields[] = {"n_layers", "num_hidden_layers", "n_layer", "num_layers"};
    json_t *found = NULL;
    size_t i;

    for (i = 0; i < sizeof fields / sizeof *fields && found == NULL; i++)
        found = json_object_get(s->fields, fields[i]);
    *out = term_of_json(found);
    out->source = gufo_str_of(found != NULL ? fields[i - 1]
                                            : "n_layers|num_hidden_layers|n_layer|num_layers");
    return found != NULL ? note_path(s, out->source, found, error) : GUFO_OK;
}

static gufo_status find_file_type(const expression_scope *s, term *out, gufo_error *error)
{
    (void)error;
    *out = term_of_integer(s->file_type);
    return GUFO_OK;
}

static gufo_status find_mistral(const expression_scope *s, term *out, gufo_error *error)
{
    (void)error;
    *out = term_of_bool(s->config->is_mistral);
    return GUFO_OK;
}

static gufo_status find_pooling(const expression_scope *s, term *out, gufo_error *error)
{
    uint32_t pooling = 0;
    bool found = false;
    gufo_status status = config_pooling(s->config, &found, &pooling, error);

    *out = found ? term_of_integer(pooling) : (term){.kind = TERM_ABSENT};
    return status;
}

/* Words of the language. */
static const struct word_row {
    const char *name;
    term value;
} words[] = {
    {"true", {.kind = TERM_BOOL, .truth = true}},
    {"false", {.kind = TERM_BOOL, .truth = false}},
    {"null", {.kind = TERM_NULL}},
};

static const struct name_row {
    const char *name;
    gufo_status (*find)(const expression_scope *scope, term *out, gufo_error *error);
} names[] = {
    {"blocks", find_blocks},
    {"ftype", find_file_type},
    {"is_mistral", find_mistral},
    {"pooling", find_pooling},
};

/* ---- paths ----------------------------------------------------------------------------------- */

static json_t *first_object(const expression_scope *s, const expression_element *e, gufo_str *path)
{
    gufo_str rest = *path, first = next_part(&rest);

    if (rest.len > 0 && e->is_there && gufo_str_equal(first, gufo_str_of("x"))) {
        *path = rest;
        return e->value.json;
    }
    for (size_t i = 0; rest.len > 0 && i < sizeof objects / sizeof *objects; i++)
        if (gufo_str_equal(first, gufo_str_of(objects[i].name))) {
            *path = rest;
            return objects[i].get(s);
        }
    return fields_of(s);
}

static gufo_status find_path(const expression_scope *s, const expression_element *e, gufo_str path,
                             term *out, gufo_error *error)
{
    const gufo_str whole = path;
    json_t *json = first_object(s, e, &path);

    while (path.len > 0 && json != NULL) {
        gufo_str part = next_part(&path);

        json = json_object_getn(json, part.data, part.len);
    }
    *out = term_of_json(json);
    return note_path(s, whole, json, error);
}

gufo_status scope_find(const expression_scope *scope, const expression_element *element,
                       gufo_str name, term *out, gufo_error *error)
{
    if (element->is_there && gufo_str_equal(name, gufo_str_of("i"))) {
        *out = term_of_integer(element->index);
        return GUFO_OK;
    }
    if (element->is_there && gufo_str_equal(name, gufo_str_of("x"))) {
        *out = element->value;
        return GUFO_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (gufo_str_equal(name, gufo_str_of(words[i].name))) {
            *out = words[i].value;
            return GUFO_OK;
        }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gufo_str_equal(name, gufo_str_of(names[i].name)))
            return names[i].find(scope, out, error);
    return find_path(scope, element, name, out, error);
}
