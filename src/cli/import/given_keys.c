/* Keys that the user gives with --set, for a model that is made of one in another format. */
#include "cli/import/given_keys.h"

#include "cli/core/terminal/report.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/value.h"

#include <stdlib.h>
#include <string.h>

/* ---- values --------------------------------------------------------------------------------- */

/* What the model is, and that it is whole: the old file says so. */
static bool may_be_set(const char *key, char message[GIVEN_KEYS_MESSAGE])
{
    bool is_arch = strcmp(key, "general.architecture") == 0;

    if (is_arch || strncmp(key, "split.", strlen("split.")) == 0)
        snprintf(message, GIVEN_KEYS_MESSAGE, "%s",
                 is_arch ? "--arch says what the file is"
                         : "the result is one file; 'gufo split' divides it");
    else
        return true;
    return false;
}

bool given_keys_set(gufo_document *document, const char *key, const char *text,
                    const gufo_key_types *types, char message[GIVEN_KEYS_MESSAGE])
{
    gufo_error error;

    if (!may_be_set(key, message))
        return false;
    if (gufo_document_set_read(document, key, text, types, &error) == GUFO_OK)
        return true;
    snprintf(message, GIVEN_KEYS_MESSAGE, "%s", error.message);
    return false;
}

/* [TYPE:]VALUE */
bool given_keys_set_text(gufo_document *document, const char *key, const char *text,
                         char message[GIVEN_KEYS_MESSAGE])
{
    gufo_key_types types = gufo_key_types_read(document, key, &text);

    if (types.count == 0)
        types = (gufo_key_types){.list = {{gufo_value_guess(text), *text == '['}}, .count = 1};
    return given_keys_set(document, key, text, &types, message);
}

/* ---- options -------------------------------------------------------------------------------- */

/* The text up to "="; to be freed. */
char *given_keys_name(const char *setting)
{
    return strndup(setting, strcspn(setting, "="));
}

static int take_setting(gufo_document *document, const char *setting)
{
    size_t len = strcspn(setting, "=");
    char message[GIVEN_KEYS_MESSAGE];
    int code = CODE_OK;
    char *key;

    if (len == 0 || setting[len] == '\0')
        return report_usage("--set needs KEY=VALUE, not '%s'", setting);
    key = given_keys_name(setting);
    if (key == NULL)
        return report_memory(NULL);
    if (!given_keys_set_text(document, key, setting + len + 1, message))
        code = report_usage("--set %s: %s", setting, message);
    free(key);
    return code;
}

int given_keys_take(gufo_document **document, const option_texts *settings)
{
    gufo_error error;
    int code = CODE_OK;

    *document = gufo_document_new(NULL, &error);
    if (*document == NULL)
        return report_error(NULL, &error);
    for (size_t i = 0; i < settings->count && code == CODE_OK; i++)
        code = take_setting(*document, settings->items[i]);
    return code;
}
