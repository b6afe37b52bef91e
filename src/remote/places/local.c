/* Looking into the caches of other programs.  Names were checked against their grammar, so that a path made of
 * them stays in its folder; links are followed, as far as they stay in the repository. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "remote/places/local.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/format.h"
#include "remote/ollama/manifest.h"
#include "remote/places/services.h"

/* ---- paths ---------------------------------------------------------------------------------- */

/* False: the path would be too long. */
__attribute__((format(printf, 2, 3))) static bool join(char out[PATH_MAX], const char *format, ...)
{
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(out, PATH_MAX, format, arguments);
    va_end(arguments);
    return len > 0 && len < PATH_MAX;
}

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_file(const char *path, uint64_t *size)
{
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *size = (uint64_t)info.st_size;
    return true;
}

/* Whether a path really leads to a place in a folder. */
static bool is_inside(const char *path, const char *folder)
{
    char real[PATH_MAX], root[PATH_MAX];
    size_t len;

    if (realpath(path, real) == NULL || realpath(folder, root) == NULL)
        return false;
    len = strlen(root);
    return strncmp(real, root, len) == 0 && real[len] == '/';
}

/* Whether all shards of a set are where its first one is. */
static bool is_whole(const char *path)
{
    char other[PATH_MAX];
    size_t prefix;
    uint32_t number, count;
    uint64_t size;

    if (!gufo_shard_path_parse(path, &prefix, &number, &count))
        return true;
    for (number = 1; number <= count; number++)
        if (gufo_shard_path_format(other, sizeof other, path, prefix, number, count) >=
                sizeof other ||
            !is_file(other, &size))
            return false;
    return true;
}

/* Reads a small file; its length, or 0. */
static size_t read_small(const char *path, char *out, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    size_t got = 0;

    if (fd >= 0 &&
        (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (size_t)info.st_size > room ||
         source_read_fd(fd, 0, out, (size_t)info.st_size, &got, NULL) != GUFO_OK))
        got = 0;
    if (fd >= 0)
        (void)close(fd);
    return got;
}

/* ---- the layout of huggingface -------------------------------------------------------------- */

/* The commit that a revision is. */
static bool find_commit(const char *repository, const char *revision, char out[PLACE_SHA256 + 1])
{
    char path[PATH_MAX], text[PLACE_SHA256 + 2];
    gufo_str commit = gufo_str_of(revision);

    if (!address_is_commit(commit)) {
        if (!join(path, "%s/refs/%s", repository, revision))
            return false;
        commit = (gufo_str){text, read_small(path, text, sizeof text)};
        while (commit.len > 0 && strchr("\r\n ", commit.data[commit.len - 1]) != NULL)
            commit.len--;
        if (!address_is_commit(commit))
            return false;
    }
    memcpy(out, commit.data, commit.len);
    out[commit.len] = '\0';
    return true;
}

/* A file of an element type among those in a folder. */
static bool choose_in(const char *folder, const char *type, char out[PATH_MAX])
{
    place_files files = {.allocator = &default_allocator};
    const place_file *chosen = NULL;
    bool found;

    if (local_list(folder, &files, NULL) == GUFO_OK)
        chosen = place_files_choose(&files, gufo_str_of(type));
    found = chosen != NULL && join(out, "%s/%s", folder, chosen->path);
    place_files_free(&files);
    return found;
}

static local_answer find_in_snapshot(const address *a, const char *repository, local_place *out)
{
    char snapshot[PATH_MAX], absent[PATH_MAX];
    uint64_t size;

    if (!join(snapshot, "%s/snapshots/%s", repository, out->commit) ||
        !join(absent, "%s/.no_exist/%s/%s", repository, out->commit, a->path))
        return LOCAL_NOTHING;
    if (a->is_folder)
        return join(out->path, "%s", snapshot) && is_folder(snapshot) ? LOCAL_FOLDER
                                                                      : LOCAL_NOTHING;
    if (a->tag[0] != '\0' ? !choose_in(snapshot, a->tag, out->path)
                          : !join(out->path, "%s/%s", snapshot, a->path))
        return LOCAL_NOTHING;
    if (is_file(out->path, &out->size) && is_inside(out->path, repository) && is_whole(out->path))
        return LOCAL_FILE;
    return a->tag[0] == '\0' && is_file(absent, &size) ? LOCAL_ABSENT : LOCAL_NOTHING;
}

static local_answer find_in_hub(const address *a, const char *folder, local_place *out)
{
    char repository[PATH_MAX];

    out->cache = "huggingface";
    if (!join(repository, "%s/%s%s--%s", folder, a->type->cache, a->owner, a->name) ||
        !find_commit(repository, service_revision(a), out->commit))
        return LOCAL_NOTHING;
    return find_in_snapshot(a, repository, out);
}

/* ---- folders by owner and name: these know of no revisions ---------------------------------- */

static local_answer find_by_owner(const address *a, const char *folder, local_place *out)
{
    char own[PATH_MAX];

    out->cache = "LM Studio";
    if (a->is_folder || !join(own, "%s/%s/%s", folder, a->owner, a->name))
        return LOCAL_NOTHING;
    if (a->tag[0] != '\0' ? !choose_in(own, a->tag, out->path)
                          : !join(out->path, "%s/%s", own, a->path))
        return LOCAL_NOTHING;
    return is_file(out->path, &out->size) && is_whole(out->path) ? LOCAL_FILE : LOCAL_NOTHING;
}

static local_answer find_flat(const address *a, const char *folder, local_place *out)
{
    char path[ADDRESS_PATH];

    out->cache = "llama.cpp";
    (void)snprintf(path, sizeof path, "%s", a->path);
    for (char *at = path; (at = strchr(at, '/')) != NULL;)
        *at = '_';
    return path[0] != '\0' && !a->is_folder &&
                   join(out->path, "%s/%s_%s_%s", folder, a->owner, a->name, path) &&
                   is_file(out->path, &out->size) && is_whole(out->path)
               ? LOCAL_FILE
               : LOCAL_NOTHING;
}

typedef local_answer finder(const address *a, const char *folder, local_place *out);

static local_answer find_in(const address *a, const char *folder, finder *find, local_place *out)
{
    *out = (local_place){.size = GUFO_NO_OFFSET};
    return folder != NULL ? find(a, folder, out) : LOCAL_NOTHING;
}

/* LM Studio and llama.cpp fetch what is newest. */
static local_answer find_in_others(const address *a, const local_folders *folders, local_place *out)
{
    static finder *const finders[] = {find_by_owner, find_flat, find_in_hub};
    const bool is_usual = strcmp(service_revision(a), a->service->revision) == 0;

    for (size_t i = 0; folders->others != NULL && folders->others[i] != NULL; i++)
        for (size_t f = 0; f < sizeof finders / sizeof *finders; f++) {
            local_answer answer = is_usual || finders[f] == find_in_hub
                                      ? find_in(a, folders->others[i], finders[f], out)
                                      : LOCAL_NOTHING;

            if (answer == LOCAL_FILE)
                return answer;
        }
    return LOCAL_NOTHING;
}

static local_answer find_repository(const address *a, const local_folders *folders,
                                    local_place *out)
{
    local_place other;
    local_answer answer;

    if (strcmp(a->service->name, "hf") != 0)
        return LOCAL_NOTHING;
    answer = find_in(a, folders->hub, find_in_hub, out);
    if (answer != LOCAL_FILE && a->type == repository_type_at(0) &&
        find_in_others(a, folders, &other) == LOCAL_FILE) {
        *out = other;
        return LOCAL_FILE;
    }
    return answer;
}

/* ---- the store of Ollama -------------------------------------------------------------------- */

/* Where the manifest of a model is. */
static bool read_manifest(const address *a, const char *folder, ollama_manifest *out)
{
    static const char *const folders[] = {"manifests", "manifests-v2"};
    const char *host = a->host[0] != '\0' ? a->host : a->service->host;
    char path[PATH_MAX], *text = malloc(OLLAMA_MANIFEST_MOST);
    bool found = false;

    *out = (ollama_manifest){.allocator = &default_allocator};
    for (size_t i = 0; text != NULL && !found && i < sizeof folders / sizeof *folders; i++) {
        size_t len = join(path, "%s/%s/%s/%s/%s/%s", folder, folders[i], host, a->owner, a->name,
                          service_revision(a))
                         ? read_small(path, text, OLLAMA_MANIFEST_MOST)
                         : 0;

        found = len > 0 && ollama_manifest_read((gufo_str){text, len}, &default_allocator, out,
                                                NULL) == GUFO_OK;
    }
    free(text);
    return found;
}

static local_answer find_in_store(const address *a, const char *folder, local_place *out)
{
    static const char marks[] = "-:"; /* of today and of before */
    ollama_manifest manifest;
    const ollama_layer *layer = NULL;
    local_answer answer = LOCAL_NOTHING;

    out->cache = "ollama";
    if (read_manifest(a, folder, &manifest))
        layer = ollama_manifest_find(&manifest, OLLAMA_MODEL);
    for (const char *mark = marks; layer != NULL && *mark != '\0' && answer == LOCAL_NOTHING;
         mark++)
        if (join(out->path, "%s/blobs/sha256%c%s", folder, *mark, layer->hex) &&
            is_file(out->path, &out->size) && out->size == layer->size) {
            memcpy(out->sha256, layer->hex, sizeof out->sha256);
            answer = LOCAL_FILE;
        }
    ollama_manifest_free(&manifest);
    return answer;
}

static local_answer find_model(const address *a, const local_folders *folders, local_place *out)
{
    return find_in(a, folders->ollama, find_in_store, out);
}

static local_answer find_nothing(const address *a, const local_folders *folders, local_place *out)
{
    (void)a, (void)folders, (void)out;
    return LOCAL_NOTHING;
}

local_answer local_find(const address *a, const local_folders *folders, local_place *out)
{
    static local_answer (*const finders[])(const address *, const local_folders *,
                                           local_place *) = {
        [ADDRESS_OF_REPOSITORY] = find_repository,
        [ADDRESS_OF_MODEL] = find_model,
        [ADDRESS_OF_WEB] = find_nothing,
    };

    *out = (local_place){.size = GUFO_NO_OFFSET};
    return finders[a->service->form](a, folders, out);
}

/* ---- lists ---------------------------------------------------------------------------------- */

enum { DEEPEST = 16 };

static gufo_status list_folder(const char *root, const char *below, unsigned depth,
                               place_files *files, gufo_error *error);

/* Adds a file, or what is in a folder. */
static gufo_status list_entry(const char *root, const char *name, unsigned depth,
                              place_files *files, gufo_error *error)
{
    char path[PATH_MAX];
    struct stat info;
    uint64_t size;

    if (!join(path, "%s/%s", root, name))
        return GUFO_OK;
    if (is_file(path, &size))
        return place_files_add(files, gufo_str_of(name), size, (gufo_str){"", 0}, error);
    /* Links to folders are left alone: they may lead in circles. */
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && depth < DEEPEST
               ? list_folder(root, name, depth + 1, files, error)
               : GUFO_OK;
}

static gufo_status list_folder(const char *root, const char *below, unsigned depth,
                               place_files *files, gufo_error *error)
{
    char path[PATH_MAX], name[PATH_MAX];
    gufo_status status = GUFO_OK;
    const struct dirent *entry;
    DIR *listing = join(path, "%s/%s", root, below) ? opendir(path) : NULL;

    while (listing != NULL && status == GUFO_OK && (entry = readdir(listing)) != NULL) {
        if (entry->d_name[0] == '.' && (entry->d_name[1] == '\0' || entry->d_name[1] == '.'))
            continue;
        if (join(name, "%s%s%s", below, below[0] != '\0' ? "/" : "", entry->d_name))
            status = list_entry(root, name, depth, files, error);
    }
    if (listing != NULL)
        (void)closedir(listing);
    return status;
}

gufo_status local_list(const char *folder, place_files *files, gufo_error *error)
{
    gufo_status status = list_folder(folder, "", 0, files, error);

    place_files_sort(files);
    return status;
}
