/* Fuzz target: read anything as gguf-metadata.json, and write what it says as such a file again. */
#include "walk.h"

#include "base/memory.h"
#include "import/conversion/conversion.h"
#include "import/typed_value.h"

#include <stdlib.h>
#include <string.h>

/* A value is the same after it was written and read. */
static void write_value(const gufo_document_entry *entry)
{
    gufo_document *document = gufo_document_new(NULL, NULL);
    json_t *json = typed_value_json(&entry->value), *read;
    char *text = json != NULL ? json_dumps(json, JSON_REAL_PRECISION(9)) : NULL;
    gufo_document_entry again;

    must(document != NULL && text != NULL, "a value that was read can be written");
    read = json_loads(text, 0, NULL);
    must(read != NULL, "what is written is JSON");
    must(typed_value_set(document, "key", read, NULL, NULL, NULL) == GUFO_OK,
         "what is written can be read");
    must(gufo_document_find(document, "key", &again) && same_value(&entry->value, &again.value),
         "a value stays what it is");
    json_decref(read);
    json_decref(json);
    free(text);
    gufo_document_free(document);
}

static void sort(const stored_metadata *stored)
{
    gufo_document *sorted;
    gufo_error error;

    must(stored_sort(stored, stored->entries, NULL, &sorted, &error) == GUFO_OK, "keys are sorted");
    must(sorted == NULL ||
             gufo_document_entry_count(sorted) == gufo_document_entry_count(stored->entries),
         "no key is lost");
    gufo_document_free(sorted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const memory_file files[] = {{STORED_NAME, {(const char *)data, size}},
                                 {"tokenizer.json", {"{}", 2}}};
    const memory_files folder = {files, 2};
    const model_config config = {.allocator = &default_allocator,
                                 .folder = source_folder_memory(&folder)};
    stored_metadata stored;
    gufo_document_entry entry;
    gufo_error error = {.message = ""};

    if (stored_open(&stored, &config, NULL, &error) != GUFO_OK) {
        must(error.message[0] != '\0' && error.file[0] != '\0', "a failure says what and where");
        return 0;
    }
    for (uint64_t i = 0; gufo_document_entry_at(stored.entries, i, &entry); i++)
        write_value(&entry);
    sort(&stored);
    stored_close(&stored);
    return 0;
}
