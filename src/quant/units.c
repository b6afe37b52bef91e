/* Tensors cut into units of work.
 *
 *     tensor   |--------- slice 0 ---------|--------- slice 1 ---------|
 *     unit     |    0    |    1    |   2   |    3    |    4    |   5   |     whole rows
 *     step     | | | | | | | | | | | | | | | | | | | | | | | | | | | | |     whole rows
 *
 * A unit is read and written in one go, a step is decoded, encoded and measured in one go: the one
 * is large enough for the disk, the other small enough for the processor's cache.  Where they begin
 * depends on the shape of the tensor alone, and so do sums over them. */
#include "quant/quantizer.h"

#include "base/checked.h"

enum {
    UNIT_ELEMENTS = 256 * 1024,
    STEP_ELEMENTS = 16 * 1024,
    COPY_BYTES = 16 * 1024 * 1024, /* of a unit that is copied */
    COPY_BUFFER = 1024 * 1024,     /* where the system cannot copy by itself */
    LARGEST_GROUP = 8,             /* rows that the interleaved types pack together */
};

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- cutting -------------------------------------------------------------------------------- */

/* Rows of `columns` elements that make up `elements`, in whole groups; at least one group. */
static uint64_t rows_of(uint64_t elements, uint64_t columns, uint64_t group)
{
    uint64_t groups = elements / columns / group;

    return (groups > 0 ? groups : 1) * group;
}

static void cut_bytes(quant_tensor *tensor)
{
    quant_cut *cut = &tensor->cut;

    cut->unit_bytes = COPY_BYTES;
    cut->units = divide_up(tensor->source.size, COPY_BYTES);
}

static void cut_rows(quant_tensor *tensor)
{
    const uint64_t *dims = tensor->source.dims;
    quant_cut *cut = &tensor->cut;
    uint64_t columns = dims[0], all_rows = tensor->source.elements / columns;
    uint64_t group = tensor->from->flags & GUFO_ELEMENT_REMOVED ? LARGEST_GROUP : 1;

    cut->slices = tensor->has_importance ? dims[2] * dims[3] : 1;
    cut->rows = all_rows / cut->slices;
    cut->rows_per_unit = rows_of(UNIT_ELEMENTS, columns, group);
    cut->rows_per_step = rows_of(STEP_ELEMENTS, columns, group);
    cut->units_per_slice = divide_up(cut->rows, cut->rows_per_unit);
    cut->units = cut->slices * cut->units_per_slice;
    cut->row_bytes_from = tensor->source.size / all_rows;
    cut->row_bytes_to = tensor->choice.size / all_rows;
}

void unit_cut(quant_tensor *tensor, uint64_t first_unit)
{
    tensor->cut.first_unit = first_unit;
    if (tensor->source.size == 0)
        tensor->cut.units = 0;
    else if (tensor->cut.method == METHOD_COPY)
        cut_bytes(tensor);
    else
        cut_rows(tensor);
}

/* ---- finding -------------------------------------------------------------------------------- */

/* The tensor of a unit: the last one that begins at or before it and is not empty. */
static uint64_t tensor_of_unit(const gufo_quantizer *q, uint64_t number)
{
    uint64_t low = 0, high = q->tensor_count;

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (q->tensors[middle].cut.first_unit <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void place_bytes(quant_unit *unit, uint64_t number)
{
    uint64_t begin = number * unit->tensor->cut.unit_bytes;

    unit->from = unit->to = begin;
    unit->from_size = unit->to_size =
        smaller(unit->tensor->cut.unit_bytes, unit->tensor->source.size - begin);
}

static void place_rows(quant_unit *unit, uint64_t number)
{
    const quant_cut *cut = &unit->tensor->cut;
    uint64_t row = number % cut->units_per_slice * cut->rows_per_unit; /* in the slice */

    unit->slice = number / cut->units_per_slice;
    unit->row = unit->slice * cut->rows + row;
    unit->rows = smaller(cut->rows_per_unit, cut->rows - row);
    unit->from = unit->row * cut->row_bytes_from;
    unit->from_size = unit->rows * cut->row_bytes_from;
    unit->to = unit->row * cut->row_bytes_to;
    unit->to_size = unit->rows * cut->row_bytes_to;
}

quant_unit unit_at(const gufo_quantizer *q, uint64_t number)
{
    uint64_t index = tensor_of_unit(q, number);
    quant_unit unit = {.tensor = &q->tensors[index], .index = index};
    const quant_cut *cut = &unit.tensor->cut;

    number -= cut->first_unit;
    unit.last = number == cut->units - 1;
    if (cut->method == METHOD_COPY)
        place_bytes(&unit, number);
    else
        place_rows(&unit, number);
    return unit;
}

/* ---- what a thread needs -------------------------------------------------------------------- */

static worker_sizes sizes_for(const quant_tensor *tensor)
{
    const quant_cut *cut = &tensor->cut;
    uint64_t columns = tensor->source.dims[0];
    uint64_t all_rows = cut->slices * cut->rows;
    uint64_t unit_rows = smaller(cut->rows_per_unit, all_rows);
    uint64_t step_rows = smaller(cut->rows_per_step, all_rows);
    worker_sizes sizes = {0};

    if (cut->method == METHOD_COPY) {
        sizes.source = smaller(COPY_BUFFER, tensor->source.size);
        return sizes;
    }
    sizes.source = unit_rows * cut->row_bytes_from;
    sizes.coded = unit_rows * cut->row_bytes_to;
    if (cut->method == METHOD_CONVERT)
        sizes.values = step_rows * columns * sizeof(float);
    if (tensor->has_importance)
        sizes.importance = columns * sizeof(float);
    return sizes;
}

static void enlarge(uint64_t *size, uint64_t other)
{
    if (other > *size)
        *size = other;
}

worker_sizes quantizer_worker_sizes(const gufo_quantizer *q)
{
    worker_sizes all = {0};
    uint64_t most = 0;

    for (uint64_t i = 0; i < q->tensor_count; i++) {
        worker_sizes sizes;
        uint64_t sum;

        if (q->tensors[i].cut.units == 0)
            continue;
        sizes = sizes_for(&q->tensors[i]);
        sum = sizes.source + sizes.coded + 2 * sizes.values + sizes.importance;
        if (sum > most) {
            most = sum;
            all.tensor = i;
        }
        enlarge(&all.source, sizes.source);
        enlarge(&all.coded, sizes.coded);
        enlarge(&all.values, sizes.values);
        enlarge(&all.importance, sizes.importance);
    }
    all.total = all.source + all.coded + 2 * all.values + all.importance;
    return all;
}
