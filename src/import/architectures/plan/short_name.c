/* Names that fit into a GGUF file: readers that end names with a NUL have room for 63 bytes.  A hash of
 * the whole name tells long ones with one beginning apart. */
#include "import/architectures/plan/short_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum { KEPT_BYTES = 46 };

/* A character is not cut: a name is text. */
static size_t kept_bytes(gufo_str name)
{
    size_t kept = KEPT_BYTES;

    while (kept > 0 && ((uint8_t)name.data[kept] & 0xc0u) == 0x80)
        kept--;
    return kept;
}

bool short_name(gufo_str name, char out[GUFO_MAX_NAME + 1])
{
    bool is_long = name.len > SHORT_NAME_MAX;

    if (is_long)
        (void)snprintf(out, GUFO_MAX_NAME + 1, "%.*s~%016" PRIx64, (int)kept_bytes(name), name.data,
                       xxh64_of(name));
    else
        (void)snprintf(out, GUFO_MAX_NAME + 1, "%.*s", (int)name.len, name.data);
    return is_long;
}
