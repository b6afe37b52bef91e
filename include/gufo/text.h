/* Floor 6: the room text, a separate library (libgufo_text): the vocabularies and the chat templates that
 * models have.  vocab.h is about vocabularies; template.h, of a library of its own, renders templates. */
#ifndef GUFO_TEXT_H
#define GUFO_TEXT_H

#include "vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Finds the template `name` of a model (tokenizer.chat_template.NAME), or the one without a name for
 * NULL.  *out is a view into the model, and lives as long.  GUFO_E_NOT_FOUND; GUFO_E_TYPE for a key
 * that is not a string.  Any thread. */
GUFO_API gufo_status gufo_chat_template(const gufo_model *model, const char *name, gufo_str *out,
                                        gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
