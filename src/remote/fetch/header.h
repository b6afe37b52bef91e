/* Whether the first bytes of a download are those of a model. */
#ifndef REMOTE_FETCH_HEADER_H
#define REMOTE_FETCH_HEADER_H

#include "gufo/format.h"

/* Whether a file of this name has to be a GGUF file. */
bool header_is_wanted(const char *name);

/* Refuses a page that a server sends in place of a file of this name.  GUFO_E_NOT_GGUF. */
gufo_status header_check_page(gufo_str bytes, const char *name, gufo_error *error);

/* Checks the first bytes of a GGUF file of `size` bytes (GUFO_NO_OFFSET: not known): all that there is of header,
 * metadata and tensor infos.  *whole: they are all there, and good.  Errors as gufo_model_open. */
gufo_status header_check(gufo_str bytes, uint64_t size, bool *whole,
                         const gufo_allocator *allocator, gufo_error *error);
/* The same for a file that is there. */
gufo_status header_check_file(int fd, const gufo_allocator *allocator, gufo_error *error);

#endif
