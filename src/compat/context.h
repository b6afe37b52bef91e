/* A gguf_context, as the room sees it.
 *
 * The documented C API returns C strings and plain arrays, and lets a program change what it read.
 * So, other than in the rest of the library, everything is copied into memory here:
 *
 *     context.c   made empty, and freed
 *     source.c    where the bytes come from: a path, a FILE, memory, a callback
 *     read.c      an open gufo_model to a context, by ggml's rules or the specification's
 *     load.c      its tensors for the caller, with their data
 *     entries.c   the list of metadata entries
 *     nested.c    arrays inside arrays
 *     get.c       looking into it
 *     set.c       changing it
 *     tensors.c   the list of tensors
 *     write.c     a context to bytes, a FILE, a path
 *
 * The ggml functions that these need are ggml's own in the drop-in build, with dropin.cpp for what
 * only C++ can say; in the standalone build ggml_*.c has them.
 *
 * ABORT AND MEMORY.  Wrong use aborts, as the API documents: with GGML_ASSERT and GGML_ABORT.
 * Functions that cannot report lack of memory leave the context as it was and set `incomplete`:
 * writing it fails then. */
#ifndef GUFO_COMPAT_CONTEXT_H
#define GUFO_COMPAT_CONTEXT_H

#include "compat/builds.h"

#include "base/bytes.h"
#include "format/document/named_list.h"
#include "gufo/format.h"

typedef struct entry {
    named named;         /* the key: terminated, and without NUL bytes before */
    enum gguf_type type; /* of the value, or of an array's elements */
    bool is_array;
    size_t count; /* elements; 1 if it is not an array */
    /* One block of memory.  Numbers and bools: the values.  Strings: `count` gufo_str, then their
     * texts, each terminated.  Arrays: nested.c. */
    void *values;
} entry;

/* The types of numbers: as functions are called, in C, and in files. */
#define COMPAT_NUMBERS(ROW)              \
    ROW(u8, uint8_t, GGUF_TYPE_UINT8)    \
    ROW(i8, int8_t, GGUF_TYPE_INT8)      \
    ROW(u16, uint16_t, GGUF_TYPE_UINT16) \
    ROW(i16, int16_t, GGUF_TYPE_INT16)   \
    ROW(u32, uint32_t, GGUF_TYPE_UINT32) \
    ROW(i32, int32_t, GGUF_TYPE_INT32)   \
    ROW(f32, float, GGUF_TYPE_FLOAT32)   \
    ROW(u64, uint64_t, GGUF_TYPE_UINT64) \
    ROW(i64, int64_t, GGUF_TYPE_INT64)   \
    ROW(f64, double, GGUF_TYPE_FLOAT64)

typedef struct tensor_info {
    named named; /* views the tensor's name; owned if that is cut */
    struct ggml_tensor tensor;
    uint64_t offset; /* from the data offset */
    bool no_layout;  /* ggml has none for its type: nothing of ggml may be asked about it */
    uint64_t size;   /* bytes, if so */
} tensor_info;

struct gguf_context {
    uint32_t version;
    size_t alignment; /* what the entry general.alignment says: offsets go by it */
    size_t data_offset;

    named_list entries; /* of entry */
    named_list tensors; /* of tensor_info: none is removed, so pointers into it stay valid */

    bool scattered;  /* offsets are those of a file that need not be packed */
    bool incomplete; /* something was left out for lack of memory */
};

/* ---- entries -------------------------------------------------------------------------------- */

/* A new entry with room for `count` elements of `type`, and for `more` bytes: the text of strings,
 * all of arrays, else 0.  False without memory, or if the sizes do not fit. */
bool compat_entry_new(entry *e, gufo_str key, enum gguf_type type, bool is_array, size_t count,
                      uint64_t more);
void compat_entry_free(entry *e);
/* Frees the values of one that is removed: a named_drop. */
void compat_entry_drop(void *unused, void *e);
/* Gives an entry of strings its text `index`; all come in order. */
void compat_entry_add_text(entry *e, size_t index, gufo_str text);
/* Bytes of the values of an entry of numbers or bools. */
size_t compat_entry_size(const entry *e);

/* A bool in a file may be any byte. */
static inline void compat_make_bools(void *values, size_t count)
{
    uint8_t *bytes = values;

    for (size_t i = 0; i < count; i++)
        bytes[i] = bytes[i] != 0;
}

/* Appends an entry, in place of one with the same key, and takes it over.  False without memory:
 * nothing is changed, and the entry freed. */
bool compat_entries_put(struct gguf_context *ctx, entry *e);
/* Copies of all entries of `other` to the end, where they replace those with the same keys; false
 * without memory, and nothing is changed then. */
bool compat_entries_take_all(struct gguf_context *ctx, const struct gguf_context *other);

/* The entry with that id; aborts if none exists. */
const entry *compat_entry_at(const struct gguf_context *ctx, int64_t id);

/* ---- arrays inside arrays ------------------------------------------------------------------- */

/* What the values of an entry of arrays take. */
typedef struct compat_extent {
    uint64_t arrays; /* at all depths */
    uint64_t bytes;
} compat_extent;

gufo_status compat_nested_measure(const gufo_array *from, compat_extent *out, gufo_error *error);
/* Fills `values`, which have that extent.  GUFO_E_CHANGED if the array has another by now. */
gufo_status compat_nested_read(const gufo_array *from, compat_extent extent, void *values,
                               gufo_error *error);
/* The bytes of such values, and a copy that refers to nothing in them. */
size_t compat_nested_size(const void *values);
void compat_nested_copy(void *to, const void *values);
/* The entry's own arrays. */
const struct gufo_gguf_array *compat_nested_arrays(const void *values);

/* ---- tensors -------------------------------------------------------------------------------- */

static inline tensor_info *compat_tensor(const struct gguf_context *ctx, uint64_t index)
{
    return (tensor_info *)named_list_slot(&ctx->tensors, index);
}

/* Appends a copy of a tensor under a new name; the ggml_tensor may hold only its beginning.  False without
 * memory. */
bool compat_tensors_add(struct gguf_context *ctx, gufo_str name, const tensor_info *info);
/* Bytes of its data. */
uint64_t compat_tensor_size(const tensor_info *info);
/* Where the tensor goes that follows one at `offset`. */
uint64_t compat_offset_behind(const struct gguf_context *ctx, const tensor_info *info,
                              uint64_t offset);

/* Lays the tensors out by general.alignment as it is now. */
void compat_lay_out(struct gguf_context *ctx);

/* Sets the strides of a contiguous tensor. */
void compat_set_strides(struct ggml_tensor *tensor);

/* ---- reading and reporting ------------------------------------------------------------------ */

/* What ggml's reader accepts. */
#define COMPAT_OPEN_FLAGS \
    (GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_AS_GGML | GUFO_OPEN_NO_MAP | GUFO_OPEN_INCOMPLETE)

typedef enum compat_rules {
    COMPAT_AS_GGML,
    COMPAT_AS_SPECIFIED, /* that, and all that the specification allows; `start` is 0 */
} compat_rules;

/* An open file that becomes a context. */
typedef struct compat_reader {
    const gufo_model *file;
    compat_rules rules;
    uint64_t start; /* of the file, in its container */
    gufo_facts facts;
    struct gguf_context *ctx;
    uint64_t data_size; /* by ggml's rules with the padding behind the last tensor */
    gufo_error *error;
} compat_reader;

/* Makes a context of an open file that begins at byte `start` of its container, and what `params`
 * asks for; *end receives where reading ended, counted from there.  NULL on failure. */
struct gguf_context *compat_read(const gufo_model *file, compat_rules rules, uint64_t start,
                                 struct gguf_init_params params, uint64_t *end, gufo_error *error);

/* Gives *params.ctx a ggml_context with the tensors of r->ctx.  False on failure. */
bool compat_load(const compat_reader *r, struct gguf_init_params params);
/* Whether numbers of the file are in the other byte order than this machine's. */
static inline bool compat_swapped(const compat_reader *r)
{
    return bytes_swapped(r->facts.byte_order == GUFO_BIG_ENDIAN);
}

/* Whether the reader would accept a file that begins with these bytes and `padding` zeros. */
bool compat_check(const void *meta, size_t size, size_t padding, gufo_error *error);

/* Tells the log why something failed.  `path` may be NULL. */
void compat_report(const char *path, const gufo_error *error);

#endif
