/* How a job is cut into parts that cost the same; parts.h has the rule.
 *
 *     cost       |------ 1/4 ------|------ 1/4 ------|------ 1/4 ------|------ 1/4 ------|
 *     units      | | | | | | | | |   |     |     |     |     |     |     |   |   |   |   |
 *     targets    |-------- 0 ------|------------------- 1 -------------------|---- 2 ----|
 *     borders    0                 8                 11                      15          20
 *                                  the nearest unit, or the first one of a target nearby
 */
#include "produce/parts/parts.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

/* ---- costs ---------------------------------------------------------------------------------- */

/* The least number of parts, so that no worker has much more to do than others. */
enum { FEWEST_PARTS = 64 };

/* What encoding a number costs: nanoseconds with AVX2, where reading or moving a byte costs 1.  Never changed, for
 * two versions would cut one job differently. */
typedef struct encoding_cost {
    uint32_t type;
    uint16_t plain, weighed, high; /* without and with importance; with the long search */
} encoding_cost;

enum { OTHER_COST = 2 }; /* of types for which nothing is searched */

static const encoding_cost costs[] = {
    {GUFO_TYPE_Q4_0, 1, 13, 33},        {GUFO_TYPE_Q4_1, 1, 41, 54},
    {GUFO_TYPE_Q5_0, 1, 14, 34},        {GUFO_TYPE_Q5_1, 1, 44, 53},
    {GUFO_TYPE_Q2_K, 15, 43, 105},      {GUFO_TYPE_Q3_K, 7, 14, 49},
    {GUFO_TYPE_Q4_K, 17, 41, 92},       {GUFO_TYPE_Q5_K, 14, 39, 97},
    {GUFO_TYPE_Q6_K, 9, 13, 57},        {GUFO_TYPE_MXFP4, 2, 2, 9},
    {GUFO_TYPE_NVFP4, 2, 2, 15},        {GUFO_TYPE_IQ4_NL, 26, 30, 92},
    {GUFO_TYPE_IQ4_XS, 30, 33, 111},    {GUFO_TYPE_IQ1_S, 58, 58, 735},
    {GUFO_TYPE_IQ1_M, 82, 123, 786},    {GUFO_TYPE_IQ2_XXS, 171, 171, 385},
    {GUFO_TYPE_IQ2_XS, 244, 244, 498},  {GUFO_TYPE_IQ2_S, 109, 90, 338},
    {GUFO_TYPE_IQ3_XXS, 151, 154, 386}, {GUFO_TYPE_IQ3_S, 115, 166, 385},
};

static uint64_t cost_of(const gufo_job *job, const made *m)
{
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (costs[i].type == m->type->id)
            return job->effort == GUFO_EFFORT_HIGH ? costs[i].high
                   : m->weighs                     ? costs[i].weighed
                                                   : costs[i].plain;
    return OTHER_COST;
}

/* What a row of a piece costs. */
static uint64_t row_cost(const gufo_job *job, const piece *p)
{
    uint64_t cost = p->how == PIECE_MAKE ? p->bytes / (p->slices * p->slice_rows) : 0;

    for (uint32_t i = 0; i < p->n_made; i++) {
        const made *m = &p->made[i];
        uint64_t more = m->row_bytes;

        if (m->encode && !checked_mul(p->columns, cost_of(job, m), &more))
            more = UINT64_MAX;
        cost = capped_add(cost, more);
    }
    return cost;
}

static uint64_t rows_cost(const gufo_job *job, const piece *p, uint64_t count)
{
    uint64_t cost;

    if (p->units == 0 || count == 0)
        return 0;
    return checked_mul(row_cost(job, p), count, &cost) ? cost : UINT64_MAX;
}

/* ---- what is known of the whole job --------------------------------------------------------- */

/* The first unit of a target. */
typedef struct beginning {
    uint64_t cost; /* of all units before it */
    uint64_t unit;
} beginning;

typedef struct cutting {
    const gufo_job *job;
    uint64_t *before; /* costs of all units before each piece, and of all */
    beginning *beginnings;
    uint64_t beginning_count;
    uint64_t share; /* of a part */
} cutting;

/* How far pieces are in a target. */
typedef struct reach {
    uint64_t end;    /* of the last piece that writes to it */
    uint64_t pieces; /* up to it; 0: none writes to it */
} reach;

/* Notes a piece in the targets that it writes to: each once, and behind the pieces before it.  The first
 * unit of a target is one of the beginnings. */
static bool note_reach(cutting *c, reach *reaches, const piece *p, uint64_t number)
{
    for (uint32_t i = 0; i < p->n_made; i++) {
        const made *m = &p->made[i];
        reach *r = m->target != NO_TARGET ? &reaches[m->target] : NULL;
        uint64_t size = p->units > 0 ? p->slices * p->slice_rows * m->row_bytes : 0;

        if (r == NULL || size == 0)
            continue;
        if (r->pieces == number + 1 || m->place < r->end)
            return false;
        if (r->pieces == 0)
            c->beginnings[c->beginning_count++] = (beginning){c->before[number], p->first_unit};
        *r = (reach){m->place + size, number + 1};
    }
    return true;
}

static gufo_status note_pieces(cutting *c, reach *reaches, gufo_error *error)
{
    const gufo_job *job = c->job;

    c->before[0] = 0;
    for (uint64_t i = 0; i < job->piece_count; i++) {
        plain_piece room;
        const piece *p = job_piece_at(job, i, &room);

        c->before[i + 1] = capped_add(c->before[i], rows_cost(job, p, p->slices * p->slice_rows));
        if (!note_reach(c, reaches, p, i))
            return refuse(error, GUFO_E_ARGUMENT,
                          "the plan for tensor %s does not go forward in its output",
                          QUOTED(p->name));
    }
    return GUFO_OK;
}

static bool begins_before(const void *a, const void *b)
{
    const beginning *first = a, *second = b;

    return first->unit < second->unit;
}

static gufo_status learn(cutting *c, gufo_error *error)
{
    const gufo_job *job = c->job;
    reach *reaches = mem_array(&job->allocator, (size_t)job->target_count, sizeof *reaches);
    gufo_status status = GUFO_OK;

    c->before = mem_array(&job->allocator, (size_t)job->piece_count + 1, sizeof *c->before);
    c->beginnings = mem_array(&job->allocator, (size_t)job->target_count, sizeof *c->beginnings);
    if (reaches == NULL || c->before == NULL || c->beginnings == NULL)
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = note_pieces(c, reaches, error);
    if (status == GUFO_OK)
        sort_items(c->beginnings, (size_t)c->beginning_count, sizeof *c->beginnings, begins_before);
    mem_free(&job->allocator, reaches);
    return status;
}

/* ---- borders -------------------------------------------------------------------------------- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The unit before which the costs are nearest to `goal`. */
static uint64_t unit_at(const cutting *c, uint64_t goal)
{
    const gufo_job *job = c->job;
    const uint64_t number = last_begun(c->before, sizeof *c->before, job->piece_count, goal);
    const uint64_t rest = goal - smaller(c->before[number], goal);
    plain_piece room;
    const piece *p = job_piece_at(job, number, &room);
    const uint64_t cost = rows_cost(job, p, 1);
    uint64_t at, next;

    if (cost == 0)
        return p->first_unit;
    at = cut_unit_of(p, smaller(rest / cost, p->slices * p->slice_rows - 1));
    next = rows_cost(job, p, cut_row(p, at + 1));
    return distance(rows_cost(job, p, cut_row(p, at)), rest) <= distance(next, rest) ? at : at + 1;
}

/* The same, but the first unit of a target if one is near: then whole files are in one part. */
static uint64_t border_at(const cutting *c, uint64_t goal)
{
    uint64_t i = last_begun(&c->beginnings->cost, sizeof *c->beginnings, c->beginning_count, goal);
    const beginning *near = &c->beginnings[i];

    if (c->beginning_count == 0)
        return unit_at(c, goal);
    if (i + 1 < c->beginning_count && distance(near[1].cost, goal) < distance(near->cost, goal))
        near++;
    return distance(near->cost, goal) <= c->share / 4 ? near->unit : unit_at(c, goal);
}

/* At least one unit begins between two borders, though the bytes of a small one may round away. */
static void set_borders(const cutting *c, job_cut *cut)
{
    const gufo_job *job = c->job;
    const uint64_t all = c->before[job->piece_count], rest = all % cut->count;

    cut->borders[0] = 0;
    cut->borders[cut->count] = job->unit_count;
    for (uint64_t i = 1; i < cut->count; i++) {
        uint64_t border = border_at(c, c->share * i + rest * i / cut->count);

        border = larger(border, cut->borders[i - 1] + 1);
        cut->borders[i] = smaller(border, job->unit_count - (cut->count - i));
    }
}

/* ---- a cut ---------------------------------------------------------------------------------- */

static bool is_align(uint64_t align)
{
    return align >= CUT_LEAST_ALIGN && (align & (align - 1)) == 0;
}

static uint64_t part_count(const gufo_job *job, uint64_t workers, uint64_t align)
{
    uint64_t count = workers * divide_up(FEWEST_PARTS, workers), size = 0;

    for (uint64_t i = 0; i < job->target_count; i++)
        size = capped_add(size, job->targets[i].size);
    return larger(smaller(count, smaller(job->unit_count, size / align)), 1);
}

gufo_status cut_job(const gufo_job *job, uint64_t workers, uint64_t align, job_cut *out,
                    gufo_error *error)
{
    cutting c = {.job = job};
    gufo_status status;

    *out = (job_cut){.align = align};
    if (workers == 0)
        return refuse(error, GUFO_E_ARGUMENT, "the number of workers is 0");
    if (!is_align(align))
        return refuse(error, GUFO_E_ARGUMENT,
                      "parts cannot be aligned to %s bytes: a power of two from 4096 is wanted",
                      GROUPED(align));
    out->count = part_count(job, workers, align);
    out->borders = mem_array(&job->allocator, (size_t)out->count + 1, sizeof *out->borders);
    status = out->borders != NULL ? learn(&c, error) : fail_memory(error);
    if (status == GUFO_OK) {
        out->cost = c.before[job->piece_count];
        c.share = out->cost / out->count;
        set_borders(&c, out);
    }
    mem_free(&job->allocator, c.before);
    mem_free(&job->allocator, c.beginnings);
    if (status != GUFO_OK)
        cut_free(&job->allocator, out);
    return status;
}

void cut_free(const gufo_allocator *allocator, job_cut *cut)
{
    mem_free(allocator, cut->borders);
    *cut = (job_cut){.count = 0};
}

bool cut_fits(const gufo_job *job, const job_cut *cut)
{
    if (cut->count == 0 || !is_align(cut->align) || cut->borders[0] != 0 ||
        cut->borders[cut->count] != job->unit_count)
        return false;
    for (uint64_t i = 0; i < cut->count; i++)
        if (cut->borders[i] > cut->borders[i + 1])
            return false;
    return true;
}

/* ---- a part --------------------------------------------------------------------------------- */

/* The place of border `index` in a target. */
static uint64_t place_of(const gufo_job *job, const job_cut *cut, uint64_t index, uint32_t number)
{
    const job_target *t = &job->targets[number];
    const uint64_t border = cut->borders[index], end = target_end(t);
    const uint64_t first = part_next_piece(job, number, t->first_piece, end);
    uint64_t at, place;
    plain_piece room;
    const piece *p;

    if (index == cut->count)
        return t->size;
    if (index == 0 || first == end || border <= job->pieces[first].first_unit)
        return 0;
    at = part_next_piece(job, number, larger(cut_piece_of(job, border), first), end);
    if (at >= end || border == job->unit_count)
        return t->size;
    p = job_piece_at(job, at, &room);
    place = part_made(p, number)->place;
    if (border > p->first_unit)
        place += cut_row(p, border) * part_made(p, number)->row_bytes;
    return checked_align(place, cut->align, &place) ? smaller(place, t->size) : t->size;
}

/* The end of the pieces of a target that begin at or before a byte. */
static uint64_t pieces_to_byte(const gufo_job *job, uint32_t number, uint64_t byte)
{
    uint64_t low = job->targets[number].first_piece, high = target_end(&job->targets[number]);

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint64_t at = part_next_piece(job, number, middle, high);
        plain_piece room;

        if (at < high && part_made(job_piece_at(job, at, &room), number)->place <= byte)
            low = at + 1;
        else
            high = middle;
    }
    return low;
}

typedef struct finding {
    const gufo_job *job;
    const job_cut *cut;
    job_part *part;
    uint64_t begin, end; /* pieces of units between the borders */
} finding;

/* Widens the part's list of targets by one, or, once the list is there, sets what is touched of it. */
static void note_target(const finding *f, uint32_t target)
{
    job_part *part = f->part;
    byte_range *bytes;

    if (part->bytes == NULL) {
        part->first_target = target < part->first_target ? target : part->first_target;
        part->end_target = target < part->end_target ? part->end_target : target + 1;
        return;
    }
    bytes = &part->bytes[target - part->first_target];
    if (bytes->to == 0)
        *bytes = (byte_range){place_of(f->job, f->cut, part->number, target),
                              place_of(f->job, f->cut, part->number + 1, target)};
}

/* Only targets to which units between the borders write have different places of both; and the last part has those
 * that none writes to. */
static void note_targets(const finding *f)
{
    const gufo_job *job = f->job;
    plain_piece room;

    for (uint64_t i = f->begin; i < f->end; i++) {
        const piece *p = job_piece_at(job, i, &room);

        for (uint32_t k = 0; k < p->n_made; k++)
            if (p->made[k].target != NO_TARGET && part_made(p, p->made[k].target) != NULL)
                note_target(f, p->made[k].target);
    }
    for (uint32_t i = 0; f->part->number + 1 == f->cut->count && i < job->target_count; i++) {
        const job_target *t = &job->targets[i];

        if (part_next_piece(job, i, t->first_piece, target_end(t)) == target_end(t))
            note_target(f, i);
    }
}

static gufo_status find_targets(const finding *f, gufo_error *error)
{
    job_part *part = f->part;

    part->first_target = UINT32_MAX;
    note_targets(f);
    if (part->end_target == 0)
        part->first_target = 0;
    part->bytes =
        mem_array(&f->job->allocator, part->end_target - part->first_target, sizeof *part->bytes);
    if (part->bytes == NULL)
        return fail_memory(error);
    note_targets(f);
    return GUFO_OK;
}

/* The end of the pieces that touch the part. */
static uint64_t last_pieces(const finding *f)
{
    const job_part *part = f->part;
    uint64_t end = f->end;

    for (uint32_t i = part->first_target; i < part->end_target; i++)
        if (part_touches(part, i))
            end =
                larger(end, pieces_to_byte(f->job, i, part->bytes[i - part->first_target].to - 1));
    return end;
}

static void find_units(const finding *f)
{
    job_part *part = f->part;
    const uint64_t last = last_pieces(f);
    uint64_t begin, end;
    plain_piece room;

    part->first_unit = UINT64_MAX;
    for (uint64_t i = f->begin; i < last; i++) {
        const piece *p = job_piece_at(f->job, i, &room);

        if (!part_units(part, p, &begin, &end))
            continue;
        part->first_unit = smaller(part->first_unit, begin);
        part->end_unit = larger(part->end_unit, end);
        part->total += cut_span_bytes(p, begin, end);
    }
    if (part->end_unit == 0)
        part->first_unit = part->end_unit = part->border;
}

gufo_status part_find(const gufo_job *job, const job_cut *cut, uint64_t number, job_part *out,
                      gufo_error *error)
{
    finding f = {.job = job, .cut = cut, .part = out};
    gufo_status status;

    *out = (job_part){
        .number = number, .border = cut->borders[number], .next_border = cut->borders[number + 1]};
    if (out->border < out->next_border) {
        f.begin = cut_piece_of(job, out->border);
        f.end = cut_piece_of(job, out->next_border - 1) + 1;
    }
    status = find_targets(&f, error);
    if (status == GUFO_OK)
        find_units(&f);
    return status;
}

void part_free(const gufo_allocator *allocator, job_part *part)
{
    mem_free(allocator, part->bytes);
    *part = (job_part){.number = part->number};
}
