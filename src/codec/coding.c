/* Decoding, encoding and repacking: the checks, and the way to the kernels. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "codec/coding.h"
#include "codec/interleaved.h"
#include "codec/kernels.h"
#include "codec/lattice.h"
#include "codec/run.h"
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

/* ---- parts, which several threads code ------------------------------------------------------------ */

enum { PART = 4096 }; /* whole blocks of every type, which stay in the nearest cache */

/* Units that can be coded on their own. */
typedef struct parts {
    const gufo_run *run;
    void (*code)(const void *coding, uint64_t first, uint64_t count);
    const void *coding;
    uint64_t units, at_once; /* of a part */
    uint64_t bytes;          /* of all blocks */
} parts;

static gufo_status code_part(void *context, unsigned thread, uint64_t index, void *result,
                             gufo_error *error)
{
    const parts *p = context;
    uint64_t first = index * p->at_once;

    (void)thread;
    (void)result;
    (void)error;
    p->code(p->coding, first, smaller(p->units - first, p->at_once));
    return GUFO_OK;
}

static gufo_status note_part(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const parts *p = context;
    uint64_t left = p->units - smaller(p->units, (index + 1) * p->at_once);

    (void)result;
    return run_progress(p->run, p->bytes - left * (p->bytes / p->units), p->bytes, error);
}

/* A thread has at least so many numbers, or it takes longer to start than it saves. */
static gufo_status run_parts(parts *p, uint64_t numbers, uint64_t least, gufo_error *error)
{
    uint64_t threads = smaller(thread_count(p->run->threads), numbers / least);

    if (threads < 2 && p->run->progress == NULL) {
        p->code(p->coding, 0, p->units);
        return GUFO_OK;
    }
    p->at_once = larger(1, p->units / larger(1, numbers / least * 4));
    const parallel_loop loop = {.end = (p->units - 1) / p->at_once + 1,
                                .threads = (unsigned)threads,
                                .context = p,
                                .work = code_part,
                                .hand_over = note_part};
    return parallel_run(&loop, run_allocator(p->run), error);
}

/* ---- decoding: rows ------------------------------------------------------------------------------- */

enum { DECODES_LEAST = 1 << 18, ENCODES_LEAST = 1 << 15 }; /* numbers of a thread */

typedef struct decoding {
    const gufo_element_type *type;
    const interleaved
        *layout;         /* NULL: rows follow each other without a gap, they are one long row */
    const coder *coding; /* of the type, or of the one that it was made from */
    const uint8_t *blocks;
    uint64_t rows, columns;
    decoded out;
} decoding;

/* The groups of a few rows follow each other. */
static void decode_group(const decoding *d, uint64_t group)
{
    enum { MOST_ROWS = 8, ELEMENTS = 32, BYTES = 18 };
    uint8_t split[MOST_ROWS * BYTES];
    const uint32_t rows = d->layout->rows;
    const uint8_t *blocks = d->blocks + group * (d->columns / ELEMENTS) * rows * BYTES;

    for (uint64_t column = 0; column < d->columns; column += ELEMENTS) {
        interleaved_split(d->layout, blocks, split, BYTES);
        for (uint32_t r = 0; r < rows; r++)
            decode_blocks(d->coding, split + (size_t)r * BYTES, ELEMENTS, &d->out,
                          (group * rows + r) * d->columns + column);
        blocks += (size_t)rows * BYTES;
    }
}

static void decode_units(const void *coding, uint64_t first, uint64_t count)
{
    const decoding *d = coding;
    const uint64_t elements = d->rows * d->columns;
    const uint64_t bytes = PART / d->type->block_elements * d->type->block_bytes;

    for (uint64_t i = first; i < first + count; i++)
        if (d->layout != NULL)
            decode_group(d, i);
        else
            decode_blocks(d->coding, d->blocks + i * bytes, smaller(elements - i * PART, PART),
                          &d->out, i * PART);
}

/* Fills in all but blocks and shape, which are set. */
static gufo_status prepare(decoding *d, uint32_t narrow, gufo_cpu cpu, uint64_t *bytes,
                           gufo_error *error)
{
    const coder *kernels;
    gufo_status status = find_kernels(d->type, cpu, &kernels, error);

    if (status == GUFO_OK)
        status = coded_size(d->type, d->rows, d->columns, bytes, error);
    if (status != GUFO_OK)
        return status;
    d->layout = interleaved_find(d->type->id);
    d->coding = &kernels[d->layout != NULL ? d->layout->plain : d->type->id];
    d->out.narrow = kernels[narrow].encode;
    return GUFO_OK;
}

static gufo_status decode(decoding *d, uint32_t narrow, const gufo_run *given, gufo_error *error)
{
    const gufo_run *run = run_of(given);
    parts p = {.run = run, .code = decode_units, .coding = d};
    gufo_status status = run_check(run, error);

    if (status == GUFO_OK)
        status = prepare(d, narrow, run->cpu, &p.bytes, error);
    if (status != GUFO_OK || d->rows == 0 || d->columns == 0)
        return status;
    p.units = d->layout != NULL ? d->rows / d->layout->rows : (d->rows * d->columns - 1) / PART + 1;
    return run_parts(&p, d->rows * d->columns, DECODES_LEAST, error);
}

gufo_status gufo_decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                        uint64_t columns, float *values, const gufo_run *run, gufo_error *error)
{
    decoding d = {.type = type, .blocks = blocks, .rows = rows, .columns = columns};

    d.out.values = values;
    return decode(&d, GUFO_TYPE_F32, run, error);
}

gufo_status coding_decode(const gufo_element_type *type, const void *blocks, uint64_t rows,
                          uint64_t columns, float *values, gufo_cpu cpu, gufo_error *error)
{
    return gufo_decode(type, blocks, rows, columns, values, &(gufo_run){.threads = 1, .cpu = cpu},
                       error);
}

gufo_status gufo_decode_f16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                            uint64_t columns, uint16_t *values, const gufo_run *run,
                            gufo_error *error)
{
    decoding d = {.type = type, .blocks = blocks, .rows = rows, .columns = columns};

    d.out.halves = values;
    return decode(&d, GUFO_TYPE_F16, run, error);
}

gufo_status gufo_decode_bf16(const gufo_element_type *type, const void *blocks, uint64_t rows,
                             uint64_t columns, uint16_t *values, const gufo_run *run,
                             gufo_error *error)
{
    decoding d = {.type = type, .blocks = blocks, .rows = rows, .columns = columns};

    d.out.halves = values;
    return decode(&d, GUFO_TYPE_BF16, run, error);
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

typedef struct encoding {
    const gufo_encoder *encoder;
    encode_row
        row; /* the first one; one long row where columns have no importance: rows do not differ */
    uint8_t *blocks;
    uint64_t row_bytes, numbers;
} encoding;

static void encode_units(const void *coding, uint64_t first, uint64_t count)
{
    const encoding *e = coding;
    const gufo_element_type *type = e->encoder->type;

    for (uint64_t i = first; i < first + count; i++) {
        encode_row row = e->row;

        if (row.importance != NULL) {
            row.values += i * row.columns;
            e->encoder->encode(&row, e->blocks + i * e->row_bytes);
            continue;
        }
        row.values += i * PART;
        row.columns = smaller(e->numbers - i * PART, PART);
        e->encoder->encode(&row, e->blocks + i * (PART / type->block_elements * type->block_bytes));
    }
}

gufo_status gufo_encoder_encode(const gufo_encoder *encoder, const float *values, uint64_t rows,
                                uint64_t columns, const float *importance, void *blocks,
                                const gufo_run *given, gufo_error *error)
{
    const gufo_element_type *type = encoder->type;
    const gufo_run *run = run_of(given);
    parts p = {.run = run, .code = encode_units};
    gufo_status status = run_check(run, error);

    if (status == GUFO_OK)
        status = coded_size(type, rows, columns, &p.bytes, error);
    if (status != GUFO_OK || rows == 0 || columns == 0)
        return status;
    if (importance == NULL && (type->flags & GUFO_ELEMENT_NEEDS_IMPORTANCE) != 0)
        return refuse(error, GUFO_E_ARGUMENT, "%s cannot be encoded without importance",
                      type->name);
    if ((type->flags & GUFO_ELEMENT_WEIGHS) == 0)
        importance = NULL;
    encoding e = {.encoder = encoder,
                  .row = {values, columns, importance, encoder->lattice, encoder->effort},
                  .blocks = blocks,
                  .row_bytes = p.bytes / rows,
                  .numbers = rows * columns};

    p.coding = &e;
    p.units = importance != NULL ? rows : (e.numbers - 1) / PART + 1;
    return run_parts(&p, e.numbers, ENCODES_LEAST, error);
}

gufo_status coding_encode(const gufo_encoder *encoder, const float *values, uint64_t rows,
                          uint64_t columns, const float *importance, void *blocks,
                          gufo_error *error)
{
    return gufo_encoder_encode(encoder, values, rows, columns, importance, blocks,
                               &(gufo_run){.threads = 1}, error);
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
    status = coding_decode(type, blocks, rows, columns, floats, cpu, error);
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
