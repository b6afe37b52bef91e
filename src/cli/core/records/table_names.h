/* How a narrow table shortens names: so that rows stay apart. */
#ifndef CLI_CORE_RECORDS_TABLE_NAMES_H
#define CLI_CORE_RECORDS_TABLE_NAMES_H

#include "cli/core/records/table.h"

/* Chooses for names that are to fill at most `width` columns which part of them is left out. */
void table_names_choose(table *t, table_maker *make, const void *context, size_t width);
/* The name without the ending that the head has instead. */
gufo_str table_names_bare(const table *t, gufo_str name);

#endif
