/* gufo estimate: the memory that a model needs to run.
 *
 *     estimate.c           the command
 *     estimate_options.c   texts of options as the library takes them, this machine as limits, and files
 *                          beside the model
 *     machine.c            what this machine has
 *     estimate_report.c    the result for people
 *     estimate_fit.c       what fits, for people: yes or no, and the command that runs it
 *     estimate_json.c      the result for programs, and an adapter without its base
 *     estimate_table.c     --table: contexts and types of the cache
 *     estimate_plot.c      --plot: a drawing of memory over the context
 *     estimate_page.c      --report: the same as a page */
#ifndef CLI_ESTIMATE_ESTIMATE_H
#define CLI_ESTIMATE_ESTIMATE_H

#include "cli/core/files/input.h"
#include "cli/core/options/names.h"
#include "cli/core/options/options.h"
#include "cli/core/values/json.h"
#include "cli/core/values/number.h"
#include "cli/core/machine/machine.h"
#include "gufo/estimate.h"

typedef struct estimate_options {
    command_input base;
    input_options input;
    bool here;        /* this machine is asked for; so it is if nothing below is given */
    uint64_t reserve; /* bytes; 0: the usual */
    uint64_t ctx, batch, ubatch, parallel, outputs, rs_seq;
    unsigned type_k, type_v; /* places in estimate_cache_types, from 1; 0: not given */
    unsigned flash;          /* of gufo_flash_attention */
    bool unified, swa_full, embeddings, no_kv_offload, no_mmap, cpu_moe;
    bool has_ctx, has_layers, has_cpu_moe;
    uint64_t devices, layers, cpu_moe_layers;
    const char *split, *fit, *bandwidth, *projector, *draft, *report;
    option_texts overrides, adapters;
    uint64_t host;           /* bytes */
    uint64_t host_bandwidth; /* bytes per second */
    bool table, plot;
} estimate_options;

extern const char *const estimate_cache_types[];

/* Tensors whose names match are on a device, or the host. */
typedef struct estimate_override {
    pattern *pattern;
    int place;
} estimate_override;

enum { ESTIMATE_OVERRIDES = 64 };

/* What the texts of options give. */
typedef struct estimate_values {
    double split[GUFO_ESTIMATE_MAX_DEVICES];
    uint64_t fit[GUFO_ESTIMATE_MAX_DEVICES];       /* bytes of each device */
    uint64_t bandwidth[GUFO_ESTIMATE_MAX_DEVICES]; /* bytes per second, of each device */
    uint64_t host_bandwidth;
    gufo_estimate_options run;
    gufo_estimate_limits limits;
    bool has_limits;
    bool is_here; /* they are those of this machine */
    machine here;
    bool has_bandwidth;
    estimate_override overrides[ESTIMATE_OVERRIDES];
    size_t override_count;
} estimate_values;

/* Returns CODE_OK, or CODE_USAGE after a report; the values are freed in any case. */
int estimate_values_read(const estimate_options *options, estimate_values *out);

/* Makes the memory of this machine, less a reserve, the limits, if it is asked for. */
void estimate_look_here(const estimate_options *options, estimate_values *values);

/* Whether the model's names can be matched; CODE_USAGE after a report of a pattern that is too costly. */
int estimate_check_overrides(const estimate_values *values, const gufo_model *model);

void estimate_values_free(estimate_values *values);

/* The limit of the host (0) or a device; 0: none. */
uint64_t estimate_limit(const estimate_values *values, uint32_t index);

typedef struct estimate_name {
    char text[GUFO_PLACE_SIZE];
} estimate_name;

/* "CPU" for the host (0), "DEV0" for device 0 ... */
estimate_name estimate_name_of(uint32_t index);

/* Weights, context, buffers and output, and what is loaded beside. */
uint64_t estimate_total(const gufo_estimate_device *device);
/* By how much that may be too low or too high, and whether all of it is known. */
uint64_t estimate_margin(const gufo_estimate_device *device);
bool estimate_is_known(const gufo_estimate_device *device);

/* A draft beside the model; the estimator is NULL without one. */
typedef struct estimate_draft {
    input in;
    gufo_estimator *estimator;
} estimate_draft;

/* A command that has read its options and the model. */
typedef struct estimate_work {
    const input *in;
    const estimate_options *options;
    estimate_values *values;
    const gufo_estimator *estimator;
    const estimate_draft *draft;
    bool is_brief; /* of a folder each model gets a line */
} estimate_work;

/* Opens the files beside the model and adds them to its estimator.  Returns CODE_OK, or another code
 * after a report; the draft is closed in any case. */
int estimate_add_beside(const estimate_options *options, gufo_estimator *estimator,
                        estimate_draft *draft);
void estimate_close_draft(estimate_draft *draft);
/* The estimate of the draft alone, with the options of the work. */
gufo_status estimate_run_draft(const estimate_work *w, gufo_estimate *out, gufo_error *error);

void estimate_write_json(const estimate_work *w, const gufo_estimate *e);
/* The same where nothing fits: of what lacks least, and what to change. */
void estimate_write_json_no(const estimate_work *w, const gufo_estimate *e);
void estimate_write_text(const estimate_work *w, const gufo_estimate *e);

/* "yes, with ...", the command that runs the model, the limits, and why no more fits. */
void estimate_write_fit(const estimate_work *w, const gufo_estimate *e);
/* "no", and what to change; returns CODE_NO. */
int estimate_write_no(const estimate_work *w, const gufo_estimate *e);

/* With which a model fits that else does not: less context, a cache of Q8_0, fewer layers on devices. */
typedef struct estimate_change {
    uint64_t n_ctx;
    bool small_cache, has_layers, has_cpu_moe;
    uint64_t n_gpu_layers, n_cpu_moe; /* with has_layers, has_cpu_moe */
} estimate_change;

/* The least change that helps, what the user's own choices leave open first; false if there is none. */
bool estimate_find_change(const estimate_work *w, estimate_change *out);
/* Bytes of a file of smaller types that fits; 0: none would. */
uint64_t estimate_smaller_size(const estimate_work *w, const gufo_estimate *e);

/* Return CODE_OK, or another code after a report. */
int estimate_write_table(const estimate_work *w);
int estimate_plot(const estimate_work *w);
/* Whether the page of --report can be written; writes it. */
int estimate_check_page(const estimate_options *options);
int estimate_save_page(const estimate_work *w);

/* Reports why the library made no estimate; returns the exit code. */
int estimate_report_failure(const estimate_work *w, const gufo_error *error);

bool estimate_is_adapter(const gufo_model *model);
/* Writes what an adapter needs; `fits`: limits are given, which it cannot answer.  Returns the exit
 * code. */
int estimate_adapter(const input *in, const estimate_options *options, bool fits);

#endif
