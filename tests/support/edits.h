/* Changes of an edit's document, with names as text. */
#ifndef TEST_SUPPORT_EDITS_H
#define TEST_SUPPORT_EDITS_H

#include "gufo/edit.h"

static inline gufo_status edit_set(gufo_edit *edit, const char *key, const gufo_value *value,
                                   gufo_error *error)
{
    return gufo_document_set(gufo_edit_document(edit), key, value, error);
}

static inline gufo_status edit_set_array(gufo_edit *edit, const char *key, const gufo_items *items,
                                         gufo_error *error)
{
    return gufo_document_set_array(gufo_edit_document(edit), key, items, error);
}

static inline void edit_remove(gufo_edit *edit, gufo_select_fn *select, void *context,
                               uint64_t *removed)
{
    gufo_document_remove(gufo_edit_document(edit), select, context, removed);
}

static inline gufo_status edit_rename(gufo_edit *edit, const char *from, const char *to,
                                      gufo_error *error)
{
    return gufo_document_rename(gufo_edit_document(edit), from, to, error);
}

static inline gufo_status edit_rename_tensor(gufo_edit *edit, const char *from, const char *to,
                                             gufo_error *error)
{
    return gufo_document_rename_tensor(gufo_edit_document(edit), from, to, error);
}

static inline gufo_status edit_copy(gufo_edit *edit, const gufo_model *other,
                                    gufo_select_fn *select, void *context, uint64_t *taken,
                                    gufo_error *error)
{
    return gufo_document_copy_entries(gufo_edit_document(edit), other, select, context, taken,
                                      error);
}

static inline bool edit_find(gufo_edit *edit, const char *key, gufo_value *out)
{
    gufo_document_entry entry;

    if (!gufo_document_find(gufo_edit_document(edit), key, &entry))
        return false;
    *out = entry.value;
    return true;
}

static inline gufo_status edit_changes(gufo_edit *edit, gufo_change_fn *visit, void *context,
                                       gufo_error *error)
{
    return gufo_document_changes(gufo_edit_document(edit), visit, context, error);
}

#endif
