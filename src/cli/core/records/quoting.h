/* Texts of files in CSV and in Markdown stay text. */
#ifndef CLI_CORE_RECORDS_QUOTING_H
#define CLI_CORE_RECORDS_QUOTING_H

#include "gufo/files.h"
#include "cli/core/terminal/text.h"

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Files of comma-separated values, as RFC 4180 describes them: a row for each thing, and the names
 * of the columns in the first one. */

/* Writes text as a cell: always in quotes.  A spreadsheet takes a cell that begins with = + - @, a tab
 * or a carriage return for a formula, and names come from strangers: an apostrophe makes it text. */
void csv_put(FILE *out, gufo_str text);
/* The name of a column that is about something: "bytes model.gguf". */
void csv_put_column(FILE *out, const char *column, const char *about);

/* Checks before the work whether the file (may be NULL) can be written.  Returns CODE_OK, or
 * another code after a report. */
int csv_check(const char *path, bool force);
/* Writes what the stream holds, as save_bytes does, and closes the stream.  Returns the exit
 * code. */
int csv_save(text_stream *csv, const char *path, bool force, const gufo_guard *guard);

/* ---- Markdown: none becomes markup of it, of HTML or of YAML --------------------------------- */

/* Writes a text to standard output, without its control characters. */
void markdown_put(gufo_str text);
/* Writes what is free of them: lines below each other in a cell. */
void markdown_put_lines(gufo_str lines);
/* Writes a paragraph that does not begin like a list, a rule or a block of code. */
void markdown_put_paragraph(gufo_str text);

#endif
