/* Scales and zeros of weights whose rows are columns of their parts. */
#include "import/packed/columns.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"

gufo_status columns_open(const packed_weight *w, gufo_error *error)
{
    const uint64_t per = 32 / w->settings.bits;
    uint64_t groups = 0;
    gufo_status status = integers_groups(w, &groups, error);
    const uint64_t zeros[] = {groups, w->rows / per}, scales[] = {groups, w->rows};

    if (status == GUFO_OK && w->rows % per != 0)
        status =
            packed_fail(w, COLUMNS_WEIGHT, 0, error, "%s outputs do not fill words of %s numbers",
                        GROUPED(w->rows), GROUPED(per));
    if (status == GUFO_OK)
        status = packed_expect(w, COLUMNS_ZEROS, PACKED_WORDS, 2, zeros, error);
    if (status == GUFO_OK)
        status = packed_expect(w, COLUMNS_SCALES, PACKED_FLOATS, 2, scales, error);
    if (status == GUFO_OK && w->parts[COLUMNS_ORDER] != NULL)
        status = packed_expect(w, COLUMNS_ORDER, PACKED_WORDS, 1, &w->columns, error);
    return status;
}

/* The zeros and scales of one group, as they are stored; `words` has room for as many as there are
 * rows. */
static gufo_status read_group(const packed_weight *w, uint64_t group, uint64_t first,
                              uint64_t count, uint32_t *words, float *floats, gufo_error *error)
{
    const uint64_t per = 32 / w->settings.bits, from = first / per;
    gufo_status status = packed_words(w, COLUMNS_ZEROS, group * (w->rows / per) + from,
                                      divide_up(first + count, per) - from, words, error);

    return status == GUFO_OK
               ? packed_floats(w, COLUMNS_SCALES, group * w->rows + first, count, floats, error)
               : status;
}

static uint32_t zero_of(const packed_weight *w, const columns_zeros *z, uint32_t word, uint64_t row)
{
    const uint32_t bits = w->settings.bits, k = (uint32_t)(row % (32 / bits));

    return (word >> bits * (z->places != NULL ? z->places[k] : k) & ((1u << bits) - 1u)) + z->add;
}

gufo_status columns_scales(const packed_weight *w, const columns_zeros *z, uint64_t first,
                           uint64_t count, float *scales, uint16_t *zeros, gufo_error *error)
{
    const uint64_t groups = w->parts[COLUMNS_SCALES]->shape[0], per = 32 / w->settings.bits;
    uint32_t *words = mem_array(w->allocator, count, sizeof *words);
    float *floats = mem_array(w->allocator, count, sizeof *floats);
    gufo_status status = words == NULL || floats == NULL ? fail_memory(error) : GUFO_OK;

    for (uint64_t i = 0; i < groups && status == GUFO_OK; i++) {
        status = read_group(w, i, first, count, words, floats, error);
        for (uint64_t k = 0; k < count && status == GUFO_OK; k++) {
            scales[k * groups + i] = floats[k];
            zeros[k * groups + i] =
                (uint16_t)zero_of(w, z, words[(first + k) / per - first / per], first + k);
        }
    }
    mem_free(w->allocator, words);
    mem_free(w->allocator, floats);
    return status;
}
