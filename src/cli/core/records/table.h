/* Tables for people: cells of text below each other.
 *
 *     Tensors (2 of 21)                         table_title
 *       name                 type   elements    table_heads
 *       blk.0.attn_q.weight  F16       4,096    table_put
 *
 * Every row is made twice: for table_fit, which makes the columns wide enough, and for
 * table_put. */
#ifndef CLI_CORE_RECORDS_TABLE_H
#define CLI_CORE_RECORDS_TABLE_H

#include "gufo/base.h"

#define TABLE_CELLS 132
#define TABLE_TAIL 16

typedef struct table_column {
    const char *head;
    int width;     /* at least; negative: cells are on the left, as with printf */
    unsigned drop; /* narrow terminals drop the highest first; 0: never */
} table_column;

/* The first column has names: on the left, of any length and in any characters.  All others are
 * ASCII. */
typedef struct table {
    table_column columns[TABLE_CELLS];
    size_t count, indent, gap;  /* spaces before the first column, and between two */
    size_t most_name;           /* no name makes its column wider */
    size_t least_name;          /* columns are dropped before it gets narrower */
    bool headless;              /* table_print writes no heads */
    bool whole_names;           /* table_put_all gives a name that is too long its own lines */
    int name_shift;             /* columns by which names are shortened behind their middle */
    char name_tail[TABLE_TAIL]; /* an ending that the head has, and no name */
} table;

/* A table with two spaces before and between columns.  Elsewhere than on a terminal names are
 * whole, and those of more than 44 columns hang over.  On a terminal lines fit from 40 columns on:
 * it shortens names, down to `least_name`, so that they stay apart; then drops columns,
 * those with the highest `drop` first; then shortens text in the others, the widest first. */
table table_of(const table_column *columns, size_t count);

/* Begins as {0}.  Cells point into it: it is not copied. */
typedef struct table_row {
    gufo_str cells[TABLE_CELLS];
    size_t count, used;
    char text[2048]; /* of the cells that row_text made */
} table_row;

/* The next cell: text that lives as long as the row, or something formatted. */
void row_str(table_row *row, gufo_str text);
void row_text(table_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "Name (23)", or of more "Name (3 of 23)": a line.  A name alone, without its
 * end. */
void table_title(bool color, const char *name, uint64_t shown, uint64_t all);
void table_name(bool color, const char *name);

void table_fit(table *t, const table_row *row);
/* Write a line.  The last column is not padded; cells without a column are dropped.  On a terminal,
 * table_put writes text at the end of a line that is too long below it, unless its column may be
 * dropped. */
void table_put(const table *t, const table_row *row);
void table_heads(const table *t);
/* The same without the end of the line: something else follows. */
void table_put_cells(const table *t, const table_row *row);
/* The columns that a line of a terminal has left after the first `cells` columns and a gap; 0
 * without a terminal. */
size_t table_room(const table *t, size_t cells);

/* Makes row `index`, which is {0}; false past the last. */
typedef bool table_maker(const void *context, uint64_t index, table_row *row);
/* Fits the table to all rows, and finds how names become short; the number of rows. */
uint64_t table_fit_all(table *t, table_maker *make, const void *context);
/* Of a table that is fitted row by row: finds how names become short; rows need no other cell. */
void table_fit_names(table *t, table_maker *make, const void *context);
void table_put_all(const table *t, table_maker *make, const void *context);
/* Both, with the heads between them. */
void table_print(table *t, table_maker *make, const void *context);

#endif
