/* Whether a file at the path of one of ours is ours.
 *
 * Journals, .part files and what a commit puts aside have names that anybody can guess.  In a
 * folder that others may write to, such a file may belong to another user, or be a link to
 * something else; what it says must not decide about our files.  Facts come from fstat of a
 * descriptor that was opened without following links, so that the file cannot be exchanged after
 * the check. */

#ifndef GUFO_BASE_TRUST_H
#define GUFO_BASE_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/* For open(): to neither follow a symlink nor wait for a pipe. */
#define TRUST_OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

/* What a file of ours has to be beside. */
enum {
    TRUST_ONE_NAME =
        1, /* what is written to it changes no other file; one that appears by a link has two for a moment */
    TRUST_CLOSED = 2, /* no other user may write to it: what it says is what we have written */
};

/* Whether a file or folder at `path` has our user, or that which a file has that is made beside it: file
 * servers may give what we make to another user (NFS does so with what root makes).  Where the user is
 * not ours, such a file is made, and removed. */
bool trust_is_ours(const char *path, const struct stat *info);

/* Whether both are of one file. */
bool is_same_file(const struct stat *a, const struct stat *b);
/* Whether what is open has the name `path` itself, not by a link: another process may have renamed or removed it.  While
 * it is open no other file gets its number. */
bool has_this_name(int fd, const char *path);

/* All return the reason not to trust the file, as the end of a sentence (static); NULL for nothing.
 *
 * A regular file at `path` that is ours; `wanted`: the conditions above. */
const char *trust_own(const char *path, const struct stat *info, unsigned wanted);
/* One that is beside a file of `owner`: of that owner, root or ours, of one name, and no other user
 * may write to it. */
const char *trust_beside(const struct stat *info, uid_t owner);
/* One that a commit of ours has put aside, which is renamed or removed and never read: a file or
 * symlink of ours, of root, or of the folder's owner, who may change everything in it anyway. */
const char *trust_aside(const char *path, const struct stat *info, uid_t folder_owner);

/* Whether `path`, which belongs to `owner`, may have been planted: it is in a folder where everybody
 * may create files (sticky and writable, as /tmp), and belongs neither to us nor to the folder's
 * owner.  The kernel's rule for links and pipes there. */
bool trust_is_planted(const char *path, uid_t owner);

/* Whether the way to `path` goes through a symlink that may have been planted: any of its names but the
 * last, and what they lead to.  A link among them leads the file to another place as one that has its name
 * does, but the kernel's rule is about the last name alone.  What cannot be followed to its end says
 * nothing: opening it fails. */
bool way_is_planted(const char *path);

#endif
