/* The kernels of one processor level, by element type. */
#include "codec/kernels.h"

#define ROW_NONE(id, name)
#define ROW_DECODED(id, name) /* by way of another type: see interleaved.c */
#define ROW_CODED(id, name) [id] = {KERNEL(decode_##name), KERNEL(encode_##name)},

const coder KERNEL(kernels)[] = {
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) ROW_##coding(id, name)
#include "gufo/element_types.def"
#undef GUFO_ELEMENT_TYPE
};
