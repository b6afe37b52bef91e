/* The files beside the tensors, and what is said about them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "import/export/parts.h"

void export_files_free(export_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        free(files->list[i].bytes);
    for (uint64_t i = 0; i < files->warning_count; i++)
        free(files->warnings[i]);
    free(files->warnings);
    *files = (export_files){.count = 0};
}

gufo_status export_warn(export_files *files, gufo_error *error, const char *format, ...)
{
    char sentence[1024], *own, **list;
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    list = mem_grow(&default_allocator, files->warnings, files->warning_count, &files->warning_room,
                    sizeof *list);
    own = mem_text(&default_allocator, gufo_str_of(sentence));
    if (list != NULL)
        files->warnings = list;
    if (list == NULL || own == NULL) {
        mem_free(&default_allocator, own);
        return fail_memory(error);
    }
    list[files->warning_count++] = own;
    return GUFO_OK;
}

void export_drop(export_files *files, uint32_t count)
{
    while (files->count > count)
        free(files->list[--files->count].bytes);
}

gufo_status export_add(export_files *files, const char *name, buffer *bytes, gufo_error *error)
{
    if (files->count == EXPORT_FILES) {
        buffer_free(bytes);
        return refuse(error, GUFO_E_LIMIT, "more than %d files beside the tensors",
                      (int)EXPORT_FILES);
    }
    files->list[files->count++] = (export_file){name, (char *)bytes->data, bytes->len};
    *bytes = (buffer){.allocator = bytes->allocator};
    return GUFO_OK;
}

gufo_status export_add_json(export_files *files, const char *name, const json_t *json,
                            gufo_error *error)
{
    /* Nine digits are those of a float32, which nearly all reals come from. */
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(9);
    buffer bytes = {.allocator = &default_allocator};
    char *text = json_dumps(json, flags);
    bool done =
        text != NULL && buffer_append(&bytes, text, strlen(text)) && buffer_append(&bytes, "\n", 1);

    free(text);
    if (done)
        return export_add(files, name, &bytes, error);
    buffer_free(&bytes);
    return fail_memory(error);
}
