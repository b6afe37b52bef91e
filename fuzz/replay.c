/* Runs a fuzz target over files: `replay_NAME [--sweep[=N]] FILE|FOLDER...`.
 *
 * Takes the place of libFuzzer where that is not at hand, so that the seeds, and files that once
 * made a target fail, are checked on every machine and with every compiler.
 *
 * With --sweep the damaged forms of each file are tried too: every byte replaced by each of nine
 * values, and the file cut off at every byte.  With --sweep=N only every Nth replacement is tried, for
 * tools that make everything slow; where N has no factor 3, all values have their turn. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned replayed;
static uint64_t variants;
static unsigned step = 1; /* every so many-th replacement is tried */

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

/* ---- the sweep ------------------------------------------------------------------------------ */

/* What is being tried.  Lies in memory shared with the child that tries it, so that it can be told
 * after the child has died, whatever killed it. */
typedef struct attempt {
    uint64_t count;
    size_t at; /* the byte that is replaced, or the length that is left */
    int value; /* -1: cut off */
} attempt;

enum { REPLACEMENTS = 9 };

/* The ends of the ranges of signed and unsigned numbers, small counts, and the neighbours. */
static uint8_t replacement(uint8_t byte, int which)
{
    static const uint8_t fixed[REPLACEMENTS - 2] = {0x00, 0x01, 0x02, 0x20, 0x7f, 0x80, 0xff};

    return which < REPLACEMENTS - 2 ? fixed[which]
                                    : (uint8_t)(which == REPLACEMENTS - 2 ? byte + 1 : byte - 1);
}

static void try_replacements(uint8_t *data, size_t size, attempt *now)
{
    unsigned turn = 0;

    for (now->at = 0; now->at < size; now->at++) {
        uint8_t byte = data[now->at];

        for (int which = 0; which < REPLACEMENTS; which++) {
            if (turn++ % step != 0)
                continue;
            data[now->at] = replacement(byte, which);
            now->value = data[now->at];
            now->count++;
            LLVMFuzzerTestOneInput(data, size);
        }
        data[now->at] = byte;
    }
}

/* In a block of just the length that is left, so that the first byte past it is noticed. */
static void try_cuts(const uint8_t *data, size_t size, attempt *now)
{
    now->value = -1;
    for (now->at = 0; now->at < size; now->at++) {
        uint8_t *cut = malloc(now->at ? now->at : 1);

        must(cut != NULL, "the machine has enough memory");
        memcpy(cut, data, now->at);
        now->count++;
        LLVMFuzzerTestOneInput(cut, now->at);
        free(cut);
    }
}

static bool tell_attempt(const char *path, const attempt *now, int status)
{
    fprintf(stderr, "%s: ", path);
    if (now->value < 0)
        fprintf(stderr, "cut to %zu bytes", now->at);
    else
        fprintf(stderr, "byte %zu replaced by 0x%02x", now->at, (unsigned)now->value);
    fprintf(stderr, ": %s %d\n", WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

static bool sweep_file(const char *path, uint8_t *data, size_t size, attempt *now)
{
    int status = -1;
    pid_t child;

    *now = (attempt){0};
    child = fork();
    if (child == 0) {
        try_replacements(data, size, now);
        try_cuts(data, size, now);
        free(data);
        exit(0); /* not _exit: a leak sanitizer has the last word */
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return tell_attempt(path, now, status);
    variants += now->count;
    return true;
}

/* ---- files and folders ---------------------------------------------------------------------- */

/* Shared with the children of a sweep; NULL without one. */
static attempt *shared;

static bool replay_file(const char *path)
{
    size_t size;
    uint8_t *data = read_file(path, &size);
    bool good = true;

    if (!data)
        return false;
    /* Said before, so that the last line names the file that made the target fail. */
    printf("%s: %zu bytes\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    if (shared)
        good = sweep_file(path, data, size, shared);
    free(data);
    replayed++;
    return good;
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
    bool good = true, sweep = argc > 1 && strncmp(argv[1], "--sweep", 7) == 0;

    if (sweep) {
        if (argv[1][7] == '=')
            step = (unsigned)strtoul(argv[1] + 8, NULL, 10);
        must(step > 0, "every Nth replacement needs a number");
        shared =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        must(shared != MAP_FAILED, "the machine has enough memory");
    }
    for (int i = sweep ? 2 : 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);

        if (folder) {
            good &= replay_folder(argv[i], folder);
            closedir(folder);
        } else {
            good &= replay_file(argv[i]);
        }
    }
    if (sweep)
        printf("%llu damaged forms of ", (unsigned long long)variants);
    printf("%u files\n", replayed);
    return good && replayed ? 0 : 1;
}
