/* What the two builds do differently: ggml_*.c in the standalone build, dropin.cpp in the other. */
#ifndef GUFO_COMPAT_BUILDS_H
#define GUFO_COMPAT_BUILDS_H

#include "gguf.h"
#include "gufo/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tells the log; `line` ends with a newline. */
void compat_log(const char *line);

/* Where `size` bytes of the tensor's data from `offset` on are.  `scratch` has room for them; data
 * on a device is copied there. */
const void *compat_tensor_bytes(const struct ggml_tensor *tensor, size_t offset, size_t size,
                                void *scratch);

/* Where what is written goes.  False if it cannot be taken; *error, which says that memory ran out,
 * may be given another reason. */
typedef bool compat_sink(void *to, const void *data, size_t size, gufo_error *error);
/* The same in both: writes to a sink.  False, with a message to the log, without memory, if the
 * sink refuses, or if the reader would refuse what is written: nothing goes to the sink then.
 * Aborts if data is to be written that is not there. */
bool compat_write(const struct gguf_context *ctx, bool only_meta, compat_sink *sink, void *to);

#ifdef __cplusplus
}
#endif

#endif
