/* Extended grapheme clusters of Unicode 17 (UAX #29): what a reader takes as one character. */
#ifndef TEXT_PIPELINE_GRAPHEMES_H
#define TEXT_PIPELINE_GRAPHEMES_H

#include "text/pipeline/unicode/code_map.h"

/* The classes of characters; NULL without memory.  Freed by code_map_free and mem_free. */
code_map *graphemes_new(const gufo_allocator *allocator);

/* Where the cluster ends that begins at `at`, of a text that was cut into clusters up to there. */
size_t grapheme_end(const code_map *classes, gufo_str text, size_t at);

#endif
