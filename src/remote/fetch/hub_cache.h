/* Downloads into the cache of huggingface_hub, whose programs then find them.
 *
 *     HUB/models--OWNER--NAME/blobs/ETAG                  the bytes; ETAG is a SHA-256, or that of git for small files
 *                             snapshots/COMMIT/a/b.gguf   -> ../../../blobs/ETAG
 *                             refs/REVISION               COMMIT, a text
 *         .locks/models--OWNER--NAME/ETAG.lock            held while a blob is made
 *
 * The ref comes last: whatever interrupts this, those who follow it find a whole file, or none. */
#ifndef REMOTE_FETCH_HUB_CACHE_H
#define REMOTE_FETCH_HUB_CACHE_H

#include "gufo/run.h"
#include "remote/fetch/wanted.h"

/* Fetches all files of `w`, of a repository of Hugging Face, one after the other.  GUFO_E_ARGUMENT for other
 * files, or where the client has no hf_cache; GUFO_E_IO where another program makes the same blob. */
gufo_status hub_cache_fetch(gufo_remote *remote, const wanted *w, const gufo_fetch_options *options,
                            const gufo_run *run, bool *mismatch, gufo_error *error);

#endif
