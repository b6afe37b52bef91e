/* gufo migrate, as its files see it:
 *
 *     migrate.c           the options, and the work
 *     migrate_settings.c  what is given, and what is asked for
 *     migrate_known.c     --known: settings by the hash of the old file
 *     migrate_output.c    the file that is written, by a job or by the quantizer
 *     migrate_report.c    the report
 *     import_missing.c    instead of all these where the library was left out */
#ifndef CLI_IMPORT_MIGRATE_H
#define CLI_IMPORT_MIGRATE_H

#include "cli/core/files/progress.h"
#include "cli/core/options/options.h"
#include "gufo/value.h"

#include "gufo/import.h"
#include "gufo/quant.h"

typedef struct migrate_options {
    command_input base;
    const char *input;
    const char *arch, *epsilon, *known, *vocabulary, *quantize; /* NULL if not given */
    uint64_t groups, context;                                   /* 0 if not given */
    option_texts settings;                                      /* of --set */
    gufo_legacy_keep keep;
    uint32_t flags; /* of gufo_legacy_flags */
    bool yes, dry_run, resume;
} migrate_options;

/* What has been found out about the result: counts of findings by severity. */
typedef struct migrate_verdict {
    bool checked, valid;
    uint64_t errors, warnings;
} migrate_verdict;

/* What the name of the old file is called in plans of parts. */
#define NAME_OLD "file"

/* What a run has open. */
typedef struct migration {
    migrate_options *options;
    gufo_document *given; /* settings that the user gives: for gufo_legacy_options.known */
    gufo_model *vocabulary;
    gufo_import *import;
    gufo_cpu cpu;
    progress bar;
    gufo_quantize_target target; /* of --quantize */
    gufo_quantizer *quantizer;
    gufo_job *job;   /* that of the quantizer, or: */
    gufo_job *plain; /* owned */
    char *output;    /* its path: owned */
    migrate_verdict verdict;
    bool reported; /* nothing more is to be said */
} migration;

/* ---- migrate_settings.c --------------------------------------------------------------------- */

/* Each returns the exit code.  What options say becomes settings: before the file is open, and what
 * can only be said about an open one. */
int migrate_take_settings(migration *m);
int migrate_take_facts(migration *m);
/* Asks for what is missing or assumed, on a terminal; without an answer, what must be known has to
 * be there. */
int migrate_ask(migration *m);
/* Whether each key of --set is one of the model that is made. */
int migrate_check_settings(migration *m);

/* ---- migrate_known.c ------------------------------------------------------------------------ */

/* Adds what --known says about the file, but nothing that is given already.  Returns the exit
 * code. */
int migrate_take_known(migration *m);

/* ---- migrate_output.c ----------------------------------------------------------------------- */

/* Each returns the exit code. */
int migrate_plan(migration *m);
int migrate_write(migration *m);

/* ---- migrate_report.c ------------------------------------------------------------------------ */

/* What only warnings say, and what --yes takes. */
void migrate_warn(const migration *m);
/* The report, as text or as JSON. */
void migrate_report(const migration *m);

#endif
