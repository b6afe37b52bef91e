/* The description of a file to be written.
 *
 * A document holds metadata entries and tensors, in order.  It does no I/O and never holds a GGUF
 * file in memory: what comes from a model stays a view into it, what the caller sets is kept as
 * given, and the header of the file is encoded once, on request.
 *
 *     make     gufo_document_new, or gufo_document_from an open model
 *     change   gufo_document_set_*, _copy_entries, _remove, _rename, _add_tensor, _retype ...
 *     layout   gufo_document_layout gives every tensor its place; gufo_document_header the bytes
 *
 * Changes and layouts may follow each other in any order.  A call that fails leaves the document
 * unchanged, unless its comment says otherwise.
 *
 * New content must follow the rules of the specification.  Content copied from a model must follow
 * the rules that opening checks, so that every file that opens can be written again.
 *
 * Keys and names are `const char *`; functions whose names end in _str take views of them, and are
 * else the same.
 *
 * One thread at a time; several threads may read a document that no thread changes (the functions
 * that take a const document read it).  "Spec" is the GGUF specification, as in format.h. */
#ifndef GUFO_DOCUMENT_H
#define GUFO_DOCUMENT_H

#include "format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_document gufo_document;
typedef struct gufo_document_options gufo_document_options;

/* An empty document, of version 3 and little-endian.  `options` may be NULL.  The result is freed
 * with gufo_document_free; NULL on failure: GUFO_E_MEMORY, GUFO_E_ARGUMENT for options that do not
 * exist. */
GUFO_MUST_USE GUFO_API gufo_document *gufo_document_new(const gufo_document_options *options,
                                                        gufo_error *error);
/* A document with all entries and tensors of a model, its byte order, and its version (3 for a
 * model of version 1).  gufo.padding is left out: layouts add it.  The model must outlive the
 * document.  It also fails as gufo_document_copy_entries and _copy_tensors do, and with
 * GUFO_E_MALFORMED for a key that occurs twice, which only a lenient open accepts. */
GUFO_MUST_USE GUFO_API gufo_document *gufo_document_from(const gufo_model *model,
                                                         const gufo_document_options *options,
                                                         gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_document_free(gufo_document *document);
/* Gives a key this value, in exactly this type.  A key that exists keeps its place, a new one comes
 * last.  Everything is copied.  The call refuses what no reader would accept, with the rule and its
 * status: a key that is empty, too long, not of [a-zA-Z0-9_.-] or with an empty segment, text that
 * is not UTF-8 (strings inside arrays may be any bytes: raw tokens occur), arrays nested too deep,
 * and a general.alignment that is not a uint32 or not a multiple of 8 up to GUFO_MAX_ALIGNMENT (spec,
 * General; ggml reads powers of two alone).  GUFO_E_RANGE for an integer that does not fit its type; a float32 is rounded to
 * nearest.  GUFO_E_ARGUMENT for a type that does not exist, an array whose elements do not take
 * just its bytes, and for gufo.padding, which layouts add. */
GUFO_API gufo_status gufo_document_set(gufo_document *document, const char *key,
                                       const gufo_value *value, gufo_error *error);
/* Adds a tensor after the others; its size follows from type and dims, and its data will be written
 * in the byte order of the document.  The call refuses, with the rule and its status: a name twice,
 * empty, over 64 bytes, with a NUL or not UTF-8; too many dims; rows that do not fill blocks; sizes
 * that overflow; removed types.  GUFO_E_ARGUMENT for a type whose layout is not known. */
GUFO_API gufo_status gufo_document_add_tensor(gufo_document *document, const char *name,
                                              const gufo_element_type *type, uint32_t n_dims,
                                              const uint64_t *dims, gufo_error *error);
GUFO_API gufo_status gufo_document_add_tensor_str(gufo_document *document, gufo_str name,
                                                  const gufo_element_type *type, uint32_t n_dims,
                                                  const uint64_t *dims, gufo_error *error);

/* ---- life ----------------------------------------------------------------------------------- */

typedef enum gufo_document_flags {
    /* New content may also be anything that gufo_model_open accepts. */
    GUFO_DOCUMENT_AS_READ = 1,
    /* The same with GUFO_OPEN_AS_GGML: keys of any bytes and any length but 0. */
    GUFO_DOCUMENT_AS_GGML = 2,
} gufo_document_flags;

typedef struct gufo_document_options {
    uint32_t flags;                  /* of gufo_document_flags */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_document_options;

/* Sets the version (2 or 3) and the byte order of the file; everything that was set or copied keeps
 * its meaning.  GUFO_E_ARGUMENT for another version, and for version 2 in big-endian order without
 * GUFO_DOCUMENT_AS_READ; GUFO_E_TYPE for a copied tensor whose bytes would have to be swapped and
 * cannot be (gufo_document_copy_tensor). */
GUFO_API gufo_status gufo_document_set_encoding(gufo_document *document, uint32_t version,
                                                gufo_byte_order order, gufo_error *error);
GUFO_API uint32_t gufo_document_version(const gufo_document *document);
GUFO_API gufo_byte_order gufo_document_byte_order(const gufo_document *document);
/* general.alignment, or the default. */
GUFO_API uint32_t gufo_document_alignment(const gufo_document *document);

/* Whether a call concerns the key or tensor of this name. */
typedef bool gufo_select_fn(void *context, gufo_str name);

/* ---- entries: looking ----------------------------------------------------------------------- */

/* The origin of an entry or tensor that does not come from a model. */
#define GUFO_NO_ORIGIN UINT64_MAX

typedef struct gufo_document_entry {
    gufo_str key;
    gufo_value value;
    uint64_t origin; /* index of the entry that it was in the model of gufo_document_from, even
                      * if its key or value has changed; GUFO_NO_ORIGIN: none */
    uint64_t reserved[4];
} gufo_document_entry;

/* The number of entries; entry `index` (false past the end); the entry with a key (false if none
 * exists).  Finding a key takes constant time, reaching an index at most logarithmic time.  Views
 * live until the entry is changed, those of copied values as long as their model.  `out` may be
 * NULL. */
GUFO_API uint64_t gufo_document_entry_count(const gufo_document *document);
GUFO_API bool gufo_document_entry_at(const gufo_document *document, uint64_t index,
                                     gufo_document_entry *out);
GUFO_API bool gufo_document_find(const gufo_document *document, const char *key,
                                 gufo_document_entry *out);
GUFO_API bool gufo_document_find_str(const gufo_document *document, gufo_str key,
                                     gufo_document_entry *out);
/* The first entry from index *index on that `select` chooses (NULL: any), or whose key begins with
 * `prefix`; *index becomes its index.
 *     for (uint64_t i = 0; gufo_document_find_prefix(d, prefix, &i, &entry); i++) ... */
GUFO_API bool gufo_document_find_next(const gufo_document *document, gufo_select_fn *select,
                                      void *context, uint64_t *index, gufo_document_entry *out);
GUFO_API bool gufo_document_find_prefix(const gufo_document *document, const char *prefix,
                                        uint64_t *index, gufo_document_entry *out);

/* ---- entries: changing ---------------------------------------------------------------------- */

/* The same for a key that is a view, such as that of an entry of a file. */
GUFO_API gufo_status gufo_document_set_entry(gufo_document *document, gufo_str key,
                                             const gufo_value *value, gufo_error *error);
/* By the C type of the value. */
GUFO_API gufo_status gufo_document_set_array(gufo_document *document, const char *key,
                                             const gufo_items *items, gufo_error *error);
GUFO_API gufo_status gufo_document_set_text(gufo_document *document, const char *key,
                                            const char *text, gufo_error *error);
GUFO_API gufo_status gufo_document_set_str(gufo_document *document, const char *key, gufo_str text,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_bool(gufo_document *document, const char *key, bool v,
                                            gufo_error *error);
GUFO_API gufo_status gufo_document_set_u8(gufo_document *document, const char *key, uint8_t v,
                                          gufo_error *error);
GUFO_API gufo_status gufo_document_set_i8(gufo_document *document, const char *key, int8_t v,
                                          gufo_error *error);
GUFO_API gufo_status gufo_document_set_u16(gufo_document *document, const char *key, uint16_t v,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_i16(gufo_document *document, const char *key, int16_t v,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_u32(gufo_document *document, const char *key, uint32_t v,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_i32(gufo_document *document, const char *key, int32_t v,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_u64(gufo_document *document, const char *key, uint64_t v,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_i64(gufo_document *document, const char *key, int64_t v,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_f32(gufo_document *document, const char *key, float v,
                                           gufo_error *error);
GUFO_API gufo_status gufo_document_set_f64(gufo_document *document, const char *key, double v,
                                           gufo_error *error);

/* Sets every key of a model that `select` chooses (NULL: all), with its exact bits, except
 * gufo.padding.  The model must outlive the document.  *copied (may be NULL) is their number, also
 * after a failure, which leaves those that were copied before.  The call refuses only what
 * gufo_model_open refuses. */
GUFO_API gufo_status gufo_document_copy_entries(gufo_document *document, const gufo_model *model,
                                                gufo_select_fn *select, void *context,
                                                uint64_t *copied, gufo_error *error);
/* Removes the entry with a key and returns whether there was one; or every entry that `select`
 * chooses (NULL: all), or whose key begins with `prefix`.  *removed (may be NULL) is their
 * number. */
GUFO_API bool gufo_document_remove_key(gufo_document *document, const char *key);
GUFO_API bool gufo_document_remove_key_str(gufo_document *document, gufo_str key);
GUFO_API void gufo_document_remove(gufo_document *document, gufo_select_fn *select, void *context,
                                   uint64_t *removed);
GUFO_API void gufo_document_remove_prefix(gufo_document *document, const char *prefix,
                                          uint64_t *removed);
/* Gives a key another name; it keeps its place.  `to` keeps the rules of gufo_document_set.
 * GUFO_E_NOT_FOUND, GUFO_E_EXISTS. */
GUFO_API gufo_status gufo_document_rename(gufo_document *document, const char *from, const char *to,
                                          gufo_error *error);
GUFO_API gufo_status gufo_document_rename_str(gufo_document *document, gufo_str from, gufo_str to,
                                              gufo_error *error);

/* Applies the fix of a finding to entries and tensors (format.h).  GUFO_FIX_NONE and
 * GUFO_FIX_REWRITE change nothing: a packed layout does what the latter asks for.  GUFO_E_ARGUMENT
 * for GUFO_FIX_SUPPLY, because only the caller knows the value; GUFO_E_NOT_FOUND, GUFO_E_EXISTS
 * and the errors of gufo_document_set and gufo_document_rename_tensor. */
GUFO_API gufo_status gufo_document_fix(gufo_document *document, const gufo_fix *fix,
                                       gufo_error *error);

/* ---- shards --------------------------------------------------------------------------------- */

/* The keys that identify a file as a shard of a set: three established ones, and gufo's own, which
 * is the same number in all shards that were made together (docs/shards.md). */
#define GUFO_SPLIT_NO_KEY "split.no"                 /* uint16, from 0 */
#define GUFO_SPLIT_COUNT_KEY "split.count"           /* uint16 */
#define GUFO_SPLIT_TENSORS_KEY "split.tensors.count" /* int32, of all shards */
#define GUFO_SPLIT_ID_KEY "gufo.split.id"            /* uint64 */

/* Says that the file is shard `index` (from 0) of `count`, which have `tensors` tensors in all.
 * `id` 0: no gufo.split.id; an existing one is removed.  GUFO_E_ARGUMENT for an index past the
 * count, GUFO_E_LIMIT for more than GUFO_MAX_SHARDS shards, or more tensors than an int32 can
 * count. */
GUFO_API gufo_status gufo_document_set_shard(gufo_document *document, uint64_t index,
                                             uint64_t count, uint64_t tensors, uint64_t id,
                                             gufo_error *error);
/* Whether a key is about the model, not about the shard that it is in: none of the keys that
 * gufo_document_set_shard sets.  A gufo_select_fn, which ignores its context.  Any thread. */
GUFO_API bool gufo_key_is_of_model(void *unused, gufo_str key);
/* Removes these four keys, and no other. */
GUFO_API void gufo_document_remove_shard_keys(gufo_document *document);

/* ---- tensors -------------------------------------------------------------------------------- */

/* Spec, gguf_tensor_info_t. */
typedef struct gufo_document_tensor {
    gufo_str name;
    uint32_t type; /* id; gufo_element_type_by_id may not know it */
    uint32_t n_dims;
    uint64_t dims[GUFO_MAX_DIMS]; /* dims[0] is the row; 1 beyond n_dims */
    uint64_t size;                /* bytes of data */
    const gufo_model *from;       /* where it was copied from; NULL: nowhere */
    uint64_t origin;              /* its index there, or GUFO_NO_ORIGIN */
    bool swapped;                 /* `from` has the other byte order: its bytes must be swapped */
    uint64_t offset;              /* of the data, from the start of the file; GUFO_NO_OFFSET before
                                   * gufo_document_layout */
    uint64_t reserved[4];
} gufo_document_tensor;

/* As for entries: count, order, and search by name, which also gives the index.  `out` and `index`
 * may be NULL. */
GUFO_API uint64_t gufo_document_tensor_count(const gufo_document *document);
GUFO_API bool gufo_document_tensor_at(const gufo_document *document, uint64_t index,
                                      gufo_document_tensor *out);
GUFO_API bool gufo_document_tensor_find(const gufo_document *document, const char *name,
                                        uint64_t *index, gufo_document_tensor *out);
GUFO_API bool gufo_document_tensor_find_str(const gufo_document *document, gufo_str name,
                                            uint64_t *index, gufo_document_tensor *out);

/* The same for a type of any id, with the bytes of its data: for data that the caller copies
 * without the next functions.  The call refuses only what gufo_model_open refuses, and, with
 * GUFO_E_ARGUMENT, a size that contradicts type and dims (0: the size that they imply). */
GUFO_API gufo_status gufo_document_add_raw_tensor(gufo_document *document, const char *name,
                                                  uint32_t type, uint32_t n_dims,
                                                  const uint64_t *dims, uint64_t size,
                                                  gufo_error *error);
GUFO_API gufo_status gufo_document_add_raw_tensor_str(gufo_document *document, gufo_str name,
                                                      uint32_t type, uint32_t n_dims,
                                                      const uint64_t *dims, uint64_t size,
                                                      gufo_error *error);
/* Adds tensor `index` of a model, or all that `select` chooses (NULL: all), in its order.  The
 * model must outlive the document.  *copied (may be NULL) as for entries.  A file never mixes byte
 * orders: if the orders of model and document differ, the tensor is marked as `swapped`, and
 * GUFO_E_TYPE refuses one whose numbers cannot be found.  GUFO_E_RANGE past the end,
 * GUFO_E_MALFORMED for one whose dims or offset make no sense, which only a lenient open gives. */
GUFO_API gufo_status gufo_document_copy_tensor(gufo_document *document, const gufo_model *model,
                                               uint64_t index, gufo_error *error);
GUFO_API gufo_status gufo_document_copy_tensors(gufo_document *document, const gufo_model *model,
                                                gufo_select_fn *select, void *context,
                                                uint64_t *copied, gufo_error *error);

/* Gives a tensor another name: GUFO_E_NOT_FOUND, GUFO_E_EXISTS, and the rules of new names. */
GUFO_API gufo_status gufo_document_rename_tensor(gufo_document *document, const char *from,
                                                 const char *to, gufo_error *error);
GUFO_API gufo_status gufo_document_rename_tensor_str(gufo_document *document, gufo_str from,
                                                     gufo_str to, gufo_error *error);
/* Gives a tensor another element type; dims stay, the size follows.  The data of one that was
 * copied from a model is then decoded and encoded when the file is written (gufo_job_of_documents;
 * gufo_quantizer chooses types and measures what they lose).  GUFO_E_NOT_FOUND, and the errors of
 * gufo_document_add_tensor. */
GUFO_API gufo_status gufo_document_retype(gufo_document *document, const char *name,
                                          const gufo_element_type *type, gufo_error *error);
GUFO_API gufo_status gufo_document_retype_str(gufo_document *document, gufo_str name,
                                              const gufo_element_type *type, gufo_error *error);
/* As gufo_document_remove_key and gufo_document_remove. */
GUFO_API bool gufo_document_drop_tensor(gufo_document *document, const char *name);
GUFO_API bool gufo_document_drop_tensor_str(gufo_document *document, gufo_str name);
GUFO_API void gufo_document_drop_tensors(gufo_document *document, gufo_select_fn *select,
                                         void *context, uint64_t *dropped);

/* ---- differences ---------------------------------------------------------------------------- */

typedef enum gufo_change_kind {
    GUFO_CHANGE_REMOVED = 0,
    GUFO_CHANGE_RENAMED = 1,
    GUFO_CHANGE_CHANGED = 2, /* another value or type */
    GUFO_CHANGE_ADDED = 3,
    GUFO_CHANGE_TENSOR_RENAMED = 4,
    GUFO_CHANGE_TENSOR_DROPPED = 5,
    GUFO_CHANGE_TENSOR_RETYPED = 6,
    GUFO_CHANGE_TENSOR_ADDED = 7,
} gufo_change_kind;

/* One difference.  Valid only during the callback. */
typedef struct gufo_change {
    gufo_change_kind kind;
    gufo_str old_name, new_name;             /* the same unless renamed */
    const gufo_value *old_value, *new_value; /* of keys; NULL where none exists */
    uint64_t reserved[4];
} gufo_change;

typedef void gufo_change_fn(void *context, const gufo_change *change);

/* Reports all differences between the model of gufo_document_from and the document: keys in the
 * order of the model, new ones last, then tensors likewise.  Values are compared to the last bit.
 * An entry or tensor may differ twice: in its name and in its content.  A document that was not
 * made from a model differs from an empty one.  GUFO_E_MEMORY, and GUFO_E_CHANGED if the model was
 * changed meanwhile. */
GUFO_API gufo_status gufo_document_changes(const gufo_document *document, gufo_change_fn *visit,
                                           void *context, gufo_error *error);

/* ---- layout --------------------------------------------------------------------------------- */

/* A string of spaces that fills room before the tensor infos.  Readers ignore it; the next edit
 * reuses the room. */
#define GUFO_PADDING_KEY "gufo.padding"

#define GUFO_MAX_RESERVE (UINT64_C(64) << 20)

typedef enum gufo_layout_way {
    /* Data back to back, in the order of the tensors, each tensor aligned. */
    GUFO_LAYOUT_PACKED = 0,
    /* Every tensor at the same distance from the start of the data as in the model of
     * gufo_document_from, with all bytes between and after them. */
    GUFO_LAYOUT_AS_SOURCE = 1,
} gufo_layout_way;

typedef struct gufo_layout_options {
    gufo_layout_way way;
    uint64_t reserve; /* bytes of room at least, for later edits; at most GUFO_MAX_RESERVE */
    uint64_t minimum; /* of the data offset */
    /* The data begins as many bytes past a multiple of this as in the model (at a multiple, if
     * none exists), so that blocks of the disk can be shared; 0: at any multiple of the
     * alignment. */
    uint64_t block;
    uint64_t reserved[4]; /* must be zero */
} gufo_layout_options;

typedef struct gufo_layout {
    uint64_t
        metadata_size; /* bytes of header, metadata and tensor infos, without the zeros after */
    uint64_t data_offset;
    uint64_t file_size; /* with the padding after the last tensor */
    uint64_t tensor_count;
    uint64_t padding; /* bytes of the entry gufo.padding, which metadata_size counts */
    uint32_t alignment;
    gufo_layout_way way;
    uint64_t reserved[4];
} gufo_layout;

/* Gives every tensor its place: at the first data offset that the options permit and that leaves,
 * after the infos, either less than the alignment, which zeros fill, or room for gufo.padding.
 * `options` (packed, if NULL) and `out` may be NULL.  The places hold until the document is changed
 * or laid out again; a layout that fails leaves the document without one.  GUFO_E_ARGUMENT if the
 * model's layout cannot be kept: no model, a different alignment or byte order, tensors that were
 * added or retyped.  GUFO_E_RANGE if the file would be larger than any file can be, or if an
 * alignment above GUFO_MAX_ALIGNMENT, which was read from a model, needs more padding than
 * twice the bytes of the largest model that the document took something from; GUFO_E_MALFORMED if
 * gufo.padding is needed and an entry that is not a string has its name. */
GUFO_API gufo_status gufo_document_layout(gufo_document *document,
                                          const gufo_layout_options *options, gufo_layout *out,
                                          gufo_error *error);
/* The first bytes of the file: header, metadata, infos, and zeros up to data_offset.  If
 * there are more zeros than GUFO_MAX_ALIGNMENT, they are left out, and *size is metadata_size.
 * The bytes belong to the document and live until it is changed or laid out again.
 * GUFO_E_ARGUMENT before gufo_document_layout; GUFO_E_CHANGED if a model that entries came from
 * was changed meanwhile; GUFO_E_MALFORMED for a bool other than 0 and 1 that a lenient open
 * accepted. */
GUFO_API gufo_status gufo_document_header(gufo_document *document, const void **bytes, size_t *size,
                                          gufo_error *error);

/* For planning how much fits into a file: the bytes of header, entries and tensor infos as they are
 * now, without padding, in constant time. */
GUFO_API uint64_t gufo_document_metadata_size(const gufo_document *document);

#ifdef __cplusplus
}
#endif

#endif
