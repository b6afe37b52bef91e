/* config.json of a model: its class, and a field for each key that one gives.
 *
 *     keys    model_keys.c     the keys as an object; expressions are about it
 *     made    fields.c         fields, by the tables of gufo convert read backwards
 *             known_ropes.c    what only tensors know: factors of rotary positions
 *             labels           lists that are objects in config.json */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/inverse/inverse.h"
#include "import/architectures/inverse/model_keys.h"
#include "import/architectures/configuration/rules.h"
#include "schema/registry/pattern.h"

typedef struct config_making {
    const gufo_model *model;
    model_config keys, made;
    char *architecture;
} config_making;

/* ---- the class ------------------------------------------------------------------------------- */

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
