/* The table of classes that models are exported as, sorted by architecture. */
#include "import/export/classes.h"

#include "schema/registry/pattern.h"

static const export_class classes[] = {
#define ROW(architecture, name, model_type, condition, note) \
    {architecture, name, model_type, condition},
#include "registry/export_classes.inc"
#undef ROW
};

const export_class *export_class_at(size_t index)
{
    return row_at(ROWS(classes), index);
}

const export_class *export_classes(const char *architecture, size_t *count)
{
    return row_find_all(ROWS(classes), architecture, count);
}
