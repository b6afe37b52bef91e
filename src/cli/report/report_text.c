/* Tokenizer and chat templates of a model: the library describes them, the store keeps what it gives. */
#include "cli/report/report_facts.h"

#include "gufo/text.h"

static gufo_status describe_vocab(report_store *store, const gufo_vocab *vocab,
                                  gufo_report_model *shown, gufo_error *error)
{
    if (vocab == NULL)
        return GUFO_OK;
    shown->tokenizer = store->census = gufo_vocab_census_new(vocab, NULL, error);
    return store->census != NULL ? GUFO_OK : error->code;
}

static gufo_status review_templates(report_store *store, const gufo_vocab *vocab,
                                    gufo_report_model *shown, gufo_error *error)
{
    store->reviews = gufo_chat_reviews_new(shown->model, vocab, NULL, error);
    if (store->reviews == NULL)
        return error->code;
    shown->templates = gufo_chat_reviews_list(store->reviews, &shown->template_count);
    return GUFO_OK;
}

/* A vocabulary that cannot be opened is not shown. */
int report_add_text(report_store *store, gufo_report_model *shown)
{
    gufo_vocab *vocab;
    gufo_status status;
    gufo_error error;

    if (shown->model == NULL)
        return CODE_OK;
    vocab = gufo_vocab_open(shown->model, NULL, NULL);
    status = describe_vocab(store, vocab, shown, &error);
    if (status == GUFO_OK)
        status = review_templates(store, vocab, shown, &error);
    gufo_vocab_free(vocab);
    return status == GUFO_OK ? CODE_OK : report_error(NULL, &error);
}

void report_free_text(report_store *store)
{
    gufo_vocab_census_free(store->census);
    gufo_chat_reviews_free(store->reviews);
}
