/* The table of file types: general.file_type (spec, General metadata; numbers above 18 as the field
 * uses them). */
#include "gufo/schema.h"

#include "gufo/codec.h"

#include <string.h>

#include "schema/registry/pattern.h"
#include "schema/registry/tables.h"

static const gufo_file_type file_types[] = {
#define GUFO_FILE_TYPE(id, name, base, flags) [id] = {id, #name, GUFO_TYPE_##base, flags},
#include "gufo/file_types.def"
#undef GUFO_FILE_TYPE
};

enum { FILE_TYPE_COUNT = sizeof file_types / sizeof *file_types };

enum {
    FILE_TYPE_ROWS = 0
#define GUFO_FILE_TYPE(id, name, base, flags) +1
#include "gufo/file_types.def"
#undef GUFO_FILE_TYPE
};

_Static_assert((int)FILE_TYPE_COUNT == (int)FILE_TYPE_ROWS,
               "ids run from 0 without a gap: the index is the id");

TABLE(file_types, gufo_file_type, schema_file_type_count, gufo_file_type_at)

const gufo_file_type *gufo_file_type_by_id(uint64_t id)
{
    return id < FILE_TYPE_COUNT ? &file_types[id] : NULL;
}

const gufo_file_type *gufo_file_type_by_name(const char *name)
{
    for (size_t i = 0; i < FILE_TYPE_COUNT; i++)
        if (strcmp(file_types[i].name, name) == 0)
            return &file_types[i];
    return NULL;
}
