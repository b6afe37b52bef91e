/* gufo diff, as its files see it.
 *
 *     diff.c         the command line, and the work
 *     diff_text.c    lines for people
 *     diff_json.c    one object */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"

#include "gufo/compare.h"

typedef struct diff_options {
    command_input base;
    bool values;
    gufo_cpu cpu;
} diff_options;

/* One comparison on its way through.  JSON has members for keys and tensors, in this order. */
typedef struct diff_report {
    const diff_options *options;
    const char *paths[2];
    const gufo_model *models[2];
    progress bar;
    bool metadata_begun, tensors_begun; /* headings, and members of JSON */
    json_writer j;
} diff_report;

/* Each writes its part; entries and tensors come in between.  `failure` is NULL if all went
 * well. */
void diff_text_entry(diff_report *r, const gufo_entry_difference *d);
void diff_text_tensor(diff_report *r, const gufo_tensor_difference *d);
void diff_text_end(diff_report *r, const gufo_comparison *c);

void diff_json_begin(diff_report *r);
void diff_json_entry(diff_report *r, const gufo_entry_difference *d);
void diff_json_tensor(diff_report *r, const gufo_tensor_difference *d);
void diff_json_end(diff_report *r, const gufo_comparison *c, const gufo_error *failure);

#endif
