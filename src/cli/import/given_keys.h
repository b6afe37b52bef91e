/* Keys that the user gives with --set, for a model that is made of one in another format. */
#ifndef CLI_IMPORT_GIVEN_KEYS_H
#define CLI_IMPORT_GIVEN_KEYS_H

#include "cli/core/options/options.h"
#include "gufo/value.h"

#include "gufo/document.h"

enum { GIVEN_KEYS_MESSAGE = sizeof((gufo_error *)0)->message };

/* Sets a key to a text of one of these types, the first that it fits; false with the reason in
 * `message`. */
bool given_keys_set(gufo_document *document, const char *key, const char *text,
                    const gufo_key_types *types, char message[GIVEN_KEYS_MESSAGE]);
/* The same for [TYPE:]VALUE. */
bool given_keys_set_text(gufo_document *document, const char *key, const char *text,
                         char message[GIVEN_KEYS_MESSAGE]);

/* The key of a setting, KEY=[TYPE:]VALUE, which the caller frees; NULL without memory. */
char *given_keys_name(const char *setting);
/* A new document with the keys of all settings, KEY=[TYPE:]VALUE; the caller frees it, also after a
 * failure.  Returns the exit code. */
int given_keys_take(gufo_document **document, const option_texts *settings);

#endif
