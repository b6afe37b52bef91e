/* Pages that show models, for gufo report and for the commands that have --report. */
#ifndef CLI_REPORT_REPORT_H
#define CLI_REPORT_REPORT_H

#include "cli/core/files/input.h"
#include "cli/report/report_facts.h"
#include "gufo/report.h"

/* What is known of a FILE argument: owns what the content of a page points to. */
typedef struct report_source report_source;

/* `path` must live as long as the source.  Checks a model as gufo validate does, and opens it, damaged or not.  A file that cannot be opened because it
 * breaks a rule has findings alone.  NULL with another code than CODE_OK after a report: it cannot be read at
 * all. */
report_source *report_source_open(const char *path, const shared_options *shared,
                                  const input_options *opening, int *code);
/* NULL is allowed. */
void report_source_free(report_source *source);
/* What of it is on the page; more may be added.  It lives as long as the source. */
gufo_report_model *report_source_model(report_source *source);
/* For what is computed of it. */
report_store *report_source_store(report_source *source);
/* Guards its files against being replaced.  False, with the guard freed, after a report. */
bool report_source_guard(const report_source *source, gufo_guard *guard);

/* Writes a page to `path`, all of it or nothing; returns the exit code.  `guard` has the files that it must not
 * replace; *size (may be NULL) is the bytes of the page. */
int report_page_save(const gufo_report_content *content, const char *path, bool force,
                     const gufo_guard *guard, uint64_t *size);

#endif
