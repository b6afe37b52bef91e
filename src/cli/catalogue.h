/* What gufo list and gufo explain know: the tables of the library, all in one shape.
 *
 *     catalogue.c          the tables
 *     catalogue_words.c    words that are near to a row, and commands as examples */
#ifndef CLI_CATALOGUE_H
#define CLI_CATALOGUE_H

#include "cli/json.h"

#include <stdbool.h>
#include <stddef.h>

enum { CATALOGUE_CELLS = 9 };

/* The first column is what a row is called. */
typedef struct catalogue_columns {
    const char *names[CATALOGUE_CELLS + 1]; /* as in JSON; the last one is NULL */
    unsigned numbers;                       /* a bit for each that holds numbers */
} catalogue_columns;

static inline bool catalogue_is_number(const catalogue_columns *columns, size_t index)
{
    return (columns->numbers >> index & 1) != 0;
}

/* The cells of a row, "" where there is nothing.  Static, except what the row itself holds. */
typedef struct catalogue_row {
    const char *cells[CATALOGUE_CELLS];
    char numbers[CATALOGUE_CELLS][24];
    char name[256];      /* the first cell, where it is put together */
    const char *example; /* of this row; NULL: as for the others */
} catalogue_row;

typedef struct catalogue {
    const char *name;    /* "keys" */
    const char *one;     /* "key" */
    const char *heading; /* "metadata key": what explain says that it is */
    catalogue_columns columns;
    size_t (*count)(void);
    /* Row `index`; false past the end. */
    bool (*row)(size_t index, catalogue_row *out);
    /* The row that a word names; NULL: the one that is called so. */
    bool (*find)(const char *word, size_t *index);
    /* Hands over the architectures that use a row; NULL where that is not asked. */
    void (*users)(size_t index, void (*use)(void *context, const char *arch), void *context);
    const char *example; /* a command; WORD in it is a placeholder for a name */
} catalogue;

extern const catalogue catalogues[];
extern const size_t catalogue_count;

/* By its name ("keys"), NULL if there is none. */
const catalogue *catalogue_find(const char *name);

/* The row that a word names, even by a name that means many. */
bool catalogue_lookup(const catalogue *c, const char *word, size_t *index);

/* The rows of a catalogue that an architecture has, with what it needs of them: keys and tensors.
 * False past the end, or if the catalogue has none of that kind. */
bool catalogue_arch_row(const catalogue *c, const char *arch, size_t index, catalogue_row *out);
/* The columns of those rows. */
const catalogue_columns *catalogue_arch_columns(const catalogue *c);

/* The cells of a row as members of a JSON object. */
void catalogue_write_cells(json_writer *j, const catalogue_columns *columns,
                           const catalogue_row *row);

/* ---- catalogue_words.c ---------------------------------------------------------------------- */

/* What a word that names nothing may have been meant for: `before` is kept of it, `name`
 * follows. */
typedef struct catalogue_hint {
    gufo_str before;
    const char *name;
} catalogue_hint;

/* False if nothing is near. */
bool catalogue_nearest(const char *word, catalogue_hint *out);

enum { EXAMPLE_SIZE = 512 };

/* A command that has to do with a row, about the word if that can be in a command line unchanged,
 * else about the row. */
void catalogue_example(const catalogue *c, size_t index, const char *word, char out[EXAMPLE_SIZE]);

#endif
