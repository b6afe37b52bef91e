/* The kernels that the page calls: those that decode.  These tables take the places of the library's, which have the
 * encoders in them, a tenth of the page; the linker takes no file of an archive whose names are all here.
 *
 * F16 and BF16 are encoded where decoded numbers become halves (gufo_decode_f16). */
#include "codec/kernels.h"

#define ROW_NONE(id, name)
#define ROW_DECODED(id, name)
#define ROW_CODED(id, name) [id] = {.decode = KERNEL(decode_##name)},

const coder kernels_portable[] = {
#define GUFO_ELEMENT_TYPE(id, name, elements, bytes, flags, coding) ROW_##coding(id, name)
#include "gufo/element_types.def"
#undef GUFO_ELEMENT_TYPE
};

/* No adapter is merged here. */
const double_kernels doubles_portable = {0};
