/* What the fuzz targets share: looking at everything in a file, and comparing values.
 *
 * A target aborts (libFuzzer reports that) when the library breaks a promise; `must` says which. */
#ifndef GUFO_FUZZ_WALK_H
#define GUFO_FUZZ_WALK_H

#include <gufo.h>

/* The entry point of a target, called by libFuzzer or by replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says which promise was broken, and aborts. */
_Noreturn void broken(const char *promise);

/* Aborts with `promise` unless it holds. */
static inline void must(bool holds, const char *promise)
{
    if (!holds)
        broken(promise);
}

/* Reads every entry, every element of every array, every tensor and its data through each getter,
 * looks each up by name, looks through the data of the first tensors, and checks that what comes
 * back is consistent. `strict`: the file was opened without GUFO_OPEN_LENIENT, and promises
 * more. */
void walk_file(const gufo_model *file, bool strict);

/* Equal in type and content, arrays element by element, floats by their bits. */
bool same_value(const gufo_value *a, const gufo_value *b);

/* An allocator that counts the bytes that are held. */
typedef struct counter {
    size_t held, peak, blocks;
} counter;

gufo_allocator counting_allocator(counter *count);

#endif
