/* Vocabularies of model folders in tests: a folder, what its files say, the document they become. */
#ifndef TEST_IMPORT_TOKENIZERS_FOLDER_H
#define TEST_IMPORT_TOKENIZERS_FOLDER_H

#include "../support/folder.h"

#include <jansson.h>

#include "base/memory.h"
#include "import/tokenizers/tokenizers.h"
#include "place.h"

typedef struct vocabulary_folder {
    char path[512];
    model_config config;
    struct gufo_import import;
    gufo_error error;
} vocabulary_folder;

static inline json_t *load_json(const char *place, const char *name)
{
    path_text path = path_join(place, name);

    return json_load_file(path.text, 0, NULL);
}

static inline void open_vocabulary(vocabulary_folder *f, const char *path, const char *architecture)
{
    *f = (vocabulary_folder){.config = {.architecture = (char *)architecture, .class_name = ""}};
    (void)snprintf(f->path, sizeof f->path, "%s", path);
    f->config.allocator = &default_allocator;
    f->config.folder = *FOLDER_AT(f->path);
    f->config.raw = load_json(path, "config.json");
    if (f->config.raw == NULL)
        f->config.raw = json_object();
    f->config.fields = json_deep_copy(f->config.raw);
    json_object_update(f->config.fields, json_object_get(f->config.raw, "text_config"));
    f->config.tokenizer = load_json(path, "tokenizer_config.json");
    f->import.allocator = default_allocator;
    f->import.document = gufo_document_new(NULL, &f->error);
    check(f->import.document != NULL, "%s", f->error.message);
}

static inline gufo_status read_vocabulary_folder(vocabulary_folder *f, const char *readers)
{
    tokenizer_request request = {.config = &f->config, .readers = readers};

    f->error = no_error();
    return tokenizers_write(&f->import, &request, &f->error);
}

static inline void close_vocabulary(vocabulary_folder *f)
{
    json_decref(f->config.raw);
    json_decref(f->config.fields);
    json_decref(f->config.tokenizer);
    gufo_document_free(f->import.document);
    for (uint64_t i = 0; i < f->import.warning_count; i++)
        mem_free(&default_allocator, f->import.warnings[i]);
    mem_free(&default_allocator, f->import.warnings);
}

#endif
