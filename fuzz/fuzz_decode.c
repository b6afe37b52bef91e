/* Fuzz target: decode any bytes as blocks of any type.
 *
 * The last byte chooses the type, all bytes together are its blocks.  Every processor level must
 * give the same numbers, repacking and swapping twice must change nothing. */
#include "gufo/codec.h"
#include "walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const gufo_cpu levels[] = {GUFO_CPU_PORTABLE, GUFO_CPU_AVX2, GUFO_CPU_AVX512, GUFO_CPU_NEON};

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The same bits, or both NaN. */
static bool same_numbers(const float *a, const float *b, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bits_of(a[i]) != bits_of(b[i]) && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

typedef struct blocks {
    const gufo_element_type *type;
    const uint8_t *data; /* at an address of no alignment */
    uint64_t rows, columns, count;
} blocks;

static void decode_everywhere(const blocks *b)
{
    size_t elements = (size_t)(b->rows * b->columns);
    float *expected = malloc(elements * sizeof *expected + 1);
    float *values = malloc(elements * sizeof *values + 1);

    must(expected != NULL && values != NULL, "there is memory");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        float *out = i == 0 ? expected : values;
        gufo_status status = gufo_decode(b->type, b->data, b->rows, b->columns, out,
                                         &(gufo_run){.cpu = levels[i]}, NULL);
        bool decodes =
            gufo_cpu_available(levels[i]) && (b->type->flags & GUFO_ELEMENT_DECODES) != 0;
        must((status == GUFO_OK) == decodes, "what has a decoder is decoded");
        if (decodes)
            must(same_numbers(out, expected, elements), "every level decodes alike");
    }
    (void)gufo_first_nonfinite(expected, elements);
    free(expected);
    free(values);
}

static void decode_repacked(const blocks *b)
{
    size_t size = (size_t)(b->count * b->type->block_bytes);
    uint8_t *repacked = malloc(size + 1);
    blocks plain = *b;

    must(repacked != NULL, "there is memory");
    if (gufo_repack(b->type, b->data, b->rows, b->columns, repacked, &plain.type, NULL) ==
        GUFO_OK) {
        plain.data = repacked;
        decode_everywhere(&plain);
    }
    free(repacked);
}

static void swap_twice(const blocks *b)
{
    size_t size = (size_t)(b->count * b->type->block_bytes);
    uint8_t *swapped = malloc(size + 1);

    must(swapped != NULL, "there is memory");
    memcpy(swapped, b->data, size);
    for (int times = 0; times < 2; times++)
        must(gufo_swap_blocks(b->type, swapped, b->count, NULL) == GUFO_OK,
             "known layouts are swapped");
    must(memcmp(swapped, b->data, size) == 0, "swapped twice is as before");
    free(swapped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ROWS = 8 }; /* what the interleaved types can be made of */

    if (size == 0)
        return 0;
    blocks b = {.type = gufo_element_type_at(data[size - 1] % gufo_element_type_count()),
                .data = data,
                .rows = ROWS};
    if (b.type->block_bytes == 0)
        return 0;
    uint64_t blocks_per_row = size / b.type->block_bytes / ROWS;
    b.columns = blocks_per_row * b.type->block_elements;
    b.count = blocks_per_row * ROWS;
    decode_everywhere(&b);
    decode_repacked(&b);
    swap_twice(&b);
    return 0;
}
