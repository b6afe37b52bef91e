/* The walk below a folder; beneath.h draws it. */
#define _GNU_SOURCE /* O_PATH, where there is one */

#include "base/files/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders on the way need not be readable. */
#if defined(O_PATH)
#define WAY_FLAGS O_PATH
#elif defined(O_SEARCH)
#define WAY_FLAGS O_SEARCH
#else
#define WAY_FLAGS O_RDONLY
#endif

enum { MOST_LINKS = 40, MOST_FOLDERS = 32 };

typedef struct walk {
    int folders[MOST_FOLDERS]; /* from the root, which is the caller's, to where we are */
    unsigned depth;            /* of the last one */
    unsigned links;            /* that were followed */
    char rest[PATH_MAX];       /* what is left to walk */
} walk;

int beneath_root(const char *path)
{
    return open(path, WAY_FLAGS | O_DIRECTORY | O_CLOEXEC);
}

static int here(const walk *w)
{
    return w->folders[w->depth];
}

static void end_walk(walk *w)
{
    int failure = errno;

    for (; w->depth > 0; w->depth--)
        (void)close(here(w));
    errno = failure;
}

static int fail_walk(int failure)
{
    errno = failure;
    return -1;
}

static int begin_walk(walk *w, int root, const char *name)
{
    size_t len = strlen(name);

    *w = (walk){.folders = {root}};
    if (len == 0)
        return fail_walk(ENOENT);
    if (len >= sizeof w->rest)
        return fail_walk(ENAMETOOLONG);
    memcpy(w->rest, name, len + 1);
    return 0;
}

/* Takes the next name off what is left: an empty one off what begins with a slash. */
static int take_name(walk *w, char name[NAME_MAX + 1])
{
    size_t len = strcspn(w->rest, "/"), skip = len + strspn(w->rest + len, "/");

    if (len > NAME_MAX)
        return fail_walk(ENAMETOOLONG);
    memcpy(name, w->rest, len);
    name[len] = '\0';
    memmove(w->rest, w->rest + skip, strlen(w->rest + skip) + 1);
    return 0;
}

/* Puts the text of a symlink before what is left. */
static int follow(walk *w, const char *name)
{
    size_t rest = strlen(w->rest);
    char text[PATH_MAX];
    ssize_t len = readlinkat(here(w), name, text, sizeof text);

    if (len < 0)
        return -1;
    if (++w->links > MOST_LINKS)
        return fail_walk(ELOOP);
    if (len == 0 || (size_t)len + 1 + rest >= sizeof w->rest)
        return fail_walk(len == 0 ? ENOENT : ENAMETOOLONG);
    memmove(w->rest + len + (rest > 0), w->rest, rest + 1);
    memcpy(w->rest, text, (size_t)len);
    if (rest > 0)
        w->rest[len] = '/';
    return 0;
}

static int go_up(walk *w)
{
    if (w->depth == 0)
        return fail_walk(EXDEV);
    (void)close(here(w));
    w->depth--;
    return 0;
}

static int go_down(walk *w, const char *name)
{
    int fd = openat(here(w), name, WAY_FLAGS | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -1;
    if (w->depth + 1 == MOST_FOLDERS) {
        (void)close(fd);
        return fail_walk(ELOOP);
    }
    w->folders[++w->depth] = fd;
    return 0;
}

/* One name on: into a folder, up, or to the text of a link. */
static int step(walk *w, const char *name)
{
    struct stat info;

    if (*name == '\0')
        return fail_walk(EXDEV);
    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0)
        return go_up(w);
    if (fstatat(here(w), name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    return S_ISLNK(info.st_mode) ? follow(w, name) : go_down(w, name);
}

/* Walks until one name is left, "." for where we are. */
static int walk_on(walk *w, char name[NAME_MAX + 1])
{
    for (;;) {
        bool steps;

        if (take_name(w, name) != 0)
            return -1;
        steps = *name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (!steps && *w->rest == '\0')
            return 0;
        if (step(w, name) != 0)
            return -1;
        if (*w->rest == '\0') {
            memcpy(name, ".", sizeof ".");
            return 0;
        }
    }
}

static bool may_be_opened(const struct stat *info)
{
    return S_ISREG(info->st_mode) || S_ISDIR(info->st_mode);
}

/* Opens the last name; a link of this name becomes what is left, and *again is set. */
static int open_last(walk *w, const char *name, int flags, bool *again)
{
    struct stat info;
    int fd;

    *again = false;
    if (fstatat(here(w), name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return -1;
    if (S_ISLNK(info.st_mode)) {
        *again = follow(w, name) == 0;
        return -1;
    }
    if (!may_be_opened(&info))
        return fail_walk(ENODEV);
    fd = openat(here(w), name, flags | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &info) == 0 && may_be_opened(&info)))
        return fd;
    (void)close(fd); /* it was exchanged */
    return fail_walk(ENODEV);
}

static int open_beneath(int root, const char *path, int flags)
{
    char name[NAME_MAX + 1];
    bool again = true;
    int fd = -1;
    walk w;

    if (begin_walk(&w, root, path) != 0)
        return -1;
    while (again && walk_on(&w, name) == 0)
        fd = open_last(&w, name, flags, &again);
    end_walk(&w);
    return fd;
}

int beneath_open(int root, const char *name)
{
    return open_beneath(root, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

int beneath_open_folder(int root, const char *name)
{
    return open_beneath(root, name, O_RDONLY | O_DIRECTORY);
}
