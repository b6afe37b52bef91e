/* Values as a file stores them: their types, decoding and encoding them, and finding the end of an
 * array. */
#ifndef GUFO_FORMAT_VALUE_H
#define GUFO_FORMAT_VALUE_H

#include "base/buffer.h"
#include "gufo/format.h"

typedef enum value_kind {
    KIND_UNSIGNED,
    KIND_SIGNED,
    KIND_FLOAT,
    KIND_BOOL,
    KIND_STRING,
    KIND_ARRAY,
} value_kind;

typedef struct value_type_info {
    const char *name;
    value_kind kind;
    uint8_t size; /* bytes of a value; 0: not fixed */
} value_type_info;

/* The row for a value type as stored in a file; NULL if there is no such type. */
const value_type_info *value_type_row(uint32_t type);

/* Whether numbers in this encoding have to be swapped on this machine. */
bool encoding_swapped(gufo_encoding encoding);

/* Bytes of a count or length in this encoding: 4 in version 1, else 8. */
static inline size_t encoding_length_size(gufo_encoding encoding)
{
    return encoding.version == 1 ? 4 : 8;
}

/* Whether an integer, which has 64 bits in memory, fits into the bytes of its type. */
bool value_fits(const gufo_value *value);

/* The number in another type: a float as another float is rounded to nearest; all others must be
 * the same number there, also a float without a fraction as an integer, and 0 and 1 as a bool.  `out` may be
 * `from`, and is left alone by failures. */
gufo_status value_convert(const gufo_value *from, gufo_value_type type, gufo_value *out,
                          gufo_error *error);

uint64_t load_length(const uint8_t *at, gufo_encoding encoding);

/* The number or bool of type `type` at `at`. */
gufo_value load_number(const uint8_t *at, gufo_value_type type, gufo_encoding encoding);

/* The text of a string.  Writers of version 1 counted the terminating NUL until August 2023; one is
 * taken off there. */
gufo_str string_text(const uint8_t *at, uint64_t len, gufo_encoding encoding);

/* ---- arrays ------------------------------------------------------------------------------------- */

/* Finding the end of an array without recursion.
 *
 * Elements of fixed size are skipped at once.  Strings and arrays carry their lengths, so each must
 * be visited:
 *
 *     array  := type:u32 count:length element*
 *     string := length byte*
 *
 * The machine below keeps one frame per open array.  It stops where bytes are missing and can be
 * called again when there are more, so that the same code walks a mapping, a pipe that is still
 * being read, and an array that is iterated over later. */

typedef enum skip_result {
    SKIP_DONE,
    SKIP_SHORT,    /* needs the bytes up to `need` */
    SKIP_BAD_TYPE, /* the element type at `position` does not exist */
    SKIP_TOO_DEEP, /* the array that begins at `position` is one level too deep */
    SKIP_TOO_MANY, /* more elements than `visits` are strings or arrays */
} skip_result;

typedef struct array_skip {
    const uint8_t *base;
    uint64_t position, end; /* in base */
    gufo_encoding encoding;
    uint64_t need;         /* with SKIP_SHORT; UINT64_MAX if no file can be that long */
    uint32_t type;         /* read last; with SKIP_BAD_TYPE, the unknown one */
    uint64_t bad_bool;     /* position of the first bool that is neither 0 nor 1, or UINT64_MAX */
    gufo_value_type outer; /* element type and */
    uint64_t count;        /* elements of the outermost array, once its header was read */
    bool entered;          /* that header was read */
    unsigned depth;        /* number of open arrays, */
    unsigned max_depth;    /* at most so many */
    uint64_t visits;       /* strings and arrays that may still be visited one by one */
    gufo_value_type inner; /* elements of the innermost; those of all others are arrays */
    uint64_t left[GUFO_LARGEST_DEPTH]; /* elements still to skip; nothing above `depth` */
} array_skip;

/* Begins at the type field of an array at `position`. */
void array_skip_start(array_skip *skip, const uint8_t *base, uint64_t position, uint64_t end,
                      gufo_encoding encoding);
skip_result array_skip_run(array_skip *skip);

/* Walks an array of arrays from front to back, at any depth in the memory of one array_skip.
 * Recursion would let a file decide how much stack it takes, and gufo_array_next would read the
 * elements once for every level, because it finds the end of an array before it returns it. */
typedef enum array_event {
    ARRAY_LEAF,     /* an array of numbers or strings, complete */
    ARRAY_BEGIN,    /* an array of arrays: type and count; its arrays follow */
    ARRAY_END,      /* of the array of arrays that began last and has not ended */
    ARRAY_DONE,     /* of the whole */
    ARRAY_TOO_DEEP, /* for walk->max_depth */
    ARRAY_CHANGED,  /* what follows is not an array that ends where it should */
} array_event;

void array_walk_start(array_skip *walk, const gufo_array *array);
array_event array_walk_next(array_skip *walk, gufo_array *out);
/* Skips the rest of the open array of arrays: returns ARRAY_END, or why it cannot. */
array_event array_walk_leave(array_skip *walk);
/* Whether the open array of arrays has more elements. */
static inline bool array_walk_has_more(const array_skip *walk)
{
    return walk->depth > 0 && walk->left[walk->depth - 1] > 0;
}

/* Checks what a caller made: types exist, texts and elements are given, and numbers have the size
 * that their count says; elements are not looked at.  GUFO_E_ARGUMENT otherwise. */
gufo_status value_check(const gufo_value *value, gufo_error *error);
/* Whether the elements of an array take exactly its bytes.  Nesting above GUFO_LARGEST_DEPTH
 * counts as right here: the walks refuse it. */
bool array_filled(const gufo_array *array);
/* GUFO_E_ARGUMENT for one that is not filled. */
gufo_status array_fail_unfilled(const gufo_array *array, gufo_error *error);

/* GUFO_E_CHANGED: the elements are not where they were. */
gufo_status array_fail_changed(gufo_error *error);

/* The bytes of an array's type and count. */
static inline size_t array_header_size(gufo_encoding encoding)
{
    return 4 + (encoding.version == 1 ? 4 : 8);
}

/* ---- encoding ----------------------------------------------------------------------------------- */

/* Encoding of header, metadata and tensor infos, the inverse of walk.c.  Each appends to `out`, GGUF version 2 or 3 in byte order `big`; false without memory. */
typedef struct encoder {
    buffer out;
    bool big;
    unsigned max_depth; /* of arrays that are copied; 0: GUFO_MAX_DEPTH */
} encoder;

bool encode_bytes(encoder *e, const void *data, uint64_t size);
bool encode_u32(encoder *e, uint32_t v);
bool encode_u64(encoder *e, uint64_t v);
bool encode_string(encoder *e, gufo_str text);
bool encode_strings(encoder *e, const gufo_str *texts, uint64_t count);
/* What a file begins with, and a tensor info; `offset` is from the start of the data. */
bool encode_header(encoder *e, uint32_t version, uint64_t tensors, uint64_t entries);
bool encode_info(encoder *e, gufo_str name, uint32_t n_dims, const uint64_t *dims, uint32_t type,
                 uint64_t offset);
/* The bytes of a number or bool in the order of this machine, as many as its type has. */
void number_bytes(const gufo_value *value, uint8_t out[8]);
/* `count` numbers of `width` bytes, which are in the other order if `swapped`. */
bool encode_numbers(encoder *e, const void *data, uint64_t count, size_t width, bool swapped);
/* An array as a file or as memory stores it, with its type and count.  `depth` of items is 1 for
 * the outermost: they are never deeper than GUFO_MAX_DEPTH.  These can also fail because the file
 * was changed, because a bool is neither 0 nor 1, or because arrays are nested too deep. */
gufo_status encode_array(encoder *e, const gufo_array *array, gufo_error *error);
gufo_status encode_items(encoder *e, const gufo_items *items, unsigned depth, gufo_error *error);

#endif
