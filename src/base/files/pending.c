/* The head of an edit's journal; pending.h draws its bytes. */
#define _GNU_SOURCE /* flock */

#include "base/files/pending.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/source.h"
#include "base/files/trust.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    MAGIC_LEN = 8,
    AT_VERSION = 8,
    AT_FILE_SIZE = 16,
    AT_INSERTED = 24,
    AT_OLD_SIZE = 32,
    AT_NEW_SIZE = 40,
    AT_OLD_CHECK = 48,
    AT_NEW_CHECK = 56,
    AT_CHECK = 64,
    FORM = 1,
    SMALLEST_HEADER = 4, /* a magic */
};

static const char magic[] = "GUFO-EDJ";

void pending_encode(const pending_head *head, uint8_t bytes[PENDING_HEAD_SIZE])
{
    memcpy(bytes, magic, MAGIC_LEN);
    store_little_u64(bytes + AT_VERSION, FORM);
    store_little_u64(bytes + AT_FILE_SIZE, head->file_size);
    store_little_u64(bytes + AT_INSERTED, head->inserted);
    store_little_u64(bytes + AT_OLD_SIZE, head->old_size);
    store_little_u64(bytes + AT_NEW_SIZE, head->new_size);
    store_little_u64(bytes + AT_OLD_CHECK, head->old_check);
    store_little_u64(bytes + AT_NEW_CHECK, head->new_check);
    store_little_u64(bytes + AT_CHECK, hash_check(bytes, AT_CHECK, 0));
}

/* Whether these are the first bytes of a journal, of whatever version. */
static bool is_head(const uint8_t *bytes)
{
    return memcmp(bytes, magic, MAGIC_LEN) == 0 &&
           load_little_u64(bytes + AT_CHECK) == hash_check(bytes, AT_CHECK, 0);
}

/* Whether the numbers of a head go together, and with a journal of `size` bytes. */
static bool decode(pending_head *head, const uint8_t *bytes, uint64_t size)
{
    uint64_t headers, whole, grown;

    *head = (pending_head){.file_size = load_little_u64(bytes + AT_FILE_SIZE),
                           .inserted = load_little_u64(bytes + AT_INSERTED),
                           .old_size = load_little_u64(bytes + AT_OLD_SIZE),
                           .new_size = load_little_u64(bytes + AT_NEW_SIZE),
                           .old_check = load_little_u64(bytes + AT_OLD_CHECK),
                           .new_check = load_little_u64(bytes + AT_NEW_CHECK)};
    return checked_add(head->old_size, head->new_size, &headers) &&
           checked_add(headers, PENDING_HEAD_SIZE, &whole) && whole == size &&
           head->old_size >= SMALLEST_HEADER && head->old_size <= head->file_size &&
           head->new_size >= head->old_size && head->new_size - head->old_size == head->inserted &&
           checked_add(head->file_size, head->inserted, &grown) && grown <= INT64_MAX;
}

/* Whether a file that begins with these bytes can be a journal that was not complete. */
static bool may_be_torn(const uint8_t *bytes, size_t count, const struct stat *info)
{
    static const uint8_t zeros[PENDING_HEAD_SIZE];

    if (count >= MAGIC_LEN && memcmp(bytes, magic, MAGIC_LEN) == 0)
        return true;
    if ((info->st_mode & 0177) != 0)
        return false;
    return memcmp(bytes, zeros, count) == 0 ||
           (count < MAGIC_LEN && memcmp(bytes, magic, count) == 0);
}

static pending_found read_head(pending_journal *j, const struct stat *info)
{
    uint8_t bytes[PENDING_HEAD_SIZE];
    size_t got;

    if (source_read_fd(j->fd, 0, bytes, sizeof bytes, &got, NULL) != GUFO_OK) {
        j->obstacle = "it cannot be read";
        return PENDING_UNTRUSTED;
    }
    if (got == PENDING_HEAD_SIZE && is_head(bytes) && load_little_u64(bytes + AT_VERSION) != FORM)
        return PENDING_UNKNOWN;
    if (got == PENDING_HEAD_SIZE && is_head(bytes) &&
        decode(&j->head, bytes, (uint64_t)info->st_size))
        return PENDING_HEAD;
    return may_be_torn(bytes, got, info) ? PENDING_TORN : PENDING_OTHER;
}

pending_found pending_open(pending_journal *j, const char *path, uid_t owner)
{
    pending_found found = PENDING_UNTRUSTED;
    struct stat info;

    *j = (pending_journal){.fd = open(path, O_RDONLY | TRUST_OPEN_FLAGS)};
    if (j->fd < 0) {
        j->obstacle = errno == ELOOP ? "it is a symlink" : "it cannot be opened";
        /* No file has a name that is too long. */
        return errno == ENOENT || errno == ENAMETOOLONG ? PENDING_NOTHING : PENDING_UNTRUSTED;
    }
    j->obstacle = fstat(j->fd, &info) != 0 ? "it cannot be examined" : trust_beside(&info, owner);
    if (j->obstacle == NULL)
        found = read_head(j, &info);
    if (found != PENDING_HEAD) {
        (void)close(j->fd);
        j->fd = -1;
    }
    return found;
}

/* A lease, which an edit holds as well, answers an open that does not wait in the same way. */
bool pending_is_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool locked =
        fd < 0 ? errno == EWOULDBLOCK : flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        (void)close(fd);
    return locked;
}

gufo_status pending_refuse(const char *target, const struct stat *info,
                           const gufo_allocator *allocator, gufo_error *error)
{
    char *path = mem_join(allocator, gufo_str_of(target), gufo_str_of(PENDING_SUFFIX));
    pending_journal j;
    pending_found found;

    if (path == NULL)
        return fail_memory(error);
    found = pending_open(&j, path, info != NULL ? info->st_uid : geteuid());
    if (j.fd >= 0)
        (void)close(j.fd);
    mem_free(allocator, path);
    if (found != PENDING_HEAD && found != PENDING_UNKNOWN)
        return GUFO_OK;
    if (info != NULL && pending_is_locked(target))
        return refuse(error, GUFO_E_ARGUMENT, "the output is being edited");
    return refuse(error, GUFO_E_ARGUMENT,
                  info != NULL ? "an edit of the output was interrupted; recover it first"
                               : "the journal of an interrupted edit is beside "
                                 "the output; a recovery would apply it to the output");
}
