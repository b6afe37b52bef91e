/* From views of a checkpoint that was made up to boxes, and from operations to their inverses. */
#include "import/export/invert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "codec/half.h"
#include "import/architectures/plan/watch.h"

/* ---- boxes ---------------------------------------------------------------------------------- */

uint64_t box_numbers(const box *b)
{
    uint64_t numbers = 1;

    for (uint32_t i = 0; i < b->n; i++)
        numbers *= b->count[i];
    return numbers;
}

bool boxes_fill_alike(const box *a, const box *b)
{
    const size_t size = a->n * sizeof *a->count;

    return a->n == b->n && memcmp(a->count, b->count, size) == 0 &&
           memcmp(a->to_step, b->to_step, size) == 0;
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
    *b = (box){.tensor = tensor, .from = from, .n = c->n_dims};
    b->owner = owner_of(v, c->offset / sizeof(float), &b->to);
    for (uint32_t i = c->n_dims; i > 0; i--) {
        b->count[i - 1] = c->count[i - 1];
        b->to_step[i - 1] = c->stride[i - 1];
        b->from_step[i - 1] = step;
        step *= c->count[i - 1];
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

    *equal = of->count == 1 && c->n_dims == 1 && c->count[0] == t->elements;
    if (status == GUFO_OK && *equal)
        status = gufo_tensor_decode(v->model, t, 0, t->elements / t->dims[0], values, NULL, error);
    for (uint64_t i = 0; status == GUFO_OK && *equal && i < t->elements; i++) {
        status = source_read(c->source, c->offset + i * c->stride[0] * sizeof(float), bytes,
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
    (void)gufo_tensor_at(v->model, index, &t);
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
    const uint64_t count = gufo_tensor_count(model), tensors = own->checkpoint.tensor_count;
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
    status = tensors_watch(&v->plan, import, &own->checkpoint, config, tokens, &watcher, error);
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
