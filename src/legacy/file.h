/* An old file, read: its header, its vocabulary, and where its tensors are.
 *
 *     families.c   what is known of headers, names and keys
 *     blocks.c     layouts of blocks; vocabulary.c: tokens, whose texts readings.c reads
 *     walk.c       a whole file, by one header, byte after byte
 *     file.c       which header fits; all parts of a model
 *     shapes.c     whether the tensors are those of a model
 *     tensors.c    what becomes of each; rows.c makes its rows
 *     keys.c       what becomes of the header
 *     open.c       all of it in order: gufo_import_legacy */
#ifndef LEGACY_FILE_H
#define LEGACY_FILE_H

#include "base/buffer.h"
#include "base/files/source.h"
#include "format/file/records.h"
#include "legacy/blocks.h"
#include "legacy/families.h"

enum {
    LEGACY_MAX_DIMS = 4,
    LEGACY_MAX_NAME = 256,
    LEGACY_MAX_TOKEN = 1 << 16,
    LEGACY_MAX_VOCABULARY = 1 << 24,
    LEGACY_MAX_MISSING = 1 << 12, /* tokens of Whisper that are made: 1609 at most so far */
    LEGACY_MAX_PARTS = 256,
    LEGACY_ALIGNMENT = 32,
};

/* ---- bytes in order ------------------------------------------------------------------------- */

typedef struct reader {
    const source *source;
    uint64_t at;
    uint8_t window[4096]; /* bytes from window_at on */
    uint64_t window_at;
    size_t window_size;
    const char *inside; /* what is being read, for errors: "the vocabulary" */
} reader;

/* Each moves behind what it reads; GUFO_E_TRUNCATED where the file ends before. */
gufo_status reader_bytes(reader *r, void *out, size_t size, gufo_error *error);
gufo_status reader_u32(reader *r, uint32_t *out, gufo_error *error);
gufo_status reader_i32(reader *r, int32_t *out, gufo_error *error);

gufo_status reader_skip(reader *r, uint64_t size, gufo_error *error);

static inline uint64_t reader_left(const reader *r)
{
    return r->source->size - r->at;
}

/* ---- one file ------------------------------------------------------------------------------- */

typedef struct legacy_record {
    gufo_str name;
    uint32_t n_dims;
    uint64_t ne[LEGACY_MAX_DIMS]; /* 1 beyond n_dims */
    const legacy_layout *layout;
    uint64_t header; /* offset of the record */
    uint64_t offset, size;
} legacy_record;

typedef union legacy_number {
    int32_t i;
    float f;
} legacy_number;

typedef struct legacy_part {
    char *path;
    source source;
    uint64_t head; /* bytes before the records */
    legacy_number fields[FIELD_COUNT];
    legacy_vocabulary vocabulary;
    buffer texts; /* of tokens and merges */
    uint64_t mel_offset;
    int32_t mel_rows, mel_columns;
    legacy_record *records;
    uint64_t record_count, record_room;
    buffer names;       /* of records */
    name_index by_name; /* the records of the first part, once their names are known to differ */
} legacy_part;

typedef struct legacy_file {
    const gufo_allocator *allocator;
    const legacy_form *form;
    const legacy_family *family; /* the form's, or one that has the same header */
    bool is_given;               /* the caller says which family it is */
    uint32_t version;            /* of the container; 0: it has none */
    unsigned generation;
    int32_t ftype; /* without the factor */
    legacy_part *parts;
    uint32_t part_count;
} legacy_file;

static inline int32_t field_of(const legacy_file *file, legacy_field field)
{
    return file->parts[0].fields[field].i;
}

/* Opens `path` and the other parts of the model. `arch` may be NULL.  The file is closed with
 * legacy_file_close, also after a failure. */
gufo_status legacy_file_open(legacy_file *file, const char *path, const char *arch,
                             gufo_error *error);
void legacy_file_close(legacy_file *file);

/* Reads a part by a form: its header, its vocabulary and all records, to the last byte.  *reached
 * is how far it got. */
gufo_status legacy_walk(legacy_file *file, legacy_part *part, const legacy_form *form,
                        uint32_t version, uint64_t *reached, gufo_error *error);
/* Forgets what a walk found. */
void legacy_part_clear(const legacy_file *file, legacy_part *part);

/* The record of a tensor of the first part, whose names have been found to differ; NULL: none has
 * the name. */
const legacy_record *legacy_record_find(const legacy_part *part, const char *name);

/* The name of a container with its version, for people: "GGJT version 1". */
const char *legacy_container_name(legacy_container container);

#endif
