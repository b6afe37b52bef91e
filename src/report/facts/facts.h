/* What several sections know of a model: its sums, and its tensors in groups. */
#ifndef GUFO_REPORT_FACTS_H
#define GUFO_REPORT_FACTS_H

#include "gufo/report.h"
#include "gufo/summary.h"

/* The parts of a model that have a colour of their own. */
typedef enum role_class {
    ROLE_FEED_FORWARD,
    ROLE_ATTENTION,
    ROLE_EMBEDDING,
    ROLE_OUTPUT,
    ROLE_EXPERTS,
    ROLE_RECURRENT,
    ROLE_OTHER,
    ROLE_CLASSES,
} role_class;

/* "feed-forward" */
const char *role_class_name(role_class kind);
role_class role_class_of(gufo_str role);

/* Tensors with the same role and type, whatever their layer. */
typedef struct tensor_sum {
    gufo_str role; /* "ffn_down"; empty: all of this part that found no room */
    role_class kind;
    uint32_t type;
    uint64_t tensors, bytes, elements;
} tensor_sum;

/* "ffn_down", "others" */
gufo_str tensor_sum_name(const tensor_sum *sum);

enum { MOST_SUMS = 200, MOST_NAMED_SUMS = 150, SEVERITIES = GUFO_ERROR + 1 };

typedef struct model_facts {
    const gufo_model *model; /* NULL: not readable */
    gufo_summary summary;    /* if it is */
    gufo_str title, architecture;
    uint64_t layers_announced;  /* 0: not known */
    tensor_sum sums[MOST_SUMS]; /* the most bytes first */
    size_t sum_count;
    gufo_layers *layers; /* all tensors by layer and role, with their index */
    uint64_t bytes;      /* of all tensors; UINT64_MAX if that overflows */
    double active;       /* weights that one token uses, where experts share the work; else 0 */
    uint64_t found[SEVERITIES];           /* findings by severity */
    const gufo_report_finding **findings; /* all of the model's, the worst first */
    const gufo_allocator *allocator;
} model_facts;

/* False without memory; the caller frees the facts in any case. */
bool facts_gather(model_facts *facts, const gufo_report_model *model,
                  const gufo_allocator *allocator);
void facts_free(model_facts *facts);

/* findings.c: puts the findings in order.  False without memory. */
bool facts_sort_findings(model_facts *facts, const gufo_report_model *model);

/* The tensor of a layer and role; false if there is none. */
bool facts_cell(const model_facts *facts, uint64_t layer, size_t role, gufo_tensor *out);
/* Tensor `index` of those outside of layers, and its role; false past the last one. */
bool facts_other(const model_facts *facts, size_t index, gufo_str *role, gufo_tensor *out);
/* Whether a tensor is a matrix, or more: norms and biases have one dimension. */
bool facts_is_matrix(const gufo_tensor *tensor);

/* The value of a key that is a number; false if there is none. */
bool facts_number(const model_facts *facts, const char *key, uint64_t *out);

#endif
