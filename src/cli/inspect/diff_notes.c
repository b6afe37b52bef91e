/* Differences that are neither in metadata nor in tensors. */
#include "cli/inspect/diff.h"

const diff_note diff_notes[DIFF_NOTES] = {
    {GUFO_NOTE_KEY_ORDER, "key_order", "keys are in another order"},
    {GUFO_NOTE_TENSOR_ORDER, "tensor_order", "tensors are in another order"},
    {GUFO_NOTE_VERSION, "version", "versions of the format differ"},
    {GUFO_NOTE_BYTE_ORDER, "byte_order", "byte orders differ"},
    {GUFO_NOTE_SHARDS, "shards", "numbers of shards differ"},
};
