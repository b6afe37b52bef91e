/* Regular expressions of tokenizer.json, run by PCRE2.
 *
 * What an expression can tell apart are its sets of characters.  All characters beyond ASCII that are
 * in the same sets are one class, and a class is one byte from 80h on; ASCII characters are themselves.
 * The text is collapsed to one byte per character, and the expression is written for these bytes:
 *
 *     ?\p{L}+|[^\s\p{L}]    80h: in neither set; 81h: letters; 82h: all others
 *     ?[A-Za-z\x81]+|[...]
 *
 * So matches do not depend on what PCRE2 knows of Unicode, and are found faster.  A text of ASCII alone is
 * matched where it is. */
#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/expressions/compiled.h"
#include "text/expressions/translation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- where a search need not look again ----------------------------------------------------- */

/* \s+$ that fails at a space of a run of spaces fails at the next one too: what \s+ may match there is less.
 * So a search that skips those places needs as many steps as the text has characters, not their square.
 *
 * The first element of each branch counts.  A run of a set without an end, and the begin of a line, say behind which
 * bytes a search need not look; any other element says nothing, and the search looks everywhere.  The expression is
 * read as the translation writes it for PCRE2: a byte is \xHH, a set [\xHH-\xHH...], a group (?:...). */

static const char line_begin[] = "(?:\\A|(?<=\\x0a)(?!\\z))"; /* as the translation writes ^ */

typedef struct branch_reader {
    gufo_str text;
    size_t at;
} branch_reader;

static void read_alternatives(branch_reader *r, bool repeats[256]);

static bool takes(branch_reader *r, const char *what)
{
    size_t len = strlen(what);

    if (r->text.len - r->at < len || memcmp(r->text.data + r->at, what, len) != 0)
        return false;
    r->at += len;
    return true;
}

static bool is_at(const branch_reader *r, char c)
{
    return r->at < r->text.len && r->text.data[r->at] == c;
}

/* \xHH */
static bool take_byte(branch_reader *r, unsigned *byte)
{
    uint64_t value = 0;
    bool is_byte = takes(r, "\\x") && str_hex(r->text, r->at, 2, &value) == 2;

    r->at += is_byte ? 2 : 0;
    *byte = (unsigned)value;
    return is_byte;
}

/* \xHH or [\xHH-\xHH...] */
static bool take_set(branch_reader *r, bool set[256])
{
    bool is_class = takes(r, "["), done;
    unsigned first, last;

    memset(set, false, 256);
    do {
        done = take_byte(r, &first);
        last = first;
        if (done && is_class && takes(r, "-"))
            done = take_byte(r, &last);
        for (unsigned byte = first; done && byte <= last; byte++)
            set[byte] = true;
    } while (done && is_class && !takes(r, "]"));
    return done;
}

/* Whether what comes next has no largest count. */
static bool take_endless(branch_reader *r)
{
    const char *brace;

    if (is_at(r, '*') || is_at(r, '+'))
        return true;
    if (!is_at(r, '{'))
        return false;
    brace = memchr(r->text.data + r->at, '}', r->text.len - r->at);
    return brace != NULL && brace[-1] == ',';
}

static bool is_quantified(const branch_reader *r)
{
    return is_at(r, '*') || is_at(r, '+') || is_at(r, '?') || is_at(r, '{');
}

/* The first element of a branch. */
static void read_first(branch_reader *r, bool repeats[256])
{
    branch_reader ahead = *r;

    memset(repeats, false, 256);
    if (takes(&ahead, line_begin) || takes(&ahead, "\\A")) {
        memset(repeats, true, 256);
        repeats['\n'] = false;
        return;
    }
    if (!takes(&ahead, "(?:"))
        return;
    if (take_set(&ahead, repeats) && takes(&ahead, ")") && take_endless(&ahead))
        return;
    ahead = *r;
    (void)takes(&ahead, "(?:");
    read_alternatives(&ahead, repeats);
    if (!takes(&ahead, ")") || is_quantified(&ahead))
        memset(repeats, false, 256);
}

/* Up to the "|" or ")" behind a branch. */
static void skip_branch(branch_reader *r)
{
    for (unsigned depth = 0; r->at < r->text.len; r->at++) {
        char c = r->text.data[r->at];

        if (depth == 0 && (c == '|' || c == ')'))
            return;
        if (c == '\\' && r->at + 1 < r->text.len)
            r->at++;
        depth += c == '(';
        depth -= c == ')';
    }
}

static void read_alternatives(branch_reader *r, bool repeats[256])
{
    bool branch[256];

    memset(repeats, true, 256);
    do {
        read_first(r, branch);
        for (unsigned byte = 0; byte < 256; byte++)
            repeats[byte] = repeats[byte] && branch[byte];
        skip_branch(r);
    } while (takes(r, "|"));
}

/* Of an expression as PCRE2 gets it, without groups that capture: behind which bytes of the subject no match
 * begins if none began at that byte. */
static void find_repeats(const buffer *text, bool repeats[256])
{
    branch_reader r = {{(const char *)text->data, text->len}, 0};

    read_alternatives(&r, repeats);
}

enum { FIRST_CLASS = 0x80, MOST_CLASSES = 128, MASK_WORDS = 4 };

/* ---- classes -------------------------------------------------------------------------------- */

/* Where a set begins or ends. */
typedef struct set_edge {
    uint32_t at;
    unsigned set;
} set_edge;

/* Sets as bits. */
typedef struct set_mask {
    uint64_t words[MASK_WORDS];
} set_mask;

typedef struct classing {
    const translation *t;
    const gufo_allocator *allocator;
    set_edge *edges;
    uint64_t edge_count, edge_room;
    set_mask masks[MOST_CLASSES];
    unsigned count;
    uint8_t *flat; /* the byte of each code point */
    gufo_error *error;
} classing;

static int compare_edges(const void *a, const void *b)
{
    const set_edge *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static bool add_edge(classing *c, uint32_t at, unsigned set)
{
    set_edge *edges = mem_grow(c->allocator, c->edges, c->edge_count, &c->edge_room, sizeof *edges);

    if (edges == NULL)
        return false;
    c->edges = edges;
    edges[c->edge_count++] = (set_edge){at, set};
    return true;
}

static bool find_edges(classing *c)
{
    for (unsigned set = 0; set < c->t->set_count; set++) {
        const code_ranges *r = &c->t->sets[set];

        for (uint64_t i = 0; i < r->count; i++) {
            uint32_t first = r->list[i].first < FIRST_CLASS ? FIRST_CLASS : r->list[i].first;

            if (r->list[i].last >= FIRST_CLASS &&
                (!add_edge(c, first, set) || !add_edge(c, r->list[i].last + 1, set)))
                return false;
        }
    }
    if (c->edge_count > 0)
        qsort(c->edges, (size_t)c->edge_count, sizeof *c->edges, compare_edges);
    return true;
}

/* The class of the characters that are in these sets. */
static gufo_status find_class(classing *c, const set_mask *mask, uint8_t *class)
{
    unsigned i = 0;

    while (i < c->count && memcmp(&c->masks[i], mask, sizeof *mask) != 0)
        i++;
    if (i == MOST_CLASSES)
        return refuse(c->error, GUFO_E_LIMIT,
                      "a regular expression distinguishes more than %d classes of characters",
                      MOST_CLASSES);
    if (i == c->count)
        c->masks[c->count++] = *mask;
    *class = (uint8_t)(FIRST_CLASS + i);
    return GUFO_OK;
}

/* Fills `flat`. */
static gufo_status classify(classing *c)
{
    set_mask mask = {{0}};
    uint32_t from = FIRST_CLASS;

    for (uint32_t i = 0; i < FIRST_CLASS; i++)
        c->flat[i] = (uint8_t)i;
    for (uint64_t i = 0; i <= c->edge_count; i++) {
        uint32_t to = i < c->edge_count ? c->edges[i].at : LAST_CODE_POINT + 1;
        uint8_t class = 0;

        if (to > from) {
            gufo_status status = find_class(c, &mask, &class);

            if (status != GUFO_OK)
                return status;
            memset(c->flat + from, class, to - from);
            from = to;
        }
        if (i < c->edge_count)
            mask.words[c->edges[i].set / 64] ^= UINT64_C(1) << c->edges[i].set % 64;
    }
    return GUFO_OK;
}

/* Whether a set has the characters that a byte stands for. */
static bool set_has_byte(const classing *c, unsigned set, unsigned byte)
{
    if (byte < FIRST_CLASS)
        return code_ranges_has(&c->t->sets[set], byte);
    return byte - FIRST_CLASS < c->count &&
           (c->masks[byte - FIRST_CLASS].words[set / 64] >> set % 64 & 1) != 0;
}

static bool write_set(const classing *c, unsigned set, buffer *out)
{
    bool any = false, done = true;

    for (unsigned byte = 0; byte < 256 && done; byte++) {
        unsigned first = byte;
        char range[16];
        int len;

        if (!set_has_byte(c, set, byte))
            continue;
        while (byte < 255 && set_has_byte(c, set, byte + 1))
            byte++;
        len = snprintf(range, sizeof range, first == byte ? "%s\\x%02x" : "%s\\x%02x-\\x%02x",
                       any ? "" : "[", first, byte);
        done = buffer_append(out, range, (size_t)len);
        any = true;
    }
    return done && buffer_append(out, any ? "]" : "(?!)", any ? 1 : 4);
}

/* Writes the expression for bytes. */
static bool write_expression(const classing *c, buffer *out)
{
    const buffer *text = &c->t->text;
    bool done = true;

    for (size_t i = 0; i < text->len && done; i++)
        done = text->data[i] == SET_MARK ? write_set(c, text->data[++i], out)
                                         : buffer_append(out, text->data + i, 1);
    return done;
}

/* ---- making one ----------------------------------------------------------------------------- */

static gufo_status compile(expression *e, const buffer *text, gufo_error *error)
{
    pcre2_compile_context *context = pcre2_compile_context_create(e->memory);
    int code = PCRE2_ERROR_HEAP_FAILED;
    size_t at;
    char reason[128] = "";

    if (context == NULL)
        return fail_memory(error);
    e->code = pcre2_compile(text->len > 0 ? text->data : (PCRE2_SPTR) "", text->len,
                            PCRE2_USE_OFFSET_LIMIT, &code, &at, context);
    pcre2_compile_context_free(context);
    if (e->code != NULL) {
        /* Without this it is slower. */
        e->jit = pcre2_jit_compile(e->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD) == 0;
        find_repeats(text, e->repeats);
        return GUFO_OK;
    }
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return fail_memory(error);
    (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason);
    return refuse(error, GUFO_E_TYPE, "PCRE2 cannot match the regular expression %s: %s",
                  QUOTED(((gufo_str){e->text, e->len})), reason);
}

static gufo_status learn(expression *e, translation *t, gufo_error *error)
{
    classing c = {.t = t, .allocator = &e->allocator, .error = error};
    buffer text = {.allocator = &e->allocator};
    gufo_status status = GUFO_OK;

    c.flat = mem_alloc(&e->allocator, LAST_CODE_POINT + 1);
    if (c.flat == NULL || !find_edges(&c))
        status = fail_memory(error);
    if (status == GUFO_OK)
        status = classify(&c);
    if (status == GUFO_OK &&
        (!code_map_pack(&e->classes, c.flat, &e->allocator) || !write_expression(&c, &text)))
        status = fail_memory(error);
    mem_free(&e->allocator, c.flat);
    mem_free(&e->allocator, c.edges);
    if (status == GUFO_OK)
        status = compile(e, &text, error);
    buffer_free(&text);
    return status;
}

static gufo_status make(expression *e, gufo_str pattern, gufo_error *error)
{
    translation *t;
    gufo_status status;

    e->text = mem_text(&e->allocator, pattern);
    e->len = pattern.len;
    if (e->text == NULL)
        return fail_memory(error);
    if (e->literal)
        return GUFO_OK;
    e->memory = pcre2_memory_new(&e->allocator);
    t = mem_zero(&e->allocator, sizeof *t);
    if (e->memory == NULL || t == NULL) {
        mem_free(&e->allocator, t);
        return fail_memory(error);
    }
    t->allocator = &e->allocator;
    status = translate_expression(t, pattern, error);
    if (status == GUFO_OK)
        status = learn(e, t, error);
    translation_free(t);
    mem_free(&e->allocator, t);
    return status;
}

expression *expression_new(gufo_str pattern, bool literal, const gufo_allocator *allocator,
                           gufo_error *error)
{
    expression *e = mem_object(allocator, sizeof *e, error);

    if (e == NULL)
        return NULL;
    e->literal = literal;
    if (make(e, pattern, error) == GUFO_OK)
        return e;
    expression_free(e);
    return NULL;
}

void expression_free(expression *e)
{
    gufo_allocator allocator;

    if (e == NULL)
        return;
    allocator = e->allocator;
    pcre2_code_free(e->code);
    pcre2_general_context_free(e->memory);
    code_map_free(&e->classes, &allocator);
    mem_free(&allocator, e->text);
    mem_free(&allocator, e);
}
