/* Steps that cut at matches: of an expression, or of the characters of a set.
 *
 * Matches and what is between them are segments; the behaviour says which of them become pieces, and
 * which are joined:
 *
 *     a--b at -     Removed             a  b
 *                   Isolated            a  -  -  b
 *                   MergedWithPrevious  a-  -  b       a match with what is before it, but a match
 *                   MergedWithNext      a  -  -b
 *                   Contiguous          a  --  b */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/steps/cut_step.h"

typedef enum behavior {
    REMOVED,
    ISOLATED,
    MERGED_WITH_PREVIOUS,
    MERGED_WITH_NEXT,
    CONTIGUOUS,
    BEHAVIOR_COUNT,
} behavior;

static const char *const behavior_names[BEHAVIOR_COUNT] = {
    "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};

typedef struct split {
    expression *pattern;
    code_map *set; /* if there is no pattern */
    behavior behavior;
    bool invert;
} split;

static void free_parts(const split *s, const gufo_allocator *allocator)
{
    expression_free(s->pattern);
    if (s->set != NULL)
        code_map_free(s->set, allocator);
    mem_free(allocator, s->set);
}

static void free_split(void *step, const gufo_allocator *allocator)
{
    free_parts(step, allocator);
    mem_free(allocator, step);
}

/* ---- segments ------------------------------------------------------------------------------- */

typedef struct cutter {
    text_pieces *out;
    behavior behavior;
    bool invert;
    size_t begin, end; /* of the piece that a segment may still join */
    bool waits, last_is_match;
} cutter;

/* Whether a segment belongs to the one that waits. */
static bool joins(const cutter *c, bool is_match)
{
    switch (c->behavior) {
    case MERGED_WITH_PREVIOUS:
        return is_match && !c->last_is_match;
    case MERGED_WITH_NEXT:
        return !is_match && c->last_is_match;
    case CONTIGUOUS:
        return is_match == c->last_is_match;
    default:
        return false;
    }
}

static bool add_segment(cutter *c, size_t begin, size_t end, bool is_match)
{
    bool done = true;

    is_match = is_match != c->invert;
    if (c->behavior == ISOLATED || c->behavior == REMOVED)
        return (is_match && c->behavior == REMOVED) || text_pieces_add(c->out, begin, end);
    if (c->waits && joins(c, is_match)) {
        c->end = end;
    } else {
        done = !c->waits || text_pieces_add(c->out, c->begin, c->end);
        c->begin = begin;
        c->end = end;
        c->waits = true;
    }
    c->last_is_match = is_match;
    return done;
}

static bool end_segments(cutter *c)
{
    bool done = !c->waits || text_pieces_add(c->out, c->begin, c->end);

    c->waits = c->last_is_match = false;
    return done;
}

static gufo_status cut_by_pattern(const split *s, cut_run *r, cutter *c, text_piece piece)
{
    gufo_str text = {r->in->text.data + piece.begin, piece.end - piece.begin};
    expression_match m = {.found = true};
    size_t at = 0;
    bool done = true;
    gufo_status status = expression_begin(s->pattern, r->scratch, text, r->error);

    while (status == GUFO_OK && done) {
        status = expression_next(s->pattern, r->scratch, &m, r->error);
        if (status != GUFO_OK || !m.found)
            break;
        if (m.begin > at)
            done = add_segment(c, piece.begin + at, piece.begin + m.begin, false);
        done = done && add_segment(c, piece.begin + m.begin, piece.begin + m.end, true);
        at = m.end;
    }
    if (status == GUFO_OK && done && at < text.len)
        done = add_segment(c, piece.begin + at, piece.end, false);
    return done ? status : fail_memory(r->error);
}

static bool cut_by_set(const split *s, const cut_run *r, cutter *c, text_piece piece)
{
    const char *text = r->in->text.data;
    const uint8_t *ascii = s->set->blocks + (size_t)s->set->pages[0] * 256;
    size_t from = piece.begin;
    bool done = true;

    for (size_t at = from, size; at < piece.end && done; at += size) {
        uint8_t first = (uint8_t)text[at];

        size = 1;
        if ((first < 0x80 ? ascii[first] : code_map_get(s->set, utf8_next(text + at, &size))) == 0)
            continue;
        if (at > from)
            done = add_segment(c, from, at, false);
        from = at + size;
        done = done && add_segment(c, at, from, true);
    }
    return done && (from == piece.end || add_segment(c, from, piece.end, false));
}

static gufo_status run_split(const void *step, cut_run *r)
{
    const split *s = step;
    cutter c = {.out = r->out, .behavior = s->behavior, .invert = s->invert};
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < r->in->count && status == GUFO_OK; i++) {
        if (s->pattern != NULL)
            status = cut_by_pattern(s, r, &c, r->in->list[i]);
        else if (!cut_by_set(s, r, &c, r->in->list[i]))
            status = fail_memory(r->error);
        if (status == GUFO_OK && !end_segments(&c))
            status = fail_memory(r->error);
    }
    return status;
}

static const cut_kind split_kind = {false, run_split, free_split};

/* ---- reading -------------------------------------------------------------------------------- */

static behavior read_behavior(step_reading *r)
{
    gufo_str name = step_text(r, "behavior");

    for (size_t i = 0; i < BEHAVIOR_COUNT; i++)
        if (gufo_str_equal(name, gufo_str_of(behavior_names[i])))
            return (behavior)i;
    (void)step_wrong(r, "no \"behavior\" is %s", QUOTED(name));
    return ISOLATED;
}

static gufo_status add_split(step_reading *r, cut_steps *steps, split given)
{
    split *s = r->status == GUFO_OK ? mem_alloc(r->allocator, sizeof *s) : NULL;

    if (s == NULL) {
        free_parts(&given, r->allocator);
        return r->status != GUFO_OK ? r->status : step_no_memory(r);
    }
    *s = given;
    return cut_steps_add(steps, r, &split_kind, s);
}

/* Cuts at the characters of a property. */
static gufo_status add_set(step_reading *r, cut_steps *steps, const char *name, behavior how)
{
    split s = {.behavior = how};

    if (r->status != GUFO_OK)
        return r->status;
    s.set = code_map_of_properties(&name, 1, r->allocator);
    if (s.set == NULL)
        return step_no_memory(r);
    return add_split(r, steps, s);
}

gufo_status cut_add_split(step_reading *r, cut_steps *steps)
{
    split s = {.behavior = read_behavior(r), .invert = step_flag(r, "invert")};

    s.pattern = step_pattern(r, "pattern");
    return add_split(r, steps, s);
}

gufo_status cut_add_isolated(step_reading *r, cut_steps *steps, expression *pattern)
{
    return pattern == NULL ? r->status
                           : add_split(r, steps, (split){.pattern = pattern, .behavior = ISOLATED});
}

gufo_status cut_add_white_space(step_reading *r, cut_steps *steps)
{
    return add_set(r, steps, "White_Space", REMOVED);
}

gufo_status cut_add_punctuation(step_reading *r, cut_steps *steps)
{
    behavior how = step_member(r, "behavior") == NULL ? ISOLATED : read_behavior(r);

    return add_set(r, steps, "step_punctuation", how);
}

gufo_status cut_add_digits(step_reading *r, cut_steps *steps)
{
    bool individual = step_flag(r, "individual_digits");

    return add_set(r, steps, "step numeric", individual ? ISOLATED : CONTIGUOUS);
}

gufo_status cut_add_bert(step_reading *r, cut_steps *steps)
{
    gufo_status status = add_set(r, steps, "White_Space", REMOVED);

    return status == GUFO_OK ? add_set(r, steps, "step_punctuation", ISOLATED) : status;
}

gufo_status cut_add_delimiter(step_reading *r, cut_steps *steps)
{
    gufo_str delimiter = step_character(r, "delimiter");
    split s = {.behavior = REMOVED};

    if (r->status == GUFO_OK) {
        s.pattern = expression_new(delimiter, true, r->allocator, r->error);
        if (s.pattern == NULL)
            r->status = GUFO_E_MEMORY;
    }
    return add_split(r, steps, s);
}
