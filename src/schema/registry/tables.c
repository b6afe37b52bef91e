/* Names that people write, and the rows that they mean. */
#include "gufo/schema.h"
#include "schema/registry/tables.h"

#include "base/text.h"

/* ---- the prefixes of the format's own names ----------------------------------------------------- */

static const struct {
    const char *prefix;
    gufo_spelling kind;
} prefixes[] = {
    {"GGML_TYPE_", GUFO_SPELLING_ELEMENT_TYPE},
    {"LLAMA_FTYPE_MOSTLY_", GUFO_SPELLING_FILE_TYPE},
    {"LLAMA_FTYPE_ALL_", GUFO_SPELLING_FILE_TYPE},
    {"GGML_FTYPE_MOSTLY_", GUFO_SPELLING_FILE_TYPE},
    {"GGML_FTYPE_ALL_", GUFO_SPELLING_FILE_TYPE},
    {"MOSTLY_", GUFO_SPELLING_FILE_TYPE},
    {"ALL_", GUFO_SPELLING_FILE_TYPE},
    {"GGUF_METADATA_VALUE_TYPE_", GUFO_SPELLING_VALUE_TYPE},
    {"GGUF_TYPE_", GUFO_SPELLING_VALUE_TYPE},
};

gufo_str gufo_spelling_bare(gufo_spelling kind, gufo_str name)
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

bool gufo_spelling_means(gufo_spelling kind, gufo_str given, const char *name)
{
    gufo_str a = gufo_spelling_bare(kind, given), b = gufo_str_of(name);
    char letter;

    do {
        letter = next_letter(&a);
        if (letter != next_letter(&b))
            return false;
    } while (letter != '\0');
    return true;
}

const gufo_element_type *gufo_element_type_meant(gufo_str name)
{
    const gufo_element_type *type;

    for (size_t i = 0; (type = gufo_element_type_at(i)) != NULL; i++)
        if (gufo_spelling_means(GUFO_SPELLING_ELEMENT_TYPE, name, type->name))
            break;
    return type;
}
