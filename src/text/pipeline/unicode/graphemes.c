/* Extended grapheme clusters of Unicode 17 (UAX #29).
 *
 * What a cluster has had so far decides whether the next character belongs to it: the class of its last
 * character (rules GB3 to GB9b), and three small states: a pictograph that a joiner follows (GB11), an
 * Indic consonant that a linker follows (GB9c), flags of regions (GB12). */
#include "text/pipeline/unicode/graphemes.h"

#include <string.h>

#include "base/memory.h"

typedef enum grapheme_class {
    OTHER,
    CONTROL,
    CR,
    LF,
    EXTEND,
    JOINER,
    PREPEND,
    SPACING,
    LEAD,
    VOWEL,
    TAIL,
    LEAD_VOWEL,
    LEAD_VOWEL_TAIL,
    REGIONAL,
    PICTOGRAPH,
    CONSONANT,
    CLASS_MASK = 0x1F,
    INDIC_EXTEND = 0x20,
    INDIC_LINKER = 0x40,
} grapheme_class;

/* Later rows are added to what earlier ones say. */
static const struct {
    const char *set;
    uint8_t class;
} rows[] = {
    {"grapheme_control", CONTROL},
    {"grapheme_extend", EXTEND},
    {"grapheme_prepend", PREPEND},
    {"grapheme_spacing", SPACING},
    {"grapheme_l", LEAD},
    {"grapheme_v", VOWEL},
    {"grapheme_t", TAIL},
    {"grapheme_regional", REGIONAL},
    {"grapheme_pictographic", PICTOGRAPH},
    {"grapheme_consonant", CONSONANT},
    {"grapheme_incb_extend", INDIC_EXTEND},
    {"grapheme_linker", INDIC_LINKER},
};

enum { FIRST_HANGUL = 0xAC00, HANGUL_COUNT = 11172, HANGUL_TAILS = 28 };

static bool fill(uint8_t *flat, const gufo_allocator *allocator)
{
    bool done = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows && done; i++) {
        code_ranges ranges = {.allocator = allocator};

        done = code_ranges_add_property(&ranges, gufo_str_of(rows[i].set), PROPERTY_EXACT);
        for (uint64_t k = 0; k < ranges.count && done; k++)
            for (uint32_t c = ranges.list[k].first; c <= ranges.list[k].last; c++)
                flat[c] |= rows[i].class;
        code_ranges_free(&ranges);
    }
    for (uint32_t i = 0; i < HANGUL_COUNT; i++)
        flat[FIRST_HANGUL + i] = i % HANGUL_TAILS == 0 ? LEAD_VOWEL : LEAD_VOWEL_TAIL;
    flat['\r'] = CR;
    flat['\n'] = LF;
    flat[0x200D] = JOINER | INDIC_EXTEND;
    return done;
}

code_map *graphemes_new(const gufo_allocator *allocator)
{
    uint8_t *flat = mem_zero(allocator, LAST_CODE_POINT + 1);
    code_map *m = mem_zero(allocator, sizeof *m);
    bool done =
        flat != NULL && m != NULL && fill(flat, allocator) && code_map_pack(m, flat, allocator);

    mem_free(allocator, flat);
    if (done)
        return m;
    mem_free(allocator, m);
    return NULL;
}

typedef struct cluster {
    grapheme_class last;
    enum { NO_PICTOGRAPH, AFTER_PICTOGRAPH, AFTER_JOINER } picture;
    enum { NO_CONSONANT, AFTER_CONSONANT, AFTER_LINKER } indic;
    bool odd_region;
} cluster;

static bool is_hangul_pair(grapheme_class last, grapheme_class next)
{
    switch (last) {
    case LEAD:
        return next == LEAD || next == VOWEL || next == LEAD_VOWEL || next == LEAD_VOWEL_TAIL;
    case VOWEL:
    case LEAD_VOWEL:
        return next == VOWEL || next == TAIL;
    case TAIL:
    case LEAD_VOWEL_TAIL:
        return next == TAIL;
    default:
        return false;
    }
}

static bool is_control(grapheme_class class)
{
    return class == CONTROL || class == CR || class == LF;
}

static bool goes_on(const cluster *c, grapheme_class next)
{
    if (is_control(c->last) || is_control(next))
        return c->last == CR && next == LF;
    return next == EXTEND || next == JOINER || next == SPACING || c->last == PREPEND ||
           is_hangul_pair(c->last, next) || (c->indic == AFTER_LINKER && next == CONSONANT) ||
           (c->picture == AFTER_JOINER && next == PICTOGRAPH) ||
           (c->odd_region && next == REGIONAL);
}

static void add_character(cluster *c, uint8_t bits)
{
    c->last = bits & CLASS_MASK;
    if (c->last == PICTOGRAPH)
        c->picture = AFTER_PICTOGRAPH;
    else if (c->picture == AFTER_PICTOGRAPH && c->last == JOINER)
        c->picture = AFTER_JOINER;
    else if (c->picture != AFTER_PICTOGRAPH || c->last != EXTEND)
        c->picture = NO_PICTOGRAPH;
    if (c->last == CONSONANT)
        c->indic = AFTER_CONSONANT;
    else if ((bits & INDIC_LINKER) != 0 && c->indic != NO_CONSONANT)
        c->indic = AFTER_LINKER;
    else if ((bits & (INDIC_EXTEND | INDIC_LINKER)) == 0)
        c->indic = NO_CONSONANT;
    c->odd_region = c->last == REGIONAL && !c->odd_region;
}

size_t grapheme_end(const code_map *classes, gufo_str text, size_t at)
{
    cluster c = {.last = OTHER};
    size_t size;

    for (bool first = true; at < text.len; first = false, at += size) {
        uint8_t bits = code_map_get(classes, utf8_next(text.data + at, &size));

        if (!first && !goes_on(&c, bits & CLASS_MASK))
            break;
        add_character(&c, bits);
    }
    return at;
}
