/* libgufo: read, check and write GGUF model files.
 *
 * This header includes the header of every room.  Read them from the bottom up: base.h (errors,
 * strings, where bytes come from), codec.h (element types of tensors), format.h (the file itself),
 * schema.h (what the values mean), quant.h (making models smaller). */
#ifndef GUFO_H
#define GUFO_H

#include "gufo/base.h"
#include "gufo/codec.h"
#include "gufo/format.h"
#include "gufo/quant.h"
#include "gufo/schema.h"

#endif
