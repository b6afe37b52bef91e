/* Blocks that are no longer made: the layouts of 2023, and what becomes of them. */
#ifndef LEGACY_BLOCKS_H
#define LEGACY_BLOCKS_H

#include "gufo/codec.h"

#define LEGACY_NO_ID UINT32_MAX

/* A block layout of one or more generations (docs/legacy.md draws them). */
typedef struct legacy_layout {
    const char *name;    /* "Q4_0" */
    uint8_t generations; /* in which it has these bytes: bit 0, 1, 2 */
    uint32_t id, rwkv;   /* the type's id in ggml's numbering and in rwkv.cpp's, or LEGACY_NO_ID */
    uint32_t block_length; /* numbers */
    uint32_t block_bytes;
    uint32_t today;  /* id of the type of the same name, or LEGACY_NO_ID */
    bool same_bytes; /* today's blocks have these bytes */
    /* Whole blocks to their numbers, as the programs of the time computed them; NULL where
     * same_bytes. */
    void (*decode)(const uint8_t *blocks, uint64_t count, float *values);
    /* Whole blocks to those of today's type of the same name, with scales rounded to nearest; NULL
     * where there is none, or same_bytes.  Returns how many were made: the next one has a scale
     * that the type does not hold. */
    uint64_t (*repack)(const uint8_t *blocks, uint64_t count, uint8_t *out);
    uint8_t single_scales; /* f32 numbers at the start of the block: 0, 1 or 2 */
} legacy_layout;

/* The layout of a type id of ggml's numbering, or of rwkv.cpp's, in a generation; NULL: none. */
const legacy_layout *legacy_layout_find(uint32_t id, unsigned generation);
const legacy_layout *legacy_layout_find_rwkv(uint32_t id, unsigned generation);

/* What a type of today makes of old blocks: sums over any rows of a tensor, which can be added
 * up. */
typedef struct legacy_loss {
    uint64_t blocks;
    uint64_t odd_scales; /* f32 scales (of blocks * single_scales) that no weights have: not finite,
                            or not 0 and outside 1e-8 ... 1e3 */
    bool overflows;      /* a number, or a scale, would not be finite: the type cannot be used */
    bool inexact;        /* a number changes */
    double max_abs_err;  /* the largest change; of no meaning if it overflows */
} legacy_loss;

/* Adds what whole blocks lose as today's type of the same name (where there is one), and as F16.
 * What is not needed may be NULL. */
void legacy_measure(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                    legacy_loss *same_name, legacy_loss *f16);
/* Adds what other blocks of the tensor lose. */
void legacy_loss_add(legacy_loss *loss, const legacy_loss *other);

/* Whole blocks into today's of the same name, which has to exist; GUFO_E_RANGE with the sentence
 * for a scale that does not fit.  `bytes` and `out` do not overlap. */
gufo_status legacy_repack(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks,
                          uint8_t *out, gufo_error *error);
/* Whole blocks into numbers. */
void legacy_decode(const legacy_layout *layout, const uint8_t *bytes, uint64_t blocks, float *out);

#endif
