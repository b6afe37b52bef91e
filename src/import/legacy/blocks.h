/* Blocks that are no longer made: the layouts of 2023, and what becomes of them. */
#ifndef IMPORT_LEGACY_BLOCKS_H
#define IMPORT_LEGACY_BLOCKS_H

#include "gufo/codec.h"

/* A block layout of one generation (docs/legacy.md draws them). */
typedef struct legacy_layout {
    const char *name;       /* "Q4_0" */
    uint8_t generations;    /* in which it has these bytes: bit 0, 1, 2 */
    uint32_t block_length;  /* numbers */
    uint32_t block_bytes;
    uint32_t today;         /* id of the type of the same name; UINT32_MAX: there is none */
    bool same_bytes;        /* today's blocks have these bytes */
    /* A block to its numbers, as the programs of the time computed them; NULL where same_bytes. */
    void (*decode)(const uint8_t *block, float *values);
    /* A block to one of today's type of the same name, with scales rounded to nearest; NULL where
     * there is none or same_bytes.  False if a scale is too large for it (`out` is then undefined). */
    bool (*repack)(const uint8_t *block, uint8_t *out);
    /* Offsets of the f32 scales in the block, for a look at whether they make sense; count 0: none. */
    uint8_t scale_count, scale_at[2];
} legacy_layout;

/* The layout of a type id of ggml's numbering, or of rwkv.cpp's, in a generation; NULL: none. */
const legacy_layout *legacy_layout_find(uint32_t id, unsigned generation);
const legacy_layout *legacy_layout_find_rwkv(uint32_t id, unsigned generation);

/* What today's type makes of numbers: sums over any rows of a tensor, which can be added up. */
typedef struct legacy_loss {
    uint64_t blocks;
    uint64_t odd_scales;  /* not finite, or of a size that no weights have (outside 1e-8 ... 1e3, but 0) */
    bool overflows;       /* a number, or a scale, does not fit: the type cannot be used */
    bool inexact;         /* a number changes */
    double max_abs_err;   /* the largest change */
} legacy_loss;

/* Adds what rows of old blocks lose as today's type of the same name, and as F16. `bytes` are whole blocks. */
void legacy_measure(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                    legacy_loss *same_name, legacy_loss *f16);

/* Whole blocks into today's of the same name; GUFO_E_RANGE with the sentence for a scale that does not fit. */
gufo_status legacy_repack(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                          uint8_t *out, gufo_error *error);
/* Whole blocks into numbers. */
void legacy_decode(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks, float *out);

#endif
