/* The folder of a model on disk; model_folder.h has the rule.  It is called as its model.  In a cache of Hugging
 * Face's tools it is called by a commit, and the repository is two folders above it:
 *
 *     models--example-org--Tiny-Llama-7B/snapshots/8f3a.../
 *             example-org/Tiny-Llama-7B */
#define _XOPEN_SOURCE 700 /* realpath */

#include "import/model_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/beneath.h"
#include "base/files/folder.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/json_file.h"

#define CACHED "models--"
#define BLOBS "blobs"

/* ---- the caches of Hugging Face's tools ------------------------------------------------------ */

/* Cuts the last name off a path, which has no slashes at its end: none is left then. */
static gufo_str cut_last(gufo_str *path)
{
    size_t at = path->len;
    gufo_str name;

    while (at > 0 && path->data[at - 1] != '/')
        at--;
    name = str_from(*path, at);
    while (at > 0 && path->data[at - 1] == '/')
        at--;
    path->len = at;
    return name;
}

/* Where a folder really is; false: nowhere. */
static bool find_real(const source_folder *folder, char out[PATH_MAX])
{
    char *path = mem_text(&default_allocator, folder->path);
    bool found = path != NULL && realpath(path, out) != NULL;

    mem_free(&default_allocator, path);
    return found;
}

/* The repository of a revision as the end of *path, which becomes its path; empty: it is none. */
static gufo_str cut_repository(gufo_str *path)
{
    gufo_str above, name;

    (void)cut_last(path);
    if (!gufo_str_equal(cut_last(path), gufo_str_of("snapshots")))
        return (gufo_str){0};
    above = *path;
    name = cut_last(&above);
    return str_begins(name, CACHED) ? name : (gufo_str){0};
}

/* The folder of the files of all revisions, if `folder` is one of them; -1. */
static int open_blobs(const source_folder *folder)
{
    char real[PATH_MAX];
    gufo_str path;
    int repository, blobs;

    if (!find_real(folder, real))
        return -1;
    path = gufo_str_of(real);
    if (cut_repository(&path).len == 0)
        return -1;
    real[path.len] = '\0';
    repository = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    blobs = repository >= 0
                ? openat(repository, BLOBS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                : -1;
    if (repository >= 0)
        (void)close(repository);
    return blobs;
}

/* Of "../../blobs/HASH", the text of a link so many folders below that of its revision: HASH; NULL for any
 * other text. */
static const char *blob_of(const char *text, size_t folders)
{
    static const char up[] = "../";

    for (size_t i = 0; i < folders + 2; i++) {
        if (strncmp(text, up, sizeof up - 1) != 0)
            return NULL;
        text += sizeof up - 1;
    }
    if (strncmp(text, BLOBS "/", sizeof BLOBS) != 0)
        return NULL;
    text += sizeof BLOBS;
    return is_plain_name(gufo_str_of(text)) ? text : NULL;
}

static size_t count_folders(const char *name)
{
    size_t count = 0;

    for (; *name != '\0'; name++)
        count += *name == '/';
    return count;
}

/* The text and the owner of a link. */
static bool read_link(int parent, const char *name, char text[PATH_MAX], uid_t *owner)
{
    ssize_t len = readlinkat(parent, name, text, PATH_MAX);
    struct stat info;

    if (len < 0 || len >= PATH_MAX || fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    text[len] = '\0';
    *owner = info.st_uid;
    return true;
}

static int open_blob(const source_folder *folder, const char *hash, uid_t owner)
{
    int blobs = open_blobs(folder), fd = blobs >= 0 ? beneath_open(blobs, hash) : -1;
    struct stat info;

    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != owner)) {
        (void)close(fd);
        fd = -1;
    }
    if (blobs >= 0)
        (void)close(blobs);
    return fd;
}

/* The folder that NAME is in, of a model's folder; -1. */
static int open_parent(const source_folder *folder, const char *name)
{
    char *path = mem_text(&default_allocator, folder->path), place[PATH_MAX];
    int root = path != NULL && folder_of(name, place) ? beneath_root(path) : -1;
    int parent = root >= 0 ? beneath_open_folder(root, place) : -1;

    if (root >= 0)
        (void)close(root);
    mem_free(&default_allocator, path);
    return parent;
}

/* The file that a link of a cache leads to; -1: it is none. */
static int open_cached(const source_folder *folder, const char *name)
{
    const char *last = name + folder_len(name), *hash = NULL;
    int parent = open_parent(folder, name);
    char text[PATH_MAX];
    uid_t owner = 0;

    if (parent >= 0 && read_link(parent, last, text, &owner))
        hash = blob_of(text, count_folders(name));
    if (parent >= 0)
        (void)close(parent);
    return hash != NULL ? open_blob(folder, hash, owner) : -1;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A name leads out of the folder: into the cache that it is in, or it is not opened. */
static gufo_status open_beyond(const source_folder *folder, const char *name,
                               const gufo_allocator *allocator, source *out, gufo_error *error)
{
    int fd = out != NULL ? open_cached(folder, name) : -1;

    if (fd >= 0)
        return source_open_fd(out, fd, false, 0, allocator, error);
    return import_advise(
        refuse(error, GUFO_E_MALFORMED, "a symlink leads out of the model's folder"),
        GUFO_ADVICE_FOLLOW, error);
}

source_folder model_folder(gufo_str path, bool follow)
{
    source_folder folder = source_folder_disk(path);

    folder.follow = follow;
    folder.beyond = open_beyond;
    return folder;
}

model_place model_place_of(const char *path, bool follow)
{
    gufo_str folder = gufo_str_of(path);
    struct stat info;
    bool is_file = stat(path, &info) != 0 || !S_ISDIR(info.st_mode);

    if (is_file)
        folder = folder_len(path) > 0 ? (gufo_str){path, folder_len(path)} : gufo_str_of(".");
    while (folder.len > 1 && folder.data[folder.len - 1] == '/')
        folder.len--;
    return (model_place){.folder = model_folder(folder, follow),
                         .file = is_file ? path : NULL,
                         .from = source_folder_anywhere};
}

void model_place_fail_in(const model_place *place, gufo_error *error)
{
    source_folder_fail_in(place->file != NULL ? &place->from : &place->folder, place->file, error);
}

/* ---- the name -------------------------------------------------------------------------------- */

/* "models--ORGANIZATION--NAME" becomes "ORGANIZATION/NAME"; a model without organization has no second
 * "--". */
static bool read_cached(gufo_str name, char out[NAME_MAX + 1])
{
    gufo_str rest = name.len > 0 ? str_from(name, strlen(CACHED)) : name;
    const char *divider = rest.len > 0 ? str_search(rest, gufo_str_of("--")) : NULL;
    size_t before = divider != NULL ? (size_t)(divider - rest.data) : 0;

    if (rest.len == 0 || rest.len > NAME_MAX)
        return false;
    memcpy(out, rest.data, rest.len);
    out[rest.len] = '\0';
    if (divider != NULL) {
        out[before] = '/';
        memmove(out + before + 1, out + before + 2, rest.len - before - 1);
    }
    return true;
}

void folder_name_write(const folder_name *name, char out[FOLDER_NAME_ROOM])
{
    (void)snprintf(out, FOLDER_NAME_ROOM, "%s%s", name->from_hub ? HUB_ADDRESS : "", name->id);
}

bool folder_name_parse(gufo_str text, folder_name *out)
{
    *out = (folder_name){.from_hub = str_begins(text, HUB_ADDRESS)};
    if (out->from_hub)
        text = str_from(text, strlen(HUB_ADDRESS));
    else if (text.len > 0 && memchr(text.data, '/', text.len) != NULL)
        return false;
    if (text.len > NAME_MAX || gufo_utf8_valid_prefix(text) != text.len ||
        (out->from_hub && text.len == 0))
        return false;
    memcpy(out->id, text.data, text.len);
    out->id[text.len] = '\0';
    return true;
}

void folder_name_read(const source_folder *folder, folder_name *out)
{
    gufo_str path = folder->path, name;
    char real[PATH_MAX];

    *out = (folder_name){.from_hub = false};
    if (folder->called != NULL && folder_name_parse(gufo_str_of(folder->called), out))
        return;
    if (path.len == 0) /* it is in memory */
        return;
    name = cut_last(&path);
    if (find_real(folder, real)) {
        gufo_str whole = gufo_str_of(real), above = whole, own = cut_last(&above);

        if (read_cached(cut_repository(&whole), out->id)) {
            out->from_hub = true;
            return;
        }
        if (name.len == 0 || gufo_str_equal(name, gufo_str_of(".")) ||
            gufo_str_equal(name, gufo_str_of("..")))
            name = own;
    }
    if (name.len > NAME_MAX || gufo_utf8_valid_prefix(name) != name.len)
        return;
    memcpy(out->id, name.data, name.len);
    out->id[name.len] = '\0';
}

void folder_name_settle(source_folder *folder, const char *called, char own[FOLDER_NAME_ROOM])
{
    folder_name name;

    if (called != NULL)
        folder->called = called;
    folder_name_read(folder, &name);
    folder_name_write(&name, own);
    folder->called = own;
}
