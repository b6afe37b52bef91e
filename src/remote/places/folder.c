/* Folders of models elsewhere as a gufo_folder; folder.h has the idea. */
#include "remote/places/folder.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "remote/ranges/ranges.h"
#include "remote/places/services.h"

enum { MOST_INDEX = 64 << 20 };

typedef struct remote_folder {
    gufo_remote *remote;
    place place;
    folder_files files;
    mutex lock;               /* of sources */
    char base[HTTP_URL_SIZE]; /* of a web server, without a slash at its end */
    bool of_web;
} remote_folder;

/* What is asked for where nobody lists files.  Of tensors the first group of which one is there counts. */
static const char *const small_files[] = {
    "config.json",
    "params.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
    "chat_template.jinja",
    "chat_template.json",
    "preprocessor_config.json",
    "processor_config.json",
    "quantize_config.json",
    "quant_config.json",
    "hf_quant_config.json",
    "gguf-metadata.json",
    "README.md",
    "modules.json",
    "1_Pooling/config.json",
    "2_Dense/config.json",
    "tiktoken.model",
    "qwen.tiktoken",
    "rwkv_vocab_v20230424.txt",
    "adapter_config.json",
};

static const struct {
    const char *index, *file;
} tensor_files[] = {
    {"model.safetensors.index.json", "model.safetensors"},
    {"consolidated.safetensors.index.json", "consolidated.safetensors"},
    {"pytorch_model.bin.index.json", "pytorch_model.bin"},
    {NULL, "adapter_model.safetensors"},
    {NULL, "adapter_model.bin"},
};

/* ---- opening a file ------------------------------------------------------------------------- */

static gufo_status open_web(remote_folder *f, folder_file *file, gufo_error *error)
{
    char url[2 * HTTP_URL_SIZE];

    http_answer *answer;
    gufo_status status;

    if (snprintf(url, sizeof url, "%s/%s", f->base, file->name) >= HTTP_URL_SIZE)
        return refuse(error, GUFO_E_LIMIT, "the address is too long");
    answer = mem_zero(&f->remote->allocator, sizeof *answer);
    if (answer == NULL)
        return fail_memory(error);
    status = ranges_open(f->remote, url, &file->source, answer, error);
    if (status != GUFO_OK && (answer->status == 404 || answer->status == 410))
        status = refuse(error, GUFO_E_NOT_FOUND, "the server has no such file");
    mem_free(&f->remote->allocator, answer);
    return status;
}

/* A file of the repository, which may be in a cache of this machine; then it is not in this folder. */
static gufo_status open_listed(remote_folder *f, folder_file *file, gufo_error *error)
{
    const char *folder = f->place.address.path;
    char *path = mem_join(&f->remote->allocator, gufo_str_of(folder), gufo_str_of(file->name));
    place *own = mem_zero(&f->remote->allocator, sizeof *own);
    gufo_status status = path != NULL && own != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = place_beside(f->remote, &f->place, path, own, error);
    if (status == GUFO_OK)
        status = ranges_open(f->remote, own->url, &file->source, NULL, error);
    mem_free(&f->remote->allocator, own);
    mem_free(&f->remote->allocator, path);
    return status;
}

static gufo_status open_once(remote_folder *f, folder_file *file, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    mutex_lock(&f->lock);
    if (!file->opened)
        status = f->of_web ? open_web(f, file, error) : open_listed(f, file, error);
    file->opened = status == GUFO_OK;
    mutex_unlock(&f->lock);
    return status;
}

static gufo_status open_file(void *context, const char *name, gufo_source *out, gufo_error *error)
{
    remote_folder *f = context;

    for (uint64_t i = 0; i < f->files.count; i++) {
        folder_file *file = &f->files.list[i];
        gufo_status status;

        if (strcmp(file->name, name) != 0)
            continue;
        status = open_once(f, file, error);
        if (status != GUFO_OK)
            return status;
        *out = file->source;
        out->close = NULL; /* it is closed with the folder */
        return GUFO_OK;
    }
    return refuse(error, GUFO_E_NOT_FOUND, "the folder has no file %s", QUOTED(gufo_str_of(name)));
}

static const char *name_at(void *context, size_t index)
{
    const remote_folder *f = context;

    return index < f->files.count ? f->files.list[index].name : NULL;
}

/* ---- the files of a web server -------------------------------------------------------------- */

/* Adds a file if the server has it. */
static gufo_status try_file(remote_folder *f, const char *name, bool *found, gufo_error *error)
{
    gufo_error reason = {.code = GUFO_OK};
    gufo_status status = folder_add(&f->files, gufo_str_of(name), error);

    *found = false;
    if (status != GUFO_OK)
        return status;
    status = open_once(f, &f->files.list[f->files.count - 1], &reason);
    *found = status == GUFO_OK;
    if (*found)
        return GUFO_OK;
    f->files.count--;
    mem_free(f->files.allocator, f->files.list[f->files.count].name);
    return status == GUFO_E_NOT_FOUND ? GUFO_OK : fail_as(error, &reason);
}

static gufo_status read_index(remote_folder *f, gufo_error *error)
{
    const gufo_source *s = &f->files.list[f->files.count - 1].source;
    uint8_t *bytes;
    gufo_status status;

    if (s->size > MOST_INDEX)
        return refuse(error, GUFO_E_LIMIT, "the index has %s bytes, more than %s", GROUPED(s->size),
                      GROUPED(MOST_INDEX));
    bytes = mem_alloc(f->files.allocator, (size_t)s->size + 1);
    if (bytes == NULL)
        return fail_memory(error);
    status = s->size > 0 ? s->read(s->context, 0, bytes, (size_t)s->size, error) : GUFO_OK;
    if (status == GUFO_OK)
        status =
            folder_add_index(&f->files, (gufo_str){(const char *)bytes, (size_t)s->size}, error);
    mem_free(f->files.allocator, bytes);
    return status;
}

static gufo_status find_tensors(remote_folder *f, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    bool found = false;

    for (size_t i = 0;
         i < sizeof tensor_files / sizeof *tensor_files && status == GUFO_OK && !found; i++) {
        if (tensor_files[i].index != NULL)
            status = try_file(f, tensor_files[i].index, &found, error);
        if (status == GUFO_OK && found)
            status = read_index(f, error);
        else if (status == GUFO_OK)
            status = try_file(f, tensor_files[i].file, &found, error);
    }
    return status;
}

static gufo_status find_files(remote_folder *f, const char *url, gufo_error *error)
{
    size_t len = strlen(url);
    gufo_status status = GUFO_OK;
    bool found;

    if (strchr(url, '?') != NULL || strchr(url, '#') != NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "an address with a query names a file, and not the folder of a model");
    while (len > 0 && url[len - 1] == '/')
        len--;
    if (len >= sizeof f->base)
        return refuse(error, GUFO_E_LIMIT, "the address is too long");
    memcpy(f->base, url, len);
    f->base[len] = '\0';
    for (size_t i = 0; i < sizeof small_files / sizeof *small_files && status == GUFO_OK; i++)
        status = try_file(f, small_files[i], &found, error);
    if (status == GUFO_OK)
        status = find_tensors(f, error);
    if (status == GUFO_OK && f->files.count == 0)
        status = refuse(error, GUFO_E_NOT_FOUND,
                        "the server has no file of a model in this folder, such as config.json");
    return status;
}

/* ---- the files of a repository --------------------------------------------------------------- */

static gufo_status list_files(remote_folder *f, gufo_error *error)
{
    place_files listed = {.allocator = &f->remote->allocator};
    const size_t before = strlen(f->place.address.path);
    gufo_status status = place_list(f->remote, &f->place, &listed, error);

    for (uint64_t i = 0; i < listed.count && status == GUFO_OK; i++)
        if (strlen(listed.list[i].path) > before)
            status = folder_add(&f->files, gufo_str_of(listed.list[i].path + before), error);
    place_files_free(&listed);
    return status;
}

/* The folder of a repository as the beginning of its paths: "" or "FOLDER/". */
static void end_with_slash(address *a)
{
    size_t len = strlen(a->path);

    if (len > 0 && a->path[len - 1] != '/' && len + 1 < sizeof a->path)
        memcpy(a->path + len, "/", 2);
}

static gufo_status fill(remote_folder *f, const char *text, gufo_error *error)
{
    gufo_status status = place_find(f->remote, text, &f->place, error);

    if (status != GUFO_OK)
        return status;
    f->of_web = f->place.address.service->form == ADDRESS_OF_WEB;
    if (f->of_web)
        return find_files(f, f->place.url, error);
    end_with_slash(&f->place.address);
    return list_files(f, error);
}

/* ---- the folder ----------------------------------------------------------------------------- */

static void close_folder(void *context)
{
    remote_folder *f = context;
    gufo_remote *remote = f->remote;

    for (uint64_t i = 0; i < f->files.count; i++) {
        if (f->files.list[i].opened && f->files.list[i].source.close != NULL)
            f->files.list[i].source.close(f->files.list[i].source.context);
        mem_free(f->files.allocator, f->files.list[i].name);
    }
    mem_free(f->files.allocator, f->files.list);
    mutex_destroy(&f->lock);
    mem_free(&remote->allocator, f);
}

gufo_status gufo_remote_folder(gufo_remote *remote, const char *text, gufo_folder *out,
                               gufo_error *error)
{
    remote_folder *f = mem_zero(&remote->allocator, sizeof *f);
    gufo_status status;

    if (f == NULL)
        return fail_memory(error);
    f->remote = remote;
    f->files.allocator = &remote->allocator;
    mutex_init(&f->lock);
    status = fill(f, text, error);
    if (status != GUFO_OK) {
        close_folder(f);
        return status;
    }
    *out =
        (gufo_folder){.context = f, .name_at = name_at, .open = open_file, .close = close_folder};
    return GUFO_OK;
}
