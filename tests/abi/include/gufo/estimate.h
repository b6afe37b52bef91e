/* The memory that a model needs to run.
 *
 *     gufo_estimator *estimator = gufo_estimator_new(model, NULL, &error);
 *     gufo_estimator_run(estimator, &(gufo_estimate_options){.n_ctx = 8192}, &estimate, &error);
 *     uint64_t host = gufo_estimate_most_bytes(&estimate.devices[0]);
 *     gufo_estimator_free(estimator);
 *
 * From the header of a model alone, these functions compute what llama.cpp allocates on the host and on
 * each device: weights, the cache of keys and values, recurrent state, buffers for computing and for
 * the output.  The rules of each architecture are rows of the table memory; docs/estimate.md explains
 * them.  Weights, cache and state are exact; buffers for computing are fitted to measurements, and have
 * a margin. */
#ifndef GUFO_ESTIMATE_H
#define GUFO_ESTIMATE_H

#include "base.h"
#include "codec.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_estimator_options gufo_estimator_options;
typedef struct gufo_estimate_options gufo_estimate_options;
typedef struct gufo_estimate_limits gufo_estimate_limits;
typedef struct gufo_estimate gufo_estimate;

/* What is read of a model once: its hyperparameters, and the bytes and places of its tensors.
 * Immutable: any number of threads may use one. */
typedef struct gufo_estimator gufo_estimator;

/* Reads the header of a model, which must live as long as the result; tensor data is not read, so
 * a model that was opened with GUFO_OPEN_METADATA_ONLY or GUFO_OPEN_INCOMPLETE will do.  The caller owns
 * the result and frees it with gufo_estimator_free.  `options` may be NULL.  Any thread.
 * NULL on failure:
 *   GUFO_E_NOT_FOUND  the model names no architecture, or lacks a key that the rules need
 *   GUFO_E_TYPE       no rule is known for the architecture
 *   GUFO_E_RANGE      a value that llama.cpp refuses: another type, too many layers, more than 32 bits,
 *                     an array that has another length than the number of layers, no heads
 *   GUFO_E_MEMORY */
GUFO_MUST_USE GUFO_API gufo_estimator *gufo_estimator_new(const gufo_model *model,
                                                          const gufo_estimator_options *options,
                                                          gufo_error *error);
/* Computes the memory for one way to run the model.  `options` may be NULL.  Any thread.
 *   GUFO_E_ARGUMENT  llama.cpp refuses the options, or they are impossible; the error says why
 *   GUFO_E_RANGE     a number of bytes does not fit into 64 bits
 *   GUFO_E_MEMORY */
GUFO_API gufo_status gufo_estimator_run(const gufo_estimator *estimator,
                                        const gufo_estimate_options *options, gufo_estimate *out,
                                        gufo_error *error);
/* Finds how to run the model within limits of memory, in this order:
 *   1. the model's context, with all layers on devices;
 *   2. a smaller context, a multiple of 256, down to the least one (if options.n_ctx is 0);
 *   3. with the least context, experts of the fewest layers on the host (if has_gpu_layers and
 *      has_cpu_moe are false and `place` is NULL), or else the most layers on devices (if
 *      has_gpu_layers is false), with all experts on the host;
 *   4. with these layers, the largest context.
 * What the user has chosen stays.  All of it is found by bisection: a larger context never needs less
 * memory, nor do more layers on devices; with shares that are given, where a layer more may move others
 * from one device to the next, some larger numbers are tried as well.  Changes n_ctx, n_gpu_layers,
 * n_cpu_moe, their flags and tensor_split in *options, unless it fails, and fills *out (may be NULL) as
 * gufo_estimator_run does, with the shortages.  Margins of buffers count as used.  Any thread.  Errors
 * as gufo_estimator_run, and
 *   GUFO_E_LIMIT  nothing fits; the error names the device that lacks most with the least context, and
 *                 *out is the last try, with its context_shortage
 *   GUFO_E_TYPE   buffers for computing are not known for the architecture */
GUFO_API gufo_status gufo_estimator_fit(const gufo_estimator *estimator,
                                        const gufo_estimate_limits *limits,
                                        gufo_estimate_options *options, gufo_estimate *out,
                                        gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_estimator_free(gufo_estimator *estimator);

/* ==== What runs =============================================================================== */

#define GUFO_ESTIMATE_MAX_LAYERS 512    /* as in llama.cpp */
#define GUFO_ESTIMATE_MAX_DEVICES 16    /* beside the host, as in llama.cpp */
#define GUFO_ESTIMATE_MAX_SEQUENCES 256 /* as in llama.cpp */

typedef struct gufo_estimator_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_estimator_options;

/* What llama.cpp loads beside the model.  Each is added before the first call of gufo_estimator_run or
 * gufo_estimator_fit, from one thread; their estimates have it.  Any of them may be a header alone, as
 * the model; only the draft must live as long as the estimator.
 *
 * A LoRA adapter: each of its tensors is where the model's tensor is that it changes.  Any number.
 *   GUFO_E_ARGUMENT   what llama.cpp refuses: not an adapter, one for another architecture, a tensor
 *                     that the model lacks, or with another suffix than .lora_a and .lora_b
 *   GUFO_E_RANGE      its bytes do not fit into 64 bits
 *   GUFO_E_MEMORY */
GUFO_MUST_USE GUFO_API gufo_status gufo_estimator_add_adapter(gufo_estimator *estimator,
                                                              const gufo_model *adapter,
                                                              gufo_error *error);

/* The bytes of weights that a LoRA adapter adds to those of its base, whatever that is.
 * GUFO_E_ARGUMENT: the file is not one.  Any thread. */
GUFO_MUST_USE GUFO_API gufo_status gufo_model_adapter_bytes(const gufo_model *adapter,
                                                            uint64_t *bytes, gufo_error *error);
/* A projector of images or sound (mmproj): all of its tensors are on the first device, or on the host
 * without devices.  Its buffers for computing, which depend on the image, are not known.
 *   GUFO_E_ARGUMENT   the file is not a projector: its architecture is not "clip"
 *   GUFO_E_RANGE      its bytes do not fit into 64 bits */
GUFO_MUST_USE GUFO_API gufo_status gufo_estimator_add_projector(gufo_estimator *estimator,
                                                                const gufo_model *projector,
                                                                gufo_error *error);
/* A model that drafts tokens for this one, with the options of gufo_estimate_draft_options.  One; it
 * replaces an earlier one.
 *   GUFO_E_ARGUMENT   the draft is the estimator itself, or has a draft of its own */
GUFO_MUST_USE GUFO_API gufo_status gufo_estimator_add_draft(gufo_estimator *estimator,
                                                            const gufo_estimator *draft,
                                                            gufo_error *error);

typedef enum gufo_flash_attention {
    GUFO_FLASH_ATTENTION_AUTO = 0, /* on, but for an architecture that cannot */
    GUFO_FLASH_ATTENTION_ON = 1,
    GUFO_FLASH_ATTENTION_OFF = 2,
} gufo_flash_attention;

/* Where a tensor is, of gufo_estimate_options.place. */
#define GUFO_ESTIMATE_BY_RULE (-2) /* where llama.cpp loads it without a choice of the user */
#define GUFO_ESTIMATE_HOST (-1)    /* else the index of a device */

/* How the model is run; the names are those of the options of llama.cpp.  0 is the default. */
typedef struct gufo_estimate_options {
    uint64_t n_ctx;     /* tokens of all sequences together; 0: the model's context_length */
    uint64_t n_batch;   /* 0: 2048 */
    uint64_t n_ubatch;  /* 0: 512 */
    uint64_t n_seq;     /* sequences in parallel; 0: 1 */
    uint64_t n_outputs; /* rows of logits of a batch; 0: n_batch */
    uint64_t n_rs_seq;  /* snapshots of the recurrent state, for architectures that have them */
    const gufo_element_type *type_k, *type_v; /* of the cache; NULL: F16 */
    gufo_flash_attention flash_attention;
    bool kv_unified;     /* one cache for all sequences, not a stream for each */
    bool swa_full;       /* sliding windows get caches of full size */
    bool embeddings;     /* the output has embeddings, too */
    bool no_kv_offload;  /* cache and state stay on the host */
    uint32_t n_devices;  /* beside the host */
    bool has_gpu_layers; /* false: all layers are on devices */
    uint64_t n_gpu_layers;
    bool has_cpu_moe;   /* n_cpu_moe is the user's choice: gufo_estimator_fit keeps it */
    uint64_t n_cpu_moe; /* experts of that many layers, the first ones, are on the host */
    /* The share of each device, n_devices numbers; NULL: equal shares. */
    const double *tensor_split;
    /* The user's choice for a tensor: one of the constants above, or the index of a device; it comes
     * before that of n_cpu_moe.  May be NULL. */
    int (*place)(void *context, gufo_str name);
    void *place_context;
    uint64_t reserved[8]; /* must be zero */
} gufo_estimate_options;

/* How well a number of bytes is known. */
typedef enum gufo_estimate_quality {
    GUFO_ESTIMATE_NOT_KNOWN = 0, /* no rule was measured; the number is 0 */
    GUFO_ESTIMATE_EXACT = 1,
    GUFO_ESTIMATE_FITTED = 2, /* within the margin in all measurements */
    GUFO_ESTIMATE_ROUGH = 3,  /* a family whose measurements differ widely from the formula */
} gufo_estimate_quality;

/* What is on one device. */
typedef struct gufo_estimate_device {
    uint64_t model_bytes; /* weights */
    /* Of the host: the ranges of the files that are mapped for its weights; 0 if the model is made. */
    uint64_t mapped_bytes;
    uint64_t kv_bytes;      /* the cache of keys and values */
    uint64_t state_bytes;   /* recurrent state */
    uint64_t context_bytes; /* the sum of the two */
    uint64_t compute_bytes;
    uint64_t compute_margin; /* compute_bytes may be that much too low or too high */
    /* Of the host, at the start; it grows with batches that ask for more rows. */
    uint64_t output_bytes;
    uint64_t layers; /* repeating ones; layer `L` of L, the output, does not count */
    /* What one token of one sequence reads, whose context is full: all weights, but of experts those
     * in use alone and of tables a row; cache and state of the sequence.  Layers that predict
     * further tokens are not read. */
    uint64_t read_bytes;
    /* What is loaded beside the model: weights of adapters and of the projector; everything of the
     * draft, but its buffers for computing if they are not known. */
    uint64_t adapter_bytes, projector_bytes, draft_bytes;
    uint64_t draft_margin;               /* draft_bytes may be that much too low or too high */
    gufo_estimate_quality draft_quality; /* of its buffers for computing; exact without a draft */
    gufo_estimate_quality compute_quality;
    bool has_output; /* the output layer is here */
    uint64_t reserved[4];
} gufo_estimate_device;

/* Of gufo_estimator_fit: what does not fit, and what it lacks. */
typedef struct gufo_estimate_shortage {
    uint64_t n_ctx, n_gpu_layers, n_cpu_moe; /* what was tried; as in the options */
    uint64_t missing_bytes;                  /* 0: nothing is short */
    uint32_t device;                         /* that lacks most; 0 is the host, 1 device 0 */
    uint64_t reserved[2];
} gufo_estimate_shortage;

typedef struct gufo_estimate {
    uint64_t n_ctx, n_ctx_seq, n_batch, n_ubatch; /* what llama.cpp makes of the options */
    uint64_t n_streams;
    bool flash_attention;
    /* Of the cache, that one more token takes in layers without a window. */
    uint64_t kv_token_bytes;
    uint64_t unused_bytes; /* of tensors that the architecture does not use: they are not loaded */
    uint64_t missing_tensors; /* of other shards, which are not open: model_bytes lacks them */
    uint32_t device_count;    /* with the host: 1 + n_devices */
    gufo_estimate_device devices[1 + GUFO_ESTIMATE_MAX_DEVICES]; /* the host is the first one */
    /* Why gufo_estimator_fit found no larger context, with the layers that it found; and why not all
     * layers, with the least context. */
    gufo_estimate_shortage context_shortage, layers_shortage;
    uint64_t reserved[8];
} gufo_estimate;

/* An upper bound of tokens per second, if reading memory takes all the time: devices work one after
 * another, each reads its read_bytes.  `host_bandwidth` and device_bandwidths[n_devices] are bytes per
 * second; 0: not known, what is read there takes no time.  `device_bandwidths` may be NULL: none is
 * known.  0 if no time is known.  Any thread. */
GUFO_API double gufo_estimate_speed(const gufo_estimate *estimate, uint64_t host_bandwidth,
                                    const uint64_t *device_bandwidths);

/* Everything on a device, with the margin of its buffers; UINT64_MAX if that does not fit into 64 bits.
 * Any thread. */
GUFO_API uint64_t gufo_estimate_most_bytes(const gufo_estimate_device *device);

/* The options of a draft beside a model with `options`, which may be NULL: context, batches, sequences
 * and devices are the same; all its layers are on devices, its cache is of F16, and it has a row of
 * logits for each sequence.  The result points to the same shares of devices. */
GUFO_API gufo_estimate_options gufo_estimate_draft_options(const gufo_estimate_options *options);

/* What is fixed and what is looked for, in gufo_estimator_fit. */
typedef struct gufo_estimate_limits {
    uint64_t host_bytes;          /* 0: no limit */
    const uint64_t *device_bytes; /* of each device, as many as options.n_devices; NULL: no limit */
    uint64_t least_ctx;           /* the context is not made smaller than that; 0: 4096 */
    /* Room for the share of each device, which the caller owns; may be NULL.  If options.tensor_split is
     * NULL and device_bytes is not, gufo_estimator_fit fills it and lets options.tensor_split point to it:
     * devices share by their sizes, or, where that does not fit, are filled one after the other. */
    double *split;
    uint64_t reserved[4]; /* must be zero */
} gufo_estimate_limits;

/* ==== Memory over the context ================================================================= */

/* One context of a curve: what is on a device then. */
typedef struct gufo_estimate_point {
    uint64_t n_ctx;         /* what is asked for; then what llama.cpp makes of it */
    uint64_t model_bytes;   /* weights */
    uint64_t context_bytes; /* cache and state */
    uint64_t
        rest_bytes; /* buffers for computing and for the output, and what is loaded beside the model */
    uint64_t
        total_bytes; /* of the three; each of these is UINT64_MAX if it does not fit into 64 bits */
    uint64_t most_bytes; /* gufo_estimate_most_bytes: with margins */
    bool is_known;       /* buffers for computing are known; else they are not in `rest_bytes` */
    uint64_t reserved[4];
} gufo_estimate_point;

/* At most so many contexts make a curve. */
#define GUFO_ESTIMATE_CONTEXTS 96

/* Writes contexts for a curve whose axis is logarithmic: four for each doubling from 2048 (for a smaller
 * `most`, from 256) on, multiples of 256, and `most` itself as the last.  Returns how many there are.  Any thread. */
GUFO_API size_t gufo_estimate_contexts(uint64_t most, uint64_t contexts[GUFO_ESTIMATE_CONTEXTS]);

/* Computes points of a curve: for each of them gufo_estimator_run with its n_ctx (0: the model's) in place of that
 * of `options`, which may be NULL.  `device` is 0 for the host, 1 for device 0.  Any thread.
 *   GUFO_E_ARGUMENT  the device does not exist; as gufo_estimator_run
 *   GUFO_E_RANGE, GUFO_E_MEMORY as gufo_estimator_run; points before that context are computed */
GUFO_API gufo_status gufo_estimator_curve(const gufo_estimator *estimator,
                                          const gufo_estimate_options *options, uint32_t device,
                                          gufo_estimate_point *points, size_t count,
                                          gufo_error *error);

/* ---- what estimates know -------------------------------------------------------------------- */

/* A few words without a point at the end, which live as long as the call.  Returns whether to continue. */
typedef bool gufo_estimate_sentence_fn(void *context, const char *sentence);

/* Says in words how models of an architecture use memory: which layers have a cache or a state, windows,
 * buffers for computing and how well they were measured.  False, without a call, where no rule is known
 * for it.  Any thread. */
GUFO_API bool gufo_estimate_explain(const char *architecture, gufo_estimate_sentence_fn *found,
                                    void *context);

/* ---- places of tensors by their names -------------------------------------------------------- */

/* A rule that places tensors whose names a pattern matches: a regular expression, for which the caller
 * has a matcher.  Views of the text. */
typedef struct gufo_place_rule {
    gufo_str pattern;
    int place; /* GUFO_ESTIMATE_HOST, or the index of a device, below GUFO_ESTIMATE_MAX_DEVICES */
    uint64_t reserved[2];
} gufo_place_rule;

/* Anything but GUFO_OK stops the reading, which fails with it. */
typedef gufo_status gufo_place_rule_fn(void *context, const gufo_place_rule *rule,
                                       gufo_error *error);

/* Reads rules such as "blk\.[0-9]\.ffn=CPU,output=DEV0", as llama.cpp takes them (--override-tensor): a comma
 * ends a rule, so that no pattern has one, and the last "=" divides pattern and place.  Calls `found` for
 * each in order: where several match a name, the first one counts.  GUFO_E_MALFORMED, with the byte, for
 * what is not a rule.  Any thread. */
GUFO_API gufo_status gufo_place_rules_read(gufo_str text, gufo_place_rule_fn *found, void *context,
                                           gufo_error *error);

/* Room for the name of a place. */
enum { GUFO_PLACE_SIZE = 16 };
/* Writes the name of a place into `out` and returns it: "CPU" for GUFO_ESTIMATE_HOST, "DEV0" for
 * device 0. */
GUFO_API const char *gufo_place_name(int place, char out[GUFO_PLACE_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
