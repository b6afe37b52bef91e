/* What a command reports is a record: a struct with one description of its fields.
 *
 *     static const record_field fields[] = {
 *         {"name", "Tensor", RECORD_STR, RECORD_AT(row, name), .width = -6},
 *         {"size", "Bytes", RECORD_COUNT, RECORD_AT(row, size), .width = 12, .drop = 3},
 *         {"loss", "Loss", RECORD_REAL, RECORD_AT(row, loss), RECORD_KNOWN(row, is_measured)},
 *     };
 *
 * Four printers go through the description: JSON (members), tables for people (columns), CSV and Markdown.
 * A field that one of them does not show has no name there; a field that has another place or look there
 * has a second row.  Prose and drawings are not records. */
#ifndef CLI_CORE_RECORDS_RECORD_H
#define CLI_CORE_RECORDS_RECORD_H

#include "cli/core/records/table.h"
#include "cli/core/values/json.h"

#include "gufo/format.h"

#include <stddef.h>

typedef enum record_kind {
    RECORD_TEXT,     /* const char *; NULL: none */
    RECORD_CHARS,    /* an array of char; empty: none */
    RECORD_STR,      /* gufo_str; without data: none */
    RECORD_WORD,     /* const char *, where tables and CSV need no quotes */
    RECORD_DIGITS,   /* the same, in JSON the number that it is */
    RECORD_CHOICE,   /* an enum, whose names are `words` */
    RECORD_FLAG,     /* bool */
    RECORD_COUNT,    /* unsigned, for people 1,234,567 */
    RECORD_PLAIN,    /* unsigned: an id, a version, a position: 1234567 */
    RECORD_QUANTITY, /* unsigned: 1.23 M */
    RECORD_BYTES,    /* unsigned, a size: 1.23 MB */
    RECORD_SIGNED,   /* int64_t */
    RECORD_REAL,     /* double; NaN may be none */
    RECORD_SINGLE,   /* float */
    RECORD_NUMBER,   /* record_number */
    RECORD_TYPE,     /* uint32_t, of elements: Q4_K */
    RECORD_SHAPE,    /* gufo_tensor: 4096 x 32000 */
    RECORD_OFFSET,   /* uint64_t; GUFO_NO_OFFSET: none */
    RECORD_DATE,     /* time_t; 0: none */
    RECORD_FIXED,    /* the number `at`, of every record: the version of a schema */
    RECORD_RECORD, /* `of`, which is inside; without a name its members are among the others, as its
                      * columns always are */
    RECORD_POINTER, /* the same, which is elsewhere; NULL: none */
    RECORD_LIST,    /* record_list of `of` */
    RECORD_MAP,     /* the same, in JSON an object of objects, whose names are in the first field */
    RECORD_VALUE,   /* record_value: the members of a metadata value */
    RECORD_SCALAR,  /* gufo_value, no array: a number, a bool or a text */
} record_kind;

/* What JSON has where a value is missing: its kind says so (NULL, an empty text), it is a number and 0, or its
 * flag is false. */
typedef enum record_none {
    RECORD_ALWAYS,  /* numbers are never missing; null for others */
    RECORD_OR_NULL, /* null */
    RECORD_OR_OUT,  /* no member; in tables `instead`, or, of the last columns, no cell */
} record_none;

typedef struct record_type record_type;

typedef struct record_field {
    const char *name;  /* of its member in JSON; NULL: it has none */
    const char *title; /* the head of its column in tables and Markdown; NULL: it has none */
    record_kind kind;
    uint32_t at, bytes; /* where it is in the record, and how large */
    uint32_t flag;      /* of a bool, from 1: whether it is there; 0: its own value says it */
    record_none none;
    uint32_t part;            /* of its type: it is shown with this part alone; 0: always */
    int width;                /* of the column (table.h) */
    unsigned drop;            /* of the column (table.h) */
    const char *column;       /* its column of CSV; NULL: it has none */
    const char *format;       /* of a real number for people; NULL: "%.3g" */
    const char *instead;      /* of none, for people; NULL: "-" */
    const char *const *words; /* of choices */
    const record_type *of;    /* of records and lists */
} record_field;

#define RECORD_AT(type, member) \
    .at = (uint32_t)offsetof(type, member), .bytes = (uint32_t)sizeof(((type *)0)->member)
/* Of a pointer to a record. */
#define RECORD_TO(type, member) .at = (uint32_t)offsetof(type, member)
#define RECORD_IF(type, member) .flag = 1 + (uint32_t)offsetof(type, member)
/* null, or nothing, unless the flag is set. */
#define RECORD_KNOWN(type, member) RECORD_IF(type, member), .none = RECORD_OR_NULL
#define RECORD_GIVEN(type, member) RECORD_IF(type, member), .none = RECORD_OR_OUT

struct record_type {
    const record_field *fields;
    size_t count;
    size_t size;    /* of a record */
    uint32_t parts; /* bits of the parts that are shown */
    bool bare;      /* in lists of JSON it is the value of its one field, without an object */
};

#define RECORD_ROOM 4096 /* no record that is made for a list is larger */

/* With bits of parts, or 0. */
#define RECORD_OF(type, list, shown)                                           \
    {                                                                          \
        .fields = (list), .count = sizeof(list) / sizeof *(list),              \
        .size = sizeof(type) / (sizeof(type) <= RECORD_ROOM), .parts = (shown) \
    }
#define RECORD_BARE(type, list)                                          \
    {                                                                    \
        .fields = (list), .count = 1, .size = sizeof(type), .bare = true \
    }

/* A value, with at most `limit` elements of every array. */
typedef struct record_value {
    gufo_value value;
    uint64_t limit;
} record_value;

/* A number of elements that are floats, for which few digits are enough, or wider. */
typedef struct record_number {
    double value;
    bool is_single;
} record_number;

/* Makes record `index`, which is zero; false past the last. */
typedef bool record_maker(const void *context, uint64_t index, void *record);

/* Records that are there, or are made one after the other. */
typedef struct record_list {
    const void *items;
    uint64_t count;
    record_maker *make; /* NULL: `items` */
    const void *context;
} record_list;

/* A list of texts is a list of records with one field; one of numbers, too. */
extern const record_type record_texts;   /* of const char * */
extern const record_type record_numbers; /* of uint64_t */
extern const record_type record_ids;     /* of uint32_t */

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Members of an object that is open; an object; an array.  The fields of a record that is NULL are none, here and
 * in cells. */
void record_write_members(json_writer *j, const record_type *type, const void *record);
void record_write(json_writer *j, const char *key, const record_type *type, const void *record);
/* A line of JSON: {"path":PATH, and members}, or members alone where `path` is NULL. */
void record_write_document(const char *path, const record_type *type, const void *record);
void record_write_list(json_writer *j, const char *key, const record_type *type,
                       const record_list *list);

/* ---- tables --------------------------------------------------------------------------------- */

/* Fills columns, and returns their number. */
size_t record_columns(const record_type *type, table_column *out);
/* table_of its columns, with `indent` spaces before the first one. */
table record_table(const record_type *type, size_t indent);
/* Adds the cells of a record. */
void record_cells(const record_type *type, const void *record, table_row *row);
/* table_fit_all, table_put_all and table_print of all records. */
uint64_t record_fit(table *t, const record_type *type, const record_list *list);
void record_put_all(const table *t, const record_type *type, const record_list *list);
void record_print(table *t, const record_type *type, const record_list *list);

/* ---- CSV ------------------------------------------------------------------------------------ */

/* Columns, or cells, of a row that begins with the first of them; `about` is NULL, or what the columns
 * are about.  The caller ends rows. */
void record_csv_heads(FILE *out, const record_type *type, const char *about, bool first);
void record_csv_cells(FILE *out, const record_type *type, const void *record, bool first);

/* ---- Markdown ------------------------------------------------------------------------------- */

/* The heads, and a row, of a table of GitHub's Markdown. */
void record_markdown_heads(const record_type *type);
void record_markdown_row(const record_type *type, const void *record);

#endif
