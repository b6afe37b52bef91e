/* An importance matrix: the interface inside the room.
 *
 *     imatrix.c  life, look-up, reading, computing with the numbers: means, statistics
 *     open.c     opening: which format; GGUF, the old one
 *     merge.c    the sum of others
 *     output.c   writing
 *
 * It has one of three origins: a GGUF file, a file in the old format, or other importance matrices.
 * Numbers are passed on as doubles, in which sums and products of the file's floats are exact
 * enough to give back the same floats. */
#ifndef GUFO_QUANT_IMATRIX_H
#define GUFO_QUANT_IMATRIX_H

#include "base/files/source.h"
#include "format/file/records.h"
#include "format/model/model.h"
#include "gufo/quant.h"

typedef struct imatrix_entry {
    gufo_str name;
    uint64_t values, matrices;
    uint64_t sums_at, counts_at; /* in the file */
    uint32_t calls;              /* old format: what the means were multiplied with */
} imatrix_entry;

struct gufo_imatrix {
    gufo_allocator allocator;
    gufo_imatrix_format format;
    uint64_t chunk_count;
    uint32_t chunk_size;
    records entries;  /* of imatrix_entry */
    name_index names; /* of the entries */
    records datasets; /* of gufo_str */

    char *name;                  /* for errors, or NULL */
    gufo_model *file;            /* GGUF */
    source source;               /* old format */
    records texts;               /* old format: of char *, what names and datasets point to */
    const gufo_imatrix **inputs; /* merged */
    size_t input_count;
};

/* The index of the entry with a name; false if none exists. */
static inline bool imatrix_find(const gufo_imatrix *imatrix, gufo_str name, uint64_t *index)
{
    return name_index_find(&imatrix->names, name, index);
}

static inline imatrix_entry *imatrix_entry_at(const gufo_imatrix *imatrix, uint64_t index)
{
    return records_at(&imatrix->entries, index);
}

gufo_imatrix *imatrix_new(const gufo_allocator *allocator, const char *name, gufo_error *error);

/* Names the importance matrix in a failure, as number `index` of several; returns `status`. */
gufo_status imatrix_fail(const gufo_imatrix *imatrix, uint32_t index, gufo_status status,
                         gufo_error *error);

/* Adds an entry with that name to the list and to the index: *entry has everything else still to be
 * filled in.  GUFO_E_MALFORMED if there is one already; `offset` is where the file says it. */
gufo_status imatrix_add(gufo_imatrix *imatrix, gufo_str name, uint64_t offset,
                        imatrix_entry **entry, gufo_error *error);
gufo_status imatrix_add_dataset(gufo_imatrix *imatrix, gufo_str text, gufo_error *error);

/* Memory for a text that lives as long as the matrix; NULL without memory. */
char *imatrix_text(gufo_imatrix *imatrix, size_t size);

/* Room for this many numbers at a time is on the stack of the reader. */
enum { IMATRIX_CHUNK = 4096 };

/* Where its numbers are, if it was not merged. */
static inline const source *imatrix_source(const gufo_imatrix *m)
{
    return m->file != NULL ? &model_file(m->file)->source : &m->source;
}

/* Sums and counts of an entry; at most IMATRIX_CHUNK at a time, inside the entry. */
gufo_status imatrix_sums(const gufo_imatrix *imatrix, uint64_t index, uint64_t first, size_t count,
                         double *out, gufo_error *error);
gufo_status imatrix_counts(const gufo_imatrix *imatrix, uint64_t index, uint64_t first,
                           size_t count, double *out, gufo_error *error);

typedef gufo_status range_reader(const gufo_imatrix *imatrix, uint64_t index, uint64_t first,
                                 size_t count, double *out, gufo_error *error);

/* One count, as a whole number.  GUFO_E_MALFORMED if it is NaN, infinite or negative. */
gufo_status imatrix_count(const gufo_imatrix *imatrix, uint64_t index, uint64_t matrix, double *out,
                          gufo_error *error);

#endif
