/* The known key that is nearest to an unknown one, for "did you mean". */
#include "schema/registry/key.h"
#include "schema/registry/nearest.h"
#include "schema/registry/tables.h"

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

const gufo_key_info *gufo_key_nearest(gufo_str key, gufo_str architecture,
                                      char out[GUFO_KEY_NAME_SIZE])
{
    size_t front = architecture.len, index;
    bool own = front > 0 && key.len > front && key.data[front] == '.' &&
               memcmp(key.data, architecture.data, front) == 0;
    key_names names = {architecture, own ? front + 1 : 0, out};

    if (!nearest_find((gufo_str){key.data + names.skip, key.len - names.skip}, name_at, &names,
                      schema_key_count(), &index))
        return NULL;
    return key_in_file(gufo_key_at(index), architecture, out) ? gufo_key_at(index) : NULL;
}
