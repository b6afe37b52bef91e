/* Floor 3: what the values of a GGUF file mean. */
#ifndef GUFO_SCHEMA_H
#define GUFO_SCHEMA_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The short name of a general.file_type ("Q4_K_M" for 15), NULL if the number is not known.
 * Spec, General metadata; static; any thread. */
GUFO_API const char *gufo_file_type_name(uint64_t file_type);

#ifdef __cplusplus
}
#endif

#endif
