/* Some rows of a weight of whole numbers.
 *
 * A scale of zero makes numbers zero.  Where their codes say that they are not, the scale was lost:
 * that is refused. */
#include "import/packed/band.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

enum { MOST_GROUPS = 1 << 24 /* of a row */ };

gufo_status integers_groups(const packed_weight *w, uint64_t *groups, gufo_error *error)
{
    uint64_t group = w->settings.group == 0 ? w->columns : w->settings.group;

    if (w->columns == 0 || w->rows == 0)
        return refuse(error, GUFO_E_MALFORMED, "it has no numbers");
    if (w->columns % group != 0)
        return refuse(error, GUFO_E_MALFORMED, "groups of %s columns do not divide rows of %s",
                      GROUPED(group), GROUPED(w->columns));
    *groups = w->columns / group;
    if (*groups > MOST_GROUPS)
        return refuse(error, GUFO_E_LIMIT, "its rows have %s groups, more than %s",
                      GROUPED(*groups), GROUPED(MOST_GROUPS));
    return GUFO_OK;
}

static const integer_layout *layout_of(const band *b)
{
    return b->w->kind->integers;
}

void band_close(band *b)
{
    mem_free(b->w->allocator, b->block);
}

static bool has_order(const packed_weight *w)
{
    const uint32_t part = w->kind->integers->order_part;

    return part != NO_PART && w->parts[part] != NULL;
}

uint64_t band_size(const packed_weight *w, uint64_t rows, bool has_codes)
{
    uint64_t order = 0, each, size, groups;

    if (integers_groups(w, &groups, NULL) != GUFO_OK ||
        !checked_mul(has_order(w) ? w->columns : 0, sizeof(uint32_t), &order) ||
        !checked_add(groups * (sizeof(float) + sizeof(uint16_t)), has_codes ? w->columns : 0,
                     &each) ||
        !checked_mul(rows, each, &size) || !checked_add(size, order, &size))
        return UINT64_MAX;
    return size;
}

/* The groups of columns.  Those that were never set are all -1; where column / group says the same,
 * no list is needed. */
static gufo_status read_order(band *b, gufo_error *error)
{
    const packed_weight *w = b->w;
    uint64_t unset = 0, same = 0;
    gufo_status status;

    status = packed_words(w, layout_of(b)->order_part, 0, w->columns, b->order, error);
    for (uint64_t i = 0; i < w->columns && status == GUFO_OK; i++) {
        unset += b->order[i] == UINT32_MAX;
        same += b->order[i] == i / b->group;
    }
    for (uint64_t i = 0; i < w->columns && status == GUFO_OK && unset < w->columns; i++)
        if (b->order[i] >= b->groups)
            status = packed_fail(w, layout_of(b)->order_part, i, error,
                                 "column %" PRIu64 " has group %" PRIu32 " of %" PRIu64, i,
                                 b->order[i], b->groups);
    if (unset == w->columns || same == w->columns)
        b->order = NULL;
    return status;
}

gufo_status band_open(band *b, const packed_weight *w, uint64_t most, bool has_codes, void *room,
                      gufo_error *error)
{
    uint8_t *at = room;
    gufo_status status;

    *b = (band){.w = w};
    status = integers_groups(w, &b->groups, error);
    if (status != GUFO_OK)
        return status;
    b->group = w->columns / b->groups;
    if (at == NULL)
        at = b->block = mem_array(w->allocator, band_size(w, most, has_codes), 1);
    if (at == NULL)
        return fail_memory(error);
    /* The widest numbers first: all are aligned. */
    b->scales = (float *)(void *)at;
    at += most * b->groups * sizeof *b->scales;
    if (has_order(w)) {
        b->order = (uint32_t *)(void *)at;
        at += w->columns * sizeof *b->order;
    }
    b->zeros = (uint16_t *)(void *)at;
    at += most * b->groups * sizeof *b->zeros;
    b->codes = has_codes ? at : NULL;
    return b->order != NULL ? read_order(b, error) : GUFO_OK;
}

/* The element of the part of scales. */
static uint64_t scale_index(const band *b, uint64_t row, uint64_t group)
{
    return layout_of(b)->groups_first ? group * b->w->rows + b->first + row
                                      : (b->first + row) * b->groups + group;
}

/* A code is at most 256 from its zero. */
static gufo_status check_finite(const band *b, gufo_error *error)
{
    for (uint64_t i = 0; i < b->count * b->groups; i++)
        if (!(fabsf(b->scales[i]) <= FLT_MAX / 256))
            return packed_fail(b->w, layout_of(b)->scale_part,
                               scale_index(b, i / b->groups, i % b->groups), error, "a scale is %s",
                               packed_fault_of_scale(b->scales[i]));
    return GUFO_OK;
}

gufo_status band_check_row(const band *b, uint64_t row, gufo_error *error)
{
    const float *scales = b->scales + row * b->groups;
    const uint8_t *codes = b->codes + row * b->w->columns;
    bool found = false;

    for (uint64_t i = 0; i < b->groups; i++)
        found = found || !(fabsf(scales[i]) > 0);
    for (uint64_t i = 0; found && i < b->w->columns; i++) {
        uint64_t group = band_group(b, i);

        if (!(fabsf(scales[group]) > 0) && codes[i] != b->zeros[row * b->groups + group])
            return packed_fail(b->w, layout_of(b)->scale_part, scale_index(b, row, group), error,
                               "the scale of numbers that are not zero is zero");
    }
    return GUFO_OK;
}

gufo_status band_scales(band *b, gufo_error *error)
{
    gufo_status status = layout_of(b)->scales(b->w, b->first, b->count, b->scales, b->zeros, error);

    return status == GUFO_OK ? check_finite(b, error) : status;
}

gufo_status band_codes(band *b, uint64_t column, uint64_t columns, gufo_error *error)
{
    const integer_box box = {b->first, b->count, column, columns};

    return layout_of(b)->codes(b->w, &box, b->codes, error);
}
