/* Encoding a list of items, by one thread or by several.
 *
 * Each thread takes runs of items of about WORK_PART bytes, and the ids of the runs are joined in
 * their order: so ids do not depend on threads.  What the items are is decided in tokenize.c; how a
 * part is encoded, in tokenizers/. */
#include "text/work.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "text/vocabulary/vocabulary.h"

enum { MANY_ITEMS = 1 << 14, MANY_PARTS = 8 };

gufo_status work_add(work_list *list, work_item item, gufo_error *error)
{
    work_item *items =
        mem_grow(list->allocator, list->items, list->count, &list->room, sizeof *items);

    if (items == NULL)
        return fail_memory(error);
    list->items = items;
    list->items[list->count++] = item;
    list->bytes += item.part.text.len;
    return GUFO_OK;
}

bool work_is_enough(const work_list *list)
{
    size_t parts = (size_t)list->threads * MANY_PARTS;

    return list->count >= (uint64_t)list->threads * MANY_ITEMS || list->bytes / WORK_PART >= parts;
}

/* ---- items ---------------------------------------------------------------------------------- */

static gufo_status add_special(const tokenizing *t, uint32_t id, gufo_ids *out, gufo_error *error)
{
    const gufo_tokenize_event event = {
        .kind = GUFO_TOKENIZE_SPECIAL, .text = vocab_text(t->vocab, id), .id = id};

    if (!ids_add(out, id))
        return fail_memory(error);
    if (t->watch != NULL)
        t->watch(t->watch_context, &event);
    return GUFO_OK;
}

static gufo_status encode_items(tokenizing *t, const work_item *items, uint64_t count,
                                gufo_ids *out, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; status == GUFO_OK && i < count; i++)
        status = items[i].id != GUFO_NO_TOKEN
                     ? add_special(t, items[i].id, out, error)
                     : t->vocab->algorithm->encode(t, items[i].part, out, error);
    return status;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Items for one thread, and their ids. */
typedef struct work_run {
    uint64_t first, count;
    gufo_ids ids;
} work_run;

typedef struct shared_work {
    const work_list *list;
    work_run *runs;
    uint64_t count, room;
    gufo_ids *out;
} shared_work;

static gufo_status work_on_run(void *context, unsigned thread, uint64_t index, void *result,
                               gufo_error *error)
{
    const shared_work *w = context;
    work_run *run = &w->runs[index];

    (void)result;
    return encode_items(&w->list->workers[thread], w->list->items + run->first, run->count,
                        &run->ids, error);
}

static gufo_status take_ids(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const shared_work *w = context;
    gufo_ids *ids = &w->runs[index].ids;

    (void)result;
    if (!ids_reserve(w->out, ids->count))
        return fail_memory(error);
    if (ids->count > 0)
        memcpy(w->out->ids + w->out->count, ids->ids, ids->count * sizeof *ids->ids);
    w->out->count += ids->count;
    gufo_ids_free(ids);
    return GUFO_OK;
}

/* Divides the list into runs of at least WORK_PART bytes. */
static gufo_status divide(shared_work *w, gufo_error *error)
{
    const work_list *list = w->list;
    size_t bytes = WORK_PART; /* of the last run */

    for (uint64_t i = 0; i < list->count; i++) {
        if (bytes >= WORK_PART) {
            work_run *runs = mem_grow(list->allocator, w->runs, w->count, &w->room, sizeof *runs);

            if (runs == NULL)
                return fail_memory(error);
            w->runs = runs;
            w->runs[w->count++] = (work_run){.first = i, .ids = {.allocator = list->allocator}};
            bytes = 0;
        }
        w->runs[w->count - 1].count++;
        bytes += list->items[i].part.text.len + 1;
    }
    return GUFO_OK;
}

static gufo_status do_shared(const work_list *list, gufo_ids *out, gufo_error *error)
{
    shared_work w = {.list = list, .out = out};
    gufo_status status = divide(&w, error);
    const parallel_loop loop = {.end = w.count,
                                .threads = list->threads,
                                .context = &w,
                                .work = work_on_run,
                                .hand_over = take_ids};

    if (status == GUFO_OK)
        status = parallel_run(&loop, list->allocator, error);
    for (uint64_t i = 0; i < w.count; i++)
        gufo_ids_free(&w.runs[i].ids);
    mem_free(list->allocator, w.runs);
    return status;
}

gufo_status work_do(work_list *list, gufo_ids *out, gufo_error *error)
{
    gufo_status status;

    if (list->threads > 1 && list->bytes > 2 * WORK_PART)
        status = do_shared(list, out, error);
    else
        status = encode_items(list->workers, list->items, list->count, out, error);
    list->count = 0;
    list->bytes = 0;
    return status;
}
