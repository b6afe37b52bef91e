/* Pieces for the engine: the numbers of tensors of the model in the order of one of the checkpoint. */
#ifndef IMPORT_EXPORT_ARRANGE_H
#define IMPORT_EXPORT_ARRANGE_H

#include "import/export/invert.h"
#include "produce/produce.h"

/* Adds what makes tensor `owner` of the checkpoint, with numbers of `type`, at `place` of a target.
 *   GUFO_E_TYPE   a type that is not decoded; blocks whose numbers go to several places
 *   GUFO_E_LIMIT  numbers that are scattered over too many places */
gufo_status arrange(gufo_job *job, const inversion *v, uint64_t owner,
                    const gufo_element_type *type, uint32_t target, uint64_t place,
                    gufo_error *error);

#endif
