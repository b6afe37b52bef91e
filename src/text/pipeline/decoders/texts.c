/* Decoders of texts: Replace, Strip, Fuse. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "text/pipeline/decoders/decoding.h"

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
    return token.len == 0
               ? GUFO_OK
               : decoder_put_replaced(step->pattern, d, token, step->text, &d->out.bytes);
}

const decoder_kind decoder_replace = {
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

const decoder_kind decoder_strip = {.type = "Strip", .read = read_strip, .run_token = run_strip};

/* ---- Fuse ----------------------------------------------------------------------------------- */

static gufo_status run_fuse(const decoder_step *step, decoding *d)
{
    gufo_str all = {d->in.bytes.data, d->in.bytes.len};

    (void)step;
    return token_put(&d->out, all) && token_end(&d->out) ? GUFO_OK : fail_memory(d->error);
}

const decoder_kind decoder_fuse = {.type = "Fuse", .run = run_fuse};
