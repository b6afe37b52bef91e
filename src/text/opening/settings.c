/* The settings of a vocabulary: tokenizer.ggml.model, .pre, .*_token_id, .add_*.
 *
 * Ids that a file does not name have the defaults of its model (registry/tokenizer_models.tsv), as
 * readers have it, unless the vocabulary is too small for them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "gufo/schema.h"
#include "text/opening/opening.h"
#include "text/pretokenizers/pre_rules.h"
#include "text/tokenizers/algorithm.h"

/* ---- models --------------------------------------------------------------------------------- */

typedef struct model_rules {
    const char *name; /* tokenizer.ggml.model */
    const token_algorithm *algorithm;
    frame_kind frame;
    const char *pre; /* the pre-tokenizer, whatever the file says */
    bool space_prefix, add_bos, add_eos, clean_spaces, escape_spaces;
    const char *doubt; /* a warning */
} model_rules;

static const model_rules models[] = {
    {"llama", &algorithm_spm, .space_prefix = true, .add_bos = true, .escape_spaces = true},
    {"gpt2", &algorithm_bpe, .frame = FRAME_FLAGS},
    {"gemma4", &algorithm_bpe, .pre = "gemma4"},
    {"bert", &algorithm_wpm, .frame = FRAME_ALWAYS, .add_bos = true, .clean_spaces = true,
     .escape_spaces = true},
    {"t5", &algorithm_ugm, .add_eos = true, .escape_spaces = true},
    {"replit", &algorithm_ugm, .escape_spaces = true,
     .doubt = "the ids of tokenizer model \"replit\" follow the GGUF specification; no reader has "
              "confirmed them"},
    {"rwkv", &algorithm_rwkv, .frame = FRAME_NEVER},
};

static const model_rules *find_model(gufo_str name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (gufo_str_equal(gufo_str_of(models[i].name), name))
            return &models[i];
    return NULL;
}

static gufo_status read_model(const gufo_model *model, const model_rules **out, gufo_error *error)
{
    gufo_entry entry;
    gufo_str name;

    if (!vocab_entry(model, "model", &entry))
        return refuse(error, GUFO_E_NOT_FOUND, "the model has no \"tokenizer.ggml.model\"");
    if (gufo_value_str(&entry.value, &name, NULL) != GUFO_OK)
        return fail_with(error, GUFO_E_MALFORMED, entry.value_offset,
                         "\"tokenizer.ggml.model\" must be a string");
    if (gufo_str_equal(name, gufo_str_of("none")) || gufo_str_equal(name, gufo_str_of("no_vocab")))
        return fail_with(error, GUFO_E_NOT_FOUND, entry.value_offset,
                         "the model has no vocabulary: \"tokenizer.ggml.model\" is %s",
                         QUOTED(name));
    *out = find_model(name);
    if (*out == NULL)
        return fail_with(error, GUFO_E_TYPE, entry.value_offset,
                         "tokenizer model %s is not supported", QUOTED(name));
    return GUFO_OK;
}

/* ---- pre-tokenizer -------------------------------------------------------------------------- */

static gufo_status read_pre(gufo_vocab *v, const gufo_model *model, gufo_str *out,
                            gufo_error *error)
{
    gufo_entry entry;

    *out = (gufo_str){0};
    if (vocab_entry(model, "pre", &entry) && gufo_value_str(&entry.value, out, NULL) != GUFO_OK)
        return fail_with(error, GUFO_E_MALFORMED, entry.value_offset,
                         "\"tokenizer.ggml.pre\" must be a string");
    if (out->len > 0)
        return GUFO_OK;
    *out = gufo_str_of("default");
    return vocab_warn(v, error,
                      "\"tokenizer.ggml.pre\" is missing: text is cut as \"default\" does it, "
                      "which may differ from what the model was trained with");
}

static gufo_status choose_pre(gufo_vocab *v, const gufo_model *model, const char *given,
                              gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_str name = gufo_str_of(given);

    if (given == NULL)
        status = read_pre(v, model, &name, error);
    if (status != GUFO_OK)
        return status;
    v->pre = pre_rules_find(name);
    if (v->pre == NULL && given != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "no pre-tokenizer is called %s", QUOTED(name));
    if (v->pre == NULL) {
        v->pre = pre_rules_find(gufo_str_of("default"));
        status = vocab_warn(v, error,
                            "pre-tokenizer %s is not known: text is cut as \"default\" does it",
                            QUOTED(name));
    }
    v->clean_spaces = v->pre->clean_spaces;
    v->ignore_merges = v->pre->ignore_merges;
    v->escape_spaces = v->pre->escape_spaces;
    v->byte_alphabet = !v->pre->raw_text;
    v->add_bos = v->pre->add_bos;
    return status;
}

gufo_status settings_choose(gufo_vocab *v, const gufo_model *model, const char *pre,
                            gufo_error *error)
{
    const model_rules *rules = NULL;
    gufo_status status = read_model(model, &rules, error);

    if (status != GUFO_OK)
        return status;
    v->algorithm = rules->algorithm;
    v->model = rules->name;
    v->frame = rules->frame;
    v->space_prefix = rules->space_prefix;
    v->add_bos = rules->add_bos;
    v->add_eos = rules->add_eos;
    v->clean_spaces = rules->clean_spaces;
    v->escape_spaces = rules->escape_spaces;
    if (v->algorithm == &algorithm_bpe)
        status = choose_pre(v, model, rules->pre != NULL ? rules->pre : pre, error);
    else if (pre != NULL)
        return refuse(error, GUFO_E_ARGUMENT, "tokenizer model \"%s\" has no pre-tokenizer",
                      rules->name);
    if (status == GUFO_OK && rules->doubt != NULL)
        status = vocab_warn(v, error, "%s", rules->doubt);
    return status;
}

/* ---- special ids ---------------------------------------------------------------------------- */

/* By gufo_special. */
static const struct {
    const char *name, *key;
} roles[GUFO_SPECIAL_COUNT] = {
    {"bos", "bos_token_id"},         {"eos", "eos_token_id"},
    {"eot", "eot_token_id"},         {"eom", "eom_token_id"},
    {"unk", "unknown_token_id"},     {"sep", "separator_token_id"},
    {"pad", "padding_token_id"},     {"mask", "mask_token_id"},
    {"fim_pre", "fim_pre_token_id"}, {"fim_suf", "fim_suf_token_id"},
    {"fim_mid", "fim_mid_token_id"}, {"fim_pad", "fim_pad_token_id"},
    {"fim_rep", "fim_rep_token_id"}, {"fim_sep", "fim_sep_token_id"},
};

const char *gufo_special_name(gufo_special special)
{
    return (unsigned)special < GUFO_SPECIAL_COUNT ? roles[special].name : NULL;
}

gufo_special settings_role(gufo_str name)
{
    unsigned role = 0;

    while (role < GUFO_SPECIAL_COUNT && !gufo_str_equal(gufo_str_of(roles[role].name), name))
        role++;
    return (gufo_special)role;
}

static gufo_status read_id(gufo_vocab *v, const gufo_model *model, const char *key, uint32_t *id,
                           gufo_error *error)
{
    gufo_entry entry;
    uint64_t number;

    if (!vocab_entry(model, key, &entry))
        return GUFO_OK;
    if (gufo_value_u64(&entry.value, &number, NULL) != GUFO_OK)
        return fail_with(error, GUFO_E_MALFORMED, entry.value_offset, "%s must be a token's id",
                         QUOTED(entry.key));
    if (number >= v->size)
        return fail_with(error, GUFO_E_MALFORMED, entry.value_offset,
                         "%s is %" PRIu64 ", but the last token is %" PRIu32, QUOTED(entry.key),
                         number, v->size - 1);
    *id = (uint32_t)number;
    return GUFO_OK;
}

static void set_default(gufo_vocab *v, gufo_special role, const char *number)
{
    uint64_t id;

    if (str_number(gufo_str_of(number), &id) && id < v->size)
        v->special[role] = (uint32_t)id;
}

static void set_defaults(gufo_vocab *v)
{
    const gufo_tokenizer_info *row = gufo_tokenizer_info_find(v->model);

    for (unsigned role = 0; role < GUFO_SPECIAL_COUNT; role++)
        v->special[role] = GUFO_NO_TOKEN;
    if (row == NULL)
        return;
    if (v->pre == NULL || !v->pre->no_default_bos)
        set_default(v, GUFO_SPECIAL_BOS, row->bos);
    set_default(v, GUFO_SPECIAL_EOS, row->eos);
    set_default(v, GUFO_SPECIAL_UNKNOWN, row->unknown);
    set_default(v, GUFO_SPECIAL_SEPARATOR, row->separator);
    set_default(v, GUFO_SPECIAL_PADDING, row->padding);
    set_default(v, GUFO_SPECIAL_MASK, row->mask);
}

/* ---- flags ---------------------------------------------------------------------------------- */

static gufo_status read_flag(const gufo_model *model, const char *key, bool *flag,
                             gufo_error *error)
{
    gufo_entry entry;

    if (!vocab_entry(model, key, &entry) || gufo_value_bool(&entry.value, flag, NULL) == GUFO_OK)
        return GUFO_OK;
    return fail_with(error, GUFO_E_MALFORMED, entry.value_offset, "%s must be a bool",
                     QUOTED(entry.key));
}

static gufo_status read_normalizer(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    gufo_status status;

    v->lowercase = true;
    status = read_flag(model, "normalizer.lowercase", &v->lowercase, error);
    v->strip_accents = v->lowercase;
    if (status == GUFO_OK)
        status = read_flag(model, "normalizer.strip_accents", &v->strip_accents, error);
    return status;
}

static gufo_status read_flags(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {{"add_bos_token", &v->add_bos},
                 {"add_eos_token", &v->add_eos},
                 {"add_space_prefix", &v->space_prefix},
                 {"remove_extra_whitespaces", &v->remove_extra_spaces}};
    gufo_status status = read_normalizer(v, model, error);

    for (size_t i = 0; status == GUFO_OK && i < sizeof flags / sizeof *flags; i++)
        status = read_flag(model, flags[i].key, flags[i].flag, error);
    if (v->pre != NULL && v->pre->force_bos)
        v->add_bos = true;
    return status;
}

gufo_status settings_read(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    gufo_status status = read_flags(v, model, error);

    set_defaults(v);
    for (unsigned role = 0; status == GUFO_OK && role < GUFO_SPECIAL_COUNT; role++)
        status = read_id(v, model, roles[role].key, &v->special[role], error);
    return status;
}
