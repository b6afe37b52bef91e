/* What the files that read YAML share. */
#ifndef IMPORT_GENERAL_YAML_READING_H
#define IMPORT_GENERAL_YAML_READING_H

#include "base/buffer.h"
#include "import/general/yaml.h"

typedef struct yaml_reading {
    gufo_str text;
    size_t at;         /* the next byte */
    size_t line;       /* where its line begins */
    uint64_t values;   /* that were made */
    unsigned depth;    /* of mappings and lists inside one another */
    const char *fault; /* the first one */
    bool no_memory;
    buffer scalar; /* the text of the one that is being read */
} yaml_reading;

enum { YAML_DEPTH = 64, YAML_VALUES = 1 << 18 };

/* ---- places: yaml_scan.c ---- */

/* The byte `ahead` of the next one; '\n' behind the end. */
char yaml_peek(const yaml_reading *r, size_t ahead);
/* Whether a blank, the end of the line, or of the text, is `ahead`. */
bool yaml_is_gap(const yaml_reading *r, size_t ahead);
size_t yaml_column(const yaml_reading *r);
void yaml_skip_spaces(yaml_reading *r);
/* Skips blanks, comments and empty lines; false at the end of the text. */
bool yaml_skip_to_content(yaml_reading *r);
/* Moves behind the end of the line. */
void yaml_next_line(yaml_reading *r);

/* Notes a fault at the next byte; NULL. */
json_t *yaml_wrong(yaml_reading *r, const char *reason);
bool yaml_failed(const yaml_reading *r);

/* ---- scalars: yaml_scalar.c ---- */

/* Appends to the text of the scalar. */
void yaml_put(yaml_reading *r, const char *bytes, size_t count);
void yaml_put_many(yaml_reading *r, char c, size_t count);
/* Counts a value; false, with a fault, if they are too many. */
bool yaml_count(yaml_reading *r);
/* The scalar as a string. */
json_t *yaml_string(yaml_reading *r);
/* Reads a plain scalar whose further lines begin in column `least` or after it; `flow`: between
 * brackets. */
json_t *yaml_plain(yaml_reading *r, size_t least, bool flow);
/* Reads a scalar in quotes into r->scalar. */
void yaml_quoted(yaml_reading *r);
/* Reads the lines after | or >. */
json_t *yaml_block(yaml_reading *r, size_t least);

/* ---- between brackets: yaml_flow.c ---- */

json_t *yaml_flow(yaml_reading *r);
/* Sets the member whose name is in r->scalar, a copy of which the caller has taken as `name`; takes
 * over `value`.  False, with a fault, if that is not possible. */
bool yaml_set(yaml_reading *r, json_t *object, const char *name, json_t *value);
/* The scalar as a name, to be freed with free(); NULL with a fault. */
char *yaml_name(yaml_reading *r);

#endif
