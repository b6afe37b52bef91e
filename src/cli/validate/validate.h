/* gufo validate, as its files see it:
 *
 *     validate.c          the command line, and which checks a FILE argument gets
 *     validate_report.c   findings with advice, and the verdict, as text and as JSON
 *     advice.c            what that advice is
 *     validate_fix.c      --fix: the list of fixes, and their work */
#ifndef CLI_VALIDATE_VALIDATE_H
#define CLI_VALIDATE_VALIDATE_H

#include "cli/core/files/input.h"
#include "cli/core/records/record.h"
#include "cli/validate/advice.h"

#include "gufo/check.h"
#include "gufo/findings.h"
#include "gufo/quant.h"

typedef struct validate_options {
    command_input base;
    input_options input;
    gufo_level level;
    bool strict, list_rules, data, fix;
    const char *base_path;  /* --base; NULL if not given */
    gufo_model *base_model; /* owned */
    gufo_cpu cpu;           /* with `data` */
} validate_options;

enum { MOST_RULES = 256 };

typedef struct hint {
    char *words, *command; /* NULL: none */
} hint;

/* A finding that the command would list, with its advice, for whoever shows it elsewhere; all of it lives
 * as long as the call. */
typedef struct validate_row {
    const gufo_finding *finding;
    gufo_severity severity;
    size_t shard; /* its number from 1; 0: not one of a set */
    hint advice;
} validate_row;

typedef void validate_row_fn(void *context, const validate_row *row);

/* Checks a file as the command does; of the options, what its own options do counts.  Nothing is printed but failures;
 * returns CODE_OK where all of it was checked, whatever was found. */
int validate_rows(const validate_options *options, const char *path, validate_row_fn *row,
                  void *context);

/* The state of one FILE argument. */
typedef struct report {
    const validate_options *options;
    const char *path;       /* of the argument */
    const char *shard_path; /* of the file that is being checked */
    size_t shard;           /* its number from 1; 0: not one of a set */
    uint64_t shard_count;   /* of the set that it belongs to, where it is checked alone; else 0, */
    uint64_t shards_judged; /* as is this, else 1 */
    const char *missing;    /* the first of the other shards that is missing; NULL: none is */
    const gufo_model *set;  /* findings are about it; NULL: about the shard alone */
    bool usable;            /* other commands open the file */
    json_writer j;
    bool begun;                      /* the JSON object */
    bool color, silent;              /* `silent`: findings are counted only */
    uint64_t counts[GUFO_ERROR + 1]; /* findings by severity */
    uint64_t listed[MOST_RULES];     /* findings of the format, by rule, in the current file */
    gufo_fixes *fixes;               /* of --fix; NULL: they are not collected */
    validate_row_fn *row;            /* that takes findings; NULL: they are printed */
    void *row_context;
    /* In the end: */
    bool complete, valid; /* everything could be checked; what came of it */
    bool is_fixed;
    record_list fixed;           /* the fixes, */
    const struct report *output; /* and what they made; NULL: nothing */
} report;

/* ---- validate_report.c ---------------------------------------------------------------------- */

/* A gufo_finding_fn; the context is the report. */
void report_finding(void *context, const gufo_finding *finding);
/* Says of which rules of the format more was found in the file than is listed. */
void report_rest(report *r);
bool report_is_valid(const report *r);
/* "PATH: valid", "PATH: invalid: 2 errors, 1 warning", "PATH: valid (1 of 3 shards checked)" */
void report_verdict(const report *r);
/* Writes the members after the findings.  Without a complete check, "valid" is null.  `shards` is
 * the number of shards, 0 for a single file.  `output` is the file that --fix has written, or
 * NULL. */
void report_end_object(report *r, uint32_t shards, bool complete, report *output);

/* Advice about a finding; the caller frees it with hint_free. */
hint hint_of(const report *r, const gufo_finding *finding);

/* ---- validate_fix.c ------------------------------------------------------------------------- */

/* A fix as a record, and those of a list. */
typedef struct fix_row {
    const char *action;
    gufo_str key;     /* without data: it has none */
    const char *type; /* of the value, which is not known; NULL: it is */
    gufo_value value;
    bool has_value, is_advice, certain;
    const char *command;
} fix_row;

extern const record_type fix_type;
fix_row fix_row_of(const gufo_fix *fix);
record_maker fix_make_row; /* the context is a gufo_fixes */
/* Writes the fixed file, and prints the fixes. */
int fix_file(const report *r);

#endif
