/* Looking through the data of one tensor, as the files of the scan see it.
 *
 *     stats.c    what is counted and added up, in two passes
 *     scales.c   scales of blocks: those that are not numbers, and how they are distributed
 *     walk.c     one pass: read, decode, on many threads
 *     numbers.c  all tensors of a model
 *     check.c    findings about a whole file
 *
 * Data is a sequence of groups, the least that can be decoded: a block, or with the interleaved
 * types the blocks of 4 or 8 rows.  Groups follow each other along a band, which is so many rows
 * high; of all other types the whole tensor counts as one row.
 *
 *     band    |-----------------------------|-----------------------------|
 *     group   | | | | | | | | | | | | | | | | | | | | | | | | | | | | | | |
 *     chunk   |         |         |         |         |         |         |   read in one go
 *     piece   |   |   |X|   |   |X|   |   |X|   |   |X|   |   |X|   |   |X|   decoded in one go
 *
 * Where chunks and pieces begin depends on the tensor alone, and so do sums over them. */
#ifndef GUFO_QUANT_STATS_H
#define GUFO_QUANT_STATS_H

#include "gufo/quant.h"

#include "codec/run.h"

typedef struct stats_layout {
    const gufo_element_type *type;
    uint32_t rows; /* of a band */
    uint64_t columns;
    uint64_t group_elements, group_bytes;
    uint64_t groups; /* that are present */
    uint64_t groups_per_band, groups_per_chunk;
} stats_layout;

/* GUFO_E_TYPE and GUFO_E_ARGUMENT if the data cannot be decoded. */
gufo_status stats_lay_out(const gufo_tensor *tensor, stats_layout *layout, gufo_error *error);

/* Whether a tensor has data of its own.  One that overlaps breaks a rule already, and many of
 * them could make the work grow with the square of the file. */
static inline bool stats_has_own_data(const gufo_tensor *tensor)
{
    return !tensor->overlaps;
}

/* Groups of one band that have been decoded, row by row. */
typedef struct stats_piece {
    const gufo_tensor *tensor;
    const stats_layout *layout;
    uint64_t group, groups; /* the first one, and how many */
    const uint8_t *blocks;  /* in little-endian order */
    const double *values;
    uint64_t count;
} stats_piece;

enum { STATS_PIECE = 2048 }; /* the most values of a piece */

/* The place of value `at` of a piece: its element's index in the tensor; the byte in the file where
 * its group begins, or GUFO_NO_OFFSET. */
uint64_t stats_index(const stats_piece *piece, uint64_t at);
uint64_t stats_offset(const stats_piece *piece, uint64_t at);

/* One pass over the data. */
typedef struct stats_pass {
    const gufo_model *model;
    const gufo_tensor *tensor;
    const stats_layout *layout;
    bool swapped;   /* blocks are big-endian */
    bool undecoded; /* pieces have blocks alone */
    const gufo_run *run;
    uint64_t bytes_before, bytes_in_all; /* of all passes, for progress */
    size_t result_size;
    void *context;
    /* Adds a piece to the result of its chunk, which begins as zeros.  On any thread. */
    void (*visit)(const void *context, const stats_piece *piece, void *result);
    /* Takes the results of chunks, one after the other. */
    void (*take)(void *context, const void *result);
} stats_pass;

gufo_status stats_run_pass(const stats_pass *pass, gufo_error *error);

/* Adds the blocks of a piece whose scales are infinite, NaN, or not allowed. */
void stats_scales_count(const stats_piece *piece, gufo_stats_find *find);

/* Whether blocks of a type have scales that are counted. */
bool stats_scales_are_counted(uint32_t type);
void stats_scales_add(gufo_scale_counts *sum, const gufo_scale_counts *more);

typedef struct place_text {
    char text[96];
} place_text;

/* "row 12, column 7", and the matrix where there are several. */
place_text stats_place_text(const gufo_tensor *tensor, uint64_t index);

/* Adds finds that come later. */
static inline void stats_find_add(gufo_stats_find *find, const gufo_stats_find *more)
{
    if (find->count == 0)
        *find = *more;
    else
        find->count += more->count;
}

#endif
