/* Hashes of tensor data, manifests of them, and signatures.
 *
 *     gufo_digest_options options = {.algorithms = 1u << GUFO_DIGEST_SHA256};
 *     gufo_model_digest(model, &options, NULL, &all, &error);
 *     gufo_digest_text(GUFO_DIGEST_SHA256, all.bytes[GUFO_DIGEST_SHA256], text);
 *
 * A separate library (libgufo_digest): it needs xxHash, OpenSSL's libcrypto and libsodium, each for
 * a part only.  A build without one of them reports it: gufo_digest_available,
 * gufo_signature_available.
 *
 * Part 1  algorithms   what can be hashed with
 * Part 2  hashing      every tensor, and all of them together
 * Part 3  manifests    lines of hashes, read and compared with a file
 * Part 4  signatures   as minisign makes them */
#ifndef GUFO_DIGEST_H
#define GUFO_DIGEST_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_digest_options gufo_digest_options;
typedef struct gufo_manifest_check gufo_manifest_check;
typedef struct gufo_manifest_summary gufo_manifest_summary;

/* In the order in which manifests list them. */
typedef enum gufo_digest_algorithm {
    GUFO_DIGEST_XXH64 = 0,   /* XXH64 with seed 0 */
    GUFO_DIGEST_SHA1 = 1,    /* FIPS 180-4 */
    GUFO_DIGEST_SHA256 = 2,  /* FIPS 180-4 */
    GUFO_DIGEST_BLAKE2B = 3, /* BLAKE2b-512, RFC 7693 */
    /* RFC 9562, version 5, in the namespace ef001206-dadc-5f6d-a15f-3359e577d4e5; of a whole file
     * only. */
    GUFO_DIGEST_UUID = 4,
} gufo_digest_algorithm;

#define GUFO_DIGEST_COUNT 5
#define GUFO_DIGEST_SIZE 64                         /* bytes of the longest hash */
#define GUFO_DIGEST_TEXT (2 * GUFO_DIGEST_SIZE + 1) /* of its text, with the terminator */

/* One hash of each algorithm; bytes of those that were not asked for are 0. */
typedef struct gufo_digests {
    uint8_t bytes[GUFO_DIGEST_COUNT][GUFO_DIGEST_SIZE];
    uint64_t reserved[24]; /* for three more */
} gufo_digests;

/* Hashes the data of every tensor, and into *all the data of all tensors in the order of the infos;
 * padding and metadata do not count.  Bytes are hashed as the file stores them.  Every byte is read
 * once, into about 16 MiB of memory; the hash of all data is made beside those of the tensors, each
 * algorithm on its own thread where there are enough.
 *   GUFO_E_ARGUMENT  no algorithm; a pipe, whose data is gone
 *   GUFO_E_TYPE      an algorithm that is not available
 *   GUFO_E_STOPPED   a callback asked for it
 *   GUFO_E_IO, GUFO_E_TRUNCATED, GUFO_E_MEMORY
 * Progress counts bytes.  `run` and `all` may be NULL; so may `options`, but then no algorithm is
 * named. */
GUFO_API gufo_status gufo_model_digest(const gufo_model *model, const gufo_digest_options *options,
                                       const gufo_run *run, gufo_digests *all, gufo_error *error);
/* A hash as text: lower-case hex digits, or the usual form of a UUID.  Returns its length. */
GUFO_API size_t gufo_digest_text(gufo_digest_algorithm algorithm, const uint8_t *digest,
                                 char text[GUFO_DIGEST_TEXT]);

/* Lines of hashes, as llama-gguf-hash and gufo write them:
 *
 *     sha256    c0510d38...bd  FILE:TENSOR
 *     sha256    7dd641b3...e4  FILE
 *
 * and hashes of all bytes of a file, in both forms that sha256sum, sha1sum, b2sum and xxhsum write;
 * a line that holds only a hash matches any file:
 *
 *     7dd641b3...e4 *FILE
 *     SHA256 (FILE) = 7dd641b3...e4
 *
 * A line that begins with a backslash has escapes in its name: \n, \r, \t, \\, \", \xHH (a byte)
 * and \u{HEX} (a character).  Lines may end with CR LF; empty lines and
 * lines that begin with '#' are skipped. */
typedef struct gufo_manifest gufo_manifest;

/* Reads a manifest; `text` is not needed afterwards.  NULL on failure: GUFO_E_MALFORMED, with the
 * number of the line; GUFO_E_MEMORY.  `options` may be NULL. */
GUFO_MUST_USE GUFO_API gufo_manifest *gufo_manifest_parse(gufo_str text,
                                                          const gufo_parse_options *options,
                                                          gufo_error *error);
/* Hashes a model with every algorithm that the manifest has for it and compares.  FILE does not
 * have to be the current path: if all lines are about one FILE, they are taken whatever its name;
 * else those whose FILE is `path`, or else has the same last component.  Differences are not
 * failures.  GUFO_E_NOT_FOUND if no line is about this file; GUFO_E_MALFORMED for a line that
 * contradicts another (the error then names no file); else as gufo_model_digest. */
GUFO_MUST_USE GUFO_API gufo_status gufo_model_verify(const gufo_model *model,
                                                     const gufo_manifest_check *check,
                                                     const gufo_run *run,
                                                     gufo_manifest_summary *summary,
                                                     gufo_error *error);
/* Whether nothing differed, was missing or was new. */
GUFO_API bool gufo_manifest_agrees(const gufo_manifest_summary *summary);
/* NULL is allowed. */
GUFO_API void gufo_manifest_free(gufo_manifest *manifest);

/* ==== Part 1: algorithms ===================================================================== */

typedef struct gufo_digest_kind {
    const char *name;    /* "sha256" */
    size_t size;         /* bytes */
    bool file_only;      /* not for single tensors */
    const char *library; /* that makes it */
    const char *package; /* Debian's package to build with */
    uint64_t reserved[4];
} gufo_digest_kind;

/* NULL for any other number.  Static; any thread. */
GUFO_API const gufo_digest_kind *gufo_digest_kind_of(gufo_digest_algorithm algorithm);
/* The algorithm with that name into *algorithm; false if none exists. */
GUFO_API bool gufo_digest_by_name(const char *name, gufo_digest_algorithm *algorithm);
/* Whether this build of the library has it. */
GUFO_API bool gufo_digest_available(gufo_digest_algorithm algorithm);

/* The libraries that hash and sign: name and version of number `index`, in *version NULL for one that
 * this build does without; false past the last.  Static; any thread. */
GUFO_API bool gufo_digest_library_at(size_t index, const char **name, const char **version);

/* Hashes bytes in memory into `digest`, of GUFO_DIGEST_SIZE bytes.  GUFO_E_TYPE if the algorithm is
 * not available. */
GUFO_API gufo_status gufo_digest_bytes(gufo_digest_algorithm algorithm, const void *data,
                                       size_t size, uint8_t *digest, gufo_error *error);

/* ==== Part 2: hashing ======================================================================== */

/* The hashes of a tensor, number `index` in the order of the infos of all shards.  Called in that
 * order, from any thread but one at a time.  False stops the work. */
typedef bool gufo_digest_tensor_fn(void *context, uint64_t index, const gufo_tensor *tensor,
                                   const gufo_digests *digests);

typedef struct gufo_digest_options {
    uint32_t algorithms;           /* a bit for each: 1 << GUFO_DIGEST_SHA256 ... */
    gufo_digest_tensor_fn *tensor; /* NULL: single tensors are not hashed */
    void *context;                 /* for it */
    uint64_t reserved[4];          /* zeros */
} gufo_digest_options;

/* Hashes all bytes of regular files, one after the other as if they were one file, with each of
 * `algorithms` (a bit for each: 1 << GUFO_DIGEST_SHA256 ...).  Progress counts the bytes of all.  `run` may
 * be NULL; any thread.  GUFO_E_ARGUMENT for a bit without an algorithm, or what is not a regular file;
 * GUFO_E_TYPE for an algorithm that is not available; GUFO_E_STOPPED, GUFO_E_IO, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_digest_files(const char *const *paths, size_t count, uint32_t algorithms,
                                       const gufo_run *run, gufo_digests *out, gufo_error *error);

/* ==== Part 3: manifests ====================================================================== */

typedef struct gufo_manifest_line {
    gufo_digest_algorithm algorithm;
    uint8_t digest[GUFO_DIGEST_SIZE];
    gufo_str name;   /* FILE or FILE:TENSOR */
    uint64_t number; /* of the line, from 1 */
    uint64_t reserved[4];
} gufo_manifest_line;

/* The number of lines that hold a hash of tensor data, and such a line (false past the end). */
GUFO_API uint64_t gufo_manifest_count(const gufo_manifest *manifest);
GUFO_API bool gufo_manifest_at(const gufo_manifest *manifest, uint64_t index,
                               gufo_manifest_line *out);

/* The same for lines that hold a hash of all bytes of a file. */
GUFO_API uint64_t gufo_manifest_file_count(const gufo_manifest *manifest);
GUFO_API bool gufo_manifest_file_at(const gufo_manifest *manifest, uint64_t index,
                                    gufo_manifest_line *out);

typedef enum gufo_manifest_verdict {
    GUFO_MANIFEST_SAME = 0,
    GUFO_MANIFEST_DIFFERS = 1,
    GUFO_MANIFEST_MISSING = 2, /* the manifest has it, the file does not */
    GUFO_MANIFEST_NEW = 3,     /* the file has it, the manifest does not */
} gufo_manifest_verdict;

/* About one tensor; about all data together if `whole` is set.  Valid only during the callback. */
typedef struct gufo_manifest_result {
    gufo_manifest_verdict verdict;
    bool whole;
    gufo_str tensor;
    uint32_t differing;  /* a bit for each algorithm whose hash differs */
    uint32_t algorithms; /* a bit for each one that gufo_manifest_verify_file compared */
    uint64_t reserved[4];
} gufo_manifest_result;

typedef struct gufo_manifest_check {
    const gufo_manifest *manifest;
    const char *path; /* of the file: which lines of a manifest about several files are meant */
    /* Tensors in the order of the infos, then those that are missing in the order of the manifest,
     * then all data.  May be NULL. */
    void (*result)(void *context, const gufo_manifest_result *result);
    void *context;        /* for it */
    uint64_t reserved[4]; /* zeros */
} gufo_manifest_check;

typedef struct gufo_manifest_summary {
    gufo_str file;       /* the FILE of the lines that were used; lives as long as the manifest */
    uint64_t lines;      /* that were used */
    uint32_t algorithms; /* a bit for each that these lines have */
    uint64_t tensors[4]; /* by verdict */
    bool has_whole;      /* there is a line about all data */
    uint32_t whole_differs; /* algorithms */
    uint64_t reserved[4];
} gufo_manifest_summary;

/* Hashes all bytes of the file at `path`, whatever it is, with every algorithm that the manifest
 * has for it, and compares: the verdict is SAME, DIFFERS, or NEW if no line names it.  Lines are
 * found as above; a manifest about a single file does not match a shard of another name.
 * GUFO_E_NOT_FOUND if lines name several files of this name, GUFO_E_MALFORMED for lines that
 * contradict each other, GUFO_E_TYPE, GUFO_E_STOPPED, GUFO_E_ARGUMENT if it is not a regular file,
 * GUFO_E_IO, GUFO_E_MEMORY.  `run` may be NULL. */
GUFO_MUST_USE GUFO_API gufo_status gufo_manifest_verify_file(const gufo_manifest *manifest,
                                                             const char *path, const gufo_run *run,
                                                             gufo_manifest_result *out,
                                                             gufo_error *error);

/* ==== Part 4: signatures ===================================================================== */

/* The formats of minisign: Ed25519 over the BLAKE2b-512 hash of a message, with a trusted comment
 * that is signed along.  Keys and signatures are text of a few lines. */

typedef struct gufo_public_key {
    uint8_t id[8];
    uint8_t key[32];
    uint64_t reserved[4];
} gufo_public_key;

/* Secret: overwrite it with gufo_secret_key_wipe. */
typedef struct gufo_secret_key {
    uint8_t id[8];
    uint8_t key[64];
    uint64_t reserved[4];
} gufo_secret_key;

#define GUFO_SIGNATURE_KEY_TEXT 1536 /* the text of a key, with the terminator */
#define GUFO_SIGNATURE_TEXT 10240    /* of a signature */
#define GUFO_TRUSTED_COMMENT 8173    /* bytes of a trusted comment; minisign reads no more */

/* The cost of guessing a password, as in crypto_pwhash_scryptsalsa208sha256; 0 for minisign's
 * choice, a second of work in 1 GiB of memory. */
typedef struct gufo_signature_key_effort {
    uint64_t operations, memory;
    uint64_t reserved[4]; /* must be zero */
} gufo_signature_key_effort;

/* Whether this build of the library can sign and check (it needs libsodium).  Without it, all of
 * the following functions fail with GUFO_E_TYPE. */
GUFO_API bool gufo_signature_available(void);

/* Eight bytes as minisign shows them: 16 digits. */
GUFO_API void gufo_signature_key_id_text(const uint8_t id[8], char text[17]);

/* Makes a pair of keys from random bytes. */
GUFO_API gufo_status gufo_signature_key_generate(gufo_public_key *public_key,
                                                 gufo_secret_key *secret_key, gufo_error *error);
GUFO_API void gufo_secret_key_wipe(gufo_secret_key *key);

/* The text of a key file.  The secret key is encrypted with `password`, unless its data is NULL;
 * `effort` may be NULL.  On failure `text` is empty. */
GUFO_API gufo_status gufo_public_key_text(const gufo_public_key *key,
                                          char text[GUFO_SIGNATURE_KEY_TEXT], gufo_error *error);
GUFO_API gufo_status gufo_secret_key_text(const gufo_secret_key *key, gufo_str password,
                                          const gufo_signature_key_effort *effort,
                                          char text[GUFO_SIGNATURE_KEY_TEXT], gufo_error *error);

/* Reads the text of a key file (for a public key, the second line alone is enough).
 * GUFO_E_MALFORMED for text that is not a key; for a secret key, GUFO_E_ARGUMENT for a wrong
 * password, GUFO_E_LIMIT for one that asks for more than 1 GiB, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_public_key_parse(gufo_str text, gufo_public_key *key, gufo_error *error);
GUFO_API gufo_status gufo_secret_key_parse(gufo_str text, gufo_str password, gufo_secret_key *key,
                                           gufo_error *error);
/* Whether it needs a password. */
GUFO_API gufo_status gufo_secret_key_encrypted(gufo_str text, bool *encrypted, gufo_error *error);

/* Signs a message into the text of a signature file.  GUFO_E_ARGUMENT for a comment that is too
 * long or is not a line of printable UTF-8, because minisign refuses it. */
GUFO_API gufo_status gufo_signature_make(const gufo_secret_key *key, gufo_str message,
                                         gufo_str trusted_comment, char text[GUFO_SIGNATURE_TEXT],
                                         gufo_error *error);

typedef enum gufo_signature_verdict {
    GUFO_SIGNATURE_GOOD = 0,
    GUFO_SIGNATURE_OTHER_KEY = 1,   /* made with another key */
    GUFO_SIGNATURE_BAD = 2,         /* the message is not what was signed */
    GUFO_SIGNATURE_BAD_COMMENT = 3, /* the message is good, the trusted comment is not */
} gufo_signature_verdict;

typedef struct gufo_signature_result {
    gufo_signature_verdict verdict;
    uint8_t key_id[8];        /* the key that the signature names */
    gufo_str trusted_comment; /* part of the text; to be trusted only if the verdict is good */
    uint64_t reserved[4];
} gufo_signature_result;

/* Checks a signature, of the current kind or of minisign's older kind over the message itself.
 * Fails with GUFO_E_MALFORMED for text that is not a signature. */
GUFO_MUST_USE GUFO_API gufo_status gufo_signature_check(const gufo_public_key *key,
                                                        gufo_str message, gufo_str text,
                                                        gufo_signature_result *result,
                                                        gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
