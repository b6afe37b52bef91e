/* Places, as programs see them. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "remote/http/url.h"
#include "remote/places/place.h"
#include "remote/places/services.h"

uint32_t gufo_remote_address(const char *text)
{
    address a;

    if (!address_is_one(gufo_str_of(text)))
        return 0;
    (void)address_read(gufo_str_of(text), &a, NULL);
    return GUFO_ADDRESS | (a.is_folder ? GUFO_ADDRESS_FOLDER : 0u) |
           (a.may_be_file ? GUFO_ADDRESS_OR_PATH : 0u);
}

/* The address in full, as far as there is room. */
static void spell(const place *p, const char *text, char *out, size_t room)
{
    char shown[HTTP_URL_SIZE];
    gufo_text full = {0};
    const char *spelling = p->address.service->spelling;

    if (spelling != NULL && p->address.path[0] != '\0' &&
        service_text(&p->address, spelling, NULL, &full))
        (void)snprintf(out, room, "%.*s", (int)full.len, full.data);
    else
        (void)snprintf(out, room, "%.*s", (int)room - 1, url_shown(text, shown));
    gufo_text_free(&full);
}

gufo_status gufo_remote_find(gufo_remote *remote, const char *text, gufo_place *out,
                             gufo_error *error)
{
    char shown[HTTP_URL_SIZE];
    place *found = mem_zero(&remote->allocator, sizeof *found);
    gufo_status status =
        found != NULL ? place_find(remote, text, found, error) : fail_memory(error);

    if (status == GUFO_OK) {
        const bool is_local = found->here != LOCAL_NOTHING;

        *out = (gufo_place){.is_folder = found->address.is_folder,
                            .is_local = is_local,
                            .service = found->address.service->title,
                            .cache = is_local ? found->local.cache : NULL,
                            .size = found->size};
        (void)snprintf(out->path, sizeof out->path, "%.*s", (int)sizeof out->path - 1,
                       is_local ? found->local.path : url_shown(found->url, shown));
        spell(found, text, out->address, sizeof out->address);
        (void)snprintf(out->name, sizeof out->name, "%s", found->address.path);
        memcpy(out->revision, found->local.commit, sizeof out->revision);
        memcpy(out->sha256, found->sha256, sizeof out->sha256);
    }
    mem_free(&remote->allocator, found);
    return status;
}

static void visit(const place_files *files, gufo_remote_file_fn *use, void *context)
{
    for (uint64_t i = 0; i < files->count; i++) {
        const place_file *file = &files->list[i];
        const gufo_remote_file shown = {.path = file->path,
                                        .sha256 = file->sha256[0] != '\0' ? file->sha256 : NULL,
                                        .size = file->size};

        if (!use(context, &shown))
            return;
    }
}

/* A file, whose size its server knows. */
static gufo_status list_one(gufo_remote *remote, const char *text, const place *p,
                            place_files *files, gufo_error *error)
{
    const char *path = p->address.path[0] != '\0' ? p->address.path : p->address.name;
    uint64_t size = p->size;
    gufo_source source;
    gufo_status status = GUFO_OK;

    if (path[0] == '\0') {
        const size_t len = strcspn(text, "?#");
        size_t at = len;

        while (at > 0 && text[at - 1] != '/')
            at--;
        if (at == len)
            at = 0;
        path = text + at;
    }
    if (size == GUFO_NO_OFFSET &&
        (status = gufo_remote_source(remote, text, &source, error)) == GUFO_OK) {
        size = source.size;
        source.close(source.context);
    }
    return status == GUFO_OK ? place_files_add(files, (gufo_str){path, strcspn(path, "?#")}, size,
                                               gufo_str_of(p->sha256), error)
                             : status;
}

gufo_status gufo_remote_list(gufo_remote *remote, const char *text, gufo_remote_file_fn *use,
                             void *context, uint64_t *left_out, gufo_error *error)
{
    place_files files = {.allocator = &remote->allocator};
    place *found = mem_zero(&remote->allocator, sizeof *found);
    gufo_status status =
        found != NULL ? place_find(remote, text, found, error) : fail_memory(error);

    if (status == GUFO_OK)
        status = found->address.is_folder ? place_list(remote, found, &files, error)
                                          : list_one(remote, text, found, &files, error);
    if (status == GUFO_OK)
        visit(&files, use, context);
    if (status == GUFO_OK && left_out != NULL)
        *left_out = files.left_out;
    place_files_free(&files);
    mem_free(&remote->allocator, found);
    return status;
}
