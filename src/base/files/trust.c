/* Files of other users. */
#define _XOPEN_SOURCE 700 /* S_ISVTX, lstat, readlink */

#include "base/files/trust.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/disk.h"
#include "base/files/folder.h"

bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool has_this_name(int fd, const char *path)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && is_same_file(&opened, &named);
}

/* Whether files that we make in the folder of `path` get the user of this one. */
static bool are_made_for(const char *path, const struct stat *info)
{
    size_t folder = folder_len(path);
    char name[PATH_MAX];
    struct stat made;
    bool same;
    int fd;

    if (folder + TEMPORARY_NAME > sizeof name)
        return false;
    memcpy(name, path, folder);
    temporary_name(name + folder);
    fd = disk_open(name, O_WRONLY | O_CREAT | O_EXCL | TRUST_OPEN_FLAGS, 0600);
    if (fd < 0)
        return false;
    same = fstat(fd, &made) == 0 && made.st_dev == info->st_dev && made.st_uid == info->st_uid;
    (void)disk_unlink(name);
    (void)close(fd);
    return same;
}

bool trust_is_ours(const char *path, const struct stat *info)
{
    return info->st_uid == geteuid() || are_made_for(path, info);
}

static const char *judge(const struct stat *info, unsigned wanted)
{
    if ((wanted & TRUST_ONE_NAME) != 0 && info->st_nlink != 1)
        return "it has other hard links";
    if ((wanted & TRUST_CLOSED) != 0 && (info->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return "other users may write to it";
    return NULL;
}

const char *trust_own(const char *path, const struct stat *info, unsigned wanted)
{
    if (!S_ISREG(info->st_mode))
        return "it is not a regular file";
    return trust_is_ours(path, info) ? judge(info, wanted) : "it belongs to another user";
}

const char *trust_aside(const char *path, const struct stat *info, uid_t folder_owner)
{
    if (!S_ISREG(info->st_mode) && !S_ISLNK(info->st_mode))
        return "it is not a regular file";
    return info->st_uid == 0 || info->st_uid == folder_owner || trust_is_ours(path, info)
               ? NULL
               : "it belongs to another user";
}

const char *trust_beside(const struct stat *info, uid_t owner)
{
    if (!S_ISREG(info->st_mode))
        return "it is not a regular file";
    return info->st_uid == owner || info->st_uid == 0 || info->st_uid == geteuid()
               ? judge(info, TRUST_ONE_NAME | TRUST_CLOSED)
               : "it belongs to another user";
}

bool trust_is_planted(const char *path, uid_t owner)
{
    const mode_t shared = S_ISVTX | S_IWOTH;
    char folder[PATH_MAX];
    struct stat around;

    if (owner == geteuid())
        return false;
    /* A folder that cannot be examined is not trusted. */
    if (!folder_of(path, folder) || stat(folder, &around) != 0)
        return true;
    return (around.st_mode & shared) == shared && owner != around.st_uid;
}

/* ---- the walk along a path ---------------------------------------------------------------------- */

enum { MOST_LINKS = 40 };

typedef struct way {
    char done[PATH_MAX]; /* walked, without links, and with a slash at its end; "": here */
    char rest[PATH_MAX]; /* left to walk */
    unsigned links;      /* that were followed */
} way;

/* Appends a name; false: no path is so long. */
static bool append(way *w, const char *name, size_t len)
{
    size_t before = strlen(w->done);

    if (before + len + 2 > sizeof w->done)
        return false;
    memcpy(w->done + before, name, len);
    memcpy(w->done + before + len, "/", 2);
    return true;
}

/* Drops the last name of what was walked. */
static bool go_up(way *w)
{
    size_t len = strlen(w->done);
    bool is_up = len == 0 || (len >= 3 && strcmp(w->done + len - 3, "../") == 0);

    if (is_up)
        return append(w, "..", 2);
    if (len > 1)
        w->done[len - 1] = '\0';
    w->done[folder_len(w->done)] = '\0';
    return true;
}

/* The text of the link at `path` takes its place in what is left. */
static bool follow(way *w, const char *path)
{
    size_t rest = strlen(w->rest);
    char text[PATH_MAX];
    ssize_t len = readlink(path, text, sizeof text);

    if (len <= 0 || (size_t)len + 1 + rest >= sizeof w->rest || ++w->links > MOST_LINKS)
        return false;
    memmove(w->rest + len + 1, w->rest, rest + 1);
    memcpy(w->rest, text, (size_t)len);
    w->rest[len] = '/';
    if (*text == '/')
        w->done[0] = '\0';
    return true;
}

/* Into the folder of that name, or along the link; *planted if it is one that may have been. */
static bool step(way *w, const char *name, size_t len, bool *planted)
{
    size_t before = strlen(w->done);
    char path[PATH_MAX];
    struct stat info;

    if (before + len >= sizeof path)
        return false;
    memcpy(path, w->done, before);
    memcpy(path + before, name, len);
    path[before + len] = '\0';
    if (lstat(path, &info) != 0)
        return false;
    if (!S_ISLNK(info.st_mode))
        return append(w, name, len);
    *planted = trust_is_planted(path, info.st_uid);
    return !*planted && follow(w, path);
}

bool way_is_planted(const char *path)
{
    size_t len = folder_len(path);
    bool planted = false, goes_on = len < PATH_MAX;
    way w = {.links = 0};

    memcpy(w.rest, path, goes_on ? len : 0);
    while (goes_on && w.rest[0] != '\0') {
        char name[PATH_MAX];
        size_t name_len = strcspn(w.rest, "/"), skip = name_len + (w.rest[name_len] == '/');

        memcpy(name, w.rest, name_len);
        memmove(w.rest, w.rest + skip, strlen(w.rest + skip) + 1);
        if (name_len == 0 && w.done[0] == '\0')
            goes_on = append(&w, "", 0); /* the root */
        else if (name_len == 2 && memcmp(name, "..", 2) == 0)
            goes_on = go_up(&w);
        else if (name_len > 1 || (name_len == 1 && name[0] != '.'))
            goes_on = step(&w, name, name_len, &planted);
    }
    return planted;
}
