/* Rows of whole numbers of few bits, with a scale and a zero for each group of columns:
 *
 *     weight = scale (code - zero)      code and zero from 0 on
 *
 * A kind says how codes, scales and zeros are packed; what they mean is the same for all. */
#ifndef IMPORT_PACKED_CACHE_H
#define IMPORT_PACKED_CACHE_H

#include <stdint.h>

#include "base/bytes.h"
#include "import/packed/packed.h"

#define NO_PART UINT32_MAX

enum { INTEGER_COLUMNS_STEP = 512 };

/* Rows [first, first + count) and columns [column, column + columns) of a weight.  Columns begin at a
 * multiple of INTEGER_COLUMNS_STEP, so that words are whole. */
typedef struct integer_box {
    uint64_t first, count, column, columns;
} integer_box;

/* How a kind packs them. */
typedef struct integer_layout {
    /* The codes of a box, into rows of w->columns codes: those of the first row are at `codes`. */
    gufo_status (*codes)(const packed_weight *w, const integer_box *box, uint8_t *codes,
                         gufo_error *error);
    /* A scale and a zero for each group of rows [first, first + count). */
    gufo_status (*scales)(const packed_weight *w, uint64_t first, uint64_t count, float *scales,
                          uint16_t *zeros, gufo_error *error);
    uint32_t scale_part; /* [rows, groups], or [groups, rows]: */
    bool groups_first;   /* and rows are columns of the other parts, too: the more rows are read at
                          * once, the longer are the runs of bytes */
    uint32_t order_part; /* the group of each column; NO_PART, or a part that may be missing */
} integer_layout;

/* The groups of w->columns columns.  GUFO_E_MALFORMED if they do not divide them. */
gufo_status integers_groups(const packed_weight *w, uint64_t *groups, gufo_error *error);

/* Numbers of four bits, eight of them at once.
 *
 *     word      h g f e d c b a     four bits each, a the lowest
 *     spread    0h 0g 0f 0e 0d 0c 0b 0a     a byte each, a the lowest */
static inline uint64_t nibbles_spread(uint32_t word)
{
    uint64_t x = word;

    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    return (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/* Eight numbers of two bits, a byte each, the lowest bits first. */
static inline uint64_t pairs_spread(uint32_t half)
{
    uint64_t x = half;

    x = (x | x << 24) & UINT64_C(0x000000ff000000ff);
    x = (x | x << 12) & UINT64_C(0x000f000f000f000f);
    return (x | x << 6) & UINT64_C(0x0303030303030303);
}

/* The codes of a word, the lowest bits first: 32 / bits of them. */
static inline void integers_unpack(uint32_t word, uint32_t bits, uint8_t *codes)
{
    switch (bits) {
    case 2:
        store_u64(codes, pairs_spread(word & 0xffffu), HOST_IS_BIG_ENDIAN);
        store_u64(codes + 8, pairs_spread(word >> 16), HOST_IS_BIG_ENDIAN);
        break;
    case 4:
        store_u64(codes, nibbles_spread(word), HOST_IS_BIG_ENDIAN);
        break;
    case 8:
        store_u32(codes, word, HOST_IS_BIG_ENDIAN);
        break;
    default:
        for (uint32_t k = 0; k < 32 / bits; k++)
            codes[k] = (uint8_t)(word >> bits * k & ((1u << bits) - 1u));
    }
}

/* packed_kind.find_type, floats and blocks of kinds with a layout. */
gufo_status integers_type(const packed_weight *w, const gufo_element_type **type,
                          gufo_error *error);
gufo_status integers_floats(const packed_weight *w, uint64_t first, uint64_t count, float *out,
                            gufo_error *error);
gufo_status integers_blocks(const packed_weight *w, uint64_t first, uint64_t count, uint8_t *out,
                            gufo_error *error);

/* ==== cache.c ==================================================================================== */

/* Weights of whole numbers in memory: bands of rows, which several threads read at once, and units of work share. */

/* ---- outputs that are columns -------------------------------------------------------------- */

/* Weights whose rows, the outputs, are columns of their parts: GPTQ and AWQ.
 *
 *     .qweight  words
 *     .qzeros   [groups, outputs / per]    word [g, k]: zeros of outputs per k ... of group g
 *     .scales   [groups, outputs]
 *     .g_idx    [inputs]                   the group of each input; may be missing */

enum { COLUMNS_WEIGHT, COLUMNS_ZEROS, COLUMNS_SCALES, COLUMNS_ORDER };

/* Words are read in tiles, whose rows do not follow each other at a power of two: those would share the
 * lines of a processor's cache. */
enum { COLUMNS_TILE = 1 << 16, COLUMNS_PAD = 16 };

/* How zeros are in words. */
typedef struct columns_zeros {
    const uint8_t
        *places;  /* of the zeros of a word: multiples of settings.bits; NULL: 0, 1, 2 ... */
    uint32_t add; /* to what is stored */
} columns_zeros;

/* Checks the parts behind the words, once rows and columns are known. */
gufo_status columns_open(const packed_weight *w, gufo_error *error);

/* integer_layout.scales. */
gufo_status columns_scales(const packed_weight *w, const columns_zeros *z, uint64_t first,
                           uint64_t count, float *scales, uint16_t *zeros, gufo_error *error);

/* ---- some rows ----------------------------------------------------------------------------- */

/* Some rows of a weight of whole numbers, in memory: a byte for each number. */
typedef struct band {
    const packed_weight *w;
    uint64_t first, count;
    uint64_t groups, group; /* of a row; columns of one */
    uint8_t *codes;         /* w->columns for each row; NULL where scales are enough */
    float *scales;          /* `groups` for each row */
    uint16_t *zeros;
    uint32_t *order; /* the group of each column; NULL: column / group */
    void *block;     /* what the band has allocated for them */
} band;

/* Makes room for at most `most` rows, and reads the order of columns.  `room` has band_size bytes, or
 * is NULL: the band allocates them.  Closed also after a failure. */
gufo_status band_open(band *b, const packed_weight *w, uint64_t most, bool has_codes, void *room,
                      gufo_error *error);
void band_close(band *b);

/* Scales and zeros of rows b->first and more, b->count of them, which are finite; some columns of their
 * codes. */
gufo_status band_scales(band *b, gufo_error *error);
gufo_status band_codes(band *b, uint64_t column, uint64_t columns, gufo_error *error);

/* Refuses a row some of whose numbers have a scale of zero, but are not zero themselves. */
gufo_status band_check_row(const band *b, uint64_t row, gufo_error *error);

static inline uint64_t band_group(const band *b, uint64_t column)
{
    return b->order != NULL ? b->order[column] : column / b->group;
}

/* ---- rows that are read together ----------------------------------------------------------- */

/* Bands of rows that several threads read at once, and units of work share.
 *
 * A unit of work wants some rows, which are columns of the file: short runs of bytes, and a reading for
 * each of them.  So many rows are read together, once, by all threads that want some of them. */
enum { PACKED_CACHE_SLOTS = 2, PACKED_CACHE_BAND = 8 << 20 };

/* What it takes at most, in bytes. */
#define PACKED_CACHE_BYTES ((uint64_t)PACKED_CACHE_SLOTS * PACKED_CACHE_BAND)

/* NULL without memory.  It outlives the weights that use it. */
struct packed_cache *packed_cache_new(const gufo_allocator *allocator, gufo_error *error);
void packed_cache_free(struct packed_cache *c);

/* Whether bands help to read a weight. */
static inline bool packed_shares(const packed_weight *w)
{
    return w->cache != NULL && w->kind->integers != NULL && w->kind->integers->groups_first;
}

/* The band that has a row of a weight, read whole; *out stays until it is given back.  NULL: all bands
 * are in use, or such rows are too long.  Any thread. */
gufo_status packed_cache_take(struct packed_cache *c, const packed_weight *w, uint64_t row,
                              const band **out, gufo_error *error);
void packed_cache_give_back(struct packed_cache *c, const band *b);

#endif
