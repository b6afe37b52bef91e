/* Files of comma-separated values, as RFC 4180 describes them: a row for each thing, and the names
 * of the columns in the first one. */
#ifndef CLI_CORE_CSV_H
#define CLI_CORE_CSV_H

#include "base/files/guard.h"
#include "cli/core/terminal/text.h"

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
int csv_save(text_stream *csv, const char *path, bool force, const output_guard *guard);

#endif
