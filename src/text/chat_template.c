/* Where a model keeps its chat templates. */
#include "gufo/text.h"

#include <stdio.h>

#include "base/error.h"

static const char base_key[] = "tokenizer.chat_template";

gufo_status gufo_chat_template(const gufo_model *model, const char *name, gufo_str *out,
                               gufo_error *error)
{
    char key[256];
    int len = snprintf(key, sizeof(key), name == NULL ? "%s" : "%s.%s", base_key, name);

    if (len < 0 || (size_t)len >= sizeof(key))
        return refuse(error, GUFO_E_NOT_FOUND, "no template has a name that long");
    return gufo_model_get_str(model, key, out, error);
}
