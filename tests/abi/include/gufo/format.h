/* What a GGUF file is: opening, looking up and checking.
 *
 *     gufo_model *model = gufo_model_open("model.gguf", NULL, &error);
 *     ...
 *     gufo_model_get_u64(model, "{arch}.block_count", &layers, &error);
 *     for (uint64_t i = 0; gufo_model_tensor_at(model, i, &tensor); i++)
 *         gufo_tensor_decode(model, &tensor, 0, tensor.elements / tensor.dims[0], values, NULL, &error);
 *     gufo_model_free(model);
 *
 * "Spec" below is the GGUF specification, version 3 (docs/gguf.md of the ggml project); clauses are
 * cited by the struct or section that states them.
 *
 * Part 1  values       metadata values, typed access, arrays
 * Part 2  models       open, facts, metadata, tensors, rows
 * Part 3  made models  models that are not GGUF files
 * Part 4  rules        what a file may break, and the validator */
#ifndef GUFO_FORMAT_H
#define GUFO_FORMAT_H

#include "base.h"
#include "codec.h"
#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface ==================================================================== */

typedef struct gufo_open_options gufo_open_options;
typedef struct gufo_array gufo_array;

/* A model is what is opened for reading: one file, or the shards of a set.  The metadata of a model
 * is that of the first shard; its tensors are those of all shards, in shard order.
 * gufo_model_shard lends one shard, which is a model of one file. */
typedef struct gufo_model gufo_model;

/* Opens a model, reads header, metadata and tensor infos of each file once, checks them (part 4
 * lists the rules) and builds the index.  Files are mapped and read-only; strings and arrays stay
 * in them.  Memory: at most 200 bytes per metadata entry and tensor, allocated as they are seen.
 * Where mapping is impossible (a pipe, a device), metadata is kept in memory, up to max_unmapped
 * bytes, and a pipe is read to its end: from one without an end, or one that sends nothing, the call
 * returns only if progress stops it, which is asked when bytes come, and else ten times a second.
 * Changing a file while it is open is noticed as GUFO_E_CHANGED or as wrong content; truncating it
 * raises SIGBUS in any thread that touches the lost bytes (see GUFO_OPEN_NO_MAP).
 *
 * A path with the name of the first of several shards means all of them, which must belong
 * together: numbering and count (split.no, split.count), total (split.tensors.count), version, byte
 * order, alignment, no tensor twice.  GUFO_E_SHARDS if one is missing or they do not.  A single
 * file that is a shard of several (it has the name of a later shard, or its split.count is above 1)
 * is GUFO_E_SHARDS too, whatever the source, unless GUFO_OPEN_INCOMPLETE asks for only this file.
 *
 * `options` may be NULL.  The result is freed with gufo_model_free; NULL on failure, and the error
 * names the file; GUFO_E_STOPPED if progress asked for it. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_model_open(const char *path,
                                                   const gufo_open_options *options,
                                                   gufo_error *error);
/* Releases everything; all views and lent shards die.  NULL is allowed. */
GUFO_API void gufo_model_free(gufo_model *model);

/* Spec, gguf_metadata_value_type.  The numbers are those in the file. */
typedef enum gufo_value_type {
    GUFO_VALUE_UINT8 = 0,
    GUFO_VALUE_INT8 = 1,
    GUFO_VALUE_UINT16 = 2,
    GUFO_VALUE_INT16 = 3,
    GUFO_VALUE_UINT32 = 4,
    GUFO_VALUE_INT32 = 5,
    GUFO_VALUE_FLOAT32 = 6,
    GUFO_VALUE_BOOL = 7,
    GUFO_VALUE_STRING = 8,
    GUFO_VALUE_ARRAY = 9,
    GUFO_VALUE_UINT64 = 10,
    GUFO_VALUE_INT64 = 11,
    GUFO_VALUE_FLOAT64 = 12,
} gufo_value_type;

/* The value of `key`, converted as gufo_value_* does.  In a key that begins with "{arch}.", the
 * value of general.architecture replaces "{arch}": "{arch}.block_count" is "llama.block_count" in a
 * model of that architecture.  GUFO_E_NOT_FOUND if the key, or that architecture, is absent;
 * GUFO_E_MEMORY. */
GUFO_API gufo_status gufo_model_get_u64(const gufo_model *model, const char *key, uint64_t *out,
                                        gufo_error *error);
GUFO_API gufo_status gufo_model_get_i64(const gufo_model *model, const char *key, int64_t *out,
                                        gufo_error *error);
GUFO_API gufo_status gufo_model_get_f64(const gufo_model *model, const char *key, double *out,
                                        gufo_error *error);
GUFO_API gufo_status gufo_model_get_bool(const gufo_model *model, const char *key, bool *out,
                                         gufo_error *error);
GUFO_API gufo_status gufo_model_get_str(const gufo_model *model, const char *key, gufo_str *out,
                                        gufo_error *error);
GUFO_API gufo_status gufo_model_get_array(const gufo_model *model, const char *key,
                                          gufo_value_type elements, gufo_array *out,
                                          gufo_error *error);

#define GUFO_MAX_DIMS 4 /* dimensions of a tensor (spec, gguf_tensor_info_t) */

/* One tensor.  Spec, gguf_tensor_info_t. */
typedef struct gufo_tensor {
    gufo_str name;
    uint32_t type;                /* id; gufo_element_type_by_id may not know it */
    uint32_t n_dims;              /* 0 (a scalar) to 4 */
    uint64_t dims[GUFO_MAX_DIMS]; /* in the file's order: dims[0] is the row; 1 beyond n_dims */
    uint64_t elements;            /* product of dims; 0 if a lenient open found invalid dims
                                   * (of more than four, the first four are shown) */
    uint64_t offset;      /* of the data, from the start of its shard's file; GUFO_NO_OFFSET if a
                                   * lenient open could not determine it, or the model is made */
    uint64_t size;        /* bytes of data */
    uint64_t available;   /* bytes that are there: less than size in a truncated file */
    uint64_t info_offset; /* of the tensor info in that file; GUFO_NO_OFFSET if it is made */
    uint32_t shard;       /* the index of the shard, in the model that was asked */
    bool size_known;      /* false: the type's layout is unknown, and size reaches to the next
                                   * offset of a tensor with bytes, or to the end of the file */
    bool complete;        /* all bytes are present; always after a strict open */
    bool overlaps;        /* begins inside the data of another tensor: never after a strict open */
    uint64_t reserved[4];
} gufo_tensor;

/* The number of tensors; tensor `index` in file order, shard after shard (false past the end); the
 * tensor with this name, or its index (false if none exists), found in constant time.  `out` may be NULL.
 * Any thread. */
GUFO_API uint64_t gufo_model_tensor_count(const gufo_model *model);
GUFO_API bool gufo_model_tensor_at(const gufo_model *model, uint64_t index, gufo_tensor *out);
GUFO_API bool gufo_model_tensor_find(const gufo_model *model, const char *name, gufo_tensor *out);
GUFO_API bool gufo_model_tensor_find_str(const gufo_model *model, gufo_str name, gufo_tensor *out);
GUFO_API bool gufo_model_tensor_index(const gufo_model *model, gufo_str name, uint64_t *index);

/* Decodes rows [first_row, first_row + rows) of a tensor of this model, which has elements / dims[0]
 * of them, into rows * dims[0] numbers at `out`, whatever the type, the byte order and the source of
 * the model, in pieces of bounded memory.  Any of these rows can also be read from the removed types
 * whose blocks hold parts of several rows.  Of `run`, threads, cpu, allocator and progress (bytes of data) count; NULL: {0}, but one thread where the file is a
 * gufo_source.  Any thread.
 *   GUFO_E_RANGE     rows past the end
 *   GUFO_E_TYPE      the type is not known, or has no decoder
 *   GUFO_E_ARGUMENT  rows do not fill blocks or groups; a pipe, whose data is gone; a cpu that is not
 *                    available
 *   GUFO_E_STOPPED   progress asked for it
 *   GUFO_E_IO, GUFO_E_TRUNCATED, GUFO_E_MEMORY */
GUFO_API gufo_status gufo_tensor_decode(const gufo_model *model, const gufo_tensor *tensor,
                                        uint64_t first_row, uint64_t rows, float *out,
                                        const gufo_run *run, gufo_error *error);

/* ==== Limits ================================================================================== */

#define GUFO_MAX_DEPTH 16             /* arrays inside arrays: an array of numbers has depth 1 */
#define GUFO_LARGEST_DEPTH 1024       /* the largest gufo_open_options.max_depth */
#define GUFO_MAX_KEY 65535            /* bytes of a key (spec, gguf_metadata_kv_t) */
#define GUFO_MAX_NAME 64              /* bytes of a tensor name (spec, gguf_tensor_info_t) */
#define GUFO_MAX_ALIGNMENT (1u << 24) /* bytes; for writing: larger ones can be read */
#define GUFO_QUANTIZATION_VERSION 2u  /* the current general.quantization_version */
#define GUFO_DEFAULT_ALIGNMENT 32u    /* where general.alignment is absent (spec, General) */
#define GUFO_MAX_COUNT 0x7fffffffu    /* metadata entries, and tensors, of one file */
#define GUFO_MAX_TEXTS (1u << 26)     /* strings, and arrays, that the arrays of one file hold */
/* Bytes of header, metadata and infos that are kept in memory where mapping is impossible. */
#define GUFO_MAX_UNMAPPED (256u << 20)

/* ==== Part 1: values ========================================================================= */

#define GUFO_VALUE_TYPE_COUNT 13

/* "uint8" ... "float64", "bool", "string", "array"; NULL for a number that is not a type. */
GUFO_API const char *gufo_value_type_name(gufo_value_type type);
/* Bytes of one value in a file and of its C type; 0 for strings and arrays. */
GUFO_API size_t gufo_value_type_size(gufo_value_type type);

typedef enum gufo_byte_order {
    GUFO_LITTLE_ENDIAN = 0,
    GUFO_BIG_ENDIAN = 1,
} gufo_byte_order;

/* How the bytes of a file encode numbers and lengths. */
typedef struct gufo_encoding {
    uint8_t version;    /* 1, 2 or 3; version 1 has lengths of 32 bits */
    uint8_t byte_order; /* of gufo_byte_order */
} gufo_encoding;

/* A view of an array as the file stores it.  Use the functions below to look inside. */
typedef struct gufo_array {
    gufo_value_type type; /* of the elements */
    uint64_t count;       /* elements */
    const uint8_t *data;  /* the first element's bytes */
    uint64_t size;        /* bytes of all elements */
    gufo_encoding encoding;
} gufo_array;

/* A value.  Numbers are widened: all unsigned integers are in `u`, signed ones in `i`, both float
 * types in `f` (a float32 is exact there). */
typedef struct gufo_value {
    gufo_value_type type;
    union {
        uint64_t u;
        int64_t i;
        double f;
        bool b;
        gufo_str str;
        gufo_array array;
    } as;
} gufo_value;

/* Conversions that lose nothing: unsigned from any integer type that holds the number, signed
 * likewise, double from both float types.  GUFO_E_TYPE for another type, GUFO_E_RANGE where the
 * number does not fit; *out is then unchanged.  Any thread. */
GUFO_API gufo_status gufo_value_u64(const gufo_value *value, uint64_t *out, gufo_error *error);
GUFO_API gufo_status gufo_value_i64(const gufo_value *value, int64_t *out, gufo_error *error);
GUFO_API gufo_status gufo_value_f64(const gufo_value *value, double *out, gufo_error *error);
GUFO_API gufo_status gufo_value_bool(const gufo_value *value, bool *out, gufo_error *error);
GUFO_API gufo_status gufo_value_str(const gufo_value *value, gufo_str *out, gufo_error *error);
/* The array, if its elements have type `elements`. */
GUFO_API gufo_status gufo_value_array(const gufo_value *value, gufo_value_type elements,
                                      gufo_array *out, gufo_error *error);

/* Walks an array from front to back, in time linear in its bytes whatever the element type. */
typedef struct gufo_array_iter {
    gufo_array array;
    uint64_t index;    /* of the next element */
    uint64_t position; /* of the next element's bytes in array.data */
    bool changed;      /* set when the bytes no longer make sense: the file was changed meanwhile */
    uint64_t reserved[2];
} gufo_array_iter;

/* A walk that begins at the first element.  Nothing to free; one thread at a time for one walk. */
GUFO_API gufo_array_iter gufo_array_start(const gufo_array *array);
/* The next element into *out; false at the end, or (`iter->changed`) where bounds no longer hold.
 * Never reads outside the array, even if the file is overwritten meanwhile. */
GUFO_API bool gufo_array_next(gufo_array_iter *iter, gufo_value *out);

/* Element `index`.  Constant time for numbers and bools, linear for strings and arrays.
 * GUFO_E_RANGE past the end, GUFO_E_CHANGED as above, GUFO_E_TYPE for an element type that does not
 * exist; *out may then be overwritten. */
GUFO_API gufo_status gufo_array_at(const gufo_array *array, uint64_t index, gufo_value *out,
                                   gufo_error *error);

/* Copies elements [first, first + count) of an array of numbers or bools to `out`, in the byte
 * order of this machine and in the C type of the element type (uint8_t for bool).  GUFO_E_TYPE for
 * strings and arrays, GUFO_E_RANGE past the end: of the elements, or of their bytes. */
GUFO_API gufo_status gufo_array_read(const gufo_array *array, uint64_t first, uint64_t count,
                                     void *out, gufo_error *error);

/* The strings [first, first + count) of an array of strings into `out`: views of it, in one pass over the
 * array up to the last of them.  GUFO_E_TYPE for other elements, GUFO_E_RANGE past the end,
 * GUFO_E_CHANGED as above; *out may then be overwritten. */
GUFO_API gufo_status gufo_array_strings(const gufo_array *array, uint64_t first, uint64_t count,
                                        gufo_str *out, gufo_error *error);

/* Elements for an array: `count` values of `type` at `items`, which is an array of the C type
 * (uint8_t ... double, bool), of gufo_str for strings, of gufo_items for arrays. */
typedef struct gufo_items {
    gufo_value_type type;
    uint64_t count;
    const void *items;
} gufo_items;

/* ==== Part 2: models ========================================================================= */

struct gufo_finding;

typedef enum gufo_open_flags {
    /* Open a damaged file as far as it can be read.  Reading goes on after a fault as long as the
     * position of the next field is certain; gufo_model_damage gives the first fault.  Tensors then
     * say how many of their bytes are there.  Checks between shards stay strict. */
    GUFO_OPEN_LENIENT = 1,
    /* Read metadata into memory instead of mapping the file: slower, but a file that is truncated
     * while it is open cannot raise SIGBUS. */
    GUFO_OPEN_NO_MAP = 2,
    /* Do not check whether tensor data is present: extents are compared neither with the end of the
     * file nor with each other, and gufo_facts.data_size is 0.  For files that hold metadata only,
     * and for programs that check extents themselves: without that, a tensor may claim bytes that
     * belong to another tensor or to none.  gufo_tensor.available and .complete still say so. */
    GUFO_OPEN_METADATA_ONLY = 4,
    /* Accept what ggml's reader accepts although the specification forbids it: keys of any bytes
     * and any length (G203, G204), and a bool other than 0 and 1 (G209).  Keys may then hold NUL
     * bytes: compare them as gufo_str. */
    GUFO_OPEN_AS_GGML = 8,
    /* Read no byte beyond those that are needed, for a gufo_source whose `size` is only an upper
     * bound; many small reads instead of a few large ones.  With GUFO_OPEN_METADATA_ONLY a pipe is not
     * read to its end either: it counts as one that ends near the header. */
    GUFO_OPEN_NO_READ_AHEAD = 16,
    /* Open only this file, even if it is a shard of several. */
    GUFO_OPEN_INCOMPLETE = 32,
} gufo_open_flags;

typedef struct gufo_open_options {
    uint32_t flags;                  /* of gufo_open_flags */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t max_metadata;           /* entries; 0: GUFO_MAX_COUNT */
    uint64_t max_tensors;            /* 0: GUFO_MAX_COUNT */
    uint64_t max_unmapped;           /* bytes; 0: GUFO_MAX_UNMAPPED */
    /* With GUFO_OPEN_LENIENT: called for every fault that open looks for, not only the first. */
    void (*on_finding)(void *context, const struct gufo_finding *finding);
    void *finding_context;
    const char *name;   /* what errors call a descriptor, memory or a source; NULL: nothing */
    uint64_t max_depth; /* of arrays, up to GUFO_LARGEST_DEPTH; 0: GUFO_MAX_DEPTH.  A program that
                         * opens deeper ones must not walk them by recursion */
    /* Strings, and arrays, that the arrays of a file hold, which open visits one by one: empty ones
     * in a hole of a sparse file take no space on disk.  0: GUFO_MAX_TEXTS */
    uint64_t max_texts;
    /* The files of a set are opened on its threads, which then share the allocator.  Its progress counts
     * the bytes of headers, metadata and infos, and all of a pipe; the total is not known, and 0.
     * NULL: {0}, but one thread where there is an allocator, a source or on_finding.  For the time of
     * the call. */
    const gufo_run *run;
    uint64_t reserved[4]; /* zeros; GUFO_E_ARGUMENT for anything else */
} gufo_open_options;

/* As gufo_model_open, from a file descriptor, which the caller keeps and may close right after. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_model_open_fd(int fd, const gufo_open_options *options,
                                                      gufo_error *error);
/* As gufo_model_open, from memory, which must outlive the model and must not change. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_model_open_memory(const void *data, size_t size,
                                                          const gufo_open_options *options,
                                                          gufo_error *error);
/* As gufo_model_open, from a source; the struct is copied, its context must outlive the model.  Its `close` is
 * called by gufo_model_free, and on failure before returning. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_model_open_source(const gufo_source *source,
                                                          const gufo_open_options *options,
                                                          gufo_error *error);

typedef enum gufo_input_kind {
    GUFO_INPUT_PATH = 0,
    GUFO_INPUT_FD = 1,
    GUFO_INPUT_MEMORY = 2,
    GUFO_INPUT_SOURCE = 3,
} gufo_input_kind;

/* One file from any kind of source.  Only the fields of its kind matter. */
typedef struct gufo_input {
    gufo_input_kind kind;
    int fd;
    const char *path;
    const void *data; /* memory, of */
    size_t size;      /* bytes */
    const gufo_source *source;
    const char *name; /* for errors, of an input that is not a path; NULL: that of the options */
    uint64_t reserved[4]; /* zeros */
} gufo_input;

/* An input of each kind.  Nothing is opened; what they point to must live until it is. */
GUFO_API gufo_input gufo_input_path(const char *path);
GUFO_API gufo_input gufo_input_fd(int fd);
GUFO_API gufo_input gufo_input_memory(const void *data, size_t size);
GUFO_API gufo_input gufo_input_source(const gufo_source *source);

/* Opens the files of a list, which are all shards of one model in their order; each path is just
 * that file.  A list of one is a model of one file.  Ownership is that of the functions above:
 * `close` of every source in the list is called once, also on failure.  GUFO_E_ARGUMENT for an
 * empty list, or more than GUFO_MAX_SHARDS. */
#define GUFO_MAX_SHARDS 65535
GUFO_MUST_USE GUFO_API gufo_model *gufo_model_open_shards(const gufo_input *inputs, size_t count,
                                                          const gufo_open_options *options,
                                                          gufo_error *error);

/* Makes one model of `count` open ones, each of one file, which are its shards in their order: what
 * gufo_model_open_shards does with files.  Each was opened with GUFO_OPEN_INCOMPLETE.  On success they
 * belong to the result, which lends them (gufo_model_shard); views of them stay valid, and its allocator
 * is that of the first.  On failure they stay the caller's.  GUFO_E_ARGUMENT for a model of several
 * files, a made one, or one that is given twice; GUFO_E_SHARDS, GUFO_E_MEMORY. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_model_join(gufo_model *const *models, size_t count,
                                                   gufo_error *error);

/* ---- shards --------------------------------------------------------------------------------- */

/* The number of files: 1 for an ordinary one. */
GUFO_API size_t gufo_model_shard_count(const gufo_model *model);
/* Lends shard `index`, from 0, as a model of one file; NULL past the end.  It lives as long as
 * `model`, and is never closed.  A model of one shard lends itself.  Any thread. */
GUFO_API const gufo_model *gufo_model_shard(const gufo_model *model, size_t index);
/* Where the bytes of a shard are, for mlock, madvise, or to register them with a device. */
typedef struct gufo_mapping {
    const void *data; /* all bytes of the file; NULL: they are not in memory as a whole */
    uint64_t size;    /* bytes of the file; 0 if it is made */
    bool is_mapped; /* the library has mapped them, read-only; false: memory that the caller gave */
    int fd;         /* of the file, which belongs to the model; -1: none, or a pipe */
    const char *path; /* as it was spelt, or its name; NULL: none */
    uint64_t reserved[4];
} gufo_mapping;

/* Tells where shard `shard` is, as long as the model lives; false past the end.  Any thread. */
GUFO_API bool gufo_model_mapping(const gufo_model *model, size_t shard, gufo_mapping *out);

/* The path of the first shard, as it was spelt, or the name from the input or the options; NULL if
 * it has none, and for NULL.  Lives as long as the model. */
GUFO_API const char *gufo_model_name(const gufo_model *model);

/* Splits "DIR/NAME-00002-of-00005.gguf" into the length of "DIR/NAME", the number (from 1) and the
 * count.  False if the path does not end that way, or the number is not in 1..count.  The
 * outputs may be NULL.  Any thread. */
GUFO_API bool gufo_shard_path_parse(const char *path, size_t *prefix_len, uint32_t *number,
                                    uint32_t *count);

/* The inverse: the path of shard `number` of `count` (both below 100000) whose path begins with the
 * first `prefix_len` bytes of `path`.  Writes at most `size` bytes with the terminator and returns
 * the bytes that are needed without it, like snprintf. */
GUFO_API size_t gufo_shard_path_format(char *out, size_t size, const char *path, size_t prefix_len,
                                       uint32_t number, uint32_t count);

/* ---- facts ---------------------------------------------------------------------------------- */

/* What a file says about itself.  Of several shards, version, byte order and alignment are the same
 * in all; sizes and the number of tensors are sums; the rest is about the first one. */
typedef struct gufo_facts {
    uint32_t version; /* 1, 2 or 3 */
    gufo_byte_order byte_order;
    uint32_t alignment; /* the default if a lenient open did not find it, or found nonsense */
    bool is_made;       /* part 3: there is no file; version 3, little-endian, and no positions */
    uint64_t size;      /* bytes that are there; 0 if it is made */
    /* Where the tensor infos end, before the padding; 0 if a lenient open did not reach it. */
    uint64_t infos_end;
    /* Where tensor data begins: the end of the tensor infos, aligned; 0 as above. */
    uint64_t data_offset;
    uint64_t data_size; /* from the data offset to the end of the last tensor; 0 without tensors */
    /* What the header announces; more than there are in a damaged file. */
    uint64_t claimed_metadata, claimed_tensors;
    uint64_t reserved[4];
} gufo_facts;

/* Any thread. */
GUFO_API gufo_facts gufo_model_facts(const gufo_model *model);
/* The first fault that a lenient open met, in the first shard that has one; NULL if none exists.
 * Lives as long as the model. */
GUFO_API const gufo_error *gufo_model_damage(const gufo_model *model);
/* Whether tensor data can be reached: false if a shard is a pipe. */
GUFO_API bool gufo_model_has_data(const gufo_model *model);
/* GUFO_E_CHANGED if a file has another size or time of change than when it was opened: what was
 * read since then may be a mix of both.  Memory, pipes and other sources are not checked. */
GUFO_API gufo_status gufo_model_unchanged(const gufo_model *model, gufo_error *error);
/* Reads any bytes of a model of one file.  Of a pipe, only what was kept of its metadata.
 * GUFO_E_RANGE outside the file, GUFO_E_ARGUMENT for a model of several shards or a made one. */
GUFO_API gufo_status gufo_model_read_raw(const gufo_model *model, uint64_t offset, void *buffer,
                                         size_t size, gufo_error *error);

/* ---- metadata ------------------------------------------------------------------------------- */

/* One key with its value.  Spec, gguf_metadata_kv_t. */
typedef struct gufo_entry {
    gufo_str key;
    gufo_value value;
    uint64_t offset;       /* of the entry in the file; these are GUFO_NO_OFFSET if it is made */
    uint64_t value_offset; /* of the value's first content byte: number, text, first element */
    uint64_t end;          /* the byte after the entry */
    uint64_t reserved[2];
} gufo_entry;

/* The number of entries; entry `index` in file order (false past the end); the entry with this key
 * (false if none exists; the first of several, which only a lenient open lets in), found in
 * constant time.  `out` may be NULL.  Views live as long as the model.  Any thread. */
GUFO_API uint64_t gufo_model_entry_count(const gufo_model *model);
GUFO_API bool gufo_model_entry_at(const gufo_model *model, uint64_t index, gufo_entry *out);
GUFO_API bool gufo_model_find(const gufo_model *model, const char *key, gufo_entry *out);
GUFO_API bool gufo_model_find_str(const gufo_model *model, gufo_str key, gufo_entry *out);

/* ---- tensors -------------------------------------------------------------------------------- */

/* The functions below take a tensor together with the model that it came from.  (A lent shard also
 * accepts its tensors as the lending model describes them.) */

/* Reads rows as blocks that gufo_decode takes: little-endian, whatever the byte order of the file.
 * `out` has room for rows * gufo_element_row_size bytes.  Where blocks hold parts of several rows,
 * first_row and rows must be multiples of their number.  Errors as
 * gufo_tensor_decode. */
GUFO_API gufo_status gufo_tensor_read_rows(const gufo_model *model, const gufo_tensor *tensor,
                                           uint64_t first_row, uint64_t rows, void *out,
                                           gufo_error *error);

/* The tensor's bytes as they are in the file, in its byte order, if the file is mapped or in memory
 * and all of them are there; else NULL. */
GUFO_API const void *gufo_tensor_raw(const gufo_model *model, const gufo_tensor *tensor);

/* Reads bytes [offset, offset + size) of the tensor's data into buffer, in the byte order of the
 * file, with pread where there is a file, so that an I/O error comes back as one.  GUFO_E_RANGE
 * outside the tensor, GUFO_E_TRUNCATED where the bytes are missing, GUFO_E_ARGUMENT for a pipe,
 * whose data is gone.  Of a made model it makes the rows that the bytes are in, a row in part too.
 * Any thread. */
GUFO_API gufo_status gufo_tensor_read_raw(const gufo_model *model, const gufo_tensor *tensor,
                                          uint64_t offset, void *buffer, size_t size,
                                          gufo_error *error);

/* ==== Part 3: made models ==================================================================== */

/* A program that has metadata and can make rows can provide a model: for example a file of another
 * format, seen as the GGUF file that it would become.  Such a model has no place in a file: offsets
 * are GUFO_NO_OFFSET, gufo_tensor_raw gives NULL, and every function about the bytes of a file
 * fails with GUFO_E_ARGUMENT: gufo_model_read_raw, gufo_model_check, and the planners of
 * edit.h but gufo_job_extract.  Everything else works: reading, rows, statistics, comparing, hashing, quantizing,
 * writing.  The files that a provider reads are not known: gufo_job_options.also_read keeps them
 * from being replaced. */
typedef struct gufo_provider {
    void *context;
    uint64_t entry_count, tensor_count;
    /* Entry `index`: key and value count, views must live as long as the model and be the same each
     * time: whoever uses one that is not gets GUFO_E_CHANGED.  False is a failure.  May be called
     * from several threads, as the other functions. */
    bool (*entry_at)(void *context, uint64_t index, gufo_entry *out);
    /* Tensor `index`: name, type, n_dims and dims count, as above.  The layout of the type must be
     * known, and the type must still be part of the format. */
    bool (*tensor_at)(void *context, uint64_t index, gufo_tensor *out);
    /* Makes rows [first_row, first_row + rows) of tensor `tensor`, which has them, as little-endian
     * blocks: rows * gufo_element_row_size bytes.  *error (never NULL) may say why it failed:
     * control characters in its message are escaped, and a status that does not exist becomes
     * GUFO_E_IO. */
    gufo_status (*read_rows)(void *context, uint64_t tensor, uint64_t first_row, uint64_t rows,
                             void *out, gufo_error *error);
    void (*close)(void *context); /* called once, by gufo_model_free; may be NULL */
    uint64_t reserved[4];         /* zeros */
} gufo_provider;

/* Opens what a provider describes; the struct is copied, its context must outlive the model.  Keys,
 * names and shapes are checked as those of a file.  Of `options`, allocator, limits and name count,
 * and GUFO_OPEN_INCOMPLETE.  `close` is called on failure, too.  Errors as gufo_model_open,
 * GUFO_E_ARGUMENT if the provider fails. */
GUFO_MUST_USE GUFO_API gufo_model *gufo_model_open_provider(const gufo_provider *provider,
                                                            const gufo_open_options *options,
                                                            gufo_error *error);

/* ==== Part 4: rules ========================================================================== */

/* Which function checks which rules, and what it reads:
 *
 *     gufo_validate          G, all but G8, of one file   header, metadata, infos, padding
 *     gufo_model_check       G, what open leaves, but G8  padding
 *     gufo_model_check_set   those about a set alone      nothing: what open has kept
 *     gufo_model_check_content  S and M (check.h)         keys, values, infos
 *     gufo_model_check_data  G8 (quant.h)                 all tensor data */

typedef enum gufo_severity {
    GUFO_INFO = 0,    /* legal, but some tools refuse it */
    GUFO_WARNING = 1, /* readable, but not as the specification requires */
    GUFO_ERROR = 2,   /* the file breaks the format */
} gufo_severity;

/* "info", "warning", "error"; "unknown" for any other number.  Static; any thread. */
GUFO_API const char *gufo_severity_name(gufo_severity severity);

/* How much gufo_model_check_content checks.  Each level includes those before it. */
typedef enum gufo_level {
    GUFO_LEVEL_DEFAULT = 0,   /* GUFO_LEVEL_MODEL */
    GUFO_LEVEL_STRUCTURE = 1, /* the format: what every reader needs */
    GUFO_LEVEL_STANDARD = 2,  /* what the standard says about keys and their values */
    GUFO_LEVEL_MODEL = 3,     /* whether the model is complete and consistent */
    GUFO_LEVEL_SPEC = 4,      /* what the specification requires, whatever readers accept */
} gufo_level;

/* "structure", "standard", "model" (also for GUFO_LEVEL_DEFAULT), "spec"; "unknown" for any other
 * number.  Static; any thread. */
GUFO_API const char *gufo_level_name(gufo_level level);
/* Stores the level with that name in *level; false if no level has it.  Any thread. */
GUFO_API bool gufo_level_by_name(const char *name, gufo_level *level);

/* One rule.  Ids never change their meaning.  They begin with G (the format: gufo_model_open,
 * gufo_validate), S or M (what a file means: gufo_model_check_content in check.h). */
typedef struct gufo_rule {
    const char *id;   /* "G205" */
    const char *name; /* "key-duplicate" */
    gufo_severity severity;
    gufo_severity spec_severity; /* at GUFO_LEVEL_SPEC: an error where the file breaks
                                    the words of the specification */
    gufo_level level;            /* the lowest one that checks the rule */
    bool fatal;                  /* gufo_model_open refuses a file that breaks it */
    gufo_status status;          /* the error code that gufo_model_open then gives */
    const char *clause;          /* where the format says so */
    const char *summary;         /* one sentence */
} gufo_rule;

/* Rule `index` of all of them, those of the format first (NULL past the end); the rule with this id
 * or name (NULL if none exists).  Static; any thread. */
GUFO_API const gufo_rule *gufo_rule_at(size_t index);
GUFO_API const gufo_rule *gufo_rule_by_id(const char *id_or_name);

typedef enum gufo_fix_kind {
    GUFO_FIX_NONE = 0,
    GUFO_FIX_REWRITE = 1, /* writing the file again fixes it: padding, gaps */
    GUFO_FIX_SET = 2,     /* key `key` gets `value` */
    GUFO_FIX_RENAME = 3,  /* key `key` becomes `value` (a string) */
    GUFO_FIX_SHORTEN =
        4,               /* the array `key` keeps its first `value` (an unsigned number) elements */
    GUFO_FIX_RETYPE = 5, /* the elements of the array `key` get the type of `value` */
    GUFO_FIX_REMOVE = 6, /* key `key` is removed */
    GUFO_FIX_SUPPLY = 7, /* key `key` gets a value of the type of `value`, which only a person who
                             knows the model can supply */
    GUFO_FIX_RENAME_TENSOR = 8, /* tensor `key` becomes `value` (a string) */
} gufo_fix_kind;

/* What of a fix counts beside its kind. */
typedef enum gufo_fix_part {
    GUFO_FIX_PART_NONE = 0,
    GUFO_FIX_PART_KEY = 1,
    GUFO_FIX_PART_VALUE = 2, /* and the key */
    GUFO_FIX_PART_TYPE = 3,  /* and the key: the type of the value */
} gufo_fix_part;

/* "set", "rename_tensor" ...: the name of a kind, as JSON has it; "unknown" for any other number.  Static; any
 * thread. */
GUFO_API const char *gufo_fix_name(gufo_fix_kind kind);
/* What counts of a fix of this kind; GUFO_FIX_PART_NONE for any other number.  Any thread. */
GUFO_API gufo_fix_part gufo_fix_part_of(gufo_fix_kind kind);

/* The fix of a finding, as data. */
typedef struct gufo_fix {
    gufo_fix_kind kind;
    bool certain; /* the one right answer; otherwise a proposal */
    gufo_str key;
    gufo_value value;
    uint64_t reserved[2];
} gufo_fix;

/* One place where a file breaks a rule.  Valid only during the callback. */
typedef struct gufo_finding {
    const gufo_rule *rule;
    uint64_t offset;     /* in the file, or GUFO_NO_OFFSET */
    gufo_str subject;    /* the key, the tensor name, "header" ...: raw bytes from the file */
    const char *message; /* one sentence; control characters escaped */
    const char *hint;    /* what the user can do about it, one clause; NULL if the fix says
                            all */
    gufo_fix fix;        /* GUFO_FIX_NONE if none is known */
    size_t shard;        /* index of the file in the model; 0 for a single file */
    uint64_t reserved[2];
} gufo_finding;

typedef void gufo_finding_fn(void *context, const gufo_finding *finding);

/* Checks the rules that open does not check (UTF-8, key characters, padding, gaps ...): of each
 * shard by itself, then those that only a set as a whole can break (a key that the first shard
 * lacks and the tensors of another one need).  Reads padding bytes, never tensor data.  Findings
 * come by shard, and in the order of metadata, tensor infos, data.  Fails only for I/O, memory, a
 * file that is truncated meanwhile, and with GUFO_E_ARGUMENT for a made model. */
GUFO_API gufo_status gufo_model_check(const gufo_model *model, gufo_finding_fn *found,
                                      void *context, gufo_error *error);

/* Only the rules about a set as a whole, for callers that have checked each shard by itself
 * (through gufo_model_shard).  Nothing is found in a model of one file. */
GUFO_API void gufo_model_check_set(const gufo_model *model, gufo_finding_fn *found, void *context);

/* Opens just this file, leniently, and reports every finding of every rule of the format (check.h
 * has the rules about what a file means).  A file so broken that nothing can be read (one that is
 * not GGUF at all) is a finding too.  GUFO_OPEN_LENIENT and GUFO_OPEN_INCOMPLETE are added to
 * `options->flags`, on_finding and its context are replaced; the rest is used; NULL is allowed.
 * Fails only for I/O, memory, and a file that is truncated meanwhile. */
GUFO_API gufo_status gufo_validate(const gufo_input *input, const gufo_open_options *options,
                                   gufo_finding_fn *found, void *context, gufo_error *error);

/* Recognises a file that is not a GGUF file by its first bytes: "an HTML page", "a Git LFS pointer"
 * ...; NULL if they are unknown.  4096 bytes are enough.  Static; any thread. */
GUFO_API const char *gufo_recognise(const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
