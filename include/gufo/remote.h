/* Models on other machines: read by ranges of HTTP where they are, found in repositories and in caches of
 * this machine, fetched.  A library of its own, libgufo_remote (pkg-config gufo-remote), which needs
 * libcurl and libcrypto.
 *
 * Part 1  the client    its options, connections and secrets
 *
 * The library reads no environment and no configuration: proxies, tokens, caches and certificates are
 * options.  Names and answers of servers are not trusted: schemes other than https and (where it is allowed)
 * http are refused, as are addresses with a user and a password; a token goes to the scheme, host and port
 * that it belongs to and nowhere else, whatever redirects say; certificates are always checked.  What an
 * address has behind its question mark may be a secret, and is in no message, cache or journal. */
#ifndef GUFO_REMOTE_H
#define GUFO_REMOTE_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_remote_options gufo_remote_options;

/* What reads from other machines: options, and connections that are kept for the next call.  Any number
 * of threads may use it at once. */
typedef struct gufo_remote gufo_remote;

/* Makes a client, freed with gufo_remote_free; nothing is asked yet.  `options` are copied and may be
 * NULL.  NULL on failure: GUFO_E_ARGUMENT (an endpoint that is not an address, a token that no header can hold),
 * GUFO_E_IO (libcurl is not usable), GUFO_E_MEMORY. */
GUFO_MUST_USE GUFO_API gufo_remote *gufo_remote_new(const gufo_remote_options *options,
                                                    gufo_error *error);
/* Closes its connections.  Everything that was opened with it has to be closed before.  NULL is allowed. */
GUFO_API void gufo_remote_free(gufo_remote *remote);

/* ==== Part 1: the client ====================================================================== */

typedef enum gufo_remote_flags {
    GUFO_REMOTE_OFFLINE = 1,    /* local caches only: what needs the network fails with GUFO_E_IO */
    GUFO_REMOTE_PLAIN_HTTP = 2, /* http to any host; without, to this machine alone */
    GUFO_REMOTE_NO_CACHE = 4,   /* neither read nor write the cache of headers */
    /* Refuse addresses of this machine and of private networks, as they are when names are resolved; for programs
     * that open addresses that strangers give them.  A redirect from elsewhere to such an address is always
     * refused.  A proxy resolves names itself: with one, only addresses that are spelled in digits are known. */
    GUFO_REMOTE_FORBID_PRIVATE = 8,
} gufo_remote_flags;

/* Texts are copied; NULL is the default, and an empty text is as NULL. */
typedef struct gufo_remote_options {
    uint32_t flags;              /* of gufo_remote_flags */
    const char *user_agent;      /* NULL: gufo/VERSION */
    const char *ca_file;         /* certificates of authorities, PEM; NULL: those of the system */
    const char *https_proxy;     /* for https; NULL: none */
    const char *http_proxy;      /* for http; NULL: none */
    const char *no_proxy;        /* hosts to ask without one, as libcurl takes them; NULL: none */
    const char *hf_endpoint;     /* NULL: https://huggingface.co */
    const char *hf_token;        /* goes to hf_endpoint alone; NULL: none */
    const char *hf_cache;        /* folder of huggingface_hub; NULL: none */
    const char *ollama_endpoint; /* NULL: https://registry.ollama.ai */
    const char *ollama_models;   /* folder with manifests and blobs; NULL: none */
    const char *ms_endpoint;     /* NULL: https://www.modelscope.cn */
    const char *ms_token;        /* goes to ms_endpoint alone; NULL: none */
    const char *const *folders;  /* where other programs keep models, ends with NULL; NULL: none */
    const char *cache; /* folder for headers of models, made when it is needed; NULL: none */
    /* Called ten times a second and more while somebody waits for a server, from any thread but one at a
     * time, with the bytes that have come in all, and a total of 0; false stops that call with GUFO_E_STOPPED.  NULL:
     * nobody asks. */
    gufo_progress_fn *progress;
    void *progress_context;
    const gufo_allocator *allocator; /* used from several threads; NULL: malloc */
    uint64_t reserved[8];            /* must be zero */
} gufo_remote_options;

#ifdef __cplusplus
}
#endif

#endif
