/* Why no known pre-tokenizer cuts texts as a tokenizer.json says. */
#ifndef IMPORT_TOKENIZERS_PRE_REASONS_H
#define IMPORT_TOKENIZERS_PRE_REASONS_H

#include "import/tokenizers/pre_known.h"

enum { MOST_NAMES = 256 };

typedef struct known_name {
    const pre_rules *rules;
    size_t differences; /* texts that it cuts otherwise */
} known_name;

typedef struct known_names {
    known_name list[MOST_NAMES];
    size_t count;
} known_names;

/* Fails with GUFO_E_TYPE: the nearest names, the step that differs, and texts with both cuts. */
gufo_status pre_reasons_fail(tokenizer_reading *r, const probe_list *probes,
                             const byte_pairs *pairs, const known_names *known);

#endif
