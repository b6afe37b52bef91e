/* Arithmetic of a conversion that is undone: what has to be known of the numbers before. */
#ifndef IMPORT_EXPORT_UNDO_H
#define IMPORT_EXPORT_UNDO_H

#include "import/export/invert.h"

/* The type whose numbers become those of the model again: F16, if all do in F16, where a conversion works
 * on numbers of F16; else F32.  *exact: false where even those become other numbers, as far as that is tried:
 * not for ternary numbers, and scales of rows.  Sets the operations that make them; reads the numbers. */
gufo_status undo_choose_type(const inversion *v, undoing *u, const gufo_element_type **type,
                             bool *exact, gufo_error *error);

#endif
