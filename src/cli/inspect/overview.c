/* A model in a few facts: sums over its tensors, and values that several keys describe. */
#include "cli/inspect/overview.h"

#include "base/text.h"

#include "gufo/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- sums ----------------------------------------------------------------------------------- */

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static size_t type_index(uint32_t id)
{
    bool known = id < OVERVIEW_TYPES - 1 && gufo_element_type_by_id(id) != NULL;

    return known ? id : OVERVIEW_TYPES - 1;
}

overview overview_of(const gufo_model *model)
{
    overview o = {.model = model, .facts = gufo_model_facts(model), .sizes_known = true};
    gufo_tensor tensor;

    for (; gufo_model_tensor_at(model, o.tensors, &tensor); o.tensors++) {
        size_t type = type_index(tensor.type);

        o.parameters = saturating_add(o.parameters, tensor.elements);
        o.tensor_size = saturating_add(o.tensor_size, tensor.size);
        o.complete += tensor.complete;
        o.sizes_known = o.sizes_known && tensor.size_known;
        o.types[type].tensors++;
        o.types[type].elements = saturating_add(o.types[type].elements, tensor.elements);
    }
    return o;
}

/* ---- types ---------------------------------------------------------------------------------- */

const char *overview_type_name(size_t index)
{
    const gufo_element_type *type = gufo_element_type_by_id((uint32_t)index);

    return index < OVERVIEW_TYPES - 1 && type != NULL ? type->name : "unknown";
}

/* Whether type `a` comes before `b`: the most frequent first, of equals the first by name. */
static bool is_before(const overview *o, size_t a, size_t b)
{
    if (o->types[a].tensors != o->types[b].tensors)
        return o->types[a].tensors > o->types[b].tensors;
    return strcmp(overview_type_name(a), overview_type_name(b)) < 0;
}

bool overview_next_type(const overview *o, size_t *place)
{
    size_t next = OVERVIEW_TYPES;

    for (size_t i = 0; i < OVERVIEW_TYPES; i++) {
        if (o->types[i].tensors == 0 || (*place < OVERVIEW_TYPES && !is_before(o, *place, i)))
            continue;
        if (next == OVERVIEW_TYPES || is_before(o, i, next))
            next = i;
    }
    *place = next;
    return next < OVERVIEW_TYPES;
}

const char *overview_file_type(const overview *o)
{
    const gufo_file_type *type = NULL;
    uint64_t id;

    if (gufo_key_u64(o->model, "general.file_type", &id, NULL) == GUFO_OK)
        type = gufo_file_type_by_id(id);
    return type != NULL ? type->name : NULL;
}

const char *overview_quantization(const overview *o)
{
    const char *name = overview_file_type(o);
    size_t most = 0;

    for (size_t i = 1; i < OVERVIEW_TYPES; i++)
        if (o->types[i].elements > o->types[most].elements)
            most = i;
    if (name == NULL && o->types[most].elements > 0)
        name = overview_type_name(most);
    return name;
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
static void find_texts(const gufo_model *model, overview_token *tokens, size_t count)
{
    gufo_array texts;
    gufo_value text;

    if (count == 0 ||
        gufo_key_array(model, "tokenizer.ggml.tokens", GUFO_VALUE_STRING, &texts, NULL) != GUFO_OK)
        return;
    gufo_array_iter iter = gufo_array_start(&texts);

    for (uint64_t id = 0; gufo_array_next(&iter, &text); id++)
        for (size_t i = 0; i < count; i++)
            if (tokens[i].id == id) {
                tokens[i].text = text.as.str;
                tokens[i].has_text = true;
            }
}

size_t overview_tokens(const gufo_model *model, overview_token out[OVERVIEW_TOKENS])
{
    const gufo_special_token *special;
    gufo_entry entry;
    size_t count = 0;
    uint64_t id;

    for (size_t i = 0; (special = gufo_special_token_at(i)) != NULL && count < OVERVIEW_TOKENS; i++)
        if (gufo_key_entry(model, special->key, &entry) &&
            gufo_value_u64(&entry.value, &id, NULL) == GUFO_OK)
            out[count++] = (overview_token){.role = role_of(special->key), .id = id};
    find_texts(model, out, count);
    return count;
}

/* ---- lists ---------------------------------------------------------------------------------- */

bool overview_next_template(const gufo_model *model, uint64_t *position, gufo_str *name)
{
    static const char prefix[] = "tokenizer.chat_template.";
    gufo_entry entry;

    while (gufo_model_entry_at(model, (*position)++, &entry)) {
        *name =
            str_begins(entry.key, prefix) ? str_from(entry.key, sizeof prefix - 1) : (gufo_str){0};
        if (name->len > 0)
            return true;
    }
    return false;
}

/* general.base_model.INDEX.part */
static bool find_part(const gufo_model *model, uint64_t index, const char *part, gufo_str *out)
{
    char key[96];

    snprintf(key, sizeof key, "general.base_model.%" PRIu64 ".%s", index, part);
    return gufo_model_get_str(model, key, out, NULL) == GUFO_OK;
}

bool overview_parent_at(const gufo_model *model, uint64_t index, overview_parent *out)
{
    bool found;

    *out = (overview_parent){0};
    if (index >= OVERVIEW_PARENTS)
        return false;
    found = find_part(model, index, "name", &out->name);
    found = find_part(model, index, "organization", &out->organization) || found;
    return find_part(model, index, "repo_url", &out->url) ||
           find_part(model, index, "url", &out->url) || found;
}
