/* Text from files, made safe for a terminal and measured in columns. */
#ifndef CLI_CORE_TERMINAL_TEXT_H
#define CLI_CORE_TERMINAL_TEXT_H

#include "gufo/base.h"

#include <stdio.h>

/* How text is written.  In every style valid UTF-8 goes through as it is, and
 *     control characters (C0, DEL, C1), bidirectional controls, line separators and what is not seen
 *         (gufo_utf8_is_hidden) become \n, \r, \t or \u{1b};
 *     bytes that are not UTF-8 become \xff. */
typedef enum text_style {
    TEXT_PLAIN,  /* just that: keys, names, paths */
    TEXT_QUOTED, /* and \" and \\, for text between quotes */
    TEXT_LINES,  /* newline and tab go through: text of several lines that fills the screen */
} text_style;

/* Whether plain text goes through unchanged. */
bool text_is_clean(gufo_str text);
void text_put(FILE *out, gufo_str text, text_style style);
/* Writes text that a file holds to standard output: byte by byte, but a terminal, which must not act on
 * it, gets it in a style. */
void text_put_result(gufo_str text, text_style style);
enum { TEXT_LINE = 1 << 14 }; /* room for two of the longest paths that systems know, and words */

/* The columns that text_put fills. */
size_t text_columns(gufo_str text, text_style style);
/* The longest prefix that fills at most `columns` columns, in time that follows them, not the text: of
 * marks without width a column has some bytes. */
gufo_str text_fit(gufo_str text, text_style style, size_t columns);
/* Writes at most `columns` columns: all of it, or a prefix and "...".  Returns the columns. */
size_t text_put_cut(FILE *out, gufo_str text, text_style style, size_t columns);
/* The same, but shortens the middle: "blk.0.ffn...exps.weight". */
size_t text_put_middle(FILE *out, gufo_str text, text_style style, size_t columns);
/* The same, but shortens it `shift` columns behind the middle. */
size_t text_put_short(FILE *out, gufo_str text, text_style style, size_t columns, int shift);
/* Writes plain text in lines of at most `width` columns, which break after a space or a comma,
 * but not inside a number or before its unit, where they can: the first after `used` columns, the next ones below it after `indent` spaces.  Width 0:
 * one line. */
void text_put_wrapped(FILE *out, gufo_str text, size_t used, size_t indent, size_t width);
/* Spaces. */
void text_pad(FILE *out, size_t columns);

/* Whether the locale of the environment writes UTF-8: drawings may use blocks and lines. */
bool text_locale_is_utf8(void);

/* A stream into memory. */
typedef struct text_stream {
    FILE *out; /* NULL without memory */
    char *text;
    size_t len;
} text_stream;

/* Opens the stream, which must not move until it is closed.  False without memory. */
bool text_stream_open(text_stream *s);
/* Closes the stream.  Returns the text, which the caller frees; NULL for an empty one, or without
 * memory. */
char *text_stream_close(text_stream *s);

/* ---- terminals ------------------------------------------------------------------------------- */

/* How wide a terminal is now. */
size_t terminal_columns(int fd);
/* The same, unless COLUMNS says how wide lines should be. */
size_t terminal_width(int fd);
/* Whether TERM says that terminals take nothing but text: a shell in an editor does. */
bool terminal_is_dumb(void);

/* ---- commands to copy, as a shell reads them ------------------------------------------------- */

/* Writes a text as a shell reads it as (a part of) one word; safe for a terminal. */
void shell_put(FILE *out, gufo_str text);
/* A space and a path: one that begins with a hyphen is not an option. */
void shell_put_file(FILE *out, const char *path);

#endif
