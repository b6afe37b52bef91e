/* gufo show: what its parts share. */
#ifndef CLI_INSPECT_SHOW_H
#define CLI_INSPECT_SHOW_H

#include "cli/core/input.h"
#include "cli/inspect/facts.h"

typedef struct show_options {
    command_input base;
    input_options input;
    bool only_summary;         /* --summary */
    bool only_metadata;        /* --metadata */
    bool only_tensors;         /* --tensors; all of these, like none, mean all parts */
    const char *metadata_glob; /* NULL: all */
    const char *tensor_glob;
    bool full, markdown, no_pager;
    bool limit_given;
    uint64_t array_limit; /* if it is given */
    bool map;
} show_options;

/* Whether a part is shown, given its option. */
static inline bool show_wants(const show_options *o, bool only)
{
    return only || !(o->only_summary || o->only_metadata || o->only_tensors);
}

/* Each writes one file.  False if the file was changed in the meantime. */
bool show_write_json(const input *in, const show_options *options);
bool show_write_text(const input *in, const show_options *options);
bool show_write_markdown(const input *in, const show_options *options);

/* The types of layers and roles, as a picture. */
bool show_write_map(const input *in, const show_options *options);

#endif
