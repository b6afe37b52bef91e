/* config.json of a model: its class, and a field for each key that one gives.
 *
 *     keys    model_keys.c     the keys as an object; expressions are about it
 *     made                     fields, by the tables of gufo convert read backwards
 *             known_ropes.c    what only tensors know: factors of rotary positions
 *             labels           lists that are objects in config.json */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/configuration/rules.h"
#include "import/architectures/inverse/inverse.h"
#include "import/typed_value.h"
#include "schema/registry/pattern.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields from keys ------------------------------------------------------------------------ */

/* The rows of the table convert_keys, read backwards.
 *
 *     attention.head_count  u32  num_attention_heads|n_head|n_heads?
 *
 * says that a field becomes a key, so the key becomes the field: of several names the first, or the one
 * that a row "export" without a value names; of two such names the one of the later row, which knows the
 * architecture better.  Values that are computed have rows "export" of their own, whose expressions are
 * about keys.  What the rows do not give is found by converting the result (export/metadata.c), so none of
 * them has to be complete. */

/* The two sides that expressions of the tables see while fields are made. */
typedef struct export_fields {
    const model_config *keys; /* its fields are the keys (model_keys) */
    const model_config *made; /* its fields are those that are made so far */
} export_fields;

typedef struct walk walk;
typedef gufo_status row_action(const walk *w, const rule *row, gufo_error *error);

struct walk {
    const export_fields *f;
    row_action *action;
    json_t *preferred; /* names, and which one of several counts more */
    json_int_t *rank;  /* of the last one */
};

static bool is_phase(const rule *row, const char *phase)
{
    return strcmp(row->phase, phase) == 0;
}

static bool is_key(const rule *row)
{
    return is_phase(row, "params") || is_phase(row, "tensors");
}

static bool is_edit(const rule *row)
{
    return is_phase(row, "export");
}

/* ---- walking --------------------------------------------------------------------------------- */

static gufo_status walk_group(const walk *w, const char *group, unsigned depth, gufo_error *error);

/* Conditions of the way there are about fields, those of the way back about keys.  Where keys do not
 * have the kind that a condition is about, it does not hold. */
static gufo_status holds(const walk *w, const rule *row, bool *out, gufo_error *error)
{
    const model_config *config = is_edit(row) ? w->f->keys : w->f->made;
    const expression_scope scope = {.config = config, .fields = config->fields};
    gufo_status status = expression_holds(&scope, row->condition, out, NULL);

    return status == GUFO_E_MEMORY ? fail_memory(error) : GUFO_OK;
}

static gufo_status walk_row(const walk *w, const rule *row, unsigned depth, gufo_error *error)
{
    bool includes = row->key[0] == '@', wanted = true;
    gufo_status status = GUFO_OK;
    size_t count;

    if (!is_key(row) && !is_edit(row))
        return GUFO_OK;
    if (includes && rules_included(row->key, &count) == NULL)
        return GUFO_OK;
    if (includes || is_edit(row))
        status = holds(w, row, &wanted, error);
    if (status != GUFO_OK || !wanted)
        return status;
    return includes ? walk_group(w, row->key, depth + 1, error) : w->action(w, row, error);
}

static gufo_status walk_group(const walk *w, const char *group, unsigned depth, gufo_error *error)
{
    size_t count;
    const rule *rows = rules_included(group, &count);
    gufo_status status = GUFO_OK;

    if (depth > RULES_MAX_DEPTH)
        return refuse(error, GUFO_E_ARGUMENT, "rules include one another");
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = walk_row(w, &rows[i], depth, error);
    return status;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Where a field of the language is in config.json.  The names of blocks come first that most have. */
static const struct place_row {
    const char *name, *place;
} places[] = {
    {"blocks", "num_hidden_layers|n_layer|n_layers|num_layers"},
    {"rope.rope_theta", "rope_theta"},
    {"ropes.rope_theta", "rope_theta"},
    {"swa.rope_theta", "rope_local_base_freq"},
    {"ropes.partial_rotary_factor", "partial_rotary_factor"},
    {"rope.partial_rotary_factor", "partial_rotary_factor"},
};

/* Beginnings of paths. */
static const struct place_row objects[] = {
    {"rope.", "rope_scaling."}, {"ropes.", "rope_scaling."}, {"raw.", ""}};

static bool is_of_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '.';
}

/* The list of names that an expression is, without what is around it: "nonzero(NAME)", "else(NAMES, 4)"; an
 * empty text: it computes something. */
static gufo_str names_of(const char *expression)
{
    static const char *const forms[] = {"nonzero(", "else("};
    gufo_str text = gufo_str_of(expression);
    size_t end = 0;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (str_begins(text, forms[i]))
            text = str_from(text, strlen(forms[i]));
    while (end < text.len && (is_of_name(text.data[end]) || text.data[end] == '|'))
        end++;
    for (size_t i = end; i < text.len; i++) /* a default may follow: "?, 1e-5)" */
        if (strchr("?,) -.", text.data[i]) == NULL && !is_digit(text.data[i]) &&
            text.data[i] != 'e')
            return (gufo_str){"", 0};
    text.len = end;
    return end > 0 && (is_letter(text.data[0]) || text.data[0] == '_') ? text : (gufo_str){"", 0};
}

static json_int_t rank_of(const walk *w, gufo_str name)
{
    return json_integer_value(json_object_getn(w->preferred, name.data, name.len));
}

/* The name of a list that counts most. */
static gufo_str choose(const walk *w, const char *names, size_t len)
{
    static const char words[] = "true false null ftype pooling is_mistral";
    gufo_str chosen = {"", 0};

    while (len > 0) {
        const char *bar = memchr(names, '|', len);
        gufo_str name = {names, bar != NULL ? (size_t)(bar - names) : len};
        bool is_field = name.len > 0 && !is_digit(name.data[0]) && !str_is_word(name, words);

        if (is_field && (chosen.len == 0 || rank_of(w, name) > rank_of(w, chosen)))
            chosen = name;
        names += name.len;
        len -= name.len;
        if (bar != NULL) {
            names++;
            len--;
        }
    }
    return chosen;
}

static gufo_str find_place(const walk *w, gufo_str name)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (gufo_str_equal(name, gufo_str_of(places[i].name)))
            return choose(w, places[i].place, strlen(places[i].place));
    return name;
}

/* Sets a field, in its place. */
static gufo_status set_field(const walk *w, gufo_str name, json_t *value, gufo_error *error)
{
    char path[GUFO_KEY_NAME_SIZE];
    gufo_str place = find_place(w, name);
    const char *front = "";

    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (str_begins(place, objects[i].name)) {
            front = objects[i].place;
            place = str_from(place, strlen(objects[i].name));
            break;
        }
    if (strlen(front) + place.len >= sizeof path) {
        json_decref(value);
        return GUFO_OK;
    }
    memcpy(path, front, strlen(front));
    memcpy(path + strlen(front), place.data, place.len);
    place = (gufo_str){path, strlen(front) + place.len};
    return set_at_path(w->f->made->fields, place, value) ? GUFO_OK : fail_memory(error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gufo_status note_preferred(const walk *w, const rule *row, gufo_error *error)
{
    if (!is_edit(row) || row->value[0] != '\0')
        return GUFO_OK;
    return json_object_set_new(w->preferred, row->key, json_integer(++*w->rank)) == 0
               ? GUFO_OK
               : fail_memory(error);
}

/* The value of an expression over keys as a field.  Computed reals are those of a float32, like all
 * others; what is too large for one is null. */
static json_t *field_of(const term *value)
{
    if (value->kind != TERM_REAL)
        return term_to_json(value);
    return fabs(value->real) <= (double)FLT_MAX ? json_real(shortest_real((float)value->real))
                                                : json_null();
}

static gufo_status edit(const walk *w, const rule *row, gufo_error *error)
{
    const expression_scope scope = {.config = w->f->keys, .fields = w->f->keys->fields};
    expression_result result = {.made = NULL};
    gufo_status status = expression_evaluate(&scope, row->value, &result, NULL);

    if (status == GUFO_E_MEMORY)
        status = fail_memory(error);
    else if (status != GUFO_OK) /* keys of strangers: conversion shows what is missing */
        status = GUFO_OK;
    else if (result.value.kind == TERM_NULL && strchr(row->key, '.') == NULL)
        (void)json_object_del(w->f->made->fields, row->key);
    else if (result.value.kind != TERM_ABSENT)
        status = set_field(w, gufo_str_of(row->key), field_of(&result.value), error);
    expression_result_free(&result);
    return status;
}

static gufo_status set_fields(const walk *w, const rule *row, gufo_error *error)
{
    gufo_str names = names_of(row->value);
    const expression_scope scope = {.config = w->f->keys, .fields = w->f->keys->fields};
    expression_element none = {.is_there = false};
    term value;
    gufo_status status;

    if (is_edit(row))
        return row->value[0] != '\0' ? edit(w, row, error) : GUFO_OK;
    if (names.len == 0)
        return GUFO_OK;
    status = scope_find(&scope, &none, gufo_str_of(row->key), &value, error);
    names = choose(w, names.data, names.len);
    if (status != GUFO_OK || !term_has_value(&value) || value.kind == TERM_OBJECT || names.len == 0)
        return status;
    return set_field(w, names, field_of(&value), error);
}

static gufo_status walk_all(walk *w, row_action *action, gufo_error *error)
{
    gufo_status status;

    w->action = action;
    status = walk_group(w, w->f->keys->architecture, 0, error);
    return status == GUFO_OK ? walk_group(w, "@export", 0, error) : status;
}

/* Sets the fields that the rows of the table convert_keys give, read backwards: the keys of the
 * architecture, and rows "export".  GUFO_E_MEMORY, GUFO_E_LIMIT. */
static gufo_status fields_from_keys(const export_fields *f, gufo_error *error)
{
    json_int_t rank = 0;
    walk w = {.f = f, .preferred = json_object(), .rank = &rank};
    gufo_status status = w.preferred != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = walk_all(&w, note_preferred, error);
    if (status == GUFO_OK)
        status = walk_all(&w, set_fields, error);
    json_decref(w.preferred);
    return status;
}

/* ---- the class ------------------------------------------------------------------------------- */

typedef struct config_making {
    const gufo_model *model;
    model_config keys, made;
    char *architecture;
} config_making;

/* Sorted by architecture. */
static const export_class classes[] = {
#define ROW(architecture, name, model_type, condition, note) \
    {architecture, name, model_type, condition},
#include "registry/export_classes.inc"
#undef ROW
};

const export_class *export_class_at(size_t index)
{
    return row_at(ROWS(classes), index);
}

const export_class *export_classes(const char *architecture, size_t *count)
{
    return row_find_all(ROWS(classes), architecture, count);
}

static gufo_status find_class(const config_making *c, const export_class **out, gufo_error *error)
{
    const expression_scope scope = {.config = &c->keys, .fields = c->keys.fields};
    size_t count;
    const export_class *rows = export_classes(c->architecture, &count);
    gufo_status status = GUFO_OK;
    bool holds = false;

    for (size_t i = 0; i < count && !holds && status == GUFO_OK; i++) {
        if (expression_holds(&scope, rows[i].condition, &holds, NULL) == GUFO_E_MEMORY)
            status = fail_memory(error);
        *out = &rows[i];
    }
    if (status != GUFO_OK || holds)
        return status;
    return refuse(error, GUFO_E_TYPE, "no class of the frameworks is known for the architecture %s",
                  QUOTED(gufo_str_of(c->architecture)));
}

static gufo_status set_class(config_making *c, gufo_error *error)
{
    const export_class *row = NULL;
    gufo_status status = find_class(c, &row, error);
    json_t *fields = c->made.fields;

    if (status != GUFO_OK)
        return status;
    c->keys.class_name = c->made.class_name = (char *)row->name; /* of a table */
    return json_object_set_new(fields, "architectures", json_pack("[s]", row->name)) == 0 &&
                   json_object_set_new(fields, "model_type", json_string(row->model_type)) == 0
               ? GUFO_OK
               : fail_memory(error);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* id2label: readers sort its keys as texts ("10" before "2"), so that order has the labels. */
static bool set_labels(json_t *fields, const json_t *labels)
{
    enum { MOST_LABELS = 4096, DIGITS = 16 };
    size_t count = json_array_size(labels);
    char(*numbers)[DIGITS] = malloc((count + 1) * sizeof *numbers);
    const char **sorted = malloc((count + 1) * sizeof *sorted);
    json_t *map = json_object();
    bool done = numbers != NULL && sorted != NULL && map != NULL && count <= MOST_LABELS;

    for (size_t i = 0; done && i < count; i++) {
        (void)snprintf(numbers[i], DIGITS, "%u", (unsigned)i);
        sorted[i] = numbers[i];
    }
    if (done)
        qsort(sorted, count, sizeof *sorted, compare_texts);
    for (size_t i = 0; done && i < count; i++)
        done = json_object_set(map, sorted[i], json_array_get(labels, i)) == 0;
    free(numbers);
    free(sorted);
    if (done)
        return json_object_set_new(fields, "id2label", map) == 0;
    json_decref(map);
    return count > MOST_LABELS;
}

static gufo_status add_labels(const config_making *c, gufo_error *error)
{
    const json_t *labels =
        json_object_get(json_object_get(c->keys.fields, "classifier"), "output_labels");

    return !json_is_array(labels) || set_labels(c->made.fields, labels) ? GUFO_OK
                                                                        : fail_memory(error);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static gufo_status begin(config_making *c, gufo_error *error)
{
    static const memory_files nothing = {NULL, 0};
    gufo_str name = model_text(c->model, "general.architecture");
    const model_config empty = {
        .allocator = &default_allocator, .folder = source_folder_memory(&nothing), .is_made = true};
    json_t *ropes;

    c->architecture = mem_text(&default_allocator, name);
    if (c->architecture == NULL)
        return fail_memory(error);
    if (name.len == 0 || strlen(c->architecture) != name.len || !rules_know(c->architecture))
        return refuse(error, GUFO_E_TYPE, "no rules for the architecture %s", QUOTED(name));
    c->keys = c->made = empty;
    c->keys.architecture = c->made.architecture = c->architecture;
    c->keys.class_name = c->made.class_name = (char *)"";
    c->keys.fields = c->keys.raw = model_keys(c->model, name);
    c->made.fields = c->made.raw = json_object();
    c->made.ropes = json_object();
    /* The paths of keys and those of the language begin alike. */
    ropes = json_object_get(c->keys.fields, "rope");
    c->keys.ropes = json_is_object(ropes) ? json_incref(ropes) : json_object();
    return c->keys.fields != NULL && c->made.fields != NULL && c->keys.ropes != NULL &&
                   c->made.ropes != NULL
               ? GUFO_OK
               : fail_memory(error);
}

static void end(config_making *c)
{
    json_decref(c->keys.fields);
    json_decref(c->keys.ropes);
    json_decref(c->made.fields);
    json_decref(c->made.ropes);
    mem_free(&default_allocator, c->architecture);
}

gufo_status inverse_config(const gufo_model *model, const inverse_warner *warner, json_t **out,
                           gufo_error *error)
{
    config_making c = {.model = model};
    const export_fields fields = {&c.keys, &c.made};
    gufo_status status = begin(&c, error);

    *out = NULL;
    if (status == GUFO_OK)
        status = set_class(&c, error);
    if (status == GUFO_OK)
        status = fields_from_keys(&fields, error);
    if (status == GUFO_OK)
        status = known_ropes(model, c.architecture, c.keys.fields, c.made.fields, warner, error);
    if (status == GUFO_OK)
        status = add_labels(&c, error);
    if (status == GUFO_OK)
        *out = json_incref(c.made.fields);
    end(&c);
    return status;
}
