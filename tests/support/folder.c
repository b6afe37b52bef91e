/* Temporary folders and whole files. */
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((noreturn)) static void give_up(const char *what, const char *path)
{
    print_error("%s %s: ", what, path);
    perror("");
    abort();
}

folder folder_new(void)
{
    const char *base = getenv("TMPDIR");
    folder f;

    (void)umask(
        022); /* files that tests write are to be trusted: no other user may write to them */
    snprintf(f.path, sizeof f.path, "%s/gufo-test-XXXXXX",
             base != NULL && strlen(base) < 200 ? base : "/tmp");
    if (mkdtemp(f.path) == NULL)
        give_up("cannot make", f.path);
    return f;
}

int folders_in_memory(void **state)
{
    (void)state;
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
    return 0;
}

static void remove_tree(const char *path)
{
    struct stat facts;
    struct dirent *entry;
    DIR *directory;

    if (lstat(path, &facts) != 0)
        return;
    if (!S_ISDIR(facts.st_mode)) {
        unlink(path);
        return;
    }
    chmod(path, 0700);
    directory = opendir(path);
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        path_text inner = path_join(path, entry->d_name);

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_tree(inner.text);
    }
    if (directory != NULL)
        closedir(directory);
    rmdir(path);
}

void folder_remove(folder *f)
{
    remove_tree(f->path);
}

path_text path_join(const char *directory, const char *name)
{
    path_text out;
    int len = snprintf(out.text, sizeof out.text, "%s/%s", directory, name);

    if (len < 0 || (size_t)len >= sizeof out.text)
        give_up("path too long:", name);
    return out;
}

path_text folder_path(const folder *f, const char *name)
{
    return path_join(f->path, name);
}

size_t entry_count(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *entry;
    size_t count = 0;

    if (d == NULL)
        give_up("cannot list", directory);
    while ((entry = readdir(d)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(d);
    return count;
}

void write_file(const char *path, const void *data, size_t len)
{
    const uint8_t *at = data;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd < 0)
        give_up("cannot make", path);
    while (len > 0) {
        ssize_t done = write(fd, at, len);

        if (done <= 0)
            give_up("cannot write", path);
        at += done;
        len -= (size_t)done;
    }
    close(fd);
}

uint8_t *read_file(const char *path, size_t *len)
{
    FILE *stream = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, capacity = 0, done;

    if (stream == NULL)
        return NULL;
    do {
        if (size == capacity) {
            uint8_t *grown = realloc(data, capacity = capacity * 2 + 4096);

            if (grown == NULL)
                abort();
            data = grown;
        }
        done = fread(data + size, 1, capacity - size, stream);
        size += done;
    } while (done > 0);
    fclose(stream);
    *len = size;
    return data;
}

bool file_exists(const char *path)
{
    struct stat facts;

    return lstat(path, &facts) == 0;
}

void check_file(const char *path, const void *data, size_t len, const char *label)
{
    size_t got_len = 0, i = 0;
    uint8_t *got = read_file(path, &got_len);
    const uint8_t *expected = data;

    check(got != NULL, "%s: %s cannot be read", label, path);
    while (i < got_len && i < len && got[i] == expected[i])
        i++;
    free(got);
    check(i == len && i == got_len, "%s: %s has %zu bytes, expected %zu; first difference at %zu",
          label, path, got_len, len, i);
}
