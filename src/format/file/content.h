/* What may be written: the rules for new content, and the looser ones for copied content, so that
 * every file that opens can be written again. */
#ifndef GUFO_FORMAT_CONTENT_H
#define GUFO_FORMAT_CONTENT_H

#include "gufo/format.h"

typedef enum content_rules {
    CONTENT_NEW,     /* all rules of the specification */
    CONTENT_AS_READ, /* what gufo_open asks for */
    CONTENT_AS_GGML, /* what it asks for with GUFO_OPEN_AS_GGML */
} content_rules;

gufo_status content_check_key(gufo_str key, content_rules rules, gufo_error *error);
/* The name of a tensor. */
gufo_status content_check_name(gufo_str name, content_rules rules, gufo_error *error);

/* A value for `key`: that its type exists, the text of a string, the range of a number, and what
 * the alignment may be.  Of an array, only that it is not the alignment. */
gufo_status content_check_value(gufo_str key, const gufo_value *value, content_rules rules,
                                gufo_error *error);

/* Checks type and dims of tensor `name`, and that `*size` is right; fills it in if it was 0 and can
 * be computed. */
gufo_status content_check_shape(gufo_str name, uint32_t type, uint32_t n_dims, const uint64_t *dims,
                                uint64_t *size, content_rules rules, gufo_error *error);

#endif
