/* A checkpoint: the tensors of a model as a framework saved them, in one file or several.
 *
 *     checkpoint.c       which files of a folder are a model's, and what an index says of them; which container
 *                        a file is; opening, closing, looking up
 *     safetensors.c      a file of safetensors, whose header pull.c reads
 *     torch.c            a file of PyTorch: a zip archive, or of before these
 *     torch_objects.c    what the objects in a pickle are; pickle.c reads it
 *     tensors.c          adding and finding tensors, and their types
 *
 * Nothing but names, shapes and places is read.  Data stay in the files: `offset` is where the first
 * element of a tensor is, and the engine moves or makes them from there. */
#ifndef IMPORT_CONTAINERS_CHECKPOINT_H
#define IMPORT_CONTAINERS_CHECKPOINT_H

#include "base/files/source.h"
#include "format/file/records.h"
#include "gufo/codec.h"
#include "import/json_file.h"
#include "import/model_folder.h"

/* ---- the element types of the frameworks ---------------------------------------------------- */

typedef enum number_kind {
    NUMBER_FLOAT,
    NUMBER_SIGNED,
    NUMBER_UNSIGNED,
    NUMBER_BOOL,
    NUMBER_OTHER, /* complex, or several in a byte */
} number_kind;

typedef struct number_type {
    const char *name;    /* of safetensors: "BF16" */
    const char *dtype;   /* of torch: "bfloat16" of torch.bfloat16; NULL: it has none */
    const char *storage; /* of torch: "BFloat16" of torch.BFloat16Storage; NULL: it has none */
    uint32_t bits;       /* of one element */
    number_kind kind;
    int32_t type; /* id of the GGUF element type with the same bytes; -1: it has none */
} number_type;

/* The number type that safetensors calls `name`; that torch calls torch.`dtype`, or whose class is
 * torch.`storage`Storage.  NULL: none is called so. */
const number_type *number_by_name(gufo_str name);
const number_type *number_by_dtype(gufo_str dtype);
const number_type *number_by_storage(gufo_str storage);

/* Row `index` of the table; NULL past the end. */
const number_type *number_at(size_t index);

/* The GGUF element type with the same bytes; NULL: it has none (BOOL, U8, F8_E4M3 ...). */
static inline const gufo_element_type *number_element_type(const number_type *number)
{
    return number->type < 0 ? NULL : gufo_element_type_by_id((uint32_t)number->type);
}

/* ---- a checkpoint ---------------------------------------------------------------------------- */

enum { CHECKPOINT_MAX_DIMS = 8 };

typedef struct checkpoint_tensor {
    gufo_str name;
    const number_type *number;
    uint32_t file;         /* of checkpoint.files */
    bool swapped;          /* numbers are big-endian */
    uint8_t n_dims;        /* 0: a scalar */
    bool is_product;       /* of two others, as adapters have them: no file has its numbers */
    const uint64_t *shape; /* CHECKPOINT_MAX_DIMS, slowest first; 1 beyond n_dims */
    const uint64_t
        *strides;    /* in elements; NULL: these follow each other in the order of the shape */
    uint64_t offset; /* of the first element, in the file */
    uint64_t elements;
    struct packed_weight *packed; /* makes the elements; NULL: the file has them */
} checkpoint_tensor;

/* The bytes of all elements, without what is between them. */
static inline uint64_t checkpoint_tensor_size(const checkpoint_tensor *t)
{
    return t->elements * t->number->bits / 8; /* tensor_shape has done it */
}

/* From one element to the next along each axis, in elements; 1 beyond n_dims. */
void checkpoint_tensor_strides(const checkpoint_tensor *t, uint64_t out[CHECKPOINT_MAX_DIMS]);

typedef struct checkpoint_file {
    char *path;
    source source;
    /* The bytes that say what is in it: those before the data, where they come first. */
    uint64_t head;
} checkpoint_file;

typedef enum checkpoint_layout {
    CHECKPOINT_HUGGINGFACE, /* model*.safetensors, pytorch_model*.bin, or a file that was named */
    CHECKPOINT_MISTRAL,     /* consolidated*.safetensors */
    CHECKPOINT_ADAPTER,     /* adapter_model*.safetensors or .bin, of PEFT */
} checkpoint_layout;

typedef struct checkpoint {
    const gufo_allocator *allocator;
    source_folder folder;  /* where the files are; what it needs is lent */
    const char *container; /* "safetensors", "PyTorch", "PyTorch (legacy)": of the first file */
    checkpoint_layout layout;
    checkpoint_file *files; /* in the order of their tensors */
    uint32_t file_count;
    checkpoint_tensor *tensors; /* of all files, file by file */
    uint64_t tensor_count;
    uint64_t skipped; /* entries that are not tensors: counters of steps and the like */
    uint64_t file_room, tensor_room;
    void **blocks; /* what tensors refer to: names, strides, */
    uint64_t block_count, block_room;
    shape_table shapes;
    name_index by_name;
    bool made_up; /* tensors have names and shapes, but no numbers */
} checkpoint;

/* Opens the checkpoint in a folder, or that of one file in it: of safetensors, of PyTorch, or an index
 * (model.safetensors.index.json), which means the files that it lists.  A file of tensors that is named
 * is that file alone, also where it is one of several.  `bounds`: of its files; NULL: the default.
 * Closed with checkpoint_close, also after a failure.  Errors name the file.
 *   GUFO_E_NOT_FOUND  a folder without files of tensors
 *   GUFO_E_SHARDS     a file that the index lists is missing, or the index and the files disagree
 *   GUFO_E_TYPE       a file of a kind that is not read: TorchScript, the tar files of old
 *   GUFO_E_TRUNCATED, GUFO_E_MALFORMED, GUFO_E_RANGE, GUFO_E_LIMIT, GUFO_E_IO, GUFO_E_MEMORY */
gufo_status checkpoint_open(checkpoint *c, const model_place *place, import_bounds *bounds,
                            const gufo_allocator *allocator, gufo_error *error);
void checkpoint_close(checkpoint *c);

/* Opens a file of a checkpoint that someone else reads: its number is c->file_count - 1.  The allocator of
 * the checkpoint, which is empty otherwise, is set. */
gufo_status checkpoint_add_file(checkpoint *c, const char *path, gufo_error *error);

/* The tensor with this name; NULL: none has it.  Constant time. */
const checkpoint_tensor *checkpoint_find(const checkpoint *c, gufo_str name);

/* What a file is by its first bytes, or a folder by the names of its files: "safetensors",
 * "PyTorch", "PyTorch (legacy)", "Hugging Face model", "Mistral model", "PEFT adapter"; NULL: none of
 * these.  Says nothing about whether it can be read. */
const char *checkpoint_recognise(const model_place *place);

/* ==== tensors.c: adding tensors, and numbers of theirs that no element type of GGUF has ========== */

enum { CHECKPOINT_MAX_TENSORS = 1 << 26 };

/* Memory for names and strides, zeroed, which lives as long as the checkpoint; NULL without any. */
void *checkpoint_memory(checkpoint *c, uint64_t size);

/* Adds a tensor that tensor_shape has been called for, behind those that are there.  Its shape is kept. */
gufo_status checkpoint_add(checkpoint *c, const checkpoint_tensor *tensor, gufo_error *error);

/* Frees the tensors with their names; the files are for others to close. */
void checkpoint_free_tensors(checkpoint *c);

/* Makes all tensors known by their names, which differ. */
gufo_status checkpoint_index_names(checkpoint *c, gufo_error *error);

/* Completes a tensor whose number and n_dims are set, and whose elements follow each other.  `shape` gets
 * 1 beyond n_dims and is the tensor's until checkpoint_keep_shape; `at` is where it is in the file, for
 * errors. */
gufo_status tensor_shape(checkpoint_tensor *tensor, uint64_t shape[CHECKPOINT_MAX_DIMS],
                         uint64_t at, gufo_error *error);
/* Keeps the shape of a tensor, which none has yet or which is somewhere else, as long as the checkpoint. */
gufo_status checkpoint_keep_shape(checkpoint *c, checkpoint_tensor *tensor, gufo_error *error);
/* Gives a tensor strides of its own: a copy, which lives as long as the checkpoint. */
gufo_status checkpoint_set_strides(checkpoint *c, checkpoint_tensor *tensor,
                                   const uint64_t *strides, gufo_error *error);

/* Fails about a tensor of the checkpoint: its file and the offset of its data. */
__attribute__((format(printf, 5, 6))) gufo_status checkpoint_refuse(const checkpoint *c,
                                                                    const checkpoint_tensor *t,
                                                                    gufo_status code,
                                                                    gufo_error *error,
                                                                    const char *format, ...);
/* Says about which tensor a failure is: puts its name in front of the sentence. */
gufo_status checkpoint_fail(const checkpoint *c, const checkpoint_tensor *t, gufo_status status,
                            gufo_error *error);

struct unpacker; /* produce/produce.h */

/* NULL: such numbers are not converted. */
const struct unpacker *unpack_find(const number_type *number);

/* Whether numbers of this type are converted: by the engine, or by an unpacker. */
static inline bool number_is_read(const number_type *number)
{
    return number_element_type(number) != NULL || unpack_find(number) != NULL;
}

/* Numbers of any type that is converted, as a file has them, to floats.  Their bytes may change. */
gufo_status unpack_floats(const number_type *number, bool swapped, uint8_t *bytes, uint64_t count,
                          float *out, gufo_error *error);

/* ==== the readers of containers, which checkpoint.c has in a table =============================== */

/* Files of PyTorch that are zip archives, since version 1.6.  Adds the tensors of a file of the checkpoint, in their order. */
gufo_status torch_zip_read(checkpoint *c, uint32_t file, gufo_error *error);
bool torch_zip_recognise(const uint8_t *bytes, size_t size);
/* Whether an archive, as far as its directory can be read, has what torch_zip_read needs. */
bool torch_zip_may_read(const source *s);

/* Before, pickles with data behind them. */
gufo_status torch_legacy_read(checkpoint *c, uint32_t file, gufo_error *error);
bool torch_legacy_recognise(const uint8_t *bytes, size_t size);

/* Adds the tensors of file number `file` of the checkpoint, which is open, sorted by their names. */
gufo_status safetensors_read(checkpoint *c, uint32_t file, gufo_error *error);

/* The container of a file that begins with these bytes, if it may be safetensors. */
bool safetensors_recognise(const uint8_t *bytes, size_t size);

#endif
