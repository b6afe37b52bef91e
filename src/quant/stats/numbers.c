/* The numbers of all tensors of a model, and the scales of their blocks by element type. */
#include "quant/stats/stats.h"

#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"
#include "format/model/model.h"

typedef struct numbers {
    gufo_allocator allocator;
    gufo_model_numbers record;
    gufo_stats *stats;        /* the record's */
    gufo_type_scales *scales; /* likewise */
} numbers;

typedef struct numbers_work {
    numbers *numbers;
    const gufo_model *model;
    const gufo_run *run;  /* of the caller */
    uint64_t done, total; /* bytes */
} numbers_work;

static numbers *numbers_of(gufo_model_numbers *record)
{
    return (numbers *)(void *)((char *)record - offsetof(numbers, record));
}

/* ---- a tensor ------------------------------------------------------------------------------- */

/* Bytes that are read: twice for the numbers, once for scales. */
static uint64_t bytes_of(const gufo_tensor *tensor)
{
    stats_layout layout;

    if (!stats_has_own_data(tensor) || stats_lay_out(tensor, &layout, NULL) != GUFO_OK)
        return 0;
    return layout.groups * layout.group_bytes * (stats_scales_are_counted(tensor->type) ? 3 : 2);
}

static bool pass_progress(void *context, uint64_t done, uint64_t total)
{
    const numbers_work *w = context;

    (void)total;
    return w->run->progress(w->run->progress_context, w->done + done, w->total);
}

static void add_scales(numbers *n, uint32_t type, const gufo_scales *scales)
{
    gufo_model_numbers *record = &n->record;
    size_t i = 0;

    if (scales->scales.count == 0)
        return;
    while (i < record->scales_count && n->scales[i].type != type)
        i++;
    n->scales[i].type = type;
    stats_scales_add(&n->scales[i].scales, &scales->scales);
    stats_scales_add(&n->scales[i].minimums, &scales->minimums);
    record->scales_count += i == record->scales_count;
}

static gufo_status scan(numbers_work *w, const gufo_tensor *tensor, gufo_stats *out,
                        gufo_error *error)
{
    uint64_t bytes = bytes_of(tensor), before = w->done;
    gufo_run run = *w->run;
    gufo_scales scales;
    gufo_status status;

    if (bytes == 0)
        return GUFO_OK;
    run.progress_context = w;
    run.progress = w->run->progress != NULL ? pass_progress : NULL;
    status = gufo_tensor_scan(w->model, tensor, 0, &run, out, error);
    if (status == GUFO_OK && stats_scales_are_counted(tensor->type)) {
        w->done += bytes / 3 * 2;
        status = gufo_tensor_scan_scales(w->model, tensor, &run, &scales, error);
        if (status == GUFO_OK)
            add_scales(w->numbers, tensor->type, &scales);
    }
    w->done = before + bytes;
    return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

static gufo_status make_room(numbers *n, gufo_error *error)
{
    n->stats = mem_array(&n->allocator, n->record.tensors, sizeof *n->stats);
    n->scales = mem_array(&n->allocator, gufo_element_type_count(), sizeof *n->scales);
    n->record.stats = n->stats;
    n->record.scales = n->scales;
    return n->stats != NULL && n->scales != NULL ? GUFO_OK : fail_memory(error);
}

static gufo_status scan_all(numbers_work *w, gufo_error *error)
{
    numbers *n = w->numbers;
    gufo_status status = make_room(n, error);
    gufo_tensor tensor;

    for (uint64_t i = 0; i < n->record.tensors && status == GUFO_OK; i++) {
        status = model_tensor_at(w->model, i, &tensor, error);
        w->total += status == GUFO_OK ? bytes_of(&tensor) : 0;
    }
    for (uint64_t i = 0; i < n->record.tensors && status == GUFO_OK; i++) {
        status = model_tensor_at(w->model, i, &tensor, error);
        if (status == GUFO_OK)
            status = scan(w, &tensor, &n->stats[i], error);
    }
    return status;
}

gufo_model_numbers *gufo_model_numbers_new(const gufo_model *model,
                                           const gufo_model_numbers_options *options,
                                           const gufo_run *run, gufo_error *error)
{
    const gufo_model_numbers_options none = {0}, *o = options != NULL ? options : &none;
    numbers_work w = {.model = model, .run = run_of(run)};

    if (reserved_check(o->reserved, "gufo_model_numbers_options", error) != GUFO_OK ||
        run_check(w.run, error) != GUFO_OK)
        return NULL;
    if (!gufo_model_has_data(model)) {
        (void)refuse(error, GUFO_E_ARGUMENT,
                     "the data of a pipe cannot be counted: it can be read only once");
        return NULL;
    }
    w.numbers = mem_object(o->allocator, sizeof *w.numbers, error);
    if (w.numbers == NULL)
        return NULL;
    w.numbers->record.tensors = gufo_model_tensor_count(model);
    if (scan_all(&w, error) == GUFO_OK)
        return &w.numbers->record;
    gufo_model_numbers_free(&w.numbers->record);
    return NULL;
}

void gufo_model_numbers_free(gufo_model_numbers *record)
{
    numbers *n = record != NULL ? numbers_of(record) : NULL;
    gufo_allocator allocator;

    if (n == NULL)
        return;
    allocator = n->allocator;
    mem_free(&allocator, n->stats);
    mem_free(&allocator, n->scales);
    mem_free(&allocator, n);
}
