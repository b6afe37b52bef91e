/* Finding what a model says of a key, for callers that know its architecture. */
#ifndef GUFO_SCHEMA_KEY_ENTRY_H
#define GUFO_SCHEMA_KEY_ENTRY_H

#include "gufo/schema.h"

/* As gufo_key_entry. */
bool key_entry_of(const gufo_model *model, gufo_str architecture, const char *key, gufo_entry *out);

#endif
