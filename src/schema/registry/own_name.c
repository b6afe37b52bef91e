/* The prefixes of the format's own names. */
#include "schema/registry/tables.h"

#include "base/text.h"

static const struct {
    const char *prefix;
    own_name_kind kind;
} prefixes[] = {
    {"GGML_TYPE_", OWN_ELEMENT_TYPE},
    {"LLAMA_FTYPE_MOSTLY_", OWN_FILE_TYPE},
    {"LLAMA_FTYPE_ALL_", OWN_FILE_TYPE},
    {"GGML_FTYPE_MOSTLY_", OWN_FILE_TYPE},
    {"GGML_FTYPE_ALL_", OWN_FILE_TYPE},
    {"MOSTLY_", OWN_FILE_TYPE},
    {"ALL_", OWN_FILE_TYPE},
    {"GGUF_METADATA_VALUE_TYPE_", OWN_VALUE_TYPE},
    {"GGUF_TYPE_", OWN_VALUE_TYPE},
};

gufo_str own_name_bare(own_name_kind kind, gufo_str name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (prefixes[i].kind == kind && str_begins_folded(name, prefixes[i].prefix))
            return str_from(name, strlen(prefixes[i].prefix));
    return name;
}

/* The next letter or digit, in upper case, and past the marks before it; '\0' at the end. */
static char next_letter(gufo_str *text)
{
    while (text->len > 0 && (*text->data == '_' || *text->data == '-'))
        *text = str_from(*text, 1);
    if (text->len == 0)
        return '\0';
    *text = str_from(*text, 1);
    return to_upper(text->data[-1]);
}

bool own_name_is(own_name_kind kind, gufo_str given, const char *name)
{
    gufo_str a = own_name_bare(kind, given), b = gufo_str_of(name);
    char letter;

    do {
        letter = next_letter(&a);
        if (letter != next_letter(&b))
            return false;
    } while (letter != '\0');
    return true;
}
