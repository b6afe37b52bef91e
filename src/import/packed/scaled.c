/* Numbers of 8 bits, F8 or I8, with scales: W = number * scale, in F32.
 *
 *     weight  F8 or I8  [out, in], or of all experts [E, out, in]
 *     scale   one number, or [out], [out, 1], [E, 1, 1] ...: axes of 1 repeat, missing ones, too;
 *             or one for each block of rows and columns, and the last block may reach over the edge
 *
 * Numbers of I8 are blocks of Q8_0 where every scale is a number of F16. */
#include "import/packed/packed.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/half.h"
#include "import/containers/checkpoint.h"

enum {
    NUMBERS,
    SCALES,
    ZEROS,
    AXES = 3,          /* slices, rows, columns */
    AT_ONCE = 1 << 16, /* numbers that are unpacked at once, if rows are not longer */
    GROUP = 32,        /* of Q8_0 */
    BLOCK_BYTES = 2 + GROUP,
    MOST_NUMBER = 1 << 16 /* beyond those of all types */
};

/* The scale of number [s, r, c] is element s / each[0] * stride[0] + r / each[1] * stride[1] + ... */
typedef struct scale_map {
    uint64_t each[AXES], stride[AXES];
    uint64_t columns; /* scales of a row: those that follow each other */
} scale_map;

/* ---- shapes --------------------------------------------------------------------------------- */

/* Numbers along an axis of the weight that share a scale. */
static uint64_t block_along(const packed_weight *w, uint32_t axis)
{
    const packed_settings *s = &w->settings;

    if (s->block[0] > 0 && axis > 0)
        return larger(s->block[axis - 1], 1);
    return s->block[0] == 0 && axis == AXES - 1 ? larger(s->group, 1) : 1;
}

/* Axis `axis` of the weight, in the scales; one of a single number where they have it not. */
static uint64_t scales_along(const packed_weight *w, uint32_t axis)
{
    const checkpoint_tensor *t = w->parts[SCALES];
    uint32_t skipped = AXES - w->parts[NUMBERS]->n_dims;

    return axis >= skipped && axis - skipped < t->n_dims ? t->shape[axis - skipped] : 1;
}

/* Finds which scale is whose; false where shapes do not fit. */
static bool map_scales(const packed_weight *w, scale_map *map)
{
    const uint64_t sizes[AXES] = {w->slices, w->rows, w->columns};
    uint64_t stride = 1;

    for (uint32_t i = AXES; i-- > 0;) {
        uint64_t there = scales_along(w, i), block = block_along(w, i);

        map->each[i] = block;
        map->stride[i] = there == 1 ? 0 : stride;
        stride *= there;
        if (there != 1 && there != divide_up(sizes[i], block))
            return false;
        if (there == 1) /* one for all */
            map->each[i] = larger(sizes[i], 1);
    }
    map->columns = scales_along(w, AXES - 1);
    return true;
}

static gufo_status scaled_open(packed_weight *w, gufo_error *error)
{
    const checkpoint_tensor *t = w->parts[NUMBERS], *scales = w->parts[SCALES];
    scale_map map;
    gufo_status status;

    if (t->n_dims < 2 || t->n_dims > AXES)
        return packed_fail(w, NUMBERS, 0, error, "it has %u axes instead of 2 or 3", t->n_dims);
    status = packed_expect(w, NUMBERS, PACKED_EIGHTS, t->n_dims, t->shape, error);
    if (status == GUFO_OK)
        status = packed_expect(w, SCALES, PACKED_SCALES, scales->n_dims, scales->shape, error);
    if (status == GUFO_OK && w->parts[ZEROS] != NULL)
        status = packed_fail(w, ZEROS, 0, error, "zero points of 8 bits are not read");
    if (status != GUFO_OK)
        return status;
    w->slices = t->n_dims == AXES ? t->shape[0] : 1;
    w->rows = t->shape[t->n_dims - 2];
    w->columns = t->shape[t->n_dims - 1];
    if (w->settings.block[0] == 0 && w->settings.group > 0 && w->columns % w->settings.group != 0)
        return packed_fail(w, SCALES, 0, error, "groups of %s do not divide rows of %s numbers",
                           GROUPED(w->settings.group), GROUPED(w->columns));
    if (scales->n_dims > t->n_dims || !map_scales(w, &map))
        return packed_fail(w, SCALES, 0, error,
                           "the shape of its scales does not fit %s rows of %s numbers",
                           GROUPED(w->rows), GROUPED(w->columns));
    return GUFO_OK;
}

/* ---- scales --------------------------------------------------------------------------------- */

/* The first scale of a row. */
static uint64_t scale_of_row(const packed_weight *w, const scale_map *map, uint64_t row)
{
    return row / w->rows / map->each[0] * map->stride[0] +
           row % w->rows / map->each[1] * map->stride[1];
}

static gufo_status read_scales(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                               gufo_error *error)
{
    gufo_status status = packed_floats(w, SCALES, first, count, out, error);

    for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
        if (!(fabsf(out[i]) <= FLT_MAX / MOST_NUMBER))
            return packed_fail(w, SCALES, first + i, error, "a scale is %s",
                               packed_fault_of_scale(out[i]));
    return status;
}

/* ---- floats --------------------------------------------------------------------------------- */

/* Some rows of one slice on their way. */
typedef struct band {
    const packed_weight *weight;
    scale_map map;
    uint64_t first, count; /* rows */
    uint64_t first_scale;
    float *scales; /* of all these rows */
    uint8_t *bytes;
} band;

static gufo_status scale_run(const band *b, uint64_t index, uint64_t count, float *out,
                             gufo_error *error)
{
    float scale = b->scales[index];
    bool lost = false;

    for (uint64_t i = 0; scale == 0 && i < count; i++)
        lost = lost || out[i] != 0;
    if (lost)
        return packed_fail(b->weight, SCALES, b->first_scale + index, error,
                           "a scale is zero, but its numbers are not");
    for (uint64_t i = 0; i < count; i++)
        out[i] *= scale;
    return GUFO_OK;
}

static gufo_status scale_row(const band *b, uint64_t row, float *out, gufo_error *error)
{
    const packed_weight *w = b->weight;
    uint64_t base = scale_of_row(w, &b->map, row) - b->first_scale, each = b->map.each[AXES - 1];
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < w->columns && status == GUFO_OK; i += each)
        status = scale_run(b, base + i / each * b->map.stride[AXES - 1],
                           smaller(each, w->columns - i), out + i, error);
    return status;
}

static gufo_status unpack_band(band *b, float *out, gufo_error *error)
{
    const packed_weight *w = b->weight;
    const checkpoint_tensor *t = w->parts[NUMBERS];
    uint64_t end = scale_of_row(w, &b->map, b->first + b->count - 1) + b->map.columns;
    gufo_status status;

    b->first_scale = scale_of_row(w, &b->map, b->first);
    status = read_scales(w, b->first_scale, end - b->first_scale, b->scales, error);
    if (status == GUFO_OK)
        status =
            packed_read(w, NUMBERS, b->first * w->columns, b->count * w->columns, b->bytes, error);
    if (status == GUFO_OK)
        status = unpack_floats(t->number, t->swapped, b->bytes, b->count * w->columns, out, error);
    for (uint64_t i = 0; i < b->count && status == GUFO_OK; i++)
        status = scale_row(b, b->first + i, out + i * w->columns, error);
    return status;
}

/* Rows of a band, at most. */
static uint64_t band_room(const packed_weight *w)
{
    return larger(AT_ONCE / w->columns, 1);
}

static gufo_status open_band(band *b, const packed_weight *w, gufo_error *error)
{
    const uint64_t room = band_room(w);

    *b = (band){.weight = w, .map.each = {1, 1, 1}};
    if (!map_scales(w, &b->map))
        return refuse(error, GUFO_E_ARGUMENT, "the weight was not opened");
    b->scales = mem_array(w->allocator, room * b->map.columns, sizeof *b->scales);
    b->bytes = mem_array(w->allocator, room * w->columns, 1);
    return b->scales != NULL && b->bytes != NULL ? GUFO_OK : fail_memory(error);
}

static void close_band(const band *b)
{
    mem_free(b->weight->allocator, b->scales);
    mem_free(b->weight->allocator, b->bytes);
}

/* Rows of a band: they are few enough, and in one slice. */
static uint64_t rows_of_band(const packed_weight *w, uint64_t first, uint64_t left)
{
    return smaller(smaller(band_room(w), left), w->rows - first % w->rows);
}

static gufo_status scaled_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                                 gufo_error *error)
{
    band b;
    gufo_status status = open_band(&b, w, error);

    for (uint64_t done = 0; done < count && status == GUFO_OK; done += b.count) {
        b.first = first + done;
        b.count = rows_of_band(w, b.first, count - done);
        status = unpack_band(&b, out + done * w->columns, error);
    }
    close_band(&b);
    return status;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Whether the scales of I8 can be those of blocks of 32. */
static bool fits_blocks(const packed_weight *w)
{
    scale_map map;

    return strcmp(w->parts[NUMBERS]->number->name, "I8") == 0 && w->columns % GROUP == 0 &&
           map_scales(w, &map) && map.each[AXES - 1] % GROUP == 0;
}

/* Whether F16 has a scale.  One of zero is not for blocks: what it is for is looked at with its
 * numbers. */
static bool is_half(float value)
{
    return value != 0 && half_to_float(half_from_float(value)) == value;
}

static gufo_status scaled_type(const packed_weight *w, const gufo_element_type **type,
                               gufo_error *error)
{
    uint64_t left = w->parts[SCALES]->elements, some;
    bool fits = fits_blocks(w);
    float scales[256];
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < left && fits && status == GUFO_OK; i += some) {
        some = smaller(left - i, sizeof scales / sizeof *scales);
        status = read_scales(w, i, some, scales, error);
        for (uint64_t k = 0; k < some && status == GUFO_OK; k++)
            fits = fits && is_half(scales[k]);
    }
    *type = fits ? gufo_element_type_by_id(GUFO_TYPE_Q8_0) : NULL;
    return status;
}

static void make_row(const band *b, uint64_t row, uint8_t *out)
{
    const packed_weight *w = b->weight;
    const uint8_t *bytes = b->bytes + (row - b->first) * w->columns;
    uint64_t base = scale_of_row(w, &b->map, row) - b->first_scale;

    for (uint64_t i = 0; i < w->columns; i += GROUP, out += BLOCK_BYTES) {
        float scale = b->scales[base + i / b->map.each[AXES - 1] * b->map.stride[AXES - 1]];

        store_u16(out, half_from_float(scale), bytes_swapped(false));
        memcpy(out + 2, bytes + i, GROUP);
    }
}

static gufo_status scaled_blocks(const packed_weight *w, uint64_t first, uint64_t count,
                                 uint8_t *out, gufo_error *error)
{
    uint64_t row_bytes = w->columns / GROUP * BLOCK_BYTES, end;
    band b;
    gufo_status status = open_band(&b, w, error);

    for (uint64_t done = 0; done < count && status == GUFO_OK; done += b.count) {
        b.first = first + done;
        b.count = rows_of_band(w, b.first, count - done);
        b.first_scale = scale_of_row(w, &b.map, b.first);
        end = scale_of_row(w, &b.map, b.first + b.count - 1) + b.map.columns;
        status = read_scales(w, b.first_scale, end - b.first_scale, b.scales, error);
        if (status == GUFO_OK)
            status =
                packed_read(w, NUMBERS, b.first * w->columns, b.count * w->columns, b.bytes, error);
        for (uint64_t i = 0; i < b.count && status == GUFO_OK; i++)
            make_row(&b, b.first + i, out + (done + i) * row_bytes);
    }
    close_band(&b);
    return status;
}

/* ---- names ---------------------------------------------------------------------------------- */

#define SCALED(variable, label, numbers, scales, zeros)              \
    const packed_kind variable = {.name = label,                     \
                                  .parts = {numbers, scales, zeros}, \
                                  .required = 2,                     \
                                  .open = scaled_open,               \
                                  .find_type = scaled_type,          \
                                  .floats = scaled_floats,           \
                                  .blocks = scaled_blocks}

SCALED(packed_scaled, "8-bit", ".weight", ".weight_scale", ".weight_zero_point");
SCALED(packed_scaled_stacked, "8-bit", "", "_scale", NULL);
SCALED(packed_fp8, "FP8", ".weight", ".weight_scale_inv", NULL);
SCALED(packed_fp8_stacked, "FP8", "", "_scale_inv", NULL);
SCALED(packed_fp8_mistral, "FP8", ".weight", ".qscale_weight", NULL);
