/* Files of fuzz targets; see place.h. */
#include "place.h"

#include "walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static pid_t owner; /* of the folder */

/* The child of a process that has registered it ends with two calls. */
static void remove_place(void)
{
    if (owner != getpid())
        return;
    (void)place_clear(NULL);
    (void)rmdir(folder);
    owner = 0;
}

const char *place_folder(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    if (owner == getpid())
        return folder;
    owner = getpid();
    (void)umask(022);
    (void)snprintf(folder, sizeof folder, "%s/gufo-fuzz-XXXXXX", base);
    must(mkdtemp(folder) != NULL, "there is a place for files");
    (void)atexit(remove_place);
    return folder;
}

path_text place_file(const char *name)
{
    path_text path;

    (void)snprintf(path.text, sizeof path.text, "%s/%s", place_folder(), name);
    return path;
}

void place_put(const char *name, const void *data, size_t size)
{
    int fd = open(place_file(name).text, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0,
         "there is room for files");
}

int place_clear(const char *kept)
{
    DIR *directory = opendir(place_folder());
    struct dirent *file;
    int count = 0;

    must(directory != NULL, "the folder can be read");
    while ((file = readdir(directory)) != NULL) {
        if (strcmp(file->d_name, ".") == 0 || strcmp(file->d_name, "..") == 0)
            continue;
        count++;
        if (kept == NULL || strcmp(file->d_name, kept) != 0)
            (void)unlink(place_file(file->d_name).text);
    }
    (void)closedir(directory);
    return count;
}
