/* What Unicode says of characters. */
#include "text/characters/unicode.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "text/characters/characters.h"

/* Properties are two tables: rows of ranges for what is not made of others (Lu, Han, "punctuation" of Unicode 8), and
 * formulas for the rest:
 *
 *     alphabetic    l Nl Other_Alphabetic        all of them together
 *     assigned      Any -cn                      those of "cn" taken away */

static const struct {
    char set[24];
    uint32_t first, last;
} rows[] = {
#define ROW(set, first, last) {set, first, last},
#include "registry/character_ranges.inc"
#undef ROW
};

static const struct {
    const char *name, *sets;
} properties[] = {
#define ROW(name, sets) {name, sets},
#include "registry/character_properties.inc"
#undef ROW
};

#define ROW_COUNT (sizeof rows / sizeof *rows)
#define PROPERTY_COUNT (sizeof properties / sizeof *properties)

enum { LONGEST_NAME = 48 };

/* ---- sets ----------------------------------------------------------------------------------- */

void code_ranges_free(code_ranges *r)
{
    mem_free(r->allocator, r->list);
    r->list = NULL;
    r->count = r->room = 0;
}

bool code_ranges_add(code_ranges *r, uint32_t first, uint32_t last)
{
    code_range *list = mem_grow(r->allocator, r->list, r->count, &r->room, sizeof *list);

    if (list == NULL)
        return false;
    r->list = list;
    list[r->count++] = (code_range){first, last};
    return true;
}

bool code_ranges_join(code_ranges *r, const code_ranges *other)
{
    for (uint64_t i = 0; i < other->count; i++)
        if (!code_ranges_add(r, other->list[i].first, other->list[i].last))
            return false;
    return true;
}

static int compare_ranges(const void *a, const void *b)
{
    const code_range *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

void code_ranges_sort(code_ranges *r)
{
    uint64_t kept = 0;

    if (r->count == 0)
        return;
    qsort(r->list, (size_t)r->count, sizeof *r->list, compare_ranges);
    for (uint64_t i = 1; i < r->count; i++) {
        code_range *last = &r->list[kept];

        if (r->list[i].first > last->last + 1)
            r->list[++kept] = r->list[i];
        else if (r->list[i].last > last->last)
            last->last = r->list[i].last;
    }
    r->count = kept + 1;
}

bool code_ranges_invert(code_ranges *r)
{
    code_ranges others = {.allocator = r->allocator};
    uint32_t next = 0;
    bool done = true;

    for (uint64_t i = 0; i < r->count && done; i++) {
        if (r->list[i].first > next)
            done = code_ranges_add(&others, next, r->list[i].first - 1);
        next = r->list[i].last + 1;
    }
    if (done && next <= LAST_CODE_POINT)
        done = code_ranges_add(&others, next, LAST_CODE_POINT);
    if (!done) {
        code_ranges_free(&others);
        return false;
    }
    code_ranges_free(r);
    *r = others;
    return true;
}

bool code_ranges_intersect(code_ranges *r, const code_ranges *other)
{
    code_ranges both = {.allocator = r->allocator};
    bool done = true;

    for (uint64_t i = 0, j = 0; i < r->count && j < other->count && done;) {
        code_range a = r->list[i], b = other->list[j];
        uint32_t first = a.first > b.first ? a.first : b.first;
        uint32_t last = a.last < b.last ? a.last : b.last;

        if (first <= last)
            done = code_ranges_add(&both, first, last);
        if (a.last < b.last)
            i++;
        else
            j++;
    }
    if (!done) {
        code_ranges_free(&both);
        return false;
    }
    code_ranges_free(r);
    *r = both;
    return true;
}

static bool ends_before(const void *list, size_t row, const void *code_point)
{
    return ((const code_range *)list)[row].last < *(const uint32_t *)code_point;
}

bool code_ranges_has(const code_ranges *r, uint32_t code_point)
{
    size_t row = first_row_from(r->list, (size_t)r->count, ends_before, &code_point);

    return row < r->count && r->list[row].first <= code_point;
}

/* ---- properties by name --------------------------------------------------------------------- */

/* The number of a property; PROPERTY_COUNT: none. */
static size_t find_property(gufo_str name, property_match how)
{
    char spelt[LONGEST_NAME + 1];
    size_t len = 0, i = 0;

    for (size_t at = 0; at < name.len; at++) {
        if (how == PROPERTY_OF_FILE && memchr(" _-", name.data[at], 3) != NULL)
            continue;
        if (len == LONGEST_NAME || name.data[at] == '\0')
            return PROPERTY_COUNT;
        spelt[len++] = how == PROPERTY_OF_FILE ? to_lower(name.data[at]) : name.data[at];
    }
    spelt[len] = '\0';
    while (i < PROPERTY_COUNT && strcmp(properties[i].name, spelt) != 0)
        i++;
    return i;
}

bool code_ranges_knows(gufo_str name, property_match how)
{
    return find_property(name, how) < PROPERTY_COUNT;
}

static bool set_is_before(const void *unused, size_t row, const void *set)
{
    const gufo_str *wanted = set;

    (void)unused;
    return strncmp(rows[row].set, wanted->data, wanted->len) < 0;
}

/* The first row of a set, ROW_COUNT: none.  Rows are in the order of bytes. */
static size_t find_rows(gufo_str set)
{
    size_t row = first_row_from(rows, ROW_COUNT, set_is_before, &set);

    return row < ROW_COUNT && gufo_str_equal(gufo_str_of(rows[row].set), set) ? row : ROW_COUNT;
}

static bool add_part(code_ranges *r, gufo_str part)
{
    size_t row = find_rows(part);
    const char *set = row < ROW_COUNT ? rows[row].set : "";

    if (row == ROW_COUNT)
        return code_ranges_add_property(r, part, PROPERTY_EXACT);
    for (; row < ROW_COUNT && strcmp(rows[row].set, set) == 0; row++)
        if (!code_ranges_add(r, rows[row].first, rows[row].last))
            return false;
    return true;
}

static bool take_away(code_ranges *r, gufo_str part)
{
    code_ranges others = {.allocator = r->allocator};
    bool done = add_part(&others, part);

    if (done) {
        code_ranges_sort(&others);
        code_ranges_sort(r);
        done = code_ranges_invert(&others) && code_ranges_intersect(r, &others);
    }
    code_ranges_free(&others);
    return done;
}

/* Formulas are our own: none names itself. */
bool code_ranges_add_property(code_ranges *r, gufo_str name, property_match how)
{
    size_t number = find_property(name, how);
    code_ranges made = {.allocator = r->allocator};
    const char *at = number < PROPERTY_COUNT ? properties[number].sets : NULL;
    bool done;

    if (at == NULL)
        return how == PROPERTY_EXACT && find_rows(name) < ROW_COUNT && add_part(r, name);
    for (done = true; *at != '\0' && done;) {
        gufo_str part = str_piece(&at, ' ');

        done = part.len > 1 && *part.data == '-' ? take_away(&made, str_from(part, 1))
                                                 : add_part(&made, part);
    }
    done = done && code_ranges_join(r, &made);
    code_ranges_sort(r);
    code_ranges_free(&made);
    return done;
}

/* ---- maps: pages that are equal are stored once --------------------------------------------- */

enum { PAGE = 256, PAGE_COUNT = (LAST_CODE_POINT >> 8) + 1 };

void code_map_free(code_map *m, const gufo_allocator *allocator)
{
    mem_free(allocator, m->blocks);
    m->blocks = NULL;
}

/* The block with these bytes among the first `count`: maybe that of the page before, as neighbours are alike. */
static size_t find_block(const uint8_t *blocks, size_t count, size_t before, const uint8_t *page)
{
    if (before < count && memcmp(blocks + before * PAGE, page, PAGE) == 0)
        return before;
    for (size_t i = count; i-- > 0;)
        if (memcmp(blocks + i * PAGE, page, PAGE) == 0)
            return i;
    return count;
}

bool code_map_pack(code_map *m, const uint8_t *flat, const gufo_allocator *allocator)
{
    uint64_t room = 0;
    size_t count = 0, block = 0;

    m->blocks = NULL;
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        block = find_block(m->blocks, count, block, flat + i * PAGE);
        if (block == count) {
            uint8_t *blocks = mem_grow(allocator, m->blocks, count, &room, PAGE);

            if (blocks == NULL) {
                code_map_free(m, allocator);
                return false;
            }
            m->blocks = blocks;
            memcpy(blocks + count++ * PAGE, flat + i * PAGE, PAGE);
        }
        m->pages[i] = (uint16_t)block;
    }
    return true;
}

static bool add_bit(uint8_t *flat, const char *name, unsigned bit, const gufo_allocator *allocator)
{
    code_ranges ranges = {.allocator = allocator};
    bool done = code_ranges_add_property(&ranges, gufo_str_of(name), PROPERTY_EXACT);

    for (uint64_t i = 0; i < ranges.count && done; i++)
        for (uint32_t c = ranges.list[i].first; c <= ranges.list[i].last; c++)
            flat[c] |= (uint8_t)(1u << bit);
    code_ranges_free(&ranges);
    return done;
}

code_map *code_map_of_properties(const char *const *names, size_t count,
                                 const gufo_allocator *allocator)
{
    uint8_t *flat = mem_zero(allocator, LAST_CODE_POINT + 1);
    code_map *m = mem_zero(allocator, sizeof *m);
    bool done = flat != NULL && m != NULL;

    for (size_t i = 0; i < count && done; i++)
        done = add_bit(flat, names[i], (unsigned)i, allocator);
    done = done && code_map_pack(m, flat, allocator);
    mem_free(allocator, flat);
    if (done)
        return m;
    mem_free(allocator, m);
    return NULL;
}

size_t utf8_skip_ascii(gufo_str text, size_t at)
{
    uint64_t bytes;

    for (; text.len - at >= sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, text.data + at, sizeof bytes);
        if ((bytes & UINT64_C(0x8080808080808080)) != 0)
            break;
    }
    while (at < text.len && (uint8_t)text.data[at] < 0x80)
        at++;
    return at;
}

/* ---- texts ---------------------------------------------------------------------------------- */

void code_texts_free(code_texts *t)
{
    mem_free(t->allocator, t->numbers);
    mem_free(t->allocator, t->list);
    buffer_free(&t->texts);
}

static bool add_page(code_texts *t, uint32_t code_point)
{
    uint16_t *numbers =
        mem_grow(t->allocator, t->numbers, t->page_count, &t->page_room, PAGE * sizeof *numbers);

    if (numbers == NULL)
        return false;
    t->numbers = numbers;
    memset(numbers + t->page_count * PAGE, 0, PAGE * sizeof *numbers);
    t->pages[code_point >> 8] = (uint8_t)++t->page_count;
    return true;
}

static bool add_characters(code_texts *t, const char *numbers)
{
    for (const char *at = numbers; *at != '\0';) {
        char *end;
        char character[4];
        size_t len = lenient_encode((uint32_t)strtoul(at, &end, 16), character);

        if (!buffer_append(&t->texts, character, len))
            return false;
        at = *end == ' ' ? end + 1 : end;
    }
    return true;
}

bool code_texts_add(code_texts *t, uint32_t code_point, const char *numbers)
{
    size_t before = t->texts.len;
    gufo_str *list = mem_grow(t->allocator, t->list, t->count, &t->room, sizeof *list);

    t->texts.allocator = t->allocator;
    if (list == NULL)
        return false;
    t->list = list;
    if ((t->pages[code_point >> 8] == 0 && !add_page(t, code_point)) || !add_characters(t, numbers))
        return false;
    list[t->count++] = (gufo_str){NULL, t->texts.len - before};
    t->numbers[(size_t)(t->pages[code_point >> 8] - 1) * PAGE + (code_point & 0xFF)] =
        (uint16_t)t->count;
    return true;
}

void code_texts_close(code_texts *t)
{
    const char *at = (const char *)t->texts.data;

    for (uint64_t i = 0; i < t->count; i++) {
        t->list[i].data = at;
        at += t->list[i].len;
    }
}

/* ---- grapheme clusters ---------------------------------------------------------------------- */

/* What a cluster has had so far decides whether the next character belongs to it: the class of its last
 * character (rules GB3 to GB9b), and three small states: a pictograph that a joiner follows (GB11), an
 * Indic consonant that a linker follows (GB9c), flags of regions (GB12). */

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
} grapheme_sets[] = {
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

static bool fill_classes(uint8_t *flat, const gufo_allocator *allocator)
{
    bool done = true;

    for (size_t i = 0; i < sizeof grapheme_sets / sizeof *grapheme_sets && done; i++) {
        code_ranges ranges = {.allocator = allocator};

        done = code_ranges_add_property(&ranges, gufo_str_of(grapheme_sets[i].set), PROPERTY_EXACT);
        for (uint64_t k = 0; k < ranges.count && done; k++)
            for (uint32_t c = ranges.list[k].first; c <= ranges.list[k].last; c++)
                flat[c] |= grapheme_sets[i].class;
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
    bool done = flat != NULL && m != NULL && fill_classes(flat, allocator) &&
                code_map_pack(m, flat, allocator);

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

static void extend_cluster(cluster *c, uint8_t bits)
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
        extend_cluster(&c, bits);
    }
    return at;
}

/* ---- form NFC, by utf8proc ------------------------------------------------------------------ */

#define COMPOSE (UTF8PROC_STABLE | UTF8PROC_COMPOSE)

/* The code points of a text, composed; *count of them.  NULL without memory. */
static utf8proc_int32_t *compose(const gufo_allocator *allocator, gufo_str text,
                                 utf8proc_ssize_t *count)
{
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text.data;
    utf8proc_ssize_t len = (utf8proc_ssize_t)text.len;
    utf8proc_ssize_t room = utf8proc_decompose(bytes, len, NULL, 0, COMPOSE);
    utf8proc_int32_t *characters = mem_array(allocator, (uint64_t)room, sizeof *characters);

    if (characters == NULL)
        return NULL;
    *count = utf8proc_decompose(bytes, len, characters, room, COMPOSE);
    *count = utf8proc_normalize_utf32(characters, *count, COMPOSE);
    return characters;
}

static bool add_points(gufo_text *out, const point_list *points, origin_list *origins)
{
    bool done = true;

    for (uint64_t i = 0; done && i < points->count; i++) {
        char text[4];
        size_t size = lenient_encode(points->list[i].code_point, text);

        done = text_add(out, text, size) && origins_add(origins, points->list[i].origin, size);
    }
    return done;
}

/* The same with origins. */
static bool compose_with_origins(gufo_text *out, gufo_str text, origin_list *origins)
{
    point_list points = {.allocator = mem_allocator(out->allocator)};
    bool done = true;

    for (size_t at = 0, size; done && at < text.len; at += size) {
        uint32_t code_point = utf8_next(text.data + at, &size);

        done = points_add(&points, code_point, (text_origin){(uint32_t)at, (uint32_t)(at + size)});
    }
    done = done && points_normalize(&points, true) && add_points(out, &points, origins);
    points_free(&points);
    return done;
}

bool add_composed(gufo_text *out, gufo_str text, origin_list *origins)
{
    const gufo_allocator *allocator = mem_allocator(out->allocator);
    utf8proc_int32_t *characters;
    utf8proc_ssize_t count;
    bool done;

    if (origins != NULL)
        return compose_with_origins(out, text, origins);
    characters = compose(allocator, text, &count);
    done = characters != NULL && (uint64_t)count <= SIZE_MAX / 4 &&
           text_reserve(out, (size_t)count * 4);
    for (utf8proc_ssize_t i = 0; done && i < count; i++)
        out->len +=
            (size_t)utf8proc_encode_char(characters[i], (utf8proc_uint8_t *)out->data + out->len);
    mem_free(allocator, characters);
    return done;
}
