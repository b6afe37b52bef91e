/* The text files of minisign, as the files of this room see them.
 *
 *     signature.c        signing and checking
 *     signature_key.c    keys
 *     signature_text.c   lines of comments and base64 */
#ifndef DIGEST_SIGNATURE_H
#define DIGEST_SIGNATURE_H

#include "gufo/digest.h"

#define UNTRUSTED "untrusted comment: "
#define TRUSTED "trusted comment: "

/* The next line of a text, without its line break (LF or CR LF), moving `rest` past it.  False at
 * the end. */
bool signature_line(gufo_str *rest, gufo_str *line);
/* Whether the line begins so; takes the beginning away. */
bool signature_skip(gufo_str *line, const char *beginning);
/* Reads a comment and a line of `size` bytes in base64. */
bool signature_read(gufo_str *rest, uint8_t *out, size_t size);
/* Whether only empty lines are left. */
bool signature_ends(gufo_str rest);

gufo_status signature_missing(gufo_error *error);

#endif
