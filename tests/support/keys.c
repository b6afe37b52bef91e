/* Keys and values as text. */
#include "keys.h"

#include "format/value/value.h"

/* The next word, without the blank behind it. */
static size_t next_word(const char **at, char *out, size_t size)
{
    size_t len = strcspn(*at, " ;");

    check(len > 0 && len < size, "a word is missing or too long: %s", *at);
    snprintf(out, size, "%.*s", (int)len, *at);
    *at += len + ((*at)[len] == ' ');
    return len;
}

/* One number or bool of the type that *value has. */
static void read_number(const char **at, gufo_value *value)
{
    char word[64], *end = word;

    (void)next_word(at, word, sizeof word);
    switch (value->type) {
    case GUFO_VALUE_BOOL:
        value->as.b = strcmp(word, "true") == 0;
        end = word + strlen(word);
        break;
    case GUFO_VALUE_FLOAT32:
    case GUFO_VALUE_FLOAT64:
        value->as.f = strtod(word, &end);
        break;
    case GUFO_VALUE_INT8:
    case GUFO_VALUE_INT16:
    case GUFO_VALUE_INT32:
    case GUFO_VALUE_INT64:
        value->as.i = strtoll(word, &end, 10);
        break;
    default:
        value->as.u = strtoull(word, &end, 10);
    }
    check(*end == '\0', "not a number: %s", word);
}

static void read_items(const char **at, key_text *out, gufo_value_type type)
{
    gufo_value element = {.type = type};
    size_t size = gufo_value_type_size(type);
    uint64_t count = 0;

    for (; **at != '\0' && **at != ';'; count++) {
        read_number(at, &element);
        check(count < KEY_ITEMS, "%s has too many elements", out->key);
        number_bytes(&element, out->bytes + count * size);
    }
    out->items = (gufo_items){type, count, out->bytes};
    out->value = (gufo_value){.type = GUFO_VALUE_ARRAY};
}

bool key_text_next(const char **at, key_text *out)
{
    char type_name[32];
    gufo_value_type type;

    *at += strspn(*at, "; ");
    if (**at == '\0')
        return false;
    memset(out, 0, sizeof *out);
    (void)next_word(at, out->key, sizeof out->key);
    size_t len = next_word(at, type_name, sizeof type_name);
    bool is_array = len > 2 && strcmp(type_name + len - 2, "[]") == 0;

    if (is_array)
        type_name[len - 2] = '\0';
    check(gufo_value_type_by_name(type_name, &type), "unknown type %s", type_name);
    out->value.type = type;
    if (is_array) {
        read_items(at, out, type);
    } else if (type == GUFO_VALUE_STRING) {
        len = strcspn(*at, ";");
        snprintf(out->text, sizeof out->text, "%.*s", (int)len, *at);
        out->value.as.str = gufo_str_of(out->text);
        *at += len;
    } else {
        read_number(at, &out->value);
    }
    return true;
}
