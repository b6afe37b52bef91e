/* Metadata values from JSON. */
#ifndef CLI_CORE_VALUES_VALUE_JSON_H
#define CLI_CORE_VALUES_VALUE_JSON_H

#include "format/value/value.h"

#define VALUE_JSON_MESSAGE 160

/* A text among the numbers of an array, which has a zero in its place. */
typedef struct value_json_text {
    uint64_t index;
    gufo_value_type type; /* of the numbers */
    gufo_str text;
    char *kept; /* what `text` points to */
} value_json_text;

typedef struct value_json_texts {
    value_json_text *list;
    size_t count;
} value_json_texts;

/* A value of `type` in JSON, or an array of such values, or arrays of arrays; what it points to is
 * in `to`, whose buffer is to be freed in any case.  False, with the reason in `message`, for text
 * that is not JSON or does not fit the type.  `texts`: where an array of numbers may have some, to
 * be freed in any case; else NULL. */
bool value_json_read(gufo_value_type type, const char *text, gufo_value *out, encoder *to,
                     value_json_texts *texts, char message[VALUE_JSON_MESSAGE]);
void value_json_texts_free(value_json_texts *texts);

#endif
