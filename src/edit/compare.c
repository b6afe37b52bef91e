/* Comparing two models.
 *
 * Tensors are paired by their names.  Of a pair the data is compared as bytes if type and size are
 * the same; numbers are only looked at where something differs, for equal bytes are equal numbers. */
#include "edit/compare.h"

#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "codec/interleaved.h"

enum { WORK_BYTES = 24 << 20 }; /* of all threads together */

/* ---- what the parts share ------------------------------------------------------------------- */

gufo_status compare_progress(comparing *c, uint64_t part, gufo_error *error)
{
    const gufo_compare_options *options = c->options;

    if (c->done + part > c->shown)
        c->shown = c->done + part;
    if (options->progress == NULL || options->progress(options->context, c->shown, c->total))
        return GUFO_OK;
    return fail_with(error, GUFO_E_STOPPED, GUFO_NO_OFFSET, "stopped");
}

unsigned compare_threads(const comparing *c, size_t bytes, uint64_t parts)
{
    uint64_t threads = c->options->threads != 0 ? c->options->threads : thread_default_count();

    if (threads > WORK_BYTES / bytes)
        threads = WORK_BYTES / bytes;
    return (unsigned)(threads < parts ? threads : parts);
}

gufo_status compare_read(comparing *c, const compared_side *side, uint64_t offset, void *buffer,
                         uint64_t size, gufo_error *error)
{
    gufo_status status =
        gufo_tensor_read(side->file, side->tensor, offset, buffer, (size_t)size, error);

    if (status != GUFO_OK)
        atomic_store(&c->failed, side->number);
    return status;
}

/* ---- pairs of tensors ----------------------------------------------------------------------- */

static bool find_tensor(const gufo_set *set, gufo_str name, gufo_tensor *out, size_t *shard)
{
    for (size_t i = 0; i < gufo_set_shard_count(set); i++) {
        *shard = i;
        if (gufo_tensor_find_str(gufo_set_shard(set, i), name, out))
            return true;
    }
    *shard = 0;
    return false;
}

static bool same_shape(const gufo_tensor *a, const gufo_tensor *b)
{
    bool same = a->n_dims == b->n_dims;

    for (size_t i = 0; i < GUFO_MAX_DIMS; i++)
        same = same && a->dims[i] == b->dims[i];
    return same;
}

static void report(comparing *c, const gufo_tensor_difference *d)
{
    c->result->tensors[d->kind]++;
    if (d->kind != GUFO_DIFFERENCE_NONE && c->options->tensor != NULL)
        c->options->tensor(c->options->context, d);
}

static compared_side side_of(const comparing *c, unsigned number, const gufo_tensor *tensor,
                             size_t shard)
{
    const interleaved *merged = interleaved_find(tensor->type);
    const gufo_file *file = gufo_set_shard(c->sets[number], shard);

    return (compared_side){.number = number,
                           .shard = shard,
                           .file = file,
                           .tensor = tensor,
                           .type = gufo_element_type_by_id(tensor->type),
                           .rows = merged != NULL ? merged->rows : 1,
                           .big = gufo_file_byte_order(file) == GUFO_BIG_ENDIAN};
}

static gufo_status compare_data(comparing *c, gufo_tensor_difference *d, gufo_error *error)
{
    compared_side sides[2] = {side_of(c, 0, &d->a, d->shard_a), side_of(c, 1, &d->b, d->shard_b)};
    gufo_status status = GUFO_OK;

    if (!d->type && d->a.elements == d->b.elements)
        status = compare_tensor_bytes(c, sides, d, error);
    if (status == GUFO_OK && (c->options->flags & GUFO_COMPARE_VALUES) != 0 && !d->shape &&
        (d->type || d->data))
        status = compare_tensor_values(c, sides, d, error);
    c->result->failed_in_b = atomic_load(&c->failed) == 1;
    c->result->failed_shard = sides[atomic_load(&c->failed)].shard;
    return status;
}

static gufo_status compare_pair(comparing *c, gufo_tensor_difference *d, gufo_error *error)
{
    gufo_status status;

    d->type = d->a.type != d->b.type;
    d->shape = !same_shape(&d->a, &d->b);
    status = compare_data(c, d, error);
    if (status != GUFO_OK)
        return status;
    c->done += d->a.size;
    if (d->type || d->shape || d->data)
        d->kind = GUFO_DIFFERENCE_CHANGED;
    report(c, d);
    return compare_progress(c, 0, error);
}

/* Tensors come in the order of shards, and in a shard in that of their infos. */
static bool is_before(const gufo_tensor *a, size_t shard_a, const gufo_tensor *b, size_t shard_b)
{
    return shard_a != shard_b ? shard_a < shard_b : a->info_offset < b->info_offset;
}

static gufo_status compare_tensors(comparing *c, gufo_error *error)
{
    gufo_tensor latest = {0};
    size_t latest_shard = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK; i++) {
        gufo_tensor_difference d = {0};

        if (!gufo_set_tensor_at(c->sets[0], i, &d.a, &d.shard_a))
            break;
        if (!find_tensor(c->sets[1], d.a.name, &d.b, &d.shard_b)) {
            d.b = (gufo_tensor){0};
            d.kind = GUFO_DIFFERENCE_REMOVED;
            report(c, &d);
            continue;
        }
        if (is_before(&d.b, d.shard_b, &latest, latest_shard))
            c->result->notes |= GUFO_NOTE_TENSOR_ORDER;
        latest = d.b;
        latest_shard = d.shard_b;
        status = compare_pair(c, &d, error);
    }
    return status;
}

static void report_added(comparing *c)
{
    gufo_tensor_difference d = {.kind = GUFO_DIFFERENCE_ADDED};
    gufo_tensor other;
    size_t shard;

    for (uint64_t i = 0; gufo_set_tensor_at(c->sets[1], i, &d.b, &d.shard_b); i++)
        if (!find_tensor(c->sets[0], d.b.name, &other, &shard))
            report(c, &d);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status measure(comparing *c, gufo_error *error)
{
    gufo_tensor a, b;
    size_t shard;

    for (unsigned side = 0; side < 2; side++)
        for (size_t i = 0; i < gufo_set_shard_count(c->sets[side]); i++)
            if (!gufo_file_has_data(gufo_set_shard(c->sets[side], i)))
                return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                                 "the data of a pipe is gone when it could be compared");
    for (uint64_t i = 0; gufo_set_tensor_at(c->sets[0], i, &a, &shard); i++)
        if (find_tensor(c->sets[1], a.name, &b, &shard) &&
            !checked_add(c->total, a.size, &c->total))
            return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                             "the tensors have more bytes together than can be counted");
    return GUFO_OK;
}

static void note_files(comparing *c)
{
    const gufo_file *a = gufo_set_shard(c->sets[0], 0), *b = gufo_set_shard(c->sets[1], 0);

    if (gufo_file_version(a) != gufo_file_version(b))
        c->result->notes |= GUFO_NOTE_VERSION;
    if (gufo_file_byte_order(a) != gufo_file_byte_order(b))
        c->result->notes |= GUFO_NOTE_BYTE_ORDER;
    if (gufo_set_shard_count(c->sets[0]) != gufo_set_shard_count(c->sets[1]))
        c->result->notes |= GUFO_NOTE_SHARDS;
}

gufo_status gufo_compare(const gufo_set *a, const gufo_set *b, const gufo_compare_options *options,
                         gufo_comparison *result, gufo_error *error)
{
    static const gufo_compare_options defaults = {0};
    comparing c = {.sets = {a, b}, .options = options, .result = result, .failed = 0};
    gufo_status status;

    if (options == NULL)
        c.options = &defaults;
    c.allocator = c.options->allocator != NULL ? c.options->allocator : &default_allocator;
    *result = (gufo_comparison){0};
    note_files(&c);
    status = measure(&c, error);
    if (status == GUFO_OK)
        status = compare_all_metadata(&c, error);
    if (status == GUFO_OK)
        status = compare_tensors(&c, error);
    if (status == GUFO_OK)
        report_added(&c);
    return status;
}

bool gufo_comparison_same(const gufo_comparison *result)
{
    for (size_t i = GUFO_DIFFERENCE_ADDED; i < GUFO_DIFFERENCE_COUNT; i++)
        if (result->entries[i] != 0 || result->tensors[i] != 0)
            return false;
    return true;
}

/* ---- what sums come to ---------------------------------------------------------------------- */

double gufo_value_difference_rmse(const gufo_value_difference *d)
{
    return d->compared > 0 ? sqrt(d->square_difference / (double)d->compared) : 0;
}

double gufo_value_difference_relative(const gufo_value_difference *d)
{
    if (d->square_difference == 0)
        return 0;
    if (isinf(d->square_a))
        return NAN;
    return sqrt(d->square_difference / d->square_a);
}

double gufo_value_difference_cosine(const gufo_value_difference *d)
{
    if (d->square_a == 0 || d->square_b == 0)
        return d->square_a == d->square_b ? 1 : 0;
    if (isinf(d->square_a) || isinf(d->square_b))
        return NAN;
    return d->product / (sqrt(d->square_a) * sqrt(d->square_b));
}
