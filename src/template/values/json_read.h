/* JSON as values. */
#ifndef TEMPLATE_JSON_READ_H
#define TEMPLATE_JSON_READ_H

#include "template/values/value.h"

/* Reads a JSON text.  FAILED with GUFO_E_MALFORMED at the byte of the fault, GUFO_E_LIMIT ... */
value json_read(heap *memory, hash_key key, gufo_str json);

#endif
