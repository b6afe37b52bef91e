/* All files beside the tensors, in the order in which each needs those before it. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "import/architectures/inverse/inverse.h"
#include "import/export/parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* README.md: what general.* says, as other programs read it.  gguf-metadata.json has it all, and counts
 * for gufo convert. */

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

    if (gufo_model_key_array(w->model, key, GUFO_VALUE_STRING, &array, NULL) != GUFO_OK ||
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
    if (gufo_model_key_u64(w->model, key, &count, NULL) != GUFO_OK || count == 0)
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

/* Adds README.md. */
static gufo_status export_card(const gufo_model *model, export_files *files, gufo_error *error)
{
    writing w = {.model = model, .out = {.allocator = &default_allocator}};

    put_card(&w);
    if (!w.lost)
        return export_add(files, "README.md", &w.out, error);
    buffer_free(&w.out);
    return fail_memory(error);
}

/* The type of the largest tensor. */
static uint32_t main_type(const gufo_model *model)
{
    uint64_t largest = 0;
    uint32_t type = GUFO_TYPE_BF16;
    gufo_tensor t;

    for (uint64_t i = 0; gufo_model_tensor_at(model, i, &t); i++)
        if (t.n_dims > 1 && t.elements > largest) {
            largest = t.elements;
            type = t.type;
        }
    return type;
}

/* What the frameworks call a type. */
static const char *dtype_of(uint32_t type)
{
    static const struct {
        uint32_t type;
        const char *name;
    } names[] = {{GUFO_TYPE_F32, "float32"}, {GUFO_TYPE_F16, "float16"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (type == names[i].type)
            return names[i].name;
    return "bfloat16"; /* quantized tensors, too */
}

static gufo_status warn(void *context, const char *sentence, gufo_error *error)
{
    return export_warn(context, error, "%s", sentence);
}

gufo_status export_config(const gufo_model *model, json_t **out, export_files *files,
                          gufo_error *error)
{
    const inverse_warner warner = {warn, files};

    return inverse_config(model, &warner, out, error);
}

static gufo_status add_config(const gufo_model *model, json_t *config, export_files *files,
                              gufo_error *error)
{
    if (json_object_get(config, "torch_dtype") == NULL &&
        json_object_set_new(config, "torch_dtype", json_string(dtype_of(main_type(model)))) != 0)
        return fail_memory(error);
    return export_add_json(files, "config.json", config, error);
}

/* ---- generation_config.json ------------------------------------------------------------------ */

static const struct {
    const char *key, *field;
} samplings[] = {
    {"general.sampling.sequence", "sequence"},
    {"general.sampling.top_k", "top_k"},
    {"general.sampling.top_p", "top_p"},
    {"general.sampling.min_p", "min_p"},
    {"general.sampling.xtc_probability", "xtc_probability"},
    {"general.sampling.xtc_threshold", "xtc_threshold"},
    {"general.sampling.temp", "temperature"},
    {"general.sampling.penalty_last_n", "penalty_last_n"},
    {"general.sampling.penalty_repeat", "penalty_repeat"},
    {"general.sampling.mirostat", "mirostat"},
    {"general.sampling.mirostat_tau", "mirostat_tau"},
    {"general.sampling.mirostat_eta", "mirostat_eta"},
    {"tokenizer.ggml.bos_token_id", "bos_token_id"},
    {"tokenizer.ggml.eos_token_id", "eos_token_id"},
    {"tokenizer.ggml.padding_token_id", "pad_token_id"},
};

static gufo_status add_generation(const gufo_model *model, export_files *files, gufo_error *error)
{
    json_t *fields = json_object();
    gufo_status status = fields != NULL ? GUFO_OK : fail_memory(error);
    gufo_entry entry;

    for (size_t i = 0; status == GUFO_OK && i < sizeof samplings / sizeof *samplings; i++) {
        json_t *value = NULL;

        if (gufo_model_key_entry(model, samplings[i].key, &entry))
            value = model_key_value(&entry.value);
        if (value != NULL && json_object_set_new(fields, samplings[i].field, value) != 0)
            status = fail_memory(error);
    }
    if (status == GUFO_OK && json_object_size(fields) > 0)
        status = export_add_json(files, "generation_config.json", fields, error);
    json_decref(fields);
    return status;
}

gufo_status export_add_files(const gufo_model *model, json_t *config, export_files *files,
                             gufo_error *error)
{
    gufo_status status = add_config(model, config, files, error);

    if (status == GUFO_OK)
        status = add_generation(model, files, error);
    if (status == GUFO_OK)
        status = export_vocabulary(model, files, error);
    if (status == GUFO_OK)
        status = export_card(model, files, error);
    return status == GUFO_OK ? export_metadata(model, main_type(model), files, error) : status;
}
