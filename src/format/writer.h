/* The writer, as the room sees it.
 *
 *     plan.c     what is to be written: metadata is encoded at once, tensors are listed
 *     layout.c   where everything goes
 *     emit.c     the output: a file in any order, or a stream in order */
#ifndef GUFO_FORMAT_WRITER_H
#define GUFO_FORMAT_WRITER_H

#include <pthread.h>

#include "base/output.h"
#include "format/encode.h"
#include "format/file.h"
#include "base/ranges.h"

/* Names are kept by their place in a buffer: of the encoded metadata, or of all tensor names. */
typedef struct planned_key {
    uint64_t at;
    size_t len;
} planned_key;

typedef struct planned_tensor {
    uint64_t name_at;
    size_t name_len;
    uint64_t dims[GUFO_MAX_DIMS];
    uint64_t offset; /* from the start of the file, after layout */
    uint64_t size;
    uint32_t type;
    uint32_t n_dims;
} planned_tensor;

struct gufo_writer {
    gufo_allocator allocator;
    uint32_t version;
    bool as_read;
    encoder metadata;    /* the entries */
    buffer tensor_names; /* one after the other */
    records keys;        /* of planned_key */
    records tensors;     /* of planned_tensor */
    name_index key_index, tensor_index;
    uint32_t alignment;

    bool laid_out;
    gufo_layout layout;
    encoder header; /* the first data_offset bytes of the file */

    output file;
    int stream; /* -1: none */
    uint64_t stream_position;
    bool open;      /* has an output that takes data */
    bool used;      /* has had one */
    ranges written; /* bytes of the file; padding counts as written with what it follows */
    pthread_mutex_t written_lock;
};

static inline planned_tensor *writer_tensor(const gufo_writer *w, uint64_t index)
{
    return records_at(&w->tensors, index);
}

gufo_str planned_name(const gufo_writer *w, const planned_tensor *tensor);

/* gufo_writer_open_path, for a job whose inputs `guard` (may be NULL) holds. */
gufo_status writer_open_guarded(gufo_writer *writer, const char *path, bool replace,
                                const output_guard *guard, gufo_error *error);

#endif
