/* What lists and explanations say beside the rows of tables: values of keys, words that name no row, words in
 * examples. */
#include "base/text.h"
#include "cli/inspect/catalogue.h"
#include "gufo/schema.h"
#include "schema/registry/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The values of a key: a row each, or the rows of a list. */
static const struct {
    const char *key, *list, *value, *text;
} enumerated[] = {
#define LISTED(key, list) {key, list, NULL, NULL},
#define VALUE(key, value, text) {key, NULL, value, text},
#include "cli/inspect/enumerations.def"
#undef LISTED
#undef VALUE
};

/* Row `index` of a list as a value: those of types are ids, all others names. */
static bool listed_value(const catalogue *c, size_t index, catalogue_value *out)
{
    bool by_id = strcmp(c->columns.names[1], "id") == 0;
    catalogue_row row;

    if (!c->row(index, &row))
        return false;
    snprintf(out->value, sizeof out->value, "%s", row.cells[by_id ? 1 : 0]);
    snprintf(out->text, sizeof out->text, "%s", by_id ? row.cells[0] : row.cells[1]);
    return true;
}

/* Row `index` of the table of layouts, with the architecture that the specification describes it
 * for. */
static bool layout_value(size_t index, catalogue_value *out)
{
    const tensor_data_layout *layout = schema_layout_at(index);

    if (layout == NULL)
        return false;
    snprintf(out->value, sizeof out->value, "%s", layout->name);
    snprintf(out->text, sizeof out->text, "%s%s%s%s", layout->summary,
             *layout->arch != '\0' ? " (" : "", layout->arch, *layout->arch != '\0' ? ")" : "");
    return true;
}

static bool find_value(const char *key, size_t index, catalogue_value *out)
{
    if (strcmp(key, "{arch}.tensor_data_layout") == 0)
        return layout_value(index, out);
    for (size_t i = 0; i < sizeof enumerated / sizeof *enumerated; i++) {
        if (strcmp(enumerated[i].key, key) != 0)
            continue;
        if (enumerated[i].list != NULL)
            return listed_value(catalogue_find(enumerated[i].list), index, out);
        if (index-- > 0)
            continue;
        snprintf(out->value, sizeof out->value, "%s", enumerated[i].value);
        snprintf(out->text, sizeof out->text, "%s", enumerated[i].text);
        return true;
    }
    return false;
}

/* Values of a key are all numbers or all names. */
bool catalogue_value_at(const char *key, size_t index, catalogue_value *out)
{
    if (!find_value(key, index, out))
        return false;
    out->is_number = is_digit(out->value[0]);
    return true;
}

enum { ARCH_PLACE_LEN = sizeof CATALOGUE_ARCH_PLACE - 1 };

/* ---- did you mean ... ----------------------------------------------------------------------- */

/* The names of all rows, one catalogue after the other. */
static gufo_str name_at(const void *lists, size_t index)
{
    const catalogue *c = lists;
    catalogue_row row = {.cells = {""}};

    for (; index >= c->count(); c++)
        index -= c->count();
    (void)c->row(index, &row);
    return gufo_str_of(row.cells[0]);
}

static size_t count_names(void)
{
    size_t count = 0;

    for (size_t i = 0; i < catalogue_count; i++)
        count += catalogues[i].count();
    return count;
}

/* The part of a key behind the architecture. */
static gufo_str key_tail_at(const void *lists, size_t index)
{
    const char *key = gufo_key_at(index)->key;

    (void)lists;
    return gufo_str_of(
        strncmp(key, CATALOGUE_ARCH_PLACE, ARCH_PLACE_LEN) == 0 ? key + ARCH_PLACE_LEN : "");
}

/* A word rather means a key of any architecture than of one, and rather a short name than a long
 * one. */
static bool is_likelier(gufo_str name, gufo_str other)
{
    bool general = name.data[0] == '{';

    if (other.data == NULL || general != (other.data[0] == '{'))
        return other.data == NULL || general;
    return name.len < other.len;
}

/* Finds the name that ends in a word: "head_count". */
static const char *find_by_end(const char *word, size_t count)
{
    gufo_str likeliest = {NULL, 0};
    size_t len = strlen(word);

    for (size_t i = 0; i < count && len > 0; i++) {
        gufo_str name = name_at(catalogues, i);

        if (name.len > len && name.data[name.len - len - 1] == '.' && str_ends(name, word) &&
            is_likelier(name, likeliest))
            likeliest = name;
    }
    return likeliest.data;
}

/* Finds a key of an architecture, with or without the name of that in front:
 * "llama.contxt_length". */
static bool find_by_tail(const char *word, catalogue_hint *out)
{
    const char *dot = strchr(word, '.');
    size_t index;

    if (nearest_find(gufo_str_of(word), key_tail_at, NULL, schema_key_count(), &index)) {
        out->name = gufo_key_at(index)->key;
        return true;
    }
    if (dot == NULL ||
        !nearest_find(gufo_str_of(dot + 1), key_tail_at, NULL, schema_key_count(), &index))
        return false;
    out->before.len = (size_t)(dot + 1 - word);
    out->name = key_tail_at(NULL, index).data;
    return true;
}

/* Finds a tensor of a file, with the number of a block and a suffix: "blk.3.atn_q.weight". */
static const char *find_tensor(const char *word)
{
    static const char digits[] = "0123456789";
    static const char *const suffixes[] = {".weight", ".bias"};
    const catalogue *tensors = catalogue_find("tensors");
    size_t number = strcspn(word, digits), after = number + strspn(word + number, digits), index;
    char text[256];
    int len = snprintf(text, sizeof text, "%.*s%s%s", (int)number, word,
                       after > number ? "{bid}" : "", word + after);
    gufo_str name = {text, (size_t)len};

    if (len < 0 || name.len >= sizeof text)
        return NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (str_ends(name, suffixes[i]))
            name.len -= strlen(suffixes[i]);
    return nearest_find(name, name_at, tensors, tensors->count(), &index)
               ? gufo_tensor_info_at(index)->name
               : NULL;
}

bool catalogue_nearest(const char *word, catalogue_hint *out)
{
    size_t index, count = count_names();

    *out = (catalogue_hint){{word, 0}, find_by_end(word, count)};
    if (out->name == NULL && nearest_find(gufo_str_of(word), name_at, catalogues, count, &index))
        out->name = name_at(catalogues, index).data;
    if (out->name == NULL)
        out->name = find_tensor(word);
    return out->name != NULL || find_by_tail(word, out);
}

/* ---- examples ------------------------------------------------------------------------------- */

/* Whether a shell takes a word as it is. */
static bool is_plain(const char *word)
{
    return strlen(word) <= 128 && word[0] != '-' && str_is_plain(gufo_str_of(word), "._-");
}

static void append(char out[EXAMPLE_SIZE], const char *text, size_t len)
{
    size_t used = strlen(out);

    snprintf(out + used, EXAMPLE_SIZE - used, "%.*s", (int)len, text);
}

/* Appends a name that a file could have, with the braces filled in. */
static void append_filled(char out[EXAMPLE_SIZE], const char *name, const char *arch)
{
    const char *brace;

    for (; (brace = strchr(name, '{')) != NULL; name = brace + strcspn(brace, "}") + 1) {
        const char *value = strncmp(brace, CATALOGUE_ARCH_PLACE, ARCH_PLACE_LEN) == 0 ? arch : "0";

        append(out, name, (size_t)(brace - name));
        append(out, value, strlen(value));
    }
    append(out, name, strlen(name));
}

void catalogue_example(const catalogue *c, const catalogue_row *row, const char *word,
                       char out[EXAMPLE_SIZE])
{
    const char *example = row->example != NULL ? row->example : c->example;
    const char *place = strstr(example, "WORD");
    size_t first = 0, before = place != NULL ? (size_t)(place - example) : strlen(example);
    const char *arch = catalogue_user(c, row->cells[0], &first);
    bool own = c->own != OWN_NONE && strcmp(word, row->cells[0]) != 0;

    out[0] = '\0';
    append(out, example, before);
    if (place == NULL)
        return;
    append_filled(out, is_plain(word) && !own ? word : row->cells[0],
                  arch != NULL ? arch : "llama");
    append(out, place + strlen("WORD"), strlen(place + strlen("WORD")));
}
