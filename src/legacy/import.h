/* An import of an old file. */
#ifndef LEGACY_IMPORT_H
#define LEGACY_IMPORT_H

#include "import/import.h"
#include "legacy/plan.h"

typedef struct legacy_import {
    gufo_import base;
    legacy_file file;
    legacy_shapes shapes;
    legacy_tensor *tensors;
    uint64_t tensor_count, tensor_room;
} legacy_import;

/* tensors.c: the list of tensors, with their types. */
gufo_status legacy_plan_tensors(legacy_import *im, const gufo_legacy_options *options,
                                gufo_error *error);
/* keys.c: the document's entries. */
gufo_status legacy_set_keys(legacy_import *im, const gufo_legacy_options *options,
                            gufo_error *error);
/* adapter.c: GGLA, LoRA adapters. */
gufo_import *legacy_open_adapter(const char *path, const gufo_legacy_options *options,
                                 gufo_error *error);
/* gguf.c: GGUF of version 1 or 2. */
gufo_import *legacy_open_gguf(const char *path, const gufo_legacy_options *options,
                              gufo_error *error);

#endif
