/* The tables of tokenizers: registry/tokenizer_models.tsv, registry/pretokenizers.tsv,
 * registry/special_tokens.tsv. */
#include "gufo/schema.h"

#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

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

TABLE(models, gufo_tokenizer_model, schema_tokenizer_model_count, gufo_tokenizer_model_at)

const gufo_tokenizer_model *gufo_tokenizer_model_find(gufo_str id)
{
    return row_find(ROWS(models), id);
}

TABLE(pretokenizers, gufo_pretokenizer, schema_pretokenizer_count, gufo_pretokenizer_at)

const gufo_pretokenizer *gufo_pretokenizer_find(gufo_str id)
{
    return row_find(ROWS(pretokenizers), id);
}

TABLE(special_tokens, gufo_special_token, schema_special_token_count, gufo_special_token_at)
