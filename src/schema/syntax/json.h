/* Whether a text is JSON (RFC 8259), without building anything from it. */
#ifndef GUFO_SCHEMA_JSON_H
#define GUFO_SCHEMA_JSON_H

#include "gufo/base.h"

/* Deeper texts are refused, because each level takes stack. */
enum { JSON_DEPTH = 256 };

/* Called with each member of an object: how deep the object is (1: the outermost), the name of the
 * member as it is written, and the first byte of its value. */
typedef void json_member(void *context, unsigned depth, gufo_str name, char first);

typedef struct json_fault {
    const char *reason; /* constant; NULL: the text is JSON */
    size_t at;          /* in the text */
} json_fault;

/* Takes any bytes, in linear time.  `member` may be NULL.  Any thread. */
json_fault json_check(gufo_str text, json_member *member, void *context);

#endif
