/* Values of [llm].tensor_data_layout. */
#ifndef GUFO_SCHEMA_LAYOUT_H
#define GUFO_SCHEMA_LAYOUT_H

#include "gufo/base.h"

typedef struct tensor_data_layout {
    const char *name;   /* "Meta AI original pth" */
    const char *arch;   /* that the specification describes it for; "" for all */
    const char *others; /* whose files have it as well, with blanks between */
    const char *summary;
} tensor_data_layout;

size_t schema_layout_count(void);
const tensor_data_layout *schema_layout_at(size_t index);
/* The row with this name, NULL if none exists.  registry/tensor_data_layouts.tsv */
const tensor_data_layout *schema_layout_find(gufo_str name);

#endif
