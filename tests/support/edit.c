#include "edit.h"
#include "edits.h"

#include <unistd.h>

enum { NAME = 2000, TENSOR = 1000 };

void write_small_model(const char *path, encoding e)
{
    builder b = builder_new(e);
    const uint64_t dims[1] = {TENSOR};

    builder_header(&b, 2, 4);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_key(&b, "general.name", GUFO_VALUE_STRING);
    builder_length(&b, NAME);
    builder_fill(&b, 'o', NAME);
    builder_kv_u32(&b, "answer", 42);
    builder_kv_array(&b, "list", GUFO_VALUE_INT16, 3);
    for (uint16_t i = 1; i <= 3; i++)
        builder_u16(&b, i);
    builder_tensor(&b, "a", GUFO_TYPE_I8, 1, dims, 0);
    builder_tensor(&b, "b", GUFO_TYPE_I8, 1, dims, 1024);
    for (unsigned i = 0; i < 2; i++) {
        builder_pad(&b, 32);
        builder_pattern(&b, i, TENSOR);
    }
    builder_pad(&b, 32);
    /* ext4 waits for the disk when a file is emptied and written again. */
    (void)unlink(path);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

gufo_status edit_name(const char *path, size_t length, const gufo_edit_target *target,
                      gufo_edit_plan *plan, bool *recover, gufo_error *error)
{
    char *text = malloc(length + 1);
    gufo_edit *edit = gufo_edit_open(path, NULL, error);
    gufo_value value = {.type = GUFO_VALUE_STRING, .as.str = {text, length}};
    gufo_status status = edit != NULL ? GUFO_OK : error->code;

    *recover = false;
    memset(text, 'n', length);
    if (status == GUFO_OK)
        status = edit_set(edit, "general.name", &value, error);
    if (status == GUFO_OK)
        status = gufo_edit_apply(edit, target, NULL, plan, recover, error);
    gufo_edit_free(edit);
    free(text);
    return status;
}

path_text journal_of(const char *path)
{
    path_text journal;

    snprintf(journal.text, sizeof journal.text, "%.480s.gufo-journal", path);
    return journal;
}
