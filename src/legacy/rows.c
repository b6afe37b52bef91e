/* Rows of a tensor, made of what the old file has.
 *
 * A row is read from one part, or from all (where columns are divided), and then copied, repacked,
 * or decoded:
 *
 *     part 0  [a0 a1 | b0 b1]         DIVIDED_COLUMNS: row r is row r of part 0, of part 1 ...
 *     part 1  [a2 a3 | b2 b3]   -->   a0 a1 a2 a3 | b0 b1 b2 b3
 *
 *     part 0  [a | b]                 DIVIDED_ROWS: all rows of part 0, then those of part 1
 *     part 1  [c | d]           -->   a | b | c | d */
#include "base/checked.h"
#include "base/error.h"
#include "codec/half.h"
#include "legacy/plan.h"

/* Numbers that are converted at once. */
enum { CHUNK_NUMBERS = 1 << 18 };

bool legacy_is_copied(const legacy_tensor *t)
{
    const legacy_record *r = first_record(t);

    if (t->record_count == 0)
        return true;
    return r->layout->same_bytes && t->type->id == r->layout->today &&
           (t->file->part_count == 1 || t->row->division == DIVIDED_ROWS || r->n_dims != 2);
}

/* Memory for `count` things; NULL, too, where that is more than addresses. */
static void *room_for(const legacy_tensor *t, uint64_t count, uint64_t size)
{
    uint64_t bytes;

    return checked_mul(count, size, &bytes) && bytes <= SIZE_MAX
               ? mem_alloc(t->file->allocator, (size_t)bytes)
               : NULL;
}

/* ---- old bytes ------------------------------------------------------------------------------ */

static gufo_status read_bytes(const legacy_file *file, uint32_t part, uint64_t offset, void *out,
                              uint64_t size, gufo_error *error)
{
    gufo_status status = source_read(&file->parts[part].source, offset, out, (size_t)size, error);

    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, part, file->parts[part].path);
    return status;
}

static uint64_t part_row_bytes(const legacy_record *r)
{
    return r->ne[0] / r->layout->block_length * r->layout->block_bytes;
}

/* Rows whose columns are divided: a row of each part, in turn. */
static gufo_status gather_columns(const legacy_tensor *t, uint64_t first, uint64_t count,
                                  uint8_t *out, gufo_error *error)
{
    uint64_t size = part_row_bytes(first_record(t)), parts = t->file->part_count;
    uint8_t *rows = room_for(t, count, size);
    gufo_status status = rows != NULL ? GUFO_OK : fail_memory(error);

    for (uint32_t part = 0; part < parts && status == GUFO_OK; part++) {
        const legacy_record *r = &t->file->parts[part].records[t->records[0]];

        status = read_bytes(t->file, part, r->offset + first * size, rows, count * size, error);
        for (uint64_t i = 0; i < count && status == GUFO_OK; i++)
            memcpy(out + (i * parts + part) * size, rows + i * size, (size_t)size);
    }
    mem_free(t->file->allocator, rows);
    return status;
}

/* Rows that each part has some of. */
static gufo_status gather_rows(const legacy_tensor *t, uint64_t first, uint64_t count, uint8_t *out,
                               gufo_error *error)
{
    const legacy_record *r0 = first_record(t);
    uint64_t size = part_row_bytes(r0), here = r0->size / size;
    gufo_status status = GUFO_OK;

    while (count > 0 && status == GUFO_OK) {
        uint32_t part = (uint32_t)(first / here);
        const legacy_record *r = &t->file->parts[part].records[t->records[0]];
        uint64_t some = smaller(count, here - first % here);

        status =
            read_bytes(t->file, part, r->offset + first % here * size, out, some * size, error);
        out += some * size;
        first += some;
        count -= some;
    }
    return status;
}

static gufo_status gather(const legacy_tensor *t, uint64_t first, uint64_t count, uint8_t *out,
                          gufo_error *error)
{
    bool columns = t->file->part_count > 1 && t->row->division == DIVIDED_COLUMNS &&
                   first_record(t)->n_dims == 2;

    return columns ? gather_columns(t, first, count, out, error)
                   : gather_rows(t, first, count, out, error);
}

/* ---- new bytes ------------------------------------------------------------------------------ */

static gufo_status decode(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                          float *values, gufo_error *error)
{
    if (layout->decode == NULL)
        return gufo_decode(gufo_element_type_by_id(layout->today), bytes, 1,
                           blocks * layout->block_length, values, GUFO_CPU_BEST, error);
    legacy_decode(layout, bytes, blocks, values);
    return GUFO_OK;
}

static gufo_status store_halves(const legacy_tensor *t, const float *values, uint64_t count,
                                uint8_t *out, gufo_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        uint16_t half = half_from_float(values[i]);

        if ((half & 0x7c00u) == 0x7c00u)
            return refuse(error, GUFO_E_RANGE,
                          "tensor %s has a number that F16 cannot hold: F32 can",
                          QUOTED(t->source));
        store_u16(out + 2 * i, half, bytes_swapped(false));
    }
    return GUFO_OK;
}

static void store_floats(const float *values, uint64_t count, uint8_t *out)
{
    for (uint64_t i = 0; i < count; i++)
        store_u32(out + 4 * i, float_to_bits(values[i]), bytes_swapped(false));
}

static gufo_status to_numbers(const legacy_tensor *t, const uint8_t *bytes, uint64_t blocks,
                              uint8_t *out, gufo_error *error)
{
    const legacy_layout *layout = first_record(t)->layout;
    uint64_t count = blocks * layout->block_length;
    float *values = room_for(t, count, sizeof *values);
    gufo_status status =
        values != NULL ? decode(layout, bytes, blocks, values, error) : fail_memory(error);

    if (status == GUFO_OK && t->type->id == GUFO_TYPE_F16)
        status = store_halves(t, values, count, out, error);
    else if (status == GUFO_OK)
        store_floats(values, count, out);
    mem_free(t->file->allocator, values);
    return status;
}

static gufo_status convert(const legacy_tensor *t, const uint8_t *bytes, uint64_t blocks,
                           uint8_t *out, gufo_error *error)
{
    const legacy_layout *layout = first_record(t)->layout;

    if (t->type->id != layout->today)
        return to_numbers(t, bytes, blocks, out, error);
    if (layout->same_bytes) {
        memcpy(out, bytes, (size_t)(blocks * layout->block_bytes));
        return GUFO_OK;
    }
    return legacy_repack(layout, bytes, blocks, out, error);
}

static gufo_status convert_rows(const legacy_tensor *t, uint64_t first, uint64_t count,
                                uint64_t columns, uint8_t *out, gufo_error *error)
{
    const legacy_layout *layout = first_record(t)->layout;
    uint64_t blocks = columns / layout->block_length;
    uint8_t *bytes = room_for(t, count, blocks * layout->block_bytes);
    gufo_status status = bytes != NULL ? gather(t, first, count, bytes, error) : fail_memory(error);

    if (status == GUFO_OK)
        status = convert(t, bytes, count * blocks, out, error);
    mem_free(t->file->allocator, bytes);
    return status;
}

gufo_status legacy_read_rows(const legacy_tensor *t, uint64_t first, uint64_t count, void *out,
                             gufo_error *error)
{
    uint64_t ne[LEGACY_MAX_DIMS], size, step;
    gufo_status status;

    legacy_whole(t->file, first_record(t), t->row, ne);
    status = gufo_element_row_size(t->type, ne[0], &size, error);
    step = larger(CHUNK_NUMBERS / ne[0], 1);
    for (uint64_t done = 0; done < count && status == GUFO_OK; done += step) {
        uint64_t some = smaller(step, count - done);

        status = convert_rows(t, first + done, some, ne[0], (uint8_t *)out + done * size, error);
    }
    return status;
}
