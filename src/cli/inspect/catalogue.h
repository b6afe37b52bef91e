/* The tables of the library in one shape, for gufo list and gufo explain.
 *
 *     catalogue.c   the tables, types of values, advice; gufo list
 *     explain.c     rows in words; values of keys, words that are near to a row, commands as examples */
#ifndef CLI_INSPECT_CATALOGUE_H
#define CLI_INSPECT_CATALOGUE_H

#include "cli/core/records/record.h"
#include "gufo/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CATALOGUE_CELLS = 10 };

/* The first column holds the names of rows. */
typedef struct catalogue_columns {
    const char *names[CATALOGUE_CELLS + 1]; /* as in JSON; the last one is NULL */
    unsigned numbers;                       /* a bit for each that holds numbers */
    unsigned kept;                          /* and for each that a narrow terminal keeps longest */
} catalogue_columns;

/* The cells of a row; "" for an empty one.  They are static, except those that the row itself
 * holds. */
typedef struct catalogue_row {
    const char *cells[CATALOGUE_CELLS];
    char numbers[CATALOGUE_CELLS][24];
    char name[256];      /* the first cell, where it is put together */
    const char *example; /* of this row; NULL: as for the others */
} catalogue_row;

typedef struct catalogue {
    const char *name;    /* "keys" */
    const char *one;     /* "key" */
    const char *heading; /* "metadata key": the heading of gufo explain */
    /* Row `index`; false past the end. */
    bool (*row)(size_t index, catalogue_row *out);
    const char *example; /* a command; WORD in it is a placeholder for a name */
    catalogue_columns columns;
    bool headed;       /* gufo list names its columns */
    gufo_spelling own; /* names that the format gives to rows */
    /* The name of the row that a word means, though it is not called so; NULL for none. */
    const char *(*meant)(const char *word);
    /* For keys and tensors, which architectures have: whether `arch` has the one of that name, and
     * its own rows with their need; false past the end. */
    bool (*arch_has)(const char *arch, const char *name);
    bool (*arch_row)(const char *arch, size_t index, catalogue_row *out);
    catalogue_columns arch_columns;
    bool is_architecture; /* a row is one: it has rows of others */
} catalogue;

extern const catalogue catalogues[];
extern const size_t catalogue_count;

/* How many rows a list has. */
size_t catalogue_rows(const catalogue *c);

/* Finds a list by its name ("keys"); NULL for an unknown name. */
const catalogue *catalogue_find(const char *name);

/* The row that a word names, even by a name that means many, or by the format's own. */
bool catalogue_lookup(const catalogue *c, const char *word, catalogue_row *out);

/* The placeholder for the architecture at the front of a key. */
#define CATALOGUE_ARCH_PLACE "{arch}."

/* Which need the second cell of an architecture's own row names, the strongest first; ends with NULL. */
extern const char *const catalogue_needs[];

/* The next class of models, as frameworks call it, that becomes an architecture; *next is 0 at first.  NULL at the
 * end, and where nothing is converted. */
const char *catalogue_class(const char *arch, size_t *next);

/* Line `index` of how checkpoints become models of an architecture, and back: gufo_import_line's members in order.  False
 * past the end, and where nothing is converted. */
enum { PAGE_KIND, PAGE_NAME, PAGE_VALUE, PAGE_CONDITION, PAGE_TARGETS, PAGE_NOTE, PAGE_CELLS };
typedef struct catalogue_page_line {
    const char *cells[PAGE_CELLS];
} catalogue_page_line;
bool catalogue_line(const char *arch, size_t index, catalogue_page_line *out);

/* The next architecture that uses a row, by its name; *next is 0 at first.  NULL at the end. */
const char *catalogue_user(const catalogue *c, const char *name, size_t *next);

/* Rows as records, whose fields are made in `fields`; `headed`: columns are as wide as their names. */
record_type catalogue_record(const catalogue_columns *columns, bool headed,
                             record_field fields[CATALOGUE_CELLS]);

/* Writes all rows, with columns below each other, or as JSON: {"keys":[{...},...]}.  `arch`: only
 * the rows of that architecture; NULL: all. */
void catalogue_list(const catalogue *c, const char *arch, bool json);

#endif
