/* The values of enumerated keys. */
#include "cli/inspect/catalogue.h"

#include "base/text.h"
#include "schema/registry/tables.h"

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
