/* The text files of minisign, as the files of this room see them.
 *
 *     signature.c   lines of comments and base64, keys, signing and checking */
#ifndef DIGEST_SIGNATURE_H
#define DIGEST_SIGNATURE_H

#include "gufo/digest.h"

#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "

/* Of any text file: the next line, without its line break (LF or CR LF), moving `rest` past it.
 * False at the end. */
bool text_line(gufo_str *rest, gufo_str *line);

gufo_status signature_missing(gufo_error *error);

#endif
