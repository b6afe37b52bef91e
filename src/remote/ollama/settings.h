/* What a manifest has beside files: the parameters and the configuration of a model, as JSON. */
#ifndef REMOTE_OLLAMA_SETTINGS_H
#define REMOTE_OLLAMA_SETTINGS_H

#include "gufo/ollama.h"

/* Appends the object of parameters: those that the caller gives ("NAME=VALUE"), and those that the keys of
 * the model advise; nothing where there are none.  GUFO_E_ARGUMENT, GUFO_E_MEMORY. */
gufo_status ollama_params(const gufo_model *model, const char *const *given, size_t count,
                          gufo_text *out, gufo_error *error);
/* Appends the configuration of a model and its projector, which may be NULL. */
gufo_status ollama_config(const gufo_model *model, const gufo_model *projector, gufo_text *out,
                          gufo_error *error);

#endif
