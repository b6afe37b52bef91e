/* The quantizer, the interface inside the room: a planner of a job (produce/produce.h).
 *
 *     plan.c         which tensors there are, and what each becomes
 *     tensor.c       a tensor in the input, and why it gets its type
 *     adapters.c     LoRA adapters that are merged
 *     layers.c       layers that are left out, and the numbers of those after them
 *     weights.c      importance: the entry for each tensor
 *     shards.c       which tensors share an output, where outputs have a largest size
 *     settings.c     the documents of the outputs
 *     pieces.c       the job: one piece for each tensor, and its measurements
 *     loss.c         the loss of encoding
 *     losses/        the loss of all types that tensors may get, before one is chosen
 *
 * Tensors, and the pieces of the job, have the same numbers. */
#ifndef GUFO_QUANT_QUANTIZER_H
#define GUFO_QUANT_QUANTIZER_H

#include "gufo/quant.h"

/* How a tensor is made. */
typedef enum quant_method {
    METHOD_COPY,    /* bytes as they are */
    METHOD_REPACK,  /* a removed interleaved type to the type it was made from */
    METHOD_CONVERT, /* decode, encode */
} quant_method;

/* A tensor of an adapter. */
typedef struct adapter_part {
    const gufo_model *model;
    uint64_t index; /* there */
    gufo_tensor tensor;
    const gufo_allocator *allocator; /* for reading */
} adapter_part;

/* What an adapter does to a tensor: adds number * B A, or takes its place. */
typedef struct adapter_change {
    bool replaces;  /* with `a` */
    bool looked_up; /* A and B have changed places */
    double number;
    adapter_part a, b;
} adapter_change;

/* quant_source has the rest: a model may have a million tensors. */
typedef struct quant_tensor {
    gufo_str source_name; /* quant_name is that in the outputs */
    uint32_t index;       /* in the input */
    uint32_t output;      /* of each target */
    uint32_t importance_index;
    uint32_t first_change; /* of gufo_quantizer.changes */
    uint8_t change_count;
    bool has_importance, unfit_importance;
} quant_tensor;

/* What it becomes for one of the targets; quant_choice says why. */
typedef struct quant_result {
    const gufo_element_type *to; /* NULL: an unknown type */
    const char *rule;            /* this and the next are those of gufo_recipe_choice */
    uint64_t size;
    uint32_t wanted;
    uint16_t flags;
    uint8_t reason;
    uint8_t method; /* of quant_method */
} quant_result;

/* What encoding has lost. */
typedef struct quant_loss {
    gufo_quantize_loss plain;
    double weighted_value, weighted_error; /* sums of squares times importance, if there is some */
} quant_loss;

struct gufo_quantizer {
    gufo_allocator allocator;
    const gufo_model *input;
    gufo_quantize_options options; /* `recipe.allocator` and `allocator` point to the one above */
    gufo_quantize_target *targets; /* recipe.target, and those after it */
    size_t target_count;
    quant_tensor *tensors;
    gufo_tensor *sources;  /* of a model that a program makes: it may say something else when it is
                           * asked again; NULL: the input says the same each time */
    quant_result *results; /* of all tensors for the first target, then for the next ... */
    uint64_t tensor_count;
    adapter_change *changes; /* in the order of tensors; of each, in that of the adapters */
    uint64_t change_count, change_room;
    gufo_str *renumbered;      /* names in the outputs where layers are left out, else NULL */
    char *names;               /* of all tensors, unless an import has them */
    gufo_document **documents; /* of all outputs of the first target, then of the next ... */
    size_t output_count;       /* of each target */
    uint64_t *shard_ids; /* of each target, where its outputs are new shards; NULL: they are not */
    char *importance_path; /* NULL: not known */
    bool only_measures;    /* losses/: without outputs and job; RECIPE_UNFIT marks results */
    gufo_job *job;
};

/* ---- plan.c --------------------------------------------------------------------------------- */

gufo_quantizer *quantizer_plan(const gufo_model *input, const gufo_quantize_options *options,
                               bool only_measures, gufo_error *error);

/* The name of a tensor in the outputs. */
static inline gufo_str quant_name(const gufo_quantizer *q, const quant_tensor *tensor)
{
    return q->renumbered != NULL ? q->renumbered[tensor - q->tensors] : tensor->source_name;
}

/* A tensor as it is in the input; its name lives as long as the quantizer. */
static inline gufo_tensor quant_source(const gufo_quantizer *q, const quant_tensor *tensor)
{
    gufo_tensor input;

    if (q->sources != NULL)
        input = q->sources[tensor - q->tensors];
    else
        (void)gufo_model_tensor_at(q->input, tensor->index, &input);
    input.name = tensor->source_name;
    return input;
}
/* Its element type there; NULL: an unknown one, which is copied. */
static inline const gufo_element_type *quant_source_type(const gufo_quantizer *q,
                                                         const quant_tensor *tensor)
{
    return gufo_element_type_by_id(quant_source(q, tensor).type);
}
/* The id of the type that a result is; an unknown one stays as it is. */
static inline uint32_t quant_type_id(const quant_result *result)
{
    return result->to != NULL ? result->to->id : result->wanted;
}

static inline quant_result *quant_result_of(const gufo_quantizer *q, size_t target, uint64_t tensor)
{
    return &q->results[target * q->tensor_count + tensor];
}

static inline gufo_document *quant_document_of(const gufo_quantizer *q, size_t target, size_t index)
{
    return q->documents[target * q->output_count + index];
}

/* ---- shards.c ------------------------------------------------------------------------------- */

/* Whether the options have limits for outputs. */
static inline bool shards_wanted(const gufo_quantizer *q)
{
    return q->options.split_size > 0 || q->options.split_tensors > 0;
}

/* Divides the tensors, all of which one document of each target has so far: sets their outputs and
 * the number of outputs.  The documents are not those of the outputs any more. */
gufo_status shards_divide(gufo_quantizer *q, gufo_error *error);

/* ---- adapters.c ----------------------------------------------------------------------------- */

/* Checks the adapters, and finds what they change: GUFO_E_MALFORMED for one that does not fit, with
 * its first fault. */
gufo_status adapters_find(gufo_quantizer *q, gufo_error *error);
/* A tensor that an adapter changes is encoded again, even if its type stays. */
gufo_status adapters_choose(const gufo_quantizer *q, const quant_tensor *tensor,
                            quant_result *result, gufo_error *error);
/* Makes the files of the adapters inputs of a job. */
gufo_status adapters_add_inputs(const gufo_quantizer *q, gufo_job *job, gufo_error *error);
/* Adds the piece of a tensor that an adapter changes to a job; row_bytes of the results is set here. */
struct made;
gufo_status adapters_add_tensor(const gufo_quantizer *q, gufo_job *job, const quant_tensor *tensor,
                                struct made *results, uint32_t count, uint64_t slices,
                                gufo_error *error);
/* Bytes that they take beside the tables of a piece. */
uint64_t adapters_memory(const gufo_quantizer *q);

/* ---- settings.c: layers --------------------------------------------------------------------- */

/* The layers that are left out, ascending and without repetition. */
typedef struct layer_list {
    const uint64_t *layers;
    size_t count;
} layer_list;

/* Finds the number in "blk.N." anywhere in a name: `at` is where its digits begin, `len` how many
 * they are.  False if none exists, or it is too large. */
bool layer_find(gufo_str name, uint64_t *layer, size_t *at, size_t *len);
bool layer_is_listed(const layer_list *pruned, uint64_t layer);
/* The number of a layer that is not listed when those before it are gone. */
uint64_t layer_renumbered(const layer_list *pruned, uint64_t layer);

/* ---- weights.c ------------------------------------------------------------------------------ */

/* Finds the importance of every tensor. */
gufo_status weights_find(gufo_quantizer *q, gufo_error *error);
/* GUFO_E_ARGUMENT for importance that does not fit a tensor that is converted. */
gufo_status weights_check(const gufo_quantizer *q, const quant_tensor *tensor, gufo_error *error);
/* Makes the files of the importance matrix inputs of a job. */
gufo_status weights_add_inputs(const gufo_quantizer *q, gufo_job *job, gufo_error *error);
/* The importance of the columns of matrix `slice` of a tensor. */
gufo_status weights_read(const gufo_quantizer *q, const quant_tensor *tensor, uint64_t slice,
                         float *out, gufo_error *error);
/* A hash of all numbers of the importance matrix, and of who gets which. */
gufo_status weights_hash(const gufo_quantizer *q, uint64_t *hash, gufo_error *error);

/* ---- settings.c ----------------------------------------------------------------------------- */

/* Sets what a model with merged adapters says of itself; nothing without adapters. */
gufo_status merged_set_keys(const gufo_quantizer *q, gufo_document *document, gufo_error *error);

/* Makes the document of output `index` of a target: metadata, tensors, layout, header. */
gufo_status settings_make_document(gufo_quantizer *q, size_t target, size_t index,
                                   const layer_list *pruned, gufo_error *error);

/* ---- pieces.c ------------------------------------------------------------------------------- */

/* Makes the job, when all documents exist. */
gufo_status pieces_make_job(gufo_quantizer *q, gufo_error *error);
/* What losses/ shares.  Makes all that is read inputs of a job: shards have the numbers that they have
 * in the input. */
gufo_status pieces_add_inputs(const gufo_quantizer *q, gufo_job *job, gufo_error *error);
/* Adds a piece for a tensor to a job; `weighs`: every matrix has its importance.  row_bytes of the
 * results is set here. */
gufo_status pieces_add_tensor(const gufo_quantizer *q, gufo_job *job, const quant_tensor *tensor,
                              struct made *results, uint32_t count, bool weighs, gufo_error *error);
/* A result of a tensor that is encoded in type `to`. */
struct made pieces_encoded(const quant_tensor *tensor, const gufo_element_type *to);
/* Adds what rows of a tensor lose as `to`; GUFO_E_RANGE for values that are not finite. */
struct measured_rows;
gufo_status pieces_measure(const gufo_quantizer *q, const quant_tensor *tensor,
                           const gufo_element_type *to, const struct measured_rows *seen,
                           quant_loss *loss, gufo_error *error);
/* The loss of a tensor for a target so far. */
quant_loss pieces_loss(const gufo_quantizer *q, size_t target, uint64_t index);

/* ---- loss.c --------------------------------------------------------------------------------- */

/* Adds the loss of `count` values and what they became; false if some of either are not finite. */
bool loss_measure(gufo_quantize_loss *loss, const float *values, const float *decoded,
                  uint64_t count);
/* Adds the weighted sums of `count` rows, one after the other, without what is not finite. */
void loss_weigh(quant_loss *loss, const float *importance, const float *values,
                const float *decoded, uint64_t count, uint64_t columns);

#endif
