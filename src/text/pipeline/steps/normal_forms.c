/* Normal forms: NFC, NFD, NFKC, NFKD of Unicode 9.0.  Characters that are younger neither decompose nor
 * compose, and are never put into order.
 *
 * Most text is in its normal form already.  A mark for each character says whether it may change, or
 * what is before it; only stretches with such characters are taken apart:
 *
 *     x  e  U+0301 y     U+0301 has the mark: for NFC the stretch begins with the character before
 *        [e U+0301]      and ends before the next one without a mark
 *
 *     decompose: each character becomes its full decomposition, by table; Hangul by rule
 *     order:     combining characters by their class, others stay
 *     compose:   pairs, by table; Hangul by rule */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/steps/normal_step.h"
#include "text/characters/unicode.h"

enum {
    HANGUL = 0xAC00,
    HANGUL_COUNT = 11172,
    LEAD = 0x1100,
    VOWEL = 0x1161,
    TAIL = 0x11A7,
    LEAD_COUNT = 19,
    VOWEL_COUNT = 21,
    TAIL_COUNT = 28,
};

static const struct {
    char kind[12];
    uint32_t code;
    const char *text;
} rows[] = {
#define ROW(kind, code, text) {kind, code, text},
#include "registry/decompositions.inc"
#undef ROW
};

static const struct {
    uint32_t first, last, class;
} class_rows[] = {
#define ROW(first, last, class) {first, last, class},
#include "registry/combining_classes.inc"
#undef ROW
};

#define ROW_COUNT (sizeof rows / sizeof *rows)
#define CLASS_ROW_COUNT (sizeof class_rows / sizeof *class_rows)

typedef struct pair {
    uint32_t first, second, both;
} pair;

typedef struct form {
    bool compatible, composes;
    code_texts decompositions;
    code_map marks, classes;
    pair *pairs; /* in order */
    uint64_t pair_count, pair_room;
} form;

/* ---- tables --------------------------------------------------------------------------------- */

static void free_form(void *step, const gufo_allocator *allocator)
{
    form *f = step;

    code_texts_free(&f->decompositions);
    code_map_free(&f->marks, allocator);
    code_map_free(&f->classes, allocator);
    mem_free(allocator, f->pairs);
    mem_free(allocator, f);
}

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

/* The character that two become; 0: none. */
static uint32_t compose(const form *f, uint32_t first, uint32_t second)
{
    const pair wanted = {first, second, 0};
    const pair *found;

    if (first - LEAD < LEAD_COUNT && second - VOWEL < VOWEL_COUNT)
        return HANGUL + ((first - LEAD) * VOWEL_COUNT + (second - VOWEL)) * TAIL_COUNT;
    if (first - HANGUL < HANGUL_COUNT && (first - HANGUL) % TAIL_COUNT == 0 &&
        second - TAIL - 1 < TAIL_COUNT - 1)
        return first + (second - TAIL);
    found = f->pair_count > 0
                ? bsearch(&wanted, f->pairs, (size_t)f->pair_count, sizeof *f->pairs, compare_pairs)
                : NULL;
    return found != NULL ? found->both : 0;
}

/* The code points of a row. */
static size_t read_numbers(const char *text, uint32_t out[4])
{
    size_t count = 0;

    for (const char *at = text; *at != '\0' && count < 4; count++) {
        char *end;

        out[count] = (uint32_t)strtoul(at, &end, 16);
        at = *end == ' ' ? end + 1 : end;
    }
    return count;
}

/* Adds the pairs of rows with this many characters; those before the last one are composed by the pairs
 * that there are. */
static bool add_pairs(form *f, size_t length, const gufo_allocator *allocator)
{
    uint64_t count = f->pair_count;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        uint32_t numbers[4], first;
        pair *pairs;

        if (strcmp(rows[i].kind, "canonical") != 0 || read_numbers(rows[i].text, numbers) != length)
            continue;
        first = numbers[0];
        for (size_t k = 1; k + 1 < length; k++)
            first = compose(f, first, numbers[k]);
        pairs = mem_grow(allocator, f->pairs, count, &f->pair_room, sizeof *pairs);
        if (pairs == NULL)
            return false;
        f->pairs = pairs;
        pairs[count++] = (pair){first, numbers[length - 1], rows[i].code};
    }
    f->pair_count = count;
    if (count > 0)
        qsort(f->pairs, (size_t)count, sizeof *f->pairs, compare_pairs);
    return true;
}

static bool add_decompositions(form *f)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if ((f->compatible || strcmp(rows[i].kind, "compatible") != 0) &&
            !code_texts_add(&f->decompositions, rows[i].code, rows[i].text))
            return false;
    code_texts_close(&f->decompositions);
    return true;
}

/* Characters that may change, or what is before them. */
static void fill_marks(const form *f, uint8_t *flat)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].kind, "compatible") == 0 ? f->compatible
                                                    : !f->composes || *rows[i].kind == 'e')
            flat[rows[i].code] = 1;
    for (size_t i = 0; i < CLASS_ROW_COUNT; i++)
        memset(flat + class_rows[i].first, 1, class_rows[i].last - class_rows[i].first + 1);
    if (!f->composes) {
        memset(flat + HANGUL, 1, HANGUL_COUNT);
        return;
    }
    for (uint64_t i = 0; i < f->pair_count; i++)
        flat[f->pairs[i].second] = 1;
    memset(flat + VOWEL, 1, VOWEL_COUNT);
    memset(flat + TAIL + 1, 1, TAIL_COUNT - 1);
}

static bool fill_maps(form *f, const gufo_allocator *allocator)
{
    uint8_t *flat = mem_zero(allocator, LAST_CODE_POINT + 1);
    bool done = flat != NULL;

    if (done) {
        fill_marks(f, flat);
        done = code_map_pack(&f->marks, flat, allocator);
    }
    if (done) {
        memset(flat, 0, LAST_CODE_POINT + 1);
        for (size_t i = 0; i < CLASS_ROW_COUNT; i++)
            memset(flat + class_rows[i].first, (int)class_rows[i].class,
                   class_rows[i].last - class_rows[i].first + 1);
        done = code_map_pack(&f->classes, flat, allocator);
    }
    mem_free(allocator, flat);
    return done;
}

static void *read_form(step_reading *r, bool compatible, bool composes)
{
    form *f = mem_zero(r->allocator, sizeof *f);
    bool done = f != NULL;

    if (done) {
        f->compatible = compatible;
        f->composes = composes;
        f->decompositions.allocator = r->allocator;
        done = add_decompositions(f);
    }
    for (size_t length = 2; length <= 4 && composes && done; length++)
        done = add_pairs(f, length, r->allocator);
    if (!done || !fill_maps(f, r->allocator))
        (void)step_no_memory(r);
    return f;
}

/* ---- a stretch ------------------------------------------------------------------------------ */

typedef struct part {
    normal_character character;
    uint32_t place; /* so that those of one class stay as they are */
    uint8_t class;
} part;

typedef struct stretch {
    const form *form;
    const gufo_allocator *allocator;
    part *parts;
    uint64_t count, room;
    normal_character *out;
    uint64_t out_room;
} stretch;

static bool add_part(stretch *s, uint32_t code_point, int32_t change)
{
    part *parts = mem_grow(s->allocator, s->parts, s->count, &s->room, sizeof *parts);

    if (parts == NULL)
        return false;
    s->parts = parts;
    parts[s->count] = (part){
        {code_point, change}, (uint32_t)s->count, code_map_get(&s->form->classes, code_point)};
    s->count++;
    return true;
}

static bool decompose(stretch *s, uint32_t code_point)
{
    gufo_str text = code_texts_get(&s->form->decompositions, code_point);
    uint32_t index = code_point - HANGUL;
    bool done = true;

    if (index < HANGUL_COUNT)
        return add_part(s, LEAD + index / (VOWEL_COUNT * TAIL_COUNT), 0) &&
               add_part(s, VOWEL + index / TAIL_COUNT % VOWEL_COUNT, 1) &&
               (index % TAIL_COUNT == 0 || add_part(s, TAIL + index % TAIL_COUNT, 1));
    if (text.len == 0)
        return add_part(s, code_point, 0);
    for (size_t at = 0, size; at < text.len && done; at += size)
        done = add_part(s, utf8_next(text.data + at, &size), at > 0);
    return done;
}

static int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;

    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Puts runs of combining characters into order. */
static void order(stretch *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t end = i;

        while (end < s->count && s->parts[end].class != 0)
            end++;
        if (end > i + 1)
            qsort(s->parts + i, (size_t)(end - i), sizeof *s->parts, compare_parts);
        i = end > i ? end - 1 : i;
    }
}

static void compose_parts(stretch *s)
{
    uint64_t kept = 0, starter = UINT64_MAX;

    for (uint64_t i = 0; i < s->count; i++) {
        part p = s->parts[i];
        bool reaches =
            starter != UINT64_MAX && (kept - 1 == starter || s->parts[kept - 1].class < p.class);
        uint32_t both = reaches ? compose(s->form, s->parts[starter].character.code_point,
                                          p.character.code_point)
                                : 0;

        if (both != 0) {
            s->parts[starter].character.code_point = both;
            s->parts[starter].character.change += p.character.change - 1;
            continue;
        }
        if (p.class == 0)
            starter = kept;
        s->parts[kept++] = p;
    }
    s->count = kept;
}

/* Rewrites in[begin .. end). */
static gufo_status rewrite(stretch *s, normal_run *r, size_t begin, size_t end)
{
    bool done = true;

    s->count = 0;
    for (size_t at = begin, size; at < end && done; at += size)
        done = decompose(s, utf8_next(r->in->data + at, &size));
    if (!done)
        return fail_memory(r->error);
    order(s);
    if (s->form->composes)
        compose_parts(s);
    while (s->out_room < s->count) {
        normal_character *out =
            mem_grow(s->allocator, s->out, s->out_room, &s->out_room, sizeof *out);

        if (out == NULL)
            return fail_memory(r->error);
        s->out = out;
    }
    for (uint64_t i = 0; i < s->count; i++)
        s->out[i] = s->parts[i].character;
    return normal_transform(r, begin, end, s->out, (size_t)s->count);
}

/* ---- a text --------------------------------------------------------------------------------- */

static gufo_status run_form(const void *step, normal_run *r)
{
    const form *f = step;
    gufo_str text = work_text_str(r->in);
    stretch s = {.form = f, .allocator = mem_allocator(r->out->allocator)};
    size_t before = 0; /* where the character before begins, or what is rewritten ends */
    gufo_status status = GUFO_OK;

    for (size_t at = 0, size; at < text.len && status == GUFO_OK;) {
        size_t begin, end;

        if ((uint8_t)text.data[at] < 0x80) {
            at = utf8_skip_ascii(text, at);
            before = at - 1;
            continue;
        }
        if (code_map_get(&f->marks, utf8_next(text.data + at, &size)) == 0) {
            before = at;
            at += size;
            continue;
        }
        begin = f->composes ? before : at;
        for (end = at + size; end < text.len; end += size)
            if (code_map_get(&f->marks, utf8_next(text.data + end, &size)) == 0)
                break;
        status = rewrite(&s, r, begin, end);
        before = at = end;
    }
    mem_free(s.allocator, s.parts);
    mem_free(s.allocator, s.out);
    return status;
}

static void *read_nfc(step_reading *r)
{
    return read_form(r, false, true);
}

static void *read_nfd(step_reading *r)
{
    return read_form(r, false, false);
}

static void *read_nfkc(step_reading *r)
{
    return read_form(r, true, true);
}

static void *read_nfkd(step_reading *r)
{
    return read_form(r, true, false);
}

const normal_kind normal_forms[4] = {{"NFC", read_nfc, run_form, free_form},
                                     {"NFD", read_nfd, run_form, free_form},
                                     {"NFKC", read_nfkc, run_form, free_form},
                                     {"NFKD", read_nfkd, run_form, free_form}};
