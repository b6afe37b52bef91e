/* The pre-tokenizer of a tokenizer.json, run on a text: where the pieces that it leaves begin and end.
 *
 * ByteLevel writes each byte as a character of an alphabet, and later steps may cut between the bytes of one
 * character of the text.  The origin of each is that whole character: which byte it is follows from how many before it
 * have the same origin. */
#include "import/tokenizers/pre_cuts.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/pre_tokenizer.h"

#define ALL_STEPS UINT64_C(1000000000) /* of expressions, for all texts: half a second */

struct pre_cutter {
    gufo_allocator allocator;
    pre_tokenizer *steps;
    expression_scratch *scratch;
    text_pieces pieces, spare;
};

/* ---- making --------------------------------------------------------------------------------- */

/* Readers put no space before texts, whatever they cut; the step is of a copy. */
static gufo_status drop_prefix(step_reading *r, void *context)
{
    (void)context;
    return !step_is(r, "ByteLevel") ||
                   json_object_set_new((json_t *)r->step, "add_prefix_space", json_false()) == 0
               ? GUFO_OK
               : step_no_memory(r);
}

static pre_tokenizer *make_steps(tokenizer_reading *r, gufo_error *error)
{
    json_t *copy = reading_copy_steps(r, PRE_TOKENIZER, drop_prefix, NULL);
    pre_tokenizer *steps = NULL;

    if (copy == NULL && tokenizer_file_part(r->json, "pre_tokenizer") != NULL)
        (void)fail_memory(error);
    else
        steps = pre_tokenizer_new(copy, NULL, r->allocator, error);
    json_decref(copy);
    return steps;
}

pre_cutter *pre_cutter_new(tokenizer_reading *r)
{
    pre_cutter *c = mem_object(r->allocator, sizeof *c, r->error);
    gufo_error reason = {.code = GUFO_E_MEMORY};

    if (c == NULL)
        return NULL;
    c->pieces.text = c->spare.text = (work_text){.allocator = &c->allocator, .keeps_origins = true};
    c->steps = make_steps(r, &reason);
    if (c->steps != NULL)
        c->scratch = expression_scratch_new(&c->allocator, &reason);
    if (c->scratch != NULL) {
        expression_allow(c->scratch, ALL_STEPS);
        return c;
    }
    (void)fail_as(r->error, &reason);
    pre_cutter_free(c);
    return NULL;
}

void pre_cutter_free(pre_cutter *c)
{
    gufo_allocator allocator;

    if (c == NULL)
        return;
    allocator = c->allocator;
    pre_tokenizer_free(c->steps);
    expression_scratch_free(c->scratch);
    text_pieces_free(&c->pieces);
    text_pieces_free(&c->spare);
    mem_free(&allocator, c);
}

/* ---- running -------------------------------------------------------------------------------- */

static bool is_same(const work_text *t, size_t a, size_t b)
{
    return t->origins[a].begin == t->origins[b].begin && t->origins[a].end == t->origins[b].end;
}

/* The places in the original text where pieces that begin at, or end before, a byte do so. */
static size_t begin_of(const work_text *t, size_t at)
{
    size_t place = t->origins[at].begin;

    for (size_t i = at; i-- > 0 && is_same(t, i, at);)
        place += ((uint8_t)t->data[i] & 0xC0) != 0x80;
    return place < t->origins[at].end ? place : t->origins[at].end;
}

static size_t end_of(const work_text *t, size_t at)
{
    return at == t->len || !is_same(t, at - 1, at) ? t->origins[at - 1].end : begin_of(t, at);
}

gufo_status pre_cutter_run(pre_cutter *c, gufo_str text, cut_set *cuts, gufo_error *error)
{
    text_pieces *pieces = &c->pieces;
    gufo_status status;

    memset(cuts, 0, sizeof *cuts);
    pieces->count = pieces->text.len = 0;
    if (text.len == 0 || text.len > LONGEST_PROBE)
        return refuse(error, GUFO_E_ARGUMENT, "the text is empty or too long");
    if (!work_text_take(&pieces->text, text) || !text_pieces_add(pieces, 0, pieces->text.len))
        return fail_memory(error);
    status = pre_tokenizer_run(c->steps, c->scratch, pieces, &c->spare, error);
    for (uint64_t i = 0; status == GUFO_OK && i < pieces->count; i++) {
        cuts->at[begin_of(&pieces->text, pieces->list[i].begin)] = true;
        cuts->at[end_of(&pieces->text, pieces->list[i].end)] = true;
    }
    cuts->at[0] = cuts->at[text.len] = false;
    return status;
}
