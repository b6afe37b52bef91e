/* From an open file to a context, by the rules of ggml's reader.
 *
 * What gufo_open lets through with COMPAT_OPEN_FLAGS is more than ggml takes in some places (older
 * versions, the other byte order, arrays inside arrays, names of 64 bytes, gaps between tensors):
 * the rest of ggml's rules is here.  Which element types there are, and how large their blocks are,
 * is asked of the ggml that the program is linked with. */
#include "compat/context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"

typedef struct reader {
    const gufo_model *file;
    gufo_facts facts;
    uint64_t start; /* of the file, in its container */
    struct gguf_context *ctx;
    uint64_t data_size; /* with the padding behind the last tensor */
    gufo_error *error;
} reader;

/* ---- metadata ------------------------------------------------------------------------------- */

static bool out_of_memory(const reader *r)
{
    (void)fail_memory(r->error);
    return false;
}

static bool check_encoding(const reader *r)
{
    uint32_t version = r->facts.version;
    bool big = r->facts.byte_order == GUFO_BIG_ENDIAN;

    if (version < 2)
        return fail_with(r->error, GUFO_E_VERSION, 4, "version 1 is not supported by this API") ==
               GUFO_OK;
    if (big != HOST_IS_BIG_ENDIAN)
        return fail_with(r->error, GUFO_E_VERSION, 4,
                         "the file is %s-endian, unlike this machine; this API does not swap",
                         big ? "big" : "little") == GUFO_OK;
    return true;
}

/* Texts and terminators take no more than texts and lengths did. */
static bool read_strings(const reader *r, const gufo_entry *from, entry *to)
{
    gufo_array_iter iter = gufo_array_start(&from->value.as.array);
    gufo_value element;
    size_t index = 0;

    if (!to->is_array) {
        compat_entry_add_text(to, 0, from->value.as.str);
        return true;
    }
    for (; gufo_array_next(&iter, &element); index++)
        compat_entry_add_text(to, index, element.as.str);
    if (iter.changed || index < to->count)
        return fail_with(r->error, GUFO_E_CHANGED, from->offset,
                         "the file was changed while it was read") == GUFO_OK;
    return true;
}

/* The bytes of one value: through a double, a signalling NaN would become quiet. */
static bool read_numbers(const reader *r, const gufo_entry *from, entry *to)
{
    if (to->is_array)
        return gufo_array_read(&from->value.as.array, 0, to->count, to->values, r->error) ==
               GUFO_OK;
    return gufo_model_read_raw(r->file, from->value_offset, to->values, compat_entry_size(to),
                               r->error) == GUFO_OK;
}

static bool read_values(const reader *r, const gufo_entry *from, entry *to)
{
    const gufo_value *value = &from->value;
    bool is_array = value->type == GUFO_VALUE_ARRAY;
    gufo_value_type type = is_array ? value->as.array.type : value->type;
    uint64_t count = is_array ? value->as.array.count : 1;
    uint64_t text = is_array ? value->as.array.size : 0;

    if (value->type == GUFO_VALUE_STRING)
        text = (uint64_t)value->as.str.len + 1;
    if (count > SIZE_MAX ||
        !compat_entry_new(to, from->key, (enum gguf_type)type, is_array, (size_t)count, text))
        return out_of_memory(r);
    return (type == GUFO_VALUE_STRING ? read_strings : read_numbers)(r, from, to);
}

/* A bool in a file may be any byte. */
static void make_bools(entry *e)
{
    uint8_t *bytes = e->values;

    for (size_t i = 0; e->type == GGUF_TYPE_BOOL && i < e->count; i++)
        bytes[i] = bytes[i] != 0;
}

static bool read_entry(const reader *r, const gufo_entry *from)
{
    entry e = {0};

    if (memchr(from->key.data, '\0', from->key.len) != NULL)
        return fail_with(r->error, GUFO_E_MALFORMED, from->offset, "key %s holds a NUL byte",
                         QUOTED(from->key)) == GUFO_OK;
    if (from->value.type == GUFO_VALUE_ARRAY && from->value.as.array.type == GUFO_VALUE_ARRAY)
        return fail_with(r->error, GUFO_E_TYPE, from->offset,
                         "key %s holds arrays inside an array, which this API cannot show",
                         QUOTED(from->key)) == GUFO_OK;
    if (!read_values(r, from, &e)) {
        compat_entry_free(&e);
        return false;
    }
    make_bools(&e);
    return compat_entries_put(r->ctx, &e) || out_of_memory(r);
}

static bool read_entries(const reader *r)
{
    gufo_entry from;

    for (uint64_t i = 0; gufo_metadata_at(r->file, i, &from); i++)
        if (!read_entry(r, &from))
            return false;
    r->ctx->version = r->facts.version;
    r->ctx->alignment = r->facts.alignment;
    if ((r->ctx->alignment & (r->ctx->alignment - 1)) != 0)
        return refuse(r->error, GUFO_E_MALFORMED,
                      "general.alignment is %zu, which is not a power of two",
                      r->ctx->alignment) == GUFO_OK;
    return true;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static bool tensor_failure(const reader *r, const gufo_tensor *from, const char *what)
{
    return fail_with(r->error, GUFO_E_MALFORMED, from->info_offset, "tensor %s %s",
                     QUOTED(from->name), what) == GUFO_OK;
}

/* Whether sizes that ggml computes from this shape stay within those of memory.  A dim of zero must
 * not hide that others overflow. */
static bool sizes_fit(const gufo_tensor *from, uint64_t block_bytes)
{
    uint64_t bytes = block_bytes;

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        if (!checked_mul(bytes, from->dims[i] > 0 ? from->dims[i] : 1, &bytes) ||
            bytes > PTRDIFF_MAX)
            return false;
    return true;
}

static bool shape_tensor(const reader *r, const gufo_tensor *from, struct ggml_tensor *to)
{
    int64_t block;

    if (from->name.len >= GGML_MAX_NAME)
        return tensor_failure(r, from, "has a name of more than 63 bytes");
    if (from->type >= GGML_TYPE_COUNT)
        return tensor_failure(r, from, "has an element type that ggml does not know");
    to->type = (enum ggml_type)from->type;
    block = ggml_blck_size(to->type);
    if (block == 0)
        return tensor_failure(r, from, "has an element type that ggml has removed");
    if (!sizes_fit(from, ggml_type_size(to->type)))
        return tensor_failure(r, from, "is too large");
    if (from->dims[0] % (uint64_t)block != 0)
        return tensor_failure(r, from, "has rows that do not fill whole blocks");
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        to->ne[i] = (int64_t)from->dims[i];
    compat_set_strides(to);
    memcpy(to->name, from->name.data, from->name.len);
    return true;
}

/* ggml wants data in the order of the infos, with nothing but padding between. */
static bool read_tensor(reader *r, const gufo_tensor *from)
{
    uint64_t offset = from->offset - r->facts.data_offset;
    struct ggml_tensor tensor = {0};

    if (!shape_tensor(r, from, &tensor))
        return false;
    if (offset != r->data_size)
        return tensor_failure(r, from, "does not begin where the tensor before it ends");
    if (!checked_add(r->data_size, ggml_nbytes(&tensor), &r->data_size) ||
        !checked_align(r->data_size, r->ctx->alignment, &r->data_size) ||
        r->data_size > PTRDIFF_MAX)
        return tensor_failure(r, from, "is too large, with those before it");
    return compat_tensors_add(r->ctx, &tensor, offset) || out_of_memory(r);
}

static bool read_tensors(reader *r)
{
    uint64_t end, padded;
    gufo_tensor from;

    for (uint64_t i = 0; gufo_tensor_at(r->file, i, &from); i++)
        if (!read_tensor(r, &from))
            return false;
    end = padded = r->start + r->facts.infos_end; /* inside the file */
    if (r->ctx->tensors.count > 0 &&
        (!checked_align(end, r->ctx->alignment, &padded) || padded - r->start > r->facts.size))
        return fail_with(r->error, GUFO_E_TRUNCATED, r->facts.size,
                         "the file ends before the place where tensor data begins") == GUFO_OK;
    r->ctx->data_offset = (size_t)padded;
    return true;
}

/* ---- tensors for the caller ----------------------------------------------------------------- */

/* The pool: sizes are checked against the file before anything of that size is allocated.  ggml
 * aborts where it cannot allocate, so that is tried first. */
static struct ggml_context *new_pool(const reader *r, bool no_alloc)
{
    uint64_t tensors = r->ctx->tensors.count + (no_alloc ? 0 : 1), size;
    uint64_t behind = r->facts.size - (r->ctx->data_offset - r->start);
    struct ggml_context *pool = NULL;
    void *trial;

    if (!no_alloc && r->data_size > behind) {
        (void)fail_with(r->error, GUFO_E_TRUNCATED, r->facts.size,
                        "tensor data with its padding takes %" PRIu64 " bytes, but only %" PRIu64
                        " are left in the file",
                        r->data_size, behind);
        return NULL;
    }
    if (checked_mul(tensors, ggml_tensor_overhead(), &size) &&
        checked_add(size, no_alloc ? 0 : r->data_size, &size) && size < SIZE_MAX - GGML_MEM_ALIGN &&
        (trial = malloc((size_t)size + GGML_MEM_ALIGN))) {
        free(trial);
        pool = ggml_init((struct ggml_init_params){.mem_size = (size_t)size, .no_alloc = no_alloc});
    }
    if (pool == NULL)
        (void)fail_memory(r->error);
    return pool;
}

/* The first tensor of a pool with data is all of it. */
static bool load_data(const reader *r, struct ggml_context *pool, char **data)
{
    struct ggml_tensor *all = ggml_new_tensor_1d(pool, GGML_TYPE_I8, (int64_t)r->data_size);

    ggml_set_name(all, "GGUF tensor data binary blob");
    *data = all->data;
    return gufo_model_read_raw(r->file, r->ctx->data_offset - r->start, all->data,
                               (size_t)r->data_size, r->error) == GUFO_OK;
}

static void add_tensors(const reader *r, struct ggml_context *pool, char *data)
{
    bool no_alloc = ggml_get_no_alloc(pool);

    ggml_set_no_alloc(pool, true);
    for (uint64_t i = 0; i < r->ctx->tensors.count; i++) {
        const tensor_info *info = compat_tensor(r->ctx, i);
        struct ggml_tensor *tensor =
            ggml_new_tensor(pool, info->tensor.type, GGML_MAX_DIMS, info->tensor.ne);

        ggml_set_name(tensor, info->tensor.name);
        if (data != NULL)
            tensor->data = data + info->offset;
    }
    ggml_set_no_alloc(pool, no_alloc);
}

static bool make_tensors(const reader *r, struct gguf_init_params params)
{
    struct ggml_context *pool = new_pool(r, params.no_alloc);
    char *data = NULL;

    if (pool == NULL)
        return false;
    if (!params.no_alloc && !load_data(r, pool, &data)) {
        ggml_free(pool);
        return false;
    }
    add_tensors(r, pool, data);
    *params.ctx = pool;
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

struct gguf_context *compat_read(const gufo_model *file, uint64_t start,
                                 struct gguf_init_params params, uint64_t *end, gufo_error *error)
{
    reader r = {.file = file,
                .facts = gufo_model_facts(file),
                .start = start,
                .ctx = gguf_init_empty(),
                .error = error};
    bool loads = params.ctx != NULL && !params.no_alloc;

    if (r.ctx == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    if (!check_encoding(&r) || !read_entries(&r) || !read_tensors(&r) ||
        (params.ctx != NULL && !make_tensors(&r, params))) {
        gguf_free(r.ctx);
        return NULL;
    }
    *end = loads ? r.ctx->data_offset + r.data_size : start + r.facts.infos_end;
    return r.ctx;
}
