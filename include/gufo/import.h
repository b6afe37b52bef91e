/* Models in other formats, as the GGUF models that they become.
 *
 * A separate library (libgufo_import).  Opening such a file looks at its header, its vocabulary and
 * the places of its tensors; data is read when it is asked for:
 *
 *     open     gufo_import_legacy                   GGML, GGMF, GGJT ... files
 *              gufo_import_checkpoint               model folders, safetensors, PyTorch files
 *              gufo_import_tokenizer                a folder's tokenizer.json by its own rules
 *     look     gufo_import_facts, _setting_at ...   what the file is, what it lacks
 *     use      gufo_import_model                    everything that takes a gufo_model
 *     write    gufo_import_job, gufo_job_run        the GGUF file
 *
 * docs/legacy.md and docs/convert.md describe the formats.  Where nothing else is said, what a
 * function returns is the import's and lives as long as it does. */
#ifndef GUFO_IMPORT_H
#define GUFO_IMPORT_H

#include "find.h"
#include "name.h"
#include "produce.h"
#include "quant.h"
#include "vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_import gufo_import;
typedef struct gufo_checkpoint_options gufo_checkpoint_options;

/* Opens a model as a training framework saved it: a folder with config.json (or Mistral's
 * params.json) and *.safetensors or pytorch_model*.bin files, or one such file, beside which the
 * others are.  A folder with adapter_config.json and adapter_model.safetensors or .bin is an adapter
 * of PEFT (LoRA): it becomes a GGUF adapter, with tensors NAME.lora_a and NAME.lora_b.  Data is read
 * when it is asked for.  Tensors of the model (gufo_import_model) keep the element type that they have
 * in the checkpoint, as far as GGUF has it; norms, biases and what readers want exactly become F32.
 * Weights of quantized checkpoints are blocks that hold the same numbers, or F32.  The model has no errors
 * by the rules of check.h (GUFO_LEVEL_MODEL), and no tensor of another shape than its keys imply.  `options`
 * may be NULL.  Freed with gufo_import_free.  NULL on failure:
 *   GUFO_E_NOT_FOUND  no tensors, or no tokenizer; the base of an adapter is not known
 *   GUFO_E_SHARDS     a file of the checkpoint is missing, or its index disagrees with the files
 *   GUFO_E_TYPE       an architecture without rules; a pre-tokenizer that is not recognised; a
 *                     way to quantize, or a file of a kind, that is not read; an adapter of another
 *                     kind than LoRA, or whose pairs cannot follow the rules of its base
 *   GUFO_E_ARGUMENT   options that do not go together; an `arch` that cannot begin a key
 *   GUFO_E_MALFORMED, GUFO_E_TRUNCATED, GUFO_E_RANGE, GUFO_E_LIMIT
 *                     what is wrong with a file, and where; which field of config.json contradicts
 *                     the tensors (with GUFO_ADVICE_FORCE)
 *   GUFO_E_IO, GUFO_E_MEMORY */
GUFO_MUST_USE GUFO_API gufo_import *gufo_import_checkpoint(const char *path,
                                                           const gufo_checkpoint_options *options,
                                                           gufo_error *error);
/* What a path is to gufo_import_legacy and gufo_import_checkpoint: by the first bytes of a regular file, or
 * the names in a folder.  *name (may be NULL) says it in words: "GGJT version 1", "Hugging Face model"; NULL
 * for GUFO_FIND_NOTHING, also of GGUF files.  Static; any thread. */
GUFO_API gufo_find_kind gufo_import_kind(const char *path, const char **name);
/* Opens either for a list of models: a checkpoint without its vocabulary, and without its keys where its
 * architecture has no rules.  `flags`: 0 or GUFO_CHECKPOINT_FOLLOW.  Freed with gufo_import_free.  NULL on
 * failure, as of these functions.  Any thread. */
GUFO_MUST_USE GUFO_API gufo_import *gufo_import_outline(const char *path, uint32_t flags,
                                                        gufo_error *error);
/* Plans the GGUF file of a type as `gufo convert` makes it, for gufo_quantizer_job: a checkpoint of GPTQ
 * whose numbers blocks of Q4_0 hold becomes a file of Q4_0 without loss.  `type`: as for
 * gufo_quantize_target_by_name, with `pure` as recipe.target has it, or "auto"; NULL: "auto".  `options` are
 * those of gufo_quantizer_new without a target, model_type and more_targets; NULL: none.  The import, and
 * what the options point to, must outlive the quantizer, which gufo_quantizer_free frees.  NULL on failure:
 *   GUFO_E_ARGUMENT   no such type; options that this function sets
 *   and what gufo_quantizer_new says */
GUFO_MUST_USE GUFO_API gufo_quantizer *gufo_import_quantize(gufo_import *import, const char *type,
                                                            const gufo_quantize_options *options,
                                                            gufo_error *error);
/* The model that the files become (of a GGUF file: that itself); it is closed with the import. */
GUFO_API const gufo_model *gufo_import_model(const gufo_import *import);
/* NULL is allowed.  Jobs of the import must be gone; its model goes with it. */
GUFO_API void gufo_import_free(gufo_import *import);

/* ==== Part 1: opening ======================================================================== */

typedef enum gufo_legacy_flags {
    /* Reads the blocks that may lose something before it chooses types: finds which tensors today's
     * blocks hold exactly, which they round and by how much, and which numbers are too large for
     * them.  Without it tensors get the types that nearly every file gets, and reading rows fails
     * where a number does not fit. */
    GUFO_LEGACY_MEASURE = 1,
    /* The rows of query_key_value are in the order of Hugging Face although the header is one of a
     * program that changed it (Falcon files of 13 and 14 June 2023). */
    GUFO_LEGACY_FALCON_GROUPED = 2,
} gufo_legacy_flags;

/* What tensors become whose blocks no longer exist. */
typedef enum gufo_legacy_keep {
    GUFO_LEGACY_NEAREST =
        0, /* today's type of the same name; F16 without one, F32 where F16 overflows */
    GUFO_LEGACY_F16 = 1, /* all quantized tensors: F16, or F32 where F16 overflows */
    GUFO_LEGACY_F32 = 2, /* all quantized tensors */
} gufo_legacy_keep;

typedef struct gufo_legacy_options {
    uint32_t flags;   /* of gufo_legacy_flags */
    const char *arch; /* "llama", "gpt2", "starcoder", "rwkv7" ...: what the file is, where it is in
                         doubt; NULL: it is recognised */
    gufo_legacy_keep keep;
    /* Entries that the caller knows: they replace what the file, or a default, says.  Their keys
     * may be those of settings (gufo_import_setting_at) or any other.  Keys of another architecture
     * are ignored: a settings file may have them. */
    const gufo_document *known;
    /* A model with the tokenizer of this one: its tokenizer.* keys are taken instead of those that
     * can be made of the file.  Must outlive the import. */
    const gufo_model *vocabulary;
    const gufo_run *run;             /* for GUFO_LEGACY_MEASURE: threads, progress; may be NULL */
    const gufo_allocator *allocator; /* NULL: malloc */
    /* What general.name and gufo.source.file say in place of the file's name, as gufo_import_facts has it;
     * NULL: that name. */
    const char *called;
    uint64_t reserved[4]; /* must be zero */
} gufo_legacy_options;

/* Opens a file of a format before GGUF, or of GGUF version 1 or 2.  `path` is the first part of
 * those that are in several (PATH, PATH.1, PATH.2 ...); `options` may be NULL.  Freed with
 * gufo_import_free.  NULL on failure:
 *   GUFO_E_NOT_GGUF, GUFO_E_VERSION, GUFO_E_MALFORMED, GUFO_E_TRUNCATED, GUFO_E_LIMIT
 *                     what is wrong with it, and where
 *   GUFO_E_ARGUMENT   no such `arch`; GGUF version 3, which needs no migration
 *   GUFO_E_TYPE       a format that cannot become GGUF: sessions, unknown families; any, where the library is
 *                     built without these formats
 *   GUFO_E_IO, GUFO_E_MEMORY, GUFO_E_STOPPED */
GUFO_MUST_USE GUFO_API gufo_import *gufo_import_legacy(const char *path,
                                                       const gufo_legacy_options *options,
                                                       gufo_error *error);

/* Adds to a document, for gufo_legacy_options.known, the settings that a JSON text (docs/legacy.md) has for
 * an old file by the SHA-256 of its parts in order, 64 digits in lower case (gufo_digest_files).  Keys that
 * the document has stay.  *found (may be NULL) is whether the text has any for this hash.  GUFO_E_MALFORMED
 * for text that is not such JSON; GUFO_E_TYPE, also for a key whose type is not known; GUFO_E_ARGUMENT for
 * general.architecture and split.*; GUFO_E_LIMIT for values that take too much memory; failures of
 * gufo_document_set. */
GUFO_API gufo_status gufo_legacy_settings(gufo_str json, const char *hash, gufo_document *document,
                                          bool *found, gufo_error *error);

/* What gufo_error.advice says after a failure of gufo_import_checkpoint. */
typedef enum gufo_import_advice {
    GUFO_ADVICE_NONE = 0,
    GUFO_ADVICE_ARCH = 1,       /* gufo_checkpoint_options.arch */
    GUFO_ADVICE_GENERIC = 2,    /* .arch, with GUFO_CHECKPOINT_GENERIC */
    GUFO_ADVICE_PRE = 3,        /* .pre */
    GUFO_ADVICE_VOCABULARY = 4, /* .vocabulary, or GUFO_CHECKPOINT_NO_VOCABULARY */
    GUFO_ADVICE_BASE = 5,       /* .base */
    GUFO_ADVICE_MEMORY = 6,     /* .memory */
    GUFO_ADVICE_FOLLOW = 7,     /* GUFO_CHECKPOINT_FOLLOW */
    GUFO_ADVICE_FORCE = 8,      /* GUFO_CHECKPOINT_FORCE_CONFIG */
    GUFO_ADVICE_TOWER = 9,      /* GUFO_CHECKPOINT_TOWER */
} gufo_import_advice;

/* ---- checkpoints ---------------------------------------------------------------------------- */

typedef enum gufo_checkpoint_flags {
    /* An architecture without rules: tensors keep their names, and the fields of config.json become
     * keys below `arch`, which must be given. */
    GUFO_CHECKPOINT_GENERIC = 1,
    GUFO_CHECKPOINT_NO_VOCABULARY = 2,   /* no tokenizer.* keys, nor the files for them */
    GUFO_CHECKPOINT_VOCABULARY_ONLY = 4, /* no tensors, nor the files for them */
    GUFO_CHECKPOINT_KEEP_TOKENIZER = 8,  /* tokenizer.json becomes tokenizer.huggingface.json */
    GUFO_CHECKPOINT_KEEP_WORLD = 16,     /* rwkv_vocab_v20230424.txt becomes tokenizer.rwkv.world */
    /* Reads what the symlinks in a model's folder lead to, wherever that is.  Without it a file of the
     * folder is in the folder; what the caches of Hugging Face's tools have in the place of a file
     * (models--ORG--NAME/blobs) is known, and read. */
    GUFO_CHECKPOINT_FOLLOW = 32,
    /* A configuration that contradicts the tensors, the vocabulary or itself: what would be a failure
     * is a warning. */
    GUFO_CHECKPOINT_FORCE_CONFIG = 64,
    /* For those who look at a model, or check it themselves: gufo_model_check_content is not called, and what a
     * configuration says that GGUF cannot is a warning. */
    GUFO_CHECKPOINT_NO_CHECK = 128,
    /* The part of the model that sees images or hears, in place of its text model: a model of architecture
     * clip, which programs load beside that of the text.  It has no tokenizer.* keys. */
    GUFO_CHECKPOINT_TOWER = 256,
} gufo_checkpoint_flags;

/* Texts and `known` are needed during the call alone. */
typedef struct gufo_checkpoint_options {
    uint32_t flags;   /* of gufo_checkpoint_flags */
    const char *arch; /* "llama" ...: what the model is; NULL: its configuration says so */
    const char *pre;  /* tokenizer.ggml.pre of a pre-tokenizer that is not recognised; NULL: none */
    /* A JSON file of the caller's with keys of general.*, which come before what the model's files
     * say (docs/convert.md); NULL: none. */
    const char *metadata;
    /* Entries that replace, or are added to, all others; NULL: none. */
    const gufo_document *known;
    /* A model whose tokenizer.* keys are taken instead of the folder's; must outlive the import. */
    const gufo_model *vocabulary;
    /* Of an adapter: the model that it is for, a folder whose config.json names the rules, or a GGUF
     * file; NULL: a folder beside that of the adapter, called as its settings say. */
    const char *base;
    /* Bytes that the values of all JSON files together, and the files that gguf-metadata.json names, may
     * take; 0: 512 MiB.  Those of one file take at most 32 bytes for each of its bytes, or 16 MiB. */
    uint64_t memory;
    const gufo_allocator *allocator; /* NULL: malloc; Jansson's own memory is always malloc's */
    /* Its progress counts steps, and may stop; for the time of the call.  NULL: nobody is asked. */
    const gufo_run *run;
    /* What the folder is called, and that of the base of an adapter, in place of what their paths say, so that
     * a model in folders of other names becomes the same file: as gufo_import_facts has it.  general.name,
     * other keys of general.* and rules of some architectures come from it where the files do not say more.
     * NULL: as in the path; "": it has no name. */
    const char *called, *base_called;
    /* The model's folder, which may be anywhere; it outlives the import and what was made of it.  The path then
     * only says what it is called.  NULL: a folder or file on disk. */
    const gufo_folder *folder;
    uint64_t reserved[3]; /* must be zero */
} gufo_checkpoint_options;

/* Reads the tokenizer.json of a model folder and, into `config`, the tokenizer_config.json beside it, which
 * may be missing; or the file `path` alone.  For gufo_vocab_open_json: so text becomes tokens as the model
 * was trained, where gufo_import_checkpoint gives what engines make of it.  The texts are the caller's
 * (gufo_text_free).  GUFO_E_NOT_FOUND: no such file; GUFO_E_LIMIT: of more than 256 MiB; GUFO_E_MALFORMED: a
 * link that leads out of the folder; GUFO_E_IO, GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_import_tokenizer(const char *path, gufo_text *json, gufo_text *config,
                                           gufo_error *error);
/* Whether a path is one that gufo_import_tokenizer takes: a folder with a tokenizer.json, or a file with
 * that name. */
GUFO_API bool gufo_import_has_tokenizer(const char *path);

/* A class of models, as config.json names it ("Gemma2ForCausalLM"), and the architecture that it becomes.  A class may
 * have several rows: its configuration decides.  A row of the table hf_classes. */
typedef struct gufo_import_class {
    const char *name, *architecture;
    uint64_t reserved[2];
} gufo_import_class;

/* False past the end.  Static; any thread. */
GUFO_API bool gufo_import_class_at(size_t index, gufo_import_class *out);

/* A line of what is known of an architecture: a row of its page in the registry. */
typedef struct gufo_import_line {
    /* When it applies.  "fields", "config", "params", "vocab", "tensors", "check" and "export": `name` is a
     * key or field, and `value` an expression; "pre": the usual pre-tokenizers; "writes": a class that an
     * export writes, and its model_type; "names", "generated", "source", "mapped" and "type": `name` is
     * patterns of tensors, `value` steps and `targets` what they become. */
    const char *kind;
    const char *name, *value, *condition, *targets, *note; /* "": none */
} gufo_import_line;

/* Takes a line; false: no more of them. */
typedef bool gufo_import_line_fn(void *context, const gufo_import_line *line);
/* Gives the lines of the way from a checkpoint of an architecture to a model and back, in order; groups that it includes
 * stand where they are included.  An architecture that is not converted has none.  Lines are static; any thread. */
GUFO_API void gufo_import_lines(const char *architecture, gufo_import_line_fn *use, void *context);

/* Whether a path is one that gufo_import_checkpoint takes, by the names in a folder or the first
 * bytes of a file: "Hugging Face model", "safetensors" ...; NULL if not.  Static; any thread. */
GUFO_API const char *gufo_checkpoint_recognise(const char *path);

/* What a tensor becomes when the model is converted to F32, F16, BF16, Q8_0, TQ1_0 or TQ2_0 as
 * converters do; NULL for other targets, where recipes decide, for a name that no tensor has, and
 * for an import that gufo_import_checkpoint did not open.  For gufo_recipe_options.model_type, with
 * the import as its context.  Static; any thread. */
GUFO_API const gufo_element_type *gufo_import_type(void *import, const gufo_quantize_target *target,
                                                   gufo_str name);
/* The name of the file of a type ("Q4_K_M"; NULL: of a checkpoint a vocabulary alone, of an old file the
 * types that it gets) by the naming convention, as gufo_model_suggest_name makes it; a model without a name of its
 * own is called as its file, without what the name of that says of formats and types.  `out` is terminated;
 * GUFO_E_RANGE for a name that is too long.  Any thread. */
GUFO_API gufo_status gufo_import_file_name(const gufo_import *import, const char *type,
                                           char out[GUFO_NAME_SIZE], gufo_error *error);
/* F16 or BF16, whichever most of the checkpoint is meant to have: the type of its first matrix of
 * either; F16 without one, and for an import that gufo_import_checkpoint did not open.  Static. */
GUFO_API const gufo_element_type *gufo_import_main_type(const gufo_import *import);

/* Makes a target what `gufo convert` makes of a TYPE for this import.  {0} is "auto": F16 or BF16, whichever
 * most of the checkpoint is meant to have, F32 for an adapter; of a quantized checkpoint, what most of its
 * weights are, whose blocks stay as they are; COPY for an import that gufo_import_checkpoint did not open.
 * The target of a plain type gets the file type of MXFP4 or NVFP4 where most of the checkpoint has such
 * blocks, which all plain types keep.  Other targets stay as they are.  Any thread. */
GUFO_API void gufo_import_target(const gufo_import *import, gufo_quantize_target *target);
/* Makes options of a quantizer for gufo_import_model those of `gufo convert`: each target gives tensors the
 * types that gufo_import_type says, with "auto" blocks stay, and what a checkpoint has quantized may be
 * quantized again, since nothing else of it exists.  Sets recipe.model_type, .model_context and
 * .allow_requantize; the targets are those of gufo_import_target.  The import must outlive what is made
 * with the options. */
GUFO_API void gufo_import_prepare(gufo_import *import, gufo_quantize_options *options);

/* Whether a file begins as one that gufo_import_legacy takes, by its first bytes (32 are enough):
 * "GGJT version 1" ...; NULL if not.  Static; any thread. */
GUFO_API const char *gufo_legacy_recognise(const void *data, size_t size);

/* ==== Part 2: looking ======================================================================== */

/* What an import opened. */
typedef enum gufo_import_origin {
    GUFO_IMPORT_LEGACY = 0,     /* a file of a format before GGUF */
    GUFO_IMPORT_GGUF = 1,       /* a GGUF file of version 1 or 2 */
    GUFO_IMPORT_CHECKPOINT = 2, /* a model of a training framework */
    GUFO_IMPORT_ADAPTER = 3,    /* an adapter of any of these */
} gufo_import_origin;

typedef struct gufo_import_facts {
    gufo_import_origin origin;
    const char *family;    /* "llama", "gpt-2", "whisper" ... */
    const char *container; /* "GGJT", "safetensors" */
    uint32_t version;      /* of the container; 0: it has none */
    uint32_t generation;   /* of its blocks: 0, 1 or 2 */
    uint32_t parts;        /* files */
    uint64_t size;         /* bytes of all parts */
    uint64_t vocabulary;   /* tokens; 0: none */
    uint64_t lossy_tokens; /* whose bytes the old converter did not keep */
    const char *doubt;     /* a sentence about what else it could be; NULL: no doubt */
    const char
        *quantized;    /* how a checkpoint packs weights: "gptq", "fp8" ...; NULL: it does not */
    uint64_t packed;   /* such weights, */
    uint64_t repacked; /* and those of them whose numbers blocks of GGUF hold exactly */
    /* What the model says of itself because its path does: the last name of the folder's path ("." and ".." of
     * where it really is), of a folder in a cache of Hugging Face "https://huggingface.co/ORGANIZATION/NAME", and
     * "" for one that is not UTF-8; of a file before GGUF its name.  The same of the base of an adapter.  NULL:
     * nothing comes from a path. */
    const char *called, *base_called;
    uint64_t reserved[3];
} gufo_import_facts;

GUFO_API gufo_import_facts gufo_import_describe(const gufo_import *import);

/* Where the value of a setting comes from. */
typedef enum gufo_setting_origin {
    GUFO_SETTING_FILE = 0,    /* the old file says so, or its shapes do */
    GUFO_SETTING_KNOWN = 1,   /* gufo_legacy_options.known or .vocabulary */
    GUFO_SETTING_ASSUMED = 2, /* what nearly all files of this family have */
    GUFO_SETTING_MISSING = 3, /* nothing is known: only a person can say */
} gufo_setting_origin;

/* One key that the file lacks. */
typedef struct gufo_import_setting {
    gufo_str key;
    gufo_setting_origin origin;
    bool required;    /* readers need it */
    gufo_value value; /* of a missing one: its type */
    const char *why;  /* one sentence: where the value comes from, or what is needed */
    uint64_t reserved[4];
} gufo_import_setting;

/* Settings that are known, assumed or missing, in the order of the file; false past the end. */
GUFO_API bool gufo_import_setting_at(const gufo_import *import, uint64_t index,
                                     gufo_import_setting *out);

/* One tensor of the GGUF model. */
typedef struct gufo_import_tensor {
    gufo_str source;  /* its name in the old file (the first one of several) */
    gufo_str name;    /* its name now */
    const char *from; /* the old type: "Q4_1_O" */
    const gufo_element_type *to;
    bool measured;      /* GUFO_LEGACY_MEASURE, or nothing to measure */
    bool exact;         /* the same numbers */
    bool packed;        /* of a quantized checkpoint: `from` is the way it packs weights */
    double max_abs_err; /* the largest difference of a number */
    uint64_t reserved[4];
} gufo_import_tensor;

GUFO_API bool gufo_import_tensor_at(const gufo_import *import, uint64_t index,
                                    gufo_import_tensor *out);

/* Warnings, sentences, in order; NULL past the end. */
GUFO_API const char *gufo_import_warning_at(const gufo_import *import, uint64_t index);

/* Those of the warnings that would be errors but for GUFO_CHECKPOINT_FORCE_CONFIG; NULL past the end. */
GUFO_API const char *gufo_import_forced_at(const gufo_import *import, uint64_t index);

/* ==== Part 3: using ========================================================================== */

/* The model that gufo_import_job writes as one of its own, named by `name` (which is copied) in errors:
 * gufo_model_free frees it with the import, which must not be closed then.  NULL on failure: GUFO_E_MEMORY; the import is
 * closed. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_import_take_model(gufo_import *import, const char *name,
                                                          gufo_error *error);

/* The import whose model was taken; NULL for any other model. */
GUFO_API const gufo_import *gufo_model_import(const gufo_model *model);

/* Plans the GGUF file, for gufo_job_run; the import must outlive the job, which gufo_job_free frees.
 * NULL on failure: GUFO_E_LIMIT, GUFO_E_RANGE, GUFO_E_MEMORY. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_import_job(gufo_import *import, gufo_error *error);

/* The path of part `index` of the old file; NULL past the end. */
GUFO_API const char *gufo_import_part_at(const gufo_import *import, uint32_t index);

/* ==== Part 4: the way back =================================================================== */

typedef enum gufo_export_format {
    GUFO_EXPORT_SAFETENSORS = 0,
    GUFO_EXPORT_NPZ = 1, /* model.npz, for NumPy, which has no BF16: F32 takes its place */
} gufo_export_format;

typedef struct gufo_export_options {
    gufo_export_format format;
    /* F32, F16 or BF16, for tensors of two dimensions and more; NULL: those that the model has, and
     * BF16 for what is quantized.  Tensors of one dimension keep theirs. */
    const gufo_element_type *dtype;
    uint64_t shard_size;             /* bytes of tensors in a file of safetensors; 0: 5 GB */
    const gufo_allocator *allocator; /* NULL: malloc; Jansson's own memory is always malloc's */
    uint64_t reserved[4];            /* must be zero */
} gufo_export_options;

/* Plans the files of a model as Hugging Face's libraries read them, in a folder: tensors with the names
 * and the order of numbers of their framework, config.json, and the files of the tokenizer.
 * gufo_import_checkpoint makes the same model of them again.  A model without tensors becomes files of the
 * tokenizer alone.  For gufo_job_run, whose path is a folder that exists; GUFO_JOB_REPLACE replaces files
 * that have the names of those that are written, but links in the folder are not followed:
 * GUFO_E_ARGUMENT.  The model must outlive the job, which gufo_job_free frees; `options` may be NULL.
 * NULL on failure:
 *   GUFO_E_TYPE      an architecture without rules, an adapter; a tensor that has no name in the
 *                    framework, or has blocks whose numbers go to several places
 *   GUFO_E_NOT_FOUND, GUFO_E_MALFORMED
 *                    a key that the configuration cannot do without; keys that do not fit each other, or
 *                    the tensors
 *   GUFO_E_ARGUMENT  options that do not go together; a model without data
 *   GUFO_E_LIMIT, GUFO_E_RANGE, GUFO_E_MEMORY, GUFO_E_IO */
GUFO_MUST_USE GUFO_API gufo_job *gufo_export_job(const gufo_model *model,
                                                 const gufo_export_options *options,
                                                 gufo_error *error);

/* One tensor that an export writes.  Texts live as long as the job, `source` as long as the model. */
typedef struct gufo_export_tensor {
    gufo_str name;     /* in the framework */
    const char *dtype; /* of safetensors: "BF16" */
    const gufo_element_type *type;
    uint32_t n_dims;
    uint64_t shape[8]; /* slowest first */
    gufo_str source;   /* the tensor of the model that has its first numbers; "": a key has them */
    const char *file;  /* in the folder */
    uint64_t size;     /* bytes */
    uint64_t reserved[4];
} gufo_export_tensor;

/* Of a job of gufo_export_job: tensors by name, false past the end; sentences about what is lost or
 * approximate, which live as long as the job, NULL past the end.  Any other job has none.  Any thread. */
GUFO_API bool gufo_export_tensor_at(const gufo_job *job, uint64_t index, gufo_export_tensor *out);
GUFO_API const char *gufo_export_warning_at(const gufo_job *job, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
