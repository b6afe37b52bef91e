/* The table of classes, sorted by name. */
#include "import/architectures/classes.h"

#include "schema/registry/nearest.h"
#include "schema/registry/pattern.h"

static const class_row classes[] = {
#define ROW(name, architecture, kind, condition, note) {name, architecture, kind, condition},
#include "registry/hf_classes.inc"
#undef ROW
};

const class_row *class_at(size_t index)
{
    return row_at(ROWS(classes), index);
}

const class_row *class_rows(const char *name, size_t *count)
{
    return row_find_all(ROWS(classes), name, count);
}

static gufo_str name_at(const void *table, size_t index)
{
    return gufo_str_of(((const class_row *)table)[index].name);
}

const char *class_nearest(gufo_str name)
{
    size_t index;

    return nearest_find(name, name_at, classes, ROW_COUNT(classes), &index) ? classes[index].name
                                                                            : NULL;
}
