/* gufo verify, as its files see it.
 *
 *     verify.c          the command line, and the work
 *     verify_result.c   the files that a manifest names, whether it is what was signed, and how
 *                       tensors compare, as lines and as JSON */
#ifndef CLI_TRUST_VERIFY_H
#define CLI_TRUST_VERIFY_H

#include "cli/trust/hash.h"

typedef struct verify_options {
    command_input base;
    input_options input;
    const char *key;       /* NULL: signatures are ignored */
    const char *signature; /* NULL: beside the manifest */
} verify_options;

typedef struct signed_text {
    bool checked;
    gufo_str text; /* of the signature */
    gufo_signature_result result;
} signed_text;

/* Checks the signature of `message`, which was read from `path`.  CODE_OK, or another code after a
 * report.  The caller frees the text of `s` with small_file_free. */
int verify_signature(const char *path, gufo_str message, const verify_options *options,
                     signed_text *s);
void verify_put_signature(const char *path, const signed_text *s);
/* "signature":{...} */
void verify_write_signature(json_writer *j, const signed_text *s);

typedef struct verify_name {
    gufo_str name; /* in the manifest's memory */
    bool has_data; /* about tensor data, not all bytes */
    size_t order;
} verify_name;

typedef struct verify_names {
    verify_name *list; /* to be freed with free */
    size_t count;
} verify_names;

/* Returns a code, after a report if it is not CODE_OK. */
int verify_names_of(const gufo_manifest *manifest, verify_names *names);

/* A line, or an object: about a tensor, or about all bytes of a file, which were compared with a manifest or a hash. */
void verify_put_result(const gufo_manifest_result *result, const char *file,
                       const char *compared_with);
void verify_write_result(json_writer *j, const gufo_manifest_result *result, const char *file);
/* The last line, or the last members. */
void verify_put_summary(const char *path, const gufo_manifest_summary *s);
void verify_write_summary(json_writer *j, const gufo_manifest_summary *s);

#endif
