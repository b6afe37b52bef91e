/* ggml.h of the stand-in: our own, with the symbols of ggml. */
#ifndef STANDIN_GGML_H
#define STANDIN_GGML_H

#define GGML_SYMBOL(name)
#include "../../../../include/gufo-compat/ggml.h"

#endif
