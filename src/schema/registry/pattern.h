/* Finding a name of a file in a table of patterns.
 *
 * A pattern is a name in which a segment (the text between dots) may be a placeholder:
 *
 *     blk.12.attn_q                  blk. {bid} .attn_q
 *     llama.attention.head_count     {arch} .attention.head_count
 *
 * The tables are sorted by pattern.  So the placeholder replaces the segment in the name, and a
 * binary search finds the name with "{bid}" in it.  That name is never put together, only compared
 * part by part. */
#ifndef GUFO_SCHEMA_PATTERN_H
#define GUFO_SCHEMA_PATTERN_H

#include "gufo/base.h"

/* No pattern has more segments; a test checks it. */
#define PATTERN_MAX_SEGMENTS 8
/* Text and placeholders in turn, with two placeholders at most. */
#define PATTERN_MAX_PARTS 5

/* A name as parts that follow each other. */
typedef struct name_parts {
    gufo_str parts[PATTERN_MAX_PARTS];
    size_t count;
} name_parts;

/* The number that a placeholder replaced. */
typedef struct number_segment {
    bool found;
    uint64_t value; /* of the first such segment */
} number_segment;

/* The ends of the first segments of `name`, PATTERN_MAX_SEGMENTS at most, into ends[]; their
 * number. */
size_t pattern_segments(gufo_str name, size_t ends[PATTERN_MAX_SEGMENTS]);

/* Adds a part. */
void name_parts_add(name_parts *name, gufo_str part);

/* `name`, at most PATTERN_MAX_SEGMENTS segments of it, with its first segment that is a number
 * replaced by placeholders[0] and its second one by placeholders[1] (NULL: left alone).  Numbers
 * are decimal, without leading zeros, and fit into 64 bits. */
name_parts name_parts_read(gufo_str name, const char *const placeholders[2],
                           number_segment *number);

/* A table as the functions below take it: the rows, their number and size. */
#define ROW_COUNT(table) (sizeof(table) / sizeof *(table))
#define ROWS(table) (table), ROW_COUNT(table), sizeof *(table)

/* Row `index`, or NULL. */
static inline const void *row_at(const void *rows, size_t count, size_t size, size_t index)
{
    return index < count ? (const char *)rows + index * size : NULL;
}

/* Defines what is public of every table: the number of its rows, and row `index`. */
#define TABLE(rows, type, count, at)      \
    size_t count(void)                    \
    {                                     \
        return ROW_COUNT(rows);           \
    }                                     \
    const type *at(size_t index)          \
    {                                     \
        return row_at(ROWS(rows), index); \
    }

/* The row that is called `name`, or NULL.  `rows` are `count` structs of `size` bytes each, which
 * begin with a pointer to their name and are in its order (of bytes). */
const void *row_find_parts(const void *rows, size_t count, size_t size, const name_parts *name);

/* The same for a name of one part. */
const void *row_find(const void *rows, size_t count, size_t size, gufo_str name);

/* The rows that are called `name` where several may be: the first one, and their number. */
const void *row_find_all_parts(const void *rows, size_t count, size_t size, const name_parts *name,
                               size_t *found);
const void *row_find_all(const void *rows, size_t count, size_t size, const char *name,
                         size_t *found);

#endif
