/* Shared by gufo hash, verify and sign.
 *
 *     hash.c            gufo hash, and hashing
 *     verify*.c         gufo verify
 *     sign.c            gufo sign
 *     digest_missing.c  in their place in a minimal build */
#ifndef CLI_TRUST_HASH_H
#define CLI_TRUST_HASH_H

#include "cli/core/files/input.h"
#include "cli/core/files/path.h"
#include "cli/core/files/progress.h"
#include "cli/core/values/json.h"

#include "gufo/digest.h"

#include <stdio.h>

/* ---- models --------------------------------------------------------------------------------- */

/* Reports why hashing has failed; returns the code. */
int hash_report(const input *in, const gufo_error *error);

/* Checks whether the algorithms are available: CODE_OK, or CODE_USAGE after a report. */
int hash_check_algorithms(uint32_t algorithms);
/* The same of signatures. */
int hash_check_signatures(void);

/* A request to hash: what, and where the lines go; with --json, standard output gets an object. */
typedef struct hash_request {
    const shared_options *shared;
    uint32_t algorithms; /* a bit for each */
    bool no_tensors;     /* all data together only */
    FILE *out;
} hash_request;

/* Opens a model if the algorithms are available; hashes it.  Both return the exit code. */
int hash_open(input *in, const char *path, const input_options *options, uint32_t algorithms);
int hash_model(const input *in, const hash_request *request);

/* ---- text ----------------------------------------------------------------------------------- */

/* Manifests grow with the number of tensors, never with their size; keys, signatures and passwords
 * have few lines. */
#define HASH_MOST_MANIFEST ((size_t)1 << 30)
#define HASH_MOST_KEY ((size_t)64 << 10)

#define HASH_TOO_LONG "the text is too long"

#endif
