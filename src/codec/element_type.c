/* The type table: one row per element type id that ever had a name (gufo/element_types.def). */
#include "gufo/codec.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

static const gufo_element_type element_types[] = {
#define NONE 0
#define DECODED GUFO_ELEMENT_DECODES
#define CODED (GUFO_ELEMENT_DECODES | GUFO_ELEMENT_ENCODES)
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) \
    [id] = {id, #name, elements, bytes, (flags) | (coding)},
#include "gufo/element_types.def"
#undef GUFO_ELEMENT_TYPE
};

enum { ELEMENT_TYPE_COUNT = sizeof element_types / sizeof *element_types };

enum {
    ELEMENT_TYPE_ROWS = 0
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) +1
#include "gufo/element_types.def"
#undef GUFO_ELEMENT_TYPE
};

_Static_assert((int)ELEMENT_TYPE_ROWS == (int)ELEMENT_TYPE_COUNT, "an id is the index of its row");

size_t gufo_element_type_count(void)
{
    return ELEMENT_TYPE_COUNT;
}

const gufo_element_type *gufo_element_type_at(size_t index)
{
    return index < ELEMENT_TYPE_COUNT ? &element_types[index] : NULL;
}

const gufo_element_type *gufo_element_type_by_id(uint32_t id)
{
    return gufo_element_type_at(id);
}

const gufo_element_type *gufo_element_type_by_name(const char *name)
{
    for (size_t i = 0; i < ELEMENT_TYPE_COUNT; i++)
        if (strcmp(element_types[i].name, name) == 0)
            return &element_types[i];
    return NULL;
}

gufo_status gufo_element_row_size(const gufo_element_type *type, uint64_t elements, uint64_t *bytes,
                                  gufo_error *error)
{
    if (type->block_elements == 0)
        return refuse(error, GUFO_E_TYPE, "the layout of %s is not known", type->name);
    if (elements % type->block_elements != 0)
        return refuse(error, GUFO_E_ARGUMENT, "%s elements do not fill blocks of %" PRIu32 " of %s",
                      GROUPED(elements), type->block_elements, type->name);
    if (!checked_mul(elements / type->block_elements, type->block_bytes, bytes))
        return refuse(error, GUFO_E_RANGE, "%s elements of %s do not fit into 64 bits of bytes",
                      GROUPED(elements), type->name);
    return GUFO_OK;
}
