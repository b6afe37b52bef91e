/* A reader of pickles that never executes anything.
 *
 * A pickle is a program for a stack machine, whose opcodes push values, gather them in lists and
 * dictionaries, and call functions by name.  Here a name is only a name: what it means, and what a
 * "call" makes of its arguments, is for a host to say, which knows a short list and refuses all else.
 *
 *     MARK  'w'  GLOBAL torch._utils._rebuild_tensor_v2  (storage, 0, (2, 3), (3, 1))  REDUCE  SETITEMS
 *
 * Opcodes that a file of tensors does not need are refused by name.  Values are kept in lists by
 * number and never followed by recursion: they may contain themselves. */
#ifndef IMPORT_CONTAINERS_TORCH_OBJECTS_H
#define IMPORT_CONTAINERS_TORCH_OBJECTS_H

#include "base/files/source.h"
#include "import/containers/checkpoint.h"

/* ==== pickle.c =================================================================================== */

/* What a pickle may hold at once, and how long it may be: four million tensors fit. */
enum {
    PICKLE_MAX_STACK = 1 << 22,
    PICKLE_MAX_MEMO = 1 << 23,
    PICKLE_MAX_OBJECTS = 1 << 23,
    PICKLE_MAX_VALUES = 1 << 24, /* in all tuples, lists and dictionaries */
    PICKLE_MAX_SIZE = 1 << 28,
};

typedef enum pickle_kind {
    PICKLE_UNSET, /* of the memo */
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_FLOAT,
    PICKLE_TEXT,
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_SET,
    PICKLE_DICT,   /* keys and values by turns */
    PICKLE_GLOBAL, /* a name that the host knows */
    PICKLE_HOST,   /* what the host made of a call */
    PICKLE_OPAQUE, /* never used */
} pickle_kind;

typedef struct pickle_value {
    pickle_kind kind;
    uint32_t tag; /* the host's: of a global, or of what it made */
    union {
        int64_t number; /* of BOOL and INT; the host's */
        double real;
        struct {
            uint32_t at, len; /* in the source */
        } text;
        uint64_t object; /* of TUPLE, LIST, SET and DICT */
    } is;
} pickle_value;

typedef struct pickle_object {
    pickle_value *items;
    uint64_t count, room;
} pickle_object;

typedef struct pickle pickle;

/* Each fills *out or fails, by pickle_fail. */
typedef struct pickle_host {
    /* The global "MODULE.NAME". */
    gufo_status (*find)(pickle *p, gufo_str name, pickle_value *out);
    gufo_status (*call)(pickle *p, pickle_value global, pickle_value arguments, pickle_value *out);
    /* A value that is kept outside of the pickle, by its id. */
    gufo_status (*load)(pickle *p, pickle_value id, pickle_value *out);
    void *context;
} pickle_host;

struct pickle {
    const gufo_allocator *allocator;
    source *source; /* the bytes: those at `at` and behind */
    uint64_t base;  /* offset of the source in its file, for errors */
    uint64_t at;    /* behind the pickle, when it was read */
    const pickle_host *host;
    pickle_value result;
    gufo_error *error;

    uint64_t begin, opcode_at, argument;
    uint8_t opcode;
    bool stopped;
    pickle_value *stack, *memo;
    uint64_t depth, stack_room, memo_count, memo_room;
    uint64_t *marks, mark_count, mark_room; /* depths of the stack */
    pickle_object *objects;
    uint64_t object_count, object_room, value_count;
};

/* Reads the pickle at p->at into p->result.  What was read before stays. */
gufo_status pickle_read(pickle *p);
void pickle_free(pickle *p);

/* Fails at the opcode that is being executed. */
__attribute__((format(printf, 3, 4))) gufo_status pickle_fail(pickle *p, gufo_status code,
                                                              const char *format, ...);

/* Views of what a value holds; an empty one if it is of another kind. */
gufo_str pickle_text(const pickle *p, pickle_value value);
const pickle_object *pickle_items(const pickle *p, pickle_value value);

/* Makes an empty object; adds a value to one. */
gufo_status pickle_make(pickle *p, pickle_kind kind, pickle_value *out);
gufo_status pickle_add(pickle *p, pickle_value to, pickle_value value);

/* ==== torch_objects.c ============================================================================ */

/* What the objects in a pickle of PyTorch are: tensors, storages, dictionaries. */

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
