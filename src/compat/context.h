/* A gguf_context, as the room sees it.
 *
 * The documented C API returns C strings and plain arrays, and lets a program change what it read.
 * So, other than in the rest of the library, everything is copied into memory here:
 *
 *     source.c    where the bytes come from: a path, a FILE, memory, a callback
 *     read.c      an open gufo_model to a context, by ggml's rules; tensors for the caller
 *     entries.c   the list of metadata entries
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

#include "format/file/name_index.h"
#include "format/file/records.h"
#include "gufo/format.h"

typedef struct entry {
    char *key; /* terminated, and without NUL bytes before */
    size_t key_len;
    enum gguf_type type; /* of the value, or of an array's elements */
    bool is_array;
    size_t count; /* elements; 1 if it is not an array */
    /* One block of memory.  Numbers and bools: the values.  Strings: `count` gufo_str, then their
     * texts, each terminated. */
    void *values;
} entry;

typedef struct tensor_info {
    struct ggml_tensor tensor;
    uint64_t offset; /* from the data offset */
} tensor_info;

struct gguf_context {
    uint32_t version;
    size_t alignment; /* what the entry general.alignment says: offsets go by it */
    size_t data_offset;

    entry *entries;
    size_t entry_count, entry_room;
    name_index keys;        /* of entries; without slots after a removal */
    size_t added_unindexed; /* entries added since then */

    records tensors;  /* of tensor_info: pointers into it stay valid */
    name_index names; /* of tensors */

    bool incomplete; /* something was left out for lack of memory */
};

/* ---- entries -------------------------------------------------------------------------------- */

/* A new entry with room for `count` elements of `type`, and for `text` bytes of text if they are
 * strings.  False without memory, or if the sizes do not fit. */
bool compat_entry_new(entry *e, gufo_str key, enum gguf_type type, bool is_array, size_t count,
                      uint64_t text);
void compat_entry_free(entry *e);
/* Where the texts of an entry of strings begin; and puts text `index` to `at`, which is returned
 * moved behind it. */
char *compat_entry_text(const entry *e);
char *compat_entry_add_text(entry *e, size_t index, char *at, gufo_str text);
/* Bytes of the values of an entry that are not strings. */
size_t compat_entry_size(const entry *e);

/* Appends an entry, whose key is not there yet, and takes it over; false without memory. */
bool compat_entries_add(struct gguf_context *ctx, const entry *e);
/* The place of the entry with this key; -1 if there is none. */
int64_t compat_entries_find(const struct gguf_context *ctx, const char *key);
void compat_entries_remove(struct gguf_context *ctx, size_t index);
/* Copies of all entries of `other` to the end, where they replace those with the same keys; false
 * without memory, and nothing is changed then. */
bool compat_entries_take_all(struct gguf_context *ctx, const struct gguf_context *other);
void compat_entries_free(struct gguf_context *ctx);

/* The entry with that id; aborts if there is none. */
const entry *compat_entry_at(const struct gguf_context *ctx, int64_t id);

/* ---- tensors -------------------------------------------------------------------------------- */

static inline tensor_info *compat_tensor(const struct gguf_context *ctx, uint64_t index)
{
    return records_at(&ctx->tensors, index);
}

/* Appends a tensor, whose name is not there yet, at `offset`; false without memory. */
bool compat_tensors_add(struct gguf_context *ctx, const struct ggml_tensor *tensor,
                        uint64_t offset);

/* Lays the tensors out by general.alignment as it is now. */
void compat_lay_out(struct gguf_context *ctx);

/* Sets the strides of a contiguous tensor. */
void compat_set_strides(struct ggml_tensor *tensor);

/* ---- reading and reporting ------------------------------------------------------------------ */

/* What ggml's reader accepts. */
#define COMPAT_OPEN_FLAGS \
    (GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_AS_GGML | GUFO_OPEN_NO_MAP | GUFO_OPEN_INCOMPLETE)

/* Makes a context of an open file that begins at byte `start` of its container, and what `params`
 * asks for; *end receives where reading ended, counted from there.  NULL on failure. */
struct gguf_context *compat_read(const gufo_model *file, uint64_t start,
                                 struct gguf_init_params params, uint64_t *end, gufo_error *error);

/* Whether the reader would accept a file that begins with these bytes and `padding` zeros. */
bool compat_check(const void *meta, size_t size, size_t padding, gufo_error *error);

/* Tells the log why something failed.  `path` may be NULL. */
void compat_report(const char *path, const gufo_error *error);

#endif
