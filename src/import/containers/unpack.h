/* Numbers of the frameworks that no element type of GGUF has: BOOL, U8, F8. */
#ifndef IMPORT_CONTAINERS_UNPACK_H
#define IMPORT_CONTAINERS_UNPACK_H

#include "import/containers/checkpoint.h"
#include "produce/produce.h"

/* NULL: such numbers are not converted. */
const unpacker *unpack_find(const number_type *number);

/* Whether numbers of this type are converted: by the engine, or by an unpacker. */
static inline bool number_is_read(const number_type *number)
{
    return number_element_type(number) != NULL || unpack_find(number) != NULL;
}

/* Numbers of any type that is converted, as a file has them, to floats.  Their bytes may change. */
gufo_status unpack_floats(const number_type *number, bool swapped, uint8_t *bytes, uint64_t count,
                          float *out, gufo_error *error);

#endif
