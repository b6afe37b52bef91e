/* Bytes of a file into a new one, by the kernel where it can share or copy them, and their digest. */
#ifndef REMOTE_OLLAMA_MOVING_H
#define REMOTE_OLLAMA_MOVING_H

#include "base/files/source.h"
#include "gufo/run.h"
#include "remote/ollama/manifest.h"

/* Progress of several steps as one. */
typedef struct ollama_progress {
    const gufo_run *run;
    uint64_t before; /* bytes of the steps that are done */
    uint64_t total;  /* of all */
} ollama_progress;

/* GUFO_E_STOPPED if the caller wants that, after `done` bytes of this step. */
gufo_status ollama_progress_note(const ollama_progress *progress, uint64_t done, gufo_error *error);

/* Writes all bytes of a source to the file `path`, or none, and puts their SHA-256 into `hex`.  `wanted`: the
 * digest that they have to have, else GUFO_E_MALFORMED; NULL: any. */
gufo_status ollama_move(const source *from, const char *path, bool replace, const char *wanted,
                        char hex[OLLAMA_HEX + 1], const ollama_progress *progress,
                        const gufo_allocator *allocator, gufo_error *error);
/* The SHA-256 of the file `path`, and its size. */
gufo_status ollama_hash_file(const char *path, char hex[OLLAMA_HEX + 1], uint64_t *size,
                             const ollama_progress *progress, const gufo_allocator *allocator,
                             gufo_error *error);

#endif
