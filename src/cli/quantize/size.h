/* --target-size and --target-bpw of gufo quantize, as its files see them.
 *
 *     size_values.c   the values of options
 *     size_plan.c     measurements, and the plan
 *     size_curve.c    plans of other sizes, for a page
 *     size_report.c   what was planned, and what came of it: text, JSON, CSV */
#ifndef CLI_QUANTIZE_SIZE_H
#define CLI_QUANTIZE_SIZE_H

#include "cli/core/options/options.h"
#include "cli/core/records/record.h"
#include "cli/quantize/name_rules.h"
#include "cli/report/report_facts.h"

#include "gufo/target_size.h"

#include <stdio.h>

typedef struct size_options {
    gufo_size_target targets[GUFO_QUANTIZE_TARGETS];
    char *labels[GUFO_QUANTIZE_TARGETS]; /* what names of outputs say: "5_8G"; owned */
    size_t count;                        /* of both; 0: types are given */
    const char *option;                  /* --target-size or --target-bpw */
    const char *first;                   /* of those that need a size; NULL: none is given */
    const gufo_element_type *types[GUFO_QUANTIZE_TARGETS];
    size_t type_count;
    name_rules least, most, ties, coefficients;
    bool any_least, equal; /* --min none, --sensitivity none */
    const char *sensitivity, *saved;
    bool exact, no_cache;

    /* Later: */
    gufo_losses *losses;
    gufo_size_plan *plan;
    uint64_t recalled;                       /* losses that were measured before */
    uint64_t reached[GUFO_QUANTIZE_TARGETS]; /* bytes of the files */
} size_options;

struct quantize_options;
struct json_writer;

/* ---- size_values.c -------------------------------------------------------------------------- */

option_reader size_read_targets, size_read_bits, size_read_types, size_read_least, size_read_most;
option_reader size_read_tie, size_read_sensitivity, size_read_flag, size_read_saved;
void size_release(size_options *size);

/* ---- size_plan.c ---------------------------------------------------------------------------- */

/* Measures, plans, and makes the options of the quantizer those of the plan.  Returns the exit code. */
int size_make_plan(struct quantize_options *o, const gufo_model *input, gufo_cpu cpu);
/* A plan for other sizes, which the caller frees; NULL: there is none. */
gufo_size_plan *size_plan_for(struct quantize_options *o, const gufo_size_target *targets,
                              size_t count);
/* Appends what --save-plan writes to `text`.  Returns the exit code. */
int size_write_plan(const struct quantize_options *o, gufo_text *text);

/* ---- size_curve.c --------------------------------------------------------------------------- */

/* Adds loss over size to a page.  Returns the exit code. */
int size_add_curve(struct quantize_options *o, report_store *store, gufo_report_content *content);

/* ---- size_report.c -------------------------------------------------------------------------- */

/* Lines behind the tables of an output. */
void size_print(const struct quantize_options *o, const gufo_quantizer *q, size_t output);
/* A member of its JSON object. */
void size_write(const struct quantize_options *o, const gufo_quantizer *q, size_t output,
                struct json_writer *j);

/* What is planned for a tensor, and what came of it. */
typedef struct size_tensor {
    bool is_planned, is_compared;
    gufo_size_tensor planned;
    double actual; /* loss, if is_compared */
} size_tensor;

size_tensor size_tensor_of(const struct quantize_options *o, const gufo_quantizer_tensor *tensor,
                           size_t output, uint64_t index);
extern const record_type size_tensor_type;

#endif
