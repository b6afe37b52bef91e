/* What this gufo was built with, for gufo --version. */
#ifndef CLI_CORE_OPTIONS_BUILT_IN_H
#define CLI_CORE_OPTIONS_BUILT_IN_H

#include <stdio.h>

/* "with: xxHash 0.8.1, ...", and "without: ..." if a library is missing: a line each. */
void built_in_print(FILE *out);

#endif
