/* How the files of one model are opened: the options of the caller, and progress over all of them. */
#ifndef FORMAT_FILE_OPENING_H
#define FORMAT_FILE_OPENING_H

#include <pthread.h>

#include "gufo/format.h"

typedef struct opening_state {
    const gufo_open_options *options;
    pthread_mutex_t lock; /* of what follows, and of the caller's function */
    uint64_t done;        /* bytes of all files */
    bool stopped;
} opening_state;

void opening_init(opening_state *o, const gufo_open_options *options);
void opening_end(opening_state *o);

/* Whether to go on, when a file of which *noted bytes were counted has come to `done`. */
bool opening_note(opening_state *o, uint64_t *noted, uint64_t done);

#endif
