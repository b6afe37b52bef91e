/* Lists of ids that grow. */
#ifndef TEXT_IDS_H
#define TEXT_IDS_H

#include "gufo/vocab.h"

/* Room for `more` further ids; false without memory. */
bool ids_reserve(gufo_ids *ids, size_t more);
/* Room for the spans of all ids; those of ids that have none are empty.  False without memory. */
bool ids_reserve_spans(gufo_ids *ids);

/* Appends all ids of another list, with their spans, which are empty if that has none; false without memory. */
bool ids_append(gufo_ids *ids, const gufo_ids *more);

static inline bool ids_add(gufo_ids *ids, uint32_t id)
{
    if (ids->count == ids->room && !ids_reserve(ids, 1))
        return false;
    if (ids->spans != NULL)
        ids->spans[ids->count] = (gufo_span){0, 0};
    ids->ids[ids->count++] = id;
    return true;
}

#endif
