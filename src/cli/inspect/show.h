/* gufo show: what its parts share. */
#ifndef CLI_INSPECT_SHOW_H
#define CLI_INSPECT_SHOW_H

#include "cli/core/files/input.h"
#include "cli/core/records/record.h"
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
bool show_write_text(const input *in, const show_options *options);
bool show_write_markdown(const input *in, const show_options *options);

/* The tensors that are shown, as records. */
typedef struct show_tensors {
    const gufo_model *model;
    const char *glob;
    uint64_t next; /* where the search for the next one begins */
    int digits;    /* of the number of shards */
    record_type type;
} show_tensors;

show_tensors show_tensors_of(const gufo_model *model, const char *glob);
/* A record_maker; context is a show_tensors **. */
record_maker show_make_tensor;

/* The types of layers and roles, as a picture. */
bool show_write_map(const input *in, const show_options *options);

#endif
