/* Patterns of names, with * for any run of characters. */
#ifndef IMPORT_ARCHITECTURES_PATTERN_H
#define IMPORT_ARCHITECTURES_PATTERN_H

#include "gufo/base.h"

bool pattern_matches(gufo_str pattern, gufo_str text);

#endif
