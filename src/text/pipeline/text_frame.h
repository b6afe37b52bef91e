/* The frame that a post-processor puts around a text. */
#ifndef TEXT_PIPELINE_TEXT_FRAME_H
#define TEXT_PIPELINE_TEXT_FRAME_H

#include "text/formats/json_pull.h"

#include "gufo/base.h"

/* Far more than files have. */
enum { MOST_TRIMS = 4, MOST_COPIES = 64, MOST_ITEMS = 1 << 16 };

/* How white space is taken out of the spans of tokens. */
typedef struct trim {
    bool begins;       /* the text is at the start of its part */
    bool prefix_space; /* add_prefix_space */
} trim;

/* A special token, or the text. */
typedef struct frame_item {
    bool is_text;
    uint32_t id;
    uint32_t trim_count;
    trim trims[MOST_TRIMS];
} frame_item;

typedef struct frame_part {
    uint32_t end; /* of its items */
} frame_part;

typedef struct text_frame {
    frame_item *items;
    frame_part *parts;
    uint64_t item_count, item_room, part_count, part_room, copies;
} text_frame;

/* Makes the frame of a post-processor, with special tokens or without; freed with text_frame_free, also
 * after a failure: GUFO_E_TYPE, GUFO_E_MALFORMED, GUFO_E_LIMIT, GUFO_E_MEMORY. */
gufo_status text_frame_make(text_frame *out, const json_t *part, const json_places *places,
                            bool specials, const gufo_allocator *allocator, gufo_error *error);
void text_frame_free(text_frame *f, const gufo_allocator *allocator);

#endif
