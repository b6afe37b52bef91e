/* How two models differ.
 *
 *     gufo_compare(a, b, NULL, NULL, &result, &error);
 *     puts(result.same ? "the same" : "not the same");
 *
 * Models are compared by content, not by how files store it: a set of shards equals the whole
 * model, a big-endian file the little-endian one.  Keys that only describe how a model is stored do
 * not count: split.no, split.count, split.tensors.count, gufo.split.id and gufo.padding.  The order
 * of keys and tensors, padding, version and byte order make no difference either;
 * gufo_comparison.notes names them. */
#ifndef GUFO_COMPARE_H
#define GUFO_COMPARE_H

#include "codec.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_compare_options gufo_compare_options;

/* What changes from the first model, a, to the second one, b. */
typedef enum gufo_difference {
    GUFO_DIFFERENCE_NONE = 0,
    GUFO_DIFFERENCE_ADDED = 1,   /* b has it, a does not */
    GUFO_DIFFERENCE_REMOVED = 2, /* a has it, b does not */
    GUFO_DIFFERENCE_CHANGED = 3,
} gufo_difference;

#define GUFO_DIFFERENCE_COUNT 4

typedef struct gufo_comparison {
    uint64_t entries[GUFO_DIFFERENCE_COUNT]; /* by gufo_difference */
    uint64_t tensors[GUFO_DIFFERENCE_COUNT];
    uint32_t notes; /* of gufo_compare_notes */
    bool same;      /* nothing was added, removed or changed */
    uint64_t reserved[4];
} gufo_comparison;

/* Compares.  An error names a file of a with the role GUFO_FILE_INPUT, of b with
 * GUFO_FILE_SECOND_INPUT.  Data is read in pieces of a megabyte at most (per thread), and only up
 * to the first difference of a tensor unless values are asked for.  The result does not depend on
 * the number of threads.  `options`, `run` and `result` may be NULL; progress counts bytes.  Any
 * thread.
 *   GUFO_E_STOPPED   `progress` asked for it
 *   GUFO_E_ARGUMENT  a pipe, whose data is gone; a cpu that is not available
 *   GUFO_E_CHANGED, GUFO_E_IO, GUFO_E_TRUNCATED, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_compare(const gufo_model *a, const gufo_model *b,
                                  const gufo_compare_options *options, const gufo_run *run,
                                  gufo_comparison *result, gufo_error *error);

/* ==== Each difference ========================================================================= */

/* A metadata key.  Numbers are compared by their bits. */
typedef struct gufo_entry_difference {
    gufo_difference kind; /* never NONE */
    gufo_entry a, b;      /* all zeros where the model lacks it */
    bool has_first;       /* both are arrays of one element type, and this is */
    uint64_t first;       /* the first element that differs, or that only the longer one has */
    uint64_t reserved[2];
} gufo_entry_difference;

/* How far apart the numbers of two tensors are: the sums, and the measures that follow from them.
 * Pairs in which one is infinite or NaN are counted and left out of everything else.  Numbers are
 * compared as doubles: int64 of more than 53 bits are rounded, and the squares of float64 beyond
 * 1e154 are infinite. */
typedef struct gufo_value_difference {
    uint64_t compared;        /* pairs of finite values */
    uint64_t unequal;         /* of all pairs; NaN equals NaN */
    uint64_t nonfinite;       /* pairs left out */
    double largest;           /* absolute difference */
    uint64_t largest_at;      /* index of the element, in the order of dims */
    double square_difference; /* the sum of (a - b)^2 */
    double square_a, square_b, product;
    double rmse;     /* root mean square of the differences */
    double relative; /* the same divided by that of a: infinite where a is all zeros and b is not */
    double cosine;   /* of the angle between them: 1 if both are all zeros, 0 if one is.  These two
                        are NaN if a square sum is infinite */
    uint64_t reserved[4];
} gufo_value_difference;

typedef struct gufo_tensor_difference {
    gufo_difference kind; /* never NONE */
    gufo_tensor a, b;     /* all zeros where the model lacks it */
    bool type, shape;     /* they differ */
    bool data;            /* bytes differ; only compared if type and size are the same */
    bool unordered;       /* byte orders differ, and how to swap this type is not known */
    uint64_t first;       /* if data && !unordered: the first byte of the tensor that differs */
    bool has_values; /* with GUFO_COMPARE_VALUES, if both have the same shape and can be decoded */
    gufo_value_difference values;
    uint64_t reserved[4];
} gufo_tensor_difference;

typedef enum gufo_compare_flags {
    GUFO_COMPARE_VALUES = 1, /* decode tensors that differ, and measure */
    GUFO_COMPARE_METADATA =
        2, /* keys alone: no tensor is looked at, and none counts.  Not for gufo_compare_candidates */
} gufo_compare_flags;

/* What differs although it makes no difference. */
typedef enum gufo_compare_notes {
    GUFO_NOTE_KEY_ORDER = 1,
    GUFO_NOTE_TENSOR_ORDER = 2,
    GUFO_NOTE_VERSION = 4,
    GUFO_NOTE_BYTE_ORDER = 8,
    GUFO_NOTE_SHARDS = 16, /* their number */
} gufo_compare_notes;

typedef struct gufo_compare_options {
    uint32_t flags; /* of gufo_compare_flags */
    /* Each difference: keys in the order of a, then those that b adds, in its order; then tensors
     * in the same way.  May be NULL. */
    void (*entry)(void *context, const gufo_entry_difference *difference);
    void (*tensor)(void *context, const gufo_tensor_difference *difference);
    void *context;        /* for both */
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_compare_options;

/* ==== Several candidates ===================================================================== */

/* At most so many models are compared with one. */
#define GUFO_COMPARE_CANDIDATES 32

typedef struct gufo_candidates_options {
    uint32_t flags; /* of gufo_compare_flags */
    /* Each tensor of the original, in its order; then those that only candidates have, in the order
     * of the first candidate that has them.  `row` has an element for each candidate, from the
     * original, a, to the candidate, b, also where nothing differs (GUFO_DIFFERENCE_NONE).  Where
     * neither of the two has the tensor, both are all zeros.  May be NULL. */
    void (*tensor)(void *context, const gufo_tensor_difference *row, size_t count);
    void *context;
    const gufo_allocator *allocator; /* of a gufo_loss_table; is copied; NULL: malloc */
    uint64_t reserved[4];            /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_candidates_options;

/* What the tensors of a candidate come to. */
typedef struct gufo_candidate {
    uint64_t tensors[GUFO_DIFFERENCE_COUNT]; /* by gufo_difference */
    uint64_t bytes, elements; /* of all its tensors; they are set before the first row */
    uint64_t unmeasured;      /* tensors that both have, and whose loss is not known */
    uint64_t nonfinite;       /* pairs in which a value is infinite or NaN: they do not count */
    double loss;              /* of its tensors whose loss is known: the sum, in the order of a */
    bool same;                /* no tensor was added, removed or changed */
    uint64_t reserved[4];
} gufo_candidate;

/* Compares the tensors, but not the metadata, of `count` models with those of `original`, as
 * gufo_compare does: the same numbers, to the last bit.  A tensor of the original is decoded once
 * for all candidates (once more for those whose types interleave rows).  `candidates`, some of
 * which may be the same, and `result`, which may be NULL, have `count` elements.  An error has the
 * role GUFO_FILE_SECOND_INPUT for a file of any candidate, and names it.  Memory, threads and
 * errors as gufo_compare, and
 *   GUFO_E_ARGUMENT  `count` is 0 or more than GUFO_COMPARE_CANDIDATES
 *   GUFO_E_RANGE     the tensors have more bytes than 64 bits can count */
GUFO_API gufo_status gufo_compare_candidates(const gufo_model *original,
                                             const gufo_model *const *candidates, size_t count,
                                             const gufo_candidates_options *options,
                                             const gufo_run *run, gufo_candidate *result,
                                             gufo_error *error);

/* The relative squared error: the sum of (a - b)^2 divided by that of a^2; 0 where nothing differs.
 * False where it is not known: a model lacks the tensor, the shapes differ, one cannot be decoded, no
 * pair of values is finite, or one of the sums or the quotient is not.  Any thread. */
GUFO_API bool gufo_tensor_difference_loss(const gufo_tensor_difference *difference, double *loss);

/* ---- losses by tensor ------------------------------------------------------------------------ */

#define GUFO_NO_TYPE UINT32_MAX

/* What a candidate loses, by the index that a tensor has in the first candidate; report.h draws it. */
typedef struct gufo_candidate_losses {
    gufo_candidate sums;
    const double *losses;  /* of gufo_tensor_difference_loss; NaN: not known.  NULL: of no tensor */
    const uint32_t *types; /* GUFO_NO_TYPE: the candidate lacks the tensor.  NULL: not known */
    uint64_t reserved[4];
} gufo_candidate_losses;

/* What several candidates lose of an original. */
typedef struct gufo_loss_table gufo_loss_table;

/* Compares as gufo_compare_candidates does, with the same arguments; `options` and `result` may be NULL, and values are
 * compared whatever the flags say.  Freed with gufo_loss_table_free.  NULL on failure, with the errors of
 * gufo_compare_candidates. */
GUFO_MUST_USE GUFO_API gufo_loss_table *gufo_loss_table_new(
    const gufo_model *original, const gufo_model *const *candidates, size_t count,
    const gufo_candidates_options *options, const gufo_run *run, gufo_candidate *result,
    gufo_error *error);
/* One for each candidate; it lives as long as the table. */
GUFO_API const gufo_candidate_losses *gufo_loss_table_list(const gufo_loss_table *table,
                                                           size_t *count);
/* NULL is allowed. */
GUFO_API void gufo_loss_table_free(gufo_loss_table *table);

#ifdef __cplusplus
}
#endif

#endif
