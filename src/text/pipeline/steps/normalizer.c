/* The normalizer of a tokenizer.json: a list of steps, each of which rewrites the text.
 *
 * Sequences are flattened, and a BertNormalizer is the steps that it stands for. */
#include "text/pipeline/steps/normalizer.h"

#include "base/error.h"
#include "base/memory.h"
#include "text/pipeline/steps/normal_step.h"

/* A text may become so many times as long, and so much longer. */
enum { MOST_GROWTH = 32 };
#define MORE_GROWTH ((uint64_t)64 << 20)

typedef struct normal_step {
    const normal_kind *kind;
    void *step;
} normal_step;

struct normalizer {
    gufo_allocator allocator;
    normal_step *steps;
    uint64_t count, room;
};

static const struct {
    const normal_kind *kind;
} kinds[] = {
    {&normal_forms[0]},  {&normal_forms[1]},      {&normal_forms[2]}, {&normal_forms[3]},
    {&normal_lowercase}, {&normal_strip_accents}, {&normal_nmt},      {&normal_byte_level},
    {&normal_strip},     {&normal_replace_step},  {&normal_prepend},  {&normal_precompiled},
};

/* ---- reading -------------------------------------------------------------------------------- */

static gufo_status add_step(normalizer *n, const normal_kind *kind, step_reading *r)
{
    normal_step *steps = mem_grow(&n->allocator, n->steps, n->count, &n->room, sizeof *steps);

    if (steps == NULL)
        return step_no_memory(r);
    n->steps = steps;
    steps[n->count] = (normal_step){kind, kind->read != NULL ? kind->read(r) : NULL};
    n->count++;
    return r->status;
}

static gufo_status add_bert(normalizer *n, step_reading *r)
{
    bool clean = step_flag(r, "clean_text"), spaces = step_flag(r, "handle_chinese_chars");
    bool lowercase = step_flag(r, "lowercase");
    bool accents = step_flag_or(r, "strip_accents", lowercase);
    const struct {
        bool has;
        const normal_kind *kind;
    } parts[] = {{clean, &normal_bert_clean},
                 {spaces, &normal_bert_spaces},
                 {accents, &normal_forms[1]},
                 {accents, &normal_bert_accents},
                 {lowercase, &normal_lowercase}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts && r->status == GUFO_OK; i++)
        if (parts[i].has)
            r->status = add_step(n, parts[i].kind, r);
    return r->status;
}

static gufo_status take_kind(step_reading *r, void *context)
{
    normalizer *n = context;

    if (gufo_str_equal(r->type, gufo_str_of("BertNormalizer")))
        return add_bert(n, r);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (gufo_str_equal(r->type, gufo_str_of(kinds[i].kind->type)))
            return add_step(n, kinds[i].kind, r);
    return step_refuse(r, GUFO_E_TYPE, "no normalizer has this type");
}

normalizer *normalizer_new(const json_t *part, const json_places *places,
                           const gufo_allocator *allocator, gufo_error *error)
{
    normalizer *n = mem_object(allocator, sizeof *n, error);
    step_reading r = {.part = "normalizer", .places = places, .error = error};

    if (n == NULL)
        return NULL;
    r.allocator = &n->allocator;
    if (step_each(&r, part, "normalizers", take_kind, n) == GUFO_OK)
        return n;
    normalizer_free(n);
    return NULL;
}

void normalizer_free(normalizer *n)
{
    gufo_allocator allocator;

    if (n == NULL)
        return;
    allocator = n->allocator;
    for (uint64_t i = 0; i < n->count; i++)
        if (n->steps[i].step != NULL)
            n->steps[i].kind->free(n->steps[i].step, &allocator);
    mem_free(&allocator, n->steps);
    mem_free(&allocator, n);
}

/* ---- running -------------------------------------------------------------------------------- */

gufo_status normalizer_run(const normalizer *n, expression_scratch *s, work_text *text,
                           work_text *spare, gufo_error *error)
{
    uint64_t most = (uint64_t)MOST_GROWTH * text->len + MORE_GROWTH;
    gufo_status status = GUFO_OK;

    if (most > UINT32_MAX)
        most = UINT32_MAX;
    for (uint64_t i = 0; i < n->count && text->len > 0 && status == GUFO_OK; i++) {
        normal_run r = {text, spare, 0, false, most, s, error};

        work_text_clear(spare, text);
        status = n->steps[i].kind->run(n->steps[i].step, &r);
        if (status != GUFO_OK || !r.changed)
            continue;
        if (!work_text_keep(spare, text, r.kept, text->len))
            return fail_memory(error);
        work_text_swap(text, spare);
    }
    return status;
}
