/* The steps of a pre-tokenizer: those that cut at matches, where the class of characters changes and by length,
 * and those that rewrite. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/pipeline/steps/cut_step.h"
#include "text/characters/byte_alphabet.h"

#include <string.h>

/* ---- what steps share ----------------------------------------------------------------------- */

void text_pieces_free(text_pieces *p)
{
    mem_free(p->text.allocator, p->list);
    work_text_free(&p->text);
    p->list = NULL;
    p->count = p->room = 0;
}

bool text_pieces_add(text_pieces *p, size_t begin, size_t end)
{
    text_piece *list;

    if (begin == end)
        return true;
    if (p->count == p->room) {
        list = mem_grow(p->text.allocator, p->list, p->count, &p->room, sizeof *list);
        if (list == NULL)
            return false;
        p->list = list;
    }
    p->list[p->count++] = (text_piece){(uint32_t)begin, (uint32_t)end};
    return true;
}

/* Adds a step, which is freed where there is no memory; `step` may be NULL after a failure. */
static gufo_status cut_steps_add(cut_steps *steps, step_reading *r, const cut_kind *kind,
                                 void *step)
{
    struct cut_step *list =
        mem_grow(steps->allocator, steps->list, steps->count, &steps->room, sizeof *list);

    if (list == NULL) {
        if (step != NULL)
            kind->free(step, steps->allocator);
        return step_no_memory(r);
    }
    steps->list = list;
    list[steps->count++] = (struct cut_step){kind, step};
    return r->status;
}

/* ---- at matches: of an expression, or of the characters of a set ---------------------------- */

/* Matches and what is between them are segments; the behaviour says which of them become pieces, and
 * which are joined:
 *
 *     a--b at -     Removed             a  b
 *                   Isolated            a  -  -  b
 *                   MergedWithPrevious  a-  -  b       a match with what is before it, but a match
 *                   MergedWithNext      a  -  -b
 *                   Contiguous          a  --  b */

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

/* Isolates the matches of an expression, which is the step's then; NULL is a failure. */
static gufo_status cut_add_isolated(step_reading *r, cut_steps *steps, expression *pattern)
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

/* ---- where the class of characters changes -------------------------------------------------- */

static void free_map(void *step, const gufo_allocator *allocator)
{
    code_map_free(step, allocator);
    mem_free(allocator, step);
}

static void free_block(void *step, const gufo_allocator *allocator)
{
    mem_free(allocator, step);
}

static inline uint8_t class_at(const code_map *map, const char *text, size_t at, size_t *size)
{
    if ((uint8_t)text[at] < 0x80) {
        *size = 1;
        return map->blocks[((size_t)map->pages[0] << 8) + (uint8_t)text[at]];
    }
    return code_map_get(map, utf8_next(text + at, size));
}

/* ---- Whitespace: runs of \w, and of neither \w nor \s --------------------------------------- */

enum { IS_SPACE = 2 };

static bool cut_words(const code_map *map, cut_run *r, text_piece piece)
{
    const char *text = r->in->text.data;
    size_t from = piece.begin, size;
    uint8_t last = IS_SPACE;
    bool done = true;

    for (size_t at = from; at < piece.end && done; at += size) {
        uint8_t class = class_at(map, text, at, &size);

        if (class == last)
            continue;
        done = last == IS_SPACE || text_pieces_add(r->out, from, at);
        from = at;
        last = class;
    }
    return done && (last == IS_SPACE || text_pieces_add(r->out, from, piece.end));
}

static gufo_status run_words(const void *step, cut_run *r)
{
    for (uint64_t i = 0; i < r->in->count; i++)
        if (!cut_words(step, r, r->in->list[i]))
            return fail_memory(r->error);
    return GUFO_OK;
}

gufo_status cut_add_words(step_reading *r, cut_steps *steps)
{
    static const cut_kind kind = {false, run_words, free_map};
    static const char *const names[] = {"step word", "White_Space"};
    code_map *map = code_map_of_properties(names, 2, r->allocator);

    return map != NULL ? cut_steps_add(steps, r, &kind, map) : step_no_memory(r);
}

/* ---- UnicodeScripts ------------------------------------------------------------------------- */

static const struct {
    uint32_t first, last, script;
} script_rows[] = {
#define ROW(first, last, script) {first, last, script},
#include "registry/scripts.inc"
#undef ROW
};

enum { MOST_SCRIPTS = 255 };

/* Numbers the scripts in the order in which they come, from 1 on; 0: of no script. */
static void fill_scripts(uint8_t *flat)
{
    uint32_t scripts[MOST_SCRIPTS];
    size_t count = 0;

    for (size_t i = 0; i < sizeof script_rows / sizeof *script_rows; i++) {
        size_t number = 0;

        while (number < count && scripts[number] != script_rows[i].script)
            number++;
        if (number == count && count < MOST_SCRIPTS)
            scripts[count++] = script_rows[i].script;
        memset(flat + script_rows[i].first, (int)number + 1,
               script_rows[i].last - script_rows[i].first + 1);
    }
}

static bool cut_scripts(const code_map *map, cut_run *r, text_piece piece)
{
    size_t from = piece.end, size; /* before the first character of a script nothing is kept */
    uint8_t last = 0;
    bool done = true;

    for (size_t at = piece.begin; at < piece.end && done; at += size) {
        uint8_t script = class_at(map, r->in->text.data, at, &size);

        if (script == 0 || script == last)
            continue;
        done = last == 0 || text_pieces_add(r->out, from, at);
        from = at;
        last = script;
    }
    return done && text_pieces_add(r->out, from, piece.end);
}

static gufo_status run_scripts(const void *step, cut_run *r)
{
    for (uint64_t i = 0; i < r->in->count; i++)
        if (!cut_scripts(step, r, r->in->list[i]))
            return fail_memory(r->error);
    return GUFO_OK;
}

gufo_status cut_add_scripts(step_reading *r, cut_steps *steps)
{
    static const cut_kind kind = {false, run_scripts, free_map};
    uint8_t *flat = mem_zero(r->allocator, LAST_CODE_POINT + 1);
    code_map *map = mem_zero(r->allocator, sizeof *map);
    bool done = flat != NULL && map != NULL;

    if (done) {
        fill_scripts(flat);
        done = code_map_pack(map, flat, r->allocator);
    }
    mem_free(r->allocator, flat);
    if (done)
        return cut_steps_add(steps, r, &kind, map);
    mem_free(r->allocator, map);
    return step_no_memory(r);
}

/* ---- FixedLength ---------------------------------------------------------------------------- */

enum { USUAL_LENGTH = 5 };

static bool cut_lengths(uint64_t length, cut_run *r, text_piece piece)
{
    const char *text = r->in->text.data;
    size_t from = piece.begin, size;
    uint64_t count = 0;

    for (size_t at = from; at < piece.end; at += size) {
        if (count == length) {
            if (!text_pieces_add(r->out, from, at))
                return false;
            from = at;
            count = 0;
        }
        (void)utf8_next(text + at, &size);
        count++;
    }
    return text_pieces_add(r->out, from, piece.end);
}

static gufo_status run_lengths(const void *step, cut_run *r)
{
    for (uint64_t i = 0; i < r->in->count; i++)
        if (!cut_lengths(*(const uint64_t *)step, r, r->in->list[i]))
            return fail_memory(r->error);
    return GUFO_OK;
}

gufo_status cut_add_fixed_length(step_reading *r, cut_steps *steps)
{
    static const cut_kind kind = {false, run_lengths, free_block};
    const json_t *value = step_member(r, "length");
    json_int_t length = value == NULL ? USUAL_LENGTH : json_integer_value(value);
    uint64_t *step;

    if (length < 1)
        return step_wrong(r, "\"length\" is not a number above 0");
    step = mem_alloc(r->allocator, sizeof *step);
    if (step == NULL)
        return step_no_memory(r);
    *step = (uint64_t)length;
    return cut_steps_add(steps, r, &kind, step);
}

/* ---- rewriting: ByteLevel and Metaspace ----------------------------------------------------- */

#define GPT2_EXPRESSION \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

/* Puts a text before a piece, whose first character it stands for. */
static bool put_before(cut_run *r, text_piece piece, gufo_str text)
{
    size_t size;

    (void)utf8_next(r->in->text.data + piece.begin, &size);
    return work_text_put(&r->out->text, &r->in->text, piece.begin, piece.begin + size, text);
}

/* ---- ByteLevel: a space before each piece, pieces of GPT-2, bytes --------------------------- */

static gufo_status run_prefix(const void *step, cut_run *r)
{
    text_pieces *out = r->out;

    (void)step;
    for (uint64_t i = 0; i < r->in->count; i++) {
        text_piece piece = r->in->list[i];
        size_t begin = out->text.len;

        if ((r->in->text.data[piece.begin] != ' ' && !put_before(r, piece, (gufo_str){" ", 1})) ||
            !work_text_keep(&out->text, &r->in->text, piece.begin, piece.end) ||
            !text_pieces_add(out, begin, out->text.len))
            return fail_memory(r->error);
    }
    return GUFO_OK;
}

/* The bytes of a piece, where nobody asks where they come from. */
static bool write_bytes(const byte_texts *alphabet, cut_run *r, text_piece piece)
{
    work_text *out = &r->out->text;
    const uint8_t *bytes = (const uint8_t *)r->in->text.data;
    char *to;

    if (!work_text_reserve(out, 2 * (size_t)(piece.end - piece.begin)))
        return false;
    if (out->len == 0)
        out->begins = work_text_begins(&r->in->text, piece.begin);
    to = out->data + out->len;
    for (size_t i = piece.begin; i < piece.end; i++) {
        memcpy(to, alphabet->text[bytes[i]], 2);
        to += alphabet->len[bytes[i]];
    }
    out->len = (size_t)(to - out->data);
    return true;
}

/* The same; each of the bytes of a character stands for all of it. */
static bool put_bytes(const byte_texts *alphabet, cut_run *r, text_piece piece)
{
    const char *text = r->in->text.data;
    bool done = true;

    for (size_t at = piece.begin, size; at < piece.end && done; at += size) {
        (void)utf8_next(text + at, &size);
        for (size_t i = 0; i < size && done; i++) {
            uint8_t byte = (uint8_t)text[at + i];

            done = work_text_put(&r->out->text, &r->in->text, at, at + size,
                                 (gufo_str){alphabet->text[byte], alphabet->len[byte]});
        }
    }
    return done;
}

static gufo_status run_bytes(const void *step, cut_run *r)
{
    text_pieces *out = r->out;

    for (uint64_t i = 0; i < r->in->count; i++) {
        size_t begin = out->text.len;

        if (!(r->in->text.keeps_origins ? put_bytes : write_bytes)(step, r, r->in->list[i]) ||
            !text_pieces_add(out, begin, out->text.len))
            return fail_memory(r->error);
    }
    return GUFO_OK;
}

gufo_status cut_add_byte_level(step_reading *r, cut_steps *steps)
{
    static const cut_kind prefix = {true, run_prefix, free_block};
    static const cut_kind kind = {true, run_bytes, free_block};
    bool has_prefix = step_flag(r, "add_prefix_space");
    bool has_pattern = step_flag_or(r, "use_regex", true);
    byte_texts *alphabet;

    (void)step_flag(r, "trim_offsets");
    if (r->status == GUFO_OK && has_prefix)
        (void)cut_steps_add(steps, r, &prefix, NULL);
    if (r->status == GUFO_OK && has_pattern) {
        expression *e = expression_new(gufo_str_of(GPT2_EXPRESSION), false, r->allocator, r->error);

        r->status = e != NULL ? cut_add_isolated(r, steps, e) : GUFO_E_MEMORY;
    }
    if (r->status != GUFO_OK)
        return r->status;
    alphabet = mem_alloc(r->allocator, sizeof *alphabet);
    if (alphabet == NULL)
        return step_no_memory(r);
    byte_alphabet_fill(alphabet);
    return cut_steps_add(steps, r, &kind, alphabet);
}

/* ---- Metaspace: spaces are a visible character, and pieces begin with it -------------------- */

typedef enum prepend_scheme { ALWAYS, NEVER, FIRST } prepend_scheme;

typedef struct metaspace {
    prepend_scheme scheme;
    bool split;
    char replacement[4];
    size_t len;
} metaspace;

static bool begins_so(const metaspace *m, const char *text, text_piece piece)
{
    return text[piece.begin] == ' ' || (piece.end - piece.begin >= m->len &&
                                        memcmp(text + piece.begin, m->replacement, m->len) == 0);
}

/* Writes a piece with its replacements. */
static bool rewrite_spaces(const metaspace *m, cut_run *r, text_piece piece)
{
    const work_text *in = &r->in->text;
    gufo_str replacement = {m->replacement, m->len};
    size_t kept = piece.begin;

    if (m->scheme != NEVER && !begins_so(m, in->data, piece) &&
        (m->scheme == ALWAYS || work_text_begins(in, piece.begin)) &&
        !put_before(r, piece, replacement))
        return false;
    for (;;) {
        const char *space = memchr(in->data + kept, ' ', piece.end - kept);
        size_t at = space != NULL ? (size_t)(space - in->data) : piece.end;

        if (!work_text_keep(&r->out->text, in, kept, at))
            return false;
        if (space == NULL)
            return true;
        if (!work_text_put(&r->out->text, in, at, at + 1, replacement))
            return false;
        kept = at + 1;
    }
}

/* Cuts out->text[begin ..) before each replacement. */
static bool cut_spaces(const metaspace *m, text_pieces *out, size_t begin)
{
    gufo_str text = work_text_str(&out->text), replacement = {m->replacement, m->len};
    const char *found;

    while ((found = str_search(str_from(text, begin + 1), replacement)) != NULL) {
        size_t at = (size_t)(found - text.data);

        if (!text_pieces_add(out, begin, at))
            return false;
        begin = at;
    }
    return text_pieces_add(out, begin, text.len);
}

static gufo_status run_metaspace(const void *step, cut_run *r)
{
    const metaspace *m = step;
    text_pieces *out = r->out;

    for (uint64_t i = 0; i < r->in->count; i++) {
        size_t begin = out->text.len;

        if (!rewrite_spaces(m, r, r->in->list[i]) ||
            !(m->split ? cut_spaces(m, out, begin) : text_pieces_add(out, begin, out->text.len)))
            return fail_memory(r->error);
    }
    return GUFO_OK;
}

static prepend_scheme read_scheme(step_reading *r)
{
    static const char *const names[] = {"always", "never", "first"};
    gufo_str name = {"always", 6};

    if (step_member(r, "prepend_scheme") != NULL)
        name = step_text(r, "prepend_scheme");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gufo_str_equal(name, gufo_str_of(names[i])))
            return (prepend_scheme)i;
    (void)step_wrong(r, "no \"prepend_scheme\" is %s", QUOTED(name));
    return ALWAYS;
}

gufo_status cut_add_metaspace(step_reading *r, cut_steps *steps)
{
    static const cut_kind kind = {true, run_metaspace, free_block};
    metaspace *m = mem_zero(r->allocator, sizeof *m);
    gufo_str replacement;

    if (m == NULL)
        return step_no_memory(r);
    replacement = step_character(r, "replacement");
    m->len = replacement.len <= sizeof m->replacement ? replacement.len : 0;
    memcpy(m->replacement, replacement.data, m->len);
    m->split = step_flag_or(r, "split", true);
    m->scheme = read_scheme(r);
    if (!step_flag_or(r, "add_prefix_space", true) && m->scheme != NEVER)
        (void)step_wrong(r, "\"add_prefix_space\" is false, but \"prepend_scheme\" is not "
                            "\"never\"");
    if (m->scheme == FIRST && steps->count > 0)
        steps->needs_origins = true;
    return cut_steps_add(steps, r, &kind, m);
}
