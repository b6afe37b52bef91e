/* What is done with many findings (format.h): listing some of each rule, keeping them, and fixing all that
 * have one right answer.
 *
 *     collect  gufo_fixes_add for each finding, from a gufo_model_check_content with `every` set
 *     settle   gufo_fixes_settle
 *     apply    gufo_fixes_apply to a document; gufo_edit or a job writes it */
#ifndef GUFO_FINDINGS_H
#define GUFO_FINDINGS_H

#include "document.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- listing --------------------------------------------------------------------------------- */

/* A check lists so many findings of one rule, and counts the others. */
enum { GUFO_FINDINGS_OF_A_RULE = 20, GUFO_FINDINGS_REST_SIZE = 96 };

/* Writes the sentence about the others; false if `found` are not more than are listed.  Any thread. */
GUFO_API bool gufo_findings_rest(uint64_t found, char message[GUFO_FINDINGS_REST_SIZE]);

/* ---- keeping --------------------------------------------------------------------------------- */

/* Findings that outlive the check which found them, with copies of their texts.  One thread at a time. */
typedef struct gufo_finding_list gufo_finding_list;

typedef struct gufo_finding_list_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    /* All are kept.  Else, of each rule of the format, GUFO_FINDINGS_OF_A_RULE and a sentence about the others;
     * gufo_model_check_content counts those of its rules by itself. */
    bool every;
    uint64_t reserved[4]; /* must be zero */
} gufo_finding_list_options;

/* An empty list, freed with gufo_finding_list_free; `options` may be NULL.  NULL on failure: GUFO_E_MEMORY,
 * GUFO_E_ARGUMENT. */
GUFO_MUST_USE GUFO_API gufo_finding_list *gufo_finding_list_new(
    const gufo_finding_list_options *options, gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_finding_list_free(gufo_finding_list *list);
/* Adds a finding: a gufo_finding_fn whose context is the list.  Without memory gufo_finding_list_sort fails. */
GUFO_API void gufo_finding_list_add(void *list, const gufo_finding *finding);
/* Ends collecting: the sentences about findings that are not kept are added, and the worst come first; those of
 * one severity stay in their order.  GUFO_E_MEMORY, also where gufo_finding_list_add had none. */
GUFO_API gufo_status gufo_finding_list_sort(gufo_finding_list *list, gufo_error *error);
/* Their number; finding `index` (false past the end), a view of the list until it changes. */
GUFO_API uint64_t gufo_finding_list_count(const gufo_finding_list *list);
GUFO_API bool gufo_finding_list_at(const gufo_finding_list *list, uint64_t index,
                                   gufo_finding *out);

/* ---- fixing ------------------------------------------------------------------------------------ */

/* The certain fixes of findings, each one once, with copies of their texts.  One thread at a time. */
typedef struct gufo_fixes gufo_fixes;

typedef struct gufo_fixes_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_fixes_options;

/* An empty list, freed with gufo_fixes_free; `options` may be NULL.  NULL on failure: GUFO_E_MEMORY,
 * GUFO_E_ARGUMENT. */
GUFO_MUST_USE GUFO_API gufo_fixes *gufo_fixes_new(const gufo_fixes_options *options,
                                                  gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_fixes_free(gufo_fixes *fixes);
/* Adds the fix of a finding, if it is certain and not listed yet: a gufo_finding_fn whose context is the
 * list.  Without memory gufo_fixes_settle fails. */
GUFO_API void gufo_fixes_add(void *fixes, const gufo_finding *finding);
/* Ends collecting: strikes out renames of several keys to one name, because the right one is not known.
 * GUFO_E_MEMORY, also where gufo_fixes_add had none. */
GUFO_API gufo_status gufo_fixes_settle(gufo_fixes *fixes, gufo_error *error);
/* Their number; fix `index` (false past the end), a view of the list. */
GUFO_API uint64_t gufo_fixes_count(const gufo_fixes *fixes);
GUFO_API bool gufo_fixes_at(const gufo_fixes *fixes, uint64_t index, gufo_fix *out);
/* Makes all of them in a document, as gufo_document_fix.  *rewrite (may be NULL): one of them is
 * GUFO_FIX_REWRITE, so that the file has to be laid out again.  A failure leaves those before it. */
GUFO_API gufo_status gufo_fixes_apply(const gufo_fixes *fixes, gufo_document *document,
                                      bool *rewrite, gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
