/* One file that is downloaded: from what the server says of it to bytes that are all there.
 *
 *     download_begin   asks for the first bytes, compares them with what is known, finds or makes OUT.part
 *     missing_fetch     the bytes that are missing, by ranges side by side, or all in order (missing.h)
 *     download_check   SHA-256, and what of a GGUF header has not been seen yet
 *
 * Afterwards `out` is to be committed, alone or with those of its set.
 *
 * Bytes of two answers are one file only if the server says of both that they are of the same one, by a strong
 * ETag, or if the SHA-256 of all of it is known and is compared in the end.  Without either a download
 * is one answer from its first byte to its last: it has no ranges, and starts over when it is
 * interrupted. */
#ifndef REMOTE_FETCH_DOWNLOAD_H
#define REMOTE_FETCH_DOWNLOAD_H

#include "base/files/output.h"
#include "remote/fetch/record.h"
#include "remote/http/http.h"
#include "remote/sha256.h"

/* What is wanted. */
typedef struct fetch_file {
    const char *url;
    const char *address; /* what errors call it, and the record of its download: without secrets */
    const char *name;    /* of the file at the server: its ending says whether it has to be GGUF */
    const char *path;    /* where it goes */
    const char *inside;  /* its path in a repository; NULL: it is in none */
    const char *local;   /* it is at this path already, whatever its url; NULL: it is not */
    uint64_t size;       /* that it has to have; GUFO_NO_OFFSET: any */
    char sha256[SHA256_HEX + 1]; /* that it has to have; "": that which the server says, if any */
} fetch_file;

typedef struct download {
    gufo_remote *remote;
    const fetch_file *file;
    const gufo_allocator *allocator;
    bool replace; /* what other downloads have left */
    output *out;  /* found already, and to be committed by the caller */
    record record;
    char *record_path;
    http_version version;        /* of the file at the server */
    http_place from;             /* where its bytes come from */
    uint64_t size;               /* GUFO_NO_OFFSET: not known */
    char sha256[SHA256_HEX + 1]; /* that is to be compared; "": none */
    char found[SHA256_HEX + 1];  /* that the bytes have; "": not computed */
    char commit[HTTP_TEXT_SIZE]; /* of the repository; "": not known */
    range_set finished;          /* bytes that are in OUT.part */
    uint64_t kept;               /* how many of them an earlier run has left */
    bool has_ranges;             /* else it is one answer */
    bool is_checked;             /* its header needs no second look, or has none */
    bool differs;                /* its SHA-256 is another one */
    bool is_named;               /* it is committed */
    bool is_new; /* an earlier run had begun with another file: this one starts over */
    bool (*goes_on)(void *context); /* asked while the server is waited for; NULL: nobody asks */
    void *context;
} download;

/* After a failure too, download_end ends it. */
gufo_status download_begin(download *d, gufo_error *error);
gufo_status download_check(download *d, gufo_error *error);
/* Closes it.  What is not committed is kept for the next run, if that can use it. */
void download_end(download *d);

#endif
