/* gufo edit, as its files see it.
 *
 *     edit.c           the command line, and the work
 *     edit_changes.c   one change after the other
 *     edit_values.c    --set: from text to a typed value
 *     edit_json.c      --set-json: arrays
 *     edit_report.c    the report */
#ifndef CLI_EDIT_H
#define CLI_EDIT_H

#include "cli/options.h"

#include "gufo/edit.h"

typedef enum edit_operation_kind {
    EDIT_SET,
    EDIT_SET_STRING,
    EDIT_SET_FILE,
    EDIT_SET_JSON,
    EDIT_REMOVE,
    EDIT_RENAME,
    EDIT_RENAME_TENSOR,
    EDIT_COPY,
} edit_operation_kind;

/* One of the options that change something, in the order of the command line. */
typedef struct edit_operation {
    edit_operation_kind kind;
    const char *text;   /* KEY=VALUE, OLD=NEW, GLOB; of EDIT_COPY the file */
    const char *glob;   /* of EDIT_COPY */
    gufo_model *source; /* of EDIT_COPY, while the edit lives */
} edit_operation;

typedef struct edit_options {
    command_input base;
    const char *path, *output; /* `output` may be NULL */
    edit_operation *operations;
    size_t count;
    gufo_edit_in_place in_place;
    uint64_t reserve;
    bool dry_run, recover;
} edit_options;

/* ---- edit_changes.c ------------------------------------------------------------------------- */

/* Both return the exit code, after a report if it is not CODE_OK. */
int edit_apply_operations(gufo_edit *edit, edit_options *options);
/* What must not be changed, or not without a word. */
int edit_check_changes(gufo_edit *edit, const edit_options *options);

/* ---- edit_values.c -------------------------------------------------------------------------- */

typedef enum edit_value_result {
    EDIT_VALUE_GOOD,
    EDIT_VALUE_UNFIT, /* `type` cannot hold it */
    EDIT_VALUE_ARRAY, /* arrays are not given like this */
} edit_value_result;

/* [TYPE:]VALUE.  Without TYPE the type is that of `old` (NULL: there is no such key, and the text
 * says).  `*type` is the one that was tried. */
edit_value_result edit_read_value(const char *text, const gufo_value *old, gufo_value *out,
                                  gufo_value_type *type);

/* ---- edit_json.c ---------------------------------------------------------------------------- */

#define EDIT_JSON_MESSAGE 160

/* A value of `type` in JSON, or an array of such values, or arrays of arrays. */
typedef struct edit_json {
    bool is_array;
    gufo_value value; /* of `type`, or: */
    gufo_items array;
} edit_json;

/* False, with the reason in `message`, for text that is not JSON or does not fit the type. */
bool edit_json_read(gufo_value_type type, const char *text, edit_json *out,
                    char message[EDIT_JSON_MESSAGE]);
void edit_json_free(edit_json *json);

/* ---- edit_report.c -------------------------------------------------------------------------- */

/* The report of an edit: the differences are recorded before the file changes. */
typedef struct edit_report {
    char *text;
    size_t len;
    uint64_t changes;
} edit_report;

/* Writes the differences down, in the form that the options ask for.  Returns the exit code. */
int edit_report_changes(edit_report *report, gufo_edit *edit, const edit_options *options);
/* Prints it, and how they got or would get into the file. */
void edit_report_print(const edit_report *report, const gufo_edit_plan *plan,
                       const edit_options *options);

#endif
