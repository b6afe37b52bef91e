/* Opening a vocabulary, and looking at it. */
#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "codec/run.h"
#include "gufo/schema.h"
#include "text/formats/source.h"
#include "text/opening/opening.h"
#include "text/opening/special_list.h"
#include "text/pipeline/pipeline.h"
#include "text/pretokenizers/pre_rules.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

/* Whether to go on after one of the steps that take long. */
static gufo_status note_step(const gufo_vocab_options *options, uint64_t done, gufo_error *error)
{
    enum { STEPS = 4 };

    return options->run != NULL ? run_progress(options->run, done, STEPS, error) : GUFO_OK;
}

/* The order matters: algorithms know the types that the file gives, added tokens included, not those
 * that known texts make of them. */
static gufo_status fill(gufo_vocab *v, const gufo_model *model, const gufo_vocab_options *options,
                        gufo_error *error)
{
    gufo_status status = settings_choose(v, model, options->pre, error);

    if (status == GUFO_OK)
        status = vocab_read_lists(v, model, error);
    if (status == GUFO_OK)
        status = note_step(options, 1, error);
    if (status == GUFO_OK)
        status = text_table_index(&v->texts, &v->allocator, error);
    if (status == GUFO_OK)
        status = note_step(options, 2, error);
    if (status == GUFO_OK)
        status = added_tokens_apply(v, model, error);
    if (status == GUFO_OK)
        status = settings_read(v, model, error);
    if (status == GUFO_OK)
        status = v->algorithm->open(v, model, error);
    if (status == GUFO_OK)
        status = note_step(options, 3, error);
    if (status == GUFO_OK)
        status = known_texts_apply(v, model, error);
    if (status == GUFO_OK && v->algorithm->settle != NULL)
        v->algorithm->settle(v);
    if (status == GUFO_OK)
        status = special_list_make(v, error);
    return status == GUFO_OK ? note_step(options, 4, error) : status;
}

static gufo_status check_options(const gufo_vocab_options *options, gufo_error *error)
{
    gufo_status status =
        flags_check(options->flags, GUFO_VOCAB_ORIGINAL, "gufo_vocab_options", error);

    if (status == GUFO_OK)
        status = reserved_check(options->reserved, "gufo_vocab_options", error);
    if (status == GUFO_OK && options->run != NULL)
        status = run_check(options->run, error);
    if (status == GUFO_OK && options->tokenizer > GUFO_TOKENIZER_RWKV)
        status =
            refuse(error, GUFO_E_ARGUMENT,
                   "gufo_vocab_options: tokenizer %" PRIu32 " does not exist", options->tokenizer);
    return status;
}

/* An empty vocabulary, by options that were checked; NULL on failure. */
static gufo_vocab *make_vocab(const gufo_vocab_options *options, gufo_error *error)
{
    gufo_vocab *v = NULL;

    if (check_options(options, error) == GUFO_OK)
        v = mem_object(options->allocator, sizeof *v, error);
    if (v != NULL)
        v->original = (options->flags & GUFO_VOCAB_ORIGINAL) != 0;
    return v;
}

static gufo_vocab *finish(gufo_vocab *v, gufo_status status)
{
    if (status == GUFO_OK)
        return v;
    gufo_vocab_free(v);
    return NULL;
}

/* Which tokenizer of the model is meant, where several are there. */
static gufo_tokenizer_kind choose(const gufo_model *model, const gufo_vocab_options *options)
{
    bool has_json = gufo_model_find(model, "tokenizer.huggingface.json", NULL),
         has_ggml = gufo_model_key_entry(model, "tokenizer.ggml.tokens", NULL);

    if (options->tokenizer != GUFO_TOKENIZER_ANY)
        return (gufo_tokenizer_kind)options->tokenizer;
    if (has_json && (!has_ggml || (options->flags & GUFO_VOCAB_ORIGINAL) != 0))
        return GUFO_TOKENIZER_HUGGINGFACE;
    return !has_ggml && gufo_model_find(model, "tokenizer.rwkv.world", NULL) ? GUFO_TOKENIZER_RWKV
                                                                             : GUFO_TOKENIZER_GGML;
}

static unsigned threads_of(const gufo_vocab_options *options)
{
    return options->run != NULL ? thread_count(options->run->threads) : 1;
}

static gufo_status fill_original(gufo_vocab *v, gufo_str json, gufo_str config,
                                 const gufo_vocab_options *options, gufo_error *error)
{
    gufo_status status = note_step(options, 1, error);

    if (status == GUFO_OK)
        status = original_fill(v, json, config, threads_of(options), error);
    return status == GUFO_OK ? note_step(options, 4, error) : status;
}

static gufo_status fill_as(gufo_vocab *v, const gufo_model *model,
                           const gufo_vocab_options *options, gufo_error *error)
{
    gufo_model *made = NULL;
    gufo_str json;
    gufo_status status;

    switch (choose(model, options)) {
    case GUFO_TOKENIZER_HUGGINGFACE:
        status = source_text(model, "tokenizer.huggingface.json", &json, error);
        return status == GUFO_OK ? fill_original(v, json, (gufo_str){"", 0}, options, error)
                                 : status;
    case GUFO_TOKENIZER_RWKV:
        status = source_world(model, &v->allocator, &made, error);
        break;
    default:
        status = GUFO_OK;
        break;
    }
    if (status == GUFO_OK)
        status = fill(v, made != NULL ? made : model, options, error);
    gufo_model_free(made);
    return status;
}

gufo_vocab *gufo_vocab_open(const gufo_model *model, const gufo_vocab_options *options,
                            gufo_error *error)
{
    gufo_vocab_options none = {0};
    gufo_vocab *v;

    options = options != NULL ? options : &none;
    v = make_vocab(options, error);
    return v != NULL ? finish(v, fill_as(v, model, options, error)) : NULL;
}

gufo_vocab *gufo_vocab_open_json(gufo_str json, gufo_str config, const gufo_vocab_options *options,
                                 gufo_error *error)
{
    gufo_vocab_options none = {0};
    gufo_vocab *v;

    options = options != NULL ? options : &none;
    v = make_vocab(options, error);
    return v != NULL ? finish(v, fill_original(v, json, config, options, error)) : NULL;
}

void gufo_vocab_free(gufo_vocab *vocab)
{
    gufo_vocab *v = vocab;
    gufo_allocator allocator;

    if (v == NULL)
        return;
    allocator = v->allocator;
    if (v->tables != NULL)
        v->algorithm->close(v);
    pipeline_free(v->pipeline);
    special_list_free(v);
    for (uint64_t i = 0; i < v->warning_count; i++)
        mem_free(&allocator, v->warnings[i]);
    mem_free(&allocator, v->warnings);
    text_table_free(&v->texts, &allocator);
    mem_free(&allocator, v->attributes);
    mem_free(&allocator, v->types);
    mem_free(&allocator, v->scores);
    mem_free(&allocator, v);
}

/* ---- looking -------------------------------------------------------------------------------- */

gufo_vocab_facts gufo_vocab_describe(const gufo_vocab *vocab)
{
    const gufo_vocab *v = vocab;
    gufo_vocab_facts facts = {
        .model = v->model,
        .algorithm = v->pipeline != NULL ? pipeline_model_name(v->pipeline) : v->algorithm->name,
        .pre = v->pre != NULL ? v->pre->name : NULL,
        .size = v->size,
        .add_bos = v->add_bos,
        .add_eos = v->add_eos,
        .adds_bos = v->frame == FRAME_ALWAYS || (v->frame == FRAME_FLAGS && v->add_bos),
        .adds_eos = v->frame == FRAME_FLAGS && v->add_eos,
        .adds_sep = v->frame == FRAME_ALWAYS,
        .space_prefix = v->space_prefix,
        .clean_spaces = v->clean_spaces,
        .ignore_merges = v->ignore_merges,
        .original = v->differs};

    for (unsigned role = 0; role < GUFO_SPECIAL_ROOM; role++)
        facts.special[role] = role < GUFO_SPECIAL_COUNT ? v->special[role] : GUFO_NO_TOKEN;
    return facts;
}
