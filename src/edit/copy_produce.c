/* All bytes of one output.
 *
 *     file      every thread makes a unit and writes it to its place
 *     stream    every thread makes a unit; then they are sent in order, with the padding between */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "edit/copy.h"

#define BUFFER_MEMORY (UINT64_C(24) << 20) /* of all threads */

enum { BUFFER_ALIGNMENT = 64 };

/* ---- threads -------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t size)
{
    return size + (BUFFER_ALIGNMENT - size % BUFFER_ALIGNMENT) % BUFFER_ALIGNMENT;
}

static unsigned count_threads(const gufo_copy_run_options *options, uint64_t each)
{
    unsigned threads = options->threads != 0 ? options->threads : thread_default_count();
    uint64_t fitting = each > 0 ? BUFFER_MEMORY / each : threads;

    if (fitting < 1)
        fitting = 1;
    return fitting < threads ? (unsigned)fitting : threads;
}

gufo_status producer_start(copy_producer *p, gufo_copy *c, const gufo_copy_run_options *options,
                           gufo_error *error)
{
    unit_buffers buffers = copy_buffers(c);
    uint64_t source = aligned(buffers.source), each = source + aligned(buffers.made);
    unsigned threads = count_threads(options, each);
    uint8_t *at;

    *p = (copy_producer){.copy = c, .options = options, .threads = threads};
    p->memory = mem_alloc(&c->allocator, (size_t)(each * threads + BUFFER_ALIGNMENT));
    p->workers = mem_zero(&c->allocator, threads * sizeof *p->workers);
    if (p->memory == NULL || p->workers == NULL) {
        producer_end(p);
        return fail_memory(error);
    }
    at = p->memory + (BUFFER_ALIGNMENT - (uintptr_t)p->memory % BUFFER_ALIGNMENT);
    for (unsigned i = 0; i < threads; i++, at += each)
        p->workers[i] = (copy_worker){.source = at,
                                      .made = at + source,
                                      .source_size = (size_t)buffers.source,
                                      .failed_unit = UINT64_MAX,
                                      .failed_shard = SIZE_MAX};
    return GUFO_OK;
}

void producer_end(copy_producer *p)
{
    mem_free(&p->copy->allocator, p->workers);
    mem_free(&p->copy->allocator, p->memory);
    p->workers = NULL;
    p->memory = NULL;
}

/* Names the shard that the failure is about, if it is not about the output. */
static void blame_input(const copy_producer *p, gufo_error *error)
{
    const copy_worker *first = NULL;

    for (unsigned i = 0; i < p->threads; i++)
        if (p->workers[i].failed_unit != UINT64_MAX &&
            (first == NULL || p->workers[i].failed_unit < first->failed_unit))
            first = &p->workers[i];
    if (first != NULL && first->failed_shard != SIZE_MAX) {
        const gufo_model *shard = gufo_model_shard(p->copy->input, first->failed_shard);

        p->copy->failed_path = gufo_model_name(shard);
        fail_in(error, GUFO_FILE_INPUT, (uint32_t)first->failed_shard, gufo_model_name(shard));
    }
}

static gufo_status note_progress(copy_producer *p, uint64_t bytes, gufo_error *error)
{
    const gufo_copy_run_options *o = p->options;

    p->done += bytes;
    if (o->progress == NULL || o->progress(o->progress_context, p->done, p->copy->total))
        return GUFO_OK;
    return fail_with(error, GUFO_E_STOPPED, GUFO_NO_OFFSET, "stopped");
}

/* ---- headers -------------------------------------------------------------------------------- */

typedef gufo_status header_put(copy_producer *p, const void *bytes, size_t size, gufo_error *error);

static gufo_status write_header(copy_producer *p, const void *bytes, size_t size, gufo_error *error)
{
    return output_write_at(p->fd, 0, bytes, size, error);
}

static gufo_status send_header(copy_producer *p, const void *bytes, size_t size, gufo_error *error)
{
    p->position = size;
    return output_write_all(p->fd, bytes, size, error);
}

/* Writes or sends the header.  That of a GGUF file is made anew: a file that was changed meanwhile
 * might not fit the layout any more. */
static gufo_status put_header(copy_producer *p, size_t index, header_put *put, gufo_error *error)
{
    const gufo_copy *c = p->copy;
    gufo_writer *header;
    gufo_layout layout;
    gufo_status status;
    const void *bytes;
    size_t size;

    if (c->foreign)
        return put(p, c->header, c->header_size, error);
    status = copy_header(c, index, &header, error);
    if (status != GUFO_OK)
        return status;
    (void)gufo_writer_layout(header, &layout, NULL);
    bytes = gufo_writer_header(header, &size);
    status = layout.file_size == c->outputs[index].size
                 ? put(p, bytes, size, error)
                 : fail_with(error, GUFO_E_CHANGED, GUFO_NO_OFFSET,
                             "the file was changed while it was being read");
    gufo_writer_free(header);
    return status;
}

/* ---- a file --------------------------------------------------------------------------------- */

static gufo_status write_unit(void *context, unsigned thread, uint64_t index, void *result,
                              gufo_error *error)
{
    copy_producer *p = context;
    copy_worker *worker = &p->workers[thread];
    copy_unit unit = copy_unit_at(p->copy, p->output, index);
    gufo_status status = unit_write(p->copy, &unit, worker, p->options->cpu, p->fd, error);

    (void)result;
    if (status != GUFO_OK)
        worker->failed_unit = index;
    return status;
}

static gufo_status count_unit(void *context, uint64_t index, const void *result, gufo_error *error)
{
    copy_producer *p = context;

    (void)result;
    return note_progress(p, copy_unit_at(p->copy, p->output, index).size, error);
}

gufo_status produce_file(copy_producer *p, size_t index, int fd, gufo_error *error)
{
    parallel_loop loop = {.end = p->copy->outputs[index].units,
                          .threads = p->threads,
                          .context = p,
                          .work = write_unit,
                          .hand_over = count_unit};
    gufo_status status;

    p->output = &p->copy->outputs[index];
    p->fd = fd;
    status = put_header(p, index, write_header, error);
    if (status != GUFO_OK)
        return status;
    status = parallel_run(&loop, &p->copy->allocator, error);
    if (status != GUFO_OK)
        blame_input(p, error);
    return status;
}

/* ---- a stream ------------------------------------------------------------------------------- */

/* Unit `index` into the buffers of worker `index - first_unit`, whichever thread it is. */
static gufo_status make_unit(void *context, unsigned thread, uint64_t index, void *result,
                             gufo_error *error)
{
    copy_producer *p = context;
    copy_worker *worker = &p->workers[index - p->first_unit];
    copy_unit unit = copy_unit_at(p->copy, p->output, index);
    const uint8_t **bytes = result;
    gufo_status status = unit_make(p->copy, &unit, worker, p->options->cpu, bytes, error);

    (void)thread;
    if (status != GUFO_OK)
        worker->failed_unit = index;
    return status;
}

/* Sends zeros up to byte `place`. */
static gufo_status pad(copy_producer *p, uint64_t place, gufo_error *error)
{
    static const uint8_t zeros[4096];
    gufo_status status = GUFO_OK;

    while (p->position < place && status == GUFO_OK) {
        uint64_t rest = place - p->position;
        size_t step = rest < sizeof zeros ? (size_t)rest : sizeof zeros;

        status = output_write_all(p->fd, zeros, step, error);
        p->position += step;
    }
    return status;
}

static gufo_status send_unit(void *context, uint64_t index, const void *result, gufo_error *error)
{
    copy_producer *p = context;
    copy_worker *worker = &p->workers[index - p->first_unit];
    copy_unit unit = copy_unit_at(p->copy, p->output, index);
    const uint8_t *const *bytes = result;
    gufo_status status = pad(p, unit.place, error);

    if (status == GUFO_OK)
        status = output_write_all(p->fd, *bytes, (size_t)unit.size, error);
    p->position += unit.size;
    if (status == GUFO_OK)
        return note_progress(p, unit.size, error);
    worker->failed_unit = index;
    worker->failed_shard = SIZE_MAX;
    return status;
}

/* As many units as there are workers. */
static gufo_status send_batch(copy_producer *p, gufo_error *error)
{
    uint64_t left = p->output->units - p->first_unit;
    parallel_loop loop = {.begin = p->first_unit,
                          .end = p->first_unit + (left < p->threads ? left : p->threads),
                          .threads = p->threads,
                          .result_size = sizeof(const uint8_t *),
                          .context = p,
                          .work = make_unit,
                          .hand_over = send_unit};
    gufo_status status = parallel_run(&loop, &p->copy->allocator, error);

    p->first_unit = loop.end;
    return status;
}

gufo_status produce_stream(copy_producer *p, int fd, gufo_error *error)
{
    gufo_status status;

    p->output = &p->copy->outputs[0];
    p->fd = fd;
    status = put_header(p, 0, send_header, error);
    if (status != GUFO_OK)
        return status;
    while (p->first_unit < p->output->units && status == GUFO_OK)
        status = send_batch(p, error);
    if (status == GUFO_OK)
        return pad(p, p->output->size, error);
    blame_input(p, error);
    return status;
}
