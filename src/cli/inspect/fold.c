/* Folding sorts: tensors that belong together become neighbours, by number, and groups then return
 * to the order of the file.  Of a name it keeps a hash with a secret key: a file may have many. */
#include "cli/inspect/show.h"

#include "base/hash.h"
#include "base/sort.h"
#include "cli/core/values/str.h"
#include "base/text.h"
#include "cli/core/options/names.h"
#include "cli/core/terminal/report.h"
#include "cli/core/values/array.h"
#include "cli/core/values/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 9 /* longer ones are just text */

/* ---- parts of names ------------------------------------------------------------------------- */

/* Whether the segment is a number in its usual form. */
static bool is_number(gufo_str segment)
{
    return segment.len > 0 && segment.len <= MOST_DIGITS &&
           (segment.data[0] != '0' || segment.len == 1) && str_digits(segment, 0) == segment.len;
}

/* A name around the first segment that is a number; without one all of it is `before`. */
typedef struct name_parts {
    gufo_str before, after;
    uint32_t number;
    bool has_number;
} name_parts;

static name_parts split_name(gufo_str name)
{
    name_parts parts = {.before = name};

    for (size_t begin = 0, end; begin < name.len; begin = end + 1) {
        const char *dot = memchr(name.data + begin, '.', name.len - begin);
        gufo_str segment = rest_of(name, begin);
        uint64_t number;

        end = dot != NULL ? (size_t)(dot - name.data) : name.len;
        segment.len = end - begin;
        if (!is_number(segment) || !str_number(segment, &number))
            continue;
        return (name_parts){.before = {name.data, begin},
                            .after = rest_of(name, end),
                            .number = (uint32_t)number,
                            .has_number = true};
    }
    return parts;
}

/* ---- items ---------------------------------------------------------------------------------- */

static gufo_tensor tensor_at(const fold *f, uint32_t index)
{
    gufo_tensor tensor = {0};

    (void)gufo_model_tensor_at(f->model, index, &tensor);
    return tensor;
}

static fold_item make_item(hash_key key, const gufo_tensor *tensor, uint32_t index)
{
    name_parts parts = split_name(tensor->name);
    uint64_t lengths[] = {parts.before.len, parts.after.len, parts.has_number, tensor->type,
                          tensor->n_dims};
    fold_item item = {hash_text(key, parts.before), parts.number, index};

    hash_chain(&item.group, parts.after.data, parts.after.len);
    hash_chain(&item.group, lengths, sizeof lengths);
    hash_chain(&item.group, tensor->dims, sizeof tensor->dims);
    return item;
}

static bool item_before(const void *a, const void *b)
{
    const fold_item *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group;
    return x->number != y->number ? x->number < y->number : x->index < y->index;
}

static bool group_before(const void *a, const void *b)
{
    return ((const fold_group *)a)->first < ((const fold_group *)b)->first;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* The groups of neighbours. */
static bool make_groups(fold *f)
{
    fold_group *group = NULL;

    for (uint32_t i = 0; i < f->item_count; i++) {
        const fold_item *item = &f->items[i];
        gufo_tensor tensor = tensor_at(f, item->index);

        if (i == 0 || item->group != item[-1].group) {
            group = array_add(&f->groups, &f->group_count, sizeof *group);
            if (group == NULL)
                return false;
            *group = (fold_group){.begin = i, .first = item->index};
        }
        group->count++;
        group->first = item->index < group->first ? item->index : group->first;
        if (__builtin_add_overflow(group->size, tensor.size, &group->size))
            group->size = UINT64_MAX;
    }
    return true;
}

bool fold_tensors(fold *f, const gufo_model *model, const char *glob)
{
    uint64_t count = gufo_model_tensor_count(model);
    hash_key key = hash_key_new();
    bool made = false;

    *f = (fold){.model = model};
    if (count < UINT32_MAX)
        f->items = calloc((size_t)count + 1, sizeof *f->items);
    if (f->items == NULL)
        report_memory(NULL);
    else {
        for (uint32_t i = 0; i < count; i++) {
            gufo_tensor tensor = tensor_at(f, i);

            if (glob_matches(glob, tensor.name))
                f->items[f->item_count++] = make_item(key, &tensor, i);
        }
        sort_items(f->items, f->item_count, sizeof *f->items, item_before);
        made = make_groups(f);
    }
    if (made)
        sort_items(f->groups, f->group_count, sizeof *f->groups, group_before);
    else
        fold_free(f);
    return made;
}

void fold_free(fold *f)
{
    free(f->items);
    free(f->groups);
    free(f->name);
    *f = (fold){0};
}

/* ---- names ---------------------------------------------------------------------------------- */

static void put_part(FILE *out, gufo_str text)
{
    if (text.len > 0)
        fwrite(text.data, 1, text.len, out);
}

/* "0-2,5" */
static void put_numbers(FILE *out, const fold_item *items, uint32_t count)
{
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && items[next].number <= items[next - 1].number + 1;)
            next++;
        fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", items[i].number);
        if (items[next - 1].number > items[i].number)
            fprintf(out, "-%" PRIu32, items[next - 1].number);
    }
}

static bool make_name(fold *f, const fold_group *group, gufo_str *name)
{
    size_t len = 0;
    name_parts parts = split_name(*name);
    FILE *stream;

    free(f->name);
    f->name = NULL;
    stream = open_memstream(&f->name, &len);
    if (stream == NULL)
        return false;
    put_part(stream, parts.before);
    if (parts.has_number)
        put_numbers(stream, f->items + group->begin, group->count);
    put_part(stream, parts.after);
    if (fclose(stream) != 0)
        return false;
    *name = (gufo_str){f->name, len};
    return true;
}

/* ---- rows ----------------------------------------------------------------------------------- */

enum { FOR_PEOPLE = 1, FOR_MARKDOWN = 2 };

/* A long list of numbers must not be shortened: the number of tensors goes first. */
static const record_field fields[] = {
    {NULL, "name", RECORD_STR, RECORD_AT(fold_row, tensor.name), .width = -1},
    {NULL, "type", RECORD_TYPE, RECORD_AT(fold_row, tensor.type), .width = -1},
    {NULL, "shape", RECORD_SHAPE, RECORD_AT(fold_row, tensor), .width = -1, .drop = 1},
    {NULL, "tensors", RECORD_CHARS, RECORD_AT(fold_row, counted), .part = FOR_PEOPLE, .instead = "",
     .drop = 2},
    {NULL, "tensors", RECORD_COUNT, RECORD_AT(fold_row, count), .part = FOR_MARKDOWN},
    {NULL, "size", RECORD_BYTES, RECORD_AT(fold_row, tensor.size), .width = 1},
};
const record_type fold_text = RECORD_OF(fold_row, fields, FOR_PEOPLE);
const record_type fold_markdown = RECORD_OF(fold_row, fields, FOR_MARKDOWN);

bool fold_make(const void *context, uint64_t index, void *record)
{
    fold *f = *(fold *const *)context;
    fold_row *row = record;
    const fold_group *group;

    if (index >= f->group_count)
        return false;
    group = &f->groups[index];
    row->tensor = tensor_at(f, group->first);
    row->tensor.size = group->size;
    row->count = group->count;
    if (group->count > 1)
        snprintf(row->counted, sizeof row->counted, "%.24s tensors",
                 human_grouped(group->count).text);
    return make_name(f, group, &row->tensor.name);
}
