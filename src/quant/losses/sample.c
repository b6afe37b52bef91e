/* Which rows are measured.
 *
 * The groups of rows of a matrix (a group is one row, or the rows that an interleaved type merges) are
 * halved again and again.  The sample of level L is one group of each of the 2^L parts, and the same
 * one that the halves below it would choose:
 *
 *     level 1    | . . . . . x . . | . . x . . . . . |
 *     level 2    | . . x . | . x . . | . . x . | . . . x |       the old ones, and one of each
 *     level 3    | . x | x . | . x | ...                         half that had none
 *
 * So a larger sample contains the smaller one, rows are spread over the matrix, and no period of the
 * rows (the heads of an attention, interleaved gates) meets a period of the sample.  Which half is
 * chosen is a hash of the part's number.  Where more than half of the groups would be measured, all
 * rows are, in the units of a run: then sums are those of the run.
 *
 * A round is over all tensors.  Options whose standard error is small are skipped from then on. */
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "quant/losses/losses.h"

/* Of the first round: groups of rows of a tensor, and of a matrix of it. */
enum { LEAST_GROUPS = 32, LEAST_OF_MATRIX = 2 };

/* A standard error is small enough that is below this part of the loss. */
#define SMALL_ERROR 0.02

/* ---- parts ---------------------------------------------------------------------------------- */

/* Whether the group of a part is in its second half. */
static bool second_half(uint64_t matrix, unsigned level, uint64_t part)
{
    uint64_t x = (matrix + 1) * UINT64_C(0x9e3779b97f4a7c15) + (UINT64_C(1) << level) + part;

    /* splitmix64 (Steele, Lea and Flood 2014) */
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((x ^ x >> 31) & 1) != 0;
}

/* The group of a part. */
static uint64_t group_of(uint64_t matrix, uint64_t groups, unsigned level, uint64_t part)
{
    uint64_t first = 0, end = groups;

    for (unsigned i = 0; end - first > 1; i++) {
        uint64_t middle = first + (end - first) / 2;
        bool second = i < level ? (part >> (level - 1 - i) & 1) != 0 : second_half(matrix, i, part);

        if (second)
            first = middle;
        else
            end = middle;
        if (i >= level)
            part = 2 * part + second;
    }
    return first;
}

/* Whether so many groups of each matrix are as good as all. */
static bool is_most(const loss_piece *p, unsigned level)
{
    return level >= 62 || (UINT64_C(1) << level) > p->groups / 2;
}

void sample_begin(const sampling *s, loss_piece *p, uint64_t number)
{
    const piece *from = &s->job->pieces[number];
    const quant_tensor *t = &s->losses->q->tensors[p->tensor];
    uint64_t count = from->slices * from->slice_rows;

    p->group_rows = job_group_rows(from);
    p->matrices = t->source.dims[2] * t->source.dims[3];
    if (count % p->matrices != 0 || count / p->matrices % p->group_rows != 0)
        p->matrices = 1;
    p->groups = divide_up(count / p->matrices, p->group_rows);
    while (!is_most(p, p->level) &&
           ((UINT64_C(1) << p->level) < LEAST_OF_MATRIX || p->matrices << p->level < LEAST_GROUPS))
        p->level++;
    p->all = s->losses->all_rows || is_most(p, p->level);
}

/* ---- rounds --------------------------------------------------------------------------------- */

static uint32_t done_mask(const sampling *s, const loss_piece *p)
{
    uint32_t mask = 0;

    for (uint32_t i = 0; i < p->count; i++)
        mask |= (uint32_t)s->results[p->first + i].done << i;
    return mask;
}

static bool is_complete(const sampling *s, const loss_piece *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (!s->results[p->first + i].done)
            return false;
    return true;
}

static gufo_status add_sample(sampling *s, const job_sample *sample, gufo_error *error)
{
    job_sample *list =
        mem_grow(&s->losses->allocator, s->samples, s->count, &s->room, sizeof *list);

    if (list == NULL)
        return fail_memory(error);
    s->samples = list;
    s->samples[s->count++] = *sample;
    return GUFO_OK;
}

/* All rows, in the units of a run. */
static gufo_status add_all(sampling *s, uint64_t number, gufo_error *error)
{
    const piece *from = &s->job->pieces[number];
    uint32_t skipped = done_mask(s, &s->pieces[number]);
    gufo_status status = GUFO_OK;

    for (uint64_t slice = 0; slice < from->slices; slice++)
        for (uint64_t at = 0; at < from->slice_rows && status == GUFO_OK;
             at += job_unit_rows(from)) {
            const job_sample sample = {.piece = number,
                                       .row = slice * from->slice_rows + at,
                                       .count = smaller(job_unit_rows(from), from->slice_rows - at),
                                       .skipped = skipped};

            status = add_sample(s, &sample, error);
        }
    return status;
}

/* The groups of a level; those that the level before has are not taken again. */
static gufo_status add_level(sampling *s, uint64_t number, gufo_error *error)
{
    const loss_piece *p = &s->pieces[number];
    uint32_t skipped = done_mask(s, p);
    gufo_status status = GUFO_OK;

    for (uint64_t m = 0; m < p->matrices; m++)
        for (uint64_t part = 0; part < UINT64_C(1) << p->level && status == GUFO_OK; part++) {
            uint64_t group;

            if (p->begun && second_half(m, p->level - 1, part / 2) == (part % 2 != 0))
                continue;
            group = m * p->groups + group_of(m, p->groups, p->level, part);
            status = add_sample(s,
                                &(job_sample){.piece = number,
                                              .row = group * p->group_rows,
                                              .count = p->group_rows,
                                              .skipped = skipped},
                                error);
        }
    return status;
}

gufo_status sample_next(void *context, const job_sample **samples, uint64_t *count,
                        gufo_error *error)
{
    sampling *s = context;
    gufo_status status = GUFO_OK;

    s->count = 0;
    for (uint64_t i = 0; i < s->job->piece_count && status == GUFO_OK; i++) {
        loss_piece *p = &s->pieces[i];

        if (is_complete(s, p))
            continue;
        status = p->all ? add_all(s, i, error) : add_level(s, i, error);
        p->begun = true;
    }
    *samples = s->samples;
    *count = s->count;
    return status;
}

/* ---- results -------------------------------------------------------------------------------- */

/* Sets a loss that is good enough. */
static void judge_result(const sampling *s, const loss_piece *p, loss_result *r)
{
    const quant_tensor *t = &s->losses->q->tensors[p->tensor];
    double ratio = loss_ratio(r->sums.error, r->sums.value);
    double standard_error = p->all ? 0 : loss_standard_error(&r->sums, p->matrices * p->groups);

    if (!p->all && (r->sums.value <= 0 || standard_error > SMALL_ERROR * ratio))
        return;
    r->done = true;
    r->option->relative = ratio;
    r->option->standard_error = standard_error;
    r->option->rows = p->all ? loss_rows_of(t) : r->sums.count * p->group_rows;
}

/* After the last sample of a round. */
static void judge(const sampling *s, loss_piece *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (!s->results[p->first + i].done)
            judge_result(s, p, &s->results[p->first + i]);
    p->level++;
    p->all = is_most(p, p->level);
    for (uint32_t i = 0; i < p->count && p->all; i++)
        s->results[p->first + i].sums = (loss_sums){0}; /* all rows begin with the first */
}

gufo_status sample_take(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const sampling *s = context;
    const job_sample *sample = &s->samples[index];
    loss_piece *p = &s->pieces[sample->piece];
    bool weighted = s->losses->q->tensors[p->tensor].has_importance;
    const quant_loss *found = result;

    (void)error;
    for (uint32_t i = 0; i < p->count; i++)
        if ((sample->skipped >> i & 1) == 0)
            loss_sums_add(&s->results[p->first + i].sums,
                          weighted ? found[i].weighted_error : found[i].plain.square_error,
                          weighted ? found[i].weighted_value : found[i].plain.square_value);
    if (index + 1 == s->count || s->samples[index + 1].piece != sample->piece)
        judge(s, p);
    return GUFO_OK;
}
