/* What models share: reading their members, and lists of tokens that grow. */
#include "text/pipeline/models/model.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- members of "model" --------------------------------------------------------------------- */

static gufo_status fail_member(const tokenizer_file *f, const char *name, const char *what,
                               gufo_error *error)
{
    const json_t *type = tokenizer_file_flag(f, "type");

    return refuse(error, GUFO_E_MALFORMED, "\"%s\" of the model%s%s is %s", name,
                  json_is_string(type) ? " " : "",
                  json_is_string(type) ? QUOTED(gufo_str_of(json_string_value(type))) : "", what);
}

gufo_status model_lacks(const tokenizer_file *f, const char *name, gufo_error *error)
{
    return fail_member(f, name, "missing", error);
}

gufo_status model_read_text(const tokenizer_file *f, const char *name, bool required, gufo_str *out,
                            gufo_error *error)
{
    const json_t *value = tokenizer_file_flag(f, name);

    *out = (gufo_str){NULL, 0};
    if (value == NULL)
        return required ? model_lacks(f, name, error) : GUFO_OK;
    if (!json_is_string(value))
        return fail_member(f, name, "not a string", error);
    *out = (gufo_str){json_string_value(value), json_string_length(value)};
    return GUFO_OK;
}

gufo_status model_read_flag(const tokenizer_file *f, const char *name, bool *out, gufo_error *error)
{
    const json_t *value = tokenizer_file_flag(f, name);

    *out = json_is_true(value);
    return value == NULL || json_is_boolean(value)
               ? GUFO_OK
               : fail_member(f, name, "neither true nor false", error);
}

gufo_status model_read_count(const tokenizer_file *f, const char *name, uint64_t *out, bool *found,
                             gufo_error *error)
{
    const json_t *value = tokenizer_file_flag(f, name);

    *found = value != NULL;
    *out = *found && json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
    if (*found && (!json_is_integer(value) || json_integer_value(value) < 0))
        return fail_member(f, name, "not a number of things", error);
    return GUFO_OK;
}

gufo_status model_vocab(const tokenizer_file *f, bool list, gufo_error *error)
{
    if (!f->has_vocab)
        return model_lacks(f, "vocab", error);
    if (f->vocab_is_list != list)
        return fail_member(f, "vocab", list ? "not a list of scores" : "not an object of ids",
                           error);
    return GUFO_OK;
}

/* ---- tokens --------------------------------------------------------------------------------- */

bool token_sink_grow(token_sink *out, model_token token)
{
    piece_tokens *t = out->tokens;
    model_token *list;

    if (t == NULL)
        return ids_add(out->ids, token.id);
    list = mem_grow(mem_allocator(t->allocator), t->list, t->count, &t->room, sizeof *list);
    if (list == NULL)
        return false;
    t->list = list;
    list[t->count++] = token;
    return true;
}
