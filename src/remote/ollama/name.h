/* Names of models as Ollama writes them: [[HOST/]NAMESPACE/]MODEL[:TAG].
 *
 * What passes the grammar can be a path: no part is empty, begins with a point, or has a slash. */
#ifndef REMOTE_OLLAMA_NAME_H
#define REMOTE_OLLAMA_NAME_H

#include "gufo/base.h"

/* Views of the text, or of the parts that are usual. */
typedef struct ollama_name {
    gufo_str host;  /* registry.ollama.ai; it may have a port, "localhost:5000" */
    gufo_str owner; /* library: what Ollama calls a namespace */
    gufo_str model;
    gufo_str tag; /* latest */
} ollama_name;

/* GUFO_E_ARGUMENT for what is not a name. */
gufo_status ollama_name_read(gufo_str text, ollama_name *out, gufo_error *error);

/* Appends "HOST/NAMESPACE/MODEL/TAG"; and the name as people write it, without the usual parts:
 * "MODEL:TAG".  Both without a terminator; false without memory. */
bool ollama_name_path(const ollama_name *name, gufo_text *out);
bool ollama_name_text(const ollama_name *name, gufo_text *out);

#endif
