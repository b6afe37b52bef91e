/* Types of tensors, so that a file has a given size and loses as little as possible.
 *
 *     gufo_size_target size = {.bytes = UINT64_C(5800000000)};
 *     gufo_size_options wanted = {.targets = &size, .target_count = 1};
 *     gufo_quantize_options options = {0};
 *     gufo_losses *losses = gufo_losses_new(model, &options, NULL, &error);
 *     gufo_size_plan *plan = NULL;
 *
 *     if (losses != NULL && gufo_losses_measure(losses, NULL, &error) == GUFO_OK)
 *         plan = gufo_size_plan_new(losses, &wanted, NULL, &error);
 *     if (plan != NULL)
 *         gufo_size_plan_apply(plan, &options);
 *
 * The quantizer (quant.h) then makes that file with these options.
 *
 * Part 1  allocation   which option of each tensor, so that a size is not exceeded
 * Part 2  losses       which types each tensor may get, what it then takes and loses
 * Part 3  size plans   which type each tensor gets, so that files have a given size */
#ifndef GUFO_TARGET_SIZE_H
#define GUFO_TARGET_SIZE_H

#include "quant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_losses gufo_losses;
typedef struct gufo_losses_options gufo_losses_options;
typedef struct gufo_size_plan gufo_size_plan;
typedef struct gufo_size_options gufo_size_options;

/* Finds the options of all tensors that the quantizer would write with these options.  For each type
 * it asks the recipes what a tensor becomes if that type is the target and pure, so that kept
 * tensors, adapters, pruned layers and the types that `options` gives to a tensor are what
 * they are in the quantizer: such a tensor has one option.  Rows that do not fill blocks have the
 * fallback type as their option, with its bytes; equal options are one.  A type that a tensor cannot
 * have (no fallback, or one that is not allowed; it needs importance, and there is none) is not an
 * option of it.  A tensor that is quantized already, where requantizing is allowed, may also stay as
 * it is.
 *
 * Of `options` the targets, plan_only and the sizes of shards are ignored; everything that it points
 * to, and the input, which may be made, must outlive the result.  Both may be NULL: {0}.
 * NULL on failure: as gufo_quantizer_new; GUFO_E_ARGUMENT also for a type that is listed twice, or
 * nothing encodes, and for a tensor without an option, with its name.  Freed with
 * gufo_losses_free. */
GUFO_MUST_USE GUFO_API gufo_losses *gufo_losses_new(const gufo_model *input,
                                                    const gufo_quantize_options *options,
                                                    const gufo_losses_options *more,
                                                    gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_losses_free(gufo_losses *losses);

/* Measures losses that are not known; may be called again, after a failure too.
 *
 * A first pass reads all rows and adds up the denominators, which takes no encoder.  Then rows are drawn
 * in the proportion of their denominators and encoded: 64 (32 in the types whose encoders are slow), and
 * twice as many until the standard error of the loss is at most 2 % of it.  Few rows that make up much of
 * the denominator are measured in any case.  Where more than half of the rows would be drawn all are
 * measured; the loss is then that of a run of the quantizer, to the bit.
 *
 * With the part `rest` of the denominator of the other rows, k rows r drawn from them, and E(r) the loss of a row,
 *
 *     E = (1 - rest) E(measured in any case) + rest * mean E(r),    SE = rest * deviation E(r) / sqrt(k)
 *
 * Losses do not depend on threads, memory or kernels.  Memory: as writing, run->memory or
 * GUFO_QUANTIZE_MEMORY.  Progress counts bytes that are read; the total grows.
 *   GUFO_E_RANGE      a value that is not finite, unless GUFO_QUANTIZE_KEEP_NONFINITE
 *   GUFO_E_CHANGED    an input was written to since it was opened
 *   GUFO_E_STOPPED    `progress` asked for it; what was measured of whole tensors is kept
 *   GUFO_E_LIMIT, GUFO_E_IO, GUFO_E_TRUNCATED, GUFO_E_MEMORY, GUFO_E_ARGUMENT as gufo_job_run
 * Source: Hansen and Hurwitz, "On the theory of sampling from finite populations" (1943). */
GUFO_API gufo_status gufo_losses_measure(gufo_losses *losses, const gufo_run *run,
                                         gufo_error *error);

/* Plans.  All losses must be known (gufo_losses_measure); `losses`, and what it was made from, must outlive
 * the plan.  The result depends on the arguments alone, not on threads or the machine.  Of `run`, which may
 * be NULL, the allocator counts, and progress, as in gufo_allocate.
 *
 * With new shards (split_size, split_tensors) their number depends on the types: where the best choice
 * needs one more than was counted on, the budget shrinks until the files fit.
 *
 * NULL on failure, and with the errors of gufo_quantizer_new:
 *   GUFO_E_LIMIT     a size is below the least one, which the error has, with the largest tensors
 *   GUFO_E_ARGUMENT  a loss that is not known; a size that is not one; a coefficient that is negative or
 *                    not finite; a tensor that no type is left for; tied tensors without a common type
 *   GUFO_E_RANGE     bytes or losses are too large to be added up
 *   GUFO_E_STOPPED, GUFO_E_MEMORY
 * Freed with gufo_size_plan_free. */
GUFO_MUST_USE GUFO_API gufo_size_plan *gufo_size_plan_new(const gufo_losses *losses,
                                                          const gufo_size_options *options,
                                                          const gufo_run *run, gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_size_plan_free(gufo_size_plan *plan);

/* Makes the options, which must otherwise be those that the losses were made with, those of the plan: sets
 * the targets and model_type.  The plan must outlive what is made with them. */
GUFO_API void gufo_size_plan_apply(const gufo_size_plan *plan, gufo_quantize_options *options);

/* ==== Part 1: allocation ===================================================================== */

/* Chooses one option of every group so that the bytes stay within a budget and the sum of losses is
 * the least: the multiple-choice knapsack problem, solved exactly.  A group is a tensor, or several
 * tensors that get the same type; its options are the types that it may get, with the bytes that
 * it then takes and what it loses.  What a loss measures is the caller's matter: any number that may
 * be added up. */
typedef struct gufo_allocate_option {
    uint64_t bytes;
    double loss; /* finite, not negative */
} gufo_allocate_option;

typedef struct gufo_allocate_group {
    const gufo_allocate_option *options; /* in any order; dominated and equal ones are allowed */
    size_t count;                        /* at least 1 */
    bool is_fixed;                       /* option `fixed` is chosen, whatever it takes */
    size_t fixed;
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_allocate_group;

/* States that a search makes where the options do not say; it takes at most about 64 bytes for each. */
#define GUFO_ALLOCATE_STATES (UINT64_C(1) << 22)

typedef struct gufo_allocate_options {
    uint64_t states;      /* how many a complete search may make; 0: GUFO_ALLOCATE_STATES */
    const gufo_run *run;  /* its allocator, and its progress, which counts branches; NULL: {0} */
    uint64_t reserved[4]; /* must be zero */
} gufo_allocate_options;

typedef struct gufo_allocation {
    uint64_t bytes; /* of the chosen options */
    double loss;    /* their sum */
    double bound;   /* the optimum of the relaxed problem, in which a choice may be divided between
                     * two options: no choice has a sum below it */
    bool is_proven; /* no choice has a sum below `loss` */
    double unit;    /* losses count as the nearest multiples of this, a power of two */
    uint64_t least_bytes; /* of any choice: the least budget that has one */
    uint64_t states;      /* that the search made */
    uint64_t reserved[4];
} gufo_allocation;

/* Solves it for `count` groups, of which there may be none: choice[i] is the option of groups[i].
 *
 *     bound       the relaxed problem, by the convex hulls of all groups: a lower bound of the loss,
 *                 and what a byte is worth
 *     branches    one for each option of the largest group, with bounds of their own
 *     reduction   options that cost more than the bound leaves to be gained are dropped
 *     search      over the groups that are left: lists of states that no other state dominates
 *
 * Of several optima it chooses one with the least bytes, and of several of these the one whose first
 * choice that differs has the lower index.  A search that would exceed the limit of states continues
 * with a selection of them, and finds a good choice without proof: `bound` then says how far from the
 * optimum it may be.  (If its loss equals `bound` it is an optimum, and is_proven, but maybe not the
 * one of several that a complete search chooses.)
 *
 * The result depends on the arguments alone, not on the machine: losses are rounded to multiples of
 * `unit`, which is at most 2^-60 times the number of groups times the largest loss, and all sums are
 * of whole numbers.  Whole losses are exact if the number of groups times the largest one is below
 * 2^53.  An option that must not be chosen is best absent: an enormous loss makes the unit large.
 *
 * `options` may be NULL.  Any thread.  Errors:
 *   GUFO_E_LIMIT     every choice has more bytes than the budget; out->least_bytes is filled in
 *   GUFO_E_ARGUMENT  a group without options, a fixed option that does not exist, a loss that is
 *                    negative, infinite or NaN; 2^32 options or more
 *   GUFO_E_RANGE     the largest options of all groups add up to 2^63 bytes or more; losses are too
 *                    large to be added up
 *   GUFO_E_STOPPED   `progress` asked for it
 *   GUFO_E_MEMORY
 *
 * Source: dominance and the relaxed problem as in Sinha and Zoltners, "The multiple-choice knapsack
 * problem" (1979); lists reduced by bounds as in Dyer, Kayal and Walker, "A branch and bound algorithm
 * for solving the multiple-choice knapsack problem" (1984), and from the relaxed plan outwards as in
 * Pisinger, "A minimal algorithm for the multiple-choice knapsack problem" (1995). */
GUFO_API gufo_status gufo_allocate(const gufo_allocate_group *groups, size_t count, uint64_t budget,
                                   const gufo_allocate_options *options, size_t *choice,
                                   gufo_allocation *out, gufo_error *error);

/* ==== Part 2: losses ========================================================================= */

/* What every tensor of a model may become, how many bytes it then takes, and what it loses: the
 * groups and options of Part 1.
 *
 *     look      gufo_losses_new: tensors, their options, the bytes of each; no data is read
 *     recall    gufo_losses_read: losses of an earlier time, from a file; may be skipped
 *     measure   gufo_losses_measure: those that are not known yet
 *     remember  gufo_losses_write
 *
 * The loss of a tensor x that is quantized and decoded to y is
 *
 *     E = sum of w (y - x)^2 / sum of w x^2
 *
 * over all its values: 0 where nothing is lost, 1 where every value becomes 0.  w is the importance of
 * the column (of that expert's matrix in a stack), and 1 for a tensor without importance.  What is
 * measured is the encoder that will run: with the same effort and importance, after adapters. */
typedef enum gufo_losses_flags {
    GUFO_LOSSES_ALL_ROWS = 1, /* all rows are measured, in place of a sample */
} gufo_losses_flags;

struct gufo_losses_options {
    /* Types that tensors may get, without repetition; each must have an encoder.  NULL: the standard
     * ones, which are
     *   Q8_0, Q6_K, Q5_K, Q4_K, IQ4_XS, Q3_K and Q2_K: on or near the lower hull of bits and losses,
     *   and encoded fast;
     *   IQ3_S, IQ3_XXS, IQ2_S, IQ2_XS, IQ2_XXS, IQ1_M and IQ1_S, for tensors with importance: their
     *   encoders take ten times as long, and without importance they gain little or do not exist;
     *   the tensor's own type if that is F32, F16 or BF16. */
    const gufo_element_type *const *types;
    size_t type_count;    /* at most GUFO_QUANTIZE_TARGETS */
    uint32_t flags;       /* of gufo_losses_flags */
    uint64_t reserved[4]; /* must be zero */
};

/* A tensor.  Views live as long as the object. */
typedef struct gufo_losses_tensor {
    gufo_str name;             /* in the outputs */
    gufo_tensor source;        /* as in the input, where its name may differ */
    size_t option_count;       /* at least 1 */
    bool is_fixed;             /* the options of the quantizer decide: there is one option */
    bool has_importance;       /* which weighs its losses */
    size_t adapters;           /* that change it */
    gufo_recipe_reason reason; /* for a tensor that is fixed: why */
    uint64_t reserved[4];
} gufo_losses_tensor;

/* One option of a tensor. */
typedef struct gufo_loss {
    const gufo_element_type *type; /* NULL: an unknown type, which stays */
    uint64_t bytes;                /* of its data, without padding */
    bool is_known;                 /* measured, read from a file, or 0 because bytes stay */
    double relative;               /* E; 0 where bytes stay */
    double standard_error;         /* of E; 0 if all rows were measured */
    uint64_t rows, all_rows;       /* measured, and of the tensor; `rows` is 0 where bytes stay, and
                                    * counts one that was drawn twice as two */
    uint32_t flags;                /* of gufo_recipe_flags */
    uint64_t reserved[4];
} gufo_loss;

/* Tensors, in the order of the outputs: the numbers are those of gufo_quantizer_tensor_at. */
GUFO_API uint64_t gufo_losses_count(const gufo_losses *losses);
/* Tensor `index`; false past the end.  Any thread. */
GUFO_API bool gufo_losses_tensor_at(const gufo_losses *losses, uint64_t index,
                                    gufo_losses_tensor *out);
/* Option `option` of tensor `index`: they are in the order of bytes, then of ids; false past the end.
 * Any thread. */
GUFO_API bool gufo_losses_option_at(const gufo_losses *losses, uint64_t index, size_t option,
                                    gufo_loss *out);
/* The option of a tensor that is this type; false if it is not one.  Any thread. */
GUFO_API bool gufo_losses_find(const gufo_losses *losses, uint64_t index,
                               const gufo_element_type *type, gufo_loss *out);
/* The loss of a tensor in a run of the quantizer, to compare with what was measured before: with
 * importance where the tensor has some; 0 for a tensor that was copied.  Any thread. */
GUFO_API double gufo_losses_actual(const gufo_quantizer_tensor *tensor);

/* Losses can be kept in a file: GGUF, whose arrays gufo.losses.* have an element for each option of each
 * tensor (docs/target-size.md).  It also holds a hash of the header, size and time of all files that the data comes from, of the importance matrix and of the
 * options that decide about losses, and counts only where they are the same.
 *
 * Takes what gufo_losses_measure would find: with GUFO_LOSSES_ALL_ROWS losses of all rows, without it those that
 * were found without it.  So plans are the same with a file and without.  *taken (may be NULL) is the number of
 * losses that are known now and were not before; others are kept for gufo_losses_write.  After a failure nothing was taken, and
 * all can be measured: none of these is a reason to stop.  The file may come from anybody: it must be a
 * regular file of the user, of one name, and is not opened through a symlink; losses that are not finite
 * numbers from 0 on make it damaged.  Memory is bounded by the number of tensors and types.
 *   GUFO_E_NOT_FOUND  the file does not exist
 *   GUFO_E_CHANGED    it is of another model, importance matrix, adapter, effort or version
 *   GUFO_E_MALFORMED  not such a file, or damaged: the error has the reason, and which loss it is
 *   GUFO_E_ARGUMENT   not a file to be trusted, with the reason; the model is made by a program
 *   GUFO_E_IO, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_losses_read(gufo_losses *losses, const char *path, uint64_t *taken,
                                      gufo_error *error);
/* Writes all losses that were measured or read, atomically.  Replaces only a file of losses, which
 * gufo_losses_read would not refuse as one that is not to be trusted.  The same numbers are read again, to
 * the last bit.
 *   GUFO_E_EXISTS     there is something else at that path
 *   GUFO_E_ARGUMENT   the model is made by a program
 *   GUFO_E_IO, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_losses_write(const gufo_losses *losses, const char *path,
                                       gufo_error *error);

/* ==== Part 3: size plans ===================================================================== */

/* A size plan gives every tensor the type with which the sum of weighed losses is the least, while the
 * files have at most a given size.
 *
 *     gufo_losses_measure      what each type takes and loses (Part 2)
 *     gufo_size_plan_new       which type each tensor gets (Part 1), for each of several sizes
 *     gufo_size_plan_apply     options for gufo_quantizer_new (quant.h), which then makes just that
 *
 * The loss of a tensor counts with a coefficient, which belongs to the tensor and not to the type, as
 * errors in some tensors harm a model more than in others.  Of losses that are small, a model loses about
 * their weighed sum (the linearity theorem of Malinovskii and others, "HIGGS", NAACL 2025).
 *
 * The built-in coefficients come from a single measurement: that of Kawrakow
 * in 2023 (llama.cpp, issue 1256), who took one role of LLaMA-7B after the other out of a quantization to
 * 2 bits.  They are a starting point.  ffn_down has 1; token_embd 0.05, but 1 where it is the output, too;
 * a fused tensor has the mean of its parts, by their rows; a tensor of one expert has its share; what the
 * table lacks has 0.5.
 *
 * The built-in least types, a convention: Q4_K for the output, Q2_K for the token embedding, Q3_K for keys
 * and values that several heads share. */
/* At most so many bits per weight can be asked for. */
#define GUFO_SIZE_MOST_BITS 64

/* A size that is asked for: one of the two, the other is 0. */
typedef struct gufo_size_target {
    uint64_t bytes; /* of all files of the output, headers and padding included */
    /* Bits of the data of all tensors, without padding, for each of their elements, of all tensors;
     * above 0, at most GUFO_SIZE_MOST_BITS. */
    double bits_per_weight;
    uint64_t reserved[2]; /* must be zero */
} gufo_size_target;

struct gufo_size_options {
    const gufo_size_target *targets;
    size_t target_count; /* from 1 to GUFO_QUANTIZE_TARGETS */
    /* The coefficient of a tensor: finite, not below 0.  `standard` is the built-in one.  NULL: that. */
    double (*coefficient)(void *context, gufo_str name, double standard);
    /* The least type that a tensor may get, by bits per weight: types of as many bits are allowed.
     * `standard` is the built-in one, or NULL; it gives way where a tensor has no such option.  Returns
     * NULL for any type.  NULL: the built-in ones. */
    const gufo_element_type *(*least_type)(void *context, gufo_str name,
                                           const gufo_element_type *standard);
    /* The most, likewise.  NULL: any. */
    const gufo_element_type *(*most_type)(void *context, gufo_str name);
    /* Tensors of one layer (or outside layers) with the same number, not 0, get the same type.  Tensors
     * that keep their type are not asked about.  NULL: none. */
    uint32_t (*tie)(void *context, gufo_str name);
    void *context;        /* of all four */
    uint64_t states;      /* gufo_allocate_options.states */
    uint64_t reserved[4]; /* must be zero */
};

/* The plan for one of the targets. */
typedef struct gufo_size_result {
    uint64_t asked;     /* bytes of the files; for bits per weight, of the data of all tensors */
    uint64_t size;      /* of all files, to the byte */
    uint64_t data_size; /* of all tensors, without padding */
    uint64_t elements;  /* of all tensors */
    uint64_t least;     /* the least that could have been asked for */
    double loss;    /* the sum of coefficient times loss, without tensors that keep their type */
    double bound;   /* no plan of that size has a smaller sum */
    bool is_proven; /* no plan of that size has a smaller sum than this one */
    bool is_best;   /* every tensor has the type with which it loses least */
    /* The type that most elements have, and the value of general.file_type for it; NULL: none. */
    const gufo_element_type *main_type;
    const gufo_file_type *file_type;
    /* The largest fixed mixture that is not larger than what was asked for, of those whose types are all
     * options; NULL: none.  Its files, and its sum of losses. */
    const gufo_file_type *mixture;
    uint64_t mixture_size;
    double mixture_loss;
    /* The target (gufo_quantize_target_by_name) with which the types of gufo_size_plan_write give the same
     * files, once general.file_type is set to that of file_type: rules for types do not hold for targets
     * of plain numbers.  Static. */
    const char *target;
    uint64_t reserved[7];
} gufo_size_result;

/* False past the last target.  Any thread. */
GUFO_API bool gufo_size_plan_at(const gufo_size_plan *plan, size_t target, gufo_size_result *out);

/* What a tensor becomes for a target. */
typedef struct gufo_size_tensor {
    gufo_str name;      /* in the outputs */
    bool is_kept;       /* it keeps its type, and its loss does not count */
    gufo_loss loss;     /* the chosen option */
    double coefficient; /* of one that is not kept */
    uint64_t group;     /* tensors of the same group are tied */
    uint64_t tied;      /* how many tensors its group has */
    uint64_t reserved[4];
} gufo_size_tensor;

/* Tensor `index` in the order of the outputs; false past the end of either.  Any thread. */
GUFO_API bool gufo_size_plan_tensor_at(const gufo_size_plan *plan, size_t target, uint64_t index,
                                       gufo_size_tensor *out);

/* What a tensor has lost (*actual, as gufo_losses_actual) in a run of the quantizer, whose
 * gufo_quantizer_target_tensor_at is `written`, beside what was planned for it; *agrees (both may be NULL):
 * they differ by at most 3 standard errors.  False, with neither, for a tensor that keeps its type, or
 * whose loss was not measured in the run.  Any thread. */
GUFO_API bool gufo_size_tensor_compare(const gufo_size_tensor *planned,
                                       const gufo_quantizer_tensor *written, double *actual,
                                       bool *agrees);

/* ---- plans as text --------------------------------------------------------------------------- */

/* A plan can be kept as text, a line for each tensor that does not keep its type:
 *
 *     # gufo quantize --tensor-type-file THIS IN OUT Q5_0
 *     ^token_embd\.weight$=IQ4_NL
 *     ^blk\.0\.attn_q\.weight$=Q5_0
 *
 * These are rules PATTERN=TYPE, as the command reads them (--tensor-type-file).  Patterns are regular
 * expressions.  The library does not match them; it understands those that mean one name, and a plan
 * has only such patterns.
 *
 * Appends the plan for a target to *text, which the caller frees, behind a comment line (`comment`, without
 * newline; NULL: none).  Bytes of a name that are not UTF-8 are written as they are; no pattern of the
 * command matches such a name.  GUFO_E_RANGE past the last target; GUFO_E_MEMORY.  Any thread. */
GUFO_API gufo_status gufo_size_plan_write(const gufo_size_plan *plan, size_t target,
                                          const char *comment, gufo_text *text, gufo_error *error);

/* A rule that gives tensors their type.  Views live as long as the text. */
typedef struct gufo_type_rule {
    gufo_str pattern;
    gufo_str type_name;            /* as it is spelt */
    const gufo_element_type *type; /* gufo_element_type_meant; NULL: no type has that name */
    uint64_t line;                 /* from 1 */
    uint64_t reserved[2];
} gufo_type_rule;

/* Anything but GUFO_OK stops the reading, which fails with it. */
typedef gufo_status gufo_type_rule_fn(void *context, const gufo_type_rule *rule, gufo_error *error);

/* Reads rules; a line may have several, with blanks between them.  The last "=" divides
 * pattern and type.  Lines that begin with "#" are comments.  Calls `found` for each rule in order: where
 * several mean the same tensor, the first one counts.  GUFO_E_MALFORMED, with the byte, for what is not a
 * rule, and for a NUL.  Any thread. */
GUFO_API gufo_status gufo_type_rules_read(gufo_str text, gufo_type_rule_fn *found, void *context,
                                          gufo_error *error);

/* The one name that a pattern means, from "^" to "$" and without its escapes, into *name, whose text it
 * replaces and which the caller frees.  GUFO_E_TYPE for other patterns, which need a matcher;
 * GUFO_E_MEMORY.  Any thread. */
GUFO_API gufo_status gufo_type_rule_tensor(gufo_str pattern, gufo_text *name, gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
