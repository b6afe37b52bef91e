/* Decoders: the list of tokens goes from step to step; at the end it is joined. */
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/vocab.h"
#include "text/pipeline/steps/decoder.h"
#include "text/pipeline/steps/step_reading.h"
#include "text/characters/byte_alphabet.h"
#include "text/characters/characters.h"

#include <string.h>

/* Texts, one behind the other. */
typedef struct token_texts {
    gufo_text bytes;
    size_t *ends;
    uint64_t count, room;
} token_texts;

static inline gufo_str token_at(const token_texts *t, uint64_t index)
{
    size_t begin = index == 0 ? 0 : t->ends[index - 1];

    return (gufo_str){t->bytes.data + begin, t->ends[index] - begin};
}

static inline bool token_put(token_texts *t, gufo_str text)
{
    return text_add(&t->bytes, text.data, text.len);
}

/* A run of a decoder: a step makes `out` of `in`. */
typedef struct decoding {
    token_texts in, out;
    gufo_text spare[2];
    expression_scratch *scratch;
    gufo_error *error;
} decoding;

typedef struct decoder_step decoder_step;

/* What a type of the file does: a row of functions. */
typedef struct decoder_kind {
    const char *type;
    void (*read)(step_reading *r, decoder_step *step); /* failures are r->status */
    /* Appends what becomes of one token; or, where this is NULL, all tokens. */
    gufo_status (*run_token)(const decoder_step *step, decoding *d, uint64_t index, gufo_str token);
    gufo_status (*run)(const decoder_step *step, decoding *d);
} decoder_kind;

/* Each kind uses what it needs. */
struct decoder_step {
    const decoder_kind *kind;
    expression *pattern, *delimiter;
    gufo_str text; /* its own */
    uint64_t start, stop;
    bool cleanup, keeps_first;
};

/* ---- what steps share ----------------------------------------------------------------------- */

/* What was appended to t->bytes is a token; false without memory. */
static bool token_end(token_texts *t)
{
    size_t *ends =
        mem_grow(mem_allocator(t->bytes.allocator), t->ends, t->count, &t->room, sizeof *ends);

    if (ends == NULL)
        return false;
    t->ends = ends;
    ends[t->count++] = t->bytes.len;
    return true;
}

/* Appends a text with `content` for all matches. */
static gufo_status put_replaced(const expression *pattern, decoding *d, gufo_str text,
                                gufo_str content, gufo_text *out)
{
    expression_match m = {0};
    size_t at = 0;
    gufo_status status = expression_begin(pattern, d->scratch, text, d->error);

    while (status == GUFO_OK) {
        status = expression_next(pattern, d->scratch, &m, d->error);
        if (status != GUFO_OK || !m.found)
            break;
        if (!text_add(out, text.data + at, m.begin - at) ||
            !text_add(out, content.data, content.len))
            return fail_memory(d->error);
        at = m.end;
    }
    if (status == GUFO_OK && !text_add(out, text.data + at, text.len - at))
        return fail_memory(d->error);
    return status;
}

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static bool put_replacement(gufo_text *out)
{
    return text_add(out, REPLACEMENT, sizeof REPLACEMENT - 1);
}

/* ---- ByteLevel ------------------------------------------------------------------------------ */

static void read_byte_level(step_reading *r, decoder_step *step)
{
    (void)step;
    (void)step_flag(r, "add_prefix_space");
    (void)step_flag(r, "trim_offsets");
}

/* The bytes of a token; or, where some character is not of the alphabet, its text. */
static bool put_bytes(gufo_str token, gufo_text *out)
{
    size_t before = out->len, size;

    if (!text_reserve(out, token.len))
        return false;
    for (size_t at = 0; at < token.len; at += size) {
        int byte = byte_alphabet_byte(lenient_decode(token.data + at, token.len - at, &size));

        if (byte < 0) {
            out->len = before;
            return text_add(out, token.data, token.len);
        }
        text_put_byte(out, (char)byte);
    }
    return true;
}

/* The length of what begins like a character, but is none: the longest begin of a valid sequence. */
static size_t broken_length(gufo_str text)
{
    static const struct {
        uint8_t first, last;     /* of the first byte */
        uint8_t lowest, highest; /* of the second one */
        uint8_t size;
    } forms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                 {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                 {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    const uint8_t *bytes = (const uint8_t *)text.data;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t len = 1;

        if (bytes[0] < forms[i].first || bytes[0] > forms[i].last)
            continue;
        if (text.len == 1 || bytes[1] < forms[i].lowest || bytes[1] > forms[i].highest)
            return 1;
        while (len < text.len && len < forms[i].size && (bytes[len] & 0xC0) == 0x80)
            len++;
        return len;
    }
    return 1;
}

/* Bytes as text: what is broken is U+FFFD, one for each begin of a sequence. */
static bool put_text(gufo_str bytes, gufo_text *out)
{
    while (bytes.len > 0) {
        size_t valid = gufo_utf8_valid_prefix(bytes);

        if (!text_add(out, bytes.data, valid))
            return false;
        bytes = str_from(bytes, valid);
        if (bytes.len == 0)
            break;
        if (!put_replacement(out))
            return false;
        bytes = str_from(bytes, broken_length(bytes));
    }
    return true;
}

static gufo_status run_byte_level(const decoder_step *step, decoding *d)
{
    gufo_text *bytes = &d->spare[0];

    (void)step;
    bytes->len = 0;
    for (uint64_t i = 0; i < d->in.count; i++)
        if (!put_bytes(token_at(&d->in, i), bytes))
            return fail_memory(d->error);
    return put_text((gufo_str){bytes->data, bytes->len}, &d->out.bytes) && token_end(&d->out)
               ? GUFO_OK
               : fail_memory(d->error);
}

static const decoder_kind decoder_byte_level = {
    .type = "ByteLevel", .read = read_byte_level, .run = run_byte_level};

/* ---- ByteFallback --------------------------------------------------------------------------- */

/* The byte that a token such as <0x0A> means; -1: it means none.  (The library reads "+A" as a number, too.) */
static int byte_of(gufo_str token)
{
    int value = 0;

    if (token.len != 6 || !str_begins(token, "<0x") || token.data[5] != '>')
        return -1;
    for (size_t i = 3; i < 5; i++) {
        int digit = hex_digit(token.data[i]);

        if (token.data[i] == '+' && i == 3)
            continue;
        if (digit < 0)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

/* Bytes in a row: text if they are, else a replacement for each. */
static bool put_run(gufo_text *run, token_texts *out)
{
    gufo_str bytes = {run->data, run->len};
    bool enough = true;

    if (bytes.len == 0)
        return true;
    run->len = 0;
    if (gufo_utf8_valid_prefix(bytes) == bytes.len)
        return token_put(out, bytes) && token_end(out);
    for (size_t i = 0; i < bytes.len && enough; i++)
        enough = put_replacement(&out->bytes) && token_end(out);
    return enough;
}

static gufo_status run_byte_fallback(const decoder_step *step, decoding *d)
{
    gufo_text *run = &d->spare[0];
    bool enough = true;

    (void)step;
    run->len = 0;
    for (uint64_t i = 0; i < d->in.count && enough; i++) {
        gufo_str token = token_at(&d->in, i);
        int byte = byte_of(token);

        enough = byte >= 0
                     ? text_add(run, &(char){(char)byte}, 1)
                     : put_run(run, &d->out) && token_put(&d->out, token) && token_end(&d->out);
    }
    return enough && put_run(run, &d->out) ? GUFO_OK : fail_memory(d->error);
}

static const decoder_kind decoder_byte_fallback = {.type = "ByteFallback",
                                                   .run = run_byte_fallback};

/* ---- Replace -------------------------------------------------------------------------------- */

static void read_replace(step_reading *r, decoder_step *step)
{
    step->pattern = step_pattern(r, "pattern");
    step->text = step_copy(r, step_text(r, "content"));
}

/* Nothing matches in an empty token. */
static gufo_status run_replace(const decoder_step *step, decoding *d, uint64_t index,
                               gufo_str token)
{
    (void)index;
    return token.len == 0 ? GUFO_OK
                          : put_replaced(step->pattern, d, token, step->text, &d->out.bytes);
}

static const decoder_kind decoder_replace = {
    .type = "Replace", .read = read_replace, .run_token = run_replace};

/* ---- Strip ---------------------------------------------------------------------------------- */

static void read_strip(step_reading *r, decoder_step *step)
{
    step->text = step_copy(r, step_character(r, "content"));
    step->start = step_count(r, "start");
    step->stop = step_count(r, "stop");
}

static bool begins_so(const decoder_step *step, gufo_str token)
{
    return token.len >= step->text.len && memcmp(token.data, step->text.data, step->text.len) == 0;
}

/* (The library aborts where a token is shorter than what may be stripped.) */
static gufo_status run_strip(const decoder_step *step, decoding *d, uint64_t index, gufo_str token)
{
    size_t size = step->text.len;

    (void)index;
    for (uint64_t i = 0; i < step->start && begins_so(step, token); i++)
        token = str_from(token, size);
    for (uint64_t i = 0;
         i < step->stop && token.len >= size && begins_so(step, str_from(token, token.len - size));
         i++)
        token.len -= size;
    return token_put(&d->out, token) ? GUFO_OK : fail_memory(d->error);
}

static const decoder_kind decoder_strip = {
    .type = "Strip", .read = read_strip, .run_token = run_strip};

/* ---- Fuse ----------------------------------------------------------------------------------- */

static gufo_status run_fuse(const decoder_step *step, decoding *d)
{
    gufo_str all = {d->in.bytes.data, d->in.bytes.len};

    (void)step;
    return token_put(&d->out, all) && token_end(&d->out) ? GUFO_OK : fail_memory(d->error);
}

static const decoder_kind decoder_fuse = {.type = "Fuse", .run = run_fuse};

static const gufo_str space = {" ", 1}, nothing = {"", 0};

/* ---- Metaspace ------------------------------------------------------------------------------ */

static void read_metaspace(step_reading *r, decoder_step *step)
{
    gufo_str scheme = step_text_or(r, "prepend_scheme", "always");

    step->text = step_copy(r, step_character(r, "replacement"));
    step->keeps_first = gufo_str_equal(scheme, gufo_str_of("never"));
    (void)step_flag_or(r, "split", true);
    if (!step->keeps_first && !gufo_str_equal(scheme, gufo_str_of("always")) &&
        !gufo_str_equal(scheme, gufo_str_of("first")))
        (void)step_wrong(r, "no \"prepend_scheme\" is called %s", QUOTED(scheme));
    if (!step_flag_or(r, "add_prefix_space", true) && !step->keeps_first)
        (void)step_wrong(r,
                         "\"add_prefix_space\" is false, but \"prepend_scheme\" is not \"never\"");
}

/* In the first token, what looks like a space was put there. */
static gufo_status run_metaspace(const decoder_step *step, decoding *d, uint64_t index,
                                 gufo_str token)
{
    gufo_str blank = index == 0 && !step->keeps_first ? nothing : space;
    const char *found;

    while ((found = str_search(token, step->text)) != NULL) {
        size_t before = (size_t)(found - token.data);

        if (!text_add(&d->out.bytes, token.data, before) || !token_put(&d->out, blank))
            return fail_memory(d->error);
        token = str_from(token, before + step->text.len);
    }
    return token_put(&d->out, token) ? GUFO_OK : fail_memory(d->error);
}

static const decoder_kind decoder_metaspace = {
    .type = "Metaspace", .read = read_metaspace, .run_token = run_metaspace};

/* ---- cleanup -------------------------------------------------------------------------------- */

static bool replace_text(gufo_str text, const char *found, const char *content, gufo_text *out)
{
    const char *at;

    while ((at = str_search(text, gufo_str_of(found))) != NULL) {
        size_t before = (size_t)(at - text.data);

        if (!text_add(out, text.data, before) || !text_add(out, content, strlen(content)))
            return false;
        text = str_from(text, before + strlen(found));
    }
    return text_add(out, text.data, text.len);
}

/* Removes spaces that tokens put before punctuation; *text becomes a view of d->spare.  False without
 * memory. */
static bool clean_up(decoding *d, gufo_str *text)
{
    static const char *const rules[][2] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                                           {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                                           {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        gufo_text *out = &d->spare[text->data == d->spare[0].data];

        if (str_search(*text, gufo_str_of(rules[i][0])) == NULL)
            continue;
        out->len = 0;
        if (!replace_text(*text, rules[i][0], rules[i][1], out))
            return false;
        *text = (gufo_str){out->data, out->len};
    }
    return true;
}

/* ---- WordPiece ------------------------------------------------------------------------------ */

static void read_wordpiece(step_reading *r, decoder_step *step)
{
    step->text = step_copy(r, step_text(r, "prefix"));
    step->cleanup = step_flag(r, "cleanup");
}

static gufo_status run_wordpiece(const decoder_step *step, decoding *d, uint64_t index,
                                 gufo_str token)
{
    gufo_text *spelled = &d->spare[0];
    bool inside = index > 0 && token.len >= step->text.len &&
                  memcmp(token.data, step->text.data, step->text.len) == 0;

    if (inside)
        token = str_from(token, step->text.len);
    spelled->len = 0;
    if ((index > 0 && !inside && !text_add(spelled, " ", 1)) ||
        !text_add(spelled, token.data, token.len))
        return fail_memory(d->error);
    token = (gufo_str){spelled->data, spelled->len};
    if (step->cleanup && !clean_up(d, &token))
        return fail_memory(d->error);
    return token_put(&d->out, token) ? GUFO_OK : fail_memory(d->error);
}

static const decoder_kind decoder_wordpiece = {
    .type = "WordPiece", .read = read_wordpiece, .run_token = run_wordpiece};

/* ---- BPEDecoder ----------------------------------------------------------------------------- */

static void read_literal(step_reading *r, const char *name, expression **out)
{
    gufo_str text = step_text(r, name);
    gufo_error reason;

    if (r->status != GUFO_OK)
        return;
    *out = expression_new(text, true, r->allocator, &reason);
    if (*out == NULL)
        r->status = fail_as(r->error, &reason);
}

static void read_bpe(step_reading *r, decoder_step *step)
{
    read_literal(r, "suffix", &step->pattern);
}

static gufo_status run_bpe(const decoder_step *step, decoding *d, uint64_t index, gufo_str token)
{
    return put_replaced(step->pattern, d, token, index + 1 == d->in.count ? nothing : space,
                        &d->out.bytes);
}

static const decoder_kind decoder_bpe = {
    .type = "BPEDecoder", .read = read_bpe, .run_token = run_bpe};

/* ---- CTC ------------------------------------------------------------------------------------ */

static void read_ctc(step_reading *r, decoder_step *step)
{
    read_literal(r, "pad_token", &step->pattern);
    read_literal(r, "word_delimiter_token", &step->delimiter);
    step->cleanup = step_flag(r, "cleanup");
}

static gufo_status put_ctc(const decoder_step *step, decoding *d, gufo_str token)
{
    gufo_text *unpadded = &d->spare[0];
    gufo_status status;

    unpadded->len = 0;
    status = put_replaced(step->pattern, d, token, nothing, unpadded);
    if (status != GUFO_OK)
        return status;
    token = (gufo_str){unpadded->data, unpadded->len};
    if (step->cleanup && !clean_up(d, &token))
        return fail_memory(d->error);
    if (step->cleanup)
        return put_replaced(step->delimiter, d, token, space, &d->out.bytes);
    return token_put(&d->out, token) ? GUFO_OK : fail_memory(d->error);
}

/* A token that repeats the one before is one with it; empty ones vanish. */
static gufo_status run_ctc(const decoder_step *step, decoding *d)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < d->in.count && status == GUFO_OK; i++) {
        gufo_str token = token_at(&d->in, i);
        size_t before = d->out.bytes.len;

        if (i > 0 && gufo_str_equal(token, token_at(&d->in, i - 1)))
            continue;
        status = put_ctc(step, d, token);
        if (status == GUFO_OK && d->out.bytes.len > before && !token_end(&d->out))
            return fail_memory(d->error);
    }
    return status;
}

static const decoder_kind decoder_ctc = {.type = "CTC", .read = read_ctc, .run = run_ctc};

struct decoder {
    gufo_allocator allocator;
    decoder_step *steps;
    uint64_t count, room;
    bool joins_with_spaces; /* there is no decoder */
};

enum { KINDS = 9 };

static const decoder_kind *const kinds[KINDS] = {
    &decoder_byte_level, &decoder_byte_fallback, &decoder_metaspace,
    &decoder_wordpiece,  &decoder_bpe,           &decoder_ctc,
    &decoder_replace,    &decoder_strip,         &decoder_fuse,
};

/* ---- opening -------------------------------------------------------------------------------- */

static gufo_status add_step(step_reading *r, void *context)
{
    decoder *d = context;
    const decoder_kind *kind = NULL;
    decoder_step *steps;

    for (size_t i = 0; i < KINDS && kind == NULL; i++)
        if (step_is(r, kinds[i]->type))
            kind = kinds[i];
    if (kind == NULL)
        return step_refuse(r, GUFO_E_TYPE, "no decoder has this type");
    steps = mem_grow(&d->allocator, d->steps, d->count, &d->room, sizeof *steps);
    if (steps == NULL)
        return step_no_memory(r);
    d->steps = steps;
    steps[d->count] = (decoder_step){.kind = kind};
    d->count++;
    if (kind->read != NULL)
        kind->read(r, &steps[d->count - 1]);
    return r->status;
}

decoder *decoder_new(const json_t *part, const json_places *places, const gufo_allocator *allocator,
                     gufo_error *error)
{
    decoder *d = mem_object(allocator, sizeof *d, error);
    step_reading r = {.part = "decoder", .places = places, .error = error};

    if (d == NULL)
        return NULL;
    d->joins_with_spaces = part == NULL || json_is_null(part);
    r.allocator = &d->allocator;
    if (step_each(&r, part, "decoders", add_step, d) == GUFO_OK)
        return d;
    decoder_free(d);
    return NULL;
}

void decoder_free(decoder *d)
{
    gufo_allocator allocator;

    if (d == NULL)
        return;
    allocator = d->allocator;
    for (uint64_t i = 0; i < d->count; i++) {
        expression_free(d->steps[i].pattern);
        expression_free(d->steps[i].delimiter);
        mem_free(&allocator, (void *)d->steps[i].text.data);
    }
    mem_free(&allocator, d->steps);
    mem_free(&allocator, d);
}

/* ---- running -------------------------------------------------------------------------------- */

static void empty(token_texts *t)
{
    t->bytes.len = 0;
    t->count = 0;
}

static void free_texts(token_texts *t)
{
    mem_free(mem_allocator(t->bytes.allocator), t->ends);
    gufo_text_free(&t->bytes);
}

static gufo_status run_tokens(const decoder_step *step, decoding *d)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < d->in.count && status == GUFO_OK; i++) {
        status = step->kind->run_token(step, d, i, token_at(&d->in, i));
        if (status == GUFO_OK && !token_end(&d->out))
            return fail_memory(d->error);
    }
    return status;
}

static gufo_status run_steps(const decoder *d, decoding *run)
{
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < d->count && status == GUFO_OK; i++) {
        const decoder_step *step = &d->steps[i];
        token_texts made;

        empty(&run->out);
        status = step->kind->run_token != NULL ? run_tokens(step, run) : step->kind->run(step, run);
        made = run->out;
        run->out = run->in;
        run->in = made;
    }
    return status;
}

static gufo_status take_tokens(decoding *run, const gufo_str *tokens, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!token_put(&run->in, tokens[i]) || !token_end(&run->in))
            return fail_memory(run->error);
    return GUFO_OK;
}

static gufo_status join(const decoder *d, decoding *run, gufo_text *out)
{
    bool enough = true;

    if (!d->joins_with_spaces)
        return text_add(out, run->in.bytes.data, run->in.bytes.len) ? GUFO_OK
                                                                    : fail_memory(run->error);
    for (uint64_t i = 0; i < run->in.count && enough; i++) {
        gufo_str token = token_at(&run->in, i);

        enough = (i == 0 || text_add(out, " ", 1)) && text_add(out, token.data, token.len);
    }
    return enough ? GUFO_OK : fail_memory(run->error);
}

gufo_status decoder_run(const decoder *d, expression_scratch *s, const gufo_str *tokens,
                        size_t count, gufo_text *out, gufo_error *error)
{
    decoding run = {.scratch = s, .error = error};
    gufo_status status;

    run.in.bytes.allocator = run.out.bytes.allocator = out->allocator;
    run.spare[0].allocator = run.spare[1].allocator = out->allocator;
    status = take_tokens(&run, tokens, count);
    if (status == GUFO_OK)
        status = run_steps(d, &run);
    if (status == GUFO_OK)
        status = join(d, &run, out);
    free_texts(&run.in);
    free_texts(&run.out);
    gufo_text_free(&run.spare[0]);
    gufo_text_free(&run.spare[1]);
    return status;
}
