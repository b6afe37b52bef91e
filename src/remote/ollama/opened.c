/* A model of the store: its layers, their bytes as files, and its settings as JSON. */
#include "gufo/ollama.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/files/output.h"
#include "base/memory.h"
#include "base/pull.h"
#include "remote/ollama/moving.h"
#include "remote/ollama/store.h"

enum { MOST_TEXT = 16 << 20 };

struct gufo_ollama {
    gufo_allocator allocator; /* the first member: mem_object */
    char *root;
    gufo_text name; /* as people write it */
    ollama_manifest manifest;
};

static ollama_store store_of(const gufo_ollama *ollama)
{
    return (ollama_store){ollama->root, &ollama->allocator};
}

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status fill(gufo_ollama *o, const char *store, const char *text, gufo_error *error)
{
    ollama_name name;
    gufo_status status = ollama_name_read(gufo_str_of(text), &name, error);

    if (status != GUFO_OK)
        return status;
    o->root = mem_text(&o->allocator, gufo_str_of(store));
    o->name.allocator = &o->allocator;
    if (o->root == NULL || !ollama_name_text(&name, &o->name))
        return fail_memory(error);
    return ollama_store_manifest(&(ollama_store){o->root, &o->allocator}, &name, &o->manifest,
                                 error);
}

gufo_ollama *gufo_ollama_open(const char *store, const char *name,
                              const gufo_ollama_open_options *options, gufo_error *error)
{
    gufo_ollama *o;

    if (options != NULL &&
        reserved_check(options->reserved, "gufo_ollama_open_options", error) != GUFO_OK)
        return NULL;
    if (store == NULL || name == NULL) {
        (void)refuse(error, GUFO_E_ARGUMENT, "the folder of the store, or a name, is missing");
        return NULL;
    }
    o = mem_object(options != NULL ? options->allocator : NULL, sizeof *o, error);
    if (o == NULL || fill(o, store, name, error) == GUFO_OK)
        return o;
    gufo_ollama_free(o);
    return NULL;
}

void gufo_ollama_free(gufo_ollama *ollama)
{
    gufo_allocator allocator;

    if (ollama == NULL)
        return;
    allocator = ollama->allocator;
    ollama_manifest_free(&ollama->manifest);
    gufo_text_free(&ollama->name);
    mem_free(&allocator, ollama->root);
    mem_free(&allocator, ollama);
}

bool gufo_ollama_layer_at(const gufo_ollama *ollama, size_t index, gufo_ollama_layer *out)
{
    const ollama_layer *layer;

    if (index >= ollama->manifest.count)
        return false;
    layer = &ollama->manifest.layers[index];
    *out =
        (gufo_ollama_layer){.role = ollama_layer_word(layer->kind),
                            .is_gguf = layer->kind <= OLLAMA_ADAPTER || layer->kind == OLLAMA_DRAFT,
                            .type = layer->type,
                            .digest = gufo_str_of(layer->hex),
                            .size = layer->size};
    return true;
}

static const ollama_layer *layer_of(const gufo_ollama *ollama, size_t index, gufo_error *error)
{
    if (index < ollama->manifest.count)
        return &ollama->manifest.layers[index];
    (void)refuse(error, GUFO_E_RANGE, "the manifest has %s layers",
                 GROUPED(ollama->manifest.count));
    return NULL;
}

gufo_status gufo_ollama_blob_path(const gufo_ollama *ollama, size_t index, gufo_text *out,
                                  gufo_error *error)
{
    const ollama_layer *layer = layer_of(ollama, index, error);
    ollama_store store = store_of(ollama);
    char *path;
    bool good;

    if (layer == NULL)
        return GUFO_E_RANGE;
    path = ollama_blob_path(&store, layer->hex);
    good = path != NULL && text_add(out, path, strlen(path) + 1);
    if (good)
        out->len--;
    mem_free(&ollama->allocator, path);
    return good ? GUFO_OK : fail_memory(error);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Gives the blob a second name that nothing has, and then that of the target. */
static gufo_status link_over(const char *blob, const char *target, const gufo_allocator *allocator,
                             gufo_error *error)
{
    char name[TEMPORARY_NAME];
    char *temporary;
    int failure;

    temporary_name(name);
    temporary = mem_join(allocator, (gufo_str){target, folder_len(target)}, gufo_str_of(name));
    if (temporary == NULL)
        return fail_memory(error);
    failure = disk_link(blob, temporary) == 0 ? 0 : errno;
    if (failure == 0) {
        failure = disk_rename(temporary, target) == 0 ? 0 : errno;
        (void)disk_unlink(temporary); /* of a target that is the blob already, it stays */
    }
    mem_free(allocator, temporary);
    return failure == 0 ? GUFO_OK : fail_io(error, failure, "cannot link the blob");
}

/* A link that is a blob would get a second name, and not the file that it leads to. */
static gufo_status check_blob(const char *blob, gufo_error *error)
{
    struct stat info;

    if (lstat(blob, &info) != 0)
        return fail_io(error, errno, "cannot examine the blob");
    return S_ISREG(info.st_mode)
               ? GUFO_OK
               : refuse(error, GUFO_E_ARGUMENT, "the blob is a symlink, which is not linked");
}

static gufo_status link_blob(const char *blob, const char *path, bool replace,
                             const gufo_allocator *allocator, gufo_error *error)
{
    output target;
    gufo_status status = output_find(&target, path, replace, NULL, allocator, error);

    if (status == GUFO_OK && target.exists)
        status = link_over(blob, target.target, allocator, error);
    else if (status == GUFO_OK && disk_link(blob, target.target) != 0)
        status = errno == EEXIST ? refuse(error, GUFO_E_EXISTS, "target exists already")
                                 : fail_io(error, errno, "cannot link the blob");
    if (status == GUFO_OK)
        status = folder_sync_names(target.target, error);
    output_discard(&target);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, 0, path);
    return status;
}

static gufo_status save(const gufo_ollama *ollama, const ollama_layer *layer, const char *path,
                        uint32_t flags, const gufo_run *run, gufo_error *error)
{
    const bool replace = (flags & GUFO_OLLAMA_REPLACE) != 0;
    ollama_store store = store_of(ollama);
    char *blob = ollama_blob_path(&store, layer->hex);
    ollama_progress progress = {.run = run, .total = layer->size};
    char hex[OLLAMA_HEX + 1];
    source from = {.fd = -1};
    gufo_status status =
        blob != NULL ? ollama_store_open(&store, layer, &from, error) : fail_memory(error);

    if (status == GUFO_OK && (flags & GUFO_OLLAMA_LINK) != 0) {
        status = check_blob(blob, error);
        if (status == GUFO_OK)
            status = link_blob(blob, path, replace, &ollama->allocator, error);
    } else if (status == GUFO_OK)
        status = ollama_move(&from, path, replace, layer->hex, hex, &progress, &ollama->allocator,
                             error);
    if (status != GUFO_OK && status != GUFO_E_STOPPED)
        fail_in(error, GUFO_FILE_INPUT, 0, blob);
    source_close(&from);
    mem_free(&ollama->allocator, blob);
    return status;
}

gufo_status gufo_ollama_save(const gufo_ollama *ollama, size_t index, const char *path,
                             const gufo_ollama_save_options *options, const gufo_run *run,
                             gufo_error *error)
{
    static const gufo_ollama_save_options none = {0};
    const gufo_ollama_save_options *o = options != NULL ? options : &none;
    const ollama_layer *layer = layer_of(ollama, index, error);
    gufo_status status = layer != NULL
                             ? flags_check(o->flags, GUFO_OLLAMA_REPLACE | GUFO_OLLAMA_LINK,
                                           "gufo_ollama_save_options", error)
                             : GUFO_E_RANGE;

    if (status == GUFO_OK)
        status = reserved_check(o->reserved, "gufo_ollama_save_options", error);
    return status == GUFO_OK ? save(ollama, layer, path, o->flags, run, error) : status;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* What becomes of a kind of layers. */
typedef struct setting_row {
    ollama_layer_kind kind;
    const char *name;
    bool is_json, is_list;
} setting_row;

static const setting_row settings[] = {
    {OLLAMA_TEMPLATE, "template", false, false}, {OLLAMA_PROMPT, "prompt", false, false},
    {OLLAMA_SYSTEM, "system", false, false},     {OLLAMA_PARAMS, "params", true, false},
    {OLLAMA_MESSAGES, "messages", true, false},  {OLLAMA_LICENSE, "licenses", false, true},
};

static bool add(gufo_text *out, const char *text)
{
    return text_add(out, text, strlen(text));
}

/* Appends a value of JSON without white space, whose strings are escaped for a terminal.  Its text is used up. */
static gufo_status add_json(gufo_text *text, gufo_text *out, gufo_error *error)
{
    pull check = {.text = text->data, .len = text->len, .error = error};
    gufo_text strings = {.allocator = text->allocator};
    bool good = text_reserve(&strings, text->len);

    check.decoded = strings.data;
    if (good && pull_skip(&check, NULL))
        (void)pull_end(&check);
    check.at = check.decoded_len = 0;
    while (good && check.status == GUFO_OK && pull_peek(&check) != '\0') {
        gufo_str part = {check.text + check.at, 1};

        if (pull_peek(&check) == '"' && pull_string(&check, &part))
            good = ollama_json_string(part, out);
        else if (check.status == GUFO_OK)
            good = text_add(out, part.data, part.len) && (check.at++, true);
    }
    gufo_text_free(&strings);
    return good ? check.status : fail_memory(error);
}

static gufo_status add_value(const gufo_ollama *ollama, const ollama_layer *layer, bool is_json,
                             gufo_text *out, gufo_error *error)
{
    ollama_store store = store_of(ollama);
    gufo_text text = {.allocator = &ollama->allocator};
    gufo_status status = ollama_store_text(&store, layer, MOST_TEXT, &text, error);
    char *path;

    if (status == GUFO_OK && is_json)
        status = add_json(&text, out, error);
    else if (status == GUFO_OK && !ollama_json_string((gufo_str){text.data, text.len}, out))
        status = fail_memory(error);
    gufo_text_free(&text);
    if (status == GUFO_OK)
        return status;
    path = ollama_blob_path(&store, layer->hex);
    fail_in(error, GUFO_FILE_INPUT, 0, path);
    mem_free(&ollama->allocator, path);
    return status;
}

static gufo_status add_setting(const gufo_ollama *ollama, const setting_row *row, gufo_text *out,
                               gufo_error *error)
{
    const ollama_manifest *m = &ollama->manifest;
    gufo_status status = GUFO_OK;
    size_t found = 0;
    bool good = true;

    for (size_t i = 0; i < m->count && status == GUFO_OK && good; i++) {
        if (m->layers[i].kind != row->kind || (found > 0 && !row->is_list))
            continue;
        good = found > 0 ? add(out, ",")
                         : add(out, ",\"") && add(out, row->name) &&
                               add(out, row->is_list ? "\":[" : "\":");
        if (good)
            status = add_value(ollama, &m->layers[i], row->is_json, out, error);
        found++;
    }
    good = good && (found == 0 || !row->is_list || add(out, "]"));
    return good ? status : fail_memory(error);
}

/* A small manifest could name the same large blob often. */
static gufo_status check_sizes(const ollama_manifest *m, gufo_error *error)
{
    uint64_t total = m->config.hex[0] != '\0' ? m->config.size : 0;

    for (size_t i = 0; i < m->count; i++)
        for (size_t row = 0; row < sizeof settings / sizeof *settings; row++)
            if (m->layers[i].kind == settings[row].kind)
                total = capped_add(total, m->layers[i].size);
    return total <= MOST_TEXT
               ? GUFO_OK
               : refuse(error, GUFO_E_LIMIT, "its settings have %s bytes, more than %s",
                        GROUPED(total), GROUPED(MOST_TEXT));
}

gufo_status gufo_ollama_settings(const gufo_ollama *ollama, gufo_text *out, gufo_error *error)
{
    const ollama_layer *config = &ollama->manifest.config;
    gufo_status status = check_sizes(&ollama->manifest, error);

    if (status == GUFO_OK &&
        !(add(out, "{\"name\":") &&
          ollama_json_string((gufo_str){ollama->name.data, ollama->name.len}, out)))
        status = fail_memory(error);

    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == GUFO_OK; i++)
        status = add_setting(ollama, &settings[i], out, error);
    if (status == GUFO_OK && config->hex[0] != '\0') {
        status = add(out, ",\"config\":") ? GUFO_OK : fail_memory(error);
        if (status == GUFO_OK)
            status = add_value(ollama, config, true, out, error);
    }
    return status == GUFO_OK && !add(out, "}\n") ? fail_memory(error) : status;
}
