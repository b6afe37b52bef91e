/* gufo diff, as its files see it.
 *
 *     diff.c               the command line, and the work of two models
 *     diff_shared.c        notes, and how the library works meanwhile
 *     diff_text.c          lines for people
 *     diff_json.c          one object
 *     diff_candidates.h    more than two models */
#ifndef CLI_DIFF_DIFF_H
#define CLI_DIFF_DIFF_H

#include "cli/core/files/progress.h"
#include "cli/core/records/record.h"

#include "gufo/compare.h"
#include "gufo/quant.h"

typedef enum diff_order { DIFF_BY_FILE, DIFF_BY_LOSS } diff_order;

typedef struct diff_options {
    command_input base;
    bool values, sums, layers, no_pager;
    diff_order sort;
    uint64_t top;       /* tensors that are shown; 0: all */
    const char *report; /* NULL: none */
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
    const char *const *paths; /* two, and so are the models */
    gufo_model *const *models;
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

/* How the library works while this bar is drawn: it stops where the output has no reader, unless a
 * file is written, too. */
gufo_run diff_run(const diff_options *options, progress *bar);

extern const char *const diff_kind_names[GUFO_DIFFERENCE_COUNT]; /* of JSON */

/* How far apart numbers are, and where most. */
typedef struct diff_values {
    gufo_value_difference v;
    gufo_stats_place largest_at;
} diff_values;

diff_values diff_values_of(const gufo_tensor_difference *d);

/* Of gufo_tensor, diff_values, and numbers by gufo_difference. */
extern const record_type diff_tensor_type, diff_values_type, diff_counts_type;

/* Whether rows are wanted in another order, or something else than rows. */
bool diff_wants_losses(const diff_options *options);

/* Compares candidates with an original, the first model, and reports them.  Returns the exit
 * code. */
int diff_candidates(const diff_options *options, const char *const *paths,
                    gufo_model *const *models, size_t candidates);

#endif
