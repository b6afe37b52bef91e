/* Documents give the bytes that an edit puts before data that stays. */
#include "../support/document.h"
#include "../support/folder.h"
#include "../support/good.h"
#include "../support/openers.h"

#include "edit/edit.h"

/* ---- edits ---------------------------------------------------------------------------------- */

typedef struct twins {
    gufo_edit *edit;
    gufo_document *d;
} twins;

static bool is_fifth(void *context, gufo_str key)
{
    (void)context;
    return !gufo_str_equal(key, gufo_str_of("general.alignment")) && key.len % 5 == 0;
}

/* The same changes to both. */
static void change(twins *t, size_t len)
{
    gufo_error e = no_error();
    gufo_document_entry entry;
    gufo_document_tensor tensor;
    char text[600], name[GUFO_MAX_NAME + 1] = {0};
    const gufo_value value = {.type = GUFO_VALUE_STRING, .as.str = {text, len}};
    uint64_t removed, same;

    memset(text, 't', sizeof text);
    check_ok(gufo_edit_set(t->edit, "new.text", &value, &e), &e, "set");
    check_ok(gufo_document_set(t->d, gufo_str_of("new.text"), &value, &e), &e, "set");
    gufo_edit_remove(t->edit, is_fifth, NULL, &removed);
    gufo_document_remove(t->d, is_fifth, NULL, &same);
    check_u64(same, removed, "removed");
    if (gufo_document_entry_count(t->d) > 2 && gufo_document_entry_at(t->d, 1, &entry) &&
        entry.key.len < 200 && !gufo_str_equal(entry.key, gufo_str_of("general.alignment"))) {
        char key[256];

        snprintf(key, sizeof key, "%.*s", (int)entry.key.len, entry.key.data);
        check_ok(gufo_edit_rename(t->edit, key, "renamed", &e), &e, "rename");
        check_ok(gufo_document_rename(t->d, entry.key, gufo_str_of("renamed"), &e), &e, "rename");
    }
    if (gufo_document_tensor_at(t->d, 0, &tensor)) {
        memcpy(name, tensor.name.data, tensor.name.len);
        check_ok(gufo_edit_rename_tensor(t->edit, name, "x", &e), &e, "rename");
        check_ok(gufo_document_rename_tensor(t->d, tensor.name, gufo_str_of("x"), &e), &e,
                 "rename");
    }
}

/* The first bytes for data that begins as the options say. */
static void check_edit_header(twins *t, new_header *h, const gufo_layout_options *o,
                              const char *label)
{
    uint64_t was = gufo_model_facts(gufo_edit_file(t->edit)).data_offset, unit, place;
    uint64_t base = o->minimum;
    gufo_error error = no_error();

    check(common_multiple(h->alignment, o->block == 0 ? 1 : o->block, &unit), "%s", label);
    if (base == 0)
        base = was % unit;
    check(new_header_place(h, base, unit, o->reserve, &place), "%s", label);
    check_ok(new_header_lay(h, t->edit, place, &error), &error, "%s", label);
    check_header(t->d, o, h->out.out.data, h->out.out.len, label);
}

static void check_edit(const good_file *good, const builder *bytes, const char *label,
                       void *context)
{
    static const size_t lengths[] = {0, 3, 17, 40, 600};
    const gufo_edit_options read_only = {.flags = GUFO_EDIT_READ_ONLY};
    const char *path = *(const char **)context;

    write_file(path, bytes->data, bytes->len);
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        gufo_error error = no_error();
        twins t = {.edit = gufo_edit_open(path, &read_only, &error)};
        gufo_layout_options o = {.way = GUFO_LAYOUT_AS_SOURCE};
        uint64_t was;
        new_header h;

        check(t.edit != NULL, "%s: %s", label, error.message);
        t.d = document_of(gufo_edit_file(t.edit), 0, label);
        was = gufo_model_facts(gufo_edit_file(t.edit)).data_offset;
        if (i > 0)
            change(&t, lengths[i]);
        check_ok(new_header_make(&h, t.edit, &error), &error, "%s", label);
        check(!h.relaid, "%s", label);
        for (size_t k = 0; k < 3 * 3 * 2; k++) {
            o.reserve = (uint64_t[]){0, 20, 1000}[k % 3];
            o.block = (uint64_t[]){0, 512, 4096}[k / 3 % 3];
            o.minimum = 0;
            /* As blocks are inserted: one of them at least. */
            if (k / 9 == 1 && o.block > 0 && common_multiple(o.block, h.alignment, &o.minimum))
                o.minimum += was;
            check_edit_header(&t, &h, &o, label);
        }
        new_header_free(&h);
        gufo_document_free(t.d);
        gufo_edit_close(t.edit);
    }
    (void)good;
}

static void test_edits(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "in.gguf");
    const char *context = path.text;

    (void)state;
    good_for_each(check_edit, &context);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
