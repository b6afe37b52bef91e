/* Numbers that a conversion writes twice. */
#ifndef IMPORT_EXPORT_COPIES_H
#define IMPORT_EXPORT_COPIES_H

#include "import/export/invert.h"

/* GUFO_E_TYPE where the model has other numbers in a tensor that a conversion would make a copy of another
 * one: they would be lost. */
gufo_status copies_check(const inversion *v, gufo_error *error);

#endif
