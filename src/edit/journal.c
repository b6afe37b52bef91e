/* The journal; journal.h draws its bytes. */
#include "edit/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/output.h"

enum {
    AT_VERSION = 8,
    AT_FILE_SIZE = 16,
    AT_INSERTED = 24,
    AT_OLD_SIZE = 32,
    AT_NEW_SIZE = 40,
    AT_OLD_CHECK = 48,
    AT_NEW_CHECK = 56,
    AT_CHECK = 64,
    HEAD_SIZE = 72,
    FORM = 1,
};

static const char magic[] = "GUFOEDIT";
static const char suffix[] = ".gufo-journal";

/* Checks are there for what a crash leaves, not for what somebody forges: the key is no secret. */
static uint64_t check_of(const uint8_t *bytes, uint64_t size)
{
    return hash_text((hash_key){FORM, 0}, (gufo_str){(const char *)bytes, (size_t)size});
}

static void put_u64(uint8_t *at, uint64_t v)
{
    store_u64(at, v, bytes_swapped(false));
}

static uint64_t get_u64(const uint8_t *at)
{
    return load_u64(at, bytes_swapped(false));
}

char *edit_journal_path(const char *real_path, const gufo_allocator *allocator)
{
    size_t len = strlen(real_path);
    char *path = mem_alloc(allocator, len + sizeof suffix);

    if (path != NULL) {
        memcpy(path, real_path, len);
        memcpy(path + len, suffix, sizeof suffix);
    }
    return path;
}

/* ---- the folder ----------------------------------------------------------------------------- */

/* Waits until names in the folder of `path` are on disk. */
static gufo_status sync_folder(const char *path, gufo_error *error)
{
    /* Real paths begin with a slash. */
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path) + 1);
    gufo_status status = GUFO_OK;
    int fd;

    if (folder == NULL)
        return fail_memory(error);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    /* EINVAL: a file system where folders cannot be synced. */
    if (fd < 0 || (disk_sync_folder(fd) != 0 && errno != EINVAL))
        status = fail_io(error, errno, "cannot sync the folder of the journal");
    if (fd >= 0)
        (void)close(fd);
    return status;
}

gufo_status edit_journal_remove(const char *path, gufo_error *error)
{
    if (disk_unlink(path) != 0 && errno != ENOENT)
        return fail_io(error, errno, "cannot remove the journal");
    /* If the name comes back after a crash, it is found to be of an edit that is complete. */
    (void)sync_folder(path, NULL);
    return GUFO_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void encode_head(const edit_journal *j, uint8_t head[HEAD_SIZE])
{
    memcpy(head, magic, sizeof magic - 1);
    put_u64(head + AT_VERSION, FORM);
    put_u64(head + AT_FILE_SIZE, j->file_size);
    put_u64(head + AT_INSERTED, j->inserted);
    put_u64(head + AT_OLD_SIZE, j->old_size);
    put_u64(head + AT_NEW_SIZE, j->new_size);
    put_u64(head + AT_OLD_CHECK, check_of(j->old_header, j->old_size));
    put_u64(head + AT_NEW_CHECK, check_of(j->new_header, j->new_size));
    put_u64(head + AT_CHECK, check_of(head, AT_CHECK));
}

static gufo_status write_all(const edit_journal *j, int fd, gufo_error *error)
{
    uint8_t head[HEAD_SIZE];
    gufo_status status;

    encode_head(j, head);
    status = output_write_at(fd, 0, head, HEAD_SIZE, error);
    if (status == GUFO_OK)
        status = output_write_at(fd, HEAD_SIZE, j->old_header, (size_t)j->old_size, error);
    if (status == GUFO_OK)
        status =
            output_write_at(fd, HEAD_SIZE + j->old_size, j->new_header, (size_t)j->new_size, error);
    if (status == GUFO_OK && disk_sync_data(fd) != 0)
        status = fail_io(error, errno, "cannot sync the journal");
    return status;
}

gufo_status edit_journal_write(const edit_journal *j, const char *path, bool *created,
                               gufo_error *error)
{
    int fd = disk_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    gufo_status status;

    *created = fd >= 0;
    if (fd < 0)
        return fail_io(error, errno, "cannot create the journal");
    status = write_all(j, fd, error);
    if (close(fd) != 0 && status == GUFO_OK)
        status = fail_io(error, errno, "cannot write the journal");
    if (status == GUFO_OK)
        status = sync_folder(path, error);
    if (status != GUFO_OK)
        (void)edit_journal_remove(path, NULL);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Whether the bytes are the first ones of a journal that has the size of its file.  These are enough
 * to refuse anything else, however large it is. */
static bool decode_head(edit_journal *j)
{
    const uint8_t *head = j->bytes.base;
    uint64_t headers;

    if (j->bytes.have < HEAD_SIZE || memcmp(head, magic, sizeof magic - 1) != 0 ||
        get_u64(head + AT_VERSION) != FORM || get_u64(head + AT_CHECK) != check_of(head, AT_CHECK))
        return false;
    j->file_size = get_u64(head + AT_FILE_SIZE);
    j->inserted = get_u64(head + AT_INSERTED);
    j->old_size = get_u64(head + AT_OLD_SIZE);
    j->new_size = get_u64(head + AT_NEW_SIZE);
    if (!checked_add(j->old_size, j->new_size, &headers) || headers != j->bytes.size - HEAD_SIZE ||
        j->old_size > j->file_size || j->new_size - j->old_size != j->inserted || j->old_size < 4)
        return false;
    return true;
}

/* The same for all of them. */
static bool decode_all(edit_journal *j)
{
    const uint8_t *head = j->bytes.base;

    j->old_header = head + HEAD_SIZE;
    j->new_header = j->old_header + j->old_size;
    return get_u64(head + AT_OLD_CHECK) == check_of(j->old_header, j->old_size) &&
           get_u64(head + AT_NEW_CHECK) == check_of(j->new_header, j->new_size);
}

/* Reads, and does not map: nobody can take the end of the file away. */
static gufo_status read_journal(edit_journal *j, int fd, const gufo_allocator *allocator,
                                journal_state *state, gufo_error *error)
{
    struct stat info;
    gufo_status status;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return fail_with(error, GUFO_E_IO, GUFO_NO_OFFSET, "the journal is no regular file");
    }
    status = source_open_fd(&j->bytes, fd, false, SIZE_MAX, allocator, error);
    if (status != GUFO_OK)
        return status;
    *state = JOURNAL_TORN;
    if (j->bytes.size >= HEAD_SIZE)
        status = source_need(&j->bytes, HEAD_SIZE, error);
    if (status != GUFO_OK || !decode_head(j))
        return status;
    status = source_need(&j->bytes, j->bytes.size, error);
    if (status == GUFO_OK && decode_all(j))
        *state = JOURNAL_COMPLETE;
    return status;
}

gufo_status edit_journal_read(edit_journal *j, const char *path, const gufo_allocator *allocator,
                              journal_state *state, gufo_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    gufo_status status;

    *state = JOURNAL_NONE;
    if (fd < 0)
        return errno == ENOENT ? GUFO_OK : fail_io(error, errno, "cannot read the journal");
    j->bytes = (source){.fd = -1};
    status = read_journal(j, fd, allocator, state, error);
    if (*state != JOURNAL_COMPLETE)
        edit_journal_close(j);
    return status;
}

void edit_journal_close(edit_journal *j)
{
    source_close(&j->bytes);
}
