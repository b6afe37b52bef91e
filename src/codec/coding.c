/* Decoding, encoding and repacking: the checks, and the way to the kernels. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/interleaved.h"
#include "codec/kernels.h"
#include "codec/lattice.h"
#include "gufo/codec.h"

/* ---- decoding: the checks, and the way to the kernel -------------------------------------------- */

/* The bytes of rows * columns elements.  GUFO_E_ARGUMENT if columns do not fill blocks, or rows do
 * not fill the groups of an interleaved type; GUFO_E_RANGE if the size overflows. */
static gufo_status coded_size(const gufo_element_type *type, uint64_t rows, uint64_t columns,
                              uint64_t *bytes, gufo_error *error)
{
    const interleaved *layout = interleaved_find(type->id);
    uint64_t row_size, elements;
    gufo_status status = gufo_element_row_size(type, columns, &row_size, NULL);

    if (status == GUFO_E_ARGUMENT)
        return refuse(error, status, "a row of %s elements does not fill blocks of %u (%s)",
                      GROUPED(columns), (unsigned)type->block_elements, type->name);
    if (status == GUFO_OK && layout != NULL && rows % layout->rows != 0)
        return refuse(error, GUFO_E_ARGUMENT, "%s needs a multiple of %u rows, not %" PRIu64,
                      type->name, (unsigned)layout->rows, rows);
    if (status == GUFO_OK && checked_mul(rows, row_size, bytes) &&
        checked_mul(rows, columns, &elements) && checked_mul(elements, sizeof(float), &elements) &&
        *bytes <= SIZE_MAX && elements <= SIZE_MAX)
        return GUFO_OK;
    return refuse(error, GUFO_E_RANGE, "%s rows of %s elements are too many", GROUPED(rows),
                  GROUPED(columns));
}

static gufo_status find_kernels(const gufo_element_type *type, gufo_cpu cpu, const coder **kernels,
                                gufo_error *error)
{
    if ((type->flags & GUFO_ELEMENT_DECODES) == 0)
        return refuse(error, GUFO_E_TYPE, "%s cannot be decoded", type->name);
    *kernels = cpu_kernels(cpu);
    return *kernels != NULL ? GUFO_OK : fail_cpu(cpu, error);
}

/* Where decoded numbers go. */
typedef struct decoded {
    float *values;    /* or NULL: */
    uint16_t *halves; /* binary16 or bfloat16 */
    encode_kernel *narrow;
} decoded;

/* Decodes whole blocks to element `at` on. */
static void decode_blocks(const coder *coding, const uint8_t *blocks, uint64_t elements,
                          const decoded *out, uint64_t at)
{
    enum { MOST = 4096 };
    float values[MOST];

    if (out->values != NULL) {
        coding->decode(blocks, elements, out->values + at);
        return;
    }
    coding->decode(blocks, elements, values);
    out->narrow(&(encode_row){.values = values, .columns = elements},
                (uint8_t *)(out->halves + at));
    if (HOST_IS_BIG_ENDIAN)
        copy_numbers(out->halves + at, out->halves + at, elements, sizeof(uint16_t), true);
}

/* The groups of all rows of R follow each other. */
static void decode_interleaved(const interleaved *layout, const coder *plain, const uint8_t *blocks,
                               uint64_t rows, uint64_t columns, const decoded *out)
{
    enum { MOST_ROWS = 8, ELEMENTS = 32, BYTES = 18 };
    uint8_t split[MOST_ROWS * BYTES];

    for (uint64_t row = 0; row < rows; row += layout->rows) {
        for (uint64_t column = 0; column < columns; column += ELEMENTS) {
            interleaved_split(layout, blocks, split, BYTES);
            for (uint32_t r = 0; r < layout->rows; r++)
                decode_blocks(plain, split + (size_t)r * BYTES, ELEMENTS, out,
                              (row + r) * columns + column);
            blocks += (size_t)layout->rows * BYTES;
        }
    }
}

/* Rows follow each other without a gap: they are one long row, taken in parts that stay in the
 * nearest cache. */
static void decode_plain(const gufo_element_type *type, const coder *coding, const uint8_t *blocks,
                         uint64_t elements, const decoded *out)
{
    enum { PART = 4096 }; /* whole blocks of every type */
    uint64_t part_bytes = PART / type->block_elements * type->block_bytes;

    for (uint64_t at = 0; at < elements; at += PART, blocks += part_bytes)
        decode_blocks(coding, blocks, elements - at < PART ? elements - at : PART, out, at);
}

static gufo_status decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                          uint64_t columns, decoded out, uint32_t narrow, gufo_cpu cpu,
                          gufo_error *error)
{
    const interleaved *layout = interleaved_find(type->id);
    const coder *kernels;
    uint64_t bytes;
    gufo_status status = find_kernels(type, cpu, &kernels, error);

    if (status == GUFO_OK)
        status = coded_size(type, rows, columns, &bytes, error);
    if (status != GUFO_OK || rows == 0 || columns == 0)
        return status;
    out.narrow = kernels[narrow].encode;
    if (layout != NULL)
        decode_interleaved(layout, &kernels[layout->plain], blocks, rows, columns, &out);
    else
        decode_plain(type, &kernels[type->id], blocks, rows * columns, &out);
    return GUFO_OK;
}

gufo_status gufo_decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *values, gufo_cpu cpu, gufo_error *error)
{
    return decode(type, blocks, rows, columns, (decoded){.values = values}, GUFO_TYPE_F32, cpu,
                  error);
}

gufo_status gufo_decode_f16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                            uint64_t columns, uint16_t *values, gufo_cpu cpu, gufo_error *error)
{
    return decode(type, blocks, rows, columns, (decoded){.halves = values}, GUFO_TYPE_F16, cpu,
                  error);
}

gufo_status gufo_decode_bf16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                             uint64_t columns, uint16_t *values, gufo_cpu cpu, gufo_error *error)
{
    return decode(type, blocks, rows, columns, (decoded){.halves = values}, GUFO_TYPE_BF16, cpu,
                  error);
}

/* ---- encoding: the encoder object, the checks, and the way to the kernel ------------------------ */

struct gufo_encoder {
    gufo_allocator allocator;
    const gufo_element_type *type;
    encode_kernel *encode;
    gufo_effort effort;
    lattice *lattice; /* NULL: the type has none */
};

static gufo_status check_options(const gufo_element_type *type, const gufo_encoder_options *options,
                                 gufo_error *error)
{
    if ((type->flags & GUFO_ELEMENT_ENCODES) == 0)
        return refuse(error, GUFO_E_TYPE, "%s cannot be encoded", type->name);
    if (!gufo_cpu_available(options->cpu))
        return fail_cpu(options->cpu, error);
    if (options->effort != GUFO_EFFORT_REFERENCE && options->effort != GUFO_EFFORT_HIGH)
        return refuse(error, GUFO_E_ARGUMENT, "effort %d does not exist", (int)options->effort);
    return reserved_check(options->reserved, "gufo_encoder_options", error);
}

gufo_encoder *gufo_encoder_new(const gufo_element_type *type, const gufo_encoder_options *options,
                               gufo_error *error)
{
    static const gufo_encoder_options defaults = {0};
    const gufo_encoder_options *o = options != NULL ? options : &defaults;
    gufo_encoder *encoder;

    if (check_options(type, o, error) != GUFO_OK)
        return NULL;
    encoder = mem_object(o->allocator, sizeof *encoder, error);
    if (encoder == NULL)
        return NULL;
    encoder->type = type;
    encoder->encode = cpu_kernels(o->cpu)[type->id].encode;
    encoder->effort = o->effort;
    if (lattice_new(type->id, &encoder->allocator, &encoder->lattice, error) != GUFO_OK) {
        gufo_encoder_free(encoder);
        return NULL;
    }
    return encoder;
}

void gufo_encoder_free(gufo_encoder *encoder)
{
    if (encoder == NULL)
        return;
    gufo_allocator allocator = encoder->allocator;

    lattice_free(encoder->lattice, &allocator);
    mem_free(&allocator, encoder);
}

gufo_status gufo_encoder_encode(const gufo_encoder *encoder, const float *values, uint64_t rows,
                                uint64_t columns, const float *importance, void *blocks,
                                gufo_error *error)
{
    const gufo_element_type *type = encoder->type;
    uint64_t bytes;
    gufo_status status = coded_size(type, rows, columns, &bytes, error);

    if (status != GUFO_OK || rows == 0 || columns == 0)
        return status;
    if (importance == NULL && (type->flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) != 0)
        return refuse(error, GUFO_E_ARGUMENT, "%s cannot be encoded without importance",
                      type->name);
    encode_row row = {values, columns, importance, encoder->lattice, encoder->effort};
    uint64_t row_bytes = bytes / rows;
    uint8_t *out = blocks;

    if ((type->flags & GUFO_ELEMENT_WEIGHS) == 0)
        row.importance = NULL;
    if (row.importance == NULL) { /* rows do not differ: they are one */
        row.columns = rows * columns;
        rows = 1;
    }
    for (uint64_t i = 0; i < rows; i++, row.values += columns, out += row_bytes)
        encoder->encode(&row, out);
    return GUFO_OK;
}

/* ---- decoding to doubles ------------------------------------------------------------------------ */

static double double_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Numbers that a float cannot hold. */
static bool widen(uint32_t type, const uint8_t *from, uint64_t count, double *values)
{
    const bool swap = HOST_IS_BIG_ENDIAN;

    if (type != GUFO_TYPE_F64 && type != GUFO_TYPE_I64 && type != GUFO_TYPE_I32)
        return false;
    for (uint64_t i = 0; i < count; i++)
        values[i] = type == GUFO_TYPE_F64   ? double_from_bits(load_u64(from + i * 8, swap))
                    : type == GUFO_TYPE_I64 ? (double)(int64_t)load_u64(from + i * 8, swap)
                                            : (double)(int32_t)load_u32(from + i * 4, swap);
    return true;
}

gufo_status decode_wide(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *floats, double *values, gufo_cpu cpu,
                        gufo_error *error)
{
    gufo_status status;

    if (widen(type->id, blocks, rows * columns, values))
        return GUFO_OK;
    status = gufo_decode(type, blocks, rows, columns, floats, cpu, error);
    for (uint64_t i = 0; i < rows * columns && status == GUFO_OK; i++)
        values[i] = (double)floats[i];
    return status;
}

/* ---- interleaved blocks taken apart into those of the type that they were made from ------------- */

gufo_status gufo_repack(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, void *out, const gufo_element_type **repacked,
                        gufo_error *error)
{
    const interleaved *layout = interleaved_find(type->id);
    uint64_t row_size, bytes;

    if (layout == NULL)
        return refuse(error, GUFO_E_TYPE, "%s is not interleaved", type->name);
    gufo_status status = coded_size(type, rows, columns, &bytes, error);
    if (status != GUFO_OK)
        return status;
    row_size = rows == 0 ? 0 : bytes / rows;
    const uint8_t *group = blocks;
    for (uint64_t row = 0; row < rows; row += layout->rows) {
        uint8_t *at = (uint8_t *)out + row * row_size;
        for (uint64_t done = 0; done < row_size; done += INTERLEAVED_BLOCK_BYTES) {
            interleaved_split(layout, group, at + done, row_size);
            group += (size_t)INTERLEAVED_BLOCK_BYTES * layout->rows;
        }
    }
    if (repacked != NULL)
        *repacked = gufo_element_type_by_id(layout->plain);
    return GUFO_OK;
}
