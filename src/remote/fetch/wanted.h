/* Which files an address means, and what they are called here. */
#ifndef REMOTE_FETCH_WANTED_H
#define REMOTE_FETCH_WANTED_H

#include "remote/fetch/download.h"

typedef struct wanted {
    fetch_file *files;
    size_t count;
    const char
        *repository; /* its folder in the cache of Hugging Face; NULL: they are not from there */
    const char *revision; /* of it */
    char **texts;         /* that they point to */
    uint64_t text_count, text_room;
    const gufo_allocator *allocator;
} wanted;

/* Finds them: the file that `address` names or, unless `single`, all shards of the set that it begins.  `out` is as
 * for gufo_remote_fetch.  The caller frees *w, which has an allocator, after a failure, too.
 *   GUFO_E_ARGUMENT  the address is none, or has no name for a file; a set needs more than the name of one */
gufo_status wanted_find(gufo_remote *remote, const char *address, const char *out, bool single,
                        wanted *w, gufo_error *error);
void wanted_free(wanted *w);

#endif
