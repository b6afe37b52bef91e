/* Names that fit into a GGUF file. */
#ifndef IMPORT_ARCHITECTURES_PLAN_SHORT_NAME_H
#define IMPORT_ARCHITECTURES_PLAN_SHORT_NAME_H

#include "gufo/format.h"

enum { SHORT_NAME_MAX = 63 };

/* The name itself; or, of one with more than SHORT_NAME_MAX bytes, its first 46 bytes, "~", and the 16
 * digits of its XXH64: true then. */
bool short_name(gufo_str name, char out[GUFO_MAX_NAME + 1]);

#endif
