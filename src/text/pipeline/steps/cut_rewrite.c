/* Steps that rewrite pieces: ByteLevel and Metaspace. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/pipeline/steps/cut_step.h"
#include "text/vocabulary/byte_alphabet.h"

#define GPT2_EXPRESSION \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

static void free_block(void *step, const gufo_allocator *allocator)
{
    mem_free(allocator, step);
}

/* Puts a text before a piece, whose first character it stands for. */
static bool put_before(cut_run *r, text_piece piece, gufo_str text)
{
    size_t size;

    (void)utf8_next(r->in->text.data + piece.begin, &size);
    return work_text_put(&r->out->text, &r->in->text, piece.begin, piece.begin + size, text);
}

/* ---- ByteLevel: a space before each piece, pieces of GPT-2, bytes --------------------------------- */

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

/* ---- Metaspace: spaces are a visible character, and pieces begin with it --------------------------- */

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
