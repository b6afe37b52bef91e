/* Ollama's store; store.h has its layout. */
#include "remote/ollama/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/folder.h"
#include "base/memory.h"
#include "gufo/files.h"
#include "remote/sha256.h"

enum { NAMES_TRIED = 100, PART = 1 << 20 /* of a blob that is hashed */ };

/* ---- paths ---------------------------------------------------------------------------------- */

char *ollama_store_path(const ollama_store *store, const char *folder, gufo_str name)
{
    gufo_text path = {.allocator = store->allocator};
    bool good = text_add(&path, store->root, strlen(store->root)) && text_add(&path, "/", 1) &&
                text_add(&path, folder, strlen(folder)) && text_add(&path, "/", 1) &&
                text_add(&path, name.data, name.len) && text_add(&path, "", 1);

    if (good)
        return path.data;
    gufo_text_free(&path);
    return NULL;
}

/* "sha256-HEX" */
typedef struct blob_name {
    char text[sizeof "sha256-" + OLLAMA_HEX];
} blob_name;

static blob_name blob_of(const char *hex)
{
    blob_name name = {"sha256-"};

    memcpy(name.text + strlen(name.text), hex, strlen(hex));
    return name;
}

char *ollama_blob_path(const ollama_store *store, const char *hex)
{
    blob_name name = blob_of(hex);

    return ollama_store_path(store, "blobs", gufo_str_of(name.text));
}

static char *manifest_path(const ollama_store *store, const ollama_name *name)
{
    gufo_text text = {.allocator = store->allocator};
    char *path = ollama_name_path(name, &text)
                     ? ollama_store_path(store, "manifests", (gufo_str){text.data, text.len})
                     : NULL;

    gufo_text_free(&text);
    return path;
}

/* Names a file of the store in a failure, and frees the path. */
static gufo_status fail_at(const ollama_store *store, char *path, gufo_file_role role,
                           gufo_status status, gufo_error *error)
{
    if (status != GUFO_OK)
        fail_in(error, role, 0, path);
    mem_free(store->allocator, path);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Names are checked before: none of them leads out of the store, but folders of a store may be links. */
static source_folder folder_of_store(const ollama_store *store)
{
    source_folder folder = source_folder_disk(gufo_str_of(store->root));

    folder.follow = true;
    return folder;
}

static gufo_status fail_not_found(const ollama_name *name, gufo_error *error)
{
    gufo_text text = {0};
    gufo_status status =
        ollama_name_text(name, &text)
            ? refuse(error, GUFO_E_NOT_FOUND, "no model %s is in this store of Ollama",
                     QUOTED(((gufo_str){text.data, text.len})))
            : fail_memory(error);

    gufo_text_free(&text);
    return status;
}

gufo_status ollama_store_manifest(const ollama_store *store, const ollama_name *name,
                                  ollama_manifest *out, gufo_error *error)
{
    source_folder folder = folder_of_store(store);
    char *path = manifest_path(store, name);
    buffer bytes = {.allocator = store->allocator};
    bool found = false;
    gufo_status status;

    *out = (ollama_manifest){.config = {.kind = OLLAMA_OTHER}};
    if (path == NULL)
        return fail_memory(error);
    status = source_folder_read(&folder, path + strlen(store->root) + 1, OLLAMA_MANIFEST_MOST,
                                &bytes, &found, error);
    if (status == GUFO_OK && !found)
        status = fail_not_found(name, error);
    if (status == GUFO_OK)
        status = ollama_manifest_read((gufo_str){(const char *)bytes.data, bytes.len},
                                      store->allocator, out, error);
    buffer_free(&bytes);
    return fail_at(store, path, GUFO_FILE_INPUT, status, error);
}

gufo_status ollama_store_open(const ollama_store *store, const ollama_layer *layer, source *out,
                              gufo_error *error)
{
    char *path = ollama_blob_path(store, layer->hex);
    source_folder folder = folder_of_store(store);
    gufo_status status;

    *out = (source){.fd = -1};
    if (path == NULL)
        return fail_memory(error);
    status =
        source_folder_open(&folder, path + strlen(store->root) + 1, store->allocator, out, error);
    if (status == GUFO_OK && out->size != layer->size)
        status =
            refuse(error, GUFO_E_MALFORMED,
                   "the blob has %s bytes, and the manifest says %s: it is damaged, or was not "
                   "downloaded to its end",
                   GROUPED(out->size), GROUPED(layer->size));
    return fail_at(store, path, GUFO_FILE_INPUT, status, error);
}

static gufo_status read_text(const ollama_store *store, const ollama_layer *layer, source *from,
                             gufo_text *out, gufo_error *error)
{
    const size_t size = (size_t)layer->size, before = out->len;
    char hex[SHA256_HEX + 1];
    gufo_status status;

    if (!text_reserve(out, size))
        return fail_memory(error);
    status = source_read(from, 0, out->data + before, size, error);
    if (status == GUFO_OK)
        status = sha256_of((gufo_str){out->data + before, size}, hex, error);
    if (status == GUFO_OK && strcmp(hex, layer->hex) != 0)
        status = refuse(error, GUFO_E_MALFORMED,
                        "the blob is damaged: its bytes have another digest than its name");
    out->len = before + (status == GUFO_OK ? size : 0);
    return fail_at(store, ollama_blob_path(store, layer->hex), GUFO_FILE_INPUT, status, error);
}

gufo_status ollama_store_text(const ollama_store *store, const ollama_layer *layer, uint64_t most,
                              gufo_text *out, gufo_error *error)
{
    source from = {.fd = -1};
    gufo_status status;

    if (layer->size > most)
        return refuse(error, GUFO_E_LIMIT, "a layer of text has %s bytes, more than %s",
                      GROUPED(layer->size), GROUPED(most));
    status = ollama_store_open(store, layer, &from, error);
    if (status == GUFO_OK)
        status = read_text(store, layer, &from, out, error);
    source_close(&from);
    return status;
}

/* Whether a blob has the bytes that its name says: another user may have put it there. */
static gufo_status hash_blob(const source *blob, uint8_t *part, char hex[SHA256_HEX + 1],
                             gufo_error *error)
{
    sha256 hash = {0};
    gufo_status status = sha256_open(&hash, error);

    for (uint64_t at = 0; at < blob->size && status == GUFO_OK; at += PART) {
        const size_t size = blob->size - at < PART ? (size_t)(blob->size - at) : PART;

        status = source_read(blob, at, part, size, error);
        if (status == GUFO_OK)
            status = sha256_add(&hash, part, size, error);
    }
    if (status == GUFO_OK)
        status = sha256_finish(&hash, hex, error);
    sha256_close(&hash);
    return status;
}

/* A blob that cannot be read is as one that is not there. */
static bool has_blob(const ollama_store *store, const ollama_layer *layer)
{
    uint8_t *part = mem_array(store->allocator, PART, 1);
    char hex[SHA256_HEX + 1] = "";
    source blob = {.fd = -1};
    gufo_error reason;
    const bool has = part != NULL && ollama_store_open(store, layer, &blob, &reason) == GUFO_OK &&
                     hash_blob(&blob, part, hex, &reason) == GUFO_OK &&
                     strcmp(hex, layer->hex) == 0;

    source_close(&blob);
    mem_free(store->allocator, part);
    return has;
}

/* ---- folders -------------------------------------------------------------------------------- */

/* Makes all folders that lead to the last name of a path, as far as they are missing. */
static gufo_status make_folders(char *path, gufo_error *error)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        int failure;

        *slash = '\0';
        failure = disk_make_folder(path, 0755) == 0 ? 0 : errno;
        if (failure != 0 && failure != EEXIST && access(path, F_OK) != 0) {
            (void)fail_io(error, failure, "cannot make the folder");
            fail_in(error, GUFO_FILE_OUTPUT, 0, path);
            return GUFO_E_IO;
        }
        *slash = '/';
    }
    return GUFO_OK;
}

static gufo_status make_folders_of(const ollama_store *store, char *path, gufo_error *error)
{
    gufo_status status = path != NULL ? make_folders(path, error) : fail_memory(error);

    mem_free(store->allocator, path);
    return status;
}

gufo_status ollama_store_prepare(const ollama_store *store, const ollama_name *name,
                                 gufo_error *error)
{
    gufo_status status =
        make_folders_of(store, ollama_store_path(store, "blobs", gufo_str_of("")), error);

    return status == GUFO_OK ? make_folders_of(store, manifest_path(store, name), error) : status;
}

gufo_status ollama_store_check(const ollama_store *store, const ollama_name *name,
                               gufo_error *error)
{
    char *path = manifest_path(store, name);
    gufo_status status = GUFO_OK;
    struct stat info;

    if (path == NULL)
        return fail_memory(error);
    if (lstat(path, &info) == 0)
        status = refuse(error, GUFO_E_EXISTS, "a model of this name exists in the store");
    return fail_at(store, path, GUFO_FILE_OUTPUT, status, error);
}

/* ---- blobs ---------------------------------------------------------------------------------- */

char *ollama_store_new(const ollama_store *store, gufo_error *error)
{
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
        char name[TEMPORARY_NAME];
        struct stat info;
        char *path;

        temporary_name(name);
        path = ollama_store_path(store, "blobs", gufo_str_of(name));
        if (path == NULL) {
            (void)fail_memory(error);
            return NULL;
        }
        if (lstat(path, &info) != 0)
            return path;
        mem_free(store->allocator, path);
    }
    (void)refuse(error, GUFO_E_IO, "no name is free in the folder of blobs");
    return NULL;
}

/* Whether a blob is there and has the right size.  Ollama leaves blobs without a manifest alone as long as
 * they are new: one that is kept counts as new. */
static bool is_there(const char *path, uint64_t size)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && (uint64_t)info.st_size == size;
}

static void touch(const char *path)
{
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* of another user: then its time stays */
}

gufo_status ollama_store_take(const ollama_store *store, const char *path,
                              const ollama_layer *layer, bool *kept, gufo_error *error)
{
    char *blob = ollama_blob_path(store, layer->hex);
    gufo_status status = GUFO_OK;

    if (blob == NULL)
        return fail_memory(error);
    *kept = has_blob(store, layer);
    if (*kept) {
        (void)disk_unlink(path);
        touch(blob);
    } else if (disk_rename(path, blob) != 0) {
        status = fail_io(error, errno, "cannot give the blob its name");
    }
    return fail_at(store, blob, GUFO_FILE_OUTPUT, status, error);
}

gufo_status ollama_store_put(const ollama_store *store, ollama_layer_kind kind, gufo_str bytes,
                             ollama_layer *layer, bool *kept, gufo_error *error)
{
    const char *type = ollama_layer_type(kind);
    gufo_status status;
    char *blob;

    *layer = (ollama_layer){.kind = kind,
                            .type = gufo_str_of(type != NULL ? type : OLLAMA_CONFIG_TYPE),
                            .size = bytes.len};
    status = sha256_of(bytes, layer->hex, error);
    blob = status == GUFO_OK ? ollama_blob_path(store, layer->hex) : NULL;
    if (status == GUFO_OK && blob == NULL)
        status = fail_memory(error);
    if (status != GUFO_OK)
        return status;
    *kept = has_blob(store, layer);
    if (*kept)
        touch(blob);
    else
        status = gufo_save(
            blob, bytes,
            &(gufo_save_options){.flags = GUFO_SAVE_REPLACE, .allocator = store->allocator}, error);
    return fail_at(store, blob, GUFO_FILE_OUTPUT, status, error);
}

/* ---- the manifest --------------------------------------------------------------------------- */

/* A server that started meanwhile has removed blobs that were older than it allows. */
static gufo_status check_blob(const ollama_store *store, const ollama_layer *layer,
                              gufo_error *error)
{
    char *blob = ollama_blob_path(store, layer->hex);
    gufo_status status = GUFO_OK;

    if (blob == NULL)
        return fail_memory(error);
    if (!is_there(blob, layer->size))
        status = refuse(error, GUFO_E_CHANGED, "another program has removed the blob; try again");
    return fail_at(store, blob, GUFO_FILE_OUTPUT, status, error);
}

static gufo_status sync_blobs(const ollama_store *store, gufo_error *error)
{
    char *path = ollama_store_path(store, "blobs", gufo_str_of("x"));
    gufo_status status = path != NULL ? folder_sync_names(path, error) : fail_memory(error);

    return fail_at(store, path, GUFO_FILE_OUTPUT, status, error);
}

static gufo_status write_manifest(const ollama_store *store, const ollama_name *name, gufo_str text,
                                  bool replace, gufo_error *error)
{
    char *path = manifest_path(store, name);
    gufo_status status;

    if (path == NULL)
        return fail_memory(error);
    status = gufo_save(path, text,
                       &(gufo_save_options){.flags = replace ? GUFO_SAVE_REPLACE : 0u,
                                            .allocator = store->allocator},
                       error);
    return fail_at(store, path, GUFO_FILE_OUTPUT, status, error);
}

gufo_status ollama_store_publish(const ollama_store *store, const ollama_name *name,
                                 const ollama_layer *config, const ollama_layer *layers,
                                 size_t count, bool replace, gufo_error *error)
{
    gufo_text text = {.allocator = store->allocator};
    gufo_status status = sync_blobs(store, error);

    if (status == GUFO_OK)
        status = ollama_manifest_write(config, layers, count, &text, error);
    if (status == GUFO_OK)
        status = check_blob(store, config, error);
    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        status = check_blob(store, &layers[i], error);
    if (status == GUFO_OK)
        status = write_manifest(store, name, (gufo_str){text.data, text.len}, replace, error);
    gufo_text_free(&text);
    return status;
}
