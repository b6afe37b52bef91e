/* Small vocabularies, one for each algorithm and each form: what fuzz_tokenize and fuzz_detokenize
 * work with, and the seeds of fuzz_vocab. */
#ifndef GUFO_FUZZ_VOCABULARIES_H
#define GUFO_FUZZ_VOCABULARIES_H

#include <gufo.h>
#include <gufo/text.h>

enum { VOCABULARY_COUNT = 9 };

/* NULL past the end. */
const char *vocabulary_name(size_t index);

/* A GGUF file without tensors; the bytes belong to the document, which is freed with
 * gufo_document_free. */
gufo_document *vocabulary_make(size_t index, gufo_str *bytes);

/* The vocabulary, which lives as long as the program. */
const gufo_vocab *vocabulary_at(size_t index);

#endif
