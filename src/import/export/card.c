/* README.md: what general.* says, as other programs read it.  gguf-metadata.json has it all, and counts
 * for gufo convert. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/export/parts.h"
#include "import/export/tokens.h"

#define HUB "https://huggingface.co/"

typedef struct writing {
    const gufo_model *model;
    buffer out;
    bool lost; /* memory */
} writing;

static void put_text(writing *w, const char *text)
{
    w->lost |= !buffer_append(&w->out, text, strlen(text));
}

/* A scalar in double quotes, which YAML takes from JSON. */
static void put_scalar(writing *w, gufo_str text)
{
    json_t *json = json_stringn(text.data, text.len);
    char *quoted = json != NULL ? json_dumps(json, JSON_ENCODE_ANY) : NULL;

    put_text(w, quoted != NULL ? quoted : "\"\""); /* not UTF-8 */
    free(quoted);
    json_decref(json);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_field(writing *w, const char *field, const char *key)
{
    gufo_str text = model_text(w->model, key);

    if (text.len == 0)
        return;
    put_text(w, field);
    put_text(w, ": ");
    put_scalar(w, text);
    put_text(w, "\n");
}

static void put_list(writing *w, const char *field, const char *key)
{
    gufo_array_iter iter;
    gufo_array array;
    gufo_value value;

    if (gufo_key_array(w->model, key, GUFO_VALUE_STRING, &array, NULL) != GUFO_OK ||
        array.count == 0)
        return;
    put_text(w, field);
    put_text(w, ":\n");
    for (iter = gufo_array_start(&array); gufo_array_next(&iter, &value);) {
        put_text(w, "- ");
        put_scalar(w, value.as.str);
        put_text(w, "\n");
    }
}

/* The repository of a parent or data set, or its name. */
static gufo_str parent_of(const gufo_model *model, const char *group, uint64_t index)
{
    char key[GUFO_KEY_NAME_SIZE];
    gufo_str text;

    (void)snprintf(key, sizeof key, "%s.%" PRIu64 ".repo_url", group, index);
    text = model_text(model, key);
    if (str_begins(text, HUB))
        return str_from(text, strlen(HUB));
    if (text.len > 0)
        return text;
    (void)snprintf(key, sizeof key, "%s.%" PRIu64 ".name", group, index);
    return model_text(model, key);
}

static void put_parents(writing *w, const char *field, const char *group)
{
    enum { MOST_PARENTS = 256 };
    char key[GUFO_KEY_NAME_SIZE];
    uint64_t count = 0;

    (void)snprintf(key, sizeof key, "%s.count", group);
    if (gufo_key_u64(w->model, key, &count, NULL) != GUFO_OK || count == 0)
        return;
    put_text(w, field);
    put_text(w, ":\n");
    for (uint64_t i = 0; i < count && i < MOST_PARENTS; i++) {
        put_text(w, "- ");
        put_scalar(w, parent_of(w->model, group, i));
        put_text(w, "\n");
    }
}

/* ---- the card -------------------------------------------------------------------------------- */

static void put_card(writing *w)
{
    static const char *const fields[][2] = {{"license", "general.license"},
                                            {"license_name", "general.license.name"},
                                            {"license_link", "general.license.link"}};
    gufo_str name = model_text(w->model, "general.name");

    put_text(w, "---\nlibrary_name: transformers\n");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put_field(w, fields[i][0], fields[i][1]);
    put_list(w, "language", "general.languages");
    put_list(w, "tags", "general.tags");
    put_parents(w, "base_model", "general.base_model");
    put_parents(w, "datasets", "general.dataset");
    put_text(w, "---\n\n");
    if (name.len > 0) {
        /* Not a heading: conversion takes what a model is for from those. */
        put_text(w, "Model: ");
        put_scalar(w, name);
        put_text(w, "\n\n");
    }
    put_text(w, "Made from a GGUF file by gufo export, version " GUFO_VERSION_STRING ".\n");
}

gufo_status export_card(const gufo_model *model, export_files *files, gufo_error *error)
{
    writing w = {.model = model, .out = {.allocator = &default_allocator}};

    put_card(&w);
    if (!w.lost)
        return export_add(files, "README.md", &w.out, error);
    buffer_free(&w.out);
    return fail_memory(error);
}
