/* gufo edit, as its files see it.
 *
 *     edit.c           the command line, and the work
 *     edit_changes.c   makes one change after the other
 *     edit_values.c    --set and its kin: values from text and files
 *     edit_waiting.c   KEY[i]=VALUE, and the ids of tokens that are given by their text
 *     edit_guard.c     what is refused without --as-is
 *     edit_report.c    the report */
#ifndef CLI_CHANGE_EDIT_H
#define CLI_CHANGE_EDIT_H

#include "cli/core/options/options.h"
#include "cli/core/terminal/text.h"

#include "gufo/edit.h"
#include "gufo/value.h"

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
    const char *path;
    gufo_edit_target target;
    edit_operation *operations;
    size_t count;
    option_texts read; /* files that operations name: the output may not replace them */
    bool dry_run, recover, as_is;
    bool unmatched; /* a key to remove or copy was missing */
} edit_options;

/* ---- edit_changes.c ------------------------------------------------------------------------- */

/* Both return the exit code, after a report if it is not CODE_OK. */
int edit_apply_operations(gufo_edit *edit, edit_options *options);
/* Checks what must not be changed, or not without a warning. */
int edit_check_changes(gufo_edit *edit, const edit_options *options);

/* ---- edit_waiting.c ------------------------------------------------------------------------- */

#define EDIT_TOKENS_KEY "tokenizer.ggml.tokens"
#define EDIT_NO_INDEX UINT64_MAX

/* A change of an element of an array, or of the value of a key that exists. */
typedef struct edit_waiting_change {
    uint64_t index; /* EDIT_NO_INDEX: the value */
    gufo_value value;
    bool is_token;        /* `value` is the text of one; its id is meant, */
    gufo_value_type type; /* as a number of this type */
    char *kept;           /* what `value` points to, if it is to be freed with the change */
    const edit_operation *operation;
} edit_waiting_change;

/* Those of a key, in their order. */
typedef struct edit_waiting_key {
    char *name;
    edit_waiting_change *changes;
    size_t count;
} edit_waiting_key;

/* Changes that are made after the others; to be ended. */
typedef struct edit_waiting {
    const edit_options *options;
    gufo_document *document;
    edit_waiting_key *keys;
    size_t count;
} edit_waiting;

void edit_waiting_end(edit_waiting *waiting);
/* These return the exit code, after a report.  Texts in the change live as long as the options, or
 * are its own (`kept`), which edit_wait takes over when it succeeds. */
int edit_wait(edit_waiting *waiting, const char *key, const edit_waiting_change *change);
int edit_waiting_make(edit_waiting *waiting, const char *key);
int edit_waiting_make_all(edit_waiting *waiting);
/* Forgets the changes of a key, which gets another value. */
void edit_waiting_drop(edit_waiting *waiting, const char *key);

/* ---- edit_changes.c ------------------------------------------------------------------------- */

/* The state of an operation. */
typedef struct edit_change {
    gufo_document *document;
    edit_waiting *waiting;
    edit_options *options;
    edit_operation *operation; /* its text is KEY=REST, unless the option takes no key: */
    const char *option;        /* "--set" */
    const char *key, *rest;    /* NULL */
    uint64_t index;            /* of KEY[index], or EDIT_NO_INDEX */
    gufo_error error;
} edit_change;

/* ---- edit_values.c -------------------------------------------------------------------------- */

/* Reports the `error` of the library about an option with `text`.  Returns the exit code. */
int edit_check(const edit_change *change, const char *text, gufo_status status);

/* The file that an operation reads; NULL if it reads none. */
const char *edit_operand(const edit_operation *operation);

/* Each returns the exit code. */
int edit_set(edit_change *change);
int edit_set_element(edit_change *change);
int edit_set_string(edit_change *change);
int edit_set_file(edit_change *change);
int edit_set_json(edit_change *change);

/* ---- edit_guard.c --------------------------------------------------------------------------- */

/* CODE_USAGE, after a report, for an edit that makes the file worse. */
int edit_guard(gufo_edit *edit, const edit_options *options, bool is_shard);

/* ---- edit_report.c -------------------------------------------------------------------------- */

/* Writes the differences down before the file changes, in the form that the options ask for.  The
 * caller frees the text.  Returns the exit code. */
int edit_report_changes(text_stream *report, gufo_edit *edit, const edit_options *options);
/* Prints them, and how they got or would get into the file. */
void edit_report_print(const text_stream *report, const gufo_edit_plan *plan,
                       const edit_options *options);

#endif
