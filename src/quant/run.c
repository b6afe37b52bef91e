/* A run, from the plan to files with their final names.
 *
 *     find outputs, read the journal --> open OUT.part --> units, in parallel --> names
 *                                             |                 |                  |
 *                                          a failure         stopped               |
 *                                             v                 v                  v
 *                                      nothing is left    OUT.part and the     the journal
 *                                                          journal are left      is removed */
#include "quant/quantizer.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "format/model.h"
#include "quant/identity.h"
#include "quant/keeper.h"

/* What the process needs beside the buffers of threads, and an encoder's tables. */
#define OTHER_MEMORY (UINT64_C(12) << 20)
#define ENCODER_MEMORY (UINT64_C(2) << 20)

enum { BUFFER_ALIGNMENT = 64, BUFFERS = 5 };

typedef struct run {
    gufo_quantizer *q;
    gufo_progress_fn *progress;
    void *progress_context;
    journal journal;
    keeper keeper;
    quant_worker *workers;
    void **memory; /* of each worker */
    unsigned threads;
    uint64_t units_done, bytes_done;
    bool complete; /* an interrupted run has done all but giving names */
} run;

/* ---- encoders ------------------------------------------------------------------------------- */

static gufo_status make_encoder(gufo_quantizer *q, const gufo_element_type *type, gufo_error *error)
{
    gufo_encoder_options options = {
        .cpu = q->options.cpu, .effort = q->options.effort, .allocator = &q->allocator};
    gufo_error reason;

    if (q->encoders[type->id] != NULL)
        return GUFO_OK;
    q->encoders[type->id] = gufo_encoder_new(type, &options, &reason);
    if (q->encoders[type->id] != NULL)
        return GUFO_OK;
    if (error != NULL)
        *error = reason;
    return reason.code;
}

/* A plan may have been made only to be looked at. */
static gufo_status check_possible(const gufo_quantizer *q, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];

    for (uint64_t i = 0; i < q->tensor_count; i++)
        if (q->tensors[i].choice.flags & GUFO_RECIPE_IMPOSSIBLE)
            return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                             "tensor %s cannot become %s without importance data",
                             quote_name(quoted, q->tensors[i].source.name), q->tensors[i].to->name);
    return GUFO_OK;
}

static gufo_status make_encoders(gufo_quantizer *q, gufo_error *error)
{
    gufo_status status = check_possible(q, error);

    if (status != GUFO_OK)
        return status;
    q->encoders = mem_zero(&q->allocator, gufo_element_type_count() * sizeof(gufo_encoder *));
    if (q->encoders == NULL)
        return fail_memory(error);
    for (uint64_t i = 0; i < q->tensor_count && status == GUFO_OK; i++)
        if (q->tensors[i].cut.units > 0 && q->tensors[i].cut.method == METHOD_CONVERT)
            status = make_encoder(q, q->tensors[i].to, error);
    return status;
}

/* ---- workers -------------------------------------------------------------------------------- */

/* An estimate, on the safe side, of what is needed beside the buffers of threads. */
static uint64_t other_memory(const gufo_quantizer *q)
{
    uint64_t size = OTHER_MEMORY + q->tensor_count * (sizeof(quant_tensor) + 512);

    for (size_t i = 0; i < q->output_count; i++)
        size += 4 * q->outputs[i].layout.data_offset;
    for (size_t i = 0; i < gufo_element_type_count(); i++)
        size += q->encoders[i] != NULL ? ENCODER_MEMORY : 0;
    return size;
}

/* As many threads as are wanted and as memory allows. */
static gufo_status count_threads(run *r, const worker_sizes *sizes, gufo_error *error)
{
    const gufo_quantizer *q = r->q;
    uint64_t memory = q->options.memory != 0 ? q->options.memory : GUFO_QUANTIZE_MEMORY;
    uint64_t other = other_memory(q), each = sizes->total + BUFFERS * BUFFER_ALIGNMENT, fitting;
    char quoted[GUFO_QUOTE_SIZE];

    fitting = memory > other ? (memory - other) / each : 0;
    if (fitting == 0 && sizes->total > 0)
        return fail_with(error, GUFO_E_LIMIT, GUFO_NO_OFFSET,
                         "tensor %s needs %" PRIu64 " bytes of memory, the limit is %" PRIu64,
                         quote_name(quoted, q->tensors[sizes->tensor].source.name), other + each,
                         memory);
    r->threads = q->options.threads != 0 ? q->options.threads : thread_default_count();
    if (fitting < r->threads)
        r->threads = fitting > 0 ? (unsigned)fitting : 1;
    return GUFO_OK;
}

/* One block of memory, cut into aligned buffers. */
static void *cut_buffer(uint8_t **rest, uint64_t size)
{
    uint8_t *begin = *rest;

    *rest += size + (BUFFER_ALIGNMENT - size % BUFFER_ALIGNMENT) % BUFFER_ALIGNMENT;
    return begin;
}

static gufo_status make_worker(run *r, unsigned number, const worker_sizes *sizes,
                               gufo_error *error)
{
    quant_worker *worker = &r->workers[number];
    uint64_t size = sizes->total + (BUFFERS + 1) * BUFFER_ALIGNMENT;
    uint8_t *rest;

    if (size > SIZE_MAX || (rest = mem_alloc(&r->q->allocator, (size_t)size)) == NULL)
        return fail_memory(error);
    r->memory[number] = rest;
    rest += (BUFFER_ALIGNMENT - (uintptr_t)rest % BUFFER_ALIGNMENT) % BUFFER_ALIGNMENT;
    *worker = (quant_worker){.q = r->q,
                             .source_size = (size_t)sizes->source,
                             .importance_tensor = UINT64_MAX,
                             .failed_unit = UINT64_MAX};
    worker->source = cut_buffer(&rest, sizes->source);
    worker->coded = cut_buffer(&rest, sizes->coded);
    worker->values = cut_buffer(&rest, sizes->values);
    worker->decoded = cut_buffer(&rest, sizes->values);
    worker->importance = cut_buffer(&rest, sizes->importance);
    return GUFO_OK;
}

static gufo_status make_workers(run *r, gufo_error *error)
{
    worker_sizes sizes = quantizer_worker_sizes(r->q);
    gufo_status status = count_threads(r, &sizes, error);

    if (status != GUFO_OK)
        return status;
    r->workers = mem_zero(&r->q->allocator, r->threads * sizeof *r->workers);
    r->memory = mem_zero(&r->q->allocator, r->threads * sizeof *r->memory);
    if (r->workers == NULL || r->memory == NULL)
        return fail_memory(error);
    for (unsigned i = 0; i < r->threads && status == GUFO_OK; i++)
        status = make_worker(r, i, &sizes, error);
    return status;
}

static void free_workers(run *r)
{
    for (unsigned i = 0; r->memory != NULL && i < r->threads; i++)
        mem_free(&r->q->allocator, r->memory[i]);
    mem_free(&r->q->allocator, r->memory);
    mem_free(&r->q->allocator, r->workers);
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* Takes over what an interrupted run has noted. */
static void take_mark(void *context, const journal_mark *mark)
{
    run *r = context;

    if (mark->tensor == MARK_COMPLETE) {
        r->complete = true;
    } else if (mark->tensor < r->q->tensor_count && mark->units_done <= r->q->unit_count) {
        r->q->tensors[mark->tensor].loss = mark->loss;
        r->units_done = mark->units_done;
    }
}

/* Bytes of the input in the units that are done. */
static uint64_t bytes_before(const gufo_quantizer *q, uint64_t units)
{
    uint64_t bytes = 0, i = 0;

    for (; i < q->tensor_count && q->tensors[i].cut.first_unit + q->tensors[i].cut.units <= units;
         i++)
        bytes += q->tensors[i].source.size;
    return i < q->tensor_count && units > q->tensors[i].cut.first_unit
               ? bytes + unit_at(q, units).from
               : bytes;
}

/* Starts from nothing.  The journal comes first: a .part file without one would be anybody's. */
static gufo_status start_anew(run *r, const journal_identity *identity, gufo_error *error)
{
    gufo_quantizer *q = r->q;
    bool replace = (q->options.flags & GUFO_QUANTIZE_REPLACE) != 0;
    gufo_status status = outputs_check_targets(q, error);

    if (status != GUFO_OK)
        return status;
    status = quant_journal_create(&r->journal, q->journal_path, identity, replace, error);
    if (status != GUFO_OK) {
        q->failed_path = q->journal_path;
        return status;
    }
    status = outputs_clear_parts(q, error);
    if (status == GUFO_OK)
        status = outputs_open(q, false, error);
    /* A journal that says what is done must not outlive the files that it speaks of. */
    if (status == GUFO_OK)
        status = output_sync_folder(q->outputs[0].file, error);
    if (status != GUFO_OK) { /* nothing is lost by removing these */
        outputs_close(q, false);
        quant_journal_close(&r->journal, false);
    }
    return status;
}

/* Goes on where an interrupted run has stopped. */
static gufo_status start_again(run *r, gufo_error *error)
{
    gufo_quantizer *q = r->q;
    gufo_status status;

    if (r->complete)
        return outputs_open_complete(q, error);
    status = outputs_check_targets(q, error);
    if (status == GUFO_OK && r->units_done > 0)
        status = outputs_check_parts(q, error);
    if (status == GUFO_OK)
        status = outputs_open(q, true, error);
    r->bytes_done = bytes_before(q, r->units_done);
    return status;
}

static gufo_status start(run *r, const char *path, gufo_error *error)
{
    gufo_quantizer *q = r->q;
    bool resume = (q->options.flags & GUFO_QUANTIZE_RESUME) != 0, found = false;
    gufo_status status = outputs_find(q, path, error);
    journal_identity identity;

    if (status == GUFO_OK && !resume)
        status = outputs_check_targets(q, error);
    if (status == GUFO_OK)
        status = identity_input(q, &identity.input, error);
    if (status == GUFO_OK) {
        status = identity_options(q, &identity.options, error);
        if (status != GUFO_OK)
            q->failed_path = q->importance_path;
    }
    if (status == GUFO_OK && resume) {
        status = quant_journal_open(&r->journal, q->journal_path, &identity, take_mark, r, &found,
                                    error);
        if (status != GUFO_OK)
            q->failed_path = q->journal_path;
    }
    if (status != GUFO_OK)
        return status;
    return found ? start_again(r, error) : start_anew(r, &identity, error);
}

/* ---- working -------------------------------------------------------------------------------- */

static gufo_status make_unit(void *context, unsigned thread, uint64_t number, void *result,
                             gufo_error *error)
{
    const run *r = context;
    quant_worker *worker = &r->workers[thread];
    quant_unit unit = unit_at(r->q, number);
    gufo_status status;

    worker->blame = BLAME_INPUT;
    status = unit.tensor->cut.method == METHOD_COPY ? unit_copy(worker, &unit, error)
                                                    : unit_convert(worker, &unit, result, error);
    if (status != GUFO_OK)
        worker->failed_unit = number;
    return status;
}

static gufo_status take_unit(void *context, uint64_t number, const void *result, gufo_error *error)
{
    run *r = context;
    quant_unit unit = unit_at(r->q, number);
    journal_mark mark = {.tensor = unit.index, .units_done = number + 1};
    gufo_status status;

    gufo_quantize_loss_add(&unit.tensor->loss, result);
    mark.loss = unit.tensor->loss;
    r->bytes_done += unit.from_size;
    status = quant_keeper_note(&r->keeper, &mark, error);
    if (status != GUFO_OK)
        return status;
    if (r->progress == NULL || r->progress(r->progress_context, r->bytes_done, r->q->source_bytes))
        return GUFO_OK;
    return fail_with(error, GUFO_E_STOPPED, GUFO_NO_OFFSET, "stopped");
}

/* The file that the first failure is about. */
static void blame_file(const run *r)
{
    const quant_worker *failed = NULL;
    const quant_tensor *tensor;

    for (unsigned i = 0; i < r->threads; i++)
        if (r->workers[i].failed_unit != UINT64_MAX &&
            (failed == NULL || r->workers[i].failed_unit < failed->failed_unit))
            failed = &r->workers[i];
    if (failed == NULL) { /* nothing could be noted in the journal */
        r->q->failed_path = r->q->outputs[0].path;
        return;
    }
    tensor = unit_at(r->q, failed->failed_unit).tensor;
    if (failed->blame == BLAME_INPUT)
        r->q->failed_path = gufo_model_name(gufo_model_shard(r->q->input, tensor->shard));
    else if (failed->blame == BLAME_OUTPUT)
        r->q->failed_path = r->q->outputs[tensor->output].path;
    else
        r->q->failed_path = r->q->importance_path;
}

static gufo_status work(run *r, gufo_error *error)
{
    parallel_loop loop = {.begin = r->units_done,
                          .end = r->q->unit_count,
                          .threads = r->threads,
                          .result_size = sizeof(gufo_quantize_loss),
                          .context = r,
                          .work = make_unit,
                          .hand_over = take_unit};
    gufo_status status = parallel_run(&loop, &r->q->allocator, error);

    if (status != GUFO_OK && status != GUFO_E_STOPPED)
        blame_file(r);
    return status;
}

/* ---- ending --------------------------------------------------------------------------------- */

/* An input that somebody has written to meanwhile may have been read half old and half new. */
static gufo_status check_unchanged(gufo_quantizer *q, gufo_error *error)
{
    for (size_t i = 0; i < gufo_model_shard_count(q->input); i++) {
        gufo_status status = gufo_model_unchanged(gufo_model_shard(q->input, i), error);

        if (status != GUFO_OK) {
            q->failed_path = gufo_model_name(gufo_model_shard(q->input, i));
            return status;
        }
    }
    return GUFO_OK;
}

/* All data is on disk, and noted to be, before the first file gets its name. */
static gufo_status finish(run *r, bool keep, gufo_error *error)
{
    gufo_status status = r->complete ? GUFO_OK : check_unchanged(r->q, error);

    if (!r->complete && status == GUFO_OK) {
        status = quant_keeper_note(&r->keeper, &(journal_mark){.tensor = MARK_COMPLETE}, error);
        if (status == GUFO_OK)
            status = quant_keeper_save(&r->keeper, error);
        if (status != GUFO_OK)
            r->q->failed_path = r->q->outputs[0].path;
    }
    return status == GUFO_OK ? outputs_commit(r->q, keep, error) : status;
}

/* Works, and ends so that either the output is there, or nothing, or what can be resumed. */
static gufo_status work_and_finish(run *r, gufo_error *error)
{
    gufo_quantizer *q = r->q;
    bool keep = (q->options.flags & GUFO_QUANTIZE_RESUME) != 0;
    gufo_status status = GUFO_OK;

    quant_keeper_start(&r->keeper, q, &r->journal);
    if (!r->complete)
        status = work(r, error);
    quant_keeper_stop(&r->keeper);
    if (status == GUFO_OK)
        status = finish(r, keep, error);
    else if (status == GUFO_E_STOPPED || keep)
        (void)quant_keeper_save(&r->keeper, NULL);
    quant_keeper_free(&r->keeper);
    outputs_close(q, status == GUFO_E_STOPPED || keep);
    quant_journal_close(&r->journal, status != GUFO_OK && (status == GUFO_E_STOPPED || keep));
    return status;
}

static gufo_status run_once(run *r, const char *path, gufo_error *error)
{
    gufo_status status = make_encoders(r->q, error);

    if (status == GUFO_OK)
        status = make_workers(r, error);
    if (status == GUFO_OK)
        status = start(r, path, error);
    if (status == GUFO_OK)
        return work_and_finish(r, error);
    outputs_close(r->q, true);
    quant_journal_close(&r->journal, true);
    return status;
}

/* Says in the error, too, which file it is about. */
static void name_failure(const gufo_quantizer *q, gufo_error *error)
{
    const char *path = q->failed_path;

    if (path == NULL)
        return;
    for (size_t i = 0; i < q->output_count; i++)
        if (path == q->outputs[i].path)
            fail_in(error, GUFO_FILE_OUTPUT, (uint32_t)i, path);
    for (size_t i = 0; i < gufo_model_shard_count(q->input); i++)
        if (path == gufo_model_name(gufo_model_shard(q->input, i)))
            fail_in(error, GUFO_FILE_INPUT, (uint32_t)i, path);
    fail_in(error, path == q->journal_path ? GUFO_FILE_JOURNAL : GUFO_FILE_IMPORTANCE, 0, path);
}

gufo_status gufo_quantizer_run(gufo_quantizer *q, const char *path, gufo_progress_fn *progress,
                               void *context, gufo_error *error)
{
    run r = {.q = q, .progress = progress, .progress_context = context, .journal = {.fd = -1}};
    gufo_status status;

    if (q->used)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET, "a quantizer runs only once");
    q->used = true;
    status = run_once(&r, path, error);
    if (status != GUFO_OK)
        name_failure(q, error);
    free_workers(&r);
    return status;
}
