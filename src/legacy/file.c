/* Which header a file has, and the parts of its model.
 *
 * Families share magics, so the header is found by trying: the first one by which the whole file
 * can be read, to its last byte, is the right one.  Where none fits, the error is that of the one
 * that came farthest. */
#include <errno.h>
#include <string.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/source_folder.h"
#include "codec/half.h"
#include "gufo/import.h"
#include "legacy/file.h"

/* ---- magics --------------------------------------------------------------------------------- */

typedef struct magic_row {
    const char *bytes; /* on disk */
    const char *name;
    bool versioned;
    legacy_container container;
    const char *refusal; /* a sentence; NULL: it can be read */
} magic_row;

static const magic_row magics[] = {
    {"lmgg", "GGML", false, CONTAINER_GGML, NULL},
    {"fmgg", "GGMF", true, CONTAINER_GGMF, NULL},
    {"tjgg", "GGJT", true, CONTAINER_GGJT, NULL},
    {"ccgg", "GGCC", true, CONTAINER_GGCC, NULL},
    {"algg", "GGLA", true, CONTAINER_GGLA, NULL},
    {"nsgg", "GGSN", true, CONTAINER_GGML, "a session of llama.cpp (GGSN), not a model"},
    {"ggml", "GGML", false, CONTAINER_GGML, "a big-endian GGML file, which no program reads"},
    {"ggmf", "GGMF", false, CONTAINER_GGML, "a big-endian GGMF file, which no program reads"},
    {"ggjt", "GGJT", false, CONTAINER_GGML, "a big-endian GGJT file, which no program reads"},
};

static const magic_row *magic_find(const uint8_t *bytes)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (memcmp(bytes, magics[i].bytes, 4) == 0)
            return &magics[i];
    return NULL;
}

/* The container of a magic with its version: rwkv.cpp took the magic of another one. */
static legacy_container container_of(const magic_row *magic, uint32_t version)
{
    return magic->container == CONTAINER_GGMF && version >= 100 ? CONTAINER_RWKV : magic->container;
}

const char *legacy_container_name(legacy_container container)
{
    static const char *const names[] = {[CONTAINER_GGML] = "GGML",
                                        [CONTAINER_GGMF] = "GGMF",
                                        [CONTAINER_GGJT] = "GGJT",
                                        [CONTAINER_GGCC] = "GGCC",
                                        [CONTAINER_RWKV] = "GGMF (rwkv.cpp)",
                                        [CONTAINER_GGLA] = "GGLA"};

    return names[container];
}

static bool fits(const legacy_form *form, legacy_container container, uint32_t version,
                 const legacy_family *wanted)
{
    return form->container == container && version >= form->first_version &&
           version <= form->last_version && (wanted == NULL || form->family == wanted);
}

/* ---- one file ------------------------------------------------------------------------------- */

static gufo_status open_part(legacy_file *file, legacy_part *part, const char *path,
                             gufo_error *error)
{
    gufo_status status;

    part->path = mem_text(file->allocator, gufo_str_of(path));
    part->texts.allocator = part->names.allocator = file->allocator;
    source_open_memory(&part->source, "", 0);
    if (part->path == NULL)
        return fail_memory(error);
    status =
        source_folder_open(&source_folder_anywhere, path, file->allocator, &part->source, error);
    part->source.buffer_limit = 1 << 20;
    return status;
}

/* The farthest attempt explains best what is wrong. */
static gufo_status try_forms(legacy_file *file, legacy_container container, uint32_t version,
                             const legacy_family *wanted, gufo_error *error)
{
    gufo_error best = {0}, reason;
    uint64_t farthest = 0, reached;

    for (const legacy_form *form = legacy_forms; form->family != NULL; form++) {
        if (!fits(form, container, version, wanted))
            continue;
        reason = (gufo_error){.offset = GUFO_NO_OFFSET};
        if (legacy_walk(file, &file->parts[0], form, version, &reached, &reason) == GUFO_OK)
            return GUFO_OK;
        if (reason.code == GUFO_E_MEMORY || reason.code == GUFO_E_IO)
            return fail_as(error, &reason); /* says nothing about the form */
        if (best.code == GUFO_OK || reached > farthest) {
            best = reason;
            farthest = reached;
        }
    }
    if (best.code == GUFO_OK)
        return fail_with(error, GUFO_E_VERSION, 4, "%s version %" PRIu32 " was never made%s",
                         legacy_container_name(container), version,
                         wanted != NULL ? " of such models" : "");
    return fail_as(error, &best);
}

/* Says what the file is, if that can be seen. */
static gufo_status fail_unknown(source *s, gufo_error *error)
{
    enum { ENOUGH_TO_RECOGNISE = 4096 };
    const char *kind;

    (void)source_need(s, smaller(ENOUGH_TO_RECOGNISE, s->size), NULL); /* as much as can be had */
    kind = gufo_recognise(s->base, (size_t)s->have);
    return fail_with(error, GUFO_E_NOT_GGUF, 0,
                     "the file begins with none of the magic numbers of GGML, GGMF, GGJT, GGCC or "
                     "GGUF%s%s",
                     kind != NULL ? ": it is " : "", kind != NULL ? kind : "");
}

static gufo_status read_first(legacy_file *file, const legacy_family *wanted, gufo_error *error)
{
    reader r = {.source = &file->parts[0].source, .inside = "the magic number"};
    uint8_t bytes[4];
    uint32_t version = 0;
    const magic_row *magic;
    gufo_status status = reader_bytes(&r, bytes, sizeof bytes, error);

    if (status != GUFO_OK)
        return status;
    magic = magic_find(bytes);
    if (magic == NULL)
        return fail_unknown(&file->parts[0].source, error);
    if (magic->refusal != NULL)
        return fail_with(error, GUFO_E_TYPE, 0, "this is %s", magic->refusal);
    r.inside = "the version";
    if (magic->versioned)
        status = reader_u32(&r, &version, error);
    if (status == GUFO_OK && magic->versioned && version == 0)
        status = fail_with(error, GUFO_E_VERSION, 4, "%s version 0 was never made", magic->name);
    if (status != GUFO_OK)
        return status;
    return try_forms(file, container_of(magic, version), version, wanted, error);
}

/* The containers that can be read. */
static const struct known_container {
    legacy_container container;
    uint32_t version;
    const char *name;
} known_containers[] = {
    {CONTAINER_GGML, 0, "GGML"},
    {CONTAINER_GGMF, 1, "GGMF version 1"},
    {CONTAINER_GGJT, 1, "GGJT version 1"},
    {CONTAINER_GGJT, 2, "GGJT version 2"},
    {CONTAINER_GGJT, 3, "GGJT version 3"},
    {CONTAINER_GGCC, 10, "GGCC"},
    {CONTAINER_GGLA, 1, "GGLA version 1"},
    {CONTAINER_RWKV, 100, "GGMF of rwkv.cpp"},
    {CONTAINER_RWKV, 101, "GGMF of rwkv.cpp"},
};

const char *gufo_legacy_recognise(const void *data, size_t size)
{
    const magic_row *magic = size >= 8 ? magic_find(data) : NULL;
    uint32_t version;

    if (magic == NULL || magic->refusal != NULL)
        return NULL;
    version = magic->versioned ? load_u32((const uint8_t *)data + 4, bytes_swapped(false)) : 0;
    for (size_t i = 0; i < sizeof known_containers / sizeof *known_containers; i++)
        if (known_containers[i].container == container_of(magic, version) &&
            known_containers[i].version == version)
            return known_containers[i].name;
    return NULL;
}

/* ---- several files -------------------------------------------------------------------------- */

/* How many files a model is in: its rows of the embedding say how much of one is in the first. */
static uint32_t count_parts(const legacy_file *file)
{
    const legacy_part *first = &file->parts[0];
    uint64_t embd = (uint64_t)first->fields[FIELD_EMBD].i;

    if ((file->form->flags & FORM_PARTS) == 0)
        return 1;
    for (uint64_t i = 0; i < first->record_count; i++) {
        const legacy_record *r = &first->records[i];

        if (gufo_str_equal(r->name, gufo_str_of("tok_embeddings.weight")) && r->n_dims == 2)
            return r->ne[0] < embd && embd % r->ne[0] == 0 && embd / r->ne[0] <= LEGACY_MAX_PARTS
                       ? (uint32_t)(embd / r->ne[0])
                       : 1;
    }
    return 1;
}

static bool same_record(const legacy_record *a, const legacy_record *b)
{
    return gufo_str_equal(a->name, b->name) && a->n_dims == b->n_dims && a->layout == b->layout &&
           memcmp(a->ne, b->ne, sizeof a->ne) == 0;
}

static bool same_vocabulary(const legacy_vocabulary *a, const legacy_vocabulary *b)
{
    bool same = a->count == b->count;

    for (uint64_t i = 0; i < a->count && same; i++)
        same = gufo_str_equal(a->tokens[i].bytes, b->tokens[i].bytes) &&
               float_to_bits(a->tokens[i].score) == float_to_bits(b->tokens[i].score);
    return same;
}

/* Every part says the same, but for the data of matrices. */
static gufo_status compare_part(const legacy_part *first, const legacy_part *part,
                                gufo_error *error)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (first->fields[i].i != part->fields[i].i)
            return fail_with(error, GUFO_E_MALFORMED, 4,
                             "the header is not that of the first part");
    if (!same_vocabulary(&first->vocabulary, &part->vocabulary))
        return fail_with(error, GUFO_E_MALFORMED, 4,
                         "the vocabulary is not that of the first part");
    if (first->record_count != part->record_count)
        return refuse(error, GUFO_E_MALFORMED, "%s tensors, but the first part has %s",
                      GROUPED(part->record_count), GROUPED(first->record_count));
    for (uint64_t i = 0; i < first->record_count; i++)
        if (!same_record(&first->records[i], &part->records[i]))
            return fail_with(error, GUFO_E_MALFORMED, part->records[i].header,
                             "tensor %s is not what the first part has in its place",
                             QUOTED(part->records[i].name));
    return GUFO_OK;
}

/* A file has its share of the rows once; whoever made it another part has lost that one. */
static gufo_status check_other(const legacy_file *file, uint32_t number, gufo_error *error)
{
    struct stat info, other;

    if (fstat(file->parts[number].source.fd, &info) != 0)
        return fail_io(error, errno, "cannot examine");
    for (uint32_t i = 0; i < number; i++)
        if (fstat(file->parts[i].source.fd, &other) == 0 && other.st_dev == info.st_dev &&
            other.st_ino == info.st_ino)
            return refuse(error, GUFO_E_MALFORMED, "is the same file as part %" PRIu32, i);
    return GUFO_OK;
}

/* The walk begins behind the magic number and the version. */
static gufo_status check_begin(const legacy_file *file, uint32_t number, gufo_error *error)
{
    reader first = {.source = &file->parts[0].source},
           r = {.source = &file->parts[number].source, .inside = "the magic number"};
    uint8_t expected[8], bytes[8];
    size_t size = file->version != 0 ? 8 : 4;
    gufo_status status = reader_bytes(&first, expected, size, error);

    if (status == GUFO_OK)
        status = reader_bytes(&r, bytes, size, error);
    if (status == GUFO_OK && memcmp(bytes, expected, size) != 0)
        status = fail_with(error, GUFO_E_MALFORMED, 0,
                           "the magic number or the version is not that of the first part");
    return status;
}

static gufo_status read_part(legacy_file *file, uint32_t number, gufo_error *error)
{
    legacy_part *part = &file->parts[number];
    char text[16];
    char *path;
    uint64_t reached;
    gufo_status status;

    (void)snprintf(text, sizeof text, ".%" PRIu32, number);
    path = mem_join(file->allocator, gufo_str_of(file->parts[0].path), gufo_str_of(text));
    if (path == NULL)
        return fail_memory(error);
    status = open_part(file, part, path, error);
    if (status == GUFO_OK)
        status = check_other(file, number, error);
    if (status == GUFO_OK)
        status = check_begin(file, number, error);
    if (status == GUFO_OK)
        status = legacy_walk(file, part, file->form, file->version, &reached, error);
    if (status == GUFO_OK)
        status = compare_part(&file->parts[0], part, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, number, path);
    mem_free(file->allocator, path);
    return status;
}

static gufo_status read_others(legacy_file *file, gufo_error *error)
{
    uint32_t count = count_parts(file);
    legacy_part *parts;
    gufo_status status = GUFO_OK;

    if (count == 1)
        return GUFO_OK;
    parts = mem_resize(file->allocator, file->parts, count * sizeof *parts);
    if (parts == NULL)
        return fail_memory(error);
    file->parts = parts;
    memset(parts + 1, 0, (count - 1) * sizeof *parts);
    for (uint32_t i = 1; i < count && status == GUFO_OK; i++) {
        file->part_count = i + 1;
        status = read_part(file, i, error);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

gufo_status legacy_file_open(legacy_file *file, const char *path, const char *arch,
                             gufo_error *error)
{
    const legacy_family *wanted = arch != NULL ? legacy_family_find(arch) : NULL;
    const legacy_family *header = wanted;
    gufo_status status;

    if (arch != NULL && wanted == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "no old file is of the architecture '%s'", arch);
    if (wanted != NULL && wanted->like != NULL)
        header = legacy_family_find(wanted->like);
    file->parts = mem_zero(file->allocator, sizeof *file->parts);
    if (file->parts == NULL)
        return fail_memory(error);
    file->part_count = 1;
    status = open_part(file, &file->parts[0], path, error);
    if (status == GUFO_OK)
        status = read_first(file, header, error);
    if (status == GUFO_OK)
        status = read_others(file, error);
    if (status == GUFO_OK && wanted != NULL) {
        file->family = wanted;
        file->is_given = true;
    }
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_INPUT, 0, path);
    return status;
}

void legacy_file_close(legacy_file *file)
{
    for (uint32_t i = 0; i < file->part_count; i++) {
        legacy_part_clear(file, &file->parts[i]);
        source_close(&file->parts[i].source);
        mem_free(file->allocator, file->parts[i].path);
    }
    mem_free(file->allocator, file->parts);
    file->parts = NULL;
    file->part_count = 0;
}
