/* The members of a zip archive, and where their bytes are. */
#ifndef IMPORT_CONTAINERS_ZIP_MEMBERS_H
#define IMPORT_CONTAINERS_ZIP_MEMBERS_H

#include "base/files/source.h"
#include "format/file/records.h"

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

/* Reads the central directory of an archive, whose names differ.  Freed with zip_free, also after a
 * failure. */
gufo_status zip_read(zip_members *zip, const source *s, const gufo_allocator *allocator,
                     gufo_error *error);
void zip_free(zip_members *zip);

/* The member with a name; NULL: none has it. */
const zip_member *zip_find(const zip_members *zip, gufo_str name);

/* Where the bytes of a member begin in the archive.  GUFO_E_TYPE if they are compressed or encrypted,
 * so that they are not there. */
gufo_status zip_locate(const zip_members *zip, const zip_member *member, uint64_t *offset,
                       gufo_error *error);

#endif
