/* Filling a tokenizer_file, whatever file it comes from. */
#ifndef TEXT_TOKENIZER_FILLING_H
#define TEXT_TOKENIZER_FILLING_H

#include "base/pull.h"
#include "text/formats/tokenizer_file.h"

typedef struct file_reading {
    tokenizer_file *f;
    pull p; /* of the file's text */
    uint64_t vocab_room, score_room, merge_room, added_room;
    uint64_t tree_memory;
} file_reading;

/* Makes a file of a text, with empty tables; false: a failure. */
bool file_begin(file_reading *r, gufo_str text, const gufo_allocator *allocator, gufo_error *error);
/* The file, if reading was `good`, with texts that can be looked up; else NULL, and all is freed. */
tokenizer_file *file_finish(file_reading *r, bool good);

/* Makes room for one more at the end of a table. */
bool file_grow(file_reading *r, void **table, uint32_t count, uint64_t *room, size_t size);
/* Takes an object of ids, or a list of scores. */
bool file_take_vocab(file_reading *r);

/* The two parts of "left right"; false: it is not two. */
bool file_split(gufo_str line, file_merge *merge);

#endif
