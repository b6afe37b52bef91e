/* Files of PyTorch since version 1.6: zip archives.
 *
 *     P/data.pkl    a pickle of a dictionary of tensors, which name their storages
 *     P/data/KEY    the elements of a storage
 *     P/byteorder   "little" (as without it) or "big"
 *     P/version     and others, which say nothing about tensors
 *
 * P is the name that the file once had. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "import/containers/torch.h"
#include "import/containers/torch_objects.h"
#include "import/containers/zip_members.h"

enum { MAX_MEMBER_NAME = 1024 };

typedef struct archive {
    checkpoint *c;
    uint32_t file;
    zip_members zip;
    gufo_str prefix; /* "P/" */
    const zip_member *pickle;
    bool swapped;
    gufo_error *error;
} archive;

/* The member "P/FOLDER/NAME"; NULL: none. */
static const zip_member *find_member(const archive *a, const char *folder, gufo_str name)
{
    char whole[MAX_MEMBER_NAME];
    int len = snprintf(whole, sizeof whole, "%.*s%s%.*s", (int)a->prefix.len, a->prefix.data,
                       folder, (int)name.len, name.data);

    if (len <= 0 || (size_t)len != a->prefix.len + strlen(folder) + name.len ||
        (size_t)len >= sizeof whole)
        return NULL; /* too long, or with a NUL byte */
    return zip_find(&a->zip, (gufo_str){whole, (size_t)len});
}

/* ---- which members -------------------------------------------------------------------------- */

static gufo_status find_pickle(archive *a)
{
    static const char name[] = "data.pkl";

    for (uint64_t i = 0; i < a->zip.count; i++) {
        const zip_member *member = &a->zip.members[i];
        const char *slash = memchr(member->name.data, '/', member->name.len);

        if (slash == NULL ||
            !gufo_str_equal(str_from(member->name, (size_t)(slash + 1 - member->name.data)),
                            gufo_str_of(name)))
            continue;
        if (a->pickle != NULL)
            return refuse(a->error, GUFO_E_MALFORMED, "the archive has %s and %s",
                          QUOTED(a->pickle->name), QUOTED(member->name));
        a->pickle = member;
        a->prefix = (gufo_str){member->name.data, member->name.len - (sizeof name - 1)};
    }
    if (a->pickle == NULL)
        return refuse(a->error, GUFO_E_TYPE,
                      "this ZIP archive has no data.pkl, so it is not a file of PyTorch");
    return GUFO_OK;
}

/* Programs in TorchScript have the same members, and code. */
static gufo_status refuse_script(const archive *a)
{
    bool is_script = find_member(a, "constants.pkl", (gufo_str){"", 0}) != NULL;
    char code[MAX_MEMBER_NAME];

    (void)snprintf(code, sizeof code, "%.*scode/", (int)smaller(a->prefix.len, 1000),
                   a->prefix.data);
    for (uint64_t i = 0; i < a->zip.count && !is_script; i++)
        is_script = str_begins(a->zip.members[i].name, code);
    return is_script
               ? refuse(a->error, GUFO_E_TYPE,
                        "this is a TorchScript archive, a program: save its state_dict instead")
               : GUFO_OK;
}

static gufo_status read_byte_order(archive *a)
{
    static const char little[] = "little", big[] = "big";
    const zip_member *member = find_member(a, "byteorder", (gufo_str){"", 0});
    gufo_status status;
    uint64_t offset;
    char text[8];

    if (member == NULL)
        return GUFO_OK;
    status = zip_locate(&a->zip, member, &offset, a->error);
    if (status != GUFO_OK)
        return status;
    if (member->size < sizeof text) {
        status = source_read(a->zip.source, offset, text, (size_t)member->size, a->error);
        if (status != GUFO_OK)
            return status;
        a->swapped = gufo_str_equal((gufo_str){text, (size_t)member->size}, gufo_str_of(big));
        if (a->swapped ||
            gufo_str_equal((gufo_str){text, (size_t)member->size}, gufo_str_of(little)))
            return GUFO_OK;
    }
    return fail_with(a->error, GUFO_E_MALFORMED, offset,
                     "the byte order is neither \"little\" nor \"big\"");
}

/* ---- storages ------------------------------------------------------------------------------- */

static gufo_status locate_storage(const archive *a, const torch_objects *o, torch_storage *storage)
{
    gufo_str key = pickle_text(&o->pickle, storage->key);
    const zip_member *member = find_member(a, "data/", key);
    gufo_status status;
    uint64_t size;

    if (member == NULL)
        return refuse(a->error, GUFO_E_MALFORMED, "the archive has no data of storage %s",
                      QUOTED(key));
    status = zip_locate(&a->zip, member, &storage->offset, a->error);
    if (status != GUFO_OK)
        return status;
    if (!checked_mul(storage->elements, torch_storage_width(storage), &size) ||
        size != member->size)
        return fail_with(a->error, GUFO_E_MALFORMED, storage->offset,
                         "storage %s has %s bytes, but should have %s elements of %" PRIu32,
                         QUOTED(key), GROUPED(member->size), GROUPED(storage->elements),
                         torch_storage_width(storage));
    storage->located = true;
    return GUFO_OK;
}

static gufo_status add_tensors(const archive *a, torch_objects *o)
{
    gufo_status status = pickle_read(&o->pickle);

    if (status == GUFO_OK && o->pickle.at != o->pickle.source->size)
        status = fail_with(a->error, GUFO_E_MALFORMED, o->pickle.base + o->pickle.at,
                           "something follows the end of the pickle");
    for (uint64_t i = 0; i < o->storage_count && status == GUFO_OK; i++)
        if (o->storages[i].root.kind == PICKLE_UNSET)
            status = locate_storage(a, o, &o->storages[i]);
    return status == GUFO_OK ? torch_objects_add(o, o->pickle.result, a->c, a->file, a->swapped)
                             : status;
}

/* The names of tensors are views of the pickle: it is kept. */
static gufo_status read_pickle(archive *a)
{
    torch_objects objects;
    gufo_status status;
    uint64_t offset;
    source bytes;
    char *text;

    status = zip_locate(&a->zip, a->pickle, &offset, a->error);
    if (status != GUFO_OK)
        return status;
    if (a->pickle->size > PICKLE_MAX_SIZE)
        return fail_with(a->error, GUFO_E_LIMIT, offset, "the pickle has %s bytes, more than %s",
                         GROUPED(a->pickle->size), GROUPED(PICKLE_MAX_SIZE));
    a->c->files[a->file].head = offset + a->pickle->size;
    text = checkpoint_memory(a->c, a->pickle->size);
    if (text == NULL)
        return fail_memory(a->error);
    status = source_read(a->zip.source, offset, text, (size_t)a->pickle->size, a->error);
    if (status != GUFO_OK)
        return status;
    source_open_memory(&bytes, text, (size_t)a->pickle->size);
    status = torch_objects_new(&objects, &bytes, offset, a->c->allocator, a->error);
    if (status == GUFO_OK)
        status = add_tensors(a, &objects);
    torch_objects_free(&objects);
    return status;
}

gufo_status torch_zip_read(checkpoint *c, uint32_t file, gufo_error *error)
{
    archive a = {.c = c, .file = file, .error = error};
    gufo_status status = zip_read(&a.zip, &c->files[file].source, c->allocator, error);

    if (status == GUFO_OK)
        status = find_pickle(&a);
    if (status == GUFO_OK)
        status = refuse_script(&a);
    if (status == GUFO_OK)
        status = read_byte_order(&a);
    if (status == GUFO_OK)
        status = read_pickle(&a);
    zip_free(&a.zip);
    return status;
}

/* Archives without a directory are incomplete, and may have been anything. */
bool torch_zip_may_read(const source *s)
{
    archive a = {0};
    bool may = zip_read(&a.zip, s, s->allocator, NULL) != GUFO_OK || find_pickle(&a) != GUFO_E_TYPE;

    zip_free(&a.zip);
    return may;
}

bool torch_zip_recognise(const uint8_t *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}
