/* Fuzz target: anything as a file of safetensors. */
#include "checkpoints.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    look_at_checkpoint(data, size);
    return 0;
}
