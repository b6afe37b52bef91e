/* Advice about a finding, in words and as a command that works on that very file; for gufo validate, and for the page in
 * web/.
 *
 *     hint: did you mean 'Apache-2.0'?
 *     fix:  gufo edit 'my model.gguf' --set-string=general.license=Apache-2.0 -o OUT
 *
 * The library gives the fix as data.  A command is given only where it works: not for standard input, nor for a
 * file that other commands refuse to open; a file that cannot be written gets -o OUT. */
#ifndef CLI_VALIDATE_ADVICE_H
#define CLI_VALIDATE_ADVICE_H

#include "cli/core/files/foreign_file.h"

#include "gufo/findings.h"

#include <stdio.h>

enum { FIX_KINDS = GUFO_FIX_RENAME_TENSOR + 1 };

/* The file that a finding is about. */
typedef struct advice_file {
    const char *path;            /* as commands name it */
    bool is_usable;              /* other commands open it */
    bool is_shard;               /* one file of a set */
    bool is_writable;            /* it can be changed in place */
    const foreign_kind *foreign; /* of a file that is not a GGUF file; else NULL */
} advice_file;

/* Without advice nothing is written. */
void advice_put_words(FILE *out, const advice_file *file, const gufo_finding *finding);
void advice_put_command(FILE *out, const advice_file *file, const gufo_finding *finding);

#endif
