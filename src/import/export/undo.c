/* Operations on numbers, undone.
 *
 *     F16        a conversion of numbers of F16 rounds to F16, so the way back is one of F16, too: every
 *                number is tried
 *     ternary    the mean size of all numbers is what those that are not 0 become: they must be larger
 *                by as much as the others are many */
#include "import/export/undo.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "codec/half.h"

enum { AT_ONCE = 1 << 14, TRIES = 8 };

/* Looks at some numbers; *more: whether others are wanted. */
typedef gufo_status look_fn(void *context, const float *values, uint64_t count, bool *more,
                            gufo_error *error);

/* Shows all numbers of a tensor of the model. */
static gufo_status each_number(const inversion *v, const gufo_tensor *t, look_fn *look,
                               void *context, gufo_error *error)
{
    uint64_t rows_at_once = larger(AT_ONCE / t->dims[0], 1), all = t->elements / t->dims[0];
    float *values = mem_array(v->allocator, rows_at_once * t->dims[0], sizeof *values);
    gufo_status status = values != NULL ? GUFO_OK : fail_memory(error);
    bool more = true;

    for (uint64_t row = 0, count; row < all && more && status == GUFO_OK; row += count) {
        count = smaller(all - row, rows_at_once);
        status = gufo_tensor_decode(v->model, t, row, count, values, NULL, error);
        if (status == GUFO_OK)
            status = look(context, values, count * t->dims[0], &more, error);
    }
    mem_free(v->allocator, values);
    return status;
}

/* ---- F16 -------------------------------------------------------------------------------------- */

static const struct half_row {
    const row_op_kind *f32, *f16, *forward;
} halves[] = {
    {&row_op_subtract, &row_op_subtract_f16, &row_op_add},
    {&row_op_divide, &row_op_divide_f16, &row_op_scale},
    {&row_op_log_neg, &row_op_log_neg_f16, &row_op_neg_exp},
};

static const struct half_row *half_of(const row_op *op)
{
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (halves[i].f32 == op->kind)
            return &halves[i];
    return NULL;
}

typedef struct trying {
    row_op back[VIEW_OPS], forward[2 * VIEW_OPS]; /* in their orders */
    uint32_t n_back, n_forward;
    const gufo_allocator *allocator;
    bool fits;
} trying;

static void apply_all(const row_op *ops, uint32_t count, op_row *row)
{
    for (uint32_t i = 0; i < count; i++)
        ops[i].kind->apply(&ops[i], NULL, row);
}

static gufo_status try_numbers(void *context, const float *values, uint64_t count, bool *more,
                               gufo_error *error)
{
    trying *t = context;
    op_row row = {.columns = count};

    row.values = mem_array(t->allocator, count, sizeof *row.values);
    if (row.values == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < count; i++)
        row.values[i] = (double)values[i];
    apply_all(t->back, t->n_back, &row);
    apply_all(t->forward, t->n_forward, &row);
    for (uint64_t i = 0; i < count && t->fits; i++)
        t->fits = (float)row.values[i] == values[i];
    mem_free(t->allocator, row.values);
    *more = t->fits;
    return GUFO_OK;
}

/* The operations in F16, or in F32; false if one of them is not tried. */
static bool set_trying(trying *t, const undoing *u, bool in_half)
{
    for (uint32_t i = 0; i < u->n_ops; i++) {
        const struct half_row *half = half_of(&u->ops[i]);

        if (half == NULL)
            return false;
        t->back[t->n_back] = u->ops[i];
        t->back[t->n_back++].kind = in_half ? half->f16 : half->f32;
    }
    for (uint32_t i = u->n_ops; i > 0; i--) {
        t->forward[t->n_forward] = u->ops[i - 1];
        t->forward[t->n_forward++].kind = half_of(&u->ops[i - 1])->forward;
        t->forward[t->n_forward++] =
            (row_op){.kind = in_half ? &row_op_round_f16 : &row_op_round_f32};
    }
    return true;
}

/* *fits: whether the conversion makes all numbers again. */
static gufo_status try_all(const inversion *v, const undoing *u, trying *t, bool *fits,
                           gufo_error *error)
{
    gufo_status status = GUFO_OK;

    t->fits = true;
    for (uint64_t i = 0; i < u->box_count && t->fits && status == GUFO_OK; i++) {
        const uint64_t index = v->boxes[u->first_box + i].tensor;
        gufo_tensor tensor;

        (void)gufo_tensor_at(v->model, index, &tensor);
        if (i == 0 || index != v->boxes[u->first_box + i - 1].tensor)
            status = each_number(v, &tensor, try_numbers, t, error);
    }
    *fits = t->fits;
    return status;
}

/* *half: whether numbers of F16 do it; *exact: or those of F32. */
static gufo_status try_types(const inversion *v, undoing *u, bool *half, bool *exact,
                             gufo_error *error)
{
    trying f16 = {.allocator = v->allocator}, f32 = f16;
    gufo_status status = GUFO_OK;

    *half = false;
    *exact = true;
    if (set_trying(&f16, u, true))
        status = try_all(v, u, &f16, half, error);
    if (*half)
        memcpy(u->ops, f16.back, sizeof f16.back);
    else if (status == GUFO_OK && set_trying(&f32, u, false))
        status = try_all(v, u, &f32, exact, error);
    return status;
}

/* ---- ternary ---------------------------------------------------------------------------------- */

typedef struct counting {
    float size;       /* of those that are not 0 */
    uint64_t numbers; /* that are not 0 */
    bool is_ternary;
} counting;

static gufo_status count_numbers(void *context, const float *values, uint64_t count, bool *more,
                                 gufo_error *error)
{
    counting *c = context;

    (void)error;
    for (uint64_t i = 0; i < count && c->is_ternary; i++) {
        if (values[i] == 0)
            continue;
        if (c->numbers++ == 0)
            c->size = fabsf(values[i]);
        c->is_ternary = fabsf(values[i]) == c->size;
    }
    *more = c->is_ternary;
    return GUFO_OK;
}

/* What a conversion makes of `numbers` of all numbers that have this size, and zeros. */
static float scale_again(float size, uint64_t numbers, uint64_t all)
{
    float mean = (float)((double)size * (double)numbers / (double)all);

    return (float)(1 / (double)(1.0f / fmaxf(mean, 1e-5f)));
}

/* The same in F16; 0: none. */
static float find_half(const counting *c, uint64_t all)
{
    const uint16_t near =
        half_from_float((float)((double)c->size * (double)all / (double)c->numbers));

    for (int i = -1; i <= 1; i++) {
        float size = half_to_float((uint16_t)(near + i));

        if (half_to_float(half_from_float(scale_again(size, c->numbers, all))) == c->size)
            return size;
    }
    return 0;
}

static float find_size(const counting *c, uint64_t all)
{
    float first = (float)((double)c->size * (double)all / (double)c->numbers), up = first,
          down = first;

    for (int i = 0; i < TRIES; i++) {
        if (scale_again(up, c->numbers, all) == c->size)
            return up;
        if (scale_again(down, c->numbers, all) == c->size)
            return down;
        up = nextafterf(up, HUGE_VALF);
        down = nextafterf(down, 0);
    }
    return first;
}

/* *half: whether numbers of F16 do it. */
static gufo_status undo_ternary(const inversion *v, undoing *u, bool *half, gufo_error *error)
{
    counting c = {.is_ternary = true};
    float size;
    gufo_tensor t;
    gufo_status status;

    if (u->box_count == 0)
        return GUFO_OK;
    (void)gufo_tensor_at(v->model, v->boxes[u->first_box].tensor, &t);
    status = each_number(v, &t, count_numbers, &c, error);
    if (status != GUFO_OK || !c.is_ternary || c.numbers == 0)
        return status; /* the conversion will round them */
    size = find_half(&c, t.elements);
    *half = size > 0;
    if (size == 0)
        size = find_size(&c, t.elements);
    u->ops[0] = (row_op){.kind = &row_op_scale, .number = (double)size / (double)c.size};
    u->n_ops = 1;
    return GUFO_OK;
}

/* ---- types ------------------------------------------------------------------------------------ */

gufo_status undo_choose_type(const inversion *v, undoing *u, const gufo_element_type **type,
                             bool *exact, gufo_error *error)
{
    bool half = false;
    gufo_status status;

    *exact = true;
    status = u->ternary ? undo_ternary(v, u, &half, error) : try_types(v, u, &half, exact, error);
    *type = gufo_element_type_by_id(half ? GUFO_TYPE_F16 : GUFO_TYPE_F32);
    return status;
}
