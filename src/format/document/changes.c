/* How a document differs from the model that it was made from.
 *
 * Nothing moves entries or tensors, so those that were in the model are still in its order, and new
 * ones come after them: one walk over both lists meets every pair.
 *
 *     model       a   b   c   d
 *     document    a       c'  e   new        b was removed, c got another value, d another name */
#include "format/document/document.h"

/* The callback that receives the changes. */
typedef struct reporting {
    const gufo_document *document;
    gufo_change_fn *visit;
    void *context;
    gufo_error *error;
} reporting;

static void report(const reporting *t, gufo_change_kind kind, gufo_str old_name, gufo_str new_name,
                   const gufo_value *old_value, const gufo_value *new_value)
{
    t->visit(t->context, &(gufo_change){.kind = kind,
                                        .old_name = old_name,
                                        .new_name = new_name,
                                        .old_value = old_value,
                                        .new_value = new_value});
}

/* ---- entries -------------------------------------------------------------------------------- */

/* An entry that was one of the model. */
static gufo_status report_kept(const reporting *t, const gufo_entry *old, const document_entry *e)
{
    gufo_str key = e->named.name;
    gufo_value value = document_value_get(&e->value);
    document_value was;
    gufo_status status;
    bool same;

    if (!gufo_str_equal(old->key, key))
        report(t, GUFO_CHANGE_RENAMED, old->key, key, NULL, NULL);
    status = document_value_view(&was, t->document->source, old, t->error);
    if (status == GUFO_OK)
        status = document_value_same(&was, &e->value, &t->document->allocator, &same, t->error);
    if (status == GUFO_OK && !same)
        report(t, GUFO_CHANGE_CHANGED, key, key, &old->value, &value);
    return status;
}

static gufo_status report_entries(const reporting *t)
{
    const named_list *entries = &t->document->entries;
    const gufo_model *model = t->document->source;
    uint64_t count = model != NULL ? gufo_metadata_count(model) : 0, slot = 0;
    const document_entry *e = named_list_next(entries, &slot);
    gufo_status status = GUFO_OK;
    gufo_entry old;

    for (uint64_t i = 0; status == GUFO_OK && i < count; i++) {
        status = model_entry_at(model, i, &old, t->error);
        if (status != GUFO_OK)
            return status;
        if (e != NULL && e->origin == i) {
            status = report_kept(t, &old, e);
            e = named_list_next(entries, &slot);
        } else if (!document_is_padding(&old))
            report(t, GUFO_CHANGE_REMOVED, old.key, old.key, &old.value, NULL);
    }
    for (; status == GUFO_OK && e != NULL; e = named_list_next(entries, &slot)) {
        gufo_value value = document_value_get(&e->value);

        report(t, GUFO_CHANGE_ADDED, e->named.name, e->named.name, NULL, &value);
    }
    return status;
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void report_kept_tensor(const reporting *t, const gufo_tensor *old,
                               const document_tensor *now)
{
    gufo_str name = now->named.name;

    if (!gufo_str_equal(old->name, name))
        report(t, GUFO_CHANGE_TENSOR_RENAMED, old->name, name, NULL, NULL);
    if (old->type != now->type)
        report(t, GUFO_CHANGE_TENSOR_RETYPED, name, name, NULL, NULL);
}

static gufo_status report_tensors(const reporting *t)
{
    const named_list *tensors = &t->document->tensors;
    const gufo_model *model = t->document->source;
    uint64_t count = model != NULL ? gufo_tensor_count(model) : 0, slot = 0;
    const document_tensor *now = named_list_next(tensors, &slot);
    gufo_tensor old;

    for (uint64_t i = 0; i < count; i++) {
        gufo_status status = model_tensor_at(model, i, &old, t->error);

        if (status != GUFO_OK)
            return status;
        if (now != NULL && document_tensor_from(t->document, now) == model && now->origin == i) {
            report_kept_tensor(t, &old, now);
            now = named_list_next(tensors, &slot);
        } else
            report(t, GUFO_CHANGE_TENSOR_DROPPED, old.name, old.name, NULL, NULL);
    }
    for (; now != NULL; now = named_list_next(tensors, &slot))
        report(t, GUFO_CHANGE_TENSOR_ADDED, now->named.name, now->named.name, NULL, NULL);
    return GUFO_OK;
}

gufo_status gufo_document_changes(const gufo_document *document, gufo_change_fn *visit,
                                  void *context, gufo_error *error)
{
    const reporting t = {document, visit, context, error};
    gufo_status status = report_entries(&t);

    return status == GUFO_OK ? report_tensors(&t) : status;
}
