/* gufo estimate: the memory that a model needs to run.
 *
 *     estimate.c           the command
 *     estimate_options.c   texts of options as the library takes them
 *     estimate_report.c    the result, for people and for machines */
#ifndef CLI_INSPECT_ESTIMATE_H
#define CLI_INSPECT_ESTIMATE_H

#include "cli/core/input.h"
#include "cli/core/options.h"
#include "cli/core/pattern.h"
#include "gufo/estimate.h"

typedef struct estimate_options {
    command_input base;
    input_options input;
    uint64_t ctx, batch, ubatch, parallel, outputs, rs_seq;
    unsigned type_k, type_v; /* places in estimate_cache_types, from 1; 0: not given */
    unsigned flash;          /* of gufo_flash_attention */
    bool unified, swa_full, embeddings, no_kv_offload, no_mmap, cpu_moe;
    bool has_layers;
    uint64_t devices, layers, cpu_moe_layers;
    const char *split, *fit;
    option_texts overrides;
    uint64_t host; /* bytes */
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
    uint64_t fit[GUFO_ESTIMATE_MAX_DEVICES]; /* bytes of each device */
    gufo_estimate_options run;
    gufo_estimate_limits limits;
    bool is_fitted; /* limits were given */
    const estimate_options *options;
    estimate_override overrides[ESTIMATE_OVERRIDES];
    size_t override_count;
} estimate_values;

/* Returns CODE_OK, or CODE_USAGE after a report; the values are freed in any case. */
int estimate_values_read(const estimate_options *options, estimate_values *out);

void estimate_values_free(estimate_values *values);

void estimate_write_json(const input *in, const estimate_options *options,
                         const estimate_values *values, const gufo_estimate *e);
void estimate_write_text(const input *in, const estimate_options *options,
                         const estimate_values *values, const gufo_estimate *e);

#endif
