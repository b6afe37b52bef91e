/* Data that never came: downloaders reserve the whole file, and what they do not fill stays zero. */
#ifndef GUFO_FORMAT_ZEROS_H
#define GUFO_FORMAT_ZEROS_H

#include "format/file/file.h"

/* Tensors smaller than this are not looked at: a bias may well be zero. */
enum { ZEROS_LEAST = 4096 };

/* Whether zeros in a tensor may mean that its data never came: not in small ones, and not in B of an adapter, of which
 * training begins with zeros. */
bool zeros_are_suspect(const gguf_file *file, const tensor_record *tensor);
/* Likewise, and whether the tensor is a matrix. */
bool zeros_are_suspect_matrix(const gguf_file *file, const tensor_record *tensor);
/* Whether the pages at the end, in the middle and at the begin of a tensor's data are all zero. */
gufo_status zeros_sample(const gguf_file *file, const tensor_record *tensor, bool *zero,
                         gufo_error *error);
/* Where the zeros begin with which the bytes [from, to) of a file end; `to`: there are none.  Reads no more
 * than the zeros, and one block. */
gufo_status zeros_before(const gguf_file *file, uint64_t from, uint64_t to, uint64_t *begin,
                         gufo_error *error);

/* "368 MB": a size for a sentence. */
enum { ZEROS_TEXT = 32 };
const char *zeros_text(uint64_t bytes, char out[ZEROS_TEXT]);

#endif
