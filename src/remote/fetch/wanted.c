/* From an address to files.
 *
 *     https://host/dir/big-00001-of-00003.gguf?secret     OUT: models/
 *
 *       url      https://host/dir/big-00001-of-00003.gguf?secret      ... 00002-of-00003.gguf?secret  ...
 *       address  https://host/dir/big-00001-of-00003.gguf             ... as errors and records have it
 *       name     big-00001-of-00003.gguf                              ... of the address, never of an answer
 *       path     models/big-00001-of-00003.gguf */
#include "remote/fetch/wanted.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/files/folder.h"
#include "base/memory.h"
#include "base/text.h"
#include "remote/http/url.h"
#include "remote/places/place.h"
#include "remote/places/services.h"

/* Each has two files open. */
enum { MOST_SHARDS = 400 };

/* ---- names ---------------------------------------------------------------------------------- */

/* A text that lives as long as the list; NULL without memory. */
static const char *keep(wanted *w, gufo_str begin, gufo_str end)
{
    char **list = mem_grow(w->allocator, w->texts, w->text_count, &w->text_room, sizeof *list);

    if (list == NULL)
        return NULL;
    w->texts = list;
    list[w->text_count] = mem_join(w->allocator, begin, end);
    return list[w->text_count] != NULL ? list[w->text_count++] : NULL;
}

/* The bytes that %XX encodes in a name of an address; false for a NUL, or where there is no room. */
static bool decode_name(const char *from, char *to, size_t room)
{
    for (; *from != '\0' && room > 1; to++, room--) {
        bool escaped = from[0] == '%' && is_hex(from[1]) && is_hex(from[2]);

        if (escaped && from[1] == '0' && from[2] == '0')
            return false;
        *to = *from;
        if (escaped)
            *to = (char)(hex_digit(from[1]) << 4 | hex_digit(from[2]));
        from += escaped ? 3 : 1;
    }
    *to = '\0';
    return *from == '\0';
}

/* Files that begin with a point are hidden, and shells and other programs obey some of them. */
static bool is_name(const char *name)
{
    gufo_str text = gufo_str_of(name);

    if (*name == '\0' || *name == '.' || strpbrk(name, "/\\") != NULL ||
        gufo_utf8_valid_prefix(text) != text.len)
        return false;
    for (; *name != '\0'; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f)
            return false;
    return true;
}

/* The name that an address has for its file; "" if that cannot be one of a file here. */
static void name_of(const place *p, const char *shown, char name[NAME_MAX + 1])
{
    const address *a = &p->address;
    const char *path = shown;
    int len = 0;
    bool fits = true;

    if (a->service->form == ADDRESS_OF_MODEL)
        len = snprintf(name, NAME_MAX + 1, "%s-%s.gguf", a->name, service_revision(a));
    else if (a->service->form == ADDRESS_OF_REPOSITORY)
        len = snprintf(name, NAME_MAX + 1, "%s", a->path + folder_len(a->path));
    else
        fits = decode_name(path + folder_len(path), name, NAME_MAX + 1);
    if (!fits || len > NAME_MAX || !is_name(name))
        name[0] = '\0';
}

/* ---- where they go -------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    size_t len = strlen(path);
    struct stat info;

    return (len > 0 && path[len - 1] == '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

static const char *path_in(wanted *w, const char *folder, const char *name)
{
    char joined[PATH_MAX];
    size_t len = strlen(folder);
    const char *slash = len > 0 && folder[len - 1] != '/' ? "/" : "";

    if (snprintf(joined, sizeof joined, "%s%s%s", folder, slash, name) >= (int)sizeof joined)
        return NULL;
    return keep(w, gufo_str_of(joined), gufo_str_of(""));
}

static const char *output_path(wanted *w, const char *out, const char *name)
{
    if (out == NULL)
        return keep(w, gufo_str_of(name), gufo_str_of(""));
    return is_folder(out) ? path_in(w, out, name) : keep(w, gufo_str_of(out), gufo_str_of(""));
}

/* ---- sets ----------------------------------------------------------------------------------- */

/* The same text about shard `number`: what is before "-00001-of-00003.gguf", at `end`, and what follows. */
static const char *sibling(wanted *w, const char *text, size_t end, uint32_t number,
                           gufo_error *error)
{
    char first[HTTP_URL_SIZE], other[HTTP_URL_SIZE];
    uint32_t count;
    size_t prefix;
    const char *shard = NULL;

    (void)snprintf(first, sizeof first, "%.*s", (int)end, text);
    if (gufo_shard_path_parse(first, &prefix, NULL, &count) &&
        gufo_shard_path_format(other, sizeof other, first, prefix, number, count) < sizeof other)
        shard = keep(w, gufo_str_of(other), gufo_str_of(text + end));
    if (shard == NULL)
        (void)fail_memory(error);
    return shard;
}

static gufo_status add_sibling(wanted *w, uint32_t number, gufo_error *error)
{
    const fetch_file *first = &w->files[0];
    fetch_file *file = &w->files[number - 1];

    *file = (fetch_file){.size = GUFO_NO_OFFSET};
    file->url = sibling(w, first->url, strcspn(first->url, "?#"), number, error);
    file->address = sibling(w, first->address, strlen(first->address), number, error);
    file->name = sibling(w, first->name, strlen(first->name), number, error);
    file->path = sibling(w, first->path, strlen(first->path), number, error);
    if (first->inside != NULL)
        file->inside = sibling(w, first->inside, strlen(first->inside), number, error);
    if (first->local != NULL)
        file->local = sibling(w, first->local, strlen(first->local), number, error);
    return file->url != NULL && file->address != NULL && file->name != NULL && file->path != NULL &&
                   (first->local == NULL || file->local != NULL) &&
                   (first->inside == NULL || file->inside != NULL)
               ? GUFO_OK
               : GUFO_E_MEMORY;
}

static gufo_status add_siblings(wanted *w, uint32_t count, gufo_error *error)
{
    uint32_t number, of;
    gufo_status status = GUFO_OK;

    if (!gufo_shard_path_parse(w->files[0].path, NULL, &number, &of) || number != 1 || of != count)
        return refuse(error, GUFO_E_ARGUMENT,
                      "%s begins a set of %" PRIu32
                      " files: the output is a folder, or ends with -00001-of-%05" PRIu32 ".gguf",
                      QUOTED(gufo_str_of(w->files[0].name)), count, count);
    for (number = 2; number <= count && status == GUFO_OK; number++)
        status = add_sibling(w, number, error);
    w->count = count;
    return status;
}

/* How many files the set has that a name begins; 1 for any other. */
static uint32_t set_size(const char *name, bool single)
{
    uint32_t number, count;

    return !single && gufo_shard_path_parse(name, NULL, &number, &count) && number == 1 ? count : 1;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Where the cache of Hugging Face has it. */
static gufo_status note_repository(wanted *w, const place *p, fetch_file *file, gufo_error *error)
{
    const address *a = &p->address;
    char folder[2 * ADDRESS_NAME + 32];

    if (strcmp(a->service->name, "hf") != 0 || p->here == LOCAL_FILE)
        return GUFO_OK;
    (void)snprintf(folder, sizeof folder, "%s%s--%s", a->type->cache, a->owner, a->name);
    w->repository = keep(w, gufo_str_of(folder), gufo_str_of(""));
    w->revision = keep(w, gufo_str_of(service_revision(a)), gufo_str_of(""));
    file->inside = keep(w, gufo_str_of(a->path), gufo_str_of(""));
    return w->repository != NULL && w->revision != NULL && file->inside != NULL
               ? GUFO_OK
               : fail_memory(error);
}

static gufo_status fill(wanted *w, const place *p, const char *text, const char *out,
                        fetch_file *file, gufo_error *error)
{
    const char *url = p->here == LOCAL_FILE ? text : p->url;
    char shown[HTTP_URL_SIZE], name[NAME_MAX + 1];

    (void)url_shown(url, shown);
    name_of(p, shown, name);
    if (name[0] == '\0' && (out == NULL || is_folder(out)))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the address does not end with a name that a file could have: name the "
                      "output");
    *file = (fetch_file){.url = keep(w, gufo_str_of(url), gufo_str_of("")),
                         .address = keep(w, gufo_str_of(shown), gufo_str_of("")),
                         .name = keep(w, gufo_str_of(name), gufo_str_of("")),
                         .path = output_path(w, out, name),
                         .local = p->here == LOCAL_FILE
                                      ? keep(w, gufo_str_of(p->local.path), gufo_str_of(""))
                                      : NULL,
                         .size = p->size};
    memcpy(file->sha256, p->sha256, sizeof file->sha256);
    return file->url != NULL && file->address != NULL && file->name != NULL && file->path != NULL &&
                   (file->local == NULL) == (p->here != LOCAL_FILE)
               ? GUFO_OK
               : fail_memory(error);
}

static gufo_status find_first(gufo_remote *remote, wanted *w, const char *text, const char *out,
                              fetch_file *file, gufo_error *error)
{
    place *p = mem_zero(w->allocator, sizeof *p);
    gufo_status status = p != NULL ? place_find(remote, text, p, error) : fail_memory(error);

    if (status == GUFO_OK && (p->address.is_folder || p->here == LOCAL_FOLDER))
        status = refuse(error, GUFO_E_ARGUMENT,
                        "this is a repository, and not a file: name a file of it, or the type of "
                        "its elements as in OWNER/NAME:Q4_K_M");
    if (status == GUFO_OK)
        status = fill(w, p, text, out, file, error);
    if (status == GUFO_OK)
        status = note_repository(w, p, file, error);
    mem_free(w->allocator, p);
    return status;
}

gufo_status wanted_find(gufo_remote *remote, const char *text, const char *out, bool single,
                        wanted *w, gufo_error *error)
{
    fetch_file first;
    uint32_t count;
    gufo_status status = find_first(remote, w, text, out, &first, error);

    if (status != GUFO_OK)
        return status;
    count = set_size(first.name, single);
    if (count > MOST_SHARDS)
        return refuse(error, GUFO_E_LIMIT,
                      "a set of %" PRIu32 " files is more than can be fetched together", count);
    w->files = mem_array(w->allocator, count, sizeof *w->files);
    if (w->files == NULL)
        return fail_memory(error);
    w->files[0] = first;
    w->count = 1;
    return count > 1 ? add_siblings(w, count, error) : GUFO_OK;
}

void wanted_free(wanted *w)
{
    for (uint64_t i = 0; i < w->text_count; i++)
        mem_free(w->allocator, w->texts[i]);
    mem_free(w->allocator, w->texts);
    mem_free(w->allocator, w->files);
    *w = (wanted){.allocator = w->allocator};
}
