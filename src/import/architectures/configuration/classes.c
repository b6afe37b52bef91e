/* Tables of few columns: classes, sorted by name, and the pre-tokenizers that are usual for architectures. */
#include "import/architectures/configuration/classes.h"

#include <string.h>

#include "gufo/import.h"
#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

static const class_row classes[] = {
#define ROW(name, architecture, kind, condition, note) {name, architecture, kind, condition},
#include "registry/hf_classes.inc"
#undef ROW
};

const class_row *class_at(size_t index)
{
    return row_at(ROWS(classes), index);
}

bool gufo_import_class_at(size_t index, gufo_import_class *out)
{
    const class_row *row = class_at(index);

    if (row != NULL)
        *out = (gufo_import_class){row->name, row->architecture};
    return row != NULL;
}

const class_row *class_rows(const char *name, size_t *count)
{
    return row_find_all(ROWS(classes), name, count);
}

static gufo_str name_at(const void *table, size_t index)
{
    return gufo_str_of(((const class_row *)table)[index].name);
}

const char *usual_pre(const char *architecture)
{
    static const struct {
        const char *architecture, *names;
    } rows[] = {
#define ROW(architecture, names) {architecture, names},
#include "registry/usual_pre.inc"
#undef ROW
    };

    for (size_t i = 0; i < ROW_COUNT(rows); i++)
        if (architecture != NULL && strcmp(rows[i].architecture, architecture) == 0)
            return rows[i].names;
    return "";
}

const char *class_nearest(gufo_str name)
{
    size_t index;

    return nearest_find(name, name_at, classes, ROW_COUNT(classes), &index) ? classes[index].name
                                                                            : NULL;
}
