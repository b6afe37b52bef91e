/* Finding what an address names. */
#include "remote/places/place.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "remote/http/http.h"
#include "remote/http/url.h"
#include "remote/ollama/manifest.h"
#include "remote/places/listing.h"
#include "remote/places/refusal.h"
#include "remote/places/services.h"

/* ---- asking --------------------------------------------------------------------------------- */

static gufo_status write_url(const gufo_remote *remote, const address *a, const char *pattern,
                             const char *digest, char out[HTTP_URL_SIZE], gufo_error *error)
{
    gufo_text url = {.allocator = &remote->allocator};
    gufo_status status = service_url(a, pattern, service_endpoint(a->service, &remote->options),
                                     digest, &url, error);

    if (status == GUFO_OK && url.len >= HTTP_URL_SIZE)
        status = refuse(error, GUFO_E_LIMIT, "the address is too long");
    if (status == GUFO_OK && url.len > 0)
        memcpy(out, url.data, url.len);
    if (status == GUFO_OK)
        out[url.len] = '\0';
    gufo_text_free(&url);
    return status;
}

static gufo_status refuse_offline(const local_answer here, gufo_error *error)
{
    return refuse(
        error, GUFO_E_IO, "%s",
        here == LOCAL_ABSENT
            ? "the repository has no such file, as a cache of this machine says; the "
              "network is not asked (offline)"
            : "it is in no cache of this machine, and the network is not asked (offline)");
}

/* Reads an answer of a service in whole. */
static gufo_status ask(gufo_remote *remote, const address *a, const char *url, uint64_t limit,
                       buffer *out, http_answer *answer, gufo_error *error)
{
    const http_request request = {.url = url, .accept = a->service->list_accepts};
    gufo_status status = http_read(remote, &request, limit, out, answer, error);

    return status == GUFO_OK ? status : refusal_explain(a, &remote->options, answer, error);
}

/* ---- lists ---------------------------------------------------------------------------------- */

enum { MOST_PAGES = 4096 };

/* A list goes on where it begins: another host could be any, and one of a private network, too. */
static gufo_status check_next(const char *url, const http_answer *answer, gufo_error *error)
{
    char whole[HTTP_URL_SIZE];
    url_origin here, there;
    gufo_status status =
        url_read(answer->from.url[0] != '\0' ? answer->from.url : url, whole, &here, error);

    if (status == GUFO_OK)
        status = url_read(answer->next, whole, &there, error);
    if (status == GUFO_OK && strcmp(here.text, there.text) != 0)
        status = refuse(error, GUFO_E_IO,
                        "the list of files goes on at %s, another place, which is not asked",
                        QUOTED(gufo_str_of(there.text)));
    return status;
}

static gufo_status read_page(gufo_remote *remote, const address *a, char url[HTTP_URL_SIZE],
                             place_files *files, gufo_error *error)
{
    buffer text = {.allocator = &remote->allocator};
    char shown[HTTP_URL_SIZE];
    http_answer *answer = mem_zero(&remote->allocator, sizeof *answer);
    gufo_status status = answer != NULL
                             ? ask(remote, a, url, LISTING_MOST_BYTES, &text, answer, error)
                             : fail_memory(error);

    if (status == GUFO_OK) {
        status = listing_read((gufo_str){(const char *)text.data, text.len}, a->service->shape,
                              files, error);
        if (status == GUFO_OK && answer->next[0] != '\0')
            status = check_next(url, answer, error);
        if (status != GUFO_OK)
            fail_in(error, GUFO_FILE_INPUT, 0, url_shown(url, shown));
    }
    if (status == GUFO_OK)
        memcpy(url, answer->next, HTTP_URL_SIZE);
    mem_free(&remote->allocator, answer);
    buffer_free(&text);
    return status;
}

/* The whole list: pages lead to each other. */
static gufo_status read_pages(gufo_remote *remote, const address *a, place_files *files,
                              gufo_error *error)
{
    char url[HTTP_URL_SIZE];
    gufo_status status = write_url(remote, a, a->service->list, NULL, url, error);

    for (size_t page = 0; status == GUFO_OK && url[0] != '\0'; page++)
        status = page < MOST_PAGES ? read_page(remote, a, url, files, error)
                                   : refuse(error, GUFO_E_LIMIT,
                                            "the list of files has more than %d pages", MOST_PAGES);
    place_files_sort(files);
    return status;
}

/* Whether a path is below a folder; "" is the folder of all. */
static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    return len == 0 || (strncmp(path, folder, len) == 0 && path[len] == '/');
}

static void keep_below(place_files *files, const char *folder)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < files->count; i++) {
        if (is_below(files->list[i].path, folder))
            files->list[kept++] = files->list[i];
        else
            mem_free(files->allocator, files->list[i].path);
    }
    files->count = kept;
}

gufo_status place_list(gufo_remote *remote, const place *folder, place_files *files,
                       gufo_error *error)
{
    gufo_status status = folder->here == LOCAL_FOLDER
                             ? local_list(folder->local.path, files, error)
                             : read_pages(remote, &folder->address, files, error);

    if (status == GUFO_OK)
        keep_below(files, folder->address.path);
    return status;
}

/* ---- what only the service knows ------------------------------------------------------------ */

/* A file of the element type, from the list of all. */
static gufo_status choose_file(gufo_remote *remote, place *out, gufo_error *error)
{
    place_files files = {.allocator = &remote->allocator};
    gufo_str type = gufo_str_of(out->address.tag);
    gufo_status status = read_pages(remote, &out->address, &files, error);
    const place_file *chosen = status == GUFO_OK ? place_files_choose(&files, type) : NULL;

    if (chosen != NULL) {
        (void)snprintf(out->address.path, sizeof out->address.path, "%s", chosen->path);
        memcpy(out->sha256, chosen->sha256, sizeof out->sha256);
        out->size = chosen->size;
    } else if (status == GUFO_OK) {
        status = place_files_refuse(&files, type, error);
    }
    place_files_free(&files);
    return status;
}

static gufo_status find_file(gufo_remote *remote, place *out, gufo_error *error)
{
    const place_service *service = out->address.service;
    gufo_status status = GUFO_OK;

    if (out->address.tag[0] != '\0')
        status = choose_file(remote, out, error);
    return status == GUFO_OK ? write_url(remote, &out->address,
                                         out->address.is_folder ? service->list : service->file,
                                         NULL, out->url, error)
                             : status;
}

/* The layer of the manifest that is the model. */
static gufo_status read_manifest(gufo_remote *remote, place *out, gufo_str text, gufo_error *error)
{
    ollama_manifest manifest;
    gufo_status status = ollama_manifest_read(text, &remote->allocator, &manifest, error);
    const ollama_layer *layer = NULL;
    char digest[sizeof "sha256:" + OLLAMA_HEX];

    if (status == GUFO_OK && (layer = ollama_manifest_find(&manifest, OLLAMA_MODEL)) == NULL)
        status =
            refuse(error, GUFO_E_NOT_FOUND, "the model has no GGUF file: its manifest names none");
    if (layer != NULL) {
        (void)snprintf(digest, sizeof digest, "sha256:%s", layer->hex);
        memcpy(out->sha256, layer->hex, sizeof out->sha256);
        out->size = layer->size;
        status =
            write_url(remote, &out->address, out->address.service->blob, digest, out->url, error);
    }
    ollama_manifest_free(&manifest);
    return status;
}

static gufo_status find_layer(gufo_remote *remote, place *out, gufo_error *error)
{
    buffer text = {.allocator = &remote->allocator};
    char url[HTTP_URL_SIZE];
    gufo_status status =
        write_url(remote, &out->address, out->address.service->list, NULL, url, error);
    http_answer *answer = mem_zero(&remote->allocator, sizeof *answer);

    if (status == GUFO_OK)
        status = answer != NULL
                     ? ask(remote, &out->address, url, OLLAMA_MANIFEST_MOST, &text, answer, error)
                     : fail_memory(error);
    if (status == GUFO_OK)
        status = read_manifest(remote, out, (gufo_str){(const char *)text.data, text.len}, error);
    mem_free(&remote->allocator, answer);
    buffer_free(&text);
    return status;
}

/* What a browser shows is where the text says. */
static gufo_status find_address(gufo_remote *remote, place *out, gufo_error *error)
{
    gufo_str url = out->address.url;

    (void)remote;
    if (url.len >= sizeof out->url)
        return refuse(error, GUFO_E_LIMIT, "the address is too long");
    memcpy(out->url, url.data, url.len);
    out->url[url.len] = '\0';
    return GUFO_OK;
}

typedef gufo_status finder(gufo_remote *remote, place *out, gufo_error *error);

static finder *const finders[] = {
    [ADDRESS_OF_REPOSITORY] = find_file,
    [ADDRESS_OF_MODEL] = find_layer,
    [ADDRESS_OF_WEB] = find_address,
};

/* ---- finding -------------------------------------------------------------------------------- */

/* A folder of a cache may be a part of the repository: it counts where nobody else can be asked. */
static bool is_here(const gufo_remote *remote, const place *p)
{
    return p->here == LOCAL_FILE ||
           (p->here == LOCAL_FOLDER && (remote->options.flags & GUFO_REMOTE_OFFLINE) != 0);
}

static gufo_status locate(gufo_remote *remote, place *out, gufo_error *error)
{
    const gufo_remote_options *options = &remote->options;
    const local_folders folders = {options->hf_cache, options->ollama_models, options->folders};

    out->here = local_find(&out->address, &folders, &out->local);
    if (is_here(remote, out)) {
        out->size = out->local.size;
        memcpy(out->sha256, out->local.sha256, sizeof out->sha256);
        return GUFO_OK;
    }
    if ((options->flags & GUFO_REMOTE_OFFLINE) != 0)
        return refuse_offline(out->here, error);
    out->here = LOCAL_NOTHING;
    return finders[out->address.service->form](remote, out, error);
}

gufo_status place_find(gufo_remote *remote, const char *text, place *out, gufo_error *error)
{
    gufo_status status;

    *out = (place){.size = GUFO_NO_OFFSET};
    status = address_read(gufo_str_of(text), &out->address, error);
    return status == GUFO_OK ? locate(remote, out, error) : status;
}

gufo_status place_beside(gufo_remote *remote, const place *folder, const char *path, place *out,
                         gufo_error *error)
{
    *out = (place){.address = folder->address, .size = GUFO_NO_OFFSET};
    if (!address_is_path(gufo_str_of(path)))
        return refuse(error, GUFO_E_ARGUMENT, "%s is not a path in a repository",
                      QUOTED(gufo_str_of(path)));
    (void)snprintf(out->address.path, sizeof out->address.path, "%s", path);
    out->address.is_folder = false;
    out->address.tag[0] = '\0';
    return locate(remote, out, error);
}
