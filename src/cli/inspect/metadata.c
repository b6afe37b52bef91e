/* The metadata of a model as JSON. */
#include "cli/inspect/metadata.h"

#include "gufo/print.h"

typedef struct metadata_walk {
    json_writer *j;
    const gufo_model *model;
    metadata_next_fn *next;
    const void *context;
    uint64_t array_limit;
} metadata_walk;

/* Whether an entry cannot be a member of an object: its key was there before, or is not text. */
static bool is_extra(const gufo_model *model, const gufo_entry *entry)
{
    gufo_entry first;

    return gufo_utf8_valid_prefix(entry->key) < entry->key.len ||
           (gufo_model_find_str(model, entry->key, &first) && first.key.data != entry->key.data);
}

/* Writes the entries that are members, or the others.  Returns the number of those that it
 * skips. */
static uint64_t write_entries(const metadata_walk *w, bool extra)
{
    uint64_t others = 0;
    gufo_entry entry;

    for (uint64_t i = 0; w->next(w->context, w->model, &i, &entry);) {
        if (is_extra(w->model, &entry) != extra) {
            others++;
            continue;
        }
        if (extra) {
            json_begin_object(w->j, NULL);
            json_write_str(w->j, "key", entry.key);
        } else {
            json_begin_named_object(w->j, entry.key);
        }
        json_write_value(w->j, NULL, &entry.value, GUFO_VALUE_JSON_MEMBERS, w->array_limit);
        json_end_object(w->j);
    }
    return others;
}

void metadata_write(json_writer *j, const gufo_model *model, metadata_next_fn *next,
                    const void *context, uint64_t array_limit)
{
    const metadata_walk w = {j, model, next, context, array_limit};
    uint64_t others;

    json_begin_object(j, "metadata");
    others = write_entries(&w, false);
    json_end_object(j);
    if (others == 0)
        return;
    json_begin_array(j, "duplicates");
    (void)write_entries(&w, true);
    json_end_array(j);
}
