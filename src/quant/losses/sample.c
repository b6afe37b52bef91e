/* Which rows are measured, round after round.
 *
 *     weigh    all rows: the denominator of the loss of each
 *     heavy    the heaviest rows, which are measured for certain
 *     draw     places on the line of the weights of the others, 32, 64, 128 ... (parts.c):
 *
 *                  row 0    row 1     row 2 is heavy    row 3  row 4
 *              |----------|----|                      |------|--------------|
 *                    x      x                             x      x     x
 *
 * An option whose standard error is small is skipped from then on.  Where more than half of the rows
 * would be measured, all rows are, in the units of a run: then sums are those of the run.
 *
 * Pieces are worked on together as long as their weights fit into a list, so that the rounds of one
 * wait for all. */
#include "base/checked.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "quant/losses/losses.h"

#include <math.h>

/* ---- where rows are drawn ------------------------------------------------------------------- */

/* Where rows are drawn.
 *
 * A line is halved again and again.  The sample of level L is one place in each of the 2^L parts, and the
 * same one that the halves below it would choose:
 *
 *     level 1    | . . . . . x . . | . . x . . . . . |
 *     level 2    | . . x . | . x . . | . . x . | . . . x |       the old ones, and one of each
 *     level 3    | . x | x . | . x | ...                         half that had none
 *
 * So a larger sample contains the smaller one, places are spread over the line, and no period of the rows
 * (the heads of an attention, interleaved gates) meets a period of the sample.  Which half is chosen is a
 * hash of the part's number and of the tensor's name. */
enum { PLACE_BITS = 53 };

static bool second_half(uint64_t seed, unsigned level, uint64_t part)
{
    uint64_t x = seed + (UINT64_C(1) << level) + part;

    /* splitmix64 (Steele, Lea and Flood 2014) */
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((x ^ x >> 31) & 1) != 0;
}

/* The place of part `part` of the 2^level parts of a line from 0 to 1, by which the sample of the tensor
 * with that seed is drawn; and whether the level before has the same one. */
static double part_place(uint64_t seed, unsigned level, uint64_t part)
{
    for (; level < PLACE_BITS; level++)
        part = 2 * part + second_half(seed, level, part);
    return (double)part / (double)(UINT64_C(1) << PLACE_BITS);
}

static bool part_is_old(uint64_t seed, unsigned level, uint64_t part)
{
    return level > 0 && second_half(seed, level - 1, part / 2) == (part % 2 != 0);
}

/* ---- from rows to a loss -------------------------------------------------------------------- */

/* From rows to a loss and its standard error.
 *
 * The loss E = sum n / sum m is a mean of the losses of single rows, n / m, in which a row counts by its
 * weight m.  Of all rows the weights are known, because that takes no encoder.  So rows are drawn with
 * chances in the proportion of their weights, and the plain mean of their losses estimates E (Hansen and
 * Hurwitz 1943):
 *
 *     E = part of heavy rows * their loss + rest * mean(n / m)
 *     SE = rest * deviation(n / m) / sqrt(k)
 *
 * Rows that would be drawn again and again, the heavy ones, are taken once and for certain.  A loss of a
 * row is a number between 0 and about 1 whatever the row's size, so that few rows show how much they
 * differ.  In the ratio of sums over evenly spaced rows a few large rows decide, and a sample without
 * them knows neither the loss nor its error. */

/* Adds rows that were drawn `times` times. */
static void loss_sums_draw(loss_sums *sums, double error, double value, uint64_t times)
{
    double ratio = loss_ratio(error, value);

    sums->drawn += times;
    sums->ratio += (double)times * ratio;
    sums->ratio_ratio += (double)times * (ratio * ratio);
}

/* The loss where the rows that are drawn from have a part of `rest` in the denominator, and its standard
 * error. */
static double loss_estimate(const loss_sums *s, double rest, double *standard_error)
{
    double count = (double)s->drawn, certain = loss_ratio(s->error, s->value), mean, squares;

    *standard_error = 0;
    if (s->drawn == 0)
        return certain;
    mean = s->ratio / count;
    squares = s->ratio_ratio - count * (mean * mean);
    if (s->drawn > 1 && squares > 0) /* below 0: rounding, where all are the same */
        *standard_error = rest * sqrt(squares / (count * (count - 1)));
    return (1 - rest) * certain + rest * mean;
}

/* ---- rounds --------------------------------------------------------------------------------- */

enum {
    FIRST_LEVEL = 5,            /* places of the first draw: 2^5 */
    MOST_WEIGHTS = 1024 * 1024, /* groups of rows of pieces that are worked on together */
};

/* A standard error is small enough that is below this part of the loss, where so many rows were drawn
 * that it can be relied upon: as few as possible of the types whose encoders search long. */
#define SMALL_ERROR 0.02
enum { LEAST_DRAWN = 64, LEAST_OF_SLOW = 32 };

static uint64_t least_drawn(const gufo_element_type *type)
{
    return losses_encodes_slowly(type) ? LEAST_OF_SLOW : LEAST_DRAWN;
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* Whether so many places are as good as all rows. */
static bool is_most(const loss_piece *p, unsigned level)
{
    return level >= 32 || (UINT64_C(1) << level) > p->groups / 2;
}

void sample_begin(const sampling *s, loss_piece *p, uint64_t number)
{
    plain_piece room;
    const piece *from = job_piece_at(s->job, number, &room);

    p->group_rows = job_group_rows(from);
    p->groups = divide_up(from->slices * from->slice_rows, p->group_rows);
    p->level = FIRST_LEVEL;
    p->seed = xxh64_of(s->losses->q->tensors[p->tensor].source_name);
}

/* The most that lists take. */
uint64_t sample_memory(const sampling *s)
{
    uint64_t all = 0, most = 0;

    for (uint64_t i = 0; i < s->job->piece_count; i++) {
        all += s->pieces[i].groups;
        most = larger(most, s->pieces[i].groups);
    }
    return larger(smaller(all, MOST_WEIGHTS), most) * sizeof *s->weights +
           s->job->unit_count * (sizeof *s->samples + sizeof *s->times);
}

gufo_status sample_weigh(const sampling *s, const measured_rows *seen, gufo_error *error)
{
    const loss_piece *p = &s->pieces[seen->piece];
    const quant_tensor *t = &s->losses->q->tensors[p->tensor];
    const gufo_element_type *from = quant_source_type(s->losses->q, t);
    measured_rows one = *seen;
    gufo_status status = GUFO_OK;

    one.count = 1;
    for (uint64_t i = 0; i < seen->count && status == GUFO_OK; i++) {
        quant_loss row = {.weighted_value = 0};

        one.row = seen->row + i;
        one.values = one.decoded = seen->values + i * seen->columns;
        status = pieces_measure(s->losses->q, t, from, &one, &row, error);
        p->weights[one.row / p->group_rows] +=
            seen->importance != NULL ? row.weighted_value : row.plain.square_value;
    }
    return status;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static uint64_t done_mask(const sampling *s, const loss_piece *p)
{
    uint64_t mask = UINT64_C(1) << p->count; /* weighing */

    for (uint32_t i = 0; i < p->count; i++)
        mask |= (uint64_t)s->results[p->first + i].done << i;
    return mask;
}

static gufo_status add_sample(sampling *s, const job_sample *sample, uint64_t times,
                              gufo_error *error)
{
    const gufo_allocator *a = &s->losses->allocator;
    job_sample *list = mem_grow(a, s->samples, s->count, &s->room, sizeof *list);
    uint64_t *more = mem_grow(a, s->times, s->count, &s->times_room, sizeof *more);

    s->samples = list != NULL ? list : s->samples;
    s->times = more != NULL ? more : s->times;
    if (list == NULL || more == NULL)
        return fail_memory(error);
    s->samples[s->count] = *sample;
    s->times[s->count++] = times;
    return GUFO_OK;
}

/* All rows, in the units of a run. */
static gufo_status add_all(sampling *s, uint64_t number, uint64_t skipped, gufo_error *error)
{
    plain_piece room;
    const piece *from = job_piece_at(s->job, number, &room);
    uint64_t unit = job_unit_rows(from);
    gufo_status status = GUFO_OK;

    for (uint64_t slice = 0; slice < from->slices; slice++)
        for (uint64_t at = 0; at < from->slice_rows && status == GUFO_OK; at += unit)
            status = add_sample(s,
                                &(job_sample){.piece = number,
                                              .row = slice * from->slice_rows + at,
                                              .count = smaller(unit, from->slice_rows - at),
                                              .skipped = skipped},
                                1, error);
    return status;
}

static gufo_status add_group(sampling *s, uint64_t number, uint64_t group, uint64_t times,
                             gufo_error *error)
{
    const loss_piece *p = &s->pieces[number];
    const job_sample sample = {.piece = number,
                               .row = group * p->group_rows,
                               .count = p->group_rows,
                               .skipped = done_mask(s, p)};

    return add_sample(s, &sample, times, error);
}

/* ---- heavy rows ----------------------------------------------------------------------------- */

/* Adds a group to those with the largest weights, which `list` has in falling order. */
static void keep_heaviest(const double *weights, uint64_t *list, unsigned *count, uint64_t group)
{
    unsigned at = *count;

    if (at == MOST_HEAVY && weights[group] <= weights[list[at - 1]])
        return;
    at = at < MOST_HEAVY ? (*count)++ : at - 1;
    for (; at > 0 && weights[group] > weights[list[at - 1]]; at--)
        list[at] = list[at - 1];
    list[at] = group;
}

static bool is_smaller(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* Finds the groups that a draw would meet as often as not, and makes a line of the others; false where
 * weights make none. */
static bool find_heavy(loss_piece *p)
{
    double all = 0, left, sum = 0;
    unsigned count = 0;

    for (uint64_t i = 0; i < p->groups; i++) {
        all += p->weights[i];
        keep_heaviest(p->weights, p->heavy, &count, i);
    }
    left = all;
    while (p->heavy_count < count &&
           p->weights[p->heavy[p->heavy_count]] > left / (2 << FIRST_LEVEL)) {
        left -= p->weights[p->heavy[p->heavy_count]];
        p->weights[p->heavy[p->heavy_count++]] = 0;
    }
    sort_items(p->heavy, p->heavy_count, sizeof *p->heavy, is_smaller);
    for (uint64_t i = 0; i < p->groups; i++)
        p->weights[i] = sum += p->weights[i];
    p->rest = all > 0 ? sum / all : 0;
    return all > 0 && isfinite(all);
}

/* ---- drawing -------------------------------------------------------------------------------- */

static bool ends_by(const void *weights, size_t group, const void *place)
{
    return ((const double *)weights)[group] <= *(const double *)place;
}

/* The group at a place of the line. */
static uint64_t group_at(const loss_piece *p, double place)
{
    const double at = place * p->weights[p->groups - 1];

    return first_row_from(p->weights, (size_t)p->groups - 1, ends_by, &at);
}

/* Adds the heavy groups before `group` that were not added yet. */
static gufo_status add_heavy(sampling *s, uint64_t number, unsigned *next, uint64_t group,
                             gufo_error *error)
{
    const loss_piece *p = &s->pieces[number];
    gufo_status status = GUFO_OK;

    for (; *next < p->heavy_count && p->heavy[*next] < group && status == GUFO_OK; ++*next)
        status = add_group(s, number, p->heavy[*next], 0, error);
    return status;
}

/* The places of a level that the level before does not have, and at first the heavy groups. */
static gufo_status add_draws(sampling *s, uint64_t number, gufo_error *error)
{
    loss_piece *p = &s->pieces[number];
    uint64_t parts = p->rest > 0 ? UINT64_C(1) << p->level : 0, last = UINT64_MAX;
    unsigned next = p->drawn ? p->heavy_count : 0;
    gufo_status status = GUFO_OK;

    for (uint64_t part = 0; part < parts && status == GUFO_OK; part++) {
        uint64_t group = group_at(p, part_place(p->seed, p->level, part));

        if (p->drawn && part_is_old(p->seed, p->level, part))
            continue;
        if (group == last) {
            s->times[s->count - 1]++;
            continue;
        }
        status = add_heavy(s, number, &next, group, error);
        if (status == GUFO_OK)
            status = add_group(s, number, group, 1, error);
        last = group;
    }
    p->drawn = true;
    return status == GUFO_OK ? add_heavy(s, number, &next, UINT64_MAX, error) : status;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* Whether a sample of a piece makes no sense: it would be most of the rows, or groups reach over the ends
 * of slices. */
static bool is_short(const sampling *s, uint64_t number)
{
    const loss_piece *p = &s->pieces[number];

    plain_piece room;

    return p->groups < 2 * LEAST_DRAWN ||
           job_piece_at(s->job, number, &room)->slice_rows % p->group_rows != 0;
}

/* The next pieces that are worked on together, with room for their weights. */
static gufo_status begin_pieces(sampling *s, gufo_error *error)
{
    uint64_t groups = 0;
    double *at;

    s->begin = s->end;
    while (s->end < s->job->piece_count &&
           (s->end == s->begin || groups + s->pieces[s->end].groups <= MOST_WEIGHTS))
        groups += s->pieces[s->end++].groups;
    mem_free(&s->losses->allocator, s->weights);
    s->weights = at = mem_array(&s->losses->allocator, groups, sizeof *s->weights);
    if (s->weights == NULL)
        return fail_memory(error);
    for (uint64_t i = s->begin; i < s->end; i++) {
        s->pieces[i].weights = at;
        s->pieces[i].stage = s->losses->all_rows || is_short(s, i) ? STAGE_ALL : STAGE_WEIGHS;
        at += s->pieces[i].groups;
    }
    return GUFO_OK;
}

static gufo_status add_piece(sampling *s, uint64_t number, gufo_error *error)
{
    const loss_piece *p = &s->pieces[number];

    switch (p->stage) {
    case STAGE_WEIGHS:
        return add_all(s, number, (UINT64_C(1) << p->count) - 1, error);
    case STAGE_DRAWS:
        return add_draws(s, number, error);
    case STAGE_ALL:
        return add_all(s, number, done_mask(s, p), error);
    default:
        return GUFO_OK;
    }
}

gufo_status sample_next(void *context, const job_sample **samples, uint64_t *count,
                        gufo_error *error)
{
    sampling *s = context;
    gufo_status status = GUFO_OK;

    s->count = 0;
    while (s->count == 0 && status == GUFO_OK) {
        for (uint64_t i = s->begin; i < s->end && status == GUFO_OK; i++)
            status = add_piece(s, i, error);
        if (s->count > 0 || s->end == s->job->piece_count)
            break;
        if (status == GUFO_OK)
            status = begin_pieces(s, error);
    }
    *samples = s->samples;
    *count = s->count;
    return status;
}

/* ---- results -------------------------------------------------------------------------------- */

/* Sets a loss that is good enough. */
static void judge_result(const sampling *s, const loss_piece *p, loss_result *r)
{
    bool all = p->stage == STAGE_ALL;
    double standard_error, loss = loss_estimate(&r->sums, all ? 0 : p->rest, &standard_error);

    if (!all && p->rest > 0 && r->sums.drawn < least_drawn(r->option->type))
        return;
    if (standard_error > SMALL_ERROR * loss)
        return;
    r->done = true;
    r->option->relative = loss;
    r->option->standard_error = standard_error;
    r->option->sampled = !s->losses->all_rows || is_short(s, (uint64_t)(p - s->pieces));
    r->option->rows =
        all ? loss_rows_of(s->losses, p->tensor) : (r->sums.drawn + p->heavy_count) * p->group_rows;
}

/* After the last sample of a round: whether all options of a piece have their loss. */
static bool judge(const sampling *s, const loss_piece *p)
{
    bool done = true;

    for (uint32_t i = 0; i < p->count; i++) {
        loss_result *r = &s->results[p->first + i];

        if (!r->done)
            judge_result(s, p, r);
        done = done && r->done;
    }
    return done;
}

static void measure_all(const sampling *s, loss_piece *p)
{
    p->stage = STAGE_ALL;
    for (uint32_t i = 0; i < p->count; i++)
        s->results[p->first + i].sums = (loss_sums){0};
}

static void end_round(const sampling *s, loss_piece *p)
{
    if (p->stage == STAGE_WEIGHS) {
        p->stage = STAGE_DRAWS;
        if (!find_heavy(p))
            measure_all(s, p);
    } else if (judge(s, p)) {
        p->stage = STAGE_DONE;
    } else if (is_most(p, ++p->level)) {
        measure_all(s, p);
    }
}

gufo_status sample_take(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const sampling *s = context;
    const job_sample *sample = &s->samples[index];
    loss_piece *p = &s->pieces[sample->piece];
    bool draws = p->stage == STAGE_DRAWS && s->times[index] > 0;
    const sampled *found = result;

    (void)error;
    for (uint32_t i = 0; i < p->count; i++) {
        loss_sums *sums = &s->results[p->first + i].sums;

        if ((sample->skipped >> i & 1) != 0)
            continue;
        if (draws)
            loss_sums_draw(sums, found[i].error, found[i].value, s->times[index]);
        sums->error += draws ? 0 : found[i].error;
        sums->value += draws ? 0 : found[i].value;
    }
    if (index + 1 == s->count || s->samples[index + 1].piece != sample->piece)
        end_round(s, p);
    return GUFO_OK;
}
