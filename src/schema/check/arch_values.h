/* What the keys of an architecture say, by the names that shapes use: "embedding_length",
 * "head_count", "vocab" ... */
#ifndef GUFO_SCHEMA_ARCH_VALUES_H
#define GUFO_SCHEMA_ARCH_VALUES_H

#include "schema/check/frame.h"

/* The entry of a key without its architecture; "attention." may be left out. */
bool arch_entry(const check_context *c, gufo_str name, gufo_entry *out);

/* The name of a key without "attention.", as shapes have it. */
gufo_str arch_short_name(gufo_str name);

/* A count as the entry has it: the number, or the element for `block` of an array that has one per
 * block. */
bool schema_entry_count(const gufo_entry *entry, uint64_t block, uint64_t *out);

/* The value for a block, with the defaults of the specification; false if it is not known. */
bool arch_value(const check_context *c, gufo_str name, uint64_t block, uint64_t *out);

/* The same where blocks with a sliding window have a key of their own: "key_length" is "key_length_swa"
 * there. */
bool arch_block_value(const check_context *c, gufo_str name, uint64_t block, uint64_t *out);

/* The number of tokens; false if the file does not say it. */
bool vocabulary_size(const check_context *c, uint64_t *out);

/* The numbers that blocks may have. */
typedef struct block_range {
    uint64_t required; /* those below must be there */
    uint64_t end;      /* those below may be there */
} block_range;

/* Of `count` blocks, the last ones may be there to predict further tokens: some files count them,
 * others do not, and both are left out as separate files. */
block_range schema_block_range(const check_context *c, uint64_t count);

#endif
