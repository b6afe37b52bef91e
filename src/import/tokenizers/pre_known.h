/* The known pre-tokenizers, and how their cuts differ from others. */
#ifndef IMPORT_TOKENIZERS_PRE_KNOWN_H
#define IMPORT_TOKENIZERS_PRE_KNOWN_H

#include "gufo/vocab.h"
#include "import/tokenizers/material.h"
#include "import/tokenizers/pre_cuts.h"
#include "text/tokenizers/pretokenizer.h"

/* The texts of registry/pretokenizer_probes.tsv. */
typedef struct probe_list {
    const gufo_allocator *allocator;
    gufo_str *texts;
    size_t count;
    gufo_text bytes;
    cut_set *cuts; /* as tokenizer.json says */
} probe_list;

/* Reads the texts and cuts them.  Freed with probe_list_free, also after a failure. */
gufo_status probe_list_make(probe_list *probes, pre_cutter *cutter, const gufo_allocator *allocator,
                            gufo_error *error);
void probe_list_free(probe_list *probes);

/* Counts texts that the shape of a name cuts otherwise, where it is material, up to `most` of them.  `differs`: for
 * each text that was looked at, may be NULL. */
gufo_status known_compare(const probe_list *probes, const byte_pairs *pairs, const char *shape,
                          size_t most, bool *differs, size_t *count, gufo_error *error);
/* Cuts one text as a shape does. */
gufo_status known_cut(const probe_list *probes, const char *shape, gufo_str text, cut_set *cuts,
                      gufo_error *error);

#endif
