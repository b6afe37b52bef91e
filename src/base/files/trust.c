/* Files of other users; trust.h has the idea. */
#define _XOPEN_SOURCE 700 /* S_ISVTX */

#include "base/files/trust.h"

#include <stddef.h>
#include <unistd.h>

#include "base/files/folder.h"

static const char *judge(const struct stat *info, bool owner_fits)
{
    if (!S_ISREG(info->st_mode))
        return "it is not a regular file";
    if (!owner_fits)
        return "it belongs to another user";
    return info->st_nlink != 1 ? "it has other hard links" : NULL;
}

/* The same, with the rights of others. */
static const char *judge_closed(const struct stat *info, bool owner_fits)
{
    const char *obstacle = judge(info, owner_fits);

    if (obstacle == NULL && (info->st_mode & (S_IWGRP | S_IWOTH)) != 0)
        obstacle = "other users may write to it";
    return obstacle;
}

const char *trust_own(const struct stat *info)
{
    return judge(info, info->st_uid == geteuid());
}

const char *trust_kept(const struct stat *info)
{
    return judge_closed(info, info->st_uid == geteuid());
}

const char *trust_replaceable(const struct stat *info)
{
    if (!S_ISREG(info->st_mode))
        return "it is not a regular file";
    return info->st_uid != geteuid() ? "it belongs to another user" : NULL;
}

const char *trust_aside(const struct stat *info, uid_t folder_owner)
{
    if (!S_ISREG(info->st_mode) && !S_ISLNK(info->st_mode))
        return "it is not a regular file";
    if (info->st_uid != geteuid() && info->st_uid != 0 && info->st_uid != folder_owner)
        return "it belongs to another user";
    return NULL;
}

const char *trust_beside(const struct stat *info, uid_t owner)
{
    return judge_closed(info,
                        info->st_uid == owner || info->st_uid == 0 || info->st_uid == geteuid());
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
