/* Where the store of Ollama is. */
#include "cli/remote/ollama.h"

#include <stdlib.h>

#include "cli/core/files/path.h"

static const char service_store[] = "/usr/share/ollama/.ollama/models";

char *ollama_find_store(const ollama_options *o, bool exists)
{
    const char *given = o->store != NULL ? o->store : getenv("OLLAMA_MODELS");
    const char *home = getenv("HOME");
    char *store;

    if (given != NULL && *given != '\0')
        return path_format("%s", given);
    if (home == NULL || *home == '\0') {
        report_message(NULL,
                       "the store of Ollama is not known: give --store, or set OLLAMA_MODELS");
        return NULL;
    }
    store = path_format("%s/.ollama/models", home);
    if (store != NULL && exists && !path_is_folder(store) && path_is_folder(service_store)) {
        free(store);
        store = path_format("%s", service_store);
    }
    return store;
}
