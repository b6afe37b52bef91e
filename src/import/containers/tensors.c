/* The tensors of a checkpoint: types of their numbers, adding, finding. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/coding.h"
#include "import/containers/checkpoint.h"
#include "produce/produce.h"

#include <math.h>
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

/* ---- numbers that no element type of GGUF has ------------------------------------------------ */

/* They have one byte: a float for each of them is exact. */

/* Sign, `exponent` bits, `mantissa` bits. */
static float small_float(uint8_t byte, unsigned mantissa, int bias)
{
    unsigned exponent = (byte & 0x7fu) >> mantissa, rest = byte & ((1u << mantissa) - 1u);
    int low = 1 - bias - (int)mantissa; /* the power of two of the last bit of small numbers */
    double value = exponent == 0 ? ldexp((double)rest, low)
                                 : ldexp((double)(rest | 1u << mantissa), low + (int)exponent - 1);

    return (float)((byte & 0x80u) != 0 ? -value : value);
}

static float truth(uint8_t byte)
{
    return byte != 0 ? 1.0f : 0.0f;
}

static float whole(uint8_t byte)
{
    return (float)byte;
}

/* Without infinity: the largest magnitude is NaN. */
static float e4m3(uint8_t byte)
{
    return (byte & 0x7fu) == 0x7fu ? NAN : small_float(byte, 3, 7);
}

static float e5m2(uint8_t byte)
{
    if ((byte & 0x7cu) == 0x7cu && (byte & 3u) != 0)
        return NAN;
    if ((byte & 0x7cu) == 0x7cu)
        return (byte & 0x80u) != 0 ? -INFINITY : INFINITY;
    return small_float(byte, 2, 15);
}

/* Powers of two. */
static float e8m0(uint8_t byte)
{
    return byte == 0xff ? NAN : (float)ldexp(1, byte - 127);
}

/* The unpackers: each needs a function of its own, which the engine calls. */
static gufo_status unpack(float (*value)(uint8_t), const struct rows *r, const uint8_t *bytes,
                          uint64_t count, float *out)
{
    uint64_t total = count * r->columns;
    float table[256];

    for (unsigned i = 0; i < 256; i++)
        table[i] = value((uint8_t)i);
    for (uint64_t i = 0; i < total; i++)
        out[i] = table[bytes[i]];
    return GUFO_OK;
}

#define UNPACKER(name, value)                                                                      \
    static gufo_status name(const struct rows *r, const float *const *sides, const uint8_t *bytes, \
                            uint64_t first, uint64_t count, float *out, gufo_error *error)         \
    {                                                                                              \
        (void)sides, (void)first, (void)error;                                                     \
        return unpack(value, r, bytes, count, out);                                                \
    }

UNPACKER(unpack_truth, truth)
UNPACKER(unpack_whole, whole)
UNPACKER(unpack_e4m3, e4m3)
UNPACKER(unpack_e5m2, e5m2)
UNPACKER(unpack_e8m0, e8m0)

static const unpacker unpackers[] = {
    {"BOOL", unpack_truth},   {"U8", unpack_whole},     {"F8_E4M3", unpack_e4m3},
    {"F8_E5M2", unpack_e5m2}, {"F8_E8M0", unpack_e8m0},
};

const unpacker *unpack_find(const number_type *number)
{
    for (size_t i = 0; i < sizeof unpackers / sizeof *unpackers; i++)
        if (strcmp(unpackers[i].name, number->name) == 0)
            return &unpackers[i];
    return NULL;
}

gufo_status unpack_floats(const number_type *number, bool swapped, uint8_t *bytes, uint64_t count,
                          float *out, gufo_error *error)
{
    const gufo_element_type *type = number_element_type(number);
    const rows row = {.columns = count};
    gufo_status status = GUFO_OK;

    if (type == NULL)
        return unpack_find(number)->floats(&row, NULL, bytes, 0, 1, out, error);
    if (swapped && number->bits > 8)
        status = gufo_swap_blocks(type, bytes, count, error);
    return status == GUFO_OK ? coding_decode(type, bytes, 1, count, out, GUFO_CPU_BEST, error)
                             : status;
}

/* ---- adding and finding ---------------------------------------------------------------------- */

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
