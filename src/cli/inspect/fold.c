/* Folding sorts: tensors that belong together become neighbours, by number, and groups are then put
 * back into the order of the file.  No hash table is needed, and no order of the input is slow. */
#include "cli/inspect/fold.h"

#include "base/checked.h"
#include "base/sort.h"
#include "cli/core/glob.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 9 /* longer ones are just text */

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the segment is a number that is written in the one usual way. */
static bool is_number(const char *segment, size_t len)
{
    if (len == 0 || len > MOST_DIGITS || (segment[0] == '0' && len > 1))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_digit(segment[i]))
            return false;
    return true;
}

static void find_number(fold_tensor *t)
{
    size_t begin = 0, end;

    for (; begin < t->name.len; begin = end + 1) {
        const char *dot = memchr(t->name.data + begin, '.', t->name.len - begin);

        end = dot != NULL ? (size_t)(dot - t->name.data) : t->name.len;
        if (!is_number(t->name.data + begin, end - begin))
            continue;
        t->digits_at = begin;
        t->digits_end = end;
        for (size_t i = begin; i < end; i++)
            t->number = t->number * 10 + (uint64_t)(t->name.data[i] - '0');
        return;
    }
}

/* ---- order ---------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_text(gufo_str a, gufo_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return order != 0 ? order : compare_numbers(a.len, b.len);
}

/* What is before the number, or after it. */
static gufo_str part_of(const fold_tensor *t, bool after)
{
    if (after)
        return (gufo_str){t->name.data + t->digits_end, t->name.len - t->digits_end};
    return (gufo_str){t->name.data, t->digits_at};
}

/* 0: of one group. */
static int compare_groups(const fold_tensor *a, const fold_tensor *b)
{
    int order = compare_numbers(a->digits_end > a->digits_at, b->digits_end > b->digits_at);

    if (order == 0)
        order = compare_text(part_of(a, false), part_of(b, false));
    if (order == 0)
        order = compare_text(part_of(a, true), part_of(b, true));
    if (order == 0)
        order = compare_numbers(a->type, b->type);
    if (order == 0)
        order = compare_numbers(a->n_dims, b->n_dims);
    for (size_t i = 0; order == 0 && i < GUFO_MAX_DIMS; i++)
        order = compare_numbers(a->dims[i], b->dims[i]);
    return order;
}

static bool tensor_before(const void *a, const void *b)
{
    const fold_tensor *x = a, *y = b;
    int order = compare_groups(x, y);

    if (order == 0)
        order = compare_numbers(x->number, y->number);
    return order < 0 || (order == 0 && x->index < y->index);
}

static bool group_before(const void *a, const void *b)
{
    return ((const fold_group *)a)->first < ((const fold_group *)b)->first;
}

/* ---- groups --------------------------------------------------------------------------------- */

static void add_tensor(fold *f, uint64_t index, const gufo_tensor *tensor)
{
    fold_tensor *t = &f->tensors[f->tensor_count++];

    *t = (fold_tensor){.name = tensor->name,
                       .index = index,
                       .size = tensor->size,
                       .type = tensor->type,
                       .n_dims = tensor->n_dims};
    memcpy(t->dims, tensor->dims, sizeof t->dims);
    find_number(t);
}

/* The groups of neighbours. */
static void make_groups(fold *f)
{
    fold_group *group = NULL;

    for (uint64_t i = 0; i < f->tensor_count; i++) {
        const fold_tensor *t = &f->tensors[i];

        if (group == NULL || compare_groups(group->tensors, t) != 0) {
            group = &f->groups[f->group_count++];
            *group = (fold_group){.tensors = t, .first = t->index};
        }
        group->count++;
        if (!checked_add(group->size, t->size, &group->size))
            group->size = UINT64_MAX;
        group->first = t->index < group->first ? t->index : group->first;
    }
}

bool fold_tensors(fold *f, const gufo_model *model, const char *glob)
{
    uint64_t count = gufo_tensor_count(model);
    gufo_tensor tensor;

    *f = (fold){.tensors = calloc(count + 1, sizeof *f->tensors),
                .groups = calloc(count + 1, sizeof *f->groups)};
    if (f->tensors == NULL || f->groups == NULL) {
        fold_free(f);
        return false;
    }
    for (uint64_t i = 0; i < count && gufo_tensor_at(model, i, &tensor); i++)
        if (glob_matches(glob, tensor.name))
            add_tensor(f, i, &tensor);
    sort_items(f->tensors, f->tensor_count, sizeof *f->tensors, tensor_before);
    make_groups(f);
    sort_items(f->groups, f->group_count, sizeof *f->groups, group_before);
    return true;
}

void fold_free(fold *f)
{
    free(f->tensors);
    free(f->groups);
    *f = (fold){0};
}

static void put_part(FILE *out, gufo_str text)
{
    if (text.len > 0)
        fwrite(text.data, 1, text.len, out);
}

void fold_put_name(FILE *out, const fold_group *group)
{
    const fold_tensor *t = group->tensors;

    if (group->count == 1 || t->digits_end == t->digits_at) {
        put_part(out, t->name);
        return;
    }
    put_part(out, part_of(t, false));
    for (uint64_t i = 0, next; i < group->count; i = next) {
        for (next = i + 1; next < group->count && t[next].number <= t[next - 1].number + 1;)
            next++;
        fprintf(out, "%s%" PRIu64, i > 0 ? "," : "", t[i].number);
        if (t[next - 1].number > t[i].number)
            fprintf(out, "-%" PRIu64, t[next - 1].number);
    }
    put_part(out, part_of(t, true));
}
