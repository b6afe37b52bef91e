/* The members of a zip archive (APPNOTE 6.3, with the records of zip64).
 *
 *     | header a | bytes of a | header b | bytes of b | ... | directory | [zip64 end] | end |
 *
 * The end says where the directory is, the directory where the members' own headers are; their bytes
 * follow these.  Bytes are moved from where they are, by the engine: so it takes the place of a member,
 * which libraries that unpack archives keep to themselves, and it takes stored members alone. */
#include "import/containers/zip_members.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"

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

gufo_status zip_read(zip_members *zip, const source *s, const gufo_allocator *allocator,
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

void zip_free(zip_members *zip)
{
    name_index_free(&zip->by_name, zip->allocator);
    mem_free(zip->allocator, zip->members);
    mem_free(zip->allocator, zip->directory);
    *zip = (zip_members){.allocator = zip->allocator};
}

const zip_member *zip_find(const zip_members *zip, gufo_str name)
{
    uint64_t number;

    return name_index_find(&zip->by_name, name, &number) ? &zip->members[number] : NULL;
}

/* ---- a member ------------------------------------------------------------------------------- */

gufo_status zip_locate(const zip_members *zip, const zip_member *member, uint64_t *offset,
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
