/* Matches of an expression, in a bounded number of steps.
 *
 * A regular expression may need steps by the square of a text, and more.  So PCRE2 sees a WINDOW of the text at
 * first, and a few backtracks are allowed at each place: enough for the words of ordinary texts.  A place that
 * needs more, for it meets the end of the window, is looked at alone, in windows that grow; what they cost is
 * taken from the budget of the whole text. */
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/error.h"
#include "base/text.h"
#include "text/expressions/compiled.h"

enum {
    WINDOW = 1024,
    LARGEST_WINDOW = WINDOW << 12,
    GROWTH = 4,
    BACKTRACKS_PER_BYTE = 4,
    STEPS_PER_BYTE = 10000,
    OUT_OF_STEPS = PCRE2_ERROR_MATCHLIMIT
};
#define LEAST_STEPS UINT64_C(6000000000)
#define JIT_STACK_START ((size_t)32 << 10)
#define JIT_STACK_END ((size_t)1 << 20)
#define HEAP_LIMIT_KIB ((uint32_t)64 << 10)

struct expression_scratch {
    gufo_allocator allocator;
    pcre2_general_context *memory;
    pcre2_match_context *context;
    pcre2_match_data *match;
    pcre2_jit_stack *stack; /* NULL without JIT */
    buffer collapsed;
    uint64_t steps;  /* that are left */
    uint64_t window; /* for a place that needs more than the first */

    /* Of the text that is matched. */
    gufo_str text;
    const char *subject; /* what is matched: the text, or `collapsed` */
    size_t subject_len;
    bool in_place;       /* the subject is the text */
    size_t index, place; /* of the subject, and the byte of the text that it stands for */
    size_t from, last_end;
    bool has_last;
};

/* Lets PCRE2 backtrack as often as it may have to in such a window. */
static void limit_backtracks(expression_scratch *s, uint64_t window)
{
    uint32_t most = BACKTRACKS_PER_BYTE * LARGEST_WINDOW;

    (void)pcre2_set_match_limit(
        s->context, window < LARGEST_WINDOW ? BACKTRACKS_PER_BYTE * (uint32_t)window : most);
}

expression_scratch *expression_scratch_new(const gufo_allocator *allocator, gufo_error *error)
{
    expression_scratch *s = mem_object(allocator, sizeof *s, error);
    uint32_t has_jit = 0;

    if (s == NULL)
        return NULL;
    s->collapsed.allocator = &s->allocator;
    s->memory = pcre2_memory_new(&s->allocator);
    (void)pcre2_config(PCRE2_CONFIG_JIT, &has_jit);
    if (s->memory != NULL) {
        s->context = pcre2_match_context_create(s->memory);
        s->match = pcre2_match_data_create(1, s->memory);
        s->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_END, s->memory);
    }
    if (s->context == NULL || s->match == NULL || (s->stack == NULL && has_jit != 0)) {
        (void)fail_memory(error);
        expression_scratch_free(s);
        return NULL;
    }
    limit_backtracks(s, WINDOW);
    expression_allow(s, expression_steps(0));
    (void)pcre2_set_heap_limit(s->context, HEAP_LIMIT_KIB);
    if (s->stack != NULL)
        pcre2_jit_stack_assign(s->context, NULL, s->stack);
    return s;
}

void expression_scratch_free(expression_scratch *s)
{
    gufo_allocator allocator;

    if (s == NULL)
        return;
    allocator = s->allocator;
    pcre2_jit_stack_free(s->stack);
    pcre2_match_data_free(s->match);
    pcre2_match_context_free(s->context);
    pcre2_general_context_free(s->memory);
    buffer_free(&s->collapsed);
    mem_free(&allocator, s);
}

/* Fills `collapsed` from the first character on that is not ASCII. */
static bool collapse(const expression *e, expression_scratch *s, size_t ascii)
{
    const char *text = s->text.data;
    size_t at = ascii;
    uint8_t *to;

    s->collapsed.len = 0;
    to = buffer_extend(&s->collapsed, s->text.len);
    if (to == NULL)
        return false;
    memcpy(to, text, ascii);
    to += ascii;
    while (at < s->text.len) {
        size_t size;

        if ((uint8_t)text[at] < 0x80) {
            *to++ = (uint8_t)text[at++];
            continue;
        }
        *to++ = code_map_get(&e->classes, utf8_next(text + at, &size));
        at += size;
    }
    s->subject = (const char *)s->collapsed.data;
    s->subject_len = (size_t)(to - s->collapsed.data);
    return true;
}

gufo_status expression_begin(const expression *e, expression_scratch *s, gufo_str text,
                             gufo_error *error)
{
    size_t ascii = e->literal ? text.len : utf8_skip_ascii(text, 0);

    s->text = text;
    s->subject = text.data != NULL ? text.data : "";
    s->subject_len = text.len;
    s->in_place = ascii == text.len;
    s->index = s->place = s->from = 0;
    s->has_last = false;
    s->window = WINDOW * GROWTH;
    return s->in_place || collapse(e, s, ascii) ? GUFO_OK : fail_memory(error);
}

/* The byte of the text that an index of the subject stands for; indices do not decrease. */
static size_t place_of(expression_scratch *s, size_t index)
{
    const char *at = s->text.data + s->place;

    if (s->in_place)
        return index;
    for (size_t i = s->index; i < index; i++) {
        uint8_t first = (uint8_t)*at;

        at += 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0);
    }
    s->index = index;
    s->place = (size_t)(at - s->text.data);
    return s->place;
}

/* ---- steps ---------------------------------------------------------------------------------- */

uint64_t expression_steps(size_t len)
{
    return LEAST_STEPS + (uint64_t)len * STEPS_PER_BYTE;
}

void expression_allow(expression_scratch *s, uint64_t steps)
{
    s->steps = steps;
}

static bool spend(expression_scratch *s, uint64_t steps)
{
    bool enough = s->steps >= steps;

    s->steps = enough ? s->steps - steps : 0;
    return enough;
}

static gufo_status explain(int code, gufo_error *error)
{
    if (code == PCRE2_ERROR_NOMEMORY)
        return fail_memory(error);
    return refuse(
        error, GUFO_E_LIMIT,
        "a regular expression needs too much backtracking for the text: error %d of PCRE2", code);
}

static gufo_status refuse_steps(const expression *e, expression_scratch *s, size_t index,
                                gufo_error *error)
{
    return refuse(
        error, GUFO_E_LIMIT,
        "the regular expression %s needs too many steps for a text of %s bytes, at byte %zu",
        QUOTED(((gufo_str){e->text, e->len})), GROUPED(s->text.len), place_of(s, index));
}

/* What PCRE2 finds from `from` on in the subject up to `end`; PCRE2_ERROR_PARTIAL if it needs to know what
 * is behind. */
static int run_pcre2(const expression *e, expression_scratch *s, size_t from, size_t end)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)s->subject;
    uint32_t options = end < s->subject_len ? PCRE2_PARTIAL_HARD : 0;
    int count = PCRE2_ERROR_JIT_STACKLIMIT;

    if (e->jit)
        count = pcre2_jit_match(e->code, subject, end, from, options, s->match, s->context);
    if (count == PCRE2_ERROR_JIT_STACKLIMIT)
        count =
            pcre2_match(e->code, subject, end, from, options | PCRE2_NO_JIT, s->match, s->context);
    return count;
}

/* The match that begins at `at`, whatever it takes.  The first window is smaller than the one that was enough
 * the last time. */
static int match_at(const expression *e, expression_scratch *s, size_t at)
{
    size_t rest = s->subject_len - at;
    uint64_t window = s->window;
    int count;

    (void)pcre2_set_offset_limit(s->context, at);
    for (;; window *= GROWTH) {
        limit_backtracks(s, window);
        count = run_pcre2(e, s, at, window < rest ? at + (size_t)window : s->subject_len);
        if (!spend(s, window))
            count = OUT_OF_STEPS;
        else if (count == PCRE2_ERROR_PARTIAL ||
                 (count == PCRE2_ERROR_MATCHLIMIT && window < LARGEST_WINDOW))
            continue;
        break;
    }
    s->window = window > WINDOW ? window / GROWTH : WINDOW;
    limit_backtracks(s, WINDOW);
    (void)pcre2_set_offset_limit(s->context, PCRE2_UNSET);
    return count;
}

/* The next place after `at`, where no match begins, at which one may. */
static size_t next_place(const expression *e, const expression_scratch *s, size_t at)
{
    do
        at++;
    while (at < s->subject_len && e->repeats[(uint8_t)s->subject[at - 1]]);
    return at;
}

/* The leftmost match that begins in the window at *at.  Without one: PCRE2_ERROR_NOMATCH, and *at is behind
 * the window; PCRE2_ERROR_PARTIAL if a match may begin at *at, PCRE2_ERROR_MATCHLIMIT if from there on. */
static int match_in_window(const expression *e, expression_scratch *s, size_t *at)
{
    const size_t *found = pcre2_get_ovector_pointer(s->match);
    size_t end = s->subject_len - *at > WINDOW ? *at + WINDOW : s->subject_len;
    int count = run_pcre2(e, s, *at, end);

    if (count >= 0 && found[0] == end && end < s->subject_len)
        count = PCRE2_ERROR_NOMATCH; /* the end of the window is not that of the text */
    if (count == PCRE2_ERROR_PARTIAL)
        *at = found[0];
    if (count == PCRE2_ERROR_NOMATCH)
        *at = end < s->subject_len ? end : s->subject_len + 1;
    return count;
}

/* The leftmost match from s->from on; *at is where PCRE2 gave up. */
static int search(const expression *e, expression_scratch *s, size_t *at)
{
    size_t hard = 0; /* up to there each place is looked at alone */
    int count = PCRE2_ERROR_NOMATCH;

    for (*at = s->from; count == PCRE2_ERROR_NOMATCH && *at <= s->subject_len;) {
        if (*at >= hard) {
            count = match_in_window(e, s, at);
            if (count == PCRE2_ERROR_MATCHLIMIT)
                hard = *at + WINDOW;
            else if (count != PCRE2_ERROR_PARTIAL)
                continue;
        }
        count = match_at(e, s, *at);
        if (count == PCRE2_ERROR_NOMATCH)
            *at = next_place(e, s, *at);
    }
    return count;
}

/* ---- matches -------------------------------------------------------------------------------- */

static void find_literal(const expression *e, const expression_scratch *s, expression_match *m)
{
    gufo_str rest = {s->subject + s->from, s->subject_len - s->from};
    const char *at = str_search(rest, (gufo_str){e->text, e->len});

    m->found = at != NULL;
    m->begin = at != NULL ? (size_t)(at - s->subject) : 0;
    m->end = m->begin + e->len;
}

/* The leftmost match of the subject from s->from on. */
static gufo_status find(const expression *e, expression_scratch *s, expression_match *m,
                        gufo_error *error)
{
    const size_t *found = pcre2_get_ovector_pointer(s->match);
    size_t at;
    int count;

    if (e->literal) {
        find_literal(e, s, m);
        return GUFO_OK;
    }
    count = search(e, s, &at);
    if (count == PCRE2_ERROR_MATCHLIMIT)
        return refuse_steps(e, s, at, error);
    m->found = count >= 0;
    m->begin = m->found ? found[0] : 0;
    m->end = m->found ? found[1] : 0;
    return count >= 0 || count == PCRE2_ERROR_NOMATCH ? GUFO_OK : explain(count, error);
}

/* Where the character behind `at` begins. */
static size_t behind_character(const expression_scratch *s, size_t at)
{
    at++;
    while (s->in_place && at < s->subject_len && ((uint8_t)s->subject[at] & 0xC0) == 0x80)
        at++;
    return at;
}

gufo_status expression_next(const expression *e, expression_scratch *s, expression_match *m,
                            gufo_error *error)
{
    m->found = false;
    while (s->from <= s->subject_len) {
        gufo_status status = find(e, s, m, error);

        if (status != GUFO_OK || !m->found)
            return status;
        if (m->begin == m->end && s->has_last && s->last_end == m->end) {
            s->from = behind_character(s, m->end);
            m->found = false;
            continue;
        }
        s->from = s->last_end = m->end;
        s->has_last = true;
        m->begin = place_of(s, m->begin);
        m->end = place_of(s, m->end);
        return GUFO_OK;
    }
    return GUFO_OK;
}
