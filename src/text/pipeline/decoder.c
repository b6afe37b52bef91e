/* Decoders: the list of tokens goes from step to step; at the end it is joined. */
#include "text/pipeline/decoder.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/decoders/decoding.h"

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
