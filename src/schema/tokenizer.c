/* The tables of tokenizers: registry/tokenizer_models.tsv, registry/pretokenizers.tsv,
 * registry/special_tokens.tsv. */
#include "gufo/schema.h"

#include "schema/tables.h"
#include "schema/template.h"

static const gufo_tokenizer_model models[] = {
#define ROW(id, algorithm, bos, eos, unknown, separator, padding, mask, arrays) \
    {id, algorithm, bos, eos, unknown, separator, padding, mask, arrays},
#include "registry/tokenizer_models.inc"
#undef ROW
};

static const gufo_pretokenizer pretokenizers[] = {
#define ROW(id, family) {id, family},
#include "registry/pretokenizers.inc"
#undef ROW
};

static const gufo_special_token special_tokens[] = {
#define ROW(key, role) {key, role},
#include "registry/special_tokens.inc"
#undef ROW
};

enum {
    MODEL_COUNT = sizeof models / sizeof *models,
    PRETOKENIZER_COUNT = sizeof pretokenizers / sizeof *pretokenizers,
    SPECIAL_TOKEN_COUNT = sizeof special_tokens / sizeof *special_tokens,
};

size_t schema_tokenizer_model_count(void)
{
    return MODEL_COUNT;
}

const gufo_tokenizer_model *gufo_tokenizer_model_at(size_t index)
{
    return index < MODEL_COUNT ? &models[index] : NULL;
}

const gufo_tokenizer_model *gufo_tokenizer_model_find(gufo_str id)
{
    return template_find_text(models, MODEL_COUNT, sizeof *models, id);
}

size_t schema_pretokenizer_count(void)
{
    return PRETOKENIZER_COUNT;
}

const gufo_pretokenizer *gufo_pretokenizer_at(size_t index)
{
    return index < PRETOKENIZER_COUNT ? &pretokenizers[index] : NULL;
}

const gufo_pretokenizer *gufo_pretokenizer_find(gufo_str id)
{
    return template_find_text(pretokenizers, PRETOKENIZER_COUNT, sizeof *pretokenizers, id);
}

size_t schema_special_token_count(void)
{
    return SPECIAL_TOKEN_COUNT;
}

const gufo_special_token *gufo_special_token_at(size_t index)
{
    return index < SPECIAL_TOKEN_COUNT ? &special_tokens[index] : NULL;
}
