/* Fuzz target: anything as the journal of an interrupted edit, beside a small model that is whole
 * and beside one that is half written.  It must be distinguished from other files, and recovery changes the file
 * only into one that can be opened. */
#include "walk.h"

#include "gufo/edit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Version 3, no tensors, one key: "k", a uint32; padding. */
static const uint8_t model[64] = {'G', 'G', 'U', 'F', 3,   0, 0, 0, 0, 0, 0, 0, 0, 0,
                                  0,   0,   1,   0,   0,   0, 0, 0, 0, 0, 1, 0, 0, 0,
                                  0,   0,   0,   0,   'k', 4, 0, 0, 0, 7, 0, 0, 0};

static char folder[64], path[80], journal[100];

static pid_t owner; /* of the folder: a sweep forks */

static void clean(void)
{
    if (owner != getpid())
        return;
    (void)unlink(journal);
    (void)unlink(path);
    (void)rmdir(folder);
}

static void prepare(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    if (owner == getpid())
        return;
    owner = getpid();
    (void)umask(022);
    (void)snprintf(folder, sizeof folder, "%s/gufo-fuzz-XXXXXX", base);
    must(mkdtemp(folder) != NULL, "there is a place for files");
    (void)snprintf(path, sizeof path, "%s/m.gguf", folder);
    (void)snprintf(journal, sizeof journal, "%s.gufo-journal", path);
    (void)atexit(clean);
}

static void put(const char *name, const void *data, size_t size)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0,
         "there is room for files");
}

/* `half`: as an edit leaves it that has cleared the magic. */
static void recover(const uint8_t *data, size_t size, bool half)
{
    uint8_t before[sizeof model];
    gufo_edit_state state;
    gufo_edit_recovery recovery;
    gufo_status status;
    gufo_error error;
    gufo_model *file;

    memcpy(before, model, sizeof model);
    if (half)
        memset(before, 0, 4);
    put(path, before, sizeof before);
    put(journal, data, size);
    state = gufo_edit_pending(path);
    must(state != GUFO_EDIT_STATE_LIVE, "nobody edits it");
    status = gufo_edit_recover(path, NULL, &recovery, &error);
    must(status == GUFO_OK || access(journal, F_OK) == 0, "a journal that was not used stays");
    must(status != GUFO_OK || gufo_edit_pending(path) == GUFO_EDIT_STATE_SETTLED,
         "what is recovered is settled");
    must(state != GUFO_EDIT_STATE_SETTLED || recovery != GUFO_EDIT_RECOVERED_NEW,
         "what is settled is not changed");
    if (status == GUFO_OK && recovery == GUFO_EDIT_RECOVERED_NEW) {
        file = gufo_model_open(path, NULL, NULL);
        must(file != NULL || size < sizeof model, "an edit that is complete leaves a model");
        gufo_model_free(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    prepare();
    recover(data, size, false);
    recover(data, size, true);
    return 0;
}
