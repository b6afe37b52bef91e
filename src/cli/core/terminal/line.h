/* A line for people that is put together from pieces, then broken where a terminal ends. */
#ifndef CLI_CORE_TERMINAL_LINE_H
#define CLI_CORE_TERMINAL_LINE_H

#include <stddef.h>
#include <stdio.h>

typedef struct line {
    FILE *out; /* pieces go here; they are safe for a terminal (text.h), and end no line */
    char *text;
    size_t len;
} line;

/* The stream keeps pointers into the line, which must not move before its end. */
void line_begin(line *l);
/* Writes the line to standard output, what does not fit four columns to the right, and ends it. */
void line_end(line *l);
/* A whole line, formatted as printf does. */
void line_put(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Formats as printf does, in at most TEXT_LINE bytes, and writes the result to standard output as plain
 * text (text.h).  A format that ends with a newline is for a whole line, which breaks as the above. */
void text_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
