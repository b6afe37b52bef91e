/* The documented C API of GGUF files, on top of libgufo.
 *
 * Names, types and behaviour are those of ggml's <gguf.h>: a program written for it compiles and
 * runs unchanged (docs/c-api.md lists the few differences).  New programs may prefer <gufo.h>,
 * which reports errors instead of aborting, reads more files and copies less.
 *
 * - A context holds everything in memory; the file is not needed any more after gguf_init_from_*.
 * - Ids count from 0.  An id that does not exist and a value of another type than the function's
 *   print a message and abort.
 * - Pointers that are returned live until their entry is replaced or removed, or the context freed.
 * - One thread at a time may change a context; any number may read it. */
#ifndef GUFO_COMPAT_GGUF_H
#define GUFO_COMPAT_GGUF_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

#define GGUF_MAGIC "GGUF"
#define GGUF_VERSION 3

#define GGUF_KEY_GENERAL_ALIGNMENT "general.alignment"

#define GGUF_DEFAULT_ALIGNMENT 32

#ifdef __cplusplus
extern "C" {
#endif

/* The types of metadata values, with their ids in files. */
enum gguf_type {
    GGUF_TYPE_UINT8 = 0,
    GGUF_TYPE_INT8 = 1,
    GGUF_TYPE_UINT16 = 2,
    GGUF_TYPE_INT16 = 3,
    GGUF_TYPE_UINT32 = 4,
    GGUF_TYPE_INT32 = 5,
    GGUF_TYPE_FLOAT32 = 6,
    GGUF_TYPE_BOOL = 7,
    GGUF_TYPE_STRING = 8,
    GGUF_TYPE_ARRAY = 9,
    GGUF_TYPE_UINT64 = 10,
    GGUF_TYPE_INT64 = 11,
    GGUF_TYPE_FLOAT64 = 12,
    GGUF_TYPE_COUNT,
};

struct gguf_context;

/* ---- making and reading --------------------------------------------------------------------- */

struct gguf_init_params {
    bool no_alloc; /* with ctx: make the tensors without their data */
    /* If not NULL: receives a new ggml_context with the tensors and, unless no_alloc is set, all
     * tensor data; free it with ggml_free.  If data is not read, the library does not check
     * that it is there: the file may end after the tensor infos. */
    struct ggml_context **ctx;
};

/* Reads up to `len` bytes at `offset` into `output` and returns how many. */
typedef size_t (*gguf_reader_callback_t)(void *userdata, void *output, uint64_t offset, size_t len);

/* An empty context of version 3.  NULL if memory runs out. */
GGML_API struct gguf_context *gguf_init_empty(void) GGML_SYMBOL(gguf_init_empty);
/* NULL, with a message to the log, for a file that cannot be read or is not a valid file of version
 * 2 or 3 in this machine's byte order with known element types, names of less than GGML_MAX_NAME
 * bytes and no arrays inside arrays.  *params.ctx is then left alone or NULL.  <gufo_gguf.h> opens
 * more. */
GGML_API struct gguf_context *gguf_init_from_file(const char *fname, struct gguf_init_params params)
    GGML_SYMBOL(gguf_init_from_file);
/* From the current position of a file that can seek, to its end.  Offsets count from the start of
 * the file.  Afterwards the position is after the last byte read. */
GGML_API struct gguf_context *gguf_init_from_file_ptr(FILE *file, struct gguf_init_params params)
    GGML_SYMBOL(gguf_init_from_file_ptr);
GGML_API struct gguf_context *gguf_init_from_buffer(const void *data, size_t size,
                                                    struct gguf_init_params params)
    GGML_SYMBOL(gguf_init_from_buffer);
/* Asks for no byte beyond those that are needed, for at most `max_chunk_read` at once (0: no
 * limit), and for none from `max_expected_size` on. */
GGML_API struct gguf_context *gguf_init_from_callback(gguf_reader_callback_t callback,
                                                      void *userdata, size_t max_chunk_read,
                                                      uint64_t max_expected_size,
                                                      struct gguf_init_params params)
    GGML_SYMBOL(gguf_init_from_callback);
/* NULL is allowed. */
GGML_API void gguf_free(struct gguf_context *ctx) GGML_SYMBOL(gguf_free);

/* ---- facts ---------------------------------------------------------------------------------- */

/* "u8" ... "f64", "bool", "str", "arr"; NULL for a number that is not a type. */
GGML_API const char *gguf_type_name(enum gguf_type type) GGML_SYMBOL(gguf_type_name);

GGML_API uint32_t gguf_get_version(const struct gguf_context *ctx) GGML_SYMBOL(gguf_get_version);
/* What general.alignment says, 32 without it.  Offsets of tensors follow at once when that entry is
 * set, taken over or removed. */
GGML_API size_t gguf_get_alignment(const struct gguf_context *ctx) GGML_SYMBOL(gguf_get_alignment);
/* Where tensor data began in the file that was read: aligned if there is a tensor. */
GGML_API size_t gguf_get_data_offset(const struct gguf_context *ctx)
    GGML_SYMBOL(gguf_get_data_offset);

/* ---- metadata ------------------------------------------------------------------------------- */

GGML_API int64_t gguf_get_n_kv(const struct gguf_context *ctx) GGML_SYMBOL(gguf_get_n_kv);
GGML_API int64_t gguf_find_key(const struct gguf_context *ctx, const char *key)
    GGML_SYMBOL(gguf_find_key); /* -1: none */
GGML_API const char *gguf_get_key(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_key);

GGML_API enum gguf_type gguf_get_kv_type(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_kv_type);
/* The type of an array's elements; aborts if it is none. */
GGML_API enum gguf_type gguf_get_arr_type(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_arr_type);

GGML_API uint8_t gguf_get_val_u8(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_u8);
GGML_API int8_t gguf_get_val_i8(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_i8);
GGML_API uint16_t gguf_get_val_u16(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_u16);
GGML_API int16_t gguf_get_val_i16(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_i16);
GGML_API uint32_t gguf_get_val_u32(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_u32);
GGML_API int32_t gguf_get_val_i32(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_i32);
GGML_API float gguf_get_val_f32(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_f32);
GGML_API uint64_t gguf_get_val_u64(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_u64);
GGML_API int64_t gguf_get_val_i64(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_i64);
GGML_API double gguf_get_val_f64(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_f64);
GGML_API bool gguf_get_val_bool(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_bool);
GGML_API const char *gguf_get_val_str(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_str);
/* The number or bool, in the C type of its value type. */
GGML_API const void *gguf_get_val_data(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_val_data);

/* Elements of an array; 1 for any other value. */
GGML_API size_t gguf_get_arr_n(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_arr_n);
/* The elements of an array of numbers or bools (one byte each, 0 or 1); aborts for strings. */
GGML_API const void *gguf_get_arr_data(const struct gguf_context *ctx, int64_t key_id)
    GGML_SYMBOL(gguf_get_arr_data);
/* Element `i` of an array of strings; NULL past its end. */
GGML_API const char *gguf_get_arr_str(const struct gguf_context *ctx, int64_t key_id, size_t i)
    GGML_SYMBOL(gguf_get_arr_str);

/* The id that the key had, or -1 if it did not exist. Later ids move down by one. */
GGML_API int64_t gguf_remove_key(struct gguf_context *ctx, const char *key)
    GGML_SYMBOL(gguf_remove_key);

/* A new entry at the end; one with the same key is removed first.  Keys are not empty, and
 * general.alignment is a uint32 and a power of two: else abort.  When memory runs out the context
 * stays as it was, and writing it will fail. */
GGML_API void gguf_set_val_u8(struct gguf_context *ctx, const char *key, uint8_t val)
    GGML_SYMBOL(gguf_set_val_u8);
GGML_API void gguf_set_val_i8(struct gguf_context *ctx, const char *key, int8_t val)
    GGML_SYMBOL(gguf_set_val_i8);
GGML_API void gguf_set_val_u16(struct gguf_context *ctx, const char *key, uint16_t val)
    GGML_SYMBOL(gguf_set_val_u16);
GGML_API void gguf_set_val_i16(struct gguf_context *ctx, const char *key, int16_t val)
    GGML_SYMBOL(gguf_set_val_i16);
GGML_API void gguf_set_val_u32(struct gguf_context *ctx, const char *key, uint32_t val)
    GGML_SYMBOL(gguf_set_val_u32);
GGML_API void gguf_set_val_i32(struct gguf_context *ctx, const char *key, int32_t val)
    GGML_SYMBOL(gguf_set_val_i32);
GGML_API void gguf_set_val_f32(struct gguf_context *ctx, const char *key, float val)
    GGML_SYMBOL(gguf_set_val_f32);
GGML_API void gguf_set_val_u64(struct gguf_context *ctx, const char *key, uint64_t val)
    GGML_SYMBOL(gguf_set_val_u64);
GGML_API void gguf_set_val_i64(struct gguf_context *ctx, const char *key, int64_t val)
    GGML_SYMBOL(gguf_set_val_i64);
GGML_API void gguf_set_val_f64(struct gguf_context *ctx, const char *key, double val)
    GGML_SYMBOL(gguf_set_val_f64);
GGML_API void gguf_set_val_bool(struct gguf_context *ctx, const char *key, bool val)
    GGML_SYMBOL(gguf_set_val_bool);
GGML_API void gguf_set_val_str(struct gguf_context *ctx, const char *key, const char *val)
    GGML_SYMBOL(gguf_set_val_str);
/* `n` numbers or bools of `type` at `data`; `n` strings.  Copied. */
GGML_API void gguf_set_arr_data(struct gguf_context *ctx, const char *key, enum gguf_type type,
                                const void *data, size_t n) GGML_SYMBOL(gguf_set_arr_data);
GGML_API void gguf_set_arr_str(struct gguf_context *ctx, const char *key, const char **data,
                               size_t n) GGML_SYMBOL(gguf_set_arr_str);
/* Every entry of `src`, in its order, as if set one by one. */
GGML_API void gguf_set_kv(struct gguf_context *ctx, const struct gguf_context *src)
    GGML_SYMBOL(gguf_set_kv);

/* ---- tensors -------------------------------------------------------------------------------- */

GGML_API int64_t gguf_get_n_tensors(const struct gguf_context *ctx) GGML_SYMBOL(gguf_get_n_tensors);
GGML_API int64_t gguf_find_tensor(const struct gguf_context *ctx, const char *name)
    GGML_SYMBOL(gguf_find_tensor); /* -1: none */
/* From the data offset. */
GGML_API size_t gguf_get_tensor_offset(const struct gguf_context *ctx, int64_t tensor_id)
    GGML_SYMBOL(gguf_get_tensor_offset);
GGML_API const char *gguf_get_tensor_name(const struct gguf_context *ctx, int64_t tensor_id)
    GGML_SYMBOL(gguf_get_tensor_name);
/* GGML_MAX_DIMS numbers; 1 beyond the tensor's own dimensions. */
GGML_API const int64_t *gguf_get_tensor_ne(const struct gguf_context *ctx, int64_t tensor_id)
    GGML_SYMBOL(gguf_get_tensor_ne);
GGML_API enum ggml_type gguf_get_tensor_type(const struct gguf_context *ctx, int64_t tensor_id)
    GGML_SYMBOL(gguf_get_tensor_type);
GGML_API size_t gguf_get_tensor_size(const struct gguf_context *ctx, int64_t tensor_id)
    GGML_SYMBOL(gguf_get_tensor_size);

/* Adds a tensor after the others.  Its struct is copied, its data is not and must stay until the
 * context is written.  Aborts if there is one with that name, if the name has no terminator, or if
 * its type does not exist. */
GGML_API void gguf_add_tensor(struct gguf_context *ctx, const struct ggml_tensor *tensor)
    GGML_SYMBOL(gguf_add_tensor);
/* Changes the type and moves the later tensors.  Aborts without such a tensor, or if its rows do
 * not fill blocks of the type. */
GGML_API void gguf_set_tensor_type(struct gguf_context *ctx, const char *name, enum ggml_type type)
    GGML_SYMBOL(gguf_set_tensor_type);
/* Where the data is: gguf_get_tensor_size bytes, not copied.  Aborts without such a tensor. */
GGML_API void gguf_set_tensor_data(struct gguf_context *ctx, const char *name, const void *data)
    GGML_SYMBOL(gguf_set_tensor_data);

/* ---- writing -------------------------------------------------------------------------------- */

/* A file is written in one of three ways, which give the same bytes:
 *  1. gguf_write_to_file(ctx, fname, false);
 *  2. gguf_write_to_file(ctx, fname, true), then append the data of each tensor, padded to
 *     gguf_get_alignment(ctx);
 *  3. leave gguf_get_meta_size(ctx) bytes free, write the data likewise, then go back and write
 *     what gguf_get_meta_data gives.
 * What gguf_init_from_file would refuse is not written in any of them: a tensor whose shape does
 * not fit its type or overflows, or whose bytes are not back to back; metadata beyond 1 GiB. */

/* With `only_meta` just header, metadata, tensor infos and padding.  False, with a message to the
 * log, if that fails.  A regular file is replaced at once when everything is written, and left as
 * it was on failure; gguf_write_to_file_ptr writes from the current position on.  All tensors must
 * have data (else abort) unless `only_meta` is set. */
GGML_API bool gguf_write_to_file(const struct gguf_context *ctx, const char *fname, bool only_meta)
    GGML_SYMBOL(gguf_write_to_file);
GGML_API bool gguf_write_to_file_ptr(const struct gguf_context *ctx, FILE *file, bool only_meta)
    GGML_SYMBOL(gguf_write_to_file_ptr);
/* Bytes of header, metadata, tensor infos and padding; 0, with a message to the log, if that cannot
 * be written. */
GGML_API size_t gguf_get_meta_size(const struct gguf_context *ctx) GGML_SYMBOL(gguf_get_meta_size);
/* Writes those bytes to `data`; nothing where gguf_get_meta_size gives 0. */
GGML_API void gguf_get_meta_data(const struct gguf_context *ctx, void *data)
    GGML_SYMBOL(gguf_get_meta_data);

#ifdef __cplusplus
}
#endif

#endif
