/* Fuzz target: anything as a file of PyTorch, or as a pickle in one. */
#include "checkpoints.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* An old file: what is around the pickle of the dictionary. */
static const char before[] = "\x80\2\x8a\12\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
                             "\x80\2M\xe9\3."
                             "\x80\2}U\15little_endian\x88s.";
static const char after[] = "\x80\2](U\1"
                            "0e."
                            "\6\0\0\0\0\0\0\0abcdabcdabcdabcdabcdabcd";

/* A pickle begins as such a file does: the fourth byte differs. */
static int is_pickle(const uint8_t *data, size_t size)
{
    return size >= 4 && data[0] == 0x80 && memcmp(data, before, 4) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t head = sizeof before - 1, tail = sizeof after - 1;
    uint8_t *file = malloc(head + size + tail);

    must(file != NULL, "the machine has enough memory");
    look_at_checkpoint(data, size);
    if (is_pickle(data, size)) {
        memcpy(file, before, head);
        memcpy(file + head, data, size);
        memcpy(file + head + size, after, tail);
        look_at_checkpoint(file, head + size + tail);
    }
    free(file);
    return 0;
}
