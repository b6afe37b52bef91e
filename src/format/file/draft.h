/* Files of the draft that came before version 1. */
#ifndef FORMAT_FILE_DRAFT_H
#define FORMAT_FILE_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#define DRAFT_KIND                                                                           \
    "a file of the draft of GGUF that was proposed before version 1 (its values have their " \
    "length before them), which no program reads; convert the original model"

/* Whether the first bytes of a file, whatever its magic number, are those of the draft.  What tells
 * is the first two entries, which `size` should cover. */
bool draft_recognise(const void *file, uint64_t size);

#endif
