/* The identity of a job: a run that resumes one must have the same inputs, options and pieces, cut
 * in the same way, or the halves of the output would not fit. */
#include "produce/run/run.h"

#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "produce/units/work.h"

/* Raised whenever cut.c cuts differently, or what a unit gives changes. */
enum { CUT_VERSION = 3, BLOCK = 4096, SAMPLES = 64 };

/* Numbers that a rule computes are few: factors, filters, tables. */
#define MOST_GENERATED (UINT64_C(16) << 20)

static void chain_u64(uint64_t *hash, uint64_t number)
{
    hash_chain(hash, &number, sizeof number);
}

static void chain_numbers(uint64_t *hash, size_t count, const uint64_t *numbers)
{
    hash_chain(hash, numbers, count * sizeof *numbers);
}

static uint64_t id_of(const gufo_element_type *type)
{
    return type != NULL ? type->id : UINT64_MAX;
}

/* ---- inputs --------------------------------------------------------------------------------- */

/* Blocks of zeros are counted: a hole need not be read, and a copy of the file may have none. */
static void chain_zeros(uint64_t *hash, uint64_t *blocks)
{
    if (*blocks > 0)
        chain_u64(hash, *blocks);
    *blocks = 0;
}

static gufo_status chain_bytes(uint64_t *hash, const source *from, uint64_t at, uint64_t end,
                               gufo_error *error)
{
    static const uint8_t zeros[BLOCK];
    uint64_t empty = 0;
    uint8_t bytes[BLOCK];

    while (at < end) {
        size_t size = (size_t)smaller(end - at, BLOCK);
        gufo_status status = source_read(from, at, bytes, size, error);

        if (status != GUFO_OK)
            return status;
        if (size == BLOCK && memcmp(bytes, zeros, BLOCK) == 0) {
            uint64_t blocks = source_hole(from, at, end - at) / BLOCK;

            if (blocks == 0)
                blocks = 1;
            empty += blocks;
            at += blocks * BLOCK;
        } else {
            chain_zeros(hash, &empty);
            hash_chain(hash, bytes, size);
            at += size;
        }
    }
    chain_zeros(hash, &empty);
    return GUFO_OK;
}

/* Blocks at fixed places: all of a small range, a sample of a large one. */
static gufo_status chain_samples(uint64_t *hash, const source *from, uint64_t begin, uint64_t size,
                                 gufo_error *error)
{
    gufo_status status = GUFO_OK;

    if (size <= (uint64_t)SAMPLES * BLOCK)
        return chain_bytes(hash, from, begin, begin + size, error);
    for (uint64_t i = 0; i < SAMPLES && status == GUFO_OK; i++) {
        uint64_t at = begin + (size - BLOCK) / (SAMPLES - 1) * i;

        status = chain_bytes(hash, from, at, at + BLOCK, error);
    }
    return status;
}

gufo_status identity_of_input(const job_input *input, uint64_t *head, uint64_t *samples,
                              gufo_error *error)
{
    gufo_status status;

    *head = *samples = 0;
    status = chain_bytes(head, input->source, 0, input->head, error);
    if (status == GUFO_OK)
        status = chain_samples(samples, input->source, 0, input->source->size, error);
    if (status != GUFO_OK)
        fail_in(error, input->role, input->index, input->name);
    return status;
}

/* Its size, its time or version, and what it says before its data. */
static gufo_status chain_input(uint64_t *hash, const job_input *input, bool timeless,
                               gufo_error *error)
{
    gufo_status status;
    struct stat info;

    if (input->source == NULL || input->planned)
        return GUFO_OK;
    chain_u64(hash, input->source->size);
    if (!timeless && input->source->fd >= 0 && fstat(input->source->fd, &info) == 0) {
        chain_u64(hash, (uint64_t)info.st_mtim.tv_sec);
        chain_u64(hash, (uint64_t)info.st_mtim.tv_nsec);
    }
    if (input->source->user.version != 0)
        chain_u64(hash, input->source->user.version);
    status = chain_bytes(hash, input->source, 0, input->head, error);
    if (status != GUFO_OK)
        fail_in(error, input->role, input->index, input->name);
    return status;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Numbers that no input has, such as factors that a rule computes. */
static gufo_status chain_generated(uint64_t *hash, const rows *r, gufo_error *error)
{
    uint64_t size = r->count * r->row_bytes;
    gufo_status status = GUFO_OK;
    uint8_t *bytes;

    if (r->source != NULL)
        return source_in_memory(r->source) ? chain_samples(hash, r->source, r->offset, size, error)
                                           : GUFO_OK;
    if (!r->generated || size == 0 || size > MOST_GENERATED)
        return GUFO_OK;
    bytes = mem_alloc(&default_allocator, (size_t)size);
    if (bytes == NULL)
        return fail_memory(error);
    status = r->read(r, 0, r->count, bytes, error);
    if (status == GUFO_OK)
        hash_chain(hash, bytes, (size_t)size);
    mem_free(&default_allocator, bytes);
    return status;
}

static gufo_status chain_rows(uint64_t *hash, const rows *r, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    chain_u64(hash, r != NULL);
    if (r == NULL)
        return GUFO_OK;
    chain_numbers(hash, 6,
                  (const uint64_t[]){r->input, r->offset, r->row_bytes, r->count, r->columns,
                                     id_of(r->type)});
    if (r->unpack != NULL)
        hash_chain(hash, r->unpack->name, strlen(r->unpack->name));
    chain_u64(hash, r->swapped);
    status = chain_generated(hash, r, error);
    for (unsigned i = 0; i < ROWS_SIDES && status == GUFO_OK; i++)
        status = chain_rows(hash, r->side[i], error);
    return status;
}

static void chain_segment(uint64_t *hash, const segment *s)
{
    chain_numbers(hash, 8,
                  (const uint64_t[]){s->source, s->first, s->count[0], s->count[1], s->count[2],
                                     s->stride[0], s->stride[1], s->stride[2]});
}

static gufo_status chain_op(uint64_t *hash, const row_op *op, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    hash_chain(hash, op->kind->name, strlen(op->kind->name));
    hash_chain(hash, &op->number, sizeof op->number);
    for (unsigned i = 0; i < OP_SIDES && status == GUFO_OK; i++)
        status = chain_rows(hash, op->side[i], error);
    return status;
}

static void chain_made(uint64_t *hash, const made *m)
{
    uint64_t flags = (m->encode ? 1u : 0u) | (m->weighs ? 2u : 0u) | (m->swap ? 4u : 0u) |
                     (m->measure ? 8u : 0u) | (m->weighted ? 16u : 0u);

    chain_numbers(hash, 5,
                  (const uint64_t[]){m->target, m->place, m->row_bytes, id_of(m->type), flags});
}

gufo_status identity_chain_piece(uint64_t *hash, const piece *p, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    chain_u64(hash, (uint64_t)p->how | (uint64_t)p->transpose << 8);
    hash_chain(hash, p->name.data, p->name.len);
    chain_numbers(hash, 3, (const uint64_t[]){p->columns, p->slices, p->slice_rows});
    for (uint32_t i = 0; i < p->n_sources && status == GUFO_OK; i++)
        status = chain_rows(hash, &p->sources[i], error);
    for (uint32_t i = 0; i < p->n_segments; i++)
        chain_segment(hash, &p->segments[i]);
    for (uint32_t i = 0; i < p->n_ops && status == GUFO_OK; i++)
        status = chain_op(hash, &p->ops[i], error);
    for (uint32_t i = 0; i < p->n_made; i++)
        chain_made(hash, &p->made[i]);
    return status;
}

static gufo_status chain_target(uint64_t *hash, const job_target *t, gufo_error *error)
{
    const void *bytes;
    size_t size;
    gufo_status status = job_header(t, &bytes, &size, error);

    if (status != GUFO_OK)
        return status;
    chain_u64(hash, t->size);
    hash_chain(hash, bytes, size);
    return GUFO_OK;
}

uint64_t identity_of_options(const gufo_job *job)
{
    uint64_t hash = 0;

    chain_numbers(&hash, 3,
                  (const uint64_t[]){(uint64_t)CUT_VERSION << 1 | HOST_IS_BIG_ENDIAN, job->identity,
                                     (uint64_t)job->effort});
    return hash;
}

gufo_status identity_of(const gufo_job *job, bool timeless, journal_identity *out,
                        gufo_error *error)
{
    gufo_status status = GUFO_OK;
    plain_piece room;

    *out = (journal_identity){0};
    for (uint64_t i = 0; i < job->input_count && status == GUFO_OK; i++)
        status = chain_input(&out->inputs, &job->inputs[i], timeless, error);
    out->plan = identity_of_options(job);
    for (uint64_t i = 0; i < job->piece_count && status == GUFO_OK; i++)
        status = identity_chain_piece(&out->plan, job_piece_at(job, i, &room), error);
    for (uint64_t i = 0; i < job->target_count && status == GUFO_OK; i++)
        status = chain_target(&out->plan, &job->targets[i], error);
    return status;
}

gufo_status job_identity(const gufo_job *job, uint64_t *inputs, uint64_t *plan, gufo_error *error)
{
    journal_identity identity;
    gufo_status status;
    bool has_file = false;

    for (uint64_t i = 0; i < job->input_count; i++)
        has_file = has_file || (job->inputs[i].source != NULL && !job->inputs[i].planned);
    if (!has_file)
        return refuse(error, GUFO_E_ARGUMENT,
                      "the model is not in a file that could be identified");
    status = identity_of(job, false, &identity, error);
    if (status == GUFO_OK) {
        *inputs = identity.inputs;
        *plan = identity.plan;
    }
    return status;
}
