/* Patterns of names in the tables: * is any run of characters, {b} and {e} are numbers. */
#ifndef IMPORT_ARCHITECTURES_CONFIGURATION_PATTERN_H
#define IMPORT_ARCHITECTURES_CONFIGURATION_PATTERN_H

#include "gufo/base.h"

/* What the placeholders are in a name. */
typedef struct pattern_numbers {
    uint64_t block, entry; /* {b} and {e}; UINT64_MAX: the pattern has none */
} pattern_numbers;

/* Whether a name has a pattern; *numbers (may be NULL) is only set if it does. */
bool pattern_matches(gufo_str pattern, gufo_str name, pattern_numbers *numbers);

#endif
