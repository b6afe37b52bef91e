/* Jobs over memory, whose one target is read back. */
#ifndef TEST_PRODUCE_JOBS_H
#define TEST_PRODUCE_JOBS_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "produce/units/work.h"
#include "support/check.h"
#include "support/codec.h"
#include "support/folder.h"

/* A source that counts what is read of it. */
typedef struct counted {
    source source;
    const uint8_t *bytes;
    uint64_t (*byte_at)(uint64_t offset); /* where bytes is NULL: what it would hold */
    uint64_t read;                        /* bytes, all threads */
} counted;

static inline gufo_status counted_read(void *context, uint64_t offset, void *buffer, size_t size,
                                       gufo_error *error)
{
    counted *c = context;

    (void)error;
    __atomic_fetch_add(&c->read, size, __ATOMIC_RELAXED);
    if (c->bytes != NULL)
        memcpy(buffer, c->bytes + offset, size);
    for (size_t i = 0; c->bytes == NULL && i < size; i++)
        ((uint8_t *)buffer)[i] = (uint8_t)c->byte_at(offset + i);
    return GUFO_OK;
}

/* `c` must not move afterwards. */
static inline void counted_open(counted *c, const void *bytes, uint64_t size)
{
    const gufo_source user = {.context = c, .size = size, .read = counted_read};

    *c = (counted){.bytes = bytes};
    source_open_user(&c->source, &user, 0, &default_allocator);
}

static inline gufo_job *new_job(const source *input, uint64_t target_size)
{
    const job_input in = {.role = GUFO_FILE_INPUT, .name = "input", .source = input};
    const job_target target = {.size = target_size};
    gufo_error error;
    gufo_job *job = job_new(NULL, &error);
    uint32_t number;

    assert_non_null(job);
    assert_int_equal(job_add_input(job, &in, &number, &error), GUFO_OK);
    assert_int_equal(job_add_target(job, &target, &number, &error), GUFO_OK);
    return job;
}

static inline void add_piece(gufo_job *job, const piece *p)
{
    gufo_error error;

    if (job_add_piece(job, p, &error) != GUFO_OK)
        fail_msg("%s", error.message);
}

/* Runs all units; the bytes of target 0, to be freed. */
static inline gufo_status try_job(gufo_job *job, const gufo_run *run, uint8_t **out,
                                  gufo_error *error)
{
    char name[] = "/tmp/gufo-job-XXXXXX";
    int fd = mkstemp(name), files[] = {fd, -1};
    uint64_t size = job->targets[0].size;
    gufo_status status;
    work w;

    assert_ptr_equal(job_planned(job, GUFO_OK, error), job);
    assert_true(fd >= 0);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    status = work_begin(&w, job, run, false, error);
    if (status == GUFO_OK) {
        w.files = files;
        status = units_run(&w, 0, job->unit_count, error);
        if (status == GUFO_OK)
            assert_int_equal(w.done, job->total);
        work_end(&w);
    }
    *out = malloc((size_t)size + 1);
    assert_int_equal(pread(fd, *out, (size_t)size, 0), (ssize_t)size);
    (void)close(fd);
    return status;
}

static inline uint8_t *run_job(gufo_job *job, unsigned threads, uint64_t memory)
{
    const gufo_run run = {.threads = threads, .memory = memory};
    gufo_error error;
    uint8_t *out;

    if (try_job(job, &run, &out, &error) != GUFO_OK)
        fail_msg("%s", error.message);
    return out;
}

static inline rows rows_of_floats(const source *from, uint64_t count, uint64_t columns)
{
    return (rows){.source = from,
                  .row_bytes = columns * sizeof(float),
                  .count = count,
                  .columns = columns,
                  .type = gufo_element_type_by_id(GUFO_TYPE_F32)};
}

#endif
