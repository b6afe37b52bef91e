/* A report on models: one HTML page with its pictures inside, which needs no script, no network and no
 * other file.  A library of its own, libgufo_report (pkg-config gufo-report).
 *
 *     gufo_report_model shown = {.model = model, .name = gufo_str_of("model.gguf")};
 *     gufo_report_content content = {.models = &shown, .model_count = 1};
 *     gufo_report_write(&content, &page, &error);
 *
 * What is drawn comes from the caller: a model, and the facts that it has computed with the other
 * headers (statistics, losses, memory ...).  Every part is optional: without its facts a section is one
 * line with the hint of the caller, or is left out.  The same content gives the same bytes; the library
 * reads no file, no clock and no environment.  Texts of files stay text: none becomes markup. */
#ifndef GUFO_REPORT_H
#define GUFO_REPORT_H

#include "compare.h"
#include "estimate.h"
#include "format.h"
#include "quant.h"
#include "summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_report_content gufo_report_content;

/* Writes the page: appends it to `out`.  Any thread.  On failure `out` is as it was: GUFO_E_MEMORY,
 * GUFO_E_ARGUMENT. */
GUFO_API gufo_status gufo_report_write(const gufo_report_content *content, gufo_text *out,
                                       gufo_error *error);

/* ==== Findings ================================================================================ */

/* A finding with advice, as gufo_finding has it; texts live as long as the call that draws them. */
typedef struct gufo_report_finding {
    const gufo_rule *rule;
    gufo_severity severity;
    uint64_t offset; /* in the file, or GUFO_NO_OFFSET */
    size_t shard;    /* number of the file from 1; 0: not one of a set */
    gufo_str subject, message;
    gufo_str hint;    /* words; empty: none */
    gufo_str command; /* that fixes it, may be of several lines; empty: none */
    uint64_t reserved[4];
} gufo_report_finding;

/* A finding of a model's checks as pages show it, without a command; a view of it.  `model` says whether it is
 * one of several files; NULL: it is not.  Any thread. */
GUFO_API gufo_report_finding gufo_report_finding_of(const gufo_finding *finding,
                                                    const gufo_model *model);

/* ==== Memory ================================================================================== */

/* What a context takes. */
typedef struct gufo_report_memory_point {
    uint64_t context;                 /* tokens */
    uint64_t weights, cache, compute; /* bytes; cache with recurrent state */
    uint64_t reserved[2];
} gufo_report_memory_point;

/* The memory of a model over its context, with one type of the cache. */
typedef struct gufo_report_memory {
    gufo_str cache_type;                    /* "F16" */
    const gufo_report_memory_point *points; /* ascending by their context */
    size_t count;
    bool compute_known;
    gufo_str formula; /* of the cache, in words; empty: none */
    uint64_t reserved[4];
} gufo_report_memory;

/* These numbers of a model: what pages of gufo report have.  Owns what gufo_report_model points to. */
typedef struct gufo_report_curves gufo_report_curves;

typedef struct gufo_report_curves_options {
    const gufo_estimator *estimator; /* of the model; NULL: its own */
    /* How the model is run; its context and types of the cache do not matter.  NULL: all layers on one card. */
    const gufo_estimate_options *run;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_report_curves_options;

/* Computes the memory of the first device over the context, with a cache of F16, Q8_0 and Q4_0; margins of buffers
 * count as used.  A model of which this is not known has an empty list.  `options` may be NULL.  Freed with
 * gufo_report_curves_free.  Any thread.  NULL on failure: GUFO_E_MEMORY, GUFO_E_ARGUMENT. */
GUFO_MUST_USE GUFO_API gufo_report_curves *gufo_report_curves_new(
    const gufo_model *model, const gufo_report_curves_options *options, gufo_error *error);
/* What gufo_report_model takes; it lives as long as the curves. */
GUFO_API const gufo_report_memory *gufo_report_curves_list(const gufo_report_curves *curves,
                                                           size_t *count);
/* NULL is allowed. */
GUFO_API void gufo_report_curves_free(gufo_report_curves *curves);

/* ==== Losses ================================================================================== */

/* A model that is compared with an original, tensor by tensor of the first model of the page. */
typedef struct gufo_report_candidate {
    gufo_str name;
    const gufo_candidate_losses
        *losses; /* of gufo_loss_table_list (compare.h), or the caller's own */
    uint64_t reserved[4];
} gufo_report_candidate;

/* A point of loss over size. */
typedef struct gufo_report_size_point {
    uint64_t size; /* bytes */
    double loss;
    gufo_str name; /* of a fixed mixture; empty: a point of the curve */
    bool is_chosen;
    uint64_t reserved[2];
} gufo_report_size_point;

/* ==== A model ================================================================================= */

/* What a section lacks, where the caller knows the command that makes it. */
typedef enum gufo_report_part {
    GUFO_REPORT_STATS = 0,
    GUFO_REPORT_LOSSES = 1,
    GUFO_REPORT_MEMORY = 2,
    GUFO_REPORT_TOKENIZER = 3,
    GUFO_REPORT_TEMPLATE = 4,
    GUFO_REPORT_SCALES = 5,
    GUFO_REPORT_FINDINGS = 6,
} gufo_report_part;
enum { GUFO_REPORT_PARTS = 16 };

typedef struct gufo_report_model {
    const gufo_model
        *model;      /* opened leniently if it is damaged; NULL: nothing of it can be read */
    gufo_str name;   /* of the file, as it is shown */
    bool is_checked; /* `findings` are all that exist */
    const gufo_report_finding *findings; /* in any order: the page has the worst first */
    size_t finding_count;
    const gufo_model_numbers *numbers; /* gufo_model_numbers_new (quant.h); NULL: none were read */
    const gufo_report_memory *memory;  /* with types of the cache, the usual one first */
    size_t memory_count;
    const gufo_vocab_census *tokenizer; /* gufo_vocab_census_new (vocab.h); NULL: none */
    const gufo_chat_review *templates;  /* gufo_chat_reviews_list (text.h) */
    size_t template_count;
    /* By gufo_report_part: the command that gives what is missing; NULL: nothing is said of it. */
    const char *hints[GUFO_REPORT_PARTS];
    uint64_t reserved[16];
} gufo_report_model;

/* ==== The page ================================================================================ */

typedef struct gufo_report_content {
    const gufo_report_model *models; /* one after the other */
    size_t model_count;
    gufo_str title;    /* empty: the name of the model */
    gufo_str note;     /* beside "gufo report", such as a date; empty: none */
    gufo_str original; /* the name of the model that candidates are compared with */
    const gufo_report_candidate *candidates;
    size_t candidate_count;
    /* Loss over size, ascending by size. */
    const gufo_report_size_point *sizes;
    size_t size_count;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[16];           /* must be zero */
} gufo_report_content;

#ifdef __cplusplus
}
#endif

#endif
