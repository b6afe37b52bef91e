/* Texts of files in Markdown stay text: none becomes markup of Markdown, HTML or YAML. */
#ifndef CLI_CORE_RECORDS_MARKDOWN_H
#define CLI_CORE_RECORDS_MARKDOWN_H

#include "gufo/base.h"

/* Writes a text to standard output, without its control characters. */
void markdown_put(gufo_str text);
/* Writes what is free of them: lines below each other in a cell. */
void markdown_put_lines(gufo_str lines);
/* Writes a paragraph that does not begin like a list, a rule or a block of code. */
void markdown_put_paragraph(gufo_str text);

#endif
