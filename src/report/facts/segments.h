/* What the bytes of one file are, from its first to its last, and those that it announces and lacks. */
#ifndef GUFO_REPORT_SEGMENTS_H
#define GUFO_REPORT_SEGMENTS_H

#include "gufo/report.h"

typedef enum segment_kind {
    SEGMENT_HEADER,
    SEGMENT_KEY,     /* an entry of the metadata, or several small ones */
    SEGMENT_INFOS,   /* of tensors */
    SEGMENT_PADDING, /* before the data */
    SEGMENT_LAYER,   /* data of tensors of one layer */
    SEGMENT_DATA,    /* of others */
    SEGMENT_GAP,     /* between tensors, or behind the last one */
    SEGMENT_UNREAD,  /* behind what could be read */
} segment_kind;

typedef struct segment {
    segment_kind kind;
    uint64_t begin, end; /* bytes */
    gufo_str name;       /* of the key, or the first tensor */
    uint64_t layer;      /* SEGMENT_LAYER */
    uint64_t count;      /* of keys or tensors */
} segment;

typedef struct segment_list {
    segment *items;
    uint64_t count, room;
    uint64_t head;     /* of these, so many are before the data */
    uint64_t size;     /* of the file */
    uint64_t end;      /* of the file, or of what it announces */
    uint64_t head_end; /* where tensor data begins, or what could be read ends */
    uint64_t tensors, complete, announced;
    uint64_t gaps, gap_bytes, overlaps, overlap_bytes;
    gufo_str cut; /* the first tensor that is not complete; empty: none */
    bool is_read; /* up to the tensor infos */
    const gufo_allocator *allocator;
} segment_list;

/* Fills an empty list from a model of one file; false without memory.  The caller frees it in any case. */
bool segments_gather(segment_list *list, const gufo_model *file, const gufo_allocator *allocator);
void segments_free(segment_list *list);

#endif
