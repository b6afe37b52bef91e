/* Names that fit into a GGUF file. */
#ifndef IMPORT_ARCHITECTURES_SHORT_NAME_H
#define IMPORT_ARCHITECTURES_SHORT_NAME_H

#include "gufo/format.h"

/* The name itself; or, of one that is too long, its first 46 bytes, "~", and the 16 digits of its XXH64. */
void short_name(gufo_str name, char out[GUFO_MAX_NAME + 1]);

#endif
