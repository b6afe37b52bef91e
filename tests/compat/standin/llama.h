/* A library between the program and ggml, as libllama is. */
#ifndef STANDIN_LLAMA_H
#define STANDIN_LLAMA_H

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
/* Prints which file the gguf_ functions that are called lie in, and what they say about the model at
 * `path`, which they first write. */
extern int
llama_describe(const char *path);

#endif
