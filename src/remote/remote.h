/* The client, as the files of this room see it. */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "base/lock.h"
#include "gufo/remote.h"
#include "remote/http/headers.h"
#include "remote/http/retry.h"
#include "remote/http/url.h"

/* A secret, and where it belongs. */
typedef struct remote_token {
    url_origin origin;
    const char *header; /* Authorization: Bearer ...; NULL: none */
} remote_token;

enum { REMOTE_TOKENS = 2 };

struct session; /* http/session.h */

/* Bytes that were fetched before they were asked for (ranges/chunks.h). */
typedef struct chunk_list {
    mutex lock;
    struct chunk *newest, *oldest;
    uint64_t bytes;
} chunk_list;

struct gufo_remote {
    gufo_allocator allocator;
    /* Texts of their own; endpoints without a slash at their end; what has a default is never NULL. */
    gufo_remote_options options;
    char **texts; /* all of them, to be freed */
    size_t text_count;
    uint64_t text_room;
    remote_token tokens[REMOTE_TOKENS];
    retry_pace pace;
    chunk_list chunks;
    mutex asking;             /* for progress: one thread at a time */
    mutex lock;               /* of what follows */
    struct session *sessions; /* those that nobody uses now */
    uint64_t received;        /* bytes of all bodies */
    uint64_t chance;          /* of jitter */
};

#endif
