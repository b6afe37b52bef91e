/* Where bytes go in order: a pipe, a socket, a terminal. */
#ifndef GUFO_PRODUCE_SINK_H
#define GUFO_PRODUCE_SINK_H

#include "gufo/base.h"

typedef struct sink {
    int fd;
    uint64_t position; /* bytes that were sent */
    bool failed;       /* the stream is broken */
} sink;

gufo_status sink_send(sink *s, const void *bytes, uint64_t size, gufo_error *error);
/* Sends zeros up to byte `place`. */
gufo_status sink_pad(sink *s, uint64_t place, gufo_error *error);

#endif
