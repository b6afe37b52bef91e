/* Making models smaller.
 *
 *     gufo_quantize_options options = {0};
 *     gufo_job_options files = {.path = "small.gguf"};
 *     gufo_quantizer *quantizer;
 *
 *     gufo_quantize_target_by_name("Q4_K_M", false, &options.recipe.target);
 *     quantizer = gufo_quantizer_new(model, &options, &error);
 *     gufo_job_run(gufo_quantizer_job(quantizer), &files, NULL, &error);
 *     gufo_quantizer_free(quantizer);
 *
 * Part 1  recipes             which tensor gets which element type
 * Part 2  importance matrix   which columns of a tensor matter most
 * Part 3  quantizing files    the streaming pipeline
 * Part 4  statistics          what numbers the data of a tensor holds
 *
 * target_size.h chooses types, so that a file has a given size. */
#ifndef GUFO_QUANT_H
#define GUFO_QUANT_H

#include "codec.h"
#include "format.h"
#include "produce.h"
#include "schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_quantizer gufo_quantizer;
typedef struct gufo_quantize_target gufo_quantize_target;
typedef struct gufo_quantize_options gufo_quantize_options;

/* What TYPE on a command line means, into *out; false if it means nothing.  TYPE is one of
 *   the name of a file type that quantizing can make (Q4_K_M), or its number (15);
 *   Q3_K, Q4_K, Q5_K for the file types with _M;
 *   the name of an element type that is not a file type (MXFP4): the target is pure then;
 *   COPY: tensors keep their types;
 *   the format's own names: of a file type MOSTLY_Q4_K_M, ALL_F32, both also with LLAMA_FTYPE_ or
 *   GGML_FTYPE_ before them; of an element type GGML_TYPE_Q4_0: the target is pure then.
 * Upper or lower case, with or without "_" (q4km).  With `pure`, the element type of that name is meant where there is one
 * (Q4_K; IQ2_S, whose file type is based on IQ2_XS), else the file type's base.  Any thread. */
GUFO_API bool gufo_quantize_target_by_name(const char *name, bool pure, gufo_quantize_target *out);
/* Plans the files of a quantized model, which gufo_job_run writes.  The input, which may be made (gufo_model_open_provider), and everything that the options point
 * to must outlive the quantizer.  `options` may be NULL: then the output is a copy, in one file.
 * NULL on failure: as gufo_recipe_choose and gufo_imatrix_match (but a token embedding may have
 * importance data that does not fit: it is then ignored), and GUFO_E_ARGUMENT for an input without
 * data (a pipe), layers that do not exist, an override that a new file cannot have
 * (gufo_document_set), a scale that is not finite, a tensor that an adapter changes and that cannot be
 * decoded, or encoded; GUFO_E_LIMIT for more than GUFO_QUANTIZE_ADAPTERS adapters; GUFO_E_MALFORMED, with
 * the rule (check.h), for an adapter that does not fit the model. */
GUFO_MUST_USE GUFO_API gufo_quantizer *gufo_quantizer_new(const gufo_model *input,
                                                          const gufo_quantize_options *options,
                                                          gufo_error *error);
/* The job that writes the outputs, once (produce.h); it belongs to the quantizer.  With
 * several targets, gufo_job_options.more_paths has the paths after the first: either all files
 * appear or none, and outputs are counted target by target.  With
 * GUFO_QUANTIZE_KEEP_SPLIT and several shards the path of gufo_job_run is that of the first of
 * them, or "NAME.gguf", which gives NAME-00001-of-000NN.gguf and so on.  With GUFO_JOB_RESUMABLE or
 * GUFO_JOB_RESUME an interrupted run can be resumed with the same input and options; a made model
 * must then give the same data.  In addition to the errors of gufo_job_run:
 *   GUFO_E_RANGE      a value that is not finite, or becomes so: with tensor, row and column
 *   GUFO_E_ARGUMENT   a type that cannot be made without importance data, from a plan with
 *                     plan_only */
GUFO_MUST_USE GUFO_API gufo_job *gufo_quantizer_job(gufo_quantizer *quantizer);
/* Frees its job, too.  NULL is allowed. */
GUFO_API void gufo_quantizer_free(gufo_quantizer *quantizer);

/* ==== Part 1: recipes ======================================================================== */

/* The target of quantizing: a file type (Q4_K_M: a mixture of element types), one element type for
 * all tensors, or a copy. */
typedef struct gufo_quantize_target {
    const char *name;                   /* as the tables spell it; static */
    const gufo_file_type *file_type;    /* for general.file_type; NULL: no file type applies */
    const gufo_element_type *base_type; /* NULL: copy */
    bool pure; /* every quantizable tensor gets base_type: no mixture; so without a file_type */
    /* Tensors that are quantized already stay as they are: for recipe_options.model_type, which
     * gufo_import_prepare (import.h) sets. */
    bool keeps_blocks;
    uint64_t reserved[4]; /* must be zero */
} gufo_quantize_target;

/* All those names, the ones people use first; NULL past the end.  Static. */
GUFO_API const char *gufo_quantize_target_name(size_t index);

/* Facts about a model that recipes ask for; 0 and empty where they are not known, as in a file that
 * is not a language model. */
typedef struct gufo_recipe_model {
    gufo_str architecture;           /* "llama" */
    uint64_t layers;                 /* 0: one more than the highest number in "blk.N." */
    uint64_t heads, key_value_heads; /* of the first layer */
    uint64_t experts;
    uint64_t reserved[4];
} gufo_recipe_model;

/* Fills *out from the metadata of a model: general.architecture, and of its keys block_count,
 * attention.head_count, attention.head_count_kv, expert_count.  What is absent or unusable stays
 * 0.  `architecture` is a view into the model. */
GUFO_API void gufo_model_recipe_facts(const gufo_model *model, gufo_recipe_model *out);

typedef struct gufo_recipe_options {
    gufo_quantize_target target;
    bool keep_output;                     /* output.weight is kept */
    bool allow_requantize;                /* a quantized tensor may become another quantized type */
    bool no_fallback;                     /* rows that do not fill blocks are an error */
    bool plan_only;                       /* nothing will be encoded: IMPOSSIBLE is not an error */
    const gufo_element_type *output_type; /* for output.weight; NULL: by recipe */
    const gufo_element_type *token_embedding_type; /* for token_embd.weight; NULL: by recipe */
    /* The type that the user asks for; NULL: by recipe.  Asked only for tensors that are
     * quantizable, and not if the target is F32, F16 or BF16.  May be NULL. */
    const gufo_element_type *(*override_type)(void *context, gufo_str name);
    void *override_context;
    /* Whether there is importance data for a tensor.  NULL: there is none at all, which changes
     * some mixtures. */
    bool (*has_importance)(void *context, gufo_str name);
    void *importance_context;
    const gufo_allocator *allocator; /* NULL: malloc */
    /* Returns the type that a tensor has in another model, which gives the types; NULL if that
     * model lacks the tensor: the target then decides.  Called before any other rule, whatever
     * shape and name the tensor has, for every tensor that can be decoded and does not hold
     * integers.  May be NULL. */
    const gufo_element_type *(*model_type)(void *context, const gufo_quantize_target *target,
                                           gufo_str name);
    void *model_context;
    uint64_t reserved[2]; /* must be zero */
} gufo_recipe_options;

/* Why a tensor gets its type. */
typedef enum gufo_recipe_reason {
    GUFO_REASON_COPY = 0,           /* the target is COPY */
    GUFO_REASON_SHAPE = 1,          /* kept: fewer than two dimensions above one */
    GUFO_REASON_NO_WEIGHT = 2,      /* kept: the name does not end in "weight" */
    GUFO_REASON_NAME = 3,           /* kept: `rule` is the name rule */
    GUFO_REASON_INTEGERS = 4,       /* kept: a table of whole numbers */
    GUFO_REASON_UNKNOWN_TYPE = 5,   /* kept: its type cannot be decoded */
    GUFO_REASON_OUTPUT_KEPT = 6,    /* kept: options.keep_output */
    GUFO_REASON_OUTPUT_TYPE = 7,    /* options.output_type */
    GUFO_REASON_EMBEDDING_TYPE = 8, /* options.token_embedding_type */
    GUFO_REASON_OVERRIDE = 9,       /* options.override_type */
    GUFO_REASON_TARGET = 10,        /* the base type of the target */
    GUFO_REASON_RECIPE = 11,        /* a mixing rule of the file type */
    GUFO_REASON_MODEL = 12,         /* options.model_type */
} gufo_recipe_reason;

typedef enum gufo_recipe_flags {
    GUFO_RECIPE_CONVERTS = 1, /* the type changes: decode and encode; else bytes are copied */
    GUFO_RECIPE_REPACKS = 2,  /* a removed interleaved type: gufo_repack gives `type`, losslessly */
    GUFO_RECIPE_FELL_BACK = 4, /* rows do not fill blocks of `wanted` */
    GUFO_RECIPE_POOR =
        8, /* a type this small gives poor results without importance data, and there is none */
    GUFO_RECIPE_IMPOSSIBLE =
        16, /* it cannot be encoded without importance data (options.plan_only) */
} gufo_recipe_flags;

/* The decision about one tensor. */
typedef struct gufo_recipe_choice {
    uint32_t type;   /* id of the element type that it gets */
    uint32_t wanted; /* before looking at the length of rows; same as `type` unless FELL_BACK */
    gufo_recipe_reason reason;
    uint32_t flags;   /* of gufo_recipe_flags */
    const char *rule; /* the part of the name that the rule is about, or NULL; static */
    uint64_t size;    /* bytes of data then */
    /* Bytes more than `wanted` would take if blocks could be cut; below 0: fewer. */
    int64_t fallback_cost;
    uint64_t reserved[2];
} gufo_recipe_choice;

/* A few words for a reason: "fewer than two dimensions".  Static. */
GUFO_API const char *gufo_recipe_reason_text(gufo_recipe_reason reason);

/* Decides about all tensors of a model at once (its tied embeddings and the numbers of layers
 * matter to every one): choices[i] is about tensors[i].  It reads only name, type, dims and size of
 * a tensor; the order of tensors does not matter.
 *
 * Tensors are kept unless they have two dimensions and a name that ends in "weight", and no rule
 * excludes the name.  File types of language models mix element types by the names of tensors; any
 * other tensor gets the base type.  Rows that do not fill blocks fall back: to a related type with
 * smaller blocks, else to F16.
 *
 * Source: llama-quantize, whose choices these are for every model that it can read
 * (docs/quantize.md lists the few differences).
 *
 * `options` and `model` may be NULL: {0}, so that every tensor keeps its type; nothing is known.
 * Errors name the tensor:
 *   GUFO_E_TYPE      it is quantized already, and requantizing was not allowed; or its new type
 *                    has no encoder
 *   GUFO_E_ARGUMENT  its rows do not fill blocks and there is no fallback, or it is not allowed
 *   GUFO_E_NOT_FOUND its new type cannot be encoded without importance data
 *   GUFO_E_RANGE     its size overflows
 *   GUFO_E_MEMORY */
GUFO_API gufo_status gufo_recipe_choose(const gufo_recipe_options *options,
                                        const gufo_recipe_model *model, const gufo_tensor *tensors,
                                        size_t count, gufo_recipe_choice *choices,
                                        gufo_error *error);

/* ==== Part 2: importance matrix ============================================================== */

/* An importance matrix records, for the columns of a tensor, how large the activations were that a
 * model multiplied them with: a sum of squares per column, and the number of summed tokens per
 * matrix.  (A stack of experts is a tensor of several matrices.)  Their quotient, the mean square,
 * is the importance that the encoders use.
 *
 *     entry "blk.0.ffn_down_exps.weight"        sums                        counts
 *         matrix 0                              s s s s s s ... columns     c
 *         matrix 1                              s s s s s s ...             c
 *
 * Two formats exist (docs/imatrix.md): GGUF, and an older one without a magic number, usually
 * called imatrix.dat, which knows only means and the number of chunks of text. */
typedef struct gufo_imatrix gufo_imatrix;

typedef enum gufo_imatrix_format {
    GUFO_IMATRIX_GGUF = 0,
    GUFO_IMATRIX_LEGACY = 1,
} gufo_imatrix_format;

#define GUFO_IMATRIX_CHUNK_SIZE 512u /* tokens, where a file does not say */

typedef struct gufo_imatrix_options {
    uint32_t chunk_size;             /* where a file does not say; 0: GUFO_IMATRIX_CHUNK_SIZE */
    const gufo_allocator *allocator; /* NULL: malloc */
    const char *name;                /* what errors call it; NULL: its path, of memory nothing */
    uint64_t reserved[4];            /* must be zero */
} gufo_imatrix_options;

/* Opens an importance matrix of either format, checks its structure and builds the index; values
 * stay in the file and are read when asked for.  Memory is proportional to the number of entries.
 * Means of the old format become sums of chunks * chunk_size tokens.  `options` may be NULL. Closed
 * with gufo_imatrix_free; NULL on failure: as gufo_model_open, GUFO_E_MALFORMED for a file that is not
 * an importance matrix, GUFO_E_ARGUMENT for a pipe. */
GUFO_MUST_USE GUFO_API gufo_imatrix *gufo_imatrix_open(const char *path,
                                                       const gufo_imatrix_options *options,
                                                       gufo_error *error);
/* The same from memory, which must outlive it. */
GUFO_MUST_USE GUFO_API gufo_imatrix *gufo_imatrix_open_memory(const void *data, size_t size,
                                                              const gufo_imatrix_options *options,
                                                              gufo_error *error);

typedef struct gufo_imatrix_merge_options {
    /* Which entries are taken; NULL: all. */
    bool (*keep)(void *context, gufo_str name);
    void *keep_context;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_imatrix_merge_options;

/* The sum of several importance matrices, or a selection from one: the result reads from the
 * inputs, so they must outlive it.  Sums and counts add up; entries keep the order of their first
 * appearance; an entry with one count is added to one with a count per matrix by using that for
 * every matrix.  `options` may be NULL.  GUFO_E_ARGUMENT where an entry differs in length from an
 * earlier one of the same name (file_index of the error is then the index of the input), or `count`
 * is 0. */
GUFO_MUST_USE GUFO_API gufo_imatrix *gufo_imatrix_merge(const gufo_imatrix *const *inputs,
                                                        size_t count,
                                                        const gufo_imatrix_merge_options *options,
                                                        gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_imatrix_free(gufo_imatrix *imatrix);

/* Facts.  Any thread. */
GUFO_API gufo_imatrix_format gufo_imatrix_format_of(const gufo_imatrix *imatrix);
GUFO_API uint64_t gufo_imatrix_chunk_count(const gufo_imatrix *imatrix); /* 0: not known */
GUFO_API uint32_t gufo_imatrix_chunk_size(const gufo_imatrix *imatrix);  /* tokens; never 0 */
/* The texts it was made from, by file name; false past the end.  Views live as long as the matrix.
 */
GUFO_API bool gufo_imatrix_dataset_at(const gufo_imatrix *imatrix, uint64_t index, gufo_str *out);

typedef struct gufo_imatrix_entry {
    gufo_str name;     /* of the tensor in the model */
    uint64_t values;   /* columns * matrices of the tensor */
    uint64_t matrices; /* with their own count; 1 for a plain tensor, and always in the old
                          format */
    uint64_t reserved[2];
} gufo_imatrix_entry;

/* The number of entries; entry `index` (false past the end).  Any thread. */
GUFO_API uint64_t gufo_imatrix_entry_count(const gufo_imatrix *imatrix);
GUFO_API bool gufo_imatrix_entry_at(const gufo_imatrix *imatrix, uint64_t index,
                                    gufo_imatrix_entry *out);

/* Raw numbers of entry `index`: `count` sums from value `first` on, or counts from matrix `first`
 * on. Whatever the file holds, NaN too.  Any thread.  GUFO_E_RANGE outside the entry. */
GUFO_API gufo_status gufo_imatrix_read_sums(const gufo_imatrix *imatrix, uint64_t index,
                                            uint64_t first, uint64_t count, float *out,
                                            gufo_error *error);
GUFO_API gufo_status gufo_imatrix_read_counts(const gufo_imatrix *imatrix, uint64_t index,
                                              uint64_t first, uint64_t count, float *out,
                                              gufo_error *error);

/* Finds the entry for a tensor of the model with that name, number of columns (dims[0]) and
 * matrices (dims[2] * dims[3]).  GUFO_E_NOT_FOUND if none exists; GUFO_E_ARGUMENT, with the name
 * and both lengths, if it has another length: then it belongs to another model. */
GUFO_API gufo_status gufo_imatrix_match(const gufo_imatrix *imatrix, gufo_str name,
                                        uint64_t columns, uint64_t matrices, uint64_t *index,
                                        gufo_error *error);
/* The importance of the columns of matrix `matrix` of a tensor that gufo_imatrix_match has matched
 * with entry `index`: `columns` mean squares, ready for gufo_encoder_encode; all 1 for an expert
 * that no token ever reached.  Any thread.  GUFO_E_MALFORMED, with name and column, where one is
 * NaN, infinite or negative, or the count is; GUFO_E_RANGE outside the entry. */
GUFO_API gufo_status gufo_imatrix_importance(const gufo_imatrix *imatrix, uint64_t index,
                                             uint64_t columns, uint64_t matrix, float *out,
                                             gufo_error *error);

/* What one entry holds, seen as means.  Matrices that no token reached only count in
 * `unreached`. */
typedef struct gufo_imatrix_statistics {
    uint64_t unreached;                /* matrices with a count of 0 */
    uint64_t bad_counts;               /* counts that are NaN, infinite or negative */
    uint64_t nonfinite;                /* values that are NaN or infinite */
    uint64_t negative;                 /* values below 0, which a sum of squares never is */
    uint64_t zeros;                    /* columns that were always 0 */
    float lowest_count, highest_count; /* tokens, of all matrices with a good count */
    float minimum, maximum;            /* of the finite means; 0 if none exists */
    double mean;
    uint64_t top; /* the value with the highest mean */
    uint64_t reserved[4];
} gufo_imatrix_statistics;

/* Reads all of entry `index`.  GUFO_E_RANGE if none exists. */
GUFO_API gufo_status gufo_imatrix_scan(const gufo_imatrix *imatrix, uint64_t index,
                                       gufo_imatrix_statistics *out, gufo_error *error);

/* Plans a file (produce.h) in either format, with the entries in their order; where the format
 * stays the same, every finite number is preserved.  In the old format a matrix that no token
 * reached becomes all ones, an entry with no other is left out, and only the last dataset is kept.
 * The result may replace a file that `imatrix` was opened or merged from.  `options` may be NULL;
 * without an allocator there, the job uses that of `imatrix`.  `imatrix` must outlive the job.
 * NULL on failure: GUFO_E_RANGE for counts that the format cannot hold, GUFO_E_LIMIT or
 * GUFO_E_MALFORMED for a name that it cannot, GUFO_E_ARGUMENT for a format that does not exist,
 * and, in the old format, whose plan needs all counts, GUFO_E_IO and GUFO_E_TRUNCATED.  Writing
 * fails with GUFO_E_RANGE for a sum that became too large for a float. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_job_imatrix(const gufo_imatrix *imatrix,
                                                  gufo_imatrix_format format,
                                                  const gufo_job_plan_options *options,
                                                  gufo_error *error);

/* ==== Part 3: quantizing files =============================================================== */

/* Makes a model file from another one.  Tensors whose type stays are copied byte for byte; the
 * others go through in pieces of whole rows, decoded, encoded and written where they belong, on
 * many threads and in bounded memory:
 *
 *     plan    gufo_quantizer_new: what every tensor becomes, and the layout of the output
 *     look    gufo_quantizer_tensor_at, gufo_quantizer_output_size: nothing has been written yet
 *     write   gufo_job_run(gufo_quantizer_job(q), ...): also measures the error
 *
 * The output does not depend on the threads, the memory or the kernels. */

/* A metadata value that replaces the input's, or is added. */
typedef struct gufo_quantize_override {
    const char *key;
    gufo_value value;
    uint64_t reserved[4]; /* must be zero */
} gufo_quantize_override;

typedef enum gufo_quantize_flags {
    GUFO_QUANTIZE_KEEP_SPLIT = 1,     /* one output per shard of the input */
    GUFO_QUANTIZE_KEEP_NONFINITE = 2, /* infinite and NaN values are not errors */
    GUFO_QUANTIZE_ANY_BASE = 4,       /* adapters may have been made for another model (M417) */
} gufo_quantize_flags;

/* Bytes of memory that writing uses where gufo_run does not say. */
#define GUFO_QUANTIZE_MEMORY (UINT64_C(512) << 20)

/* At most so many types from one reading. */
#define GUFO_QUANTIZE_TARGETS 32

/* A LoRA adapter that is merged: scale * (alpha / rank) * B A is added to each tensor that it has
 * a pair for, in double, and rounded once; a tensor under the name of one of the model takes its
 * place.  Tensors that keep their type are encoded in it again. */
typedef struct gufo_quantize_adapter {
    const gufo_model *model; /* with its data; outlives the quantizer */
    double scale;            /* finite; 0: 1 */
    uint64_t reserved[2];    /* must be zero */
} gufo_quantize_adapter;

/* At most so many adapters at once. */
#define GUFO_QUANTIZE_ADAPTERS 32

typedef struct gufo_quantize_options {
    gufo_recipe_options recipe;     /* has_importance is ignored: `importance` decides */
    const gufo_imatrix *importance; /* NULL: none */
    const char *importance_path;    /* for errors and, if it is UTF-8, quantize.imatrix.file; NULL:
                                     * neither */
    const gufo_quantize_override *overrides;
    size_t override_count;
    const uint64_t
        *pruned_layers; /* N of the tensors "blk.N.*" that are left out, in any order; the
                                    * layers after them move up */
    size_t pruned_count;
    uint32_t flags; /* of gufo_quantize_flags */
    gufo_effort effort;
    const gufo_allocator *allocator; /* NULL: malloc.  From several threads while writing */
    /* Targets beside recipe.target, each with its own model: rows are read and decoded once and
     * encoded for every target.  All other options apply to all targets. */
    const gufo_quantize_target *more_targets;
    size_t more_count; /* below GUFO_QUANTIZE_TARGETS */
    /* Shards: the data of each is at most split_size bytes, unless one tensor is larger, and at most
     * split_tensors tensors; 0: no such limit, and both 0: as GUFO_QUANTIZE_KEEP_SPLIT says.  With
     * several targets their shards have the same tensors. */
    uint64_t split_size, split_tensors;
    /* LoRA adapters, merged one after the other.  With them F16 and BF16 are not made together with
     * other types. */
    const gufo_quantize_adapter *adapters;
    size_t adapter_count;
    /* What quantize.imatrix.file says in place of importance_path; "": the key is left out.  NULL: that path. */
    const char *importance_name;
    uint64_t reserved[4]; /* must be zero */
} gufo_quantize_options;

/* The loss of encoding, measured by decoding the result.  Values that are not finite do not
 * count. */
typedef struct gufo_quantize_loss {
    uint64_t count;      /* values that were compared */
    double square_value; /* the sum of the squares of the values */
    double square_error; /* the sum of the squares of the differences */
    float largest_error; /* absolute */
    uint64_t reserved[2];
} gufo_quantize_loss;

/* The square root of square_error / square_value: 0 where nothing is lost. */
GUFO_API double gufo_quantize_loss_relative(const gufo_quantize_loss *loss);
/* Adds `more` to *loss. */
GUFO_API void gufo_quantize_loss_add(gufo_quantize_loss *loss, const gufo_quantize_loss *more);

/* One tensor of the output.  Views live as long as the quantizer. */
typedef struct gufo_quantizer_tensor {
    gufo_str name;
    gufo_tensor source;        /* as in the input, where its name may differ */
    size_t shard;              /* of the input */
    gufo_recipe_choice choice; /* the type it gets, and why */
    bool has_importance;
    bool unfit_importance;   /* there is some, of another length, and it is ignored */
    size_t adapters;         /* that change it */
    gufo_quantize_loss loss; /* after the job was run; zeros for copied tensors */
    /* The same two sums where has_importance, with each square times the importance of its column;
     * else zeros. */
    double weighted_value, weighted_error;
    uint64_t reserved[2];
} gufo_quantizer_tensor;

/* Tensor `index` in the order of the output; false past the end. */
GUFO_API bool gufo_quantizer_tensor_at(const gufo_quantizer *quantizer, uint64_t index,
                                       gufo_quantizer_tensor *out);
/* The same for target `target`: 0 is recipe.target, 1 the first of more_targets; false past the
 * end of either. */
GUFO_API bool gufo_quantizer_target_tensor_at(const gufo_quantizer *quantizer, size_t target,
                                              uint64_t index, gufo_quantizer_tensor *out);
/* The bytes of all output files, and of those of one target. */
GUFO_API uint64_t gufo_quantizer_output_size(const gufo_quantizer *quantizer);
GUFO_API uint64_t gufo_quantizer_target_size(const gufo_quantizer *quantizer, size_t target);

/* ==== Part 4: statistics of tensor data ====================================================== */

/* Bins of a histogram, and how many standard deviations from the mean an outlier is away. */
#define GUFO_STATS_BINS 64
#define GUFO_STATS_OUTLIER 6
/* One of so many values is among the largest: a tensor of fewer has one such value. */
#define GUFO_STATS_TOP 1000

typedef enum gufo_stats_flags {
    GUFO_STATS_ONE_PASS = 1, /* no outliers, no histogram: these need a second pass over the data */
} gufo_stats_flags;

/* Something that occurs in the data of a tensor. */
typedef struct gufo_stats_find {
    uint64_t count;
    uint64_t first;  /* index of the first element, in the order of the data */
    uint64_t offset; /* in the file: of that element, or of the block that it is in */
    uint64_t reserved[1];
} gufo_stats_find;

/* The numbers that a tensor decodes to.  Indices count elements in the order of dims; of several
 * equal ones the first in the order of the data counts.  Values are those of gufo_decode; F64, I32
 * and I64 are taken as doubles. */
typedef struct gufo_stats {
    uint64_t elements; /* the number that was read: all, unless the file is truncated */
    uint64_t finite;   /* of these; the fields below describe them, and are 0 if none exist */
    uint64_t zeros;    /* of either sign */
    double minimum, maximum;
    uint64_t minimum_at, maximum_at;
    double mean;
    double deviation; /* standard deviation of the values themselves (not of a sample) */

    gufo_stats_find nan, positive_infinite, negative_infinite; /* values */
    /* Blocks with a scale that is infinite or NaN, or an exponent of 255 in MXFP4.  `first` is the
     * first element of the block, `offset` that of the scale. */
    gufo_stats_find bad_scales;

    /* With the second pass: bins of equal width from `low` to `high`, the least and the greatest
     * value, or on a side with outliers the limit of these.  Bins and outliers add up to `finite`.
     */
    double low, high;
    uint64_t outliers_below, outliers_above; /* more than GUFO_STATS_OUTLIER deviations away */
    uint64_t bins[GUFO_STATS_BINS];
    double rms; /* root mean square of the values; of the first pass */
    /* With the second pass: the share of the sum of all squares that the values of the largest magnitudes
     * have, one of GUFO_STATS_TOP; exact within 6 % of the part of those that are as large as the least of them. */
    double top_energy;
    uint64_t reserved[6];
} gufo_stats;

/* Scans the data of a tensor, reading it in chunks of about a megabyte (per thread), twice.  The
 * result does not depend on the threads or the kernels.  Of a truncated tensor (lenient open) all
 * whole blocks that are present are read.  `flags` are of gufo_stats_flags; progress counts bytes.
 *   GUFO_E_TYPE      the element type is unknown or has no decoder
 *   GUFO_E_ARGUMENT  rows do not fill blocks, or groups of an interleaved type; a pipe, whose data
 *                    is gone; a cpu that is not available
 *   GUFO_E_STOPPED   `progress` asked for it
 *   GUFO_E_IO, GUFO_E_TRUNCATED, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_tensor_scan(const gufo_model *model, const gufo_tensor *tensor,
                                      uint32_t flags, const gufo_run *run, gufo_stats *out,
                                      gufo_error *error);

/* The largest magnitude, divided by the root mean square: 1 for values of one size, more the further outliers
 * are away from the rest; 0 if all are 0.  Any thread. */
GUFO_API double gufo_stats_peak(const gufo_stats *stats);

/* ---- scales of blocks ------------------------------------------------------------------------- */

/* Exponents that are counted each: from the least on; the first and the last count all beyond. */
#define GUFO_SCALE_EXPONENTS 64
#define GUFO_SCALE_LEAST_EXPONENT (-48)

/* Scales that blocks of a quantized type have, one of each block. */
typedef struct gufo_scale_counts {
    uint64_t count;
    uint64_t zeros, negative;
    uint64_t subnormal; /* numbers below the least of full precision, but for 0 */
    uint64_t saturated; /* the greatest number of the format, of either sign */
    uint64_t nonfinite; /* infinite or NaN; an exponent of 255 in MXFP4 */
    /* Of those that are finite and not 0: how many are, in magnitude, from 2^e to below 2^(e+1), with e from
     * GUFO_SCALE_LEAST_EXPONENT on. */
    uint64_t exponents[GUFO_SCALE_EXPONENTS];
    uint64_t reserved[4];
} gufo_scale_counts;

typedef struct gufo_scales {
    gufo_scale_counts scales;   /* d, by which all of a block is multiplied */
    gufo_scale_counts minimums; /* dmin or m, of types that add one; else all 0 */
    uint64_t reserved[4];
} gufo_scales;

/* Counts the scales of a tensor's blocks; values are not decoded.  A type without such scales has none (all
 * counts are 0): floats and integers, and NVFP4, every byte of which is a scale.  Threads, progress and errors
 * as gufo_tensor_scan, but any cpu will do. */
GUFO_API gufo_status gufo_tensor_scan_scales(const gufo_model *model, const gufo_tensor *tensor,
                                             const gufo_run *run, gufo_scales *out,
                                             gufo_error *error);

/* ---- all tensors of a model ------------------------------------------------------------------- */

/* The scales of all tensors of an element type. */
typedef struct gufo_type_scales {
    uint32_t type;
    gufo_scale_counts scales, minimums; /* as in gufo_scales */
    uint64_t reserved[4];
} gufo_type_scales;

/* The numbers of all tensors; report.h draws them. */
typedef struct gufo_model_numbers {
    /* By the index of the tensor: `elements` is 0 where data was not read. */
    const gufo_stats *stats;
    uint64_t tensors; /* how many */
    const gufo_type_scales
        *scales; /* of types that have them, in the order of their first tensor */
    size_t scales_count;
    uint64_t reserved[4];
} gufo_model_numbers;

typedef struct gufo_model_numbers_options {
    const gufo_allocator *allocator; /* of the result; is copied; NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_model_numbers_options;

/* Scans the data of all tensors with gufo_tensor_scan and gufo_tensor_scan_scales.  Left out is what cannot be
 * decoded, and a tensor that begins inside the data of another one (lenient open), which would be read again and
 * again.  `options` and `run` may be NULL; progress counts the bytes of all readings.  Freed with
 * gufo_model_numbers_free.  NULL on failure: GUFO_E_ARGUMENT for a pipe, whose data is gone, and a cpu that is not
 * available; GUFO_E_STOPPED, GUFO_E_IO, GUFO_E_TRUNCATED, GUFO_E_CHANGED, GUFO_E_MEMORY. */
GUFO_MUST_USE GUFO_API gufo_model_numbers *gufo_model_numbers_new(
    const gufo_model *model, const gufo_model_numbers_options *options, const gufo_run *run,
    gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_model_numbers_free(gufo_model_numbers *numbers);

/* ---- places ----------------------------------------------------------------------------------- */

/* The place of an element: matrix counts through dimensions 2 and 3. */
typedef struct gufo_stats_place {
    uint64_t matrix, row, column;
    uint64_t reserved[1];
} gufo_stats_place;

GUFO_API gufo_stats_place gufo_stats_place_of(const gufo_tensor *tensor, uint64_t index);

/* Checks the rules about tensor data (G8), which gufo_model_check never reads: values and scales
 * that are infinite or NaN.  At most one finding per tensor, at the first place.  Fails only for
 * I/O, memory, a file that is truncated meanwhile, GUFO_E_STOPPED, and with GUFO_E_ARGUMENT for a
 * pipe or a cpu that is not available. */
GUFO_API gufo_status gufo_model_check_data(const gufo_model *model, const gufo_run *run,
                                           gufo_finding_fn *found, void *context,
                                           gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
