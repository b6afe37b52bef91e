/* A library between the program and ggml, as libllama is. */
#ifndef STANDIN_LLAMA_H
#define STANDIN_LLAMA_H

/* Writes a model to `path`, reads it, and prints which file contains the gguf_ functions that do
 * it, and what they say. */
int llama_describe(const char *path);

#endif
