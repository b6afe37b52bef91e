/* A file or a pipe of any length, read in blocks or in lines.
 *
 * Before reading waits, what was printed is flushed: a program at the other end of two pipes gets
 * each answer before it sends the next text. */
#ifndef CLI_TEXT_BLOCKS_H
#define CLI_TEXT_BLOCKS_H

#include "gufo/base.h"

typedef struct blocks {
    const char *path;
    int fd;
    char *data; /* bytes from `begin` to `end` are not used yet */
    size_t room, begin, end;
    bool ended; /* the file */
    uint64_t line;
} blocks;

/* Opens a file; "-", or NULL, is standard input.  Returns the exit code; closed in any case. */
int blocks_open(blocks *b, const char *path);
void blocks_close(blocks *b);

/* The next bytes; none at the end.  They live until the next call.  Returns the exit code. */
int blocks_next(blocks *b, gufo_str *block);
/* The next line that is not empty, without its end, terminated; b->line is its number.  `line->data` is
 * NULL at the end.  A line that holds a NUL is a failure. */
int blocks_next_line(blocks *b, gufo_str *line);

#endif
