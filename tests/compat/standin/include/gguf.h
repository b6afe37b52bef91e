/* gguf.h of the stand-in: our own, with the symbols of ggml. */
#ifndef STANDIN_GGUF_H
#define STANDIN_GGUF_H

#include "ggml.h"

#include "../../../../include/gufo-compat/gguf.h"

#endif
