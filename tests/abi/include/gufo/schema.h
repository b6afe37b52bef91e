/* What the values of a GGUF file mean.
 *
 *     const gufo_key_info *info = gufo_key_find("llama.context_length", NULL);
 *     puts(info->summary);
 *     gufo_model_key_u64(model, "{arch}.context_length", &tokens, &error);
 *
 * Three things are here: the registry (which keys, architectures, tensors, file types, tokenizers
 * and pre-tokenizers there are), shapes (what a tensor's dimensions must be, given the keys), and
 * look-ups.  check.h judges a file by them, name.h the name of a file.
 *
 * The registry is data: one table per list.  Everything here is static and constant: any thread,
 * nothing to free.  Rows are in the order of their tables.  gufo_*_at gives row `index` of a table,
 * NULL past the end; gufo_*_find the row for a name, NULL if none exists; functions whose names end in
 * _str take views, and are else the same. */
#ifndef GUFO_SCHEMA_H
#define GUFO_SCHEMA_H

#include "base.h"
#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

/* A key, or a family of keys: "{arch}" is a placeholder for the architecture, "{id}" for a number,
 * other words in braces for one segment of any name.  Spec, Standardized key-value pairs. */
typedef struct gufo_key_info {
    const char *key;       /* "{arch}.attention.head_count" */
    const char *type;      /* of the value, as writers write it: "uint32", "array[string]",
                             "uint32|array[int32]" */
    const char *specified; /* the type in the specification: "uint64"; "" if it has no such key */
    const char *unit;      /* "tokens", "blocks" ...; "" for none */
    const char
        *fallback;     /* what readers assume where the key is missing (gufo_model_key_value); "" if
                             not known */
    const char *since; /* the year of the first text or program that knows it */
    const char *status;  /* "standard" (the specification has it), "in use" (readers and writers
                             have it), "deprecated", "community", "misspelt" */
    const char *group;   /* "General", "Attention", "Tokenizer" ... */
    const char *summary; /* one line */
} gufo_key_info;

/* The row that describes a key of a file, or NULL.  `architecture` is the file's (its
 * general.architecture), which "{arch}" then must equal; empty or NULL: any.  A row for exactly this key
 * takes precedence over a pattern. */
GUFO_API const gufo_key_info *gufo_key_find(const char *key, const char *architecture);
GUFO_API const gufo_key_info *gufo_key_find_str(gufo_str key, gufo_str architecture);

/* What a model says of a key, whatever name it has there.  `key` is the name of today, as in the
 * table: "{arch}." at its front is the architecture of the model.  The entry is that of this key or
 * of one of its other names; of several that of today, except where readers in use prefer the other.
 * False if the model has none of them.  `out` may be NULL; out->key is the name that the model has.  Constant time; views
 * live as long as the model.  Any thread. */
GUFO_API bool gufo_model_key_entry(const gufo_model *model, const char *key, gufo_entry *out);

/* The value of that entry; else what readers take where it is missing, the fallback of its row: a
 * value, or that of another key.  False if neither exists. */
GUFO_API bool gufo_model_key_value(const gufo_model *model, const char *key, gufo_value *out);

/* That value, converted as gufo_value_* does.  Errors as gufo_model_get_u64. */
GUFO_API gufo_status gufo_model_key_u64(const gufo_model *model, const char *key, uint64_t *out,
                                        gufo_error *error);
GUFO_API gufo_status gufo_model_key_f64(const gufo_model *model, const char *key, double *out,
                                        gufo_error *error);
GUFO_API gufo_status gufo_model_key_bool(const gufo_model *model, const char *key, bool *out,
                                         gufo_error *error);
GUFO_API gufo_status gufo_model_key_str(const gufo_model *model, const char *key, gufo_str *out,
                                        gufo_error *error);
GUFO_API gufo_status gufo_model_key_array(const gufo_model *model, const char *key,
                                          gufo_value_type elements, gufo_array *out,
                                          gufo_error *error);

/* A value of general.architecture: a row of the table architectures. */
typedef struct gufo_arch_info {
    const char *id;     /* "llama" */
    const char *name;   /* "LLaMA family (also Mistral, Mixtral ...)" */
    const char *status; /* "standard" (the specification has it), "in use", "named" */
} gufo_arch_info;

/* The architecture with this id; NULL if none exists. */
GUFO_API const gufo_arch_info *gufo_arch_find(const char *id);
GUFO_API const gufo_arch_info *gufo_arch_find_str(gufo_str id);

/* ==== File types ============================================================================= */

/* One constant per file type: GUFO_FILE_TYPE_Q4_K_M ... */
typedef enum gufo_file_type_id {
#define GUFO_FILE_TYPE(id, name, base, flags) GUFO_FILE_TYPE_##name = id,
#include "file_types.def"
#undef GUFO_FILE_TYPE
} gufo_file_type_id;

typedef enum gufo_file_type_flags {
    GUFO_FILE_TYPE_NOT_MADE = 1, /* quantizing does not make it */
    GUFO_FILE_TYPE_REMOVED = 2,  /* no longer part of the format; old files may have it */
} gufo_file_type_flags;

/* A value of general.file_type: the mixture of element types that a file has.  Spec, General
 * metadata; numbers above 18 as the field uses them. */
typedef struct gufo_file_type {
    uint32_t id;        /* as stored */
    const char *name;   /* "Q4_K_M" */
    uint32_t base_type; /* id of the element type of most weights: GUFO_TYPE_Q4_K */
    uint32_t flags;     /* of gufo_file_type_flags */
} gufo_file_type;

/* Row `index` of the table in the order of ids; NULL past the end.  Static; any thread. */
GUFO_API const gufo_file_type *gufo_file_type_at(size_t index);

/* The file type with this id, or with this name (exact, upper case); NULL if none exists. Static;
 * any thread. */
GUFO_API const gufo_file_type *gufo_file_type_by_id(uint64_t id);
GUFO_API const gufo_file_type *gufo_file_type_by_name(const char *name);

/* The element type that a name means, as people write it (gufo_spelling_means): "q4k", GGML_TYPE_Q4_K.
 * NULL if no type has that name.  Static; any thread. */
GUFO_API const gufo_element_type *gufo_element_type_meant(gufo_str name);

/* Kinds of names that texts and programs of the format spell in their own way: GGML_TYPE_Q4_0 is Q4_0. */
typedef enum gufo_spelling {
    GUFO_SPELLING_PLAIN = 0,        /* rows without such names */
    GUFO_SPELLING_ELEMENT_TYPE = 1, /* GGML_TYPE_Q4_0 */
    GUFO_SPELLING_FILE_TYPE = 2,    /* MOSTLY_Q4_K_M, LLAMA_FTYPE_ALL_F32 */
    GUFO_SPELLING_VALUE_TYPE = 3,   /* GGUF_TYPE_UINT8 */
} gufo_spelling;

/* What follows a prefix of that kind, in any case: "q4_0" for "ggml_type_q4_0"; `name` itself (at
 * the same address) where it has none.  Any thread. */
GUFO_API gufo_str gufo_spelling_bare(gufo_spelling spelling, gufo_str name);

/* Whether `given` is the name of a row as people write it: in any case, after a prefix of that kind
 * or none, and with or without the marks between its parts ("q4km", "Q4-K-M" for Q4_K_M).  Any thread. */
GUFO_API bool gufo_spelling_means(gufo_spelling spelling, gufo_str given, const char *name);

/* ==== Keys =================================================================================== */

GUFO_API const gufo_key_info *gufo_key_at(size_t index); /* NULL past the end */

/* The row whose key is nearest to an unknown one; `architecture` is as in gufo_key_find.  Writes
 * the name of that key in a file of the architecture, terminated, into `out`:
 * "llama.context_length" for "lama.contxt_length", "general.name" for "name".  NULL if no key is near enough; *out is then
 * not defined. It compares the key with every row.  Any thread. */
#define GUFO_KEY_NAME_SIZE 256
GUFO_API const gufo_key_info *gufo_key_nearest(const char *key, const char *architecture,
                                               char out[GUFO_KEY_NAME_SIZE]);
GUFO_API const gufo_key_info *gufo_key_nearest_str(gufo_str key, gufo_str architecture,
                                                   char out[GUFO_KEY_NAME_SIZE]);

/* Whether a value is of a type that the row allows.  Counts and other integers may have any integer
 * type that holds the value (the specification says uint64 where files have uint32), float32 may be
 * float64; arrays of integers may have any integer elements.  Empty arrays have any type. */
GUFO_API bool gufo_key_accepts(const gufo_key_info *info, const gufo_value *value);

/* How well the type of a value fits a row. */
typedef enum gufo_type_fit {
    GUFO_FIT_NONE = 0,  /* gufo_key_accepts refuses it */
    GUFO_FIT_KIND = 1,  /* the right kind, but readers in use refuse the type, or misread it */
    GUFO_FIT_TYPE = 2,  /* a type of the row, as written or as specified */
    GUFO_FIT_EXACT = 3, /* the specified type: a count may be uint32 or uint64; also for every type
                           of the row if the specification gives none */
} gufo_type_fit;
GUFO_API gufo_type_fit gufo_key_fit(const gufo_key_info *info, const gufo_value *value);

/* The current key for one that is deprecated or misspelt ("{arch}.attention.clamp_kqv" for
 * "mpt.attention.clip_kqv"), NULL if none exists.  *safe (may be NULL): every reader in use knows
 * the replacement, with the same meaning of the value, so that renaming the key fixes the file;
 * false if none exists. */
GUFO_API const gufo_key_info *gufo_key_replacement(const gufo_key_info *info, bool *safe);

/* ==== Keys of a model ======================================================================== */

/* The row that says what a key of a file means: that of the key of today if the key is another name
 * of one, else its own.  NULL and `architecture` as in gufo_key_find. */
GUFO_API const gufo_key_info *gufo_key_today(const char *key, const char *architecture);
GUFO_API const gufo_key_info *gufo_key_today_str(gufo_str key, gufo_str architecture);

/* The text of an entry, also of one whose other name leaves out the beginning, which the functions
 * above pass over: general.source.huggingface.repository has "OWNER/NAME" of the address in
 * general.source.repo_url.  *out is a view of the model, or the text put together in `room`, which
 * has `size` bytes.  False if the model has no such text, or `room` is too small. */
GUFO_API bool gufo_model_key_text(const gufo_model *model, const char *key, char *room, size_t size,
                                  gufo_str *out);

/* ==== Architectures ========================================================================== */

GUFO_API const gufo_arch_info *gufo_arch_at(size_t index); /* NULL past the end */

/* Whether an architecture needs a key or a tensor. */
typedef enum gufo_need {
    GUFO_OPTIONAL = 0,
    GUFO_EXPECTED = 1, /* the specification requires it; files in use do not have it */
    GUFO_REQUIRED = 2,
} gufo_need;

/* A key that an architecture uses: a row of the table arch_keys. */
typedef struct gufo_arch_key {
    const char *arch; /* "llama" */
    const char *key; /* "llama.context_length" is "context_length" here: without the architecture */
    gufo_need need;
    uint64_t reserved[1];
} gufo_arch_key;

/* The keys of an architecture: the first of *count rows, NULL if none are known. */
GUFO_API const gufo_arch_key *gufo_arch_keys(const char *arch, size_t *count);

/* ==== Tensors ================================================================================ */

/* A tensor, or a family: "{bid}" is a placeholder for the number of a block, "{xid}" for a second
 * number in the name.  Names end in ".weight" or ".bias", which the pattern leaves out, or in
 * neither.  Shapes: see gufo_shape_evaluate.  Spec, Standardized tensor names. */
typedef struct gufo_tensor_info {
    const char *name; /* "blk.{bid}.attn_q" */
    const char *summary;
    const char
        *shape; /* of the weight, "" if not known: "embedding_length,head_count*key_length" */
    const char *bias_shape; /* of the bias, "" if not known */
    const char *status;     /* "standard" or "in use" */
} gufo_tensor_info;

/* The parts of a tensor name in a file. */
typedef struct gufo_tensor_match {
    const gufo_tensor_info *info;
    bool has_block;
    uint64_t block;  /* the number in it */
    gufo_str suffix; /* ".weight", ".bias", "" or what else follows */
    uint64_t reserved[4];
} gufo_tensor_match;

GUFO_API const gufo_tensor_info *gufo_tensor_info_at(size_t index); /* NULL past the end */

/* The row for a name in a file: the longest pattern that the name begins with, in whole segments,
 * so that the suffix is ".weight" for "blk.0.attn_q.weight", ".weight.lora_a" in an adapter and
 * whatever else follows.  False if none exists; *out (may be NULL) is then unchanged.  Any
 * bytes. */
GUFO_API bool gufo_tensor_info_find(const char *name, gufo_tensor_match *out);
GUFO_API bool gufo_tensor_info_find_str(gufo_str name, gufo_tensor_match *out);

/* A tensor that an architecture has: a row of the table arch_tensors. */
typedef struct gufo_arch_tensor {
    const char *arch;
    const char *name;               /* pattern, as in gufo_tensor_info */
    gufo_need need;                 /* of the weight, in every block if it has a block */
    const char *shape, *bias_shape; /* where they differ from the general ones; "" where not, "-"
                                       where the general one is wrong and no other is known */
    const char *instead;            /* patterns, with blanks between; a block that has one of them
                                       needs no tensor of this row: experts, a fused projection */
    uint64_t reserved[1];
} gufo_arch_tensor;

/* The tensors of an architecture, likewise. */
GUFO_API const gufo_arch_tensor *gufo_arch_tensors(const char *arch, size_t *count);

/* ==== Shapes ================================================================================= */

/* A shape is a list of dimensions, the first one contiguous, as in the file: "A,B".  Each is a sum
 * of products of numbers and names of keys without the architecture, with `+`, `-`, `*`, `/`
 * (without remainder) and parentheses, as in
 * "embedding_length,head_count*key_length+2*head_count_kv*key_length".
 *
 * Names that are not keys: `vocab` (the number of tokens), and head_count, head_count_kv,
 * key_length, value_length, feed_forward_length ... as short forms of attention.head_count and so
 * on, with the defaults of the specification (key_length: embedding_length/head_count).
 *
 * gufo_shape_evaluate computes the dimensions for one block.  `lookup` gives the value of a name
 * for `block` (a per-layer array's element), and false if it is not known.  The return value is the
 * number of dimensions, or 0 if something in it is not known, does not divide, does not fit into 64
 * bits, or is not a shape ("" and "-").  A file may leave out dimensions of 1 at the end. */
typedef bool gufo_shape_fn(void *context, gufo_str name, uint64_t block, uint64_t *out);
GUFO_API unsigned gufo_shape_evaluate(const char *shape, uint64_t block, gufo_shape_fn *lookup,
                                      void *context, uint64_t dims[4]);

/* ==== Tokenizers ============================================================================= */

/* A value of tokenizer.ggml.model. */
typedef struct gufo_tokenizer_info {
    const char *id;        /* "llama" */
    const char *algorithm; /* "SentencePiece BPE (merge by score)" */
    const char *bos, *eos, *unknown, *separator, *padding, *mask; /* default ids; "" for none */
    const char
        *arrays; /* the arrays that it needs, with blanks between: "tokens scores token_type" */
} gufo_tokenizer_info;

GUFO_API const gufo_tokenizer_info *gufo_tokenizer_info_at(size_t index); /* NULL past the end */
GUFO_API const gufo_tokenizer_info *gufo_tokenizer_info_find(const char *id);
GUFO_API const gufo_tokenizer_info *gufo_tokenizer_info_find_str(gufo_str id);

/* A value of tokenizer.ggml.pre: how text is split before byte-level BPE. */
typedef struct gufo_pretokenizer {
    const char *id;     /* "llama-bpe" */
    const char *family; /* "LLAMA3": members of one family split alike */
} gufo_pretokenizer;

GUFO_API const gufo_pretokenizer *gufo_pretokenizer_at(size_t index); /* NULL past the end */
GUFO_API const gufo_pretokenizer *gufo_pretokenizer_find(const char *id);
GUFO_API const gufo_pretokenizer *gufo_pretokenizer_find_str(gufo_str id);

/* A key that names a token with a special meaning. */
typedef struct gufo_special_token {
    const char *key;  /* "tokenizer.ggml.bos_token_id" */
    const char *role; /* "beginning of sequence" */
} gufo_special_token;

GUFO_API const gufo_special_token *gufo_special_token_at(size_t index); /* NULL past the end */

/* A value of {arch}.tensor_data_layout. */
typedef struct gufo_data_layout {
    const char *name;   /* "Meta AI original pth" */
    const char *arch;   /* that the specification describes it for; "" for all */
    const char *others; /* whose files have it as well, with blanks between */
    const char *summary;
} gufo_data_layout;

GUFO_API const gufo_data_layout *gufo_data_layout_at(size_t index); /* NULL past the end */

#ifdef __cplusplus
}
#endif

#endif
