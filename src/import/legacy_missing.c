/* In place of the room legacy/ where it was left out (-DGUFO_LEGACY=OFF). */
#include "base/error.h"
#include "gufo/import.h"

gufo_import *gufo_import_legacy(const char *path, const gufo_legacy_options *options,
                                gufo_error *error)
{
    (void)options;
    (void)refuse(error, GUFO_E_TYPE,
                 "this gufo is built without the formats before GGUF and GGUF 1 and 2");
    fail_in(error, GUFO_FILE_INPUT, 0, path);
    return NULL;
}

const char *gufo_legacy_recognise(const void *data, size_t size)
{
    (void)data, (void)size;
    return NULL;
}
