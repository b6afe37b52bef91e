/* Other names of keys: registry/key_aliases.tsv. */
#ifndef GUFO_SCHEMA_KEY_ALIAS_H
#define GUFO_SCHEMA_KEY_ALIAS_H

#include "gufo/schema.h"

typedef struct key_alias {
    const char *name;  /* the other name */
    const char *today; /* the key of today, of */
    size_t length;     /* bytes */
    const char *fix;   /* "fix" where renaming is right for every reader in use, "" where not */
    const char *order; /* a digit: of several names in a model, the one with the lowest counts */
    const char *front; /* goes in front of a text that has the other name; "" for nothing */
} key_alias;

/* The order of the key of today, and one behind all. */
#define ALIAS_TODAY '5'
#define ALIAS_NONE (char)('9' + 1)

/* The rows of a key of today, one for each call; NULL behind the last one.  *from is 0 at first. */
const key_alias *key_alias_next(gufo_str today, size_t *from);
/* The row of a key that is another name; NULL: it is not. */
const key_alias *key_alias_find(const char *name);

#endif
