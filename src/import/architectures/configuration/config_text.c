/* The text model's part of a configuration that has several: its fields are laid over the others. */
#include "import/architectures/configuration/config_parts.h"

#include "base/error.h"

/* Where models have it; of several the last one counts. */
static const struct part_row {
    const char *name, *inner; /* inner: a field of that one; NULL: itself */
} parts[] = {
    {"text_config", NULL},     {"llm_config", NULL},
    {"lm_config", NULL},       {"thinker_config", "text_config"},
    {"language_config", NULL}, {"lfm", NULL},
};

json_t *config_text_part(const model_config *config)
{
    json_t *found = NULL;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        json_t *part = json_object_get(config->raw, parts[i].name);

        if (parts[i].inner != NULL)
            part = json_object_get(part, parts[i].inner);
        if (json_is_object(part))
            found = part;
    }
    return found;
}

gufo_status config_join_text(model_config *config, gufo_error *error)
{
    json_t *text = config_text_part(config);

    config->fields = json_copy(config->raw);
    if (config->fields == NULL || (text != NULL && json_object_update(config->fields, text) != 0))
        return fail_memory(error);
    return GUFO_OK;
}
