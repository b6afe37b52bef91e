/* What a model says of a key: the entry under the name of today, or under another one
 * (registry/key_aliases.tsv).
 *
 *     {arch}.rope.scaling.factor   of llama: llama.rope.scaling.factor, llama.rope.scale_linear,
 *                                            llama.rope.scale
 *
 * Where a model has several of them, the column `order` says which counts. */
#include "schema/registry/key.h"

#include "base/text.h"
#include "format/model/model.h"

#include <string.h>

static bool is_of_architecture(const char *name)
{
    return str_begins(gufo_str_of(name), KEY_ARCH);
}

/* The entry with a name of a table. */
static bool find_name(const gufo_model *model, gufo_str architecture, const char *name,
                      gufo_entry *out)
{
    char text[KEY_SIZE];
    size_t len;

    if (!is_of_architecture(name))
        return gufo_metadata_find(model, name, out);
    if (key_put_together(name, architecture, text, &len))
        return gufo_metadata_find_str(model, (gufo_str){text, len}, out);
    return model_find_entry(model, name, out, NULL) == GUFO_OK;
}

/* Whether another name is one in a model of this architecture: "mpt.attention.clip_kqv" is for mpt
 * alone. */
static bool is_for(const key_alias *alias, gufo_str architecture)
{
    const gufo_str name = {alias->name, strcspn(alias->name, ".")};

    return !is_of_architecture(alias->today) || is_of_architecture(alias->name) ||
           gufo_str_equal(name, architecture);
}

/* The entry under another name that counts more than `order`. */
static bool find_other(const gufo_model *model, gufo_str architecture, const char *key, char order,
                       bool has_front, gufo_entry *out, const key_alias **found)
{
    gufo_str today = gufo_str_of(key);
    const key_alias *alias;
    gufo_entry entry;
    size_t from = 0;

    *found = NULL;
    while ((alias = key_alias_next(today, &from)) != NULL)
        if (alias->order[0] < order && (alias->front[0] != '\0') == has_front &&
            is_for(alias, architecture) && find_name(model, architecture, alias->name, &entry)) {
            *out = entry;
            *found = alias;
            order = alias->order[0];
        }
    return *found != NULL;
}

bool key_entry_of(const gufo_model *model, gufo_str architecture, const char *key, gufo_entry *out)
{
    const key_alias *alias;
    gufo_entry unwanted;
    bool found;

    if (out == NULL)
        out = &unwanted;
    found = find_name(model, architecture, key, out);
    return find_other(model, architecture, key, found ? ALIAS_TODAY : ALIAS_NONE, false, out,
                      &alias) ||
           found;
}

static gufo_str architecture_of(const gufo_model *model, const char *key)
{
    gufo_str architecture = {"", 0};

    if (is_of_architecture(key))
        (void)gufo_get_str(model, "general.architecture", &architecture, NULL);
    return architecture;
}

bool gufo_key_entry(const gufo_model *model, const char *key, gufo_entry *out)
{
    return key_entry_of(model, architecture_of(model, key), key, out);
}

bool gufo_key_text(const gufo_model *model, const char *key, char *room, size_t size, gufo_str *out)
{
    gufo_str architecture = architecture_of(model, key);
    const key_alias *alias;
    gufo_entry entry;
    size_t front;

    if (key_entry_of(model, architecture, key, &entry))
        return gufo_value_str(&entry.value, out, NULL) == GUFO_OK;
    if (!find_other(model, architecture, key, ALIAS_NONE, true, &entry, &alias) ||
        gufo_value_str(&entry.value, out, NULL) != GUFO_OK)
        return false;
    front = strlen(alias->front);
    if (front >= size || out->len > size - front)
        return false;
    memcpy(room, alias->front, front);
    memcpy(room + front, out->data, out->len);
    *out = (gufo_str){room, front + out->len};
    return true;
}
