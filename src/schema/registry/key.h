/* What the checks ask of keys and their types beyond what is public. */
#ifndef GUFO_SCHEMA_KEY_H
#define GUFO_SCHEMA_KEY_H

#include "gufo/value.h"

/* In tables, where keys have the architecture. */
#define KEY_ARCH "{arch}"

/* The row that is called exactly so; NULL: none. */
const gufo_key_info *key_row(const char *key);
/* The row of a key as other rows name it: without KEY_ARCH in front, or whole. */
const gufo_key_info *key_named(gufo_str name);

bool key_is_integer(gufo_value_type type);
/* Whether both are integers, both floats, or the same. */
bool key_same_kind(gufo_value_type a, gufo_value_type b);

/* Takes "array[" off the front and "]" off the back of a type; false if they are not there. */
bool key_strip_array(gufo_str *type);

/* The longest key that is put together, with its end. */
enum { KEY_SIZE = GUFO_KEY_NAME_SIZE };

/* The type that a value of the key has, if it is one number, bool or string; empty: it is a list. */
gufo_str key_scalar_type(const gufo_key_info *info);

/* The key of a table in a file of this architecture, whose name becomes "{arch}", with an end and
 * its length.  False where more has to be filled in, or does not fit. */
bool key_put_together(const char *key, gufo_str architecture, char out[KEY_SIZE], size_t *len);
/* The same of a row. */
bool key_in_file(const gufo_key_info *info, gufo_str architecture, char out[KEY_SIZE]);

/* Other names of keys: registry/key_aliases.tsv. */
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

/* As gufo_model_key_entry, for callers that know the architecture. */
bool key_entry_of(const gufo_model *model, gufo_str architecture, const char *key, gufo_entry *out);

#endif
