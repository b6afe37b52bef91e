/* general.* of a made folder: files are written, the import is made by hand, keys are compared. */
#ifndef TEST_IMPORT_GENERAL_CASE_H
#define TEST_IMPORT_GENERAL_CASE_H

#include "../support/check.h"
#include "../support/folder.h"

#include <jansson.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "import/general/general.h"
#include "import/model_folder.h"

typedef struct general_case {
    folder f;
    path_text path; /* of the model's folder, in f */
    gufo_import import;
    model_config config;
    general_request request;
    const char *label; /* that failures show */
} general_case;

static inline json_t *json_of(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

    check(value != NULL, "%s", text);
    return value;
}

/* An import without tensors of the folder at `path`.  The case must not move. */
static inline void case_begin(general_case *c, const char *path)
{
    c->path = path_join(path, "");
    c->path.text[strlen(c->path.text) - 1] = '\0';
    c->import = (gufo_import){.allocator = default_allocator};
    c->import.document = gufo_document_new(NULL, NULL);
    check(c->import.document != NULL, "document");
    c->config = (model_config){.allocator = &default_allocator,
                               .folder = model_folder(gufo_str_of(c->path.text), false),
                               .raw = json_object(),
                               .architecture = "llama"};
    c->request = (general_request){.config = &c->config};
    c->label = "";
}

/* The same of a new folder that is called `name`. */
static inline void case_new(general_case *c, const char *name)
{
    c->f = folder_new();
    c->path = folder_path(&c->f, name);
    check(mkdir(c->path.text, 0777) == 0, "%s", c->path.text);
    case_begin(c, folder_path(&c->f, name).text);
}

static inline void case_file(const general_case *c, const char *name, const char *text)
{
    write_file(path_join(c->path.text, name).text, text, strlen(text));
}

/* A new folder whose card has these lines between its fences. */
static inline void case_card(general_case *c, const char *lines)
{
    static char text[65536];

    case_new(c, "some-model");
    (void)snprintf(text, sizeof text, "---\n%s---\n\n# Title: [not YAML\n", lines);
    case_file(c, "README.md", text);
}

/* Adds an F32 tensor. */
static inline void case_tensor(general_case *c, const char *name, uint32_t n_dims,
                               const uint64_t *dims)
{
    gufo_error error = no_error();

    check_ok(gufo_document_add_tensor(c->import.document, name, gufo_element_type_by_name("F32"),
                                      n_dims, dims, &error),
             &error, "%s", name);
}

static inline void case_write(general_case *c)
{
    gufo_error error = no_error();

    check_ok(general_write(&c->import, &c->request, &error), &error, "%s", c->path.text);
}

/* The texts of a list have "|" between them. */
static inline const char *value_text(const gufo_value *value, char *out, size_t room)
{
    gufo_array_iter iter;
    gufo_value item;

    out[0] = '\0';
    if (value->type == GUFO_VALUE_STRING)
        (void)snprintf(out, room, "%.*s", (int)value->as.str.len, value->as.str.data);
    else if (value->type == GUFO_VALUE_UINT32)
        (void)snprintf(out, room, "u32 %" PRIu64, value->as.u);
    else if (value->type == GUFO_VALUE_INT32 || value->type == GUFO_VALUE_INT64)
        (void)snprintf(out, room, "i%s %" PRId64, value->type == GUFO_VALUE_INT32 ? "32" : "64",
                       value->as.i);
    else if (value->type == GUFO_VALUE_FLOAT32)
        (void)snprintf(out, room, "f32 %.9g", value->as.f);
    else if (value->type == GUFO_VALUE_FLOAT64)
        (void)snprintf(out, room, "f64 %.17g", value->as.f);
    else if (value->type == GUFO_VALUE_BOOL)
        (void)snprintf(out, room, "%s", value->as.b ? "true" : "false");
    else if (value->type == GUFO_VALUE_ARRAY)
        for (iter = gufo_array_start(&value->as.array); gufo_array_next(&iter, &item);) {
            size_t len = strlen(out);

            if (iter.index > 1)
                out[len++] = '|';
            (void)value_text(&item, out + len, room - len);
        }
    return out;
}

/* The value of a key is this; NULL: it is absent. */
static inline void case_key(const general_case *c, const char *key, const char *expected)
{
    static char text[65536];
    gufo_document_entry entry;
    bool found = gufo_document_find(c->import.document, key, &entry);

    check(found == (expected != NULL), "%s: %s: %s", c->label, key,
          found ? value_text(&entry.value, text, sizeof text) : "absent");
    if (found)
        check_str(gufo_str_of(value_text(&entry.value, text, sizeof text)), expected, "%s: %s",
                  c->label, key);
}

/* The only warning has this in it; NULL: none was given. */
static inline void case_warning(const general_case *c, const char *part)
{
    const char *warning = gufo_import_warning_at(&c->import, 0);

    check((warning != NULL) == (part != NULL), "%s: %s", c->label,
          warning != NULL ? warning : "no warning");
    if (part != NULL)
        check(strstr(warning, part) != NULL, "%s: %s", c->label, warning);
    check(gufo_import_warning_at(&c->import, 1) == NULL, "%s",
          gufo_import_warning_at(&c->import, 1));
}

/* Ends what case_begin began. */
static inline void case_end(general_case *c)
{
    gufo_document_free(c->import.document);
    for (uint64_t i = 0; i < c->import.warning_count; i++)
        mem_free(&default_allocator, c->import.warnings[i]);
    mem_free(&default_allocator, c->import.warnings);
    json_decref(c->config.raw);
    json_decref(c->config.generation);
    json_decref(c->request.metadata);
}

static inline void case_free(general_case *c)
{
    case_end(c);
    folder_remove(&c->f);
}

#endif
