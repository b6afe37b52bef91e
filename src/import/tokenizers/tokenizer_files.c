/* The files of a tokenizer that has rules of its own: tokenizer.json, in a model folder or alone. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/import.h"
#include "import/architectures/config_files.h"

enum { LARGEST_FILE = 256 << 20 };

static bool is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Reads a file into a text, whose memory is its allocator's. */
static gufo_status read_text(const model_config *config, const char *name, gufo_text *out,
                             bool *found, gufo_error *error)
{
    buffer bytes = {.allocator = mem_allocator(out->allocator)};
    gufo_status status = config_read_bytes(config, name, LARGEST_FILE, &bytes, found, error);

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
    const bool folder = is_folder(path);
    const model_config place = {.folder = folder ? (char *)path : NULL,
                                .allocator = mem_allocator(NULL)};
    bool found = false, ignored;
    gufo_status status = read_text(&place, folder ? "tokenizer.json" : path, json, &found, error);

    if (status == GUFO_OK && !found)
        return refuse(error, GUFO_E_NOT_FOUND, "no tokenizer.json is there");
    return status == GUFO_OK && folder
               ? read_text(&place, "tokenizer_config.json", config, &ignored, error)
               : status;
}

bool gufo_import_has_tokenizer(const char *path)
{
    const model_config config = {.folder = (char *)path};
    const char *name = strrchr(path, '/');

    if (is_folder(path))
        return config_has_file(&config, gufo_str_of("tokenizer.json"));
    return str_ends(gufo_str_of(name != NULL ? name + 1 : path), "tokenizer.json");
}
