/* What the objects in a pickle of PyTorch are: tensors, storages, dictionaries. */
#ifndef IMPORT_CONTAINERS_TORCH_OBJECTS_H
#define IMPORT_CONTAINERS_TORCH_OBJECTS_H

#include "import/containers/pickle.h"
#include "import/containers/tensors.h"

/* Elements in a row, which tensors are views of. */
typedef struct torch_storage {
    pickle_value key;
    const number_type *number; /* NULL: untyped, elements are bytes */
    uint64_t elements;
    uint64_t begin;    /* of the window in its root: in elements */
    pickle_value root; /* UNSET: it is its own */
    uint64_t offset;   /* of its first byte in the file, once it is known */
    bool located;
} torch_storage;

typedef struct torch_tensor {
    checkpoint_tensor tensor; /* without name; `offset` is that in the storage, in bytes */
    uint64_t shape[CHECKPOINT_MAX_DIMS], stride[CHECKPOINT_MAX_DIMS];
    bool strided; /* its elements do not follow each other: `stride` says where they are */
    uint64_t storage;
} torch_tensor;

typedef struct torch_objects {
    pickle pickle;
    pickle_host host;
    torch_storage *storages;
    torch_tensor *tensors;
    uint64_t storage_count, storage_room, tensor_count, tensor_room;
    name_index by_key; /* of storages */
} torch_objects;

/* Prepares reading the pickles in a source; `base`: where it begins in the file.  Freed with
 * torch_objects_free, also after a failure. */
gufo_status torch_objects_new(torch_objects *o, source *s, uint64_t base,
                              const gufo_allocator *allocator, gufo_error *error);
void torch_objects_free(torch_objects *o);

/* The storage with a key; NULL: no tensor has it. */
torch_storage *torch_storage_find(torch_objects *o, gufo_str key);
static inline uint32_t torch_storage_width(const torch_storage *storage)
{
    return storage->number == NULL ? 1 : storage->number->bits / 8;
}

/* Adds the tensors of the dictionary that was read, whose storages are located. */
gufo_status torch_objects_add(torch_objects *o, pickle_value dictionary, checkpoint *c,
                              uint32_t file, bool swapped);

#endif
