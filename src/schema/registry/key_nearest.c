/* The known key that is nearest to an unknown one, for "did you mean". */
#include "schema/registry/key.h"
#include "schema/registry/tables.h"

#include <stdio.h>
#include <string.h>

/* Names that a key is compared with.  A key that begins with the name of the architecture is
 * compared with keys of the architecture only, and without that name, which would hide
 * differences. */
typedef struct key_names {
    gufo_str architecture;
    size_t skip; /* "ARCHITECTURE.", or 0 for a key that does not begin with that */
    char *name;  /* of KEY_SIZE: of the row that was asked for last, where it is put together */
} key_names;

static gufo_str name_at(const void *table, size_t index)
{
    static const char own[] = "{arch}.";
    const key_names *names = table;
    const gufo_key_info *info = gufo_key_at(index);
    const char *key = info->key;
    bool of_architecture = key[0] == '{';

    if (of_architecture && names->skip == 0)
        return key_in_file(info, names->architecture, names->name) ? gufo_str_of(names->name)
                                                                   : (gufo_str){"", 0};
    if (of_architecture)
        key += strlen(own);
    else if (names->skip > 0)
        key = "";
    return strchr(key, '{') == NULL ? gufo_str_of(key) : (gufo_str){"", 0};
}

/* Where a word without a namespace is a key: "name" is general.name, "eos" tokenizer.ggml.eos_token_id. */
static const struct {
    const char *before, *behind;
    bool of_architecture; /* its name comes first */
} namespaces[] = {
    {"general.", "", false},        {".", "", true},
    {"tokenizer.ggml.", "", false}, {"tokenizer.ggml.", "_token_id", false},
    {"tokenizer.", "", false},      {".attention.", "", true},
    {".rope.", "", true},
};

static const gufo_key_info *find_in_namespace(gufo_str word, gufo_str architecture,
                                              char out[GUFO_KEY_NAME_SIZE])
{
    const gufo_key_info *found = NULL;

    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces && found == NULL; i++) {
        gufo_str owner = namespaces[i].of_architecture ? architecture : (gufo_str){"", 0};
        int len;

        if (namespaces[i].of_architecture && owner.len == 0)
            continue;
        len = snprintf(out, GUFO_KEY_NAME_SIZE, "%.*s%s%.*s%s", (int)owner.len, owner.data,
                       namespaces[i].before, (int)word.len, word.data, namespaces[i].behind);
        if (len > 0 && len < GUFO_KEY_NAME_SIZE)
            found = gufo_key_find(gufo_str_of(out), architecture);
    }
    return found;
}

const gufo_key_info *gufo_key_nearest(gufo_str key, gufo_str architecture,
                                      char out[GUFO_KEY_NAME_SIZE])
{
    size_t front = architecture.len, index;
    bool own = front > 0 && key.len > front && key.data[front] == '.' &&
               memcmp(key.data, architecture.data, front) == 0;
    key_names names = {architecture, own ? front + 1 : 0, out};
    const gufo_key_info *found = NULL;

    if (key.len > 0 && key.len < GUFO_KEY_NAME_SIZE && architecture.len < GUFO_KEY_NAME_SIZE &&
        memchr(key.data, '.', key.len) == NULL)
        found = find_in_namespace(key, architecture, out);
    if (found != NULL)
        return found;

    if (!nearest_find((gufo_str){key.data + names.skip, key.len - names.skip}, name_at, &names,
                      schema_key_count(), &index))
        return NULL;
    return key_in_file(gufo_key_at(index), architecture, out) ? gufo_key_at(index) : NULL;
}
