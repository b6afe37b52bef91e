/* gufo quantize, as its files see it.
 *
 *     quantize.c           the options, and the work
 *     quantize_arguments.c operands, types, names of outputs
 *     quantize_values.c    the values of options: types, sizes, layers, overrides
 *     name_rules.c         rules about tensors by their names
 *     quantize_failure.c   failures with advice
 *     quantize_report.c    the report: tables, JSON, CSV, warnings
 *     quantize_page.c      the report as a page
 *     size.h               sizes in place of types */
#ifndef CLI_QUANTIZE_QUANTIZE_H
#define CLI_QUANTIZE_QUANTIZE_H

#include "gufo/files.h"
#include "cli/core/options/options.h"
#include "cli/quantize/name_rules.h"
#include "cli/quantize/size.h"

#include "gufo/name.h"
#include "gufo/quant.h"

/* --override-kv KEY=TYPE:VALUE.  The input decides which integer type an "int" gets. */
typedef struct override_text {
    char *key; /* owned; the others point into it */
    const char *type, *value;
} override_text;

struct json_writer;

typedef struct quantize_options {
    command_input base;
    const char *input;
    /* Opens a model that is not a GGUF file (gufo convert); NULL: `input` is one.  Returns the exit
     * code. */
    int (*open)(struct quantize_options *options, gufo_model **model);
    const char
        *auto_type; /* of TYPE "auto": NULL where it does not exist, "" until `open` sets it */
    /* The name of output `index` in a folder; NULL: by the name and the content of `input`.  Returns
     * the exit code. */
    int (*name_output)(const struct quantize_options *options, size_t index,
                       char out[GUFO_NAME_SIZE]);
    /* More of the report of output `index`: members of its JSON object, or, where `j` is NULL, lines
     * behind its tables.  NULL: nothing. */
    void (*report_more)(const struct quantize_options *options, const gufo_quantizer *q,
                        size_t index, struct json_writer *j);
    bool beside_input; /* the output has a conforming name in the folder of the input */
    char *own_folder;  /* that folder: owned */
    const char *folder, *types_from;                     /* NULL if not given */
    bool made_folder;                                    /* by us: goes with a failure */
    gufo_quantize_target targets[GUFO_QUANTIZE_TARGETS]; /* the TYPEs, */
    char *paths[GUFO_QUANTIZE_TARGETS]; /* and the outputs: owned; NULL: not known (yet) */
    size_t output_count;                /* of both */
    gufo_quantize_options plan;         /* what the library gets */
    bool pure, dry_run, resume;
    const char *imatrix, *report;
    const char *imatrix_name;         /* as the output has it, */
    const char *called, *base_called; /* and of a checkpoint its folder and its base */
    const char *type;                 /* TYPE by an option; NULL: by an operand */
    option_texts read;                /* files that options name: no output may replace them */
    option_texts included, excluded;  /* parts of names */
    name_rules rules;                 /* of --tensor-type */
    size_options size;                /* in place of types */
    override_text *overrides;
    size_t override_count;
    uint64_t *pruned; /* layers: plan.pruned_count */
    uint64_t memory;
} quantize_options;

/* What such names are called in plans of parts. */
#define NAME_IMATRIX "imatrix"
#define NAME_CHECKPOINT "checkpoint"
#define NAME_BASE "base"

/* ---- quantize.c ----------------------------------------------------------------------------- */

/* The command, for others whose options begin with these; release frees what they own. */
int quantize_run(void *options);
/* The work, unless `code` says that the arguments were wrong; what they made goes then. */
int quantize_finish(quantize_options *options, int code);
void quantize_release(void *options);

/* ---- quantize_arguments.c ------------------------------------------------------------------- */

/* Reads the operands into the options, and refuses visible mistakes before anything is opened; the
 * same for those that have read OUT and TYPE themselves (NULL if not given); names the outputs of
 * --to, which come from the input.  All return the exit code. */
int quantize_read_arguments(quantize_options *options);
int quantize_take_arguments(quantize_options *options, const char *out, const char *types);
int quantize_name_outputs(quantize_options *options, const gufo_model *input);
/* Whether a report may exist: an interrupted commit may have written it. */
bool quantize_may_exist(const quantize_options *options);

/* ---- quantize_values.c: each returns the exit code ------------------------------------------ */

option_reader quantize_read_type;
/* The path of a file that is read: no output may replace it. */
option_reader quantize_read_file;
#define QUANTIZE_FILE(field) \
    OPTION_READ(quantize_read_file), OPTION_PLACE(quantize_options, field, const char *)
/* The words of --effort. */
extern const char *const quantize_efforts[];
/* "1,2,3", added to the list. */
option_reader quantize_read_layers;
/* Parts of them: a type that can be encoded, and a rule "PATTERN=TYPE", of an option. */
int quantize_type_of(const char *option, const char *text, const gufo_element_type **out);
int quantize_read_type_rule(name_rules *rules, const char *option, const char *text);
/* "PATTERN=TYPE", and a file of such texts. */
option_reader quantize_read_rule, quantize_read_rule_file;
/* "KEY=TYPE:VALUE" */
option_reader quantize_read_override;
/* The value of an override for this input. */
int quantize_make_override(const override_text *text, const gufo_model *file,
                           gufo_quantize_override *out);
/* TYPE */
int quantize_read_target(const char *text, bool pure, gufo_quantize_target *out);

/* ---- quantize_failure.c --------------------------------------------------------------------- */

/* Reports an error with advice; `planning`: nothing is written yet.  Returns the exit code: most of what a
 * plan refuses is wrong usage. */
int quantize_failed(const quantize_options *o, const char *path, const gufo_error *error,
                    bool planning);

/* ---- quantize_report.c ---------------------------------------------------------------------- */

void quantize_warn(const gufo_quantizer *q, const quantize_options *options);
/* Writes the plan (--dry-run), or the result, as text or JSON. */
void quantize_report(const gufo_quantizer *q, const quantize_options *options);
/* Writes the CSV file of --report, which must not be a file that `guard` holds.  Returns the exit
 * code. */
int quantize_save_csv(const gufo_quantizer *q, const quantize_options *options,
                      const gufo_guard *guard);

/* ---- quantize_page.c ------------------------------------------------------------------------ */

/* Writes the page of --report, likewise.  `original` is what the outputs were made from. */
int quantize_save_page(gufo_quantizer *q, quantize_options *options, const gufo_model *original,
                       const gufo_guard *guard);

#endif
