/* A model in a few facts: sums over its tensors, and values that several keys describe. */
#include "gufo/summary.h"

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "gufo/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- sums ----------------------------------------------------------------------------------- */

static size_t type_index(uint32_t id)
{
    bool known = id < GUFO_SUMMARY_TYPES - 1 && gufo_element_type_by_id(id) != NULL;

    return known ? id : GUFO_SUMMARY_TYPES - 1;
}

/* ---- types ---------------------------------------------------------------------------------- */

const char *gufo_summary_type_name(size_t index)
{
    const gufo_element_type *type = gufo_element_type_by_id((uint32_t)index);

    return index < GUFO_SUMMARY_TYPES - 1 && type != NULL ? type->name : "unknown";
}

/* Whether type `a` comes before `b`: the most frequent first, of equals the first by name. */
static bool is_before(const gufo_summary *o, size_t a, size_t b)
{
    if (o->types[a].tensors != o->types[b].tensors)
        return o->types[a].tensors > o->types[b].tensors;
    return strcmp(gufo_summary_type_name(a), gufo_summary_type_name(b)) < 0;
}

bool gufo_summary_next_type(const gufo_summary *o, size_t *place)
{
    size_t next = GUFO_SUMMARY_TYPES;

    for (size_t i = 0; i < GUFO_SUMMARY_TYPES; i++) {
        if (o->types[i].tensors == 0 || (*place < GUFO_SUMMARY_TYPES && !is_before(o, *place, i)))
            continue;
        if (next == GUFO_SUMMARY_TYPES || is_before(o, i, next))
            next = i;
    }
    *place = next;
    return next < GUFO_SUMMARY_TYPES;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void add_tensors(gufo_summary *o)
{
    gufo_tensor tensor;

    for (; gufo_model_tensor_at(o->model, o->tensors, &tensor); o->tensors++) {
        gufo_type_sum *type = &o->types[type_index(tensor.type)];

        o->parameters = capped_add(o->parameters, tensor.elements);
        o->tensor_size = capped_add(o->tensor_size, tensor.size);
        o->complete += tensor.complete;
        o->sizes_known = o->sizes_known && tensor.size_known;
        type->tensors++;
        type->elements = capped_add(type->elements, tensor.elements);
    }
}

static const char *file_type_of(const gufo_model *model)
{
    const gufo_file_type *type = NULL;
    uint64_t id;

    if (gufo_model_key_u64(model, "general.file_type", &id, NULL) == GUFO_OK)
        type = gufo_file_type_by_id(id);
    return type != NULL ? type->name : NULL;
}

static const char *most_used_type(const gufo_summary *o)
{
    size_t most = 0;

    for (size_t i = 1; i < GUFO_SUMMARY_TYPES; i++)
        if (o->types[i].elements > o->types[most].elements)
            most = i;
    return o->types[most].elements > 0 ? gufo_summary_type_name(most) : NULL;
}

void gufo_model_summarize(const gufo_model *model, gufo_summary *out)
{
    *out = (gufo_summary){.model = model,
                          .facts = gufo_model_facts(model),
                          .sizes_known = true,
                          .file_type = file_type_of(model)};
    add_tensors(out);
    if (out->sizes_known && out->parameters > 0 && out->parameters < UINT64_MAX)
        out->bits_per_weight = 8 * (double)out->tensor_size / (double)out->parameters;
    out->quantization = out->file_type != NULL ? out->file_type : most_used_type(out);
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* "tokenizer.ggml.bos_token_id" is about "bos". */
static gufo_str role_of(const char *key)
{
    static const char before[] = "tokenizer.ggml.", after[] = "_token_id";

    return (gufo_str){key + sizeof before - 1,
                      strlen(key) - (sizeof before - 1) - (sizeof after - 1)};
}

/* One walk over the vocabulary, because elements have no index. */
static void find_texts(const gufo_model *model, gufo_model_token *tokens, size_t count)
{
    gufo_array texts;
    gufo_value text;

    if (count == 0 || gufo_model_key_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING,
                                           &texts, NULL) != GUFO_OK)
        return;
    gufo_array_iter iter = gufo_array_start(&texts);

    for (uint64_t id = 0; gufo_array_next(&iter, &text); id++)
        for (size_t i = 0; i < count; i++)
            if (tokens[i].id == id) {
                tokens[i].text = text.as.str;
                tokens[i].has_text = true;
            }
}

size_t gufo_model_special_tokens(const gufo_model *model,
                                 gufo_model_token out[GUFO_MOST_SPECIAL_TOKENS])
{
    const gufo_special_token *special;
    gufo_entry entry;
    size_t count = 0;
    uint64_t id;

    for (size_t i = 0;
         (special = gufo_special_token_at(i)) != NULL && count < GUFO_MOST_SPECIAL_TOKENS; i++)
        if (gufo_model_key_entry(model, special->key, &entry) &&
            gufo_value_u64(&entry.value, &id, NULL) == GUFO_OK)
            out[count++] = (gufo_model_token){.role = role_of(special->key), .id = id};
    find_texts(model, out, count);
    return count;
}

/* ---- base models ------------------------------------------------------------------------ */

/* general.base_model.INDEX.part */
static bool find_part(const gufo_model *model, uint64_t index, const char *part, gufo_str *out)
{
    char key[96];

    snprintf(key, sizeof key, "general.base_model.%" PRIu64 ".%s", index, part);
    return gufo_model_get_str(model, key, out, NULL) == GUFO_OK;
}

bool gufo_model_parent_at(const gufo_model *model, uint64_t index, gufo_parent *out)
{
    bool found;

    *out = (gufo_parent){0};
    if (index >= GUFO_MOST_PARENTS)
        return false;
    found = find_part(model, index, "name", &out->name);
    found = find_part(model, index, "organization", &out->organization) || found;
    return find_part(model, index, "repo_url", &out->url) ||
           find_part(model, index, "url", &out->url) || found;
}

/* ---- chat templates ------------------------------------------------------------------------- */

static const char template_key[] = "tokenizer.chat_template";

gufo_status gufo_model_chat_template(const gufo_model *model, const char *name, gufo_str *out,
                                     gufo_error *error)
{
    char key[256];
    int len = snprintf(key, sizeof key, name == NULL ? "%s" : "%s.%s", template_key, name);

    if (len < 0 || (size_t)len >= sizeof key)
        return refuse(error, GUFO_E_NOT_FOUND, "no template has a name that long");
    return gufo_model_get_str(model, key, out, error);
}

/* Whether an entry is a template; *name is what follows the key and a dot. */
static bool is_template(const gufo_entry *entry, gufo_str *name)
{
    size_t base = sizeof template_key - 1;

    if (entry->value.type != GUFO_VALUE_STRING || !str_begins(entry->key, template_key))
        return false;
    if (entry->key.len == base) {
        *name = (gufo_str){"", 0};
        return true;
    }
    *name = str_from(entry->key, base + 1);
    return entry->key.data[base] == '.' && name->len > 0;
}

bool gufo_model_next_chat_template(const gufo_model *model, uint64_t *place, gufo_str *name,
                                   gufo_str *source)
{
    gufo_entry entry;
    gufo_str found;

    while (gufo_model_entry_at(model, *place, &entry)) {
        ++*place;
        if (!is_template(&entry, &found))
            continue;
        if (name != NULL)
            *name = found;
        if (source != NULL)
            *source = entry.value.as.str;
        return true;
    }
    return false;
}
