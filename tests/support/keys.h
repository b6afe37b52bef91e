/* Keys and values as text, for tables of cases:
 *
 *     "llama.context_length uint32 16; general.name string Small; llama.list uint32[] 1 2 3"
 *
 * A value is a number, true or false, a text without ';', or the numbers of an array. */
#ifndef TEST_SUPPORT_KEYS_H
#define TEST_SUPPORT_KEYS_H

#include "check.h"

enum { KEY_ITEMS = 16 };

typedef struct key_text {
    char key[128];
    char text[192];   /* of a string */
    gufo_value value; /* a view of `text`; without the elements of an array */
    gufo_items items; /* of an array: a view of `bytes` */
    uint8_t bytes[KEY_ITEMS * 8];
} key_text;

/* Reads the next key into *out, and moves *at behind it; false at the end.  A text that is not in
 * this form fails the test. */
bool key_text_next(const char **at, key_text *out);

#endif
