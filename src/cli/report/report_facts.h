/* What the command computes for a page, beside what the model itself holds.
 *
 *     report_store.c     what the content of a page points to
 *     report_numbers.c   statistics of tensors, scales of blocks
 *     report_losses.c    what models lose of an original
 *     report_memory.c    memory over the context
 *     report_text.c      tokenizer and chat templates; report_text_missing.c in a build without them
 *
 * Each adds to what is shown; what a model does not have, or what is not known of it, is left out.  Functions return the exit
 * code, after a report. */
#ifndef CLI_REPORT_REPORT_FACTS_H
#define CLI_REPORT_REPORT_FACTS_H

#include "cli/core/terminal/report.h"
#include "gufo/compare.h"
#include "gufo/estimate.h"
#include "gufo/report.h"

typedef struct shared_options shared_options; /* cli/core/options/options.h */

/* Pieces of memory that are freed together. */
typedef struct report_store {
    void **pieces;
    size_t count;
    /* Records of the library; NULL: none. */
    gufo_report_curves *curves;
    gufo_vocab_census *census;
    struct gufo_chat_reviews *reviews; /* of a library that a build may lack */
    gufo_model_numbers *numbers;
    gufo_loss_table *losses;
} report_store;

/* Room for `count` elements, zeros; NULL after a report. */
void *report_store_room(report_store *store, size_t count, size_t size);
/* A copy of a text; its data is NULL after a report. */
gufo_str report_store_text(report_store *store, gufo_str text);
void report_store_free(report_store *store);

int report_add_numbers(report_store *store, const char *path, const shared_options *shared,
                       gufo_cpu cpu, gufo_report_model *shown);
/* Memory over the context of a model that is run with these options, whose context and types of the cache do not
 * matter; `estimator` and `options` may be NULL: those of the model alone, with all layers on one card. */
int report_add_memory(report_store *store, const gufo_estimator *estimator,
                      const gufo_estimate_options *options, gufo_report_model *shown);
int report_add_text(report_store *store, gufo_report_model *shown);
void report_free_text(report_store *store);

/* Whether the texts of a path mean a page: it ends with ".html" or ".htm". */
bool report_is_page(const char *path);

/* What models lose, whose names are those of `paths`: the candidates of a page. */
int report_put_losses(report_store *store, const char *original, const char *const *paths,
                      const gufo_candidate_losses *losses, size_t count,
                      gufo_report_content *content);
/* Compares them first; the first of `paths` and `models` is the original. */
int report_add_losses(report_store *store, const char *const *paths,
                      const gufo_model *const *models, size_t candidates,
                      const shared_options *shared, gufo_cpu cpu, gufo_report_content *content);

#endif
