/* The tensors of a checkpoint: their types, adding, finding. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "import/containers/checkpoint.h"
#include "import/containers/tensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

/* Source: the specification of safetensors; the storage classes and dtypes of PyTorch. */
static const number_type numbers[] = {
    {"F64", "float64", "Double", 64, NUMBER_FLOAT, GUFO_TYPE_F64},
    {"F32", "float32", "Float", 32, NUMBER_FLOAT, GUFO_TYPE_F32},
    {"F16", "float16", "Half", 16, NUMBER_FLOAT, GUFO_TYPE_F16},
    {"BF16", "bfloat16", "BFloat16", 16, NUMBER_FLOAT, GUFO_TYPE_BF16},
    {"I64", "int64", "Long", 64, NUMBER_SIGNED, GUFO_TYPE_I64},
    {"I32", "int32", "Int", 32, NUMBER_SIGNED, GUFO_TYPE_I32},
    {"I16", "int16", "Short", 16, NUMBER_SIGNED, GUFO_TYPE_I16},
    {"I8", "int8", "Char", 8, NUMBER_SIGNED, GUFO_TYPE_I8},
    {"U64", "uint64", NULL, 64, NUMBER_UNSIGNED, -1},
    {"U32", "uint32", NULL, 32, NUMBER_UNSIGNED, -1},
    {"U16", "uint16", NULL, 16, NUMBER_UNSIGNED, -1},
    {"U8", "uint8", "Byte", 8, NUMBER_UNSIGNED, -1},
    {"BOOL", "bool", "Bool", 8, NUMBER_BOOL, -1},
    {"F8_E4M3", "float8_e4m3fn", NULL, 8, NUMBER_FLOAT, -1},
    {"F8_E5M2", "float8_e5m2", NULL, 8, NUMBER_FLOAT, -1},
    {"F8_E8M0", "float8_e8m0fnu", NULL, 8, NUMBER_FLOAT, -1},
    {"C64", "complex64", "ComplexFloat", 64, NUMBER_OTHER, -1},
    {"F4", NULL, NULL, 4, NUMBER_OTHER, -1},
    {"F6_E2M3", NULL, NULL, 6, NUMBER_OTHER, -1},
    {"F6_E3M2", NULL, NULL, 6, NUMBER_OTHER, -1},
};

enum { NUMBER_COUNT = sizeof numbers / sizeof *numbers };

const number_type *number_at(size_t index)
{
    return index < NUMBER_COUNT ? &numbers[index] : NULL;
}

static bool is_called(gufo_str name, const char *known)
{
    return known != NULL && gufo_str_equal(name, gufo_str_of(known));
}

const number_type *number_by_name(gufo_str name)
{
    size_t i = 0;

    while (i < NUMBER_COUNT && !is_called(name, numbers[i].name))
        i++;
    return number_at(i);
}

const number_type *number_by_dtype(gufo_str dtype)
{
    size_t i = 0;

    while (i < NUMBER_COUNT && !is_called(dtype, numbers[i].dtype))
        i++;
    return number_at(i);
}

const number_type *number_by_storage(gufo_str storage)
{
    size_t i = 0;

    while (i < NUMBER_COUNT && !is_called(storage, numbers[i].storage))
        i++;
    return number_at(i);
}

void *checkpoint_memory(checkpoint *c, uint64_t size)
{
    void **blocks =
        mem_grow(c->allocator, c->blocks, c->block_count, &c->block_room, sizeof *c->blocks);
    void *block;

    if (blocks == NULL)
        return NULL;
    c->blocks = blocks;
    block = mem_array(c->allocator, size, 1);
    if (block != NULL)
        c->blocks[c->block_count++] = block;
    return block;
}

gufo_status checkpoint_keep_shape(checkpoint *c, checkpoint_tensor *t, gufo_error *error)
{
    static const uint64_t scalar[CHECKPOINT_MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 1};

    c->shapes.list.size = sizeof scalar;
    t->shape = shapes_share(&c->shapes, t->shape != NULL ? t->shape : scalar, c->allocator);
    return t->shape != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status checkpoint_add(checkpoint *c, const checkpoint_tensor *tensor, gufo_error *error)
{
    checkpoint_tensor *tensors;

    if (c->tensor_count >= CHECKPOINT_MAX_TENSORS)
        return refuse(error, GUFO_E_LIMIT, "more than %s tensors", GROUPED(CHECKPOINT_MAX_TENSORS));
    tensors =
        mem_grow(c->allocator, c->tensors, c->tensor_count, &c->tensor_room, sizeof *c->tensors);
    if (tensors == NULL)
        return fail_memory(error);
    c->tensors = tensors;
    tensors[c->tensor_count] = *tensor;
    if (checkpoint_keep_shape(c, &tensors[c->tensor_count], error) != GUFO_OK)
        return GUFO_E_MEMORY;
    c->tensor_count++;
    return GUFO_OK;
}

void checkpoint_free_tensors(checkpoint *c)
{
    for (uint64_t i = 0; i < c->block_count; i++)
        mem_free(c->allocator, c->blocks[i]);
    shapes_free(&c->shapes, c->allocator);
    name_index_free(&c->by_name, c->allocator);
    mem_free(c->allocator, (void *)c->blocks);
    mem_free(c->allocator, c->tensors);
}

/* A dimension of 0 makes the tensor empty, even if the product of the others overflows. */
static bool count_elements(const checkpoint_tensor *t, uint64_t *elements)
{
    bool fits = true;

    *elements = 1;
    for (uint32_t i = 0; i < t->n_dims; i++) {
        if (t->shape[i] == 0) {
            *elements = 0;
            return true;
        }
        fits = fits && checked_mul(*elements, t->shape[i], elements);
    }
    return fits;
}

gufo_status tensor_shape(checkpoint_tensor *t, uint64_t shape[CHECKPOINT_MAX_DIMS], uint64_t at,
                         gufo_error *error)
{
    uint64_t bits;

    for (uint32_t i = t->n_dims; i < CHECKPOINT_MAX_DIMS; i++)
        shape[i] = 1;
    t->shape = shape;
    if (!count_elements(t, &t->elements) || !checked_mul(t->elements, t->number->bits, &bits))
        return fail_with(error, GUFO_E_RANGE, at,
                         "the elements of tensor %s do not fit into 64 bits of bytes",
                         QUOTED(t->name));
    if (bits % 8 != 0)
        return fail_with(error, GUFO_E_MALFORMED, at,
                         "tensor %s has %s elements of %s, which are not whole bytes",
                         QUOTED(t->name), GROUPED(t->elements), t->number->name);
    t->strides = NULL;
    return GUFO_OK;
}

void checkpoint_tensor_strides(const checkpoint_tensor *t, uint64_t out[CHECKPOINT_MAX_DIMS])
{
    uint64_t stride = 1;

    for (uint32_t i = CHECKPOINT_MAX_DIMS; i-- > 0;) {
        out[i] = t->strides != NULL && i < t->n_dims ? t->strides[i] : stride;
        stride *= t->elements > 0 && t->strides == NULL ? t->shape[i] : 1;
    }
}

gufo_status checkpoint_set_strides(checkpoint *c, checkpoint_tensor *t, const uint64_t *strides,
                                   gufo_error *error)
{
    uint64_t *kept = checkpoint_memory(c, t->n_dims * sizeof *kept);

    if (kept == NULL)
        return fail_memory(error);
    memcpy(kept, strides, t->n_dims * sizeof *kept);
    t->strides = kept;
    return GUFO_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

static gufo_str name_of_tensor(const void *owner, uint64_t index)
{
    const checkpoint *c = owner;

    return c->tensors[index].name;
}

static gufo_status fail_twice(const checkpoint *c, const checkpoint_tensor *first,
                              const checkpoint_tensor *second, gufo_error *error)
{
    if (first->file == second->file)
        (void)refuse(error, GUFO_E_MALFORMED, "two tensors are called %s", QUOTED(second->name));
    else
        (void)refuse(error, GUFO_E_MALFORMED, "tensor %s is also in %s", QUOTED(second->name),
                     QUOTED(gufo_str_of(c->files[first->file].path)));
    fail_in(error, GUFO_FILE_INPUT, second->file, c->files[second->file].path);
    return GUFO_E_MALFORMED;
}

gufo_status checkpoint_index_names(checkpoint *c, gufo_error *error)
{
    gufo_status status =
        name_index_new(&c->by_name, c->tensor_count, name_of_tensor, c, c->allocator, error);
    uint64_t first;

    for (uint64_t i = 0; i < c->tensor_count && status == GUFO_OK; i++)
        if (!name_index_add(&c->by_name, i, &first))
            status = fail_twice(c, &c->tensors[first], &c->tensors[i], error);
    return status;
}

const checkpoint_tensor *checkpoint_find(const checkpoint *c, gufo_str name)
{
    name_index by_name = c->by_name;
    uint64_t number;

    by_name.owner = c; /* which may have been moved since it was opened */
    return name_index_find(&by_name, name, &number) ? &c->tensors[number] : NULL;
}

/* ---- failures ------------------------------------------------------------------------------- */

gufo_status checkpoint_refuse(const checkpoint *c, const checkpoint_tensor *t, gufo_status code,
                              gufo_error *error, const char *format, ...)
{
    char text[GUFO_MESSAGE_SIZE];
    uint64_t at;
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    at = t != NULL && !t->is_product ? t->offset : GUFO_NO_OFFSET;
    code = fail_with(error, code, at, "%s", text);
    if (t != NULL)
        fail_in(error, GUFO_FILE_INPUT, t->file, c->files[t->file].path);
    return code;
}

gufo_status checkpoint_fail(const checkpoint *c, const checkpoint_tensor *t, gufo_status status,
                            gufo_error *error)
{
    char reason[GUFO_MESSAGE_SIZE];

    if (status != GUFO_E_ARGUMENT && status != GUFO_E_LIMIT && status != GUFO_E_TYPE)
        return status;
    (void)snprintf(reason, sizeof reason, "%s", error != NULL ? error->message : "");
    return checkpoint_refuse(c, t, status == GUFO_E_ARGUMENT ? GUFO_E_MALFORMED : status, error,
                             "tensor %s: %s", QUOTED(t->name), reason);
}
