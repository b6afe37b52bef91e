/* gufo ollama: models in the store of Ollama.
 *
 *     gufo ollama import MODEL...       from files into the store (ollama_import.c)
 *     gufo ollama export NAME [OUT]     from the store to files (ollama_export.c)
 *
 * ollama_store.c knows where the store is. */
#ifndef CLI_REMOTE_OLLAMA_H
#define CLI_REMOTE_OLLAMA_H

#include "cli/core/options/options.h"
#include "gufo/ollama.h"

typedef struct ollama_options {
    command_input base;
    const char *store; /* --store; NULL: where Ollama has it */
    /* import */
    const char *name, *system, *template_file;
    option_texts params, licenses;
    /* export */
    const char *settings;
    bool link;
} ollama_options;

/* The folder of the store: --store, OLLAMA_MODELS, or ~/.ollama/models; the caller frees it.  Of `exists`, where
 * that is missing, the one of a service.  NULL after a report. */
char *ollama_find_store(const ollama_options *options, bool exists);

int ollama_import(ollama_options *options);
int ollama_export(ollama_options *options);

#endif
