/* --known FILE: settings of models by the SHA-256 of their files, all parts in order:
 *
 *     {"3f2a...": {"name": "LLaMA 7B",
 *                  "settings": {"llama.attention.layer_norm_rms_epsilon": 1e-6,
 *                               "general.license": "other",
 *                               "KEY": {"type": "uint32", "value": 3}}}, ...}
 *
 * The file may be a stranger's.  docs/legacy.md has the format. */
#include "cli/core/files/path.h"
#include "cli/import/given_keys.h"
#include "cli/import/migrate.h"
#include "digest/algorithm.h"
#include "text/formats/json_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, LARGEST_FILE = 8 << 20 };

/* ---- the hash of the old file --------------------------------------------------------------- */

typedef struct hashing {
    hasher hasher;
    uint8_t *buffer;
    progress bar;
    uint64_t done, total;
} hashing;

static int hash_part(hashing *h, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), code = CODE_OK;
    ssize_t got = 1;
    gufo_error error;

    if (fd < 0)
        return report_system(path, errno);
    while (code == CODE_OK && got > 0) {
        got = read(fd, h->buffer, CHUNK);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            code = report_system(path, errno);
        else if (hasher_add(&h->hasher, h->buffer, (size_t)got, &error) != GUFO_OK)
            code = report_error(path, &error);
        h->done += got > 0 ? (uint64_t)got : 0;
        progress_update(&h->bar, h->done, h->total);
    }
    close(fd);
    return code;
}

static int hash_parts(const migration *m, hashing *h, char text[GUFO_DIGEST_TEXT])
{
    uint8_t digest[GUFO_DIGEST_SIZE];
    const char *path;
    gufo_error error;
    int code = CODE_OK;

    for (uint32_t i = 0; code == CODE_OK && (path = gufo_import_part_at(m->import, i)) != NULL; i++)
        code = hash_part(h, path);
    if (code == CODE_OK && hasher_finish(&h->hasher, digest, &error) != GUFO_OK)
        code = report_error(m->options->input, &error);
    if (code == CODE_OK)
        (void)gufo_digest_text(GUFO_DIGEST_SHA256, digest, text);
    return code;
}

static int hash_old(const migration *m, char text[GUFO_DIGEST_TEXT])
{
    hashing h = {.buffer = malloc(CHUNK), .total = gufo_import_describe(m->import).size};
    gufo_error error;
    int code = CODE_OK;

    if (h.buffer == NULL)
        return report_memory(m->options->input);
    if (hasher_open(&h.hasher, GUFO_DIGEST_SHA256, &error) != GUFO_OK)
        code = report_error(m->options->input, &error);
    progress_start(&h.bar, m->options->base.shared->quiet);
    if (code == CODE_OK)
        code = hash_parts(m, &h, text);
    progress_end(&h.bar);
    hasher_close(&h.hasher);
    free(h.buffer);
    return code;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* The types that a value may have: the one that is given with it, of text that of text unless the
 * registry knows better. */
static gufo_key_types types_of(const migration *m, const char *key, const json_t *value,
                               const char *type, const char *text)
{
    gufo_key_types types = {.count = 1};
    bool is_array = json_is_array(value);

    if (type != NULL) {
        types.list[0].is_array = is_array;
        types.count = gufo_value_type_by_name_str(gufo_str_of(type), &types.list[0].type);
        return types;
    }
    types = gufo_key_types_of(m->given, key);
    if (types.count == 0) {
        const json_t *first = is_array ? json_array_get(value, 0) : value;

        types.list[0].type = json_is_string(first) ? GUFO_VALUE_STRING : gufo_value_guess(text);
        types.list[0].is_array = is_array;
        types.count = !is_array || json_is_string(first);
    }
    return types;
}

/* The value as text of the same form as on a command line; to be freed. */
static char *text_of(const json_t *value)
{
    if (json_is_string(value))
        return strdup(json_string_value(value));
    return json_is_null(value) || json_is_object(value)
               ? NULL
               : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

static int take_setting(migration *m, const char *key, json_t *value)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    json_t *inner = type != NULL ? json_object_get(value, "value") : value;
    char message[GIVEN_KEYS_MESSAGE] = "expected a value, or {\"type\": ..., \"value\": ...}";
    char *text = inner != NULL ? text_of(inner) : NULL;
    bool taken = gufo_document_find(m->given, key, NULL); /* options come first */

    if (!taken && text != NULL) {
        gufo_key_types types = types_of(m, key, inner, type, text);

        if (types.count == 0)
            snprintf(message, sizeof message,
                     "its type is not known: {\"type\": ..., \"value\": ...}");
        else
            taken = given_keys_set(m->given, key, text, &types, message);
    }
    free(text);
    return taken ? CODE_OK
                 : report_as(CODE_FAILED, m->options->known, "settings of this file: '%s': %s", key,
                             message);
}

static int take_settings(migration *m, json_t *root, const char *hash)
{
    json_t *settings = json_object_get(json_object_get(root, hash), "settings"), *value;
    const char *key;
    int code = CODE_OK;

    if (!json_is_object(root))
        return report_as(CODE_FAILED, m->options->known, "not a JSON object of settings by hash");
    if (json_object_get(root, hash) == NULL)
        report_warning(m->options->known, "there are no settings for %s, whose SHA-256 is %s",
                       m->options->input, hash);
    else if (!json_is_object(settings))
        return report_as(CODE_FAILED, m->options->known, "%s: \"settings\" is not an object", hash);
    json_object_foreach(settings, key, value)
    {
        if (code == CODE_OK)
            code = take_setting(m, key, value);
    }
    return code;
}

int migrate_take_known(migration *m)
{
    const char *path = m->options->known;
    char hash[GUFO_DIGEST_TEXT];
    gufo_str bytes = {0};
    json_error_t error;
    gufo_error reason;
    json_t *root;
    int code = CODE_OK;

    if (path == NULL)
        return CODE_OK;
    code = small_file_read(path, LARGEST_FILE, "the settings have more than 8 MiB", &bytes);
    if (code != CODE_OK)
        return code;
    if (json_tree_check(bytes, JSON_TREE_MEMORY, NULL, &reason) != GUFO_OK) {
        small_file_free(&bytes);
        return report_error(path, &reason);
    }
    root = json_loadb(bytes.data, bytes.len, JSON_REJECT_DUPLICATES, &error);
    small_file_free(&bytes);
    if (root == NULL)
        return report_as(CODE_FAILED, path, "line %d: %s", error.line, error.text);
    code = hash_old(m, hash);
    if (code == CODE_OK)
        code = take_settings(m, root, hash);
    json_decref(root);
    return code;
}
