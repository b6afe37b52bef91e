/* Tables.  The script of the page sorts them by a column, and filters those that say so. */
#ifndef GUFO_REPORT_PAGE_TABLE_H
#define GUFO_REPORT_PAGE_TABLE_H

#include "report/page/html.h"

typedef struct html_column {
    const char *head; /* ours; NULL: the end */
    bool is_number;
} html_column;

/* `label` says what the table is, for those who do not see it. */
void html_table(page *p, const char *label, const html_column *columns);
/* The same for a table whose cells but the first are all numbers (html_cell_word). */
void html_table_numbers(page *p, const char *label, const html_column *columns);
void html_row(page *p);
/* The first cell of a row: its name. */
void html_cell_name(page *p, gufo_str name);
/* Others: a text of others, a text of ours, a number. */
void html_cell_text(page *p, gufo_str text);
void html_cell_word(page *p, const char *text);
void html_cell_number(page *p, const char *number);
/* The same with a value by which it is sorted, where its text has a unit. */
void html_cell_quantity(page *p, const char *text, double value);
/* The same where three digits of the value are enough to sort by. */
void html_cell_measured(page *p, const char *text, double value);
/* A cell whose content follows, with classes or "". */
void html_cell(page *p, const char *classes);
void html_cell_end(page *p);
void html_row_end(page *p);
void html_table_end(page *p);

#endif
