/* Models on other machines: read by ranges of HTTP where they are, found in repositories and in caches of
 * this machine, fetched.  A library of its own, libgufo_remote (pkg-config gufo-remote), which needs
 * libcurl and libcrypto.
 *
 * Part 1  the client    its options, connections and secrets
 * Part 2  places        what an address names, and where that is
 * Part 3  downloads     files that are fetched whole, resumed and verified
 *
 * The library reads no environment and no configuration: proxies, tokens, caches and certificates are
 * options.  Names and answers of servers are not trusted: schemes other than https and (where it is allowed)
 * http are refused, as are addresses with a user and a password; a token goes to the scheme, host and port
 * that it belongs to and nowhere else, whatever redirects say; certificates are always checked.  What an
 * address has behind its question mark may be a secret, and is in no message, cache or journal. */
#ifndef GUFO_REMOTE_H
#define GUFO_REMOTE_H

#include "format.h"
#include "run.h"

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

/* Opens the model that an address names (part 2): what is in a cache of this machine as gufo_model_open does, else from
 * its server, from which only the needed parts are read.  The address of the first of several shards means all of
 * them, which are opened at once.  `options` as for gufo_model_open, and may be NULL.  Freed with gufo_model_free,
 * before the client.  NULL on failure: that of gufo_remote_find, of the server, or of gufo_model_open; the error
 * names the file, and for what is not a model the host that it came from. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_remote_model_open(gufo_remote *remote, const char *address,
                                                          const gufo_open_options *options,
                                                          gufo_error *error);

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

/* ==== Part 2: places ========================================================================== */

/* An address is one of
 *     hf://[models/|datasets/|spaces/]OWNER/NAME[@REVISION]/PATH   a file of a repository of Hugging Face
 *     hf://OWNER/NAME[@REVISION][/FOLDER/]                         all files in it, or in a folder of it
 *     hf://OWNER/NAME:TYPE, hf.co/OWNER/NAME:TYPE, OWNER/NAME:TYPE its GGUF file of an element type
 *     ms://OWNER/NAME[@REVISION]/PATH                              the same at ModelScope
 *     ollama://[HOST/][OWNER/]NAME[:TAG]                           a model of a registry
 *     https://HOST/...                                             a file of any server; what a browser
 *                                                                  shows of these services is theirs */

/* What a text is by its grammar alone; nothing is asked.  0: a path, or anything else that is not an address. */
typedef enum gufo_address_flags {
    GUFO_ADDRESS = 1,         /* it is one, or should be: a part of it may be malformed */
    GUFO_ADDRESS_FOLDER = 2,  /* of a repository, or of a folder of one */
    GUFO_ADDRESS_OR_PATH = 4, /* it has no scheme: a file of this name comes first */
} gufo_address_flags;

/* Any thread. */
GUFO_API uint32_t gufo_remote_address(const char *text);

/* What an address names.  Texts are in it. */
typedef struct gufo_place {
    bool is_folder;      /* a repository, or a folder of one: gufo_remote_list lists its files */
    bool is_local;       /* it is on this machine: `path` */
    const char *service; /* "Hugging Face" ...; static */
    const char *
        cache; /* that it is in: "huggingface", "ollama", "LM Studio", "llama.cpp"; static; NULL: none */
    char path[4096];    /* of the file on this machine, or the address without what may be secret */
    char address[2048]; /* that says it in full, with the name of the file that has the type */
    char name[1025];    /* of the file in its repository; "": it has none, or is not in one */
    char revision[65];  /* the commit; "": not known */
    char sha256[65];    /* of its bytes, as the service says; "": not known */
    uint64_t size;      /* bytes; UINT64_MAX: not known */
    uint64_t reserved[8];
} gufo_place;

/* Finds what an address names: in a cache of this machine, where it counts as it is, or else at its service, which
 * is asked only for what the address does not say: which file has the element type.  Any thread.
 *   GUFO_E_ARGUMENT   it is not an address; a part of it is malformed, or could lead out of a folder
 *   GUFO_E_NOT_FOUND  the service has no such file; the message says what it has
 *   GUFO_E_IO         the service refuses, and the message says what would help (a token, accepting conditions);
 *                     it cannot be reached, or may not be asked (GUFO_REMOTE_OFFLINE)
 *   GUFO_E_MALFORMED, GUFO_E_TRUNCATED, GUFO_E_LIMIT   its answer
 *   GUFO_E_STOPPED, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_remote_find(gufo_remote *remote, const char *address, gufo_place *out,
                                      gufo_error *error);

/* Opens what an address names as bytes.  `out` is the caller's, who calls its `close`, before the client is freed.
 * Fails as gufo_remote_find, or as the server does. */
GUFO_API gufo_status gufo_remote_source(gufo_remote *remote, const char *address, gufo_source *out,
                                        gufo_error *error);

/* A file of a repository. */
typedef struct gufo_remote_file {
    const char *path;   /* in the repository */
    const char *sha256; /* NULL: not known */
    uint64_t size;      /* bytes; UINT64_MAX: not known */
    uint64_t reserved[4];
} gufo_remote_file;

/* Takes a file, which lives during the call; false: that is enough. */
typedef bool gufo_remote_file_fn(void *context, const gufo_remote_file *file);

/* Lists the files of a repository, or those below a folder of it, in the order of their paths.  Names that could lead
 * out of a folder are left out; *left_out (may be NULL) is how many.  Of the address of a file
 * that file alone.  Fails as gufo_remote_find. */
GUFO_API gufo_status gufo_remote_list(gufo_remote *remote, const char *address,
                                      gufo_remote_file_fn *use, void *context, uint64_t *left_out,
                                      gufo_error *error);
/* ==== Part 3: downloads ======================================================================= */

typedef enum gufo_fetch_flags {
    GUFO_FETCH_REPLACE = 1, /* files that exist, and what other downloads have left of them */
    /* Of Hugging Face: into the cache of huggingface_hub, hf_cache; `out` is NULL, and nothing but hashes is checked. */
    GUFO_FETCH_INTO_CACHE = 4,
    GUFO_FETCH_SINGLE = 2, /* only the file that is named, even if it begins a set of shards */
} gufo_fetch_flags;

/* A file that was fetched. */
typedef struct gufo_fetched {
    const char *path;    /* its name */
    const char *part;    /* where it is until it has that; NULL then */
    const char *address; /* where it came from, without secrets */
    const char *
        sha256; /* of its bytes, which were compared with what was wanted; NULL: nothing was known */
    uint64_t size;
    uint64_t kept; /* bytes that an interrupted download had left */
    bool is_new;   /* it had left bytes of another version of the file, which were thrown away */
    uint64_t reserved[8];
} gufo_fetched;

typedef struct gufo_fetch_options {
    uint32_t flags;    /* of gufo_fetch_flags */
    uint32_t requests; /* at a time, for one file; 0: 4 */
    const char
        *sha256; /* 64 hexadecimal digits, that one file has to have; NULL: what its service says */
    /* Called once when all files are there and right, but do not have their names yet; its failure is that of
     * the download, of which nothing is left then if it is GUFO_E_CHANGED.  NULL: nothing is checked. */
    gufo_status (*check)(void *context, const gufo_fetched *files, size_t count, gufo_error *error);
    void (*fetched)(void *context,
                    const gufo_fetched *file); /* called for each in the end; may be NULL */
    void *context;                             /* for both */
    uint64_t reserved[8];                      /* must be zero */
} gufo_fetch_options;

/* Downloads what `address` names to `out`: a path, or a folder for a file of the name that the address has;
 * NULL: the working folder.  Answers of servers never name a file.  With the first of a set of shards all of
 * them are fetched, and get their names together.  Bytes go to OUT.part, beside which OUT.part.fetch records
 * which of them have come; both stay when the call fails and what is there can be continued, and calling it
 * again continues it, if the server has the same file still: its ETag says so, or its SHA-256 if that is
 * known.  Else the download starts over.  Where the service says the SHA-256 of a file it is compared.
 * The header of a file that is called NAME.gguf is checked before the rest of it is fetched.
 * Progress counts the bytes of all files, and has a total of 0 where that is not known; `options` and `run` may be NULL.
 *   GUFO_E_EXISTS    `out` exists, or another download has left its .part file, and GUFO_FETCH_REPLACE is not given
 *   GUFO_E_CHANGED   the file changed at the server meanwhile, or is not the one that is wanted: if its SHA-256 is
 *                    another one, *mismatch (may be NULL) is set, and nothing is left of it
 *   GUFO_E_STOPPED   progress asked for it; the next call goes on from there
 *   GUFO_E_IO        the server, the network or the disk
 *   GUFO_E_NOT_GGUF, GUFO_E_VERSION, GUFO_E_MALFORMED, GUFO_E_TRUNCATED, GUFO_E_LIMIT
 *                    NAME.gguf is not a good GGUF file
 *   GUFO_E_ARGUMENT, GUFO_E_NOT_FOUND, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_remote_fetch(gufo_remote *remote, const char *address, const char *out,
                                       const gufo_fetch_options *options, const gufo_run *run,
                                       bool *mismatch, gufo_error *error);

/* ==== Folders of models ======================================================================= */

/* Opens the folder of a model for gufo_checkpoint_options.folder: hf://OWNER/NAME[@REVISION][/FOLDER/], ms://..., or
 * the address of a folder of any web server.  The latter lists nothing: the usual names of a model's files are
 * asked for, and those that an index names.  No file is read before it is asked for, but for an index and the first
 * 256 KiB of what was
 * looked for.  The folder may be used by several threads; `out` is the caller's, who calls its `close` after all that
 * reads from it is freed, and before the client.  Fails as the service or the server does; GUFO_E_ARGUMENT for
 * what is not the address of a folder. */
GUFO_API gufo_status gufo_remote_folder(gufo_remote *remote, const char *address, gufo_folder *out,
                                        gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
