/* What services answer when they are asked for the files of a repository. */
#ifndef REMOTE_PLACES_LISTING_H
#define REMOTE_PLACES_LISTING_H

#include "remote/places/files.h"

/* How a service's JSON is made: names of members, by which files are found. */
typedef struct listing_shape {
    const char *within[3]; /* the members that lead to the list; none: the answer is the list */
    const char *path, *size, *kind; /* of a file */
    const char *file;               /* the kind that a file has */
    const char *large, *sha256; /* the hash is in this member; `large` NULL: in the file itself */
} listing_shape;

enum { LISTING_MOST_BYTES = 16 << 20 };

/* Adds the files of an answer, which may be any bytes.  GUFO_E_MALFORMED and GUFO_E_TRUNCATED with the
 * byte; GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status listing_read(gufo_str text, const listing_shape *shape, place_files *files,
                         gufo_error *error);

#endif
