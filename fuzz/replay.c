/* Runs a fuzz target over files: `replay_NAME FILE|FOLDER...`.
 *
 * Takes the place of libFuzzer where that is not at hand, so that the seeds, and files that once
 * made a target fail, are checked on every machine and with every compiler. */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static unsigned replayed;

/* The bytes of a file, in a block of just that size; NULL (with a message) if it cannot be read. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    struct stat info;
    uint8_t *data = NULL;

    if (in && fstat(fileno(in), &info) == 0 && S_ISREG(info.st_mode)) {
        *size = (size_t)info.st_size;
        data = malloc(*size ? *size : 1);
        if (data && fread(data, 1, *size, in) != *size) {
            free(data);
            data = NULL;
        }
    }
    if (!data)
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
    if (in)
        fclose(in);
    return data;
}

static bool replay_file(const char *path)
{
    size_t size;
    uint8_t *data = read_file(path, &size);

    if (!data)
        return false;
    /* Said before, so that the last line names the file that made the target fail. */
    printf("%s: %zu bytes\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
    return true;
}

static bool replay_folder(const char *path, DIR *folder)
{
    struct dirent *entry;
    bool good = true;

    while ((entry = readdir(folder))) {
        size_t size = strlen(path) + strlen(entry->d_name) + 2;
        char *name = malloc(size);

        if (!name)
            return false;
        snprintf(name, size, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            good &= replay_file(name);
        free(name);
    }
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;

    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);

        if (folder) {
            good &= replay_folder(argv[i], folder);
            closedir(folder);
        } else {
            good &= replay_file(argv[i]);
        }
    }
    printf("%u files\n", replayed);
    return good && replayed ? 0 : 1;
}
