// What the drop-in build needs from ggml that only C++, or ggml's private header, can say.
//
// The rest of the room is compiled against ggml's own headers there, and its objects come before
// ggml's in the link, so that the linker has no use for gguf.cpp any more.
#include "ggml-backend.h"
#include "ggml-impl.h"

#include "compat/builds.h"
#include "gufo/format.h"

#include <vector>

extern "C" void compat_log(const char *line)
{
    ggml_log_internal(GGML_LOG_LEVEL_ERROR, "%s", line);
}

extern "C" const void *compat_tensor_bytes(const struct ggml_tensor *tensor, size_t offset,
                                           size_t size, void *scratch)
{
    if (tensor->buffer == nullptr)
        return static_cast<const char *>(tensor->data) + offset;
    ggml_backend_tensor_get(tensor, scratch, offset, size);
    return scratch;
}

// ---- two functions that ggml's private header declares for C++ ---------------------------------

size_t gguf_type_size(enum gguf_type type)
{
    return gufo_value_type_size(static_cast<gufo_value_type>(type));
}

static bool to_vector(void *to, const void *data, size_t size, gufo_error *)
{
    std::vector<int8_t> &bytes = *static_cast<std::vector<int8_t> *>(to);
    const int8_t *from = static_cast<const int8_t *>(data);

    try {
        bytes.insert(bytes.end(), from, from + size);
    } catch (const std::bad_alloc &) {
        return false;
    }
    return true;
}

void gguf_write_to_buf(const struct gguf_context *ctx, std::vector<int8_t> &buf, bool only_meta)
{
    (void)compat_write(ctx, only_meta, to_vector, &buf);
}
