/* The sections of a page: a function each, which writes what is inside of the section, below its
 * heading.  report.c has their order. */
#ifndef GUFO_REPORT_SECTIONS_H
#define GUFO_REPORT_SECTIONS_H

#include "report/facts/facts.h"
#include "report/page/html.h"

/* What sections draw: one model of the page, or what compares several. */
typedef struct report {
    page *page;
    const gufo_report_content *content;
    const gufo_report_model *model; /* NULL: a section of the whole page */
    const model_facts *facts;       /* of the model; NULL likewise */
} report;

typedef void section_fn(const report *r);

/* Verdict and key facts of a model: what follows its title. */
section_fn section_head;

section_fn section_bytes, section_types, section_bits, section_file, section_metadata,
    section_tensors;

/* Whether there is something to show. */
typedef bool section_there_fn(const report *r);
section_there_fn section_bytes_is_there, section_types_is_there, section_file_is_there,
    section_metadata_is_there, section_tensors_is_there;

section_fn section_weights, section_losses, section_sizes, section_scales, section_memory,
    section_tokenizer, section_template;
section_there_fn section_weights_is_there, section_losses_is_there, section_sizes_is_there,
    section_scales_is_there, section_memory_is_there, section_tokenizer_is_there,
    section_template_is_there;

/* "3 warnings" beside the heading; may be NULL in the table of sections. */
section_fn section_findings, section_findings_count, section_metadata_count, section_tensors_count;

/* Tables list so many tensors, and say how many of those found they do not list. */
enum { MOST_LISTED = 5000 };
void section_rest(page *p, uint64_t found);

/* One line with the command of the caller that makes what a section lacks; nothing without one. */
void section_hint(const report *r, gufo_report_part part, const char *what);

#endif
