/* Documents, and the header they give. */
#ifndef TEST_SUPPORT_DOCUMENT_H
#define TEST_SUPPORT_DOCUMENT_H

#include "builder.h"

/* A document for this encoding; fails the test if there is none. */
gufo_document *document_for(encoding e, uint32_t flags);
/* One from a model, which must be possible. */
gufo_document *document_of(const gufo_model *model, uint32_t flags, const char *label);

/* Lays the document out (options: NULL for packed) and fails unless its header has these bytes. */
void check_header(gufo_document *d, const gufo_layout_options *options, const void *bytes,
                  size_t len, const char *label);
/* The same for a packed layout and all bytes of a builder. */
void check_packed(gufo_document *d, const builder *b, const char *label);

/* Fails unless a call was refused by this rule, with its status. */
void check_rule(gufo_status status, gufo_status expected, const gufo_error *error, const char *rule,
                const char *label);

#endif
