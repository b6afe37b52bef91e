/* The list of changes.
 *
 * The result is a list of slots, one per key.  A slot points to an entry of an open file: of the one
 * that is edited, of another one that keys are copied from, or of one that was made for a single
 * value.  So every value has been checked by the same code, and keeps its bits until it is encoded.
 *
 *     slots     0       1         2            3
 *     entry of  file 0  file 2    value        other 7
 *     origin    0       2         3            -            entry 1 was removed, 3 got a new value */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "edit/edit.h"
#include "format/name_index.h"

/* ---- slots ---------------------------------------------------------------------------------- */

gufo_entry edit_entry(const slot *s)
{
    gufo_entry entry = {0};

    (void)gufo_metadata_at(s->from, s->index, &entry);
    if (s->name != NULL)
        entry.key = gufo_str_of(s->name);
    return entry;
}

static bool is_padding(gufo_str key)
{
    return gufo_str_equal(key, gufo_str_of(GUFO_PADDING_KEY));
}

/* Only what edits make themselves is left out: a string. */
static bool is_made_by_us(const gufo_entry *entry)
{
    return is_padding(entry->key) && entry->value.type == GUFO_VALUE_STRING;
}

static gufo_status add_slot(gufo_edit *edit, const slot *value, gufo_error *error)
{
    slot *added = records_add(&edit->slots, &edit->allocator);

    if (added == NULL)
        return fail_memory(error);
    *added = *value;
    return GUFO_OK;
}

gufo_status edit_load(gufo_edit *edit, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_entry entry;

    edit->slots.size = sizeof(slot);
    edit->values.size = sizeof(new_value);
    for (uint64_t i = 0; status == GUFO_OK && gufo_metadata_at(edit->file, i, &entry); i++)
        if (!is_made_by_us(&entry))
            status = add_slot(edit, &(slot){edit->file, i, i, NULL}, error);
    return status;
}

void edit_unload(gufo_edit *edit)
{
    for (uint64_t i = 0; i < edit->slots.count; i++)
        mem_free(&edit->allocator, edit_slot(edit, i)->name);
    records_free(&edit->slots, &edit->allocator);
    for (uint64_t i = 0; i < edit->values.count; i++) {
        new_value *value = records_at(&edit->values, i);

        gufo_close(value->file);
        gufo_writer_free(value->writer);
    }
    records_free(&edit->values, &edit->allocator);
    for (uint64_t i = 0; edit->tensor_names != NULL && i < gufo_tensor_count(edit->file); i++)
        mem_free(&edit->allocator, edit->tensor_names[i]);
    mem_free(&edit->allocator, edit->tensor_names);
}

static slot *find_slot(const gufo_edit *edit, gufo_str key)
{
    for (uint64_t i = 0; i < edit->slots.count; i++)
        if (gufo_str_equal(edit_entry(edit_slot(edit, i)).key, key))
            return edit_slot(edit, i);
    return NULL;
}

bool gufo_edit_find(const gufo_edit *edit, const char *key, gufo_value *out)
{
    const slot *found = find_slot(edit, gufo_str_of(key));

    if (found != NULL)
        *out = edit_entry(found).value;
    return found != NULL;
}

static gufo_status check_ours(const char *key, gufo_error *error)
{
    if (is_padding(gufo_str_of(key)))
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "key \"" GUFO_PADDING_KEY "\" is made by edits, where it is needed");
    return GUFO_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Puts a new value in the place of the slot that has its key. */
static void replace_slot(const gufo_edit *edit, slot *old, const slot *value)
{
    uint64_t origin = old->origin;

    mem_free(&edit->allocator, old->name);
    /* A renamed origin shows by comparing names, which are those of the values from now on. */
    *old = *value;
    old->origin = origin;
}

/* Puts an entry of an open file under its own name: in the place of the key if it exists. */
static gufo_status put(gufo_edit *edit, const gufo_model *from, uint64_t index, gufo_error *error)
{
    slot value = {from, index, NO_ORIGIN, NULL};
    slot *old = find_slot(edit, edit_entry(&value).key);

    if (old == NULL)
        return add_slot(edit, &value, error);
    replace_slot(edit, old, &value);
    return GUFO_OK;
}

/* Makes the file that `writer` plans, of one entry, and puts that. */
static gufo_status put_planned(gufo_edit *edit, gufo_writer *writer, gufo_error *error)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_INCOMPLETE,
                                       .allocator = &edit->allocator};
    new_value *value = records_add(&edit->values, &edit->allocator);
    gufo_status status = gufo_writer_layout(writer, NULL, error);
    const void *bytes;
    size_t size = 0;

    if (value == NULL) {
        gufo_writer_free(writer);
        return fail_memory(error);
    }
    *value = (new_value){writer, NULL};
    if (status != GUFO_OK)
        return status;
    bytes = gufo_writer_header(writer, &size);
    value->file = gufo_open_memory(bytes, size, &options, error);
    if (value->file == NULL)
        return GUFO_E_MEMORY;
    return put(edit, value->file, 0, error);
}

gufo_status gufo_edit_set(gufo_edit *edit, const char *key, const gufo_value *value,
                          gufo_error *error)
{
    const gufo_writer_options options = {.allocator = &edit->allocator};
    gufo_status status = check_ours(key, error);
    gufo_writer *writer;

    if (status != GUFO_OK)
        return status;
    writer = gufo_writer_new(&options, error);
    if (writer == NULL)
        return GUFO_E_MEMORY;
    status = gufo_writer_add_value(writer, gufo_str_of(key), value, error);
    if (status == GUFO_OK)
        return put_planned(edit, writer, error);
    gufo_writer_free(writer);
    return status;
}

gufo_status gufo_edit_set_array(gufo_edit *edit, const char *key, const gufo_items *items,
                                gufo_error *error)
{
    const gufo_writer_options options = {.allocator = &edit->allocator};
    gufo_status status = check_ours(key, error);
    gufo_writer *writer;

    if (status != GUFO_OK)
        return status;
    writer = gufo_writer_new(&options, error);
    if (writer == NULL)
        return GUFO_E_MEMORY;
    status = gufo_writer_add_array(writer, key, items, error);
    if (status == GUFO_OK)
        return put_planned(edit, writer, error);
    gufo_writer_free(writer);
    return status;
}

static gufo_str key_of_slot(const void *owner, uint64_t index)
{
    return edit_entry(edit_slot(owner, index)).key;
}

/* Like put, with an index of all slots: a file may have very many keys. */
static gufo_status put_indexed(gufo_edit *edit, name_index *keys, const gufo_model *from,
                               uint64_t index, gufo_error *error)
{
    slot value = {from, index, NO_ORIGIN, NULL};
    gufo_status status;
    uint64_t old;

    if (name_index_find(keys, edit_entry(&value).key, &old)) {
        replace_slot(edit, edit_slot(edit, old), &value);
        return GUFO_OK;
    }
    status = name_index_grow(keys, edit->slots.count, &edit->allocator, error);
    if (status == GUFO_OK)
        status = add_slot(edit, &value, error);
    if (status == GUFO_OK)
        (void)name_index_add(keys, edit->slots.count - 1, &old);
    return status;
}

gufo_status gufo_edit_copy(gufo_edit *edit, const gufo_model *other, gufo_edit_select_fn *select,
                           void *context, uint64_t *copied, gufo_error *error)
{
    name_index keys = {.name_of = key_of_slot, .owner = edit};
    gufo_status status = name_index_grow(&keys, edit->slots.count, &edit->allocator, error);
    gufo_entry entry;

    *copied = 0;
    for (uint64_t i = 0; status == GUFO_OK && gufo_metadata_at(other, i, &entry); i++) {
        if (is_made_by_us(&entry) || !select(context, entry.key))
            continue;
        status = put_indexed(edit, &keys, other, i, error);
        *copied += status == GUFO_OK;
    }
    name_index_free(&keys, &edit->allocator);
    return status;
}

/* ---- names ---------------------------------------------------------------------------------- */

void gufo_edit_remove(gufo_edit *edit, gufo_edit_select_fn *select, void *context,
                      uint64_t *removed)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < edit->slots.count; i++) {
        slot *s = edit_slot(edit, i);

        if (select(context, edit_entry(s).key))
            mem_free(&edit->allocator, s->name);
        else
            *edit_slot(edit, kept++) = *s;
    }
    *removed = edit->slots.count - kept;
    edit->slots.count = kept;
}

static char *copy_name(const gufo_edit *edit, const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = mem_alloc(&edit->allocator, size);

    if (copy != NULL)
        memcpy(copy, name, size);
    return copy;
}

/* Whether new content may have this name: a writer that is stricter than opening says so. */
static gufo_status check_name(const gufo_edit *edit, bool of_tensor, const char *name,
                              gufo_error *error)
{
    const gufo_writer_options options = {.allocator = &edit->allocator};
    const uint64_t one = 1;
    gufo_writer *writer = gufo_writer_new(&options, error);
    gufo_status status;

    if (writer == NULL)
        return GUFO_E_MEMORY;
    status = of_tensor ? gufo_writer_add_tensor(writer, gufo_str_of(name), GUFO_TYPE_F32, 1, &one,
                                                0, error)
                       /* An alignment has to be a number; any other key may be one. */
                       : gufo_writer_add_u32(writer, name, GUFO_DEFAULT_ALIGNMENT, error);
    gufo_writer_free(writer);
    return status;
}

gufo_status gufo_edit_rename(gufo_edit *edit, const char *from, const char *to, gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];
    slot *found = find_slot(edit, gufo_str_of(from));
    gufo_status status = check_ours(to, error);
    char *name;

    if (status == GUFO_OK)
        status = check_name(edit, false, to, error);
    if (status != GUFO_OK)
        return status;
    if (found == NULL)
        return fail_with(error, GUFO_E_NOT_FOUND, GUFO_NO_OFFSET, "there is no key %s",
                         quote_name(quoted, gufo_str_of(from)));
    if (strcmp(from, to) == 0)
        return GUFO_OK;
    if (find_slot(edit, gufo_str_of(to)) != NULL)
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "there is a key %s already",
                         quote_name(quoted, gufo_str_of(to)));
    name = copy_name(edit, to);
    if (name == NULL)
        return fail_memory(error);
    mem_free(&edit->allocator, found->name);
    found->name = name;
    return GUFO_OK;
}

gufo_str edit_tensor_name(const gufo_edit *edit, uint64_t index, const gufo_tensor *tensor)
{
    const char *name = edit->tensor_names != NULL ? edit->tensor_names[index] : NULL;

    return name != NULL ? gufo_str_of(name) : tensor->name;
}

static bool find_tensor(const gufo_edit *edit, gufo_str name, uint64_t *index)
{
    gufo_tensor tensor;

    for (*index = 0; gufo_tensor_at(edit->file, *index, &tensor); ++*index)
        if (gufo_str_equal(edit_tensor_name(edit, *index, &tensor), name))
            return true;
    return false;
}

gufo_status gufo_edit_rename_tensor(gufo_edit *edit, const char *from, const char *to,
                                    gufo_error *error)
{
    char quoted[GUFO_QUOTE_SIZE];
    uint64_t index, other;
    gufo_status status = check_name(edit, true, to, error);
    char *name;

    if (status != GUFO_OK)
        return status;
    if (!find_tensor(edit, gufo_str_of(from), &index))
        return fail_with(error, GUFO_E_NOT_FOUND, GUFO_NO_OFFSET, "there is no tensor %s",
                         quote_name(quoted, gufo_str_of(from)));
    if (strcmp(from, to) == 0)
        return GUFO_OK;
    if (find_tensor(edit, gufo_str_of(to), &other))
        return fail_with(error, GUFO_E_EXISTS, GUFO_NO_OFFSET, "there is a tensor %s already",
                         quote_name(quoted, gufo_str_of(to)));
    if (edit->tensor_names == NULL)
        edit->tensor_names = mem_zero(&edit->allocator, (size_t)gufo_tensor_count(edit->file) *
                                                            sizeof *edit->tensor_names);
    name = edit->tensor_names != NULL ? copy_name(edit, to) : NULL;
    if (name == NULL)
        return fail_memory(error);
    mem_free(&edit->allocator, edit->tensor_names[index]);
    edit->tensor_names[index] = name;
    return GUFO_OK;
}

/* ---- differences ---------------------------------------------------------------------------- */

/* What is told, and to whom. */
typedef struct telling {
    gufo_edit_change_fn *visit;
    void *context;
    gufo_error *error;
} telling;

static void tell_removed(const telling *t, const gufo_entry *old)
{
    t->visit(t->context, &(gufo_edit_change){.kind = GUFO_EDIT_REMOVED,
                                             .old_name = old->key,
                                             .new_name = old->key,
                                             .old_value = &old->value});
}

/* Whether two values are the same to the last bit. */
static gufo_status compare(const gufo_edit *edit, const slot *a, const slot *b, bool *same,
                           gufo_error *error)
{
    encoder first = {.out.allocator = &edit->allocator}, second = first;
    gufo_status status = encode_entry_value(&first, a->from, a->index, error);

    if (status == GUFO_OK)
        status = encode_entry_value(&second, b->from, b->index, error);
    *same = status == GUFO_OK && first.out.len == second.out.len &&
            memcmp(first.out.data, second.out.data, first.out.len) == 0;
    buffer_free(&first.out);
    buffer_free(&second.out);
    return status;
}

/* A slot that was an entry of the file. */
static gufo_status tell_kept(const telling *t, const gufo_edit *edit, const slot *s)
{
    slot old_slot = {edit->file, s->origin, s->origin, NULL};
    gufo_entry old = edit_entry(&old_slot), entry = edit_entry(s);
    gufo_status status = GUFO_OK;
    bool same = true;

    if (!gufo_str_equal(old.key, entry.key))
        t->visit(t->context,
                 &(gufo_edit_change){GUFO_EDIT_RENAMED, old.key, entry.key, NULL, NULL});
    if (s->from != edit->file || s->index != s->origin)
        status = compare(edit, &old_slot, s, &same, t->error);
    if (status == GUFO_OK && !same)
        t->visit(t->context, &(gufo_edit_change){GUFO_EDIT_CHANGED, entry.key, entry.key,
                                                 &old.value, &entry.value});
    return status;
}

static void tell_added(const telling *t, const slot *s)
{
    gufo_entry entry = edit_entry(s);

    t->visit(t->context, &(gufo_edit_change){.kind = GUFO_EDIT_ADDED,
                                             .old_name = entry.key,
                                             .new_name = entry.key,
                                             .new_value = &entry.value});
}

static void tell_tensors(const telling *t, const gufo_edit *edit)
{
    gufo_tensor tensor;

    for (uint64_t i = 0; edit->tensor_names != NULL && gufo_tensor_at(edit->file, i, &tensor); i++)
        if (!gufo_str_equal(edit_tensor_name(edit, i, &tensor), tensor.name))
            t->visit(t->context,
                     &(gufo_edit_change){.kind = GUFO_EDIT_TENSOR_RENAMED,
                                         .old_name = tensor.name,
                                         .new_name = gufo_str_of(edit->tensor_names[i])});
}

/* Slots that were entries are still in the order of the file, because nothing moves them. */
gufo_status gufo_edit_changes(const gufo_edit *edit, gufo_edit_change_fn *visit, void *context,
                              gufo_error *error)
{
    const telling t = {visit, context, error};
    gufo_status status = GUFO_OK;
    gufo_entry old;
    uint64_t at = 0;

    for (uint64_t i = 0; status == GUFO_OK && gufo_metadata_at(edit->file, i, &old); i++) {
        if (at < edit->slots.count && edit_slot(edit, at)->origin == i)
            status = tell_kept(&t, edit, edit_slot(edit, at++));
        else if (!is_made_by_us(&old))
            tell_removed(&t, &old);
    }
    for (; status == GUFO_OK && at < edit->slots.count; at++)
        tell_added(&t, edit_slot(edit, at));
    if (status == GUFO_OK)
        tell_tensors(&t, edit);
    return status;
}
