/* What libgguf has beside the documented C API: opening every file that the GGUF specification
 * allows.
 *
 * gguf_init_from_file and its like refuse what ggml refuses.  The two functions below accept all
 * that these accept, and also:
 *
 *     version 1             gguf_get_version gives 1
 *     the other byte order  numbers and tensor data are in this machine's order all the same;
 *                           data of a type without layout stays as it is in the file
 *     arrays inside arrays  up to 1024 deep: gufo_gguf_get_arrays
 *     names of 64 bytes     whole everywhere but in a struct ggml_tensor, whose name is cut after
 *                           63 bytes
 *     any alignment         that is a multiple of 8: gguf_get_alignment gives it
 *     any place of data     tensors in any order, with gaps, without padding behind the last one
 *     types without layout  that ggml does not know or has removed: gguf_get_tensor_type gives the
 *                           number from the file, which is then no constant of enum ggml_type and
 *                           aborts in ggml_type_size and its like
 *
 * The context is an ordinary one: every gguf_ function works with it, and what is said here is all
 * that differs.  The same header serves the standalone build and the drop-in: it includes the
 * <gguf.h> that the program uses. */
#ifndef GUFO_COMPAT_GUFO_GGUF_H
#define GUFO_COMPAT_GUFO_GGUF_H

#include <gguf.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a file, like gguf_init_from_file; or `size` bytes at `data`, like gguf_init_from_buffer,
 * which are not needed any more afterwards.  A shard of several is opened alone.
 *
 * The context is freed with gguf_free.  NULL, with one message to the log that names the byte and
 * the fault there, for a file that cannot be read, breaks the format, or has more than 1 GiB of
 * metadata; if memory runs out; and, without a message, for no bytes.  *params.ctx is then left
 * alone.  Any thread.
 *
 * gguf_get_tensor_size of a type without a layout reaches to where the next tensor begins, or to
 * the end of the file.
 *
 * With params.ctx and data, the extents of all tensors must be inside the file and must not
 * overlap; without data they are not checked, like those of gguf_init_from_file.  The ggml_context
 * has the tensors in the order of the context, behind the one that holds all data.  There
 * - a tensor of a type without a layout is a row of GGML_TYPE_I8, one for each byte;
 * - a name of 64 bytes lacks the last one, so that two tensors may have the same name: go through
 *   both contexts side by side rather than by name.
 * The data of a tensor is aligned as its offset is, to 16 bytes at most.
 *
 * Writing such a context gives a file that gguf_init_from_file accepts: of version 3 where it was
 * version 1, in this machine's byte order, with tensors in the order of the context and back to
 * back.  What cannot be said in such a file makes writing fail with a message: arrays inside
 * arrays, names of 64 bytes, types without a layout, alignments that are not a power of two.  Until
 * a tensor or the alignment is changed, gguf_get_tensor_offset gives the places in the file that
 * was read. */
GGML_API struct gguf_context *gufo_gguf_open_file(const char *fname,
                                                  struct gguf_init_params params);
GGML_API struct gguf_context *gufo_gguf_open_buffer(const void *data, size_t size,
                                                    struct gguf_init_params params);

/* An array inside an array. */
struct gufo_gguf_array {
    enum gguf_type type; /* of its elements */
    size_t n;            /* elements */
    /* Numbers and bools (one byte each, 0 or 1): `n` of their C type, in this machine's byte order.
     * Strings: `n` const char *, each with a terminator.  Arrays: `n` struct gufo_gguf_array. */
    const void *data;
};

/* The gguf_get_arr_n(ctx, key_id) arrays that are the elements of an entry whose gguf_get_kv_type
 * and gguf_get_arr_type are both GGUF_TYPE_ARRAY; aborts for any other entry.  For such an entry
 * gguf_get_arr_data, gguf_get_arr_str and all gguf_get_val_ functions abort.  What is returned
 * lives until the entry is replaced or removed, or the context freed.  Files decide how deep it is:
 * do not walk it by recursion without a limit.  Any thread, while none changes the context. */
GGML_API const struct gufo_gguf_array *gufo_gguf_get_arrays(const struct gguf_context *ctx,
                                                            int64_t key_id);

#ifdef __cplusplus
}
#endif

#endif
