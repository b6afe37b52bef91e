/* Fuzz target: read anything as a manifest of Ollama and as the name of a model. */
#include "walk.h"

#include <string.h>

#include "base/memory.h"
#include "remote/ollama/manifest.h"
#include "remote/ollama/name.h"

static void read_manifest(gufo_str text)
{
    ollama_manifest m, again;
    gufo_text written = {0};
    gufo_error error;
    gufo_status status = ollama_manifest_read(text, &default_allocator, &m, &error);

    must(status == GUFO_OK || status == GUFO_E_MALFORMED || status == GUFO_E_TRUNCATED ||
             status == GUFO_E_RANGE || status == GUFO_E_LIMIT,
         "anything but a manifest is malformed");
    for (size_t i = 0; status == GUFO_OK && i < m.count; i++)
        must(strlen(m.layers[i].hex) == OLLAMA_HEX &&
                 strspn(m.layers[i].hex, "0123456789abcdef") == OLLAMA_HEX,
             "a digest can be a path");
    if (status == GUFO_OK && m.config.hex[0] != '\0') {
        must(ollama_manifest_write(&m.config, m.layers, m.count, &written, &error) == GUFO_OK &&
                 ollama_manifest_read((gufo_str){written.data, written.len}, &default_allocator,
                                      &again, &error) == GUFO_OK &&
                 again.count == m.count,
             "what was read can be written and read again");
        ollama_manifest_free(&again);
    }
    gufo_text_free(&written);
    ollama_manifest_free(&m);
}

static void read_name(gufo_str text)
{
    gufo_text path = {0};
    ollama_name name;

    if (ollama_name_read(text, &name, NULL) != GUFO_OK)
        return;
    must(ollama_name_path(&name, &path), "the machine has enough memory");
    must(memchr(path.data, '\0', path.len) == NULL && path.data[0] != '/' && path.data[0] != '.',
         "a name is a path in the store");
    for (size_t i = 0; i + 1 < path.len; i++)
        must(path.data[i] != '/' || (path.data[i + 1] != '.' && path.data[i + 1] != '/'),
             "no part of it leads elsewhere");
    gufo_text_free(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gufo_str text = {(const char *)data, size};

    if (size == 0)
        text.data = "";
    read_manifest(text);
    read_name(text);
    return 0;
}
