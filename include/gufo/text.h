/* Vocabularies and chat templates of models: a library of its own, libgufo_text (pkg-config gufo-text).
 *
 *     chat to ids   gufo_chat_tokenize                    messages as JSON, one call
 *     the prompt    gufo_chat_render                      the text that the model reads
 *     look          gufo_chat_reviews_new                 what is shown of a model's templates, as records
 *     its parts     gufo_model_chat_template (summary.h), gufo_chat_values_from, gufo_tokenize_prompt
 *
 * vocab.h has the vocabulary itself, text to ids and ids to text; template.h, of libgufo_template, which
 * this library uses, renders any template. */
#ifndef GUFO_TEXT_H
#define GUFO_TEXT_H

#include "summary.h"
#include "template.h"
#include "vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef enum gufo_chat_flags {
    GUFO_CHAT_NO_PROMPT = 1, /* add_generation_prompt is false: the answer does not begin */
} gufo_chat_flags;

typedef struct gufo_chat_options {
    uint32_t flags;     /* of gufo_chat_flags */
    const char *name;   /* of the template (summary.h); NULL: the one without a name */
    gufo_str tools;     /* JSON; empty: none */
    gufo_str variables; /* a JSON object of further variables, which replace others; empty: none */
    /* Limits, the allocator of all but `out`, and the time that templates see: without it they see 1970. */
    const gufo_template_options *rendering;
    const gufo_run *run;  /* of gufo_tokenize_options */
    uint64_t reserved[4]; /* must be zero */
} gufo_chat_options;

/* Appends the ids that a model reads for a conversation: those of gufo_chat_render's text by
 * gufo_tokenize_prompt.  `options` may be NULL.  On failure `out` is as it was:
 *   GUFO_E_NOT_FOUND  the model has no such template
 *   GUFO_E_MALFORMED  JSON, whose place is in the message; the template; and as gufo_tokenize
 *   GUFO_E_STOPPED, GUFO_E_TYPE, GUFO_E_LIMIT, GUFO_E_MEMORY
 *                     as gufo_template_render: GUFO_E_STOPPED is the template's own refusal */
GUFO_API gufo_status gufo_chat_tokenize(const gufo_model *model, const gufo_vocab *vocab,
                                        gufo_str messages, const gufo_chat_options *options,
                                        gufo_ids *out, gufo_error *error);
/* Appends the prompt of a conversation: renders a template of the model, with the variables of
 * gufo_chat_values_from and gufo_chat_values_messages.  `vocab` and `options` may be NULL.  Fails as
 * gufo_chat_tokenize. */
GUFO_API gufo_status gufo_chat_render(const gufo_model *model, const gufo_vocab *vocab,
                                      gufo_str messages, const gufo_chat_options *options,
                                      gufo_text *out, gufo_error *error);

/* ==== The parts of it ======================================================================== */

/* Sets the variables that transformers sets: messages to an empty list, tools and documents to null,
 * add_generation_prompt to true, and bos_token, eos_token, unk_token, sep_token, pad_token and mask_token
 * to the texts of these tokens, of the vocabulary, or, where `vocab` is NULL, by the keys of the model, or,
 * where `model` is NULL, too, to none.  Fails as gufo_template_values_set. */
GUFO_API gufo_status gufo_chat_values_from(gufo_template_values *values, const gufo_model *model,
                                           const gufo_vocab *vocab, gufo_error *error);
/* Sets the messages: `json` is a list of messages, each an object, or an object with "messages" and other
 * variables.  Fails as gufo_template_values_set, with GUFO_E_MALFORMED for JSON of another shape, too.
 * While it works it has a copy of `json`, from malloc. */
GUFO_API gufo_status gufo_chat_values_messages(gufo_template_values *values, gufo_str json,
                                               gufo_error *error);

/* Appends the ids of a text that a template made.  Templates write the special tokens that they need, so
 * these are parsed (GUFO_TOKENIZE_PARSE_SPECIAL) and none is added, but for a BOS, where the vocabulary adds
 * one and the text does not begin with it.  `run` as in gufo_tokenize_options, and it fails as
 * gufo_tokenize; then `out` is as it was. */
GUFO_API gufo_status gufo_tokenize_prompt(const gufo_vocab *vocab, gufo_str prompt,
                                          const gufo_run *run, gufo_ids *out, gufo_error *error);

/* ==== What is shown of templates ============================================================= */

enum { GUFO_CHAT_REVIEWS = 16, GUFO_CHAT_REVIEW_FINDINGS = 64 };

/* The chat templates of a model (gufo_chat_review of summary.h). */
typedef struct gufo_chat_reviews gufo_chat_reviews;

typedef struct gufo_chat_reviews_options {
    gufo_str messages; /* JSON, of the example; empty: four that a model of any kind knows */
    /* Limits and the time, as of gufo_chat_options; NULL: a million steps, 64 KiB of output, 64 MiB of values. */
    const gufo_template_options *rendering;
    const gufo_allocator *allocator; /* for all memory; is copied; NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_chat_reviews_options;

/* Judges the templates of a model with gufo_template_lint, and renders an example with each: the first
 * GUFO_CHAT_REVIEWS templates, with the first GUFO_CHAT_REVIEW_FINDINGS findings of each.  One that refuses the
 * example, reaches a limit or has more than 1 MiB has none.  The model must live as long as the result; `vocab`
 * (of special tokens) and `options` may be NULL.  Freed with gufo_chat_reviews_free.  NULL on failure:
 * GUFO_E_MEMORY, GUFO_E_ARGUMENT. */
GUFO_MUST_USE GUFO_API gufo_chat_reviews *gufo_chat_reviews_new(
    const gufo_model *model, const gufo_vocab *vocab, const gufo_chat_reviews_options *options,
    gufo_error *error);
/* What report.h takes, in the order of the file; it lives as long as the reviews. */
GUFO_API const gufo_chat_review *gufo_chat_reviews_list(const gufo_chat_reviews *reviews,
                                                        size_t *count);
/* NULL is allowed. */
GUFO_API void gufo_chat_reviews_free(gufo_chat_reviews *reviews);

#ifdef __cplusplus
}
#endif

#endif
