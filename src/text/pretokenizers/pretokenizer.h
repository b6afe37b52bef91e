/* Pre-tokenizers: cut text into the pieces that byte-pair encoding treats on their own.
 *
 * A name of tokenizer.ggml.pre has a row of rules, which names a shape: regular expressions that run
 * one after the other.  All of it is data, registry/pretokenizer_*.tsv. */
#ifndef TEXT_PRETOKENIZER_H
#define TEXT_PRETOKENIZER_H

#include "gufo/base.h"

/* A shape, made ready.  It does not change: any number of threads may use it. */
typedef struct pretokenizer pretokenizer;

/* NULL on failure: GUFO_E_MEMORY, GUFO_E_ARGUMENT (no such shape, PCRE2 refuses an expression). */
pretokenizer *pretokenizer_new(const char *shape, const gufo_allocator *allocator,
                               gufo_error *error);
void pretokenizer_free(pretokenizer *p);

/* The last place in text[0 .. len) where cutting changes no piece, whatever follows; 0: none. */
size_t pretokenizer_cut(const pretokenizer *p, gufo_str text);

/* What one thread needs to run a pretokenizer. */
typedef struct pre_scratch pre_scratch;

pre_scratch *pre_scratch_new(const pretokenizer *p, const gufo_allocator *allocator,
                             gufo_error *error);
void pre_scratch_free(pre_scratch *scratch);

typedef gufo_status piece_sink(void *context, gufo_str piece, gufo_error *error);

/* Passes the pieces of a text on, in order.  Bytes that are not UTF-8, as lenient_decode reads it,
 * are U+FFFD in them; all pieces together are one stretch of bytes, which lives until the next
 * call. */
gufo_status pretokenizer_run(pre_scratch *scratch, gufo_str text, piece_sink *sink, void *context,
                             gufo_error *error);

#endif
