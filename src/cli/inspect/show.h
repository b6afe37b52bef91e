/* gufo show: what its parts share. */
#ifndef CLI_INSPECT_SHOW_H
#define CLI_INSPECT_SHOW_H

#include "cli/core/files/input.h"
#include "cli/core/records/record.h"
#include "gufo/format.h"
#include "gufo/summary.h"

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
    bool layers;
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
bool show_write_layers(const input *in, const show_options *options);

/* ---- facts.c --------------------------------------------------------------------------------- */

/* The facts of a model, for its summary: one table, whose rows are parts of lines for people, members of
 * JSON, or both. */

/* Calls `put` for each fact about a model; lines of `text`, which it may change, end with a newline
 * but the last. */
void facts_put(const gufo_summary *o, void (*put)(const char *label, char *text));

/* {"name":...}: the members that the file has (docs/json.md), with at most `limit` elements of
 * every list. */
void facts_write(json_writer *j, const char *key, const gufo_summary *o, uint64_t limit);

/* ---- fold.c ---------------------------------------------------------------------------------- */

/* Tensors whose names differ in a number alone, as one line (gufo_tensor_groups). */
typedef struct fold {
    gufo_tensor_groups *groups;
    gufo_text name; /* of the latest row */
} fold;

/* Folds all tensors that match (NULL: all); the caller frees the result with fold_free.  False
 * after a report. */
bool fold_tensors(fold *f, const gufo_model *model, const char *glob);
void fold_free(fold *f);

typedef struct fold_row {
    /* Any of the group, with the size of all; the name, "blk.0-2,5.attn_q.weight", may hold any bytes, and
     * lives until the next row. */
    gufo_tensor tensor;
    uint64_t count;
    char counted[40]; /* "32 tensors"; empty: one */
} fold_row;

/* For people, and for Markdown. */
extern const record_type fold_text, fold_markdown;

/* A record_maker; context is a fold **.  False past the last, and without memory. */
record_maker fold_make;

#endif
