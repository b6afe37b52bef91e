/* The cache of huggingface_hub; hub_cache.h draws it.  Every name was checked against its grammar: commits and
 * ETags are hexadecimal digits, paths of repositories have no "..". */
#define _GNU_SOURCE /* flock */

#include "remote/fetch/hub_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/memory.h"
#include "base/text.h"
#include "remote/fetch/fetch.h"
#include "remote/places/address.h"
#include "remote/remote.h"

enum { GIT_HEX = 40 };

/* A file on its way into the cache. */
typedef struct hub_file {
    gufo_remote *remote;
    const wanted *wanted;
    const fetch_file *file;
    const gufo_fetch_options *options;
    char etag[SHA256_HEX + 1], commit[SHA256_HEX + 1];
    char blob[PATH_MAX], snapshot[PATH_MAX];
    uint64_t size;
} hub_file;

/* ---- paths ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static gufo_status join(char out[PATH_MAX], gufo_error *error,
                                                              const char *format, ...)
{
    va_list arguments;
    int len;

    va_start(arguments, format);
    len = vsnprintf(out, PATH_MAX, format, arguments);
    va_end(arguments);
    return len > 0 && len < PATH_MAX ? GUFO_OK
                                     : fail_io(error, ENAMETOOLONG, "cannot use the cache");
}

/* Makes the folders that lead to a path, as far as they are missing. */
static gufo_status make_folders(const char *path, gufo_error *error)
{
    char folder[PATH_MAX];

    for (const char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        memcpy(folder, path, (size_t)(at - path));
        folder[at - path] = '\0';
        if (disk_make_folder(folder, 0777) != 0 && errno != EEXIST)
            return fail_io(error, errno, "cannot make the folder %s", QUOTED(gufo_str_of(folder)));
    }
    return GUFO_OK;
}

/* ---- what the service says ------------------------------------------------------------------ */

static bool take_nothing(void *context, const void *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
    return true;
}

/* The hexadecimal digits in quotes. */
static bool read_etag(const char *quoted, char out[SHA256_HEX + 1])
{
    gufo_str text = gufo_str_of(quoted);
    size_t len = text.len >= 2 ? text.len - 2 : 0;

    if ((len != GIT_HEX && len != SHA256_HEX) || quoted[0] != '"')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_hex(quoted[i + 1]) || is_upper(quoted[i + 1]))
            return false;
    memcpy(out, quoted + 1, len);
    out[len] = '\0';
    return quoted[len + 1] == '"';
}

static gufo_status read_answer(hub_file *h, const http_answer *answer, gufo_error *error)
{
    const char *etag = answer->linked_etag[0] != '\0' ? answer->linked_etag : answer->version.etag;

    if (!address_is_commit(gufo_str_of(answer->repo_commit)) || !read_etag(etag, h->etag))
        return refuse(error, GUFO_E_IO,
                      "the server does not say which commit and which content this is, as the "
                      "cache of Hugging Face has to know");
    memcpy(h->commit, answer->repo_commit, strlen(answer->repo_commit) + 1);
    h->size = answer->version.size;
    return GUFO_OK;
}

static gufo_status ask(hub_file *h, gufo_error *error)
{
    const http_request request = {.url = h->file->url, .count = 1, .take = take_nothing};
    http_answer *answer = mem_zero(h->wanted->allocator, sizeof *answer);
    gufo_status status =
        answer != NULL ? http_get(h->remote, &request, answer, error) : fail_memory(error);

    if (status == GUFO_OK)
        status = read_answer(h, answer, error);
    mem_free(h->wanted->allocator, answer);
    return status;
}

/* ---- blobs ---------------------------------------------------------------------------------- */

/* As huggingface_hub takes it; the file stays. */
static gufo_status lock_blob(const hub_file *h, int *fd, gufo_error *error)
{
    char path[PATH_MAX];
    gufo_status status = join(path, error, "%s/.locks/%s/%s.lock", h->remote->options.hf_cache,
                              h->wanted->repository, h->etag);

    *fd = -1;
    if (status == GUFO_OK)
        status = make_folders(path, error);
    if (status != GUFO_OK)
        return status;
    *fd = disk_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (*fd < 0)
        return fail_io(error, errno, "cannot make the lock of a blob");
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail_io(error, EBUSY, "another program fetches it into the cache");
    return GUFO_OK;
}

static void note_fetched(void *context, const gufo_fetched *file)
{
    const hub_file *h = context;
    gufo_fetched shown = *file;

    shown.path = h->snapshot;
    if (h->options->fetched != NULL)
        h->options->fetched(h->options->context, &shown);
}

static gufo_status fetch_blob(hub_file *h, const gufo_run *run, bool *mismatch, gufo_error *error)
{
    gufo_fetch_options options = {.flags = h->options->flags & GUFO_FETCH_REPLACE,
                                  .requests = h->options->requests,
                                  .fetched = note_fetched,
                                  .context = h};
    fetch_file file = *h->file;
    struct stat info;

    file.path = h->blob;
    /* The branch may have got another file since it was asked what it is. */
    if (strlen(h->etag) == SHA256_HEX)
        memcpy(file.sha256, h->etag, sizeof file.sha256);
    if (lstat(h->blob, &info) != 0 || !S_ISREG(info.st_mode) || (uint64_t)info.st_size != h->size)
        return fetch_files(h->remote, &file, 1, &options, run, mismatch, error);
    note_fetched(h, &(gufo_fetched){.address = file.address, .size = h->size, .kept = h->size});
    return GUFO_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

static gufo_status link_snapshot(const hub_file *h, gufo_error *error)
{
    char text[PATH_MAX] = "../../", old[PATH_MAX];
    ssize_t len;

    for (const char *at = h->file->inside; (at = strchr(at, '/')) != NULL; at++)
        (void)strncat(text, "../", sizeof text - strlen(text) - 1);
    (void)strncat(text, "blobs/", sizeof text - strlen(text) - 1);
    (void)strncat(text, h->etag, sizeof text - strlen(text) - 1);
    len = readlink(h->snapshot, old, sizeof old);
    if (len == (ssize_t)strlen(text) && memcmp(old, text, (size_t)len) == 0)
        return GUFO_OK;
    if (len >= 0)
        (void)disk_unlink(h->snapshot);
    return disk_link_by_name(text, h->snapshot) == 0
               ? GUFO_OK
               : fail_io(error, errno, "cannot make the link of the snapshot");
}

static gufo_status write_ref(const hub_file *h, gufo_error *error)
{
    char path[PATH_MAX];
    output ref;
    gufo_status status;

    if (address_is_commit(gufo_str_of(h->wanted->revision)))
        return GUFO_OK;
    status = join(path, error, "%s/%s/refs/%s", h->remote->options.hf_cache, h->wanted->repository,
                  h->wanted->revision);
    if (status == GUFO_OK)
        status = make_folders(path, error);
    if (status == GUFO_OK)
        status =
            output_open(&ref, path, true, strlen(h->commit), NULL, h->wanted->allocator, error);
    if (status != GUFO_OK)
        return status;
    status = output_write(&ref, 0, h->commit, strlen(h->commit), error);
    if (status == GUFO_OK)
        return output_commit(&ref, error);
    output_discard(&ref);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status find_paths(hub_file *h, gufo_error *error)
{
    const char *hub = h->remote->options.hf_cache, *repository = h->wanted->repository;
    gufo_status status = join(h->blob, error, "%s/%s/blobs/%s", hub, repository, h->etag);

    if (status == GUFO_OK)
        status = join(h->snapshot, error, "%s/%s/snapshots/%s/%s", hub, repository, h->commit,
                      h->file->inside);
    if (status == GUFO_OK)
        status = make_folders(h->blob, error);
    return status == GUFO_OK ? make_folders(h->snapshot, error) : status;
}

static gufo_status fetch_one(hub_file *h, const gufo_run *run, bool *mismatch, gufo_error *error)
{
    int lock = -1;
    gufo_status status = ask(h, error);

    if (status == GUFO_OK)
        status = find_paths(h, error);
    if (status == GUFO_OK)
        status = lock_blob(h, &lock, error);
    if (status == GUFO_OK)
        status = fetch_blob(h, run, mismatch, error);
    if (status == GUFO_OK)
        status = link_snapshot(h, error);
    if (lock >= 0)
        (void)close(lock);
    return status;
}

/* The ref is that of the last file; all are of one commit. */
static gufo_status fetch_each(hub_file *h, const gufo_run *run, bool *mismatch, gufo_error *error)
{
    char commit[SHA256_HEX + 1] = "";
    gufo_status status = GUFO_OK;

    for (size_t i = 0; i < h->wanted->count && status == GUFO_OK; i++) {
        h->file = &h->wanted->files[i];
        status = fetch_one(h, run, mismatch, error);
        if (status == GUFO_OK && i > 0 && strcmp(commit, h->commit) != 0)
            status = refuse(error, GUFO_E_CHANGED,
                            "the repository got another commit between its files");
        memcpy(commit, h->commit, sizeof commit);
    }
    return status == GUFO_OK ? write_ref(h, error) : status;
}

gufo_status hub_cache_fetch(gufo_remote *remote, const wanted *w, const gufo_fetch_options *options,
                            const gufo_run *run, bool *mismatch, gufo_error *error)
{
    hub_file *h;
    gufo_status status;

    if (w->repository == NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "only files of Hugging Face go into its cache: hf://OWNER/NAME/PATH");
    if (remote->options.hf_cache == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "there is no cache folder of huggingface_hub");
    h = mem_zero(w->allocator, sizeof *h);
    if (h == NULL)
        return fail_memory(error);
    h->remote = remote;
    h->wanted = w;
    h->options = options;
    status = fetch_each(h, run, mismatch, error);
    mem_free(w->allocator, h);
    return status;
}
