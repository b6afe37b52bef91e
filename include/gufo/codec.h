/* Floor 1: the element types of tensors.
 *
 * A tensor's rows (dimension 0) are sequences of blocks; every block holds `block_elements`
 * elements in `block_bytes` bytes, and blocks never cross rows.  Plain number types have blocks of
 * one. */
#ifndef GUFO_CODEC_H
#define GUFO_CODEC_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One constant per id that ever had a name: GUFO_TYPE_F32, GUFO_TYPE_Q4_K ... */
enum {
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags) GUFO_TYPE_##name = id,
#include "element_types.def"
#undef GUFO_ELEMENT_TYPE
};

typedef enum gufo_element_flags {
    GUFO_ELEMENT_QUANTIZED = 1, /* elements share scales; general.quantization_version applies */
    GUFO_ELEMENT_REMOVED = 2,   /* no longer part of the format; old files may hold it */
} gufo_element_flags;

typedef struct gufo_element_type {
    uint32_t id;             /* as stored in the tensor info */
    const char *name;        /* "F32", "Q4_K" ... */
    uint32_t block_elements; /* 0: the layout is not known any more (ids 4, 5, 37, 38) */
    uint32_t block_bytes;    /* 0: likewise */
    uint32_t flags;          /* of gufo_element_flags */
} gufo_element_type;

/* The number of rows of the type table, and row `index` of it in the order of ids (NULL past the
 * end).  Static; any thread. */
GUFO_API size_t gufo_element_type_count(void);
GUFO_API const gufo_element_type *gufo_element_type_at(size_t index);

/* The type with this id, or with this name (exact, upper case); NULL if the table has none.
 * Static; any thread. */
GUFO_API const gufo_element_type *gufo_element_type_by_id(uint32_t id);
GUFO_API const gufo_element_type *gufo_element_type_by_name(const char *name);

/* The bytes of a row of `elements` elements.  GUFO_E_TYPE if the layout is not known,
 * GUFO_E_ARGUMENT if they do not fill whole blocks, GUFO_E_RANGE if the size overflows. */
GUFO_API gufo_status gufo_element_row_size(const gufo_element_type *type, uint64_t elements,
                                           uint64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
