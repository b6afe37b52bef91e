/* From views of a checkpoint that was made up to boxes, and from operations to their inverses. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/half.h"
#include "import/architectures/operations/tensors.h"
#include "import/export/tensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- boxes ---------------------------------------------------------------------------------- */

uint64_t box_numbers(const box *b)
{
    uint64_t numbers = 1;

    for (uint32_t i = 0; i < b->walk.n; i++)
        numbers *= b->walk.count[i];
    return numbers;
}

bool boxes_fill_alike(const box *a, const box *b)
{
    const size_t size = a->walk.n * sizeof *a->walk.count;

    return a->walk.n == b->walk.n && memcmp(a->walk.count, b->walk.count, size) == 0 &&
           memcmp(a->walk.to, b->walk.to, size) == 0;
}

/* The tensor of the checkpoint that has a number of its file, and the number in it. */
static uint64_t owner_of(const inversion *v, uint64_t number, uint64_t *inside)
{
    const checkpoint *c = &v->made->checkpoint;
    uint64_t index = last_begun(&c->tensors->offset, sizeof *c->tensors, c->tensor_count,
                                number * sizeof(float));

    *inside = number - c->tensors[index].offset / sizeof(float);
    return index;
}

static gufo_status add_box(inversion *v, const chunk *c, uint64_t tensor, uint64_t from,
                           gufo_error *error)
{
    box *list = mem_grow(v->allocator, v->boxes, v->box_count, &v->box_room, sizeof *list), *b;
    uint64_t step = 1;

    if (list == NULL)
        return fail_memory(error);
    v->boxes = list;
    b = &list[v->box_count++];
    *b = (box){.tensor = tensor, .from = from, .walk.n = c->box.n};
    b->owner = owner_of(v, c->offset / sizeof(float), &b->to);
    for (uint32_t i = c->box.n; i > 0; i--) {
        b->walk.count[i - 1] = c->box.count[i - 1];
        b->walk.to[i - 1] = c->box.stride[i - 1];
        b->walk.from[i - 1] = step;
        step *= c->box.count[i - 1];
    }
    return GUFO_OK;
}

static int compare_boxes(const void *a, const void *b)
{
    const box *x = a, *y = b;

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static void sort_boxes(inversion *v)
{
    if (v->box_count > 0)
        qsort(v->boxes, (size_t)v->box_count, sizeof *v->boxes, compare_boxes);
    for (uint64_t i = 0; i < v->box_count; i++) {
        undoing *u = &v->undoings[v->boxes[i].owner];

        if (u->box_count++ == 0)
            u->first_box = i;
    }
}

/* ---- operations ----------------------------------------------------------------------------- */

static bool is_power_of_two(double number)
{
    int exponent;

    return frexp(number, &exponent) == 0.5;
}

/* The operation that undoes one; its kind is NULL where nothing needs to be done. */
static row_op inverse_of(const row_op *op, undoing *u)
{
    row_op back = *op;

    u->exact = u->exact && op->kind == &row_op_scale && is_power_of_two(op->number);
    if (op->kind == &row_op_add)
        back.kind = &row_op_subtract;
    else if (op->kind == &row_op_scale)
        back.kind = &row_op_divide;
    else if (op->kind == &row_op_scale_rows)
        back.kind = &row_op_divide_rows;
    else if (op->kind == &row_op_neg_exp)
        back.kind = &row_op_log_neg;
    else
        back.kind = NULL;
    u->ternary = u->ternary || op->kind == &row_op_ternary;
    return back;
}

static bool same_ops(const undoing *u, const undoing *other)
{
    if (u->n_ops != other->n_ops)
        return false;
    for (uint32_t i = 0; i < u->n_ops; i++)
        if (u->ops[i].kind != other->ops[i].kind || u->ops[i].number != other->ops[i].number)
            return false;
    return true;
}

/* All tensors that one becomes have the same operations, or it cannot go back. */
static gufo_status set_operations(inversion *v, const view *of, gufo_error *error)
{
    undoing u = {.exact = true};

    for (uint32_t i = of->n_ops; i > 0; i--) {
        const row_op *op = &of->ops[i - 1];
        row_op back;

        if (op->kind == &row_op_round_f32)
            continue;
        back = inverse_of(op, &u);
        if (back.kind != NULL)
            u.ops[u.n_ops++] = back;
    }
    for (uint64_t i = 0; i < of->count; i++) {
        uint64_t inside;
        undoing *known;

        if (of->chunks[i].source != &v->made->file.source)
            continue;
        known = &v->undoings[owner_of(v, of->chunks[i].offset / sizeof(float), &inside)];
        if (known->box_count > 0 && !same_ops(known, &u))
            return refuse(error, GUFO_E_TYPE, "its parts are changed in several ways");
        *known = u;
        known->box_count = 1; /* set; sort_boxes counts them */
    }
    return GUFO_OK;
}

/* ---- generated tensors ---------------------------------------------------------------------- */

/* Whether the numbers that are generated are those of the model. */
static gufo_status compare_generated(const inversion *v, const view *of, const gufo_tensor *t,
                                     bool *equal, gufo_error *error)
{
    const chunk *c = of->chunks;
    float *values = mem_array(v->allocator, t->elements, sizeof *values);
    uint8_t bytes[sizeof(float)];
    gufo_status status = values == NULL ? fail_memory(error) : GUFO_OK;

    *equal = of->count == 1 && c->box.n == 1 && c->box.count[0] == t->elements;
    if (status == GUFO_OK && *equal)
        status = gufo_tensor_decode(v->model, t, 0, t->elements / t->dims[0], values, NULL, error);
    for (uint64_t i = 0; status == GUFO_OK && *equal && i < t->elements; i++) {
        status = source_read(c->source, c->offset + i * c->box.stride[0] * sizeof(float), bytes,
                             sizeof bytes, error);
        *equal = float_to_bits(values[i]) == load_u32(bytes, bytes_swapped(false));
    }
    mem_free(v->allocator, values);
    return status;
}

/* ---- one tensor ----------------------------------------------------------------------------- */

static bool same_shape(const view *of, const gufo_tensor *t)
{
    if ((of->n_dims > 0 ? of->n_dims : 1) != t->n_dims)
        return false;
    for (uint32_t i = 0; i < of->n_dims; i++)
        if (of->shape[of->n_dims - 1 - i] != t->dims[i])
            return false;
    return t->elements == of->numbers;
}

static gufo_status fail_shape(const view *of, const gufo_tensor *t, gufo_error *error)
{
    char shape[128] = "";
    size_t at = 0;

    for (uint32_t i = of->n_dims; i > 0 && at < sizeof shape; i--)
        at += (size_t)snprintf(shape + at, sizeof shape - at, " %" PRIu64, of->shape[i - 1]);
    return refuse(error, GUFO_E_TYPE,
                  "tensor %s cannot be exported: the conversion would give it the dimensions%s",
                  QUOTED(t->name), shape);
}

static gufo_status see(void *context, gufo_str name, const view *of, gufo_error *error)
{
    inversion *v = context;
    uint64_t index, from = 0;
    gufo_tensor t;
    bool equal = false, generated = of->count > 0 && of->chunks[0].source != NULL &&
                                    of->chunks[0].source != &v->made->file.source;
    gufo_status status = GUFO_OK;

    if (!name_index_find(&v->made->by_name, name, &index))
        return GUFO_OK; /* generated where the model has none */
    (void)gufo_model_tensor_at(v->model, index, &t);
    if (!same_shape(of, &t) && !generated)
        return fail_shape(of, &t, error);
    if (generated) {
        status = same_shape(of, &t) ? compare_generated(v, of, &t, &equal, error) : GUFO_OK;
        v->given[index] = same_shape(of, &t) && equal;
        v->differs[index] = !v->given[index];
        return status;
    }
    status = set_operations(v, of, error);
    for (uint64_t i = 0; i < of->count && status == GUFO_OK; i++) {
        if (of->chunks[i].source != NULL)
            status = add_box(v, &of->chunks[i], index, from, error);
        from += of->chunks[i].numbers;
    }
    v->given[index] = true;
    return status;
}

/* ---- life ----------------------------------------------------------------------------------- */

gufo_status inversion_open(inversion *v, const gufo_model *model, const made_up *own,
                           gufo_import *import, const model_config *config, uint64_t tokens,
                           gufo_error *error)
{
    const tensor_watcher watcher = {v, see};
    const tensors_request request = {.import = import,
                                     .document = import->document,
                                     .checkpoint = &own->checkpoint,
                                     .config = config,
                                     .tokens = tokens,
                                     .watcher = &watcher};
    const uint64_t count = gufo_model_tensor_count(model), tensors = own->checkpoint.tensor_count;
    gufo_status status = GUFO_OK;

    *v = (inversion){.model = model, .made = own, .allocator = &import->allocator};
    v->undoings = mem_array(v->allocator, tensors, sizeof *v->undoings);
    v->given = mem_array(v->allocator, count, sizeof *v->given);
    v->differs = mem_array(v->allocator, count, sizeof *v->differs);
    if (v->undoings == NULL || v->given == NULL || v->differs == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < tensors; i++)
        v->undoings[i] = (undoing){.exact = true};
    memset(v->given, 0, (size_t)count * sizeof *v->given);
    memset(v->differs, 0, (size_t)count * sizeof *v->differs);
    status = tensors_plan(&v->plan, &request, error);
    for (uint64_t i = 0; i < tensors; i++)
        v->undoings[i].box_count = 0;
    if (status == GUFO_OK)
        sort_boxes(v);
    return status;
}

void inversion_free(inversion *v)
{
    if (v->allocator == NULL)
        return;
    tensor_plan_free(&v->plan);
    mem_free(v->allocator, v->boxes);
    mem_free(v->allocator, v->undoings);
    mem_free(v->allocator, v->given);
    mem_free(v->allocator, v->differs);
    *v = (inversion){.model = NULL};
}

/* Some rules of gufo convert write numbers twice: one norm for each head, a tensor again where a model
 * lacks another, rows of the embedding.  Only one copy goes back, so all must be equal. */

enum { AT_ONCE = 1 << 14 };

/* Whether its numbers follow each other on both sides. */
static bool is_run(const box *b)
{
    return b->walk.n == 0 || (b->walk.n == 1 && b->walk.to[0] == 1);
}

/* Numbers [from, from + count) of a tensor into `out`. */
static gufo_status read_numbers(const inversion *v, uint64_t tensor, uint64_t from, uint64_t count,
                                float *out, gufo_error *error)
{
    gufo_tensor t;
    uint64_t first, last;
    float *all;
    gufo_status status;

    (void)gufo_model_tensor_at(v->model, tensor, &t);
    first = from / t.dims[0];
    last = (from + count - 1) / t.dims[0] + 1;
    all = mem_array(v->allocator, (last - first) * t.dims[0], sizeof *all);
    if (all == NULL)
        return fail_memory(error);
    status = gufo_tensor_decode(v->model, &t, first, last - first, all, NULL, error);
    if (status == GUFO_OK)
        memcpy(out, all + (from - first * t.dims[0]), (size_t)count * sizeof *out);
    mem_free(v->allocator, all);
    return status;
}

/* Compares the numbers of `b` with those of `a` from number `skip` on. */
static gufo_status compare(const inversion *v, const box *a, uint64_t skip, const box *b,
                           bool *equal, gufo_error *error)
{
    const uint64_t count = box_numbers(b);
    float *x = mem_array(v->allocator, AT_ONCE, sizeof *x);
    float *y = mem_array(v->allocator, AT_ONCE, sizeof *y);
    gufo_status status = x != NULL && y != NULL ? GUFO_OK : fail_memory(error);

    for (uint64_t at = 0, some; at < count && *equal && status == GUFO_OK; at += some) {
        some = smaller(count - at, AT_ONCE);
        status = read_numbers(v, a->tensor, a->from + skip + at, some, x, error);
        if (status == GUFO_OK)
            status = read_numbers(v, b->tensor, b->from + at, some, y, error);
        *equal = status == GUFO_OK && memcmp(x, y, (size_t)some * sizeof *x) == 0;
    }
    mem_free(v->allocator, x);
    mem_free(v->allocator, y);
    return status;
}

static gufo_status check_copy(const inversion *v, const box *a, const box *b, gufo_error *error)
{
    bool inside = is_run(a) && is_run(b) && b->to - a->to <= box_numbers(a) &&
                  box_numbers(b) <= box_numbers(a) - (b->to - a->to);
    bool equal = inside || (a->to == b->to && boxes_fill_alike(a, b));
    gufo_status status = equal ? compare(v, a, b->to - a->to, b, &equal, error) : GUFO_OK;
    gufo_tensor x, y;

    if (status != GUFO_OK || equal)
        return status;
    (void)gufo_model_tensor_at(v->model, a->tensor, &x);
    (void)gufo_model_tensor_at(v->model, b->tensor, &y);
    return refuse(
        error, GUFO_E_TYPE,
        "tensors %s and %s are made of the same numbers by a conversion, but they differ: "
        "one of them would be lost",
        QUOTED(x.name), QUOTED(y.name));
}

gufo_status copies_check(const inversion *v, gufo_error *error)
{
    const box *first = NULL; /* the last box that is not a copy */
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < v->box_count && status == GUFO_OK; i++) {
        const box *b = &v->boxes[i];

        /* Boxes between the numbers of another one, as those of q, k and v, are not copies. */
        if (first != NULL && first->owner == b->owner &&
            (b->to == first->to || (is_run(first) && b->to < first->to + box_numbers(first))))
            status = check_copy(v, first, b, error);
        else
            first = b;
    }
    return status;
}

/* Operations on numbers, undone.
 *
 *     F16        a conversion of numbers of F16 rounds to F16, so the way back is one of F16, too: every
 *                number is tried
 *     ternary    the mean size of all numbers is what those that are not 0 become: they must be larger
 *                by as much as the others are many */

enum { TRIES = 8 };

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

        (void)gufo_model_tensor_at(v->model, index, &tensor);
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
    (void)gufo_model_tensor_at(v->model, v->boxes[u->first_box].tensor, &t);
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
