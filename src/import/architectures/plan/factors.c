/* Factors of packed weights.
 *
 *     blk.0.attn_q.weight       blocks             W = block * scale
 *     blk.0.attn_q.scale        one number; for a stack of experts one for each
 *     blk.0.attn_q.input_scale  the same, of what the weight is multiplied with */
#include "import/architectures/plan/factors.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/packed/packed.h"

const char *const factor_names[FACTORS] = {".scale", ".input_scale"};

/* Sets the factors of matrices that a chunk is in; false if such a matrix has others. */
static bool set_factors(const factor_lists *l, const float *own, uint64_t first, uint64_t begin,
                        uint64_t end)
{
    for (uint64_t entry = first; entry < end; entry++)
        for (unsigned i = 0; i < FACTORS; i++) {
            float *to = &l->list[i][entry];

            if (entry < begin && *to != own[i])
                return false;
            *to = own[i];
        }
    return true;
}

static gufo_status fill_lists(const view *v, const factor_lists *l, bool *fit, gufo_error *error)
{
    const packed_weight *last = NULL;
    uint64_t each = v->numbers / l->entries, at = 0;
    float own[FACTORS] = {1, 1};
    gufo_status status = GUFO_OK;

    *fit = true;
    for (uint64_t i = 0; i < v->count && *fit && status == GUFO_OK; i++) {
        const chunk *c = &v->chunks[i];
        uint64_t end = at + c->numbers;

        if (c->packed != last)
            status =
                unpacked_fail(c->packed, c->packed->kind->factors(c->packed, own, error), error);
        last = c->packed;
        /* A matrix that began in the chunk before has factors already. */
        *fit = status == GUFO_OK &&
               set_factors(l, own, at / each, (at + each - 1) / each, (end + each - 1) / each);
        at = end;
    }
    return status;
}

gufo_status factors_read(const view *v, factor_lists *l, bool *fit, gufo_error *error)
{
    l->entries = v->n_dims == 3 ? v->shape[0] : 1;
    l->list[0] = mem_array(v->allocator, l->entries, FACTORS * sizeof *l->list[0]);
    if (l->list[0] == NULL)
        return fail_memory(error);
    l->list[1] = l->list[0] + l->entries;
    return fill_lists(v, l, fit, error);
}

void factors_free(const view *v, const factor_lists *l)
{
    mem_free(v->allocator, l->list[0]);
}

bool factors_are_one(const float *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (fabsf(list[i] - 1) > 1e-6f)
            return false;
    return true;
}
