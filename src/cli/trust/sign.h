/* gufo sign, as its files see it.
 *
 *     sign.c            the command line, manifests, signing
 *     sign_key.c        making and reading keys, passwords */
#ifndef CLI_TRUST_SIGN_H
#define CLI_TRUST_SIGN_H

#include "cli/trust/hash.h"

typedef struct sign_options {
    command_input base;
    input_options input;
    const char *key;
    const char *password_file;
    const char *comment;
    bool generate;
    bool no_password;
} sign_options;

/* Makes NAME.key and NAME.pub.  Returns the exit code. */
int sign_generate(const char *name, const sign_options *options);
/* Reads the secret key that the options name; the caller wipes it.  Returns the exit code. */
int sign_read_key(const sign_options *options, gufo_secret_key *key);

#endif
