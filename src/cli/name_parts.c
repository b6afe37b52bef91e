/* The parts of a name, as JSON and as text. */
#include "cli/name.h"

#include "cli/text.h"

#include <stddef.h>
#include <string.h>

static const struct part {
    const char *key, *label;
    size_t offset; /* of the gufo_str in gufo_name */
} parts[] = {
    {"sidecar", "sidecar", offsetof(gufo_name, sidecar)},
    {"base_name", "base name", offsetof(gufo_name, base_name)},
    {"size_label", "size label", offsetof(gufo_name, size_label)},
    {"fine_tune", "fine tune", offsetof(gufo_name, fine_tune)},
    {"version", "version", offsetof(gufo_name, version)},
    {"encoding", "encoding", offsetof(gufo_name, encoding)},
    {"type", "type", offsetof(gufo_name, type)},
    {"shard", "shard", offsetof(gufo_name, shard)},
};

enum { PART_COUNT = sizeof parts / sizeof *parts };

static gufo_str part_of(const gufo_name *name, size_t index)
{
    gufo_str part;

    memcpy(&part, (const char *)name + parts[index].offset, sizeof part);
    return part;
}

void name_begin_json(json_writer *j, const char *path, bool with_path)
{
    gufo_str name = gufo_str_of(path_name(path));
    gufo_error error = {0};
    gufo_name parsed;
    bool conforming = gufo_name_explain(name, &parsed, &error) == GUFO_OK;

    json_begin_object(j, NULL);
    if (with_path) {
        json_write_text(j, "path", path);
    }
    json_write_str(j, "name", name);
    json_write_bool(j, "conforming", conforming);
    for (size_t i = 0; i < PART_COUNT; i++) {
        gufo_str part = part_of(&parsed, i);

        if (part.data != NULL)
            json_write_str(j, parts[i].key, part);
        else
            json_write_null(j, parts[i].key);
    }
    if (conforming)
        return;
    json_write_text(j, "reason", error.message);
}

void name_print_parts(const gufo_name *parsed, bool conforming)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        gufo_str part = part_of(parsed, i);

        if (part.data == NULL)
            continue;
        printf("  %-10s  ", parts[i].label);
        text_put(stdout, part, TEXT_PLAIN);
        puts(!conforming && strcmp(parts[i].key, "version") == 0 ? " (assumed)" : "");
    }
}
