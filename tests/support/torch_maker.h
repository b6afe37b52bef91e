/* Makes files of PyTorch, good or broken, without the library: pickles opcode by opcode, zip
 * archives, and the old files before 1.6.
 *
 *     builder p = builder_new((encoding){3, false}), file = p;
 *     pickled_begin(&p);
 *     pickled_dictionary(&p);
 *     pickled_text(&p, "a.weight");
 *     pickled_tensor(&p, &(torch_view)TORCH_VIEW("Float", "0", 6, 0, 2,
 *                                                  .shape = {2, 3}, .stride = {3, 1}));
 *     pickled_op(&p, 's');
 *     pickled_op(&p, '.');
 *     const zip_part parts[] = {{"x/data.pkl", p.data, p.len, 0}, {"x/data/0", floats, 24, 0}};
 *     zip_build(&file, parts, 2, false);
 */
#ifndef TEST_SUPPORT_TORCH_MAKER_H
#define TEST_SUPPORT_TORCH_MAKER_H

#include "builder.h"

/* ---- pickles -------------------------------------------------------------------------------- */

typedef struct torch_view {
    const char *storage; /* "Float" of torch.FloatStorage; "Untyped": with `dtype` */
    const char *key;
    uint32_t elements; /* of the storage */
    uint32_t first;    /* of the tensor */
    uint32_t n_dims;
    uint32_t shape[9], stride[9];
    const char *dtype;  /* "float8_e4m3fn": _rebuild_tensor_v3; NULL: _rebuild_tensor_v2 */
    const char *window; /* old files: the key of a view of the storage; NULL: none */
    uint32_t window_first, window_elements;
    bool is_old; /* with a sixth part in the id of the storage */
} torch_view;

/* The storage with its elements, the first element of the tensor, its dimensions. */
#define TORCH_VIEW(class, name, count, begin, dims, ...)                                  \
    {                                                                                     \
        .storage = class, .key = name, .elements = count, .first = begin, .n_dims = dims, \
        __VA_ARGS__                                                                       \
    }

void pickled_begin(builder *b);                  /* PROTO 2 */
void pickled_op(builder *b, char opcode);        /* without argument */
void pickled_int(builder *b, uint32_t n);        /* BININT */
void pickled_text(builder *b, const char *text); /* BINUNICODE */
void pickled_global(builder *b, const char *module, const char *name);
/* collections.OrderedDict() */
void pickled_dictionary(builder *b);
void pickled_tensor(builder *b, const torch_view *view);

/* ---- archives ------------------------------------------------------------------------------- */

typedef struct zip_part {
    const char *name;
    const void *bytes;
    size_t size;
    uint16_t method; /* 0: stored */
} zip_part;

/* Data begin at multiples of 64 bytes.  `zip64`: sizes and places are in records of 64 bits. */
void zip_build(builder *b, const zip_part *parts, size_t count, bool zip64);

/* ---- old files ------------------------------------------------------------------------------ */

typedef struct old_storage {
    const char *key;
    uint64_t elements;
    const void *bytes; /* as they are in the file */
    size_t size;
} old_storage;

/* `pickle`: the dictionary, from PROTO to STOP.  `big`: the byte order of what follows it. */
void torch_old_build(builder *b, const builder *pickle, const old_storage *storages, size_t count,
                     bool big);

#endif
