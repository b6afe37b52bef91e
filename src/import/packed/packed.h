/* Weights whose numbers a checkpoint has packed, with scales in tensors of their own.
 *
 *     model.layers.0.mlp.up_proj.qweight  I32 [in / 8, out]      model.layers.0.mlp.up_proj.weight
 *                               .qzeros   I32 [groups, out / 8]  ->     [out, in]
 *                               .scales   F16 [groups, out]
 *
 *     methods.c   what a configuration says: the methods, as a table
 *     find.c      which tensors of a checkpoint are parts of packed weights
 *     unpacked.c  parts, read and checked; rows of weights, for the engine
 *     gptq.c ...  a way to pack each: its shapes, its numbers, and the blocks that hold them exactly
 *     integers.c  what whole numbers with scales and zeros have in common
 *     cache.c     those of GPTQ and AWQ, whose outputs are columns: rows that are read together
 *
 * The operations on tensors see one tensor of F32 instead of the parts.  Rows are unpacked when they
 * are read.  Where blocks of GGUF hold the same numbers, rows may be read as those blocks, too. */
#ifndef IMPORT_PACKED_PACKED_H
#define IMPORT_PACKED_PACKED_H

#include "import/architectures/configuration/config.h"
#include "import/containers/checkpoint.h"

struct packed_weight;
struct integer_layout;
struct packed_cache;
struct rows;

enum { PACKED_PARTS = 5 };

/* A way to pack. */
typedef struct packed_kind {
    const char *name; /* for messages: "GPTQ" */
    /* What the parts are called, behind the name of the module (".qweight", "_blocks"), in the order
     * of packed_weight.parts: those before `required` must exist, the others may.  NULL ends the
     * list. */
    const char *parts[PACKED_PARTS];
    uint32_t required;
    /* Checks types and shapes of the parts against each other and against the settings; sets
     * slices, rows, columns.  The sentence of a failure does not name the weight. */
    gufo_status (*open)(struct packed_weight *w, gufo_error *error);
    /* The element type whose blocks have the same numbers, and reads what decides about it; NULL in
     * *type: none has.  May be NULL. */
    gufo_status (*find_type)(const struct packed_weight *w, const gufo_element_type **type,
                             gufo_error *error);
    /* Rows [first, first + count) of all slices, counted through, as floats: count * columns of
     * them.  Any thread. */
    gufo_status (*floats)(const struct packed_weight *w, uint64_t first, uint64_t count, float *out,
                          gufo_error *error);
    /* The same rows as blocks of w->type.  NULL where find_type is. */
    gufo_status (*blocks)(const struct packed_weight *w, uint64_t first, uint64_t count,
                          uint8_t *out, gufo_error *error);
    const struct integer_layout *integers; /* how whole numbers are packed; NULL: they are floats */
    /* Two factors of all numbers that blocks do not have, and floats do: of the weight, and of what
     * it is multiplied with, which only readers use.  May be NULL: both are 1. */
    gufo_status (*factors)(const struct packed_weight *w, float out[2], gufo_error *error);
    /* Models that are not packed have the matrices of experts the other way round: [in, out]. */
    bool transposed_stacks;
} packed_kind;

/* What quantization_config says, as far as a kind asks for it. */
typedef struct packed_settings {
    uint32_t bits;      /* of a number */
    uint64_t group;     /* columns with one scale; 0: a whole row */
    uint64_t block[2];  /* rows and columns with one scale; zeros: none */
    bool zero_plus_one; /* GPTQ: zeros are stored one less than they are */
    bool symmetric;     /* no zeros are stored */
    bool reciprocal;    /* scales of whole tensors are stored as 1 / scale */
} packed_settings;

typedef struct packed_weight {
    const packed_kind *kind;
    const gufo_allocator *allocator;
    const checkpoint *checkpoint;
    gufo_str module; /* the name without that of a part */
    const checkpoint_tensor *parts[PACKED_PARTS];
    packed_settings settings;
    struct packed_cache *cache;     /* of bands of rows that threads share; NULL: they share none */
    uint64_t slices, rows, columns; /* matrices: experts, outputs, inputs */
    const gufo_element_type *type;  /* whose blocks hold the numbers exactly; NULL: none does */
    bool
        stacked; /* three axes, even of one matrix: as the first part has, if `open` says nothing */
} packed_weight;

/* ---- unpacked.c: parts --------------------------------------------------------------------- */

/* What a part may hold. */
typedef enum packed_numbers {
    PACKED_FLOATS, /* F32, F16, BF16, F8_E4M3, F8_E5M2 */
    PACKED_SCALES, /* F32, F16, BF16, and F8_E8M0: powers of two */
    PACKED_WORDS,  /* whole numbers of 32 bits */
    PACKED_COUNTS, /* whole numbers of 32 or 64 bits */
    PACKED_BYTES,  /* U8 */
    PACKED_E4M3,   /* F8_E4M3, or U8 with its bits */
    PACKED_EIGHTS, /* F8_E4M3, F8_E5M2, I8 */
    PACKED_E8M0,   /* F8_E8M0, likewise */
} packed_numbers;

/* Fails unless a part holds such numbers side by side and has this shape, slowest first. */
gufo_status packed_expect(const packed_weight *w, uint32_t part, packed_numbers numbers,
                          uint32_t n_dims, const uint64_t *shape, gufo_error *error);

/* A failure about an element of a part: with its place and its file. */
__attribute__((format(printf, 5, 6))) gufo_status packed_fail(const packed_weight *w, uint32_t part,
                                                              uint64_t element, gufo_error *error,
                                                              const char *format, ...);

/* What is wrong with a scale with which numbers would not be finite. */
const char *packed_fault_of_scale(float scale);

/* Bytes of a part, whose elements follow each other.  Failures name the file. */
gufo_status packed_read(const packed_weight *w, uint32_t part, uint64_t from, uint64_t size,
                        void *out, gufo_error *error);
/* Elements [first, first + count) of a part of floats of any type (F32, F16, BF16, F8, also
 * big-endian) as F32. */
gufo_status packed_floats(const packed_weight *w, uint32_t part, uint64_t first, uint64_t count,
                          float *out, gufo_error *error);
/* The same of a part of whole numbers of 32 bits. */
gufo_status packed_words(const packed_weight *w, uint32_t part, uint64_t first, uint64_t count,
                         uint32_t *out, gufo_error *error);

/* ---- the kinds ------------------------------------------------------------------------------ */

extern const packed_kind packed_gptq, packed_awq, packed_int, packed_mxfp4;
/* As modelopt calls the parts, and as compressed-tensors does. */
extern const packed_kind packed_nvfp4, packed_nvfp4_global;
/* Numbers of 8 bits with scales that are called weight_scale; as fp8 calls them; as Mistral does.  In
 * tensors of all experts scales are called NAME_scale. */
extern const packed_kind packed_scaled, packed_scaled_stacked;
extern const packed_kind packed_fp8, packed_fp8_stacked, packed_fp8_mistral;
extern const packed_kind packed_ternary;

/* ---- unpacked.c: rows, for the engine and for the operations on tensors -------------------- */

/* Says about which weight a failure is, and where it is. */
gufo_status unpacked_fail(const packed_weight *w, gufo_status status, gufo_error *error);

/* Rows [first, first + count) of all slices as F32, little-endian; as blocks of w->type.  Any
 * thread. */
gufo_status unpacked_rows(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                          gufo_error *error);
gufo_status unpacked_blocks(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                            gufo_error *error);
/* Numbers [first, first + count) of all rows. */
gufo_status unpacked_numbers(const packed_weight *w, uint64_t first, uint64_t count, void *out,
                             gufo_error *error);

/* What reading keeps for all threads together, in bytes; NULL: nothing. */
uint64_t unpacked_memory(const packed_weight *w);

/* rows.read: the weight is the context, and the first row begins at byte `offset` of its numbers. */
gufo_status unpacked_read(const struct rows *r, uint64_t first, uint64_t count, void *out,
                          gufo_error *error);

/* ---- methods.c: how a checkpoint is quantized, as its configuration says it ---------------- */

enum { METHOD_KINDS = 4, METHOD_NAME = 64 };

/* A kind, and the element types that its first part has ("F8_E4M3 U8"); NULL: any. */
typedef struct packed_choice {
    const packed_kind *kind;
    const char *types;
} packed_choice;

/* A row of the table of methods. */
typedef struct packed_method {
    const char *name; /* quant_method */
    /* A field of the configuration, and its values, for which the row is ("gemm GEMM"); NULL: any. */
    const char *field, *values;
    packed_choice
        kinds[METHOD_KINDS]; /* up to the first without a kind; the first that fits is it */
    gufo_status (*read)(const json_t *how, packed_settings *out, gufo_error *error);
    const char *refused; /* why such weights are not read; NULL: they are */
} packed_method;

typedef struct packed_how {
    char name[METHOD_NAME];      /* quant_method; "": the checkpoint is not quantized */
    char value[METHOD_NAME];     /* of the field that the method was chosen by; "": by none */
    const packed_method *method; /* NULL: an unknown one */
    packed_settings settings;
    json_t *file; /* that was read for it; freed with method_close */
    const char *file_name;
} packed_how;

/* Reads quantization_config of config.json, or the files that say it where that does not.  A method
 * that is unknown or refused does not fail here: weights may be plain numbers all the same. */
gufo_status method_open(packed_how *how, const model_config *config, gufo_error *error);
void method_close(packed_how *how);

/* ---- find.c -------------------------------------------------------------------------------- */

/* The packed weights of a checkpoint. */
typedef struct packed_set {
    const gufo_allocator *allocator;
    packed_how how;
    packed_weight *weights;
    uint64_t count;
    struct packed_cache *cache; /* of all weights */
    checkpoint_tensor *files;   /* the tensors as the files have them: what parts point to */
} packed_set;

/* Puts a tensor in place of the parts of each packed weight of a checkpoint: NAME.weight, of F32,
 * with the weight as its `packed`.  What only the running of a quantized model needs (scales of
 * activations) is taken out of the checkpoint.  Other tensors, and checkpoints that are not quantized,
 * stay as they are.  Linear time.
 *   GUFO_E_TYPE       a method that is not read
 *   GUFO_E_MALFORMED  parts that are missing, or do not fit each other
 * and what reading files gives.  Freed with packed_free, also after a failure, before the checkpoint is
 * closed, whose tensors it owns parts of. */
gufo_status packed_find(packed_set *set, checkpoint *c, const model_config *config,
                        gufo_error *error);
void packed_free(packed_set *set);

#endif
