/* gufo stats, as its files see it.
 *
 *     stats.c         the command line, and the work
 *     stats_report.c  records, as a table and as one object per FILE; histograms */
#ifndef CLI_INSPECT_STATS_H
#define CLI_INSPECT_STATS_H

#include "cli/core/input.h"
#include "cli/core/progress.h"
#include "cli/core/records/record.h"

#include "gufo/quant.h"

typedef struct stats_options {
    command_input base;
    input_options input;
    option_texts globs; /* --tensors; none: all */
    gufo_cpu cpu;
} stats_options;

/* Sums over the tensors that are shown. */
typedef struct stats_totals {
    uint64_t tensors;
    uint64_t undecoded; /* of these, tensors without known values */
    uint64_t elements, finite, zeros, bad_scales, outliers;
} stats_totals;

/* The state of one FILE argument. */
typedef struct stats_report {
    const stats_options *options;
    const input *in;
    uint64_t selected; /* tensors */
    uint64_t bytes;    /* of the selected tensors, as far as they are there */
    stats_totals totals;
    record_type type; /* of a tensor */
    table table;
    bool apart; /* the line before is empty */
    json_writer j;
    progress bar;
    uint64_t bytes_before; /* a tensor is scanned twice: all bytes of those before it */
} stats_report;

/* One tensor. */
typedef struct stats_row {
    gufo_tensor tensor;
    bool decoded;
    gufo_stats stats;
    gufo_error failure; /* if it is not decoded: why */
} stats_row;

/* Write what comes before the first tensor, a tensor, and what comes after the last. */
void stats_begin(stats_report *r);
void stats_put(stats_report *r, const stats_row *row);
void stats_end(stats_report *r);

#endif
