/* gufo diff, as its files see it.
 *
 *     diff.c         the command line, and the work
 *     diff_text.c    lines for people
 *     diff_json.c    one object
 *     diff_notes.c   notes in both */
#ifndef CLI_INSPECT_DIFF_H
#define CLI_INSPECT_DIFF_H

#include "cli/core/json.h"
#include "cli/core/progress.h"

#include "gufo/compare.h"

typedef struct diff_options {
    command_input base;
    bool values;
    gufo_cpu cpu;
} diff_options;

typedef struct diff_report diff_report;

/* How differences are written: each writes its part; entries and tensors come in between.
 * `failure` is NULL if all went well. */
typedef struct diff_form {
    void (*begin)(diff_report *r); /* may be NULL */
    void (*entry)(void *report, const gufo_entry_difference *d);
    void (*tensor)(void *report, const gufo_tensor_difference *d);
    void (*end)(diff_report *r, const gufo_comparison *c, const gufo_error *failure);
} diff_form;

extern const diff_form diff_text, diff_json;

/* The state of a comparison.  JSON has members for keys and tensors, in this order. */
struct diff_report {
    const diff_options *options;
    const char *paths[2];
    gufo_model *models[2];
    progress bar;
    bool metadata_begun, tensors_begun; /* headings, and members of JSON */
    json_writer j;
};

/* A difference that is neither in metadata nor in tensors. */
typedef struct diff_note {
    gufo_compare_notes note;
    const char *name, *text;
} diff_note;

enum { DIFF_NOTES = 5 };
extern const diff_note diff_notes[DIFF_NOTES];

#endif
