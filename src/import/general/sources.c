/* Looking values up in the caller's metadata and the model card. */
#include "import/general/sources.h"

#include "base/text.h"

const json_t *sources_metadata(const general_sources *s, const char *key, bool *decided)
{
    const json_t *value = json_object_get(s->metadata, key);

    *decided = value != NULL || json_object_get(s->decided, key) != NULL;
    return json_is_null(value) ? NULL : value;
}

static const json_t *member(const json_t *object, gufo_str name)
{
    return json_object_getn(object, name.data, name.len);
}

const json_t *sources_card(const general_sources *s, const char *fields, bool set, gufo_str *name)
{
    while (fields != NULL && *fields != '\0') {
        gufo_str field = str_piece(&fields, ' ');
        const json_t *value = member(s->card, field);

        if (name != NULL)
            *name = field;
        if (value != NULL && !(set && (json_is_null(value) ||
                                       (json_is_string(value) && json_string_length(value) == 0))))
            return value;
    }
    if (name != NULL)
        *name = (gufo_str){0};
    return NULL;
}
