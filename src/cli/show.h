/* gufo show: what its parts share. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "cli/input.h"
#include "cli/options.h"

typedef struct show_options {
    command_input base;
    input_options input;
    bool only_metadata;        /* --metadata */
    bool only_tensors;         /* --tensors */
    const char *metadata_glob; /* NULL: all */
    const char *tensor_glob;
    bool limit_given;
    uint64_t array_limit; /* if it is given */
} show_options;

/* Each part is shown unless only the other one is asked for. */
static inline bool show_has_metadata(const show_options *o)
{
    return o->only_metadata || !o->only_tensors;
}

static inline bool show_has_tensors(const show_options *o)
{
    return o->only_tensors || !o->only_metadata;
}

static inline bool show_has_summary(const show_options *o)
{
    return !o->only_metadata && !o->only_tensors;
}

/* Sums over all tensors of all shards. */
typedef struct show_totals {
    uint64_t parameters;  /* elements; UINT64_MAX if that overflows */
    uint64_t file_size;   /* bytes that are present */
    uint64_t data_size;   /* from the data offset to the end of the last tensor */
    uint64_t tensor_size; /* bytes of tensor data without padding */
    uint64_t tensors;
    uint64_t complete; /* tensors all of whose bytes are there */
    bool sizes_known;  /* false if a tensor's type has no known layout */
} show_totals;

show_totals show_sum(const input *in);

/* Each writes one file.  False if the file was changed meanwhile. */
bool show_write_json(const input *in, const show_options *options);
bool show_write_text(const input *in, const show_options *options);

/* The facts at the top of the text. */
void show_write_summary(const input *in);

#endif
