/* The files of a tokenizer that has rules of its own: tokenizer.json, in a model folder or alone. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/import.h"
#include "import/architectures/configuration/config_files.h"
#include "import/model_folder.h"

#define TOKENIZER "tokenizer.json"

enum { LARGEST_FILE = 256 << 20 };

/* Reads a file into a text, whose memory is its allocator's. */
static gufo_status read_text(const source_folder *folder, const char *name, gufo_text *out,
                             bool *found, gufo_error *error)
{
    const model_config config = {.folder = *folder, .allocator = mem_allocator(NULL)};
    buffer bytes = {.allocator = mem_allocator(out->allocator)};
    gufo_status status = config_read_bytes(&config, name, LARGEST_FILE, &bytes, found, error);

    if (status != GUFO_OK) {
        buffer_free(&bytes);
        return status;
    }
    mem_free(mem_allocator(out->allocator), out->data);
    out->data = (char *)bytes.data;
    out->len = bytes.len;
    out->room = bytes.capacity;
    return GUFO_OK;
}

gufo_status gufo_import_tokenizer(const char *path, gufo_text *json, gufo_text *config,
                                  gufo_error *error)
{
    const model_place place = model_place_of(path, false);
    const bool alone = place.file != NULL;
    bool found = false, ignored;
    gufo_status status = read_text(alone ? &place.from : &place.folder,
                                   alone ? place.file : TOKENIZER, json, &found, error);

    if (status == GUFO_OK && !found)
        return refuse(error, GUFO_E_NOT_FOUND, "no " TOKENIZER " is there");
    return status == GUFO_OK && !alone
               ? read_text(&place.folder, "tokenizer_config.json", config, &ignored, error)
               : status;
}

bool gufo_import_has_tokenizer(const char *path)
{
    const model_place place = model_place_of(path, false);

    return place.file != NULL ? str_ends(gufo_str_of(path), TOKENIZER)
                              : source_folder_has(&place.folder, TOKENIZER);
}
