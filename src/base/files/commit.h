/* Several files that are renamed together: a set of shards.
 *
 * A set cannot be opened without its first shard, so the old first shard goes first and the new one
 * comes last.  What the new files replace is put aside, under a short name that depends on the
 * target's (.gufo-HASH.old in its folder); where nothing is replaced, an empty file of that name
 * records this.
 *
 *     aside    the old first shard; sync; the others; sync       the old set cannot be opened
 *     name     new shards 2..n; sync
 *     first    the new first shard; sync                         the new set can be opened
 *     forget   the asides are removed
 *
 * The first shard and its aside show what a killed program or a loss of power left:
 *
 *     first shard exists           the commit had not begun or was complete: asides are obsolete
 *     gone, its aside exists       interrupted: a shard that has an aside is a new one, or gone; one
 *                                  without is still the old one
 *     both gone                    nothing was begun
 *
 * Repeating the command finishes it: shards that are left over are replaced, and asides stay until
 * the new set is complete, or get their names back if that fails.  An aside is trusted only if
 * nobody else can have planted it (trust.h).
 *
 * A single file is simply renamed (output.h). */
#ifndef GUFO_BASE_COMMIT_H
#define GUFO_BASE_COMMIT_H

#include "base/files/output.h"

/* In all of these `files` are all files of the set, in order, that were found (output_find). */

/* Makes sure, before any work is done, that two outputs are not the same file (through symlinks),
 * that no untrusted file is where the old files would be put aside, and that those would be trusted
 * there.  Sets `old` of files that an interrupted commit has put aside: they are replaced as if
 * they had their names.  GUFO_E_ARGUMENT, and *failed is the index of the file. */
gufo_status commit_check(output *files, size_t count, size_t *failed, gufo_error *error);

/* The path where the file that `file` replaces is put aside, which the caller frees with its
 * allocator; NULL without memory. */
char *commit_aside_path(const output *file);

/* Sets `replace` of all files, after commit_check: what an interrupted commit of this set has left
 * may be replaced without being asked, but not what it has put aside.  A file that is `named` is not
 * in its own way.  GUFO_E_EXISTS for the first file that may not be replaced, which *failed is the
 * index of. */
gufo_status commit_check_replace(output *files, size_t count, bool replace, size_t *failed,
                                 gufo_error *error);

/* Gives all files their names.  Those that are open are closed (output_close) first.  A file whose
 * `named` is set has got its name in an interrupted commit, and `temporary` is where it goes if
 * this one fails.  On success all outputs are forgotten, as after output_commit.  On failure the
 * old files are where they were, the new ones under their temporary names (or gone, without
 * `keep`), still to be discarded, and *failed is the index of the file that the error is about. */
gufo_status commit_set(output *files, size_t count, size_t *failed, gufo_error *error);

#endif
