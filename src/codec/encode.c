/* Encoding: the encoder object, the checks, and the way to the kernel. */
#include "codec/coding.h"
#include "codec/cpu.h"
#include "codec/lattice.h"

#include "base/error.h"
#include "base/memory.h"

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
