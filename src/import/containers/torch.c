/* Files of PyTorch: since version 1.6 a zip archive, before that pickles in a row with data behind them.  What the
 * objects in a pickle are, torch_objects.c knows. */
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/source.h"
#include "base/text.h"
#include "format/file/records.h"
#include "import/containers/checkpoint.h"
#include "import/containers/torch_objects.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ==== the members of a zip archive ============================================================= */

/* As APPNOTE 6.3 has them, with the records of zip64:
 *
 *     | header a | bytes of a | header b | bytes of b | ... | directory | [zip64 end] | end |
 *
 * The end says where the directory is, the directory where the members' own headers are; their bytes
 * follow these.  Bytes are moved from where they are, by the engine: so it takes the place of a member,
 * which libraries that unpack archives keep to themselves, and it takes stored members alone. */

typedef struct zip_member {
    gufo_str name;   /* a view of the directory */
    uint64_t header; /* offset of its local header */
    uint64_t stored; /* its bytes in the archive */
    uint64_t size;   /* its bytes when it is unpacked */
    uint16_t method; /* 0: stored as it is */
    bool encrypted;
} zip_member;

typedef struct zip_members {
    const gufo_allocator *allocator;
    const source *source;
    uint8_t *directory;
    uint64_t directory_at; /* its offset: members are before it */
    uint64_t directory_size;
    zip_member *members;
    uint64_t count;
    name_index by_name;
} zip_members;

enum {
    LOCAL_SIZE = 30,
    ENTRY_SIZE = 46,
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    MAX_COMMENT = 65535,
    MAX_DIRECTORY = 1 << 28,
    ZIP64_FIELDS = 1, /* the id of an extra field */
};

static const char local_magic[] = "PK\3\4", entry_magic[] = "PK\1\2", end_magic[] = "PK\5\6",
                  locator_magic[] = "PK\6\7", end64_magic[] = "PK\6\6";

static uint16_t u16(const uint8_t *at)
{
    return load_u16(at, HOST_IS_BIG_ENDIAN);
}

static uint32_t u32(const uint8_t *at)
{
    return load_u32(at, HOST_IS_BIG_ENDIAN);
}

static uint64_t u64(const uint8_t *at)
{
    return load_u64(at, HOST_IS_BIG_ENDIAN);
}

static bool begins(const uint8_t *at, const char *magic)
{
    return memcmp(at, magic, 4) == 0;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Where the directory is. */
typedef struct zip_end {
    uint64_t at; /* offset of the record that says so */
    uint64_t entries, directory_size, directory_at;
} zip_end;

/* Finds the end: its comment reaches to the last byte of the file. */
static gufo_status find_end(const source *s, const uint8_t *tail, size_t size, const uint8_t **end,
                            gufo_error *error)
{
    for (size_t at = size < END_SIZE ? 0 : size - END_SIZE + 1; at-- > 0;) {
        *end = tail + at;
        if (begins(*end, end_magic) && u16(*end + 20) == size - END_SIZE - at)
            return GUFO_OK;
    }
    return fail_with(error, GUFO_E_TRUNCATED, s->size,
                     "the ZIP archive has no directory at its end: it is not complete");
}

/* The record of zip64, where there is a locator before the end. */
static gufo_status read_end64(const source *s, uint64_t end_at, zip_end *out, gufo_error *error)
{
    uint8_t locator[LOCATOR_SIZE], record[END64_SIZE];
    gufo_status status;
    uint64_t at;

    if (end_at < LOCATOR_SIZE)
        return GUFO_OK;
    status = source_read(s, end_at - LOCATOR_SIZE, locator, sizeof locator, error);
    if (status != GUFO_OK || !begins(locator, locator_magic))
        return status;
    at = u64(locator + 8);
    if (!range_inside(at, END64_SIZE, end_at - LOCATOR_SIZE))
        return fail_with(error, GUFO_E_MALFORMED, end_at - LOCATOR_SIZE,
                         "the zip64 record is at byte %" PRIu64 ", which is not before its locator",
                         at);
    status = source_read(s, at, record, sizeof record, error);
    if (status != GUFO_OK)
        return status;
    if (!begins(record, end64_magic))
        return fail_with(error, GUFO_E_MALFORMED, at, "this is not the zip64 record of an archive");
    *out = (zip_end){at, u64(record + 32), u64(record + 40), u64(record + 48)};
    return GUFO_OK;
}

static gufo_status check_end(const zip_end *e, gufo_error *error)
{
    if (!range_inside(e->directory_at, e->directory_size, e->at))
        return fail_with(error, GUFO_E_MALFORMED, e->at,
                         "the directory of %s bytes at byte %" PRIu64
                         " does not end before the end of the archive",
                         GROUPED(e->directory_size), e->directory_at);
    if (e->directory_size > MAX_DIRECTORY)
        return fail_with(error, GUFO_E_LIMIT, e->at, "the directory has %s bytes, more than %s",
                         GROUPED(e->directory_size), GROUPED(MAX_DIRECTORY));
    if (e->entries > e->directory_size / ENTRY_SIZE)
        return fail_with(error, GUFO_E_MALFORMED, e->at,
                         "%s members do not fit into a directory of %s bytes", GROUPED(e->entries),
                         GROUPED(e->directory_size));
    return GUFO_OK;
}

static gufo_status read_end(zip_members *zip, zip_end *out, gufo_error *error)
{
    const source *s = zip->source;
    size_t size = (size_t)smaller(s->size, MAX_COMMENT + END_SIZE);
    uint8_t *tail = mem_alloc(zip->allocator, size + 1);
    const uint8_t *end = NULL;
    gufo_status status;

    if (tail == NULL)
        return fail_memory(error);
    status = source_read(s, s->size - size, tail, size, error);
    if (status == GUFO_OK)
        status = find_end(s, tail, size, &end, error);
    if (status == GUFO_OK) {
        uint64_t at = s->size - size + (uint64_t)(end - tail);

        *out = (zip_end){at, u16(end + 10), u32(end + 12), u32(end + 16)};
        status = read_end64(s, at, out, error);
    }
    mem_free(zip->allocator, tail);
    return status == GUFO_OK ? check_end(out, error) : status;
}

/* ---- the directory -------------------------------------------------------------------------- */

/* Sizes and offset that do not fit 32 bits are in an extra field, in this order. */
static bool read_zip64(zip_member *member, const uint8_t *extra, size_t len)
{
    uint64_t *const fields[] = {&member->size, &member->stored, &member->header};
    size_t at = 0, size = 0, used = 4;

    while (len - at >= 4 && (size = u16(extra + at + 2)) <= len - at - 4 &&
           u16(extra + at) != ZIP64_FIELDS)
        at += 4 + size;
    if (len - at < 4 || size > len - at - 4)
        size = 0;
    for (size_t i = 0; i < 3; i++) {
        if (*fields[i] != UINT32_MAX)
            continue;
        if (used + 8 > 4 + size)
            return false;
        *fields[i] = u64(extra + at + used);
        used += 8;
    }
    return true;
}

/* Takes the entry at *at, and moves behind it. */
static gufo_status read_entry(const zip_members *zip, uint64_t *at, zip_member *out,
                              gufo_error *error)
{
    const uint8_t *entry = zip->directory + *at;
    const uint64_t left = zip->directory_size - *at, place = zip->directory_at + *at;
    size_t name, extra, comment;

    if (left < ENTRY_SIZE || !begins(entry, entry_magic))
        return fail_with(error, GUFO_E_MALFORMED, place,
                         "this is not the entry of a member of the ZIP archive");
    name = u16(entry + 28);
    extra = u16(entry + 30);
    comment = u16(entry + 32);
    if (left - ENTRY_SIZE < name + extra + comment)
        return fail_with(error, GUFO_E_MALFORMED, place, "the entry ends past the directory");
    *out = (zip_member){.name = {(const char *)entry + ENTRY_SIZE, name},
                        .header = u32(entry + 42),
                        .stored = u32(entry + 20),
                        .size = u32(entry + 24),
                        .method = u16(entry + 10),
                        .encrypted = (u16(entry + 8) & 1) != 0};
    if (!read_zip64(out, entry + ENTRY_SIZE + name, extra))
        return fail_with(error, GUFO_E_MALFORMED, place, "the zip64 sizes of member %s are missing",
                         QUOTED(out->name));
    *at += ENTRY_SIZE + name + extra + comment;
    return GUFO_OK;
}

static gufo_str name_of_member(const void *owner, uint64_t index)
{
    const zip_members *zip = owner;

    return zip->members[index].name;
}

static gufo_status read_entries(zip_members *zip, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t at = 0, first;

    for (uint64_t i = 0; i < zip->count && status == GUFO_OK; i++) {
        uint64_t place = zip->directory_at + at;

        status = read_entry(zip, &at, &zip->members[i], error);
        if (status == GUFO_OK && !name_index_add(&zip->by_name, i, &first))
            status = fail_with(error, GUFO_E_MALFORMED, place, "two members are called %s",
                               QUOTED(zip->members[i].name));
    }
    return status;
}

/* Reads the central directory of an archive, whose names differ.  Freed with zip_free, also after a
 * failure. */
static gufo_status zip_read(zip_members *zip, const source *s, const gufo_allocator *allocator,
                            gufo_error *error)
{
    zip_end end = {0};
    gufo_status status;

    *zip = (zip_members){.allocator = allocator, .source = s};
    status = read_end(zip, &end, error);
    if (status != GUFO_OK)
        return status;
    zip->directory_at = end.directory_at;
    zip->directory_size = end.directory_size;
    zip->count = end.entries;
    zip->directory = mem_alloc(allocator, (size_t)end.directory_size + 1);
    zip->members = mem_array(allocator, end.entries, sizeof *zip->members);
    if (zip->directory == NULL || zip->members == NULL)
        return fail_memory(error);
    status = source_read(s, end.directory_at, zip->directory, (size_t)end.directory_size, error);
    if (status == GUFO_OK)
        status = name_index_new(&zip->by_name, zip->count, name_of_member, zip, allocator, error);
    return status == GUFO_OK ? read_entries(zip, error) : status;
}

static void zip_free(zip_members *zip)
{
    name_index_free(&zip->by_name, zip->allocator);
    mem_free(zip->allocator, zip->members);
    mem_free(zip->allocator, zip->directory);
    *zip = (zip_members){.allocator = zip->allocator};
}

/* The member with a name; NULL: none has it. */
static const zip_member *zip_find(const zip_members *zip, gufo_str name)
{
    uint64_t number;

    return name_index_find(&zip->by_name, name, &number) ? &zip->members[number] : NULL;
}

/* ---- a member ------------------------------------------------------------------------------- */

static gufo_status zip_locate(const zip_members *zip, const zip_member *member, uint64_t *offset,
                              gufo_error *error)
{
    uint8_t local[LOCAL_SIZE];
    gufo_status status;

    if (member->method != 0 || member->encrypted)
        return fail_with(error, GUFO_E_TYPE, member->header,
                         "member %s is %s: its bytes are not in the archive as they are",
                         QUOTED(member->name), member->encrypted ? "encrypted" : "compressed");
    if (!range_inside(member->header, LOCAL_SIZE, zip->directory_at))
        return fail_with(error, GUFO_E_MALFORMED, member->header,
                         "the header of member %s is not before the directory",
                         QUOTED(member->name));
    status = source_read(zip->source, member->header, local, sizeof local, error);
    if (status != GUFO_OK)
        return status;
    if (!begins(local, local_magic) || u16(local + 8) != member->method ||
        u16(local + 26) != member->name.len)
        return fail_with(error, GUFO_E_MALFORMED, member->header,
                         "this is not the header of member %s", QUOTED(member->name));
    *offset = member->header + LOCAL_SIZE + u16(local + 26) + u16(local + 28);
    if (member->stored != member->size)
        return fail_with(error, GUFO_E_MALFORMED, member->header,
                         "member %s has %s bytes in the archive, but %s by its own header",
                         QUOTED(member->name), GROUPED(member->stored), GROUPED(member->size));
    if (!range_inside(*offset, member->size, zip->directory_at))
        return fail_with(error, GUFO_E_MALFORMED, member->header,
                         "the bytes of member %s end past the start of the directory",
                         QUOTED(member->name));
    return GUFO_OK;
}

/* ==== since version 1.6: zip archives ========================================================== */

/* P is the name that the file once had:
 *
 *     P/data.pkl    a pickle of a dictionary of tensors, which name their storages
 *     P/data/KEY    the elements of a storage
 *     P/byteorder   "little" (as without it) or "big"
 *     P/version     and others, which say nothing about tensors */

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

static gufo_status locate_member(const archive *a, const torch_objects *o, torch_storage *storage)
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
            status = locate_member(a, o, &o->storages[i]);
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

/* ==== before version 1.6: pickles in a row, and data =========================================== */

/* The first five are pickles:
 *
 *     | a large number | 1001 | {"little_endian": True ...} | the dictionary | ["key", ...] |
 *     | u64 elements | elements of the first key's storage | u64 elements | ... */

/* The pickle of the number 0x1950a86a20f9469cfc6c. */
static const uint8_t magic[] = {0x80, 2,    0x8a, 10,   0x6c, 0xfc, 0x9c, 0x46,
                                0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, '.'};

enum { PROTOCOL = 1001 };

bool torch_legacy_recognise(const uint8_t *bytes, size_t size)
{
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* The value of a name in a dictionary. */
static pickle_value member(const pickle *p, pickle_value dictionary, const char *name)
{
    const pickle_object *pairs = pickle_items(p, dictionary);

    for (uint64_t i = 0; dictionary.kind == PICKLE_DICT && i + 1 < pairs->count; i += 2)
        if (gufo_str_equal(pickle_text(p, pairs->items[i]), gufo_str_of(name)))
            return pairs->items[i + 1];
    return (pickle_value){.kind = PICKLE_UNSET};
}

/* The protocol's number, and the byte order of what follows. */
static gufo_status read_head(pickle *p, bool *swapped)
{
    gufo_status status = pickle_read(p);
    pickle_value little;

    if (status == GUFO_OK && (p->result.kind != PICKLE_INT || p->result.is.number != PROTOCOL))
        status = pickle_fail(p, GUFO_E_VERSION, "the protocol of PyTorch is not %d", PROTOCOL);
    if (status == GUFO_OK)
        status = pickle_read(p);
    if (status != GUFO_OK)
        return status;
    little = member(p, p->result, "little_endian");
    if (little.kind != PICKLE_BOOL)
        return pickle_fail(p, GUFO_E_MALFORMED,
                           "the file does not say whether it is little-endian");
    *swapped = !little.is.number;
    return GUFO_OK;
}

/* A storage behind its number of elements; *at moves behind it. */
static gufo_status locate_storage(torch_objects *o, gufo_str key, bool swapped, uint64_t *at)
{
    torch_storage *storage = torch_storage_find(o, key);
    const source *s = o->pickle.source;
    gufo_error *error = o->pickle.error;
    uint8_t count[8];
    gufo_status status;
    uint64_t size;

    if (storage == NULL || storage->root.kind != PICKLE_UNSET || storage->located)
        return fail_with(error, GUFO_E_MALFORMED, *at,
                         "the list of storages has %s, which no tensor has, or which it has twice",
                         QUOTED(key));
    if (!range_inside(*at, sizeof count, s->size))
        return fail_with(error, GUFO_E_TRUNCATED, s->size, "the file ends before storage %s",
                         QUOTED(key));
    status = source_read(s, *at, count, sizeof count, error);
    if (status != GUFO_OK)
        return status;
    if (load_u64(count, bytes_swapped(swapped)) != storage->elements)
        return fail_with(error, GUFO_E_MALFORMED, *at,
                         "storage %s has %s elements, but its tensors say %s", QUOTED(key),
                         GROUPED(load_u64(count, bytes_swapped(swapped))),
                         GROUPED(storage->elements));
    *at += sizeof count;
    if (!checked_mul(storage->elements, torch_storage_width(storage), &size) ||
        !range_inside(*at, size, s->size))
        return fail_with(error, GUFO_E_TRUNCATED, s->size, "the file ends inside storage %s",
                         QUOTED(key));
    storage->offset = *at;
    storage->located = true;
    *at += size;
    return GUFO_OK;
}

static gufo_status locate_storages(torch_objects *o, bool swapped)
{
    pickle *p = &o->pickle;
    const pickle_object *keys = pickle_items(p, p->result);
    gufo_status status = GUFO_OK;
    uint64_t at = p->at;

    if (p->result.kind != PICKLE_LIST)
        return pickle_fail(p, GUFO_E_MALFORMED, "the storages are not in a list");
    for (uint64_t i = 0; i < keys->count && status == GUFO_OK; i++)
        status = locate_storage(o, pickle_text(p, keys->items[i]), swapped, &at);
    if (status == GUFO_OK && at != p->source->size)
        status = fail_with(p->error, GUFO_E_MALFORMED, at, "%s bytes follow the last storage",
                           GROUPED(p->source->size - at));
    return status;
}

static gufo_status read_objects(torch_objects *o, checkpoint *c, uint32_t file)
{
    pickle *p = &o->pickle;
    pickle_value dictionary;
    bool swapped = false;
    gufo_status status;

    p->at = sizeof magic;
    status = read_head(p, &swapped);
    if (status == GUFO_OK)
        status = pickle_read(p);
    dictionary = p->result;
    if (status == GUFO_OK)
        status = pickle_read(p);
    if (status != GUFO_OK)
        return status;
    c->files[file].head = p->at;
    source_trim(p->source, p->at); /* before names are views of it */
    status = locate_storages(o, swapped);
    return status == GUFO_OK ? torch_objects_add(o, dictionary, c, file, swapped) : status;
}

gufo_status torch_legacy_read(checkpoint *c, uint32_t file, gufo_error *error)
{
    source *s = &c->files[file].source;
    torch_objects objects;
    gufo_status status;

    s->buffer_limit = PICKLE_MAX_SIZE;
    status = torch_objects_new(&objects, s, 0, c->allocator, error);
    if (status == GUFO_OK)
        status = read_objects(&objects, c, file);
    torch_objects_free(&objects);
    return status;
}
