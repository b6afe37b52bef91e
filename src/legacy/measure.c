/* What old blocks lose: reads those that may lose something, chunk after chunk, on all
 * processors. */
#include "base/checked.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/threads.h"
#include "legacy/plan.h"

enum { CHUNK_BYTES = 1 << 20 };

typedef struct measuring {
    legacy_tensor *tensors;
    uint64_t *chunks; /* of the tensors before this one; one more than there are tensors */
    uint64_t count;
    gufo_legacy_keep keep;
    uint8_t **buffers; /* of threads */
    const gufo_run *run;
    uint64_t done, total; /* bytes */
} measuring;

typedef struct loss_pair {
    legacy_loss same_name, f16;
    uint64_t tensor, bytes;
} loss_pair;

static uint64_t chunk_blocks(const legacy_record *r)
{
    return CHUNK_BYTES / r->layout->block_bytes;
}

/* Whether the numbers decide if the tensor becomes F16. */
static bool may_become_f16(const legacy_tensor *t, gufo_legacy_keep keep)
{
    return keep == GUFO_LEGACY_F16 ||
           (keep == GUFO_LEGACY_NEAREST && first_record(t)->layout->today == LEGACY_NO_ID);
}

/* F32 scales are rounded to F16, and show files of the first days, whatever the tensor becomes. */
static bool has_single_scales(const legacy_tensor *t)
{
    return first_record(t)->layout->single_scales > 0;
}

/* Chunks that a tensor is read in: none where nothing can be lost. */
static uint64_t count_chunks(const legacy_tensor *t, gufo_legacy_keep keep)
{
    const legacy_record *r;

    if (t->record_count == 0 || first_record(t)->layout->block_length == 1 ||
        !(has_single_scales(t) || may_become_f16(t, keep)))
        return 0;
    r = first_record(t);
    return divide_up(r->size / r->layout->block_bytes, chunk_blocks(r)) * t->file->part_count;
}

static gufo_status measure_chunk(void *context, unsigned thread, uint64_t index, void *result,
                                 gufo_error *error)
{
    measuring *m = context;
    loss_pair *loss = result;
    legacy_tensor *t;
    const legacy_record *r;
    uint64_t in_part, chunk, blocks, part;
    gufo_status status;

    loss->tensor = last_begun(m->chunks, sizeof *m->chunks, m->count, index);
    t = &m->tensors[loss->tensor];
    in_part = larger(count_chunks(t, m->keep) / t->file->part_count, 1); /* never 0 */
    chunk = index - m->chunks[loss->tensor];
    part = chunk / in_part;
    r = &t->file->parts[part].records[t->records[0]];
    chunk %= in_part;
    blocks = smaller(chunk_blocks(r), r->size / r->layout->block_bytes - chunk * chunk_blocks(r));
    loss->bytes = blocks * r->layout->block_bytes;
    status = source_read(&t->file->parts[part].source,
                         r->offset + chunk * chunk_blocks(r) * r->layout->block_bytes,
                         m->buffers[thread], (size_t)loss->bytes, error);
    if (status == GUFO_OK)
        legacy_measure(r->layout, m->buffers[thread], blocks,
                       has_single_scales(t) ? &loss->same_name : NULL,
                       may_become_f16(t, m->keep) ? &loss->f16 : NULL);
    else
        fail_in(error, GUFO_FILE_INPUT, (uint32_t)part, t->file->parts[part].path);
    return status;
}

static gufo_status add_loss(void *context, uint64_t index, const void *result, gufo_error *error)
{
    measuring *m = context;
    const loss_pair *loss = result;
    legacy_tensor *t = &m->tensors[loss->tensor];

    (void)index;
    legacy_loss_add(&t->same_name, &loss->same_name);
    legacy_loss_add(&t->f16, &loss->f16);
    m->done += loss->bytes;
    if (m->run != NULL && m->run->progress != NULL &&
        !m->run->progress(m->run->progress_context, m->done, m->total))
        return refuse(error, GUFO_E_STOPPED, "stopped on request");
    return GUFO_OK;
}

/* A few blocks of any model are odd; many are those of the first days, which lie another way. */
static gufo_status check_scales(const legacy_tensor *t, gufo_error *error)
{
    const legacy_record *r;
    uint64_t scales;

    if (t->record_count == 0)
        return GUFO_OK;
    r = first_record(t);
    scales = t->same_name.blocks * r->layout->single_scales;
    if (scales == 0 || t->same_name.odd_scales <= scales / 20)
        return GUFO_OK;
    return fail_with(
        error, GUFO_E_MALFORMED, r->offset,
        "tensor %s has scales that make no sense: files made before 17 March 2023 have "
        "them in another order, and cannot be read",
        QUOTED(r->name));
}

gufo_status legacy_measure_all(legacy_tensor *tensors, uint64_t count, gufo_legacy_keep keep,
                               const gufo_run *run, const gufo_allocator *allocator,
                               gufo_error *error)
{
    unsigned threads = thread_count(run != NULL ? run->threads : 0);
    measuring m = {.tensors = tensors, .count = count, .keep = keep, .run = run};
    parallel_loop loop = {.threads = threads,
                          .result_size = sizeof(loss_pair),
                          .context = &m,
                          .work = measure_chunk,
                          .hand_over = add_loss};
    gufo_status status = GUFO_OK;

    m.chunks = mem_array(allocator, count + 1, sizeof *m.chunks);
    m.buffers = mem_array(allocator, threads, sizeof *m.buffers);
    if (m.chunks == NULL || m.buffers == NULL)
        status = fail_memory(error);
    for (unsigned i = 0; i < threads && status == GUFO_OK; i++) {
        m.buffers[i] = mem_alloc(allocator, CHUNK_BYTES);
        if (m.buffers[i] == NULL)
            status = fail_memory(error);
    }
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        uint64_t chunks = count_chunks(&tensors[i], keep);

        m.chunks[i + 1] = m.chunks[i] + chunks;
        if (chunks > 0)
            m.total += first_record(&tensors[i])->size * tensors[i].file->part_count;
    }
    if (status == GUFO_OK) {
        loop.end = m.chunks[count];
        status = parallel_run(&loop, allocator, error);
    }
    for (uint64_t i = 0; i < count && status == GUFO_OK; i++) {
        tensors[i].measured = true;
        status = check_scales(&tensors[i], error);
    }
    for (unsigned i = 0; m.buffers != NULL && i < threads; i++)
        mem_free(allocator, m.buffers[i]);
    mem_free(allocator, m.buffers);
    mem_free(allocator, m.chunks);
    return status;
}
