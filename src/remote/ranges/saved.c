/* Headers on disk; saved.h has the idea.
 *
 *     gufo-remote-header 1 CHECK     16 hexadecimal digits, of all that follows
 *     https://host/path              without its query
 *     "etag"
 *     Last-Modified, or nothing
 *     SIZE                           of the whole file
 *     the first bytes of the file, to the end */
#include "remote/ranges/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/files/disk.h"
#include "base/files/source.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/files.h"

static const char title[] = "gufo-remote-header 1 ";

enum { TITLE = sizeof title - 1, CHECK = 16, LINES = 4 };

bool saved_is_used(const gufo_remote *remote)
{
    return remote->options.cache != NULL && (remote->options.flags & GUFO_REMOTE_NO_CACHE) == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* FOLDER/sha256; false if it is too long. */
static bool path_of(const gufo_remote *remote, const char *shown, char path[PATH_MAX])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    char name[2 * EVP_MAX_MD_SIZE + 1], *end = name;
    unsigned size = 0;
    int len;

    if (EVP_Digest(shown, strlen(shown), digest, &size, EVP_sha256(), NULL) != 1)
        return false;
    for (unsigned i = 0; i < size; i++)
        end = hex_put(end, digest[i], false);
    *end = '\0';
    len = snprintf(path, PATH_MAX, "%s/%s", remote->options.cache, name);
    return len > 0 && len < PATH_MAX;
}

/* Makes the folder, and those above it, for us alone. */
static bool make_folder(const char *folder)
{
    char path[PATH_MAX];
    const size_t len = strlen(folder);

    if (len >= sizeof path)
        return false;
    memcpy(path, folder, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        path[i] = '\0';
        if (disk_make_folder(path, S_IRWXU) != 0 && errno != EEXIST)
            return false;
        path[i] = folder[i];
    }
    return true;
}

/* ---- the text -------------------------------------------------------------------------------- */

static uint64_t check_of(gufo_str text)
{
    return hash_check(text.data, text.len, 0);
}

/* Whether a file is what saved_write has written for this address; *bytes is where its header begins. */
static bool parse(gufo_str text, const char *shown, http_version *version, size_t *begin)
{
    gufo_str lines[LINES];
    size_t at = TITLE + CHECK + 1;
    uint64_t check;

    if (text.len < at || !str_begins(text, title) || str_hex(text, TITLE, CHECK, &check) != CHECK ||
        check != check_of(str_from(text, at)))
        return false;
    for (size_t i = 0; i < LINES; i++)
        lines[i] = str_line(text, &at);
    *begin = at;
    *version = (http_version){.is_strong = true};
    if (!gufo_str_equal(lines[0], gufo_str_of(shown)) || lines[1].len >= sizeof version->etag ||
        lines[2].len >= sizeof version->modified || !str_number(lines[3], &version->size))
        return false;
    memcpy(version->etag, lines[1].data, lines[1].len);
    memcpy(version->modified, lines[2].data, lines[2].len);
    return at < text.len && text.len - at <= version->size;
}

static bool add_text(gufo_text *out, const char *text)
{
    return text_add(out, text, strlen(text));
}

static bool write_text(gufo_text *out, const char *shown, const http_version *version,
                       const uint8_t *bytes, size_t size)
{
    char number[32], digits[CHECK + 2];
    uint64_t check;

    (void)snprintf(number, sizeof number, "\n%" PRIu64 "\n", version->size);
    if (!add_text(out, title) || !add_text(out, "0000000000000000\n") || !add_text(out, shown) ||
        !add_text(out, "\n") || !add_text(out, version->etag) || !add_text(out, "\n") ||
        !add_text(out, version->modified) || !add_text(out, number) ||
        !text_add(out, (const char *)bytes, size))
        return false;
    check = check_of((gufo_str){out->data + TITLE + CHECK + 1, out->len - (TITLE + CHECK + 1)});
    (void)snprintf(digits, sizeof digits, "%016" PRIx64, check);
    memcpy(out->data + TITLE, digits, CHECK);
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* All bytes of a file that is ours, and that nobody else can write to. */
static bool read_own(const char *path, buffer *out)
{
    const int fd = open(path, O_RDONLY | TRUST_OPEN_FLAGS);
    struct stat info;
    size_t got = 0;
    void *room;
    bool done;

    if (fd < 0)
        return false;
    done = fstat(fd, &info) == 0 && trust_own(path, &info, TRUST_ONE_NAME | TRUST_CLOSED) == NULL &&
           (uint64_t)info.st_size <= CHUNKS_ROOM &&
           (room = buffer_extend(out, (uint64_t)info.st_size)) != NULL &&
           source_read_fd(fd, 0, room, out->len, &got, NULL) == GUFO_OK && got == out->len;
    (void)close(fd);
    return done;
}

void saved_read(gufo_remote *remote, const char *url, saved_head *out)
{
    char shown[HTTP_URL_SIZE], path[PATH_MAX];
    buffer text = {.allocator = &remote->allocator};
    size_t begin = 0;

    *out = (saved_head){.chunk = NULL};
    if (saved_is_used(remote) && path_of(remote, url_shown(url, shown), path) &&
        read_own(path, &text) &&
        parse((gufo_str){(const char *)text.data, text.len}, shown, &out->version, &begin))
        out->chunk = chunk_new(remote, text.len - begin);
    if (out->chunk != NULL)
        memcpy(out->chunk->bytes, text.data + begin, out->chunk->size);
    buffer_free(&text);
}

/* Only what a strong ETag identifies: parts of the file are added to it the next time. */
void saved_write(gufo_remote *remote, const char *url, const http_version *version,
                 const uint8_t *bytes, size_t size)
{
    const gufo_save_options options = {.flags = GUFO_SAVE_REPLACE | GUFO_SAVE_PRIVATE,
                                       .allocator = &remote->allocator};
    char shown[HTTP_URL_SIZE], path[PATH_MAX];
    gufo_text text = {.allocator = &remote->allocator};

    if (version->etag[0] == '\0' || !version->is_strong ||
        !path_of(remote, url_shown(url, shown), path) || !make_folder(remote->options.cache) ||
        way_is_planted(path))
        return;
    if (write_text(&text, shown, version, bytes, size))
        (void)gufo_save(path, (gufo_str){text.data, text.len}, &options, NULL);
    gufo_text_free(&text);
}
