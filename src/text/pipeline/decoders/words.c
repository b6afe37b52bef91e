/* Decoders of words: Metaspace, WordPiece, BPEDecoder, CTC. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "text/pipeline/decoders/decoding.h"

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

const decoder_kind decoder_metaspace = {
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

const decoder_kind decoder_wordpiece = {
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
    return decoder_put_replaced(step->pattern, d, token, index + 1 == d->in.count ? nothing : space,
                                &d->out.bytes);
}

const decoder_kind decoder_bpe = {.type = "BPEDecoder", .read = read_bpe, .run_token = run_bpe};

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
    status = decoder_put_replaced(step->pattern, d, token, nothing, unpadded);
    if (status != GUFO_OK)
        return status;
    token = (gufo_str){unpadded->data, unpadded->len};
    if (step->cleanup && !clean_up(d, &token))
        return fail_memory(d->error);
    if (step->cleanup)
        return decoder_put_replaced(step->delimiter, d, token, space, &d->out.bytes);
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

const decoder_kind decoder_ctc = {.type = "CTC", .read = read_ctc, .run = run_ctc};
