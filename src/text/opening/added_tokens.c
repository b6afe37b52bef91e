/* tokenizer.ggml.added_tokens: texts of tokens that were added after training.
 *
 * Such a token is found in a text before the algorithm sees it, as a user-defined one.  Files mostly
 * say so by its type as well; where a file says "normal", the list decides. */
#include "text/opening/added_tokens.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/characters/escaped.h"

enum { TYPE_NORMAL = 1, TYPE_USER_DEFINED = 4, TYPE_UNUSED = 5 };

static gufo_status make_types(gufo_vocab *v, gufo_error *error)
{
    if (v->types != NULL)
        return GUFO_OK;
    v->types = mem_array(&v->allocator, v->size, sizeof *v->types);
    if (v->types == NULL)
        return fail_memory(error);
    for (uint32_t id = 0; id < v->size; id++)
        v->types[id] = TYPE_NORMAL;
    return GUFO_OK;
}

/* A run of spaces, which merges make.  The original also finds it where a text has U+2581 itself. */
static bool is_escaped_spaces(const gufo_vocab *v, uint32_t id)
{
    return v->escape_spaces && vocab_type(v, id) == TYPE_NORMAL &&
           str_search(vocab_text(v, id), gufo_str_of(ESCAPED_SPACE)) != NULL;
}

/* Control tokens, bytes and the unknown token stay what they are. */
static gufo_status mark_added(gufo_vocab *v, uint32_t id, gufo_error *error)
{
    bool spaces = is_escaped_spaces(v, id);
    unsigned type = vocab_type(v, id);
    gufo_status status;

    if (spaces)
        v->differs = "the original tokenizer finds added tokens of U+2581 in a text that has this "
                     "character, which is a space to llama.cpp";
    if ((spaces && !v->original) || (type != 0 && type != TYPE_NORMAL && type != TYPE_UNUSED))
        return GUFO_OK;
    status = make_types(v, error);
    if (status != GUFO_OK)
        return status;
    v->types[id] = TYPE_USER_DEFINED;
    v->attributes[id] = GUFO_TOKEN_USER_DEFINED | (spaces ? GUFO_TOKEN_NORMAL : 0);
    return GUFO_OK;
}

gufo_status added_tokens_apply(gufo_vocab *v, const gufo_model *model, gufo_error *error)
{
    gufo_str first_missing = {0};
    uint64_t missing = 0;
    gufo_status status = GUFO_OK;
    gufo_array_iter iter;
    gufo_entry entry;
    gufo_value text;

    if (!vocab_entry(model, "added_tokens", &entry))
        return GUFO_OK;
    if (entry.value.type != GUFO_VALUE_ARRAY || entry.value.as.array.type != GUFO_VALUE_STRING)
        return fail_with(error, GUFO_E_MALFORMED, entry.value_offset,
                         "%s must be an array of strings", QUOTED(entry.key));
    iter = gufo_array_start(&entry.value.as.array);
    while (status == GUFO_OK && gufo_array_next(&iter, &text)) {
        uint32_t id = vocab_find(v, text.as.str.data, text.as.str.len);

        if (id != GUFO_NO_TOKEN)
            status = mark_added(v, id, error);
        else if (missing++ == 0)
            first_missing = text.as.str;
    }
    if (status != GUFO_OK || missing == 0)
        return status;
    return vocab_warn(v, error,
                      "%s of \"tokenizer.ggml.added_tokens\" are not in the list of "
                      "tokens and have no id: %s is the first one",
                      GROUPED(missing), QUOTED(first_missing));
}
