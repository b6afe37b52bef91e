/* Pre-tokenizers: the expressions of a shape, run by PCRE2.
 *
 * Text is first collapsed to one byte per character (alphabet.h).  Each expression runs on each piece
 * that the one before it left, as a text of its own:
 *
 *     "it's 42"   --\p{N}-->   "it's " "4" "2"   --'s| ?\p{L}+|...-->   "it" "'s" " " "4" "2"
 *
 * Lengths in bytes follow from the text when a piece is complete. */
#include "text/pretokenizers/pretokenizer.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/expressions/pcre2_memory.h"
#include "text/pretokenizers/alphabet.h"
#include "text/characters/characters.h"

#define MOST_STAGES 8
#define JIT_STACK_START ((size_t)32 << 10)
#define JIT_STACK_END ((size_t)1 << 20)

static const struct {
    const char *shape, *before, *after;
} shapes[] = {
#define ROW(shape, before, after) {shape, before, after},
#include "registry/pretokenizer_shapes.inc"
#undef ROW
};

/* Those of one shape follow each other, in the order in which they run. */
static const struct {
    const char *shape, *expression;
} expressions[] = {
#define ROW(shape, expression) {shape, expression},
#include "registry/pretokenizer_expressions.inc"
#undef ROW
};

#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)
#define EXPRESSION_COUNT (sizeof expressions / sizeof *expressions)

struct pretokenizer {
    gufo_allocator allocator;
    pcre2_general_context *memory;
    alphabet alphabet;
    byte_set before, after; /* where text may be cut */
    size_t stage_count;
    pcre2_code *stages[MOST_STAGES];
    bool jit; /* every stage is compiled */
};

/* ---- making one ready ----------------------------------------------------------------------- */

static size_t find_shape(const char *name)
{
    size_t i = 0;

    while (i < SHAPE_COUNT && strcmp(shapes[i].shape, name) != 0)
        i++;
    return i;
}

static gufo_status compile(pretokenizer *p, const char *expression, gufo_error *error)
{
    buffer text = {.allocator = &p->allocator};
    gufo_status status = alphabet_rewrite(&p->alphabet, expression, &text, error);
    pcre2_compile_context *context = pcre2_compile_context_create(p->memory);
    int code;
    size_t at;
    pcre2_code *stage = NULL;

    if (status == GUFO_OK && context != NULL)
        stage = pcre2_compile(text.data, PCRE2_ZERO_TERMINATED, 0, &code, &at, context);
    if (status == GUFO_OK && stage == NULL)
        status = context == NULL || code == PCRE2_ERROR_HEAP_FAILED
                     ? fail_memory(error)
                     : refuse(error, GUFO_E_ARGUMENT, "PCRE2 refuses the expression %s at byte %zu",
                              QUOTED(gufo_str_of(expression)), at);
    if (stage != NULL) {
        /* Without it, matching is slower. */
        p->jit = pcre2_jit_compile(stage, PCRE2_JIT_COMPLETE) == 0 && p->jit;
        p->stages[p->stage_count++] = stage;
    }
    pcre2_compile_context_free(context);
    buffer_free(&text);
    return status;
}

static gufo_status learn_shape(pretokenizer *p, size_t shape, gufo_error *error)
{
    gufo_status status = alphabet_learn(&p->alphabet, shapes[shape].before, error);

    if (status == GUFO_OK)
        status = alphabet_learn(&p->alphabet, shapes[shape].after, error);
    for (size_t i = 0; i < EXPRESSION_COUNT && status == GUFO_OK; i++) {
        if (strcmp(expressions[i].shape, shapes[shape].shape) == 0)
            status = alphabet_learn(&p->alphabet, expressions[i].expression, error);
    }
    if (status == GUFO_OK)
        status = alphabet_close(&p->alphabet, error);
    for (size_t i = 0; i < EXPRESSION_COUNT && status == GUFO_OK; i++) {
        if (strcmp(expressions[i].shape, shapes[shape].shape) == 0)
            status = compile(p, expressions[i].expression, error);
    }
    return status;
}

pretokenizer *pretokenizer_new(const char *shape, const gufo_allocator *allocator,
                               gufo_error *error)
{
    size_t row = find_shape(shape);
    pretokenizer *p;

    if (row == SHAPE_COUNT) {
        (void)refuse(error, GUFO_E_ARGUMENT, "no pre-tokenizer has the shape %s",
                     QUOTED(gufo_str_of(shape)));
        return NULL;
    }
    p = mem_object(allocator, sizeof *p, error);
    if (p == NULL)
        return NULL;
    p->alphabet.sets.allocator = &p->allocator;
    p->alphabet.bytes.allocator = &p->allocator;
    p->jit = true;
    p->memory = pcre2_memory_new(&p->allocator);
    if (p->memory == NULL)
        (void)fail_memory(error);
    else if (learn_shape(p, row, error) == GUFO_OK) {
        p->before = alphabet_set(&p->alphabet, gufo_str_of(shapes[row].before));
        p->after = alphabet_set(&p->alphabet, gufo_str_of(shapes[row].after));
        return p;
    }
    pretokenizer_free(p);
    return NULL;
}

void pretokenizer_free(pretokenizer *p)
{
    gufo_allocator allocator;

    if (p == NULL)
        return;
    allocator = p->allocator;
    for (size_t i = 0; i < p->stage_count; i++)
        pcre2_code_free(p->stages[i]);
    pcre2_general_context_free(p->memory);
    alphabet_free(&p->alphabet);
    mem_free(&allocator, p);
}

/* ---- where text may be cut ------------------------------------------------------------------ */

static uint8_t byte_at(const pretokenizer *p, gufo_str text, size_t at)
{
    size_t size;

    return alphabet_byte(&p->alphabet, lenient_decode(text.data + at, text.len - at, &size));
}

/* A character begins at every byte but 80 to BF: these bytes alone continue one. */
size_t pretokenizer_cut(const pretokenizer *p, gufo_str text)
{
    for (size_t at = text.len; at-- > 1;) {
        if (((uint8_t)text.data[at] & 0xC0) != 0x80 &&
            length_by_first_byte(text.data + at, 4) <= text.len - at &&
            p->after.has[byte_at(p, text, at)] &&
            p->before.has[byte_at(p, (gufo_str){text.data, at}, character_before(text, at))])
            return at;
    }
    return 0;
}

/* ---- running -------------------------------------------------------------------------------- */

struct pre_scratch {
    const pretokenizer *p;
    gufo_allocator allocator;
    pcre2_general_context *memory;
    pcre2_match_context *context;
    pcre2_match_data *match;
    pcre2_jit_stack *stack;
    buffer collapsed, rewritten; /* rewritten: where the text is not as it must be */

    /* Of the text that is being cut. */
    gufo_str text;
    size_t at; /* bytes of text passed on */
    piece_sink *sink;
    void *sink_context;
};

pre_scratch *pre_scratch_new(const pretokenizer *p, const gufo_allocator *allocator,
                             gufo_error *error)
{
    pre_scratch *s = mem_zero(allocator, sizeof *s);

    if (s == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    s->p = p;
    s->allocator = *allocator;
    s->collapsed.allocator = s->rewritten.allocator = &s->allocator;
    s->memory = pcre2_memory_new(&s->allocator);
    if (s->memory != NULL) {
        s->context = pcre2_match_context_create(s->memory);
        s->match = pcre2_match_data_create(1, s->memory);
        s->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_END, s->memory);
    }
    if (s->context == NULL || s->match == NULL || (s->stack == NULL && p->jit)) {
        (void)fail_memory(error);
        pre_scratch_free(s);
        return NULL;
    }
    if (s->stack != NULL)
        pcre2_jit_stack_assign(s->context, NULL, s->stack);
    return s;
}

void pre_scratch_free(pre_scratch *s)
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
    buffer_free(&s->rewritten);
    mem_free(&allocator, s);
}

static size_t encoded_size(uint32_t code_point)
{
    return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

/* Whether eight bytes are ASCII. */
static bool is_ascii(const char *text)
{
    uint64_t bytes;

    memcpy(&bytes, text, sizeof bytes);
    return (bytes & UINT64_C(0x8080808080808080)) == 0;
}

/* Fills `collapsed`.  *clean: each character is spelt as lenient_encode does. */
static bool collapse(pre_scratch *s, gufo_str text, bool *clean)
{
    uint8_t *start, *to;
    size_t at = 0;

    s->collapsed.len = 0;
    start = to = buffer_extend(&s->collapsed, text.len);
    if (to == NULL)
        return false;
    for (*clean = true; at < text.len;) {
        uint32_t code_point;
        size_t size;

        if (text.len - at >= 8 && is_ascii(text.data + at)) {
            memcpy(to, text.data + at, 8);
            to += 8;
            at += 8;
            continue;
        }
        code_point = lenient_decode(text.data + at, text.len - at, &size);
        *to++ = alphabet_byte(&s->p->alphabet, code_point);
        at += size;
        if (size != encoded_size(code_point) || code_point > 0x10FFFF)
            *clean = false;
    }
    s->collapsed.len = (size_t)(to - start);
    return true;
}

static bool rewrite(pre_scratch *s, gufo_str text)
{
    s->rewritten.len = 0;
    for (size_t at = 0, size; at < text.len; at += size) {
        char out[4];
        uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);
        size_t written = lenient_encode(code_point, out);
        char *end = buffer_extend(&s->rewritten, written);

        if (end == NULL)
            return false;
        memcpy(end, out, written);
    }
    s->text = (gufo_str){(const char *)s->rewritten.data, s->rewritten.len};
    return true;
}

/* The piece of these characters, the next one. */
static gufo_status pass_on(pre_scratch *s, size_t begin, size_t end, gufo_error *error)
{
    const uint8_t *bytes = s->collapsed.data;
    gufo_str piece = {s->text.data + s->at, 0};
    const char *at = piece.data;

    for (size_t i = begin; i < end; i++)
        at += bytes[i] < 0x80 ? 1 : length_by_first_byte(at, 4);
    piece.len = (size_t)(at - piece.data);
    s->at += piece.len;
    return s->sink(s->sink_context, piece, error);
}

/* The next match in collapsed[begin .. end) from `from` on.  An empty one at `from` does not count if
 * `not_empty`. */
static gufo_status find_match(pre_scratch *s, size_t stage, size_t begin, size_t end, size_t from,
                              bool not_empty, bool *found, gufo_error *error)
{
    const pretokenizer *p = s->p;
    uint32_t options = not_empty ? PCRE2_NOTEMPTY_ATSTART : 0;
    int count = (p->jit ? pcre2_jit_match
                        : pcre2_match)(p->stages[stage], s->collapsed.data + begin, end - begin,
                                       from - begin, options, s->match, s->context);

    *found = count >= 0;
    if (count >= 0 || count == PCRE2_ERROR_NOMATCH)
        return GUFO_OK;
    if (count == PCRE2_ERROR_NOMEMORY || count == PCRE2_ERROR_HEAPLIMIT)
        return fail_memory(error);
    return refuse(error, GUFO_E_LIMIT,
                  "the text cannot be cut into pieces for byte-pair encoding: error %d of PCRE2",
                  count);
}

/* Cuts collapsed[begin .. end), a piece of the stages before. */
static gufo_status run_stage(pre_scratch *s, size_t stage, size_t begin, size_t end,
                             gufo_error *error)
{
    size_t piece = begin, from = begin;
    bool was_empty = false, found = true;
    gufo_status status = GUFO_OK;

    if (stage == s->p->stage_count)
        return pass_on(s, begin, end, error);
    while (status == GUFO_OK && from <= end) {
        const size_t *match = pcre2_get_ovector_pointer(s->match);
        size_t first, last;

        status = find_match(s, stage, begin, end, from, was_empty, &found, error);
        if (status != GUFO_OK || !found)
            break;
        first = begin + match[0];
        last = begin + match[1];
        if (first > piece)
            status = run_stage(s, stage + 1, piece, first, error);
        if (last > first && status == GUFO_OK)
            status = run_stage(s, stage + 1, first, last, error);
        was_empty = first == last;
        piece = from = last;
    }
    if (status == GUFO_OK && piece < end)
        status = run_stage(s, stage + 1, piece, end, error);
    return status;
}

gufo_status pretokenizer_run(pre_scratch *s, gufo_str text, piece_sink *sink, void *context,
                             gufo_error *error)
{
    bool clean;

    s->text = text;
    s->at = 0;
    s->sink = sink;
    s->sink_context = context;
    if (text.len == 0)
        return GUFO_OK;
    if (!collapse(s, text, &clean) || (!clean && !rewrite(s, text)))
        return fail_memory(error);
    return run_stage(s, 0, 0, s->collapsed.len, error);
}
