/* gufo show: what its parts share. */
#ifndef CLI_INSPECT_SHOW_H
#define CLI_INSPECT_SHOW_H

#include "cli/core/input.h"
#include "cli/core/options.h"

typedef struct show_options {
    command_input base;
    input_options input;
    bool only_metadata;        /* --metadata */
    bool only_tensors;         /* --tensors; both, like none, mean both */
    const char *metadata_glob; /* NULL: all */
    const char *tensor_glob;
    bool limit_given;
    uint64_t array_limit; /* if it is given */
} show_options;

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
/* What the headers announce; of a damaged file not all may have been read. */
uint64_t show_claimed_tensors(const input *in);

/* Each writes one file.  False if the file was changed meanwhile. */
bool show_write_json(const input *in, const show_options *options);
bool show_write_text(const input *in, const show_options *options);

/* The facts at the top of the text. */
void show_write_summary(const input *in);

#endif
