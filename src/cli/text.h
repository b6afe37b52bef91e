/* Text from files, made safe for a terminal and measured in columns. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "gufo/base.h"

#include <stdio.h>

/* How text is written.  In every style valid UTF-8 goes through as it is, and
 *     control characters (C0, DEL, C1), bidirectional controls and line separators
 *         become \n, \r, \t or \u{1b};
 *     bytes that are not UTF-8 become \xff. */
typedef enum text_style {
    TEXT_PLAIN,  /* just that: keys, names, paths */
    TEXT_QUOTED, /* moreover \" and \\, for text between quotes */
    TEXT_LINES,  /* newline and tab go through: text of several lines that fills the screen */
} text_style;

void text_put(FILE *out, gufo_str text, text_style style);
/* The columns that text_put fills. */
size_t text_columns(gufo_str text, text_style style);
/* The longest prefix that fills at most `columns` columns. */
gufo_str text_fit(gufo_str text, text_style style, size_t columns);
/* Writes at most `columns` columns: all of it, or a prefix and "...".  Returns the columns. */
size_t text_put_cut(FILE *out, gufo_str text, text_style style, size_t columns);
/* Spaces. */
void text_pad(FILE *out, size_t columns);

/* ---- tables --------------------------------------------------------------------------------- */

/* Makes a column as wide as a cell needs. */
static inline void text_widen(size_t *columns, size_t needed)
{
    if (needed > *columns)
        *columns = needed;
}

/* What a plain text needs, if it gets at most `most` columns. */
size_t text_needs(gufo_str text, size_t most);
/* A plain cell: at most `most` columns of the text, and spaces up to `columns`. */
void text_put_cell(FILE *out, gufo_str text, size_t columns, size_t most);

#endif
