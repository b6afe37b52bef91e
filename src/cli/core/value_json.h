/* Metadata values from JSON. */
#ifndef CLI_CORE_VALUE_JSON_H
#define CLI_CORE_VALUE_JSON_H

#include "format/value/encode.h"

#define VALUE_JSON_MESSAGE 160

/* A value of `type` in JSON, or an array of such values, or arrays of arrays; what it points to is
 * in `to`, whose buffer is to be freed in any case.  False, with the reason in `message`, for text
 * that is not JSON or does not fit the type. */
bool value_json_read(gufo_value_type type, const char *text, gufo_value *out, encoder *to,
                     char message[VALUE_JSON_MESSAGE]);

#endif
