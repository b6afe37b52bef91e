/* Jobs in parts; parts.h says what is checked. */
#include "parts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "produce/parts/parts.h"

enum { UNTOUCHED = 0xa5 }; /* bytes of .part files that hold no zeros */

/* Results of all units of a job. */
typedef struct unit_results {
    const gufo_job *job;
    uint8_t *bytes;
    uint64_t *pieces;
    bool *made;
    uint64_t left; /* units before the run is stopped */
    uint64_t next; /* the unit behind the last one */
} unit_results;

typedef struct parts_case {
    gufo_job *job;
    const gufo_job_options *outputs;
    const char *label;
    work work;
    unsigned threads; /* for which it has room */
    job_cut cut;
    job_part *parts;
    unit_results results;
    uint8_t **whole; /* the bytes of the targets */
    uint64_t random;
} parts_case;

static uint64_t next_random(parts_case *c)
{
    c->random = c->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return c->random >> 33;
}

static path_text target_path(const parts_case *c, uint32_t index, const char *suffix)
{
    const uint64_t set = index / job_set_size(c->job);
    const char *path = set == 0 ? c->outputs->path : c->outputs->more_paths[set - 1];
    path_text out;
    size_t len = gufo_job_output_path(c->job, path, index, out.text, sizeof out.text);

    check(len + strlen(suffix) < sizeof out.text, "%s: long path", c->label);
    memcpy(out.text + len, suffix, strlen(suffix) + 1);
    return out;
}

/* ---- files ---------------------------------------------------------------------------------- */

static void fill(int fd, uint64_t from, uint64_t to)
{
    uint8_t *bytes = malloc((size_t)(to - from) + 1);

    memset(bytes, UNTOUCHED, (size_t)(to - from));
    check(pwrite(fd, bytes, (size_t)(to - from), (off_t)from) == (ssize_t)(to - from), "fill");
    free(bytes);
}

/* New .part files, of zeros or of other bytes. */
static void make_files(const parts_case *c, bool filled)
{
    for (uint32_t i = 0; i < c->job->target_count; i++) {
        const path_text path = target_path(c, i, ".part");
        int fd = open(path.text, O_RDWR | O_CREAT | O_EXCL, 0600);

        check(fd >= 0, "%s: %s", c->label, path.text);
        check(ftruncate(fd, (off_t)c->job->targets[i].size) == 0, "%s", path.text);
        if (filled)
            fill(fd, 0, c->job->targets[i].size);
        (void)close(fd);
    }
}

/* Whether bytes are those of the whole, whose zeros may not have been written. */
static bool are_written(const uint8_t *parted, const uint8_t *whole, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if (parted[i] != whole[i] && (whole[i] != 0 || parted[i] != UNTOUCHED))
            return false;
    return true;
}

static bool are_untouched(const uint8_t *bytes, uint64_t size)
{
    return size == 0 || (bytes[0] == UNTOUCHED && memcmp(bytes, bytes + 1, (size_t)size - 1) == 0);
}

static void check_files(const parts_case *c)
{
    for (uint32_t i = 0; i < c->job->target_count; i++) {
        char label[200];

        (void)snprintf(label, sizeof label, "%.100s, %" PRIu64 " parts of %" PRIu64, c->label,
                       c->cut.count, c->cut.align);
        check_file(target_path(c, i, ".part").text, c->whole[i], (size_t)c->job->targets[i].size,
                   label);
    }
}

/* Of files that held other bytes a part has written its own alone, which are put back. */
static void check_written(const parts_case *c, const job_part *part)
{
    for (uint32_t i = 0; i < c->job->target_count; i++) {
        const path_text path = target_path(c, i, ".part");
        const byte_range r = part_clip(part, i, 0, c->job->targets[i].size);
        size_t len;
        uint8_t *bytes = read_file(path.text, &len);
        int fd = open(path.text, O_WRONLY);

        check_u64(len, c->job->targets[i].size, "%s: %s", c->label, path.text);
        check(are_written(bytes + r.from, c->whole[i] + r.from, r.to - r.from),
              "%s: part %" PRIu64 " of %s", c->label, part->number, path.text);
        check(are_untouched(bytes, r.from) && are_untouched(bytes + r.to, len - r.to),
              "%s: part %" PRIu64 " of %s writes more", c->label, part->number, path.text);
        fill(fd, r.from, r.to);
        (void)close(fd);
        free(bytes);
    }
}

static void remove_files(const parts_case *c)
{
    for (uint32_t i = 0; i < c->job->target_count; i++)
        (void)unlink(target_path(c, i, ".part").text);
}

/* ---- results -------------------------------------------------------------------------------- */

static gufo_status note_result(void *context, uint64_t number, uint64_t piece_number,
                               const void *result, gufo_error *error)
{
    unit_results *r = context;
    const size_t size = r->job->hooks.result_size;
    uint8_t *kept = r->bytes + number * size;

    (void)error;
    check(number >= r->next, "unit %" PRIu64 " is made again", number);
    check(size == 0 || !r->made[number] || memcmp(kept, result, size) == 0,
          "unit %" PRIu64 " has another result", number);
    if (size > 0)
        memcpy(kept, result, size);
    r->pieces[number] = piece_number;
    r->made[number] = true;
    r->next = number + 1;
    return r->left-- == 1 ? GUFO_E_STOPPED : GUFO_OK;
}

/* Results in the order of units give those of the whole. */
static void check_results(const parts_case *c, const gufo_job *whole)
{
    const gufo_job *job = c->job;
    const size_t size = job->hooks.result_size;

    if (job->results != NULL)
        memset(job->results, 0, job->result_count * size);
    for (uint64_t i = 0; i < job->unit_count; i++) {
        check(c->results.made[i], "%s: unit %" PRIu64 " is not made", c->label, i);
        job_add_result(job, c->results.pieces[i], c->results.bytes + i * size);
    }
    for (uint64_t i = 0; i < job->piece_count; i++)
        check(job_result(job, i) == NULL ||
                  memcmp(job_result(job, i), job_result(whole, i), size) == 0,
              "%s: results of piece %" PRIu64, c->label, i);
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* Every byte belongs to one part, and borders between parts are aligned. */
static void check_ranges(const parts_case *c)
{
    for (uint32_t i = 0; i < c->job->target_count; i++) {
        const uint64_t size = c->job->targets[i].size;
        uint64_t at = 0;

        for (uint64_t p = 0; p < c->cut.count; p++) {
            const byte_range r = part_clip(&c->parts[p], i, 0, size);

            if (!part_touches(&c->parts[p], i))
                continue;
            check_u64(r.from, at, "%s: part %" PRIu64 ", target %u", c->label, p, i);
            check(r.to == size || r.to % c->cut.align == 0, "%s: part %" PRIu64, c->label, p);
            at = r.to;
        }
        check_u64(at, size, "%s: target %u", c->label, i);
    }
}

/* Units [from, ...) of a part, `units` of them at most. */
static gufo_status run_part(parts_case *c, const job_part *part, uint64_t from, uint64_t units,
                            gufo_error *error)
{
    targets t;
    gufo_status status = targets_find_part(&t, c->job, c->outputs, part, error);

    c->results.left = units;
    c->results.next = from;
    if (status == GUFO_OK)
        status = spans_run_part(&t, &c->work, part, from, error);
    targets_end(&t, true);
    return status;
}

/* At once, or in two runs. */
static void make_part(parts_case *c, const job_part *part)
{
    gufo_error error = no_error();
    gufo_status status = run_part(c, part, 0, next_random(c) % 4, &error);

    if (status == GUFO_E_STOPPED)
        status = run_part(c, part, c->results.next, 0, &error);
    check_ok(status, &error, "%s: part %" PRIu64, c->label, part->number);
    check_u64(c->work.done, part->total, "%s: part %" PRIu64, c->label, part->number);
}

static void make_parts(parts_case *c, bool filled)
{
    uint64_t *order = malloc((size_t)c->cut.count * sizeof *order);

    for (uint64_t i = 0; i < c->cut.count; i++)
        order[i] = i;
    for (uint64_t i = c->cut.count; i > 1; i--) {
        const uint64_t k = next_random(c) % i, other = order[k];

        order[k] = order[i - 1];
        order[i - 1] = other;
    }
    for (uint64_t i = 0; i < c->cut.count; i++) {
        make_part(c, &c->parts[order[i]]);
        if (filled)
            check_written(c, &c->parts[order[i]]);
    }
    free(order);
}

static void check_cut(parts_case *c, const gufo_job *whole, uint64_t workers, uint64_t align,
                      bool filled)
{
    gufo_error error = no_error();

    check_ok(cut_job(c->job, workers, align, &c->cut, &error), &error, "%s", c->label);
    check(cut_fits(c->job, &c->cut), "%s", c->label);
    c->parts = calloc((size_t)c->cut.count, sizeof *c->parts);
    for (uint64_t i = 0; i < c->cut.count; i++)
        check_ok(part_find(c->job, &c->cut, i, &c->parts[i], &error), &error, "%s", c->label);
    check_ranges(c);
    make_files(c, filled);
    memset(c->results.made, 0, (size_t)c->job->unit_count);
    make_parts(c, filled);
    check_results(c, whole);
    if (!filled)
        check_files(c);
    remove_files(c);
    for (uint64_t i = 0; i < c->cut.count; i++)
        part_free(&c->job->allocator, &c->parts[i]);
    free(c->parts);
    cut_free(&c->job->allocator, &c->cut);
}

static uint64_t parts_of(const parts_case *c, uint64_t workers, uint64_t align)
{
    gufo_error error = no_error();
    job_cut cut;
    uint64_t count;

    check_ok(cut_job(c->job, workers, align, &cut, &error), &error, "%s", c->label);
    count = cut.count;
    cut_free(&c->job->allocator, &cut);
    return count;
}

/* Numbers of workers that give the same cut as the ones before are not tried again. */
static void check_cuts(parts_case *c, const gufo_job *whole)
{
    static const uint64_t workers[] = {1, 3, 7, 1000}; /* 2 and 64 cut as 1 does */
    static const uint64_t aligns[] = {CUT_LEAST_ALIGN, CUT_USUAL_ALIGN};

    check_cut(c, whole, 2, CUT_LEAST_ALIGN, true);
    for (size_t i = 0; i < COUNT_OF(aligns); i++) {
        uint64_t last = 0;

        for (size_t k = 0; k < COUNT_OF(workers); k++)
            if (parts_of(c, workers[k], aligns[i]) != last) {
                c->work.threads = 1 + (unsigned)(i + k) % c->threads;
                check_cut(c, whole, workers[k], aligns[i], false);
                last = c->cut.count;
            }
    }
}

static void keep_whole(parts_case *c)
{
    c->whole = calloc((size_t)c->job->target_count, sizeof *c->whole);
    for (uint32_t i = 0; i < c->job->target_count; i++) {
        size_t len;

        c->whole[i] = read_file(target_path(c, i, "").text, &len);
        check(c->whole[i] != NULL, "%s: no output", c->label);
        check_u64(len, c->job->targets[i].size, "%s: size", c->label);
    }
}

void check_parts(gufo_job *whole, gufo_job *parted, const gufo_job_options *outputs,
                 const char *label)
{
    const gufo_run run = {.threads = 3};
    parts_case c = {.job = parted, .outputs = outputs, .label = label};
    gufo_error error = no_error();
    unit_results *r = &c.results;

    check(whole != NULL && parted != NULL, "%s", label);
    check_ok(gufo_job_run(whole, outputs, &run, &error), &error, "%s", label);
    check_ok(job_start(parted, &c.work, &run, false, &error), &error, "%s", label);
    c.threads = c.work.threads;
    keep_whole(&c);
    r->job = parted;
    r->bytes = malloc((size_t)parted->unit_count * parted->hooks.result_size + 1);
    r->pieces = malloc((size_t)parted->unit_count * sizeof *r->pieces + 1);
    r->made = malloc((size_t)parted->unit_count + 1);
    c.work.note = note_result;
    c.work.note_context = r;
    check_cuts(&c, whole);
    work_end(&c.work);
    for (uint32_t i = 0; i < parted->target_count; i++)
        free(c.whole[i]);
    free(c.whole);
    free(r->bytes);
    free(r->pieces);
    free(r->made);
}
