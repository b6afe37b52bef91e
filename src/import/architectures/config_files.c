/* Files of a model folder that few architectures ask for: modules.json of sentence-transformers, and
 * the model card. */
#include "import/architectures/config_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/general/folder_name.h"
#include "import/json_file.h"
#include "import/open_regular.h"

enum { MODULES_LIMIT = 1 << 20, CARD_LIMIT = 4 << 20, NAME_SIZE = 256 };

/* FOLDER/NAME; false: longer than the system takes, so that no such file can be opened. */
static bool path_of(const model_config *c, gufo_str name, char out[PATH_MAX])
{
    int len = snprintf(out, PATH_MAX, "%s/%.*s", c->folder, (int)name.len, name.data);

    return len > 0 && len < PATH_MAX;
}

bool config_memory_file(const model_config *config, gufo_str name, gufo_str *bytes)
{
    const memory_folder *folder = config->memory;

    for (size_t i = 0; folder != NULL && i < folder->count; i++)
        if (gufo_str_equal(gufo_str_of(folder->files[i].name), name)) {
            *bytes = folder->files[i].bytes;
            return true;
        }
    return false;
}

gufo_status config_read_json(const model_config *config, const char *name, uint64_t limit,
                             json_t **json, gufo_error *error)
{
    gufo_str bytes;

    *json = NULL;
    if (config->memory == NULL)
        return json_file_read(config->folder, name, limit, config->bounds, json, error);
    if (!config_memory_file(config, gufo_str_of(name), &bytes))
        return GUFO_OK;
    if (bytes.len > limit)
        return refuse(error, GUFO_E_LIMIT, "%s: %s bytes, but at most %s are read", name,
                      GROUPED(bytes.len), GROUPED(limit));
    return json_read_text(bytes, name, 0, config->bounds, json, error);
}

static gufo_status append(gufo_str bytes, buffer *out, gufo_error *error)
{
    return buffer_append(out, bytes.data, bytes.len) ? GUFO_OK : fail_memory(error);
}

static gufo_status read_all(const source *s, uint64_t limit, buffer *out, gufo_error *error)
{
    void *room;

    if (s->size > limit)
        return refuse(error, GUFO_E_LIMIT, "%s bytes, but at most %s are read", GROUPED(s->size),
                      GROUPED(limit));
    room = buffer_extend(out, s->size);
    if (room == NULL)
        return fail_memory(error);
    return s->size > 0 ? source_read(s, 0, room, (size_t)s->size, error) : GUFO_OK;
}

static gufo_status read_file(const model_config *c, const char *name, uint64_t limit, buffer *out,
                             gufo_error *error)
{
    source s = {.fd = -1};
    gufo_status status;
    char *path;
    int fd;

    status = model_file_open(c->folder, name, c->bounds, &fd, error);
    if (status == GUFO_OK)
        status = source_open_fd(&s, fd, false, 0, c->allocator, error);
    if (status == GUFO_OK)
        status = read_all(&s, limit, out, error);
    source_close(&s);
    if (status == GUFO_OK)
        return GUFO_OK;
    path = path_in(c->folder, name, c->allocator);
    fail_in(error, GUFO_FILE_INPUT, 0, path != NULL ? path : name);
    mem_free(c->allocator, path);
    return status;
}

gufo_status config_read_bytes(const model_config *config, const char *name, uint64_t limit,
                              buffer *out, bool *found, gufo_error *error)
{
    gufo_str bytes;

    *found = config_memory_file(config, gufo_str_of(name), &bytes);
    if (*found)
        return append(bytes, out, error);
    if (config->memory != NULL)
        return GUFO_OK;
    *found = model_file_exists(config->folder, name);
    return *found ? read_file(config, name, limit, out, error) : GUFO_OK;
}

bool config_has_file(const model_config *config, gufo_str name)
{
    char path[PATH_MAX];
    struct stat info;
    gufo_str bytes;

    if (config->memory != NULL)
        return config_memory_file(config, name, &bytes);
    /* What it is, and where a symlink leads, is found when it is opened: nothing that has the name may
     * pass for a file that is not there. */
    return is_plain_name(name) && path_of(config, name, path) &&
           (lstat(path, &info) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

/* ---- pooling --------------------------------------------------------------------------------- */

/* A flag of the module, or its mode. */
static const struct pooling_row {
    const char *flag, *mode;
    uint32_t number;
} poolings[] = {
    {"pooling_mode_mean_tokens", "mean", 1},
    {"pooling_mode_cls_token", "cls", 2},
    {"pooling_mode_lasttoken", "lasttoken", 3},
};

static gufo_status pooling_of(const json_t *module, uint32_t *out, gufo_error *error)
{
    const char *mode = json_string_value(json_object_get(module, "pooling_mode"));
    const size_t count = sizeof poolings / sizeof *poolings;

    for (size_t i = 0; i < count; i++)
        if (json_is_true(json_object_get(module, poolings[i].flag))) {
            *out = poolings[i].number;
            return GUFO_OK;
        }
    for (size_t i = 0; i < count && mode != NULL; i++)
        if (strcmp(mode, poolings[i].mode) == 0) {
            *out = poolings[i].number;
            return GUFO_OK;
        }
    return refuse(error, GUFO_E_MALFORMED,
                  "the pooling is not mean, cls or last token, which GGUF has");
}

/* The folder of the first module that pools; an empty one if none does. */
static gufo_str pooling_folder(const json_t *modules)
{
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        gufo_str folder = json_str(json_object_get(module, "path"));

        if (str_ends(json_str(json_object_get(module, "type")), "Pooling") && folder.len > 0)
            return folder;
    }
    return (gufo_str){"", 0};
}

static gufo_status read_pooling(const model_config *c, gufo_str folder, uint32_t *out,
                                gufo_error *error)
{
    char name[NAME_SIZE + sizeof "/config.json"];
    json_t *module = NULL;
    gufo_status status;

    if (!is_plain_name(folder))
        return refuse(error, GUFO_E_MALFORMED,
                      "modules.json names the folder %s outside the model's", QUOTED(folder));
    (void)snprintf(name, sizeof name, "%.*s/config.json", (int)folder.len, folder.data);
    status = config_read_json(c, name, MODULES_LIMIT, &module, error);
    if (status == GUFO_OK && module == NULL)
        status = refuse(error, GUFO_E_NOT_FOUND, "modules.json names %s, which is missing",
                        QUOTED(gufo_str_of(name)));
    if (status == GUFO_OK)
        status = pooling_of(module, out, error);
    json_decref(module);
    return status;
}

gufo_status config_pooling(const model_config *config, bool *found, uint32_t *pooling,
                           gufo_error *error)
{
    json_t *modules = NULL;
    gufo_status status = config_read_json(config, "modules.json", MODULES_LIMIT, &modules, error);
    gufo_str folder = pooling_folder(modules);

    *found = folder.len > 0;
    if (status == GUFO_OK && *found)
        status = read_pooling(config, folder, pooling, error);
    json_decref(modules);
    return status;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Whether a text has a part, in any case. */
static bool has_folded(gufo_str text, const char *part)
{
    for (size_t at = 0; at < text.len; at++)
        if (str_begins_folded(str_from(text, at), part))
            return true;
    return false;
}

/* Whether a heading of the card has the name at its start.  A card that is missing says nothing; of a
 * long one the start counts. */
static gufo_status card_is_called(const model_config *c, const char *name, bool *out,
                                  gufo_error *error)
{
    static const char card[] = "README.md";
    char heading[NAME_SIZE + 2], *text;
    FILE *file;
    int fd;

    if (!config_has_file(c, gufo_str_of(card)) ||
        model_file_open(c->folder, card, c->bounds, &fd, NULL) != GUFO_OK)
        return GUFO_OK;
    text = mem_alloc(c->allocator, CARD_LIMIT);
    (void)snprintf(heading, sizeof heading, "# %s", name);
    file = text != NULL ? fdopen(fd, "rb") : NULL;
    if (file != NULL) {
        *out = has_folded((gufo_str){text, fread(text, 1, CARD_LIMIT, file)}, heading);
        (void)fclose(file);
    } else {
        (void)close(fd);
    }
    mem_free(c->allocator, text);
    return text != NULL ? GUFO_OK : fail_memory(error);
}

gufo_status config_is_called(const model_config *config, gufo_str name, bool *out,
                             gufo_error *error)
{
    folder_name folder;
    char part[NAME_SIZE];
    const gufo_str texts[] = {gufo_str_of(config->class_name),
                              json_str(json_object_get(config->fields, "_name_or_path")),
                              json_str(json_object_get(config->fields, "model_type"))};

    if (name.len == 0 || name.len >= sizeof part)
        return refuse(error, GUFO_E_ARGUMENT, "a name of %s bytes", GROUPED(name.len));
    memcpy(part, name.data, name.len);
    part[name.len] = '\0';
    folder.id[0] = '\0';
    if (config->memory == NULL)
        folder_name_read(config->folder, &folder);
    *out = has_folded(gufo_str_of(folder.id), part);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *out |= has_folded(texts[i], part);
    return *out || config->memory != NULL ? GUFO_OK : card_is_called(config, part, out, error);
}
