/* The private part of a made model. */
#ifndef GUFO_FORMAT_MADE_H
#define GUFO_FORMAT_MADE_H

#include "format/model/model.h"

typedef struct made {
    gufo_provider provider;
    const struct gufo_job *maker; /* see model_maker */
    uint32_t alignment;
    name_index keys, names;
} made;

void made_close(made *m, const gufo_allocator *allocator);
gufo_facts made_facts(const made *m);
bool made_entry_at(const made *m, uint64_t index, gufo_entry *out);
bool made_entry_find(const made *m, gufo_str key, gufo_entry *out);
bool made_tensor_at(const made *m, uint64_t index, gufo_tensor *out);
/* Just what the provider says. */
bool made_ask_entry(const made *m, uint64_t index, gufo_entry *out);
bool made_ask_tensor(const made *m, uint64_t index, gufo_tensor *out);
/* Any bytes; the range has been checked. */
gufo_status made_read_bytes(const gufo_model *model, const gufo_tensor *tensor, uint64_t offset,
                            void *out, size_t size, gufo_error *error);

#endif
