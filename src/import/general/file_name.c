/* Names of outputs.  gufo_name_suggest, for files that exist, also adds what a model does not say, such
 * as a version; a converter's name has what the model says, and nothing else. */
#include "import/general/file_name.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* A part of a name: general.KEY with '-' for what divides words or folders; absent if it is "". */
static gufo_str part_of(const gufo_document *document, const char *key, char out[GUFO_NAME_SIZE])
{
    gufo_document_entry entry;
    gufo_str text = {0};
    size_t len;

    if (gufo_document_find(document, key, &entry))
        (void)gufo_value_str(&entry.value, &text, NULL);
    len = text.len < GUFO_NAME_SIZE ? text.len : GUFO_NAME_SIZE; /* that is too long already */
    if (len == 0)
        return (gufo_str){0};
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text.data[i];

        out[i] = c <= ' ' || c == '/' || c == 0x7f ? '-' : text.data[i];
    }
    return (gufo_str){out, len};
}

gufo_status file_name_of(const gufo_document *document, const char *type, char out[GUFO_NAME_SIZE],
                         gufo_error *error)
{
    static const char *const keys[] = {"general.size_label", "general.finetune", "general.version"};
    char texts[4][GUFO_NAME_SIZE], upper[GUFO_NAME_SIZE];
    gufo_name name = {.base_name = part_of(document, "general.basename", texts[0])};
    gufo_document_entry kind;
    bool adapter;
    size_t len;

    if (name.base_name.len == 0)
        name.base_name = part_of(document, "general.name", texts[0]);
    if (name.base_name.len == 0)
        name.base_name = gufo_str_of("ggml-model");
    if (type != NULL)
        name.size_label = part_of(document, keys[0], texts[1]);
    name.fine_tune = part_of(document, keys[1], texts[2]);
    name.version = part_of(document, keys[2], texts[3]);
    adapter = gufo_document_find(document, "general.type", &kind) &&
              kind.value.type == GUFO_VALUE_STRING &&
              gufo_str_equal(kind.value.as.str, gufo_str_of("adapter"));
    (void)file_name_fill(upper, sizeof upper, gufo_str_of(type != NULL ? "{FTYPE}" : ""), type);
    name.encoding = type != NULL ? gufo_str_of(upper) : (gufo_str){0};
    name.type = type == NULL ? gufo_str_of("vocab") : adapter ? gufo_str_of("LoRA") : name.type;
    len = gufo_name_format(out, GUFO_NAME_SIZE, &name);
    return len < GUFO_NAME_SIZE ? GUFO_OK
                                : refuse(error, GUFO_E_RANGE,
                                         "the name made from general.* would have %zu bytes, but a "
                                         "file name has at most %d",
                                         len, GUFO_NAME_SIZE - 1);
}

/* The placeholder at the beginning of a text; 0: none is there. */
static size_t placeholder(gufo_str text, bool *upper)
{
    static const char *const names[] = {"{ftype}", "{outtype}", "{FTYPE}", "{OUTTYPE}"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_begins(text, names[i])) {
            *upper = i >= 2;
            return strlen(names[i]);
        }
    return 0;
}

static void put(char *out, size_t size, size_t *len, char c)
{
    if (*len + 1 < size)
        out[*len] = c;
    (*len)++;
}

size_t file_name_fill(char *out, size_t size, gufo_str pattern, const char *type)
{
    size_t len = 0, skip;
    bool upper;

    for (size_t at = 0; at < pattern.len; at += skip) {
        skip = placeholder(str_from(pattern, at), &upper);
        for (const char *c = type; skip > 0 && *c != '\0'; c++)
            put(out, size, &len, upper ? to_upper(*c) : to_lower(*c));
        if (skip == 0) {
            put(out, size, &len, pattern.data[at]);
            skip = 1;
        }
    }
    if (size > 0)
        out[len < size ? len : size - 1] = '\0';
    return len;
}
