/* Every way to open the same bytes. */
#ifndef TEST_SUPPORT_OPENERS_H
#define TEST_SUPPORT_OPENERS_H

#include "builder.h"
#include "folder.h"
#include "process.h"

/* A gufo_source over memory that counts, checks its arguments, and can fail. */
typedef struct test_source {
    const uint8_t *data;
    size_t size;
    size_t calls;
    size_t fail_at; /* the number of the read that fails, from 1; 0: none */
    size_t bad;     /* reads that were not inside the source */
    size_t closed;  /* calls of close */
} test_source;

gufo_source source_over(test_source *state, const void *data, size_t size);

typedef enum way {
    WAY_MEMORY,
    WAY_PATH,
    WAY_PATH_NO_MAP,
    WAY_FD,
    WAY_FD_NO_MAP,
    WAY_PIPE,
    WAY_SOURCE,
    WAY_COUNT
} way;

const char *way_name(way w);
/* Whether tensor data can be read, and whether it can be pointed at, after opening this way. */
bool way_has_data(way w);
bool way_has_pointers(way w);

/* A file opened some way, with what has to be kept until it is closed. */
typedef struct opened {
    gufo_model *file; /* NULL: the error says why */
    gufo_error error;
    uint8_t *copy; /* the bytes in a block of exactly their size, for WAY_MEMORY and WAY_SOURCE */
    test_source source;
} opened;

/* `options` may be NULL; flags are added to it as the way needs.  The result must stay where it is
 * until it is closed, hence the pointer. */
void open_way(opened *o, way w, const void *data, size_t len, const gufo_open_options *options);
void close_way(opened *o);

/* gufo_model_open_memory of a builder's bytes, strictly, with a failing check if it does not open. */
gufo_model *open_built(const builder *b, const char *label);

#endif
