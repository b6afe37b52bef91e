/* gufo diff with several candidates, as its files see it.
 *
 *     diff_candidates.c        the work
 *     diff_candidates_report.c tables for people, one object, the file of --report
 *     diff_losses.c            what lost most, by tensor, role and layer */
#ifndef CLI_DIFF_DIFF_CANDIDATES_H
#define CLI_DIFF_DIFF_CANDIDATES_H

#include "cli/core/records/table.h"
#include "cli/core/terminal/text.h"
#include "cli/diff/diff.h"
#include "cli/report/report.h"

/* ---- where bytes were spent best ------------------------------------------------------------ */

/* A tensor that has more bytes and less loss in the larger candidate. */
typedef struct diff_gain {
    gufo_str name; /* lives as long as the models */
    uint32_t from, to;
    uint64_t bytes; /* more, */
    double loss;    /* and less */
    double rate;    /* the loss that a million bytes save */
} diff_gain;

enum { DIFF_BEST = 3 };

/* From a candidate to the next larger one. */
typedef struct diff_step {
    size_t from, to;           /* candidates */
    uint64_t bytes;            /* of all tensors: so many more */
    double loss;               /* less, of tensors whose loss both know; negative: more */
    diff_gain best[DIFF_BEST]; /* most loss per byte first */
    size_t count;
} diff_step;

typedef struct diff_steps {
    diff_step steps[GUFO_COMPARE_CANDIDATES];
    size_t count;
} diff_steps;

/* Steps from the smallest candidate to the largest, without gains; of as many bytes, the first comes
 * first. */
diff_steps diff_steps_of(const gufo_candidate *candidates, size_t count);
/* Adds a row to all of them. */
void diff_steps_add(diff_steps *s, const gufo_tensor_difference *row);

/* ---- the report ----------------------------------------------------------------------------- */

enum { DIFF_COLUMNS = 4 }; /* of the table, for a candidate */

/* A row that is kept until all are there. */
typedef struct diff_kept {
    gufo_tensor_difference *row; /* of all candidates */
    double loss;                 /* the largest; -1: none is known */
    size_t order;
} diff_kept;

/* The state of the work.  Model 0 is the original. */
typedef struct candidates_report {
    const diff_options *options;
    const char *const *paths;
    gufo_model *const *models;
    size_t count; /* of candidates: there is a path and a model more */
    gufo_candidate sums[GUFO_COMPARE_CANDIDATES];
    diff_steps steps;
    bool counted; /* steps has its steps */
    progress bar;
    table table;
    char heads[GUFO_COMPARE_CANDIDATES][DIFF_COLUMNS][24]; /* of the table: "Type 1" ... */
    json_writer j;
    text_stream csv;         /* with --report FILE.csv */
    gufo_loss_table *losses; /* with --report FILE.html; else NULL */
    diff_kept *kept;         /* of candidates_losses */
    size_t kept_count;
    bool is_short; /* of memory */
} candidates_report;

/* How candidates are written; members may be NULL.  `failure` is NULL if all went well. */
typedef struct candidates_form {
    void (*begin)(candidates_report *r);
    void (*row)(candidates_report *r, const gufo_tensor_difference *row);
    void (*end)(candidates_report *r, const gufo_error *failure);
} candidates_form;

extern const candidates_form candidates_table, candidates_json, candidates_csv, candidates_losses;

void diff_losses_free(candidates_report *r);

/* The tensor that a row is about. */
const gufo_tensor *diff_row_tensor(const gufo_tensor_difference *row, size_t count);

#endif
