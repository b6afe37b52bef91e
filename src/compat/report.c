/* Telling the log of ggml what failed. */
#include "compat/context.h"

#include <inttypes.h>

void compat_report(const char *path, const gufo_error *error)
{
    char line[sizeof error->message + 512], where[48] = "";

    if (error->offset != GUFO_NO_OFFSET)
        (void)snprintf(where, sizeof where, "byte %" PRIu64 ": ", error->offset);
    (void)snprintf(line, sizeof line, "gguf: %.256s%s%s%s\n", path != NULL ? path : "",
                   path != NULL ? ": " : "", where, error->message);
    compat_log(line);
}
