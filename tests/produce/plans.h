/* A job with all kinds of pieces over two files, and the bytes that must come out.
 *
 *     inputs    "a": rows of floats;  "b": the same numbers, big-endian, behind some other bytes
 *     target 0  header | bytes of a, moved | Q8_0 of b |
 *     target 1  header | floats of b | rows of a, reordered | a transposed, F16 | a few bytes
 *     measured  Q4_0 of a, with importance, in two slices
 *
 * Between all of these are gaps.  `alone`: one target, and one result of each piece. */
#ifndef TEST_PRODUCE_PLANS_H
#define TEST_PRODUCE_PLANS_H

#include <fcntl.h>
#include <math.h>

#include "base/bytes.h"
#include "base/error.h"
#include "jobs.h"

enum { COLUMNS = 256, HEAD = 1000, GAP = 77, TARGETS = 2, FEW = 17, PIECES = 7 };

/* What is measured: with padding, as results may have it. */
typedef struct measured {
    double off;
    uint32_t rows;
} measured;

typedef struct plan {
    folder f;
    bool alone;
    uint64_t rows;
    float *numbers;   /* of the inputs, */
    uint8_t *data[2]; /* which hold them in either byte order */
    size_t len[2];
    path_text in[2];
    source from[2];
    uint8_t *expected[TARGETS];
    size_t size[TARGETS];
    path_text out[TARGETS];
    path_text path; /* for gufo_job_run */
    size_t targets;
    const gufo_allocator *allocator;
    uint64_t identity;
    /* of the last run: */
    measured results[PIECES];
    uint64_t stop_at, calls, done, total, units; /* stop_at: calls of progress; 0: never */
    uint64_t continued;                          /* calls of on_continue, */
    uint64_t before;                             /* and the bytes that the last one says */
} plan;

static inline const gufo_element_type *type_of(uint32_t id)
{
    return gufo_element_type_by_id(id);
}

/* ---- expectations --------------------------------------------------------------------------- */

static inline void encode_all(uint32_t type, const float *values, uint64_t count, uint64_t columns,
                              uint8_t *out)
{
    gufo_error error = no_error();
    gufo_encoder *encoder = gufo_encoder_new(type_of(type), NULL, &error);

    check(encoder != NULL, "%s", error.message);
    check_ok(gufo_encoder_encode(encoder, values, count, columns, NULL, out, NULL, &error), &error,
             "encode");
    gufo_encoder_free(encoder);
}

/* Places `size` bytes behind a gap; returns where. */
static inline uint64_t plan_place(plan *p, size_t target, size_t size)
{
    uint64_t place = p->size[target] + GAP;

    p->expected[target] = realloc(p->expected[target], (size_t)place + size);
    memset(p->expected[target] + p->size[target], 0, GAP);
    p->size[target] = (size_t)place + size;
    return place;
}

static inline void expect_sorted(const plan *p, uint8_t *out)
{
    size_t row = COLUMNS * sizeof(float);

    for (uint64_t i = 0; i < p->rows; i++) {
        uint64_t from = i < p->rows / 2 ? 2 * i + 1 : 2 * (i - p->rows / 2);

        memcpy(out + i * row, p->data[0] + from * row, row);
    }
}

static inline void expect_turned(const plan *p, uint8_t *out)
{
    size_t count = (size_t)p->rows * COLUMNS;
    float *turned = malloc(count * sizeof *turned);

    for (uint64_t i = 0; i < count; i++)
        turned[i % COLUMNS * p->rows + i / COLUMNS] = p->numbers[i];
    encode_all(GUFO_TYPE_F16, turned, COLUMNS, p->rows, out);
    free(turned);
}

/* ---- the job -------------------------------------------------------------------------------- */

static inline gufo_status give_importance(void *context, uint64_t number, uint64_t slice,
                                          float *out, gufo_error *error)
{
    (void)context, (void)number, (void)error;
    for (unsigned i = 0; i < COLUMNS; i++)
        out[i] = (float)(1 + i % 3 + slice);
    return GUFO_OK;
}

static inline gufo_status measure_rows(void *context, const measured_rows *seen, void *result,
                                       gufo_error *error)
{
    measured *m = result;

    (void)context;
    for (uint64_t i = 0; i < seen->count * COLUMNS; i++)
        if (!isfinite(seen->values[i]))
            return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET, "a value is not finite");
    for (uint64_t i = 0; i < seen->count * COLUMNS; i++)
        m->off += ((double)seen->values[i] - (double)seen->decoded[i]) / 3.0;
    m->rows += (uint32_t)seen->count;
    return GUFO_OK;
}

static inline void add_measured(void *context, void *sum, const void *result)
{
    measured *to = sum;
    const measured *from = result;

    (void)context;
    to->off += from->off;
    to->rows += from->rows;
}

static inline rows plan_rows(plan *p, uint32_t input)
{
    return (rows){.input = input,
                  .source = &p->from[input],
                  .offset = input == 0 ? 0 : HEAD,
                  .row_bytes = COLUMNS * sizeof(float),
                  .count = p->rows,
                  .columns = COLUMNS,
                  .type = type_of(GUFO_TYPE_F32),
                  .swapped = input == 1};
}

/* The pieces; with `expect` what they give is worked out, else only the places are. */
typedef struct planning {
    plan *p;
    gufo_job *job; /* NULL: only what must come out */
    uint64_t at[TARGETS];
    gufo_status status;
    gufo_error *error;
} planning;

static inline uint32_t target_of(const planning *g, uint32_t target)
{
    return g->p->alone ? 0 : target;
}

/* Where the next `size` bytes of a target go; *out is where their expected form belongs, or
 * NULL. */
static inline uint64_t next_place(planning *g, uint32_t target, uint64_t size, uint8_t **out)
{
    uint64_t place;

    target = target_of(g, target);
    if (g->job == NULL) {
        place = plan_place(g->p, target, (size_t)size);
        *out = g->p->expected[target] + place;
        return place;
    }
    place = g->at[target] + GAP;
    g->at[target] = place + size;
    *out = NULL;
    return place;
}

static inline void plan_move(planning *g, uint64_t from, uint64_t size, uint32_t target)
{
    uint8_t *out;
    uint64_t place = next_place(g, target, size, &out);

    if (out != NULL && size > 0)
        memcpy(out, g->p->data[0] + from, (size_t)size);
    if (g->job != NULL && g->status == GUFO_OK)
        g->status = job_add_move(g->job, 0, from, size, target_of(g, target), place,
                                 gufo_str_of("moved"), g->error);
}

static inline void plan_piece(planning *g, piece *p, rows *from, segment *segments, uint32_t count)
{
    p->sources = from;
    p->n_sources = 1;
    p->segments = segments;
    p->n_segments = count;
    if (g->job != NULL && g->status == GUFO_OK)
        g->status = job_add_piece(g->job, p, g->error);
}

static inline void plan_encoded(planning *g)
{
    plan *p = g->p;
    rows from = plan_rows(p, 1);
    segment all = {.count = {p->rows, 1, 1}, .stride = {1, 0, 0}};
    made results[2] = {{.target = 0,
                        .row_bytes = COLUMNS / 32 * 34,
                        .type = type_of(GUFO_TYPE_Q8_0),
                        .encode = true,
                        .measure = true},
                       {.target = 1, .row_bytes = from.row_bytes, .type = from.type}};
    piece made_of_b = {.how = PIECE_MAKE,
                       .name = gufo_str_of("made"),
                       .made = results,
                       .n_made = p->alone ? 1 : 2,
                       .columns = COLUMNS,
                       .slices = 1,
                       .slice_rows = p->rows};

    for (uint32_t i = 0; i < made_of_b.n_made; i++) {
        uint8_t *out;

        results[i].place = next_place(g, i, p->rows * results[i].row_bytes, &out);
        if (out != NULL && i == 0)
            encode_all(GUFO_TYPE_Q8_0, p->numbers, p->rows, COLUMNS, out);
        else if (out != NULL)
            memcpy(out, p->data[0], p->len[0]);
    }
    plan_piece(g, &made_of_b, &from, &all, 1);
}

static inline void plan_sorted(planning *g)
{
    plan *p = g->p;
    rows from = plan_rows(p, 0);
    segment halves[2] = {{.first = 1, .count = {p->rows / 2, 1, 1}, .stride = {2, 0, 0}},
                         {.first = 0, .count = {p->rows / 2, 1, 1}, .stride = {2, 0, 0}}};
    made result = {.target = target_of(g, 1), .row_bytes = from.row_bytes};
    piece sorted = {.how = PIECE_MOVE,
                    .name = gufo_str_of("sorted"),
                    .made = &result,
                    .n_made = 1,
                    .columns = COLUMNS,
                    .slices = 1,
                    .slice_rows = p->rows};
    uint8_t *out;

    result.place = next_place(g, 1, p->rows * from.row_bytes, &out);
    if (out != NULL)
        expect_sorted(p, out);
    plan_piece(g, &sorted, &from, halves, 2);
}

static inline void plan_turned(planning *g)
{
    plan *p = g->p;
    rows from = plan_rows(p, 0);
    segment all = {.count = {p->rows, 1, 1}, .stride = {1, 0, 0}};
    made result = {.target = target_of(g, 1),
                   .row_bytes = p->rows * 2,
                   .type = type_of(GUFO_TYPE_F16),
                   .encode = true};
    piece turned = {.how = PIECE_MAKE,
                    .name = gufo_str_of("turned"),
                    .made = &result,
                    .n_made = 1,
                    .transpose = true,
                    .columns = p->rows,
                    .slices = 1,
                    .slice_rows = COLUMNS};
    uint8_t *out;

    result.place = next_place(g, 1, p->rows * 2 * COLUMNS, &out);
    if (out != NULL)
        expect_turned(p, out);
    plan_piece(g, &turned, &from, &all, 1);
}

static inline void plan_measured(planning *g)
{
    rows from = plan_rows(g->p, 0);
    segment all = {.count = {g->p->rows, 1, 1}, .stride = {1, 0, 0}};
    made result = {.target = NO_TARGET,
                   .row_bytes = COLUMNS / 32 * 18,
                   .type = type_of(GUFO_TYPE_Q4_0),
                   .encode = true,
                   .weighs = true,
                   .measure = true};
    piece looked_at = {.how = PIECE_MAKE,
                       .name = gufo_str_of("measured"),
                       .made = &result,
                       .n_made = 1,
                       .columns = COLUMNS,
                       .slices = 2,
                       .slice_rows = g->p->rows / 2};

    if (!g->p->alone)
        plan_piece(g, &looked_at, &from, &all, 1);
}

static inline void plan_all(planning *g)
{
    plan_move(g, 5, g->p->len[0] - 9, 0);
    plan_move(g, 0, 0, 0);
    plan_encoded(g);
    plan_sorted(g);
    plan_turned(g);
    plan_measured(g);
    plan_move(g, 3, FEW, 1);
}

static inline gufo_job *plan_job(plan *p, gufo_error *error)
{
    static const char header[] = "HEADER";
    gufo_job *job = job_new(p->allocator, error);
    planning g = {.p = p, .job = job, .at = {sizeof header, sizeof header}, .error = error};
    uint32_t number;

    if (job == NULL)
        return NULL;
    job->hooks = (job_hooks){.importance = give_importance,
                             .measure = measure_rows,
                             .add = add_measured,
                             .result_size = sizeof(measured)};
    job->naming = p->alone ? JOB_NAMED_FILE : JOB_NAMED_SET;
    job->identity = p->identity;
    for (uint32_t i = 0; i < 2 && g.status == GUFO_OK; i++)
        g.status = job_add_input(job,
                                 &(job_input){.role = GUFO_FILE_INPUT,
                                              .index = i,
                                              .name = p->in[i].text,
                                              .source = &p->from[i],
                                              .head = 64},
                                 &number, error);
    for (size_t i = 0; i < p->targets && g.status == GUFO_OK; i++)
        g.status = job_add_target(
            job, &(job_target){.size = p->size[i], .header = header, .header_size = sizeof header},
            &number, error);
    if (g.status == GUFO_OK)
        plan_all(&g);
    return job_planned(job, g.status, error);
}

/* ---- life ----------------------------------------------------------------------------------- */

static inline void plan_open(plan *p)
{
    for (unsigned i = 0; i < 2; i++) {
        gufo_error error = no_error();
        int fd = open(p->in[i].text, O_RDONLY);

        check(fd >= 0, "%s", p->in[i].text);
        check_ok(source_open_fd(&p->from[i], fd, false, 0, &default_allocator, &error), &error,
                 "open");
    }
}

static inline void plan_close(plan *p)
{
    source_close(&p->from[0]);
    source_close(&p->from[1]);
}

/* As a file holds them, whatever this machine does. */
static inline void plan_put(const float *numbers, uint64_t count, bool big, uint8_t *out)
{
    copy_numbers(out, numbers, count, sizeof *numbers, bytes_swapped(big));
}

static inline void plan_inputs(plan *p)
{
    p->len[0] = (size_t)p->rows * COLUMNS * sizeof(float);
    p->len[1] = p->len[0] + HEAD;
    p->numbers = malloc(p->len[0]);
    p->data[0] = malloc(p->len[0]);
    p->data[1] = malloc(p->len[1]);
    memset(p->data[1], 0x5a, HEAD);
    for (size_t i = 0; i < p->len[0] / sizeof(float); i++)
        p->numbers[i] = (float)((i * 7919 + i / 300) % 4001) / 64.0f - 30.0f;
    plan_put(p->numbers, p->rows * COLUMNS, false, p->data[0]);
    plan_put(p->numbers, p->rows * COLUMNS, true, p->data[1] + HEAD);
    for (unsigned i = 0; i < 2; i++) {
        p->in[i] = folder_path(&p->f, i == 0 ? "a" : "b");
        write_file(p->in[i].text, p->data[i], p->len[i]);
    }
}

static inline plan plan_new(bool alone, uint64_t row_count)
{
    static const char header[] = "HEADER";
    plan p = {.f = folder_new(), .alone = alone, .rows = row_count, .targets = alone ? 1 : TARGETS};
    planning g = {.p = &p};

    plan_inputs(&p);
    plan_open(&p);
    for (size_t i = 0; i < p.targets; i++) {
        p.expected[i] = malloc(sizeof header);
        memcpy(p.expected[i], header, sizeof header);
        p.size[i] = sizeof header;
        p.out[i] = folder_path(&p.f, alone    ? "out"
                                     : i == 0 ? "out-00001-of-00002.gguf"
                                              : "out-00002-of-00002.gguf");
    }
    plan_all(&g);
    for (size_t i = 0; i < p.targets; i++) /* a gap at the end */
        (void)plan_place(&p, i, 0);
    p.path = p.out[0];
    return p;
}

static inline void plan_end(plan *p)
{
    plan_close(p);
    folder_remove(&p->f);
    free(p->numbers);
    for (size_t i = 0; i < 2; i++) {
        free(p->data[i]);
        free(p->expected[i]);
    }
}

/* ---- runs ----------------------------------------------------------------------------------- */

static inline bool count_progress(void *context, uint64_t done, uint64_t total)
{
    plan *p = context;

    p->calls++;
    p->done = done;
    p->total = total;
    return p->stop_at == 0 || p->calls < p->stop_at;
}

static inline gufo_run plan_how(plan *p, unsigned threads, uint64_t memory)
{
    p->calls = p->done = p->total = p->continued = p->before = 0;
    return (gufo_run){
        .threads = threads, .memory = memory, .progress = count_progress, .progress_context = p};
}

static inline void plan_take_results(plan *p, const gufo_job *job)
{
    p->units = job->unit_count;
    memset(p->results, 0, sizeof p->results);
    for (uint64_t i = 0; i < job->piece_count; i++)
        if (job_result(job, i) != NULL)
            memcpy(&p->results[i], job_result(job, i), sizeof p->results[i]);
}

static inline void count_continued(void *context, uint64_t done, uint64_t total)
{
    plan *p = context;

    p->continued++;
    p->before = done;
    check(done <= total && total > 0, "%" PRIu64 " of %" PRIu64, done, total);
}

static inline gufo_status plan_run(plan *p, uint32_t flags, unsigned threads, uint64_t memory,
                                   gufo_error *error)
{
    const gufo_job_options options = {.path = p->path.text,
                                      .flags = flags,
                                      .on_continue = count_continued,
                                      .continue_context = p};
    const gufo_run how = plan_how(p, threads, memory);
    gufo_job *job = plan_job(p, error);
    gufo_status status;

    if (job == NULL)
        return error->code;
    status = gufo_job_run(job, &options, &how, error);
    plan_take_results(p, job);
    gufo_job_free(job);
    return status;
}

/* The outputs are there, and nothing else is. */
static inline void plan_check(const plan *p, const char *label)
{
    for (size_t i = 0; i < p->targets; i++)
        check_file(p->out[i].text, p->expected[i], p->size[i], label);
    check_u64(entry_count(p->f.path), 2 + p->targets, "%s: files", label);
}

static inline void plan_remove_outputs(const plan *p)
{
    for (size_t i = 0; i < p->targets; i++)
        (void)unlink(p->out[i].text);
}

/* Nothing but inputs. */
static inline void plan_check_nothing(const plan *p, const char *label)
{
    check_u64(entry_count(p->f.path), 2, "%s: something is left", label);
}

#endif
