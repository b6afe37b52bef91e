/* The pre-tokenizer of a tokenizer.json: a list of steps, each of which cuts the pieces that the one
 * before left, or rewrites them. */
#include "text/pipeline/steps/pre_tokenizer.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/steps/cut_step.h"

/* A text may become so many times as long, and so much longer: of several steps each may double it. */
enum { MOST_GROWTH = 32 };
#define MORE_GROWTH ((uint64_t)64 << 20)

struct pre_tokenizer {
    gufo_allocator allocator;
    cut_steps steps;
};

static const cut_type types[] = {
    {"Split", cut_add_split},
    {"ByteLevel", cut_add_byte_level},
    {"Metaspace", cut_add_metaspace},
    {"Whitespace", cut_add_words},
    {"WhitespaceSplit", cut_add_white_space},
    {"Punctuation", cut_add_punctuation},
    {"Digits", cut_add_digits},
    {"BertPreTokenizer", cut_add_bert},
    {"CharDelimiterSplit", cut_add_delimiter},
    {"UnicodeScripts", cut_add_scripts},
    {"FixedLength", cut_add_fixed_length},
};

/* ---- pieces --------------------------------------------------------------------------------- */

static void swap_lists(text_pieces *a, text_pieces *b)
{
    text_pieces other = *a;

    a->list = b->list;
    a->count = b->count;
    a->room = b->room;
    b->list = other.list;
    b->count = other.count;
    b->room = other.room;
}

/* ---- reading -------------------------------------------------------------------------------- */

static gufo_status take_type(step_reading *r, void *context)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (gufo_str_equal(r->type, gufo_str_of(types[i].type)))
            return types[i].add(r, context);
    return step_refuse(r, GUFO_E_TYPE, "no pre-tokenizer has this type");
}

pre_tokenizer *pre_tokenizer_new(const json_t *part, const json_places *places,
                                 const gufo_allocator *allocator, gufo_error *error)
{
    pre_tokenizer *p = mem_object(allocator, sizeof *p, error);
    step_reading r = {.part = "pre_tokenizer", .places = places, .error = error};

    if (p == NULL)
        return NULL;
    r.allocator = p->steps.allocator = &p->allocator;
    if (step_each(&r, part, "pretokenizers", take_type, &p->steps) == GUFO_OK)
        return p;
    pre_tokenizer_free(p);
    return NULL;
}

void pre_tokenizer_free(pre_tokenizer *p)
{
    gufo_allocator allocator;

    if (p == NULL)
        return;
    allocator = p->allocator;
    for (uint64_t i = 0; i < p->steps.count; i++)
        if (p->steps.list[i].step != NULL)
            p->steps.list[i].kind->free(p->steps.list[i].step, &allocator);
    mem_free(&allocator, p->steps.list);
    mem_free(&allocator, p);
}

bool pre_tokenizer_needs_origins(const pre_tokenizer *p)
{
    return p->steps.needs_origins;
}

/* ---- running -------------------------------------------------------------------------------- */

gufo_status pre_tokenizer_run(const pre_tokenizer *p, expression_scratch *s, text_pieces *pieces,
                              text_pieces *spare, gufo_error *error)
{
    const uint64_t most = MOST_GROWTH * (uint64_t)pieces->text.len + MORE_GROWTH;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < p->steps.count && pieces->count > 0 && status == GUFO_OK; i++) {
        const cut_kind *kind = p->steps.list[i].kind;
        cut_run r = {pieces, spare, s, error};

        spare->count = 0;
        work_text_clear(&spare->text, &pieces->text);
        status = kind->run(p->steps.list[i].step, &r);
        swap_lists(pieces, spare);
        if (kind->rewrites)
            work_text_swap(&pieces->text, &spare->text);
        if (status == GUFO_OK && pieces->text.len > most)
            status = refuse(error, GUFO_E_LIMIT,
                            "the pre-tokenizer makes more than %s bytes of a text", GROUPED(most));
    }
    return status;
}
