/* The table of layouts of tensor data. */
#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

static const tensor_data_layout layouts[] = {
#define ROW(name, arch, others, summary) {name, arch, others, summary},
#include "registry/tensor_data_layouts.inc"
#undef ROW
};

TABLE(layouts, tensor_data_layout, schema_layout_count, schema_layout_at)

const tensor_data_layout *schema_layout_find(gufo_str name)
{
    return row_find(ROWS(layouts), name);
}
