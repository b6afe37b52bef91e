/* Special tokens by role; in a file they are tokens like others. */
#include "legacy/special_ids.h"

#include "base/text.h"

static const struct role {
    const char *key;
    size_t id;         /* in a legacy_text_rule */
    const char *texts; /* that confirm the id */
    word_type type;
} roles[] = {
    {"tokenizer.ggml.unknown_token_id", offsetof(legacy_text_rule, unknown), "<unk>", WORD_UNKNOWN},
    {"tokenizer.ggml.bos_token_id", offsetof(legacy_text_rule, bos),
     "<s> <|endoftext|> <|startoftranscript|> [_SOT_]", WORD_CONTROL},
    {"tokenizer.ggml.eos_token_id", offsetof(legacy_text_rule, eos), "</s> <|endoftext|> [_EOT_]",
     WORD_CONTROL},
    {"tokenizer.ggml.padding_token_id", offsetof(legacy_text_rule, padding), "<pad> <|padding|>",
     WORD_CONTROL},
};

enum { ROLES = sizeof roles / sizeof *roles };

static bool is_confirmed(const struct role *role, const word_list *words,
                         const legacy_text_rule *rule, uint64_t *id)
{
    *id = (uint64_t) * (const int64_t *)(const void *)((const char *)rule + role->id);
    return *id < words->count && str_is_word(words->texts[*id], role->texts);
}

void special_ids_mark(word_list *words, const legacy_text_rule *rule)
{
    uint64_t id;

    for (size_t i = 0; i < ROLES; i++)
        if (is_confirmed(&roles[i], words, rule, &id))
            words->types[id] = (int32_t)roles[i].type;
}

gufo_status special_ids_set(gufo_document *document, const word_list *words,
                            const legacy_text_rule *rule, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t id;

    for (size_t i = 0; i < ROLES && status == GUFO_OK; i++)
        if (is_confirmed(&roles[i], words, rule, &id))
            status = gufo_document_set_u32(document, roles[i].key, (uint32_t)id, error);
    return status;
}
