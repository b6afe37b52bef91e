/* What all writers of tensors share: memory, and targets. */
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "codec/run.h"
#include "import/export/tensors.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a block, or frees it after a failure. */
static gufo_status written_keep(written_files *w, const gufo_allocator *a, void *block,
                                gufo_error *error)
{
    void **list = mem_grow(a, (void *)w->blocks, w->block_count, &w->block_room, sizeof *list);

    if (list != NULL)
        w->blocks = list;
    if (block == NULL || list == NULL) {
        mem_free(a, block);
        return fail_memory(error);
    }
    list[w->block_count++] = block;
    return GUFO_OK;
}

void written_free(written_files *w, const gufo_allocator *a)
{
    for (uint64_t i = 0; i < w->block_count; i++)
        mem_free(a, w->blocks[i]);
    mem_free(a, (void *)w->blocks);
    *w = (written_files){.blocks = NULL};
}

gufo_status written_target(written_files *w, gufo_job *job, const char *name, const void *header,
                           size_t header_size, uint64_t data, uint64_t tensors, uint32_t *number,
                           gufo_error *error)
{
    char *own = mem_text(&job->allocator, gufo_str_of(name));
    job_target target = {.name = own,
                         .header = header,
                         .header_size = header_size,
                         .tensor_count = tensors,
                         .data_size = data};
    gufo_status status = written_keep(w, &job->allocator, own, error);

    if (status == GUFO_OK && !checked_add(header_size, data, &target.size))
        status = refuse(error, GUFO_E_LIMIT, "file %s would be too large", name);
    return status == GUFO_OK ? job_add_target(job, &target, number, error) : status;
}

/* Writing safetensors: 8 bytes with the length of a header, the header in JSON, the numbers.
 *
 * In a file tensors whose numbers are long come first, so that all are aligned, and then by name, as other
 * writers have them. */

enum { PREFIX_SIZE = 8, ALIGNMENT = 8, MOST_FILES = 99999, MOST_BITS = 64 /* of a number */ };

/* The tensors of one file. */
typedef struct part {
    const export_tensor **tensors;
    uint64_t count, size;
} part;

/* ---- headers -------------------------------------------------------------------------------- */

static json_t *describe(const export_tensor *t)
{
    json_t *shape = json_array();

    for (uint32_t i = 0; shape != NULL && i < t->like->n_dims; i++)
        if (json_array_append_new(shape, json_integer((json_int_t)t->like->shape[i])) != 0) {
            json_decref(shape);
            shape = NULL;
        }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", t->number->name, "shape", shape,
                     "data_offsets", (json_int_t)t->offset,
                     (json_int_t)t->offset + (json_int_t)t->size);
}

/* The bytes before the numbers; NULL without memory. */
static void *make_header(const part *p, const gufo_allocator *a, size_t *size)
{
    json_t *all = json_pack("{s:{s:s}}", "__metadata__", "format", "pt");
    char *text = NULL;
    uint8_t *header = NULL;
    bool whole = all != NULL;

    for (uint64_t i = 0; whole && i < p->count; i++) {
        const gufo_str name = p->tensors[i]->like->name;

        whole = json_object_set_new(all, name.data, describe(p->tensors[i])) == 0;
    }
    if (whole)
        text = json_dumps(all, JSON_COMPACT);
    if (text != NULL) {
        size_t len = strlen(text), padded = (len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

        *size = PREFIX_SIZE + padded;
        header = mem_alloc(a, *size);
        if (header != NULL) {
            store_u64(header, padded, bytes_swapped(false));
            memcpy(header + PREFIX_SIZE, text, len);
            memset(header + PREFIX_SIZE + len, ' ', padded - len);
        }
    }
    free(text);
    json_decref(all);
    return header;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Divides the tensors into files: the number of files. */
static uint32_t divide(export_plan *plan, uint64_t shard_size)
{
    uint64_t size = 0;
    uint32_t file = 0;

    for (uint64_t i = 0; i < plan->count; i++) {
        export_tensor *t = &plan->tensors[i];

        if (size > 0 && (t->size > shard_size || size > shard_size - t->size)) {
            file++;
            size = 0;
        }
        size += t->size;
        t->file = file;
    }
    return file + 1;
}

static void name_file(uint32_t file, uint32_t files, char out[EXPORT_NAME_SIZE])
{
    if (files == 1)
        (void)snprintf(out, EXPORT_NAME_SIZE, "model.safetensors");
    else
        (void)snprintf(out, EXPORT_NAME_SIZE, "model-%05" PRIu32 "-of-%05" PRIu32 ".safetensors",
                       file + 1, files);
}

static gufo_status add_file(written_files *w, gufo_job *job, export_plan *plan, const part *p,
                            const char *name, gufo_error *error)
{
    size_t header_size = 0;
    void *header = make_header(p, &job->allocator, &header_size);
    uint32_t target;
    gufo_status status = written_keep(w, &job->allocator, header, error);

    if (status == GUFO_OK)
        status =
            written_target(w, job, name, header, header_size, p->size, p->count, &target, error);
    for (uint64_t i = 0; i < p->count && status == GUFO_OK; i++) {
        const export_tensor *t = p->tensors[i];

        status = arrange(job, &plan->inversion, t->owner, t->type, target, header_size + t->offset,
                         error);
    }
    return status;
}

static void place_tensor(part *p, export_tensor *t)
{
    t->offset = p->size;
    p->size += t->size;
    p->tensors[p->count++] = t;
}

/* Tensors [first, last) of the list, which are sorted by name, are those of a file. */
static gufo_status write_file(written_files *w, gufo_job *job, export_plan *plan, uint64_t first,
                              uint64_t last, const char *name, gufo_error *error)
{
    part p = {.count = 0};
    gufo_status status;

    p.tensors = mem_array(&job->allocator, last - first, sizeof(const export_tensor *));
    if (p.tensors == NULL)
        return fail_memory(error);
    for (uint32_t bits = MOST_BITS; bits > 0; bits /= 2)
        for (uint64_t i = first; i < last; i++)
            if (plan->tensors[i].number->bits == bits)
                place_tensor(&p, &plan->tensors[i]);
    status = add_file(w, job, plan, &p, name, error);
    mem_free(&job->allocator, (void *)p.tensors);
    return status;
}

/* ---- the index ------------------------------------------------------------------------------ */

static char *make_index(const export_plan *plan, uint32_t files)
{
    json_t *map = json_object(), *all;
    json_int_t size = 0;
    char *text;

    for (uint64_t i = 0; i < plan->count; i++) {
        const export_tensor *t = &plan->tensors[i];
        char name[EXPORT_NAME_SIZE];

        name_file(t->file, files, name);
        size += (json_int_t)t->size;
        (void)json_object_set_new(map, t->like->name.data, json_string(name));
    }
    all = json_pack("{s:{s:I}, s:O}", "metadata", "total_size", size, "weight_map", map);
    text = all != NULL && json_object_size(map) == plan->count ? json_dumps(all, JSON_INDENT(2))
                                                               : NULL;
    json_decref(all);
    json_decref(map);
    return text;
}

static gufo_status write_index(written_files *w, gufo_job *job, const export_plan *plan,
                               uint32_t files, gufo_error *error)
{
    char *text = make_index(plan, files), *own;
    uint32_t ignored;
    gufo_status status;

    own = text != NULL ? mem_join(&job->allocator, gufo_str_of(text), gufo_str_of("\n")) : NULL;
    free(text);
    status = written_keep(w, &job->allocator, own, error);
    return status == GUFO_OK ? written_target(w, job, "model.safetensors.index.json", own,
                                              strlen(own), 0, 0, &ignored, error)
                             : status;
}

gufo_status safetensors_write_all(written_files *w, gufo_job *job, export_plan *plan,
                                  uint64_t shard_size, gufo_error *error)
{
    uint32_t files = divide(plan, shard_size);
    gufo_status status = GUFO_OK;

    if (files > MOST_FILES)
        return refuse(error, GUFO_E_LIMIT, "more than %d files: a larger shard size is needed",
                      MOST_FILES);
    for (uint64_t first = 0, last; first < plan->count && status == GUFO_OK; first = last) {
        char name[EXPORT_NAME_SIZE];

        last = first;
        while (last < plan->count && plan->tensors[last].file == plan->tensors[first].file)
            last++;
        name_file(plan->tensors[first].file, files, name);
        status = write_file(w, job, plan, first, last, name, error);
    }
    return status == GUFO_OK && files > 1 ? write_index(w, job, plan, files, error) : status;
}

/* Writing model.npz: an archive with a member NAME.npy for each tensor, as numpy.savez has it.
 *
 *     local header | header of npy | numbers     for each tensor
 *     directory, and where it is
 *
 * Members are stored, not packed, so numbers are made where they are.  An archive has a CRC-32 of each
 * member, which readers check: all numbers are made once before the job writes them, for their sums. */

/* Row i says what a byte does that i more bytes follow. */
typedef struct crc32_tables {
    uint32_t rows[8][256];
} crc32_tables;

/* CRC-32, eight bytes at a time. */

static void crc32_init(crc32_tables *t)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
        t->rows[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (uint32_t row = 1; row < 8; row++)
            t->rows[row][i] = t->rows[row - 1][i] >> 8 ^ t->rows[0][t->rows[row - 1][i] & 255];
}

static uint32_t add_eight(const crc32_tables *t, uint32_t crc, const uint8_t *data)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < 8; i++) {
        uint32_t byte = data[i] ^ (i < 4 ? crc >> 8 * i & 255 : 0);

        sum ^= t->rows[7 - i][byte];
    }
    return sum;
}

/* The sum of what had the sum `crc` (0: nothing), and these bytes. */
static uint32_t crc32_add(const crc32_tables *t, uint32_t crc, const uint8_t *data, size_t size)
{
    crc = ~crc;
    for (; size >= 8; size -= 8, data += 8)
        crc = add_eight(t, crc, data);
    for (; size > 0; size--, data++)
        crc = crc >> 8 ^ t->rows[0][(crc ^ *data) & 255];
    return ~crc;
}

enum {
    LOCAL_SIZE = 30,  /* of a local header, without name and extra field */
    LOCAL_EXTRA = 20, /* sizes of 64 bits */
    LOCAL_CRC = 14,   /* where its sum is */
    ENTRY_SIZE = 46,  /* of an entry of the directory */
    ENTRY_EXTRA = 28, /* sizes and place of 64 bits */
    ENTRY_CRC = 16,   /* where its sum is */
    END_SIZE = 56 + 20 + 22,
    VERSION = 45,       /* of readers: the first with sizes of 64 bits */
    DATE = 1 << 5 | 1,  /* 1 January 1980: results depend on the model alone */
    NPZ_ALIGNMENT = 64, /* of numbers in a member */
    PART = 1 << 20,     /* bytes that are summed at once */
};

/* What becomes of one tensor. */
typedef struct member {
    const export_tensor *tensor;
    uint8_t *head; /* both headers */
    size_t head_size, npy_size;
    uint64_t place;                   /* in the file */
    uint64_t first_piece, last_piece; /* that make its numbers: up to, not with, the last */
    size_t entry;                     /* in the directory */
} member;

typedef struct archive {
    gufo_job *job; /* first: the context of all hooks */
    gufo_allocator allocator;
    member *members;
    uint64_t count;
    buffer directory;
    crc32_tables tables;
    const gufo_run *run; /* while members are summed */
} archive;

/* Bytes in memory, as rows of one byte. */
typedef struct memory_bytes {
    const uint8_t *bytes;
} memory_bytes;

/* ---- numbers of an archive ------------------------------------------------------------------- */

static uint8_t *put16(uint8_t *at, uint32_t value)
{
    store_u16(at, (uint16_t)value, bytes_swapped(false));
    return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    store_u32(at, value, bytes_swapped(false));
    return at + 4;
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    store_u64(at, value, bytes_swapped(false));
    return at + 8;
}

static uint8_t *put_text(uint8_t *at, const char *text)
{
    size_t len = strlen(text);

    memcpy(at, text, len);
    return at + len;
}

static size_t name_size(const member *m)
{
    return m->tensor->like->name.len + strlen(".npy");
}

static uint64_t member_size(const member *m)
{
    return m->npy_size + m->tensor->size;
}

/* ---- the header of npy ---------------------------------------------------------------------- */

/* The type as NumPy spells it. */
static const char *descr_of(const number_type *number)
{
    static const struct {
        const char *name, *descr;
    } types[] = {{"F64", "<f8"}, {"F32", "<f4"}, {"F16", "<f2"}, {"I64", "<i8"},
                 {"I32", "<i4"}, {"I16", "<i2"}, {"I8", "|i1"}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, number->name) == 0)
            return types[i].descr;
    return "<f4";
}

/* "(3, 4)", "(3,)", "()" */
static void write_shape(const checkpoint_tensor *t, char *out, size_t size)
{
    size_t at = (size_t)snprintf(out, size, "(");

    for (uint32_t i = 0; i < t->n_dims && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%" PRIu64 "%s", t->shape[i],
                               t->n_dims == 1      ? ","
                               : i + 1 < t->n_dims ? ", "
                                                   : "");
    (void)snprintf(out + at, size - at, ")");
}

/* 10 bytes, a dictionary of Python, blanks and a line end: a multiple of NPZ_ALIGNMENT in all. */
static size_t write_npy(const export_tensor *t, uint8_t *out, size_t room)
{
    char shape[256], text[384];
    size_t len, padded;
    uint8_t *at;

    write_shape(t->like, shape, sizeof shape);
    len = (size_t)snprintf(text, sizeof text,
                           "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                           descr_of(t->number), shape);
    padded = (10 + len + 1 + NPZ_ALIGNMENT - 1) / NPZ_ALIGNMENT * NPZ_ALIGNMENT;
    if (padded > room)
        return 0;
    memset(out, ' ', padded);
    at = put_text(out, "\x93NUMPY\x01");
    *at++ = 0;
    at = put16(at, (uint32_t)(padded - 10));
    (void)put_text(at, text);
    out[padded - 1] = '\n';
    return padded;
}

/* ---- headers of members ---------------------------------------------------------------------- */

static gufo_status make_head(written_files *w, const gufo_allocator *a, member *m,
                             gufo_error *error)
{
    uint8_t npy[512], *at;
    gufo_status status;

    m->npy_size = write_npy(m->tensor, npy, sizeof npy);
    m->head_size = LOCAL_SIZE + name_size(m) + LOCAL_EXTRA + m->npy_size;
    m->head = mem_alloc(a, m->head_size);
    status = written_keep(w, a, m->head, error);
    if (status != GUFO_OK)
        return status;
    at = put32(m->head, 0x04034B50);
    at = put16(put16(put16(at, VERSION), 0), 0); /* no flags, stored */
    at = put32(put16(put16(at, 0), DATE), 0);    /* the sum comes later */
    at = put32(put32(at, UINT32_MAX), UINT32_MAX);
    at = put16(put16(at, (uint32_t)name_size(m)), LOCAL_EXTRA);
    memcpy(at, m->tensor->like->name.data, m->tensor->like->name.len);
    at = put_text(at + m->tensor->like->name.len, ".npy");
    at = put16(put16(at, 1), LOCAL_EXTRA - 4);
    at = put64(put64(at, member_size(m)), member_size(m));
    memcpy(at, npy, m->npy_size);
    return GUFO_OK;
}

static gufo_status add_entry(archive *z, member *m, gufo_error *error)
{
    size_t size = ENTRY_SIZE + name_size(m) + ENTRY_EXTRA;
    uint8_t *at;

    m->entry = z->directory.len;
    at = buffer_extend(&z->directory, size);
    if (at == NULL)
        return fail_memory(error);
    at = put32(at, 0x02014B50);
    at = put16(put16(at, VERSION), VERSION);
    at = put16(put16(at, 0), 0);
    at = put32(put16(put16(at, 0), DATE), 0);
    at = put32(put32(at, UINT32_MAX), UINT32_MAX);
    at = put16(put16(put16(at, (uint32_t)name_size(m)), ENTRY_EXTRA), 0); /* no comment */
    at = put32(put16(put16(at, 0), 0), 0);
    at = put32(at, UINT32_MAX);
    memcpy(at, m->tensor->like->name.data, m->tensor->like->name.len);
    at = put_text(at + m->tensor->like->name.len, ".npy");
    at = put16(put16(at, 1), ENTRY_EXTRA - 4);
    (void)put64(put64(put64(at, member_size(m)), member_size(m)), m->place);
    return GUFO_OK;
}

/* The end of the archive: twice, for numbers of 64 bits and for old readers. */
static gufo_status add_end(archive *z, uint64_t place, gufo_error *error)
{
    uint64_t size = z->directory.len;
    uint8_t *at = buffer_extend(&z->directory, END_SIZE);

    if (at == NULL)
        return fail_memory(error);
    at = put64(put32(at, 0x06064B50), 44);
    at = put32(put32(put16(put16(at, VERSION), VERSION), 0), 0);
    at = put64(put64(put64(put64(at, z->count), z->count), size), place);
    at = put32(put64(put32(put32(at, 0x07064B50), 0), place + size), 1);
    at = put16(put16(put32(at, 0x06054B50), 0), 0);
    at = put16(put16(at, UINT16_MAX), UINT16_MAX);
    (void)put16(put32(put32(at, UINT32_MAX), UINT32_MAX), 0);
    return GUFO_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static gufo_status sum_piece(const archive *z, uint64_t index, uint8_t *bytes, size_t room,
                             uint32_t *crc, gufo_error *error)
{
    plain_piece place;
    const piece *p = job_piece_at(z->job, index, &place);
    uint64_t all = p->slices * p->slice_rows, most = room / p->made[0].row_bytes;
    gufo_status status = GUFO_OK;

    for (uint64_t row = 0, count; row < all && status == GUFO_OK; row += count) {
        count = smaller(all - row, most);
        status = job_peek(z->job, index, row, count, bytes, error);
        if (status == GUFO_OK)
            *crc = crc32_add(&z->tables, *crc, bytes, (size_t)(count * p->made[0].row_bytes));
    }
    return status;
}

/* The sum of member `index`, in both places. */
static gufo_status sum_member(void *context, unsigned thread, uint64_t index, void *result,
                              gufo_error *error)
{
    archive *z = context;
    const member *m = &z->members[index];
    uint64_t room = PART;
    plain_piece place;
    uint32_t crc = crc32_add(&z->tables, 0, m->head + m->head_size - m->npy_size, m->npy_size);
    gufo_status status = GUFO_OK;
    uint8_t *bytes;

    (void)thread, (void)result;
    for (uint64_t i = m->first_piece; i < m->last_piece; i++)
        room = larger(room, job_piece_at(z->job, i, &place)->made[0].row_bytes);
    bytes = mem_array(&z->allocator, room, 1);
    if (bytes == NULL)
        return fail_memory(error);
    for (uint64_t i = m->first_piece; i < m->last_piece && status == GUFO_OK; i++)
        status = sum_piece(z, i, bytes, (size_t)room, &crc, error);
    (void)put32(m->head + LOCAL_CRC, crc);
    (void)put32(z->directory.data + m->entry + ENTRY_CRC, crc);
    mem_free(&z->allocator, bytes);
    return status;
}

/* Asks whether to go on; nothing is written yet. */
static gufo_status take_sum(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const archive *z = context;

    (void)index, (void)result;
    return run_progress(z->run, 0, z->job->total, error);
}

static gufo_status sum_all(void *context, const gufo_run *run, gufo_error *error)
{
    archive *z = context;
    const parallel_loop loop = {.end = z->count,
                                .threads = thread_count(run->threads),
                                .context = z,
                                .work = sum_member,
                                .hand_over = take_sum};

    z->run = run;
    crc32_init(&z->tables);
    return parallel_run(&loop, &z->allocator, error);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static gufo_status read_bytes(const rows *r, uint64_t first, uint64_t count, void *out,
                              gufo_error *error)
{
    const memory_bytes *m = r->context;

    (void)error;
    memcpy(out, m->bytes + first, (size_t)count);
    return GUFO_OK;
}

/* Bytes that may still change until the job begins. */
static gufo_status add_bytes(written_files *w, gufo_job *job, const uint8_t *bytes, uint64_t size,
                             uint32_t target, uint64_t place, gufo_error *error)
{
    memory_bytes *m = mem_alloc(&job->allocator, sizeof *m);
    const rows from = {
        .read = read_bytes, .context = m, .generated = true, .row_bytes = 1, .count = size};
    const made result = {.target = target, .place = place, .row_bytes = 1};
    gufo_status status = written_keep(w, &job->allocator, m, error);

    if (status != GUFO_OK)
        return status;
    m->bytes = bytes;
    return job_add_rows(job, PIECE_MOVE, gufo_str_of("(header)"), &from, &result, 1, error);
}

static gufo_status add_member(written_files *w, export_plan *plan, gufo_job *job, member *m,
                              uint32_t target, gufo_error *error)
{
    const export_tensor *t = m->tensor;
    gufo_status status = add_bytes(w, job, m->head, m->head_size, target, m->place, error);

    m->first_piece = job->piece_count;
    if (status == GUFO_OK)
        status = arrange(job, &plan->inversion, t->owner, t->type, target, m->place + m->head_size,
                         error);
    m->last_piece = job->piece_count;
    return status;
}

/* ---- the archive ----------------------------------------------------------------------------- */

/* All headers and the directory; *size: of the file. */
static gufo_status lay_out(written_files *w, archive *z, export_plan *plan, uint64_t *size,
                           gufo_error *error)
{
    uint64_t place = 0;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < z->count && status == GUFO_OK; i++) {
        member *m = &z->members[i];

        m->tensor = &plan->tensors[i];
        m->place = place;
        status = make_head(w, &z->allocator, m, error);
        if (status == GUFO_OK)
            status = add_entry(z, m, error);
        if (!checked_add(place, m->head_size + m->tensor->size, &place))
            status = refuse(error, GUFO_E_LIMIT, "the archive would be too large");
    }
    *size = place;
    return status == GUFO_OK ? add_end(z, place, error) : status;
}

static gufo_status fill(written_files *w, archive *z, export_plan *plan, gufo_error *error)
{
    uint64_t size;
    uint32_t target;
    gufo_status status = lay_out(w, z, plan, &size, error);

    if (status == GUFO_OK)
        status = written_target(w, z->job, "model.npz", NULL, 0, size + z->directory.len, z->count,
                                &target, error);
    for (uint64_t i = 0; i < z->count && status == GUFO_OK; i++)
        status = add_member(w, plan, z->job, &z->members[i], target, error);
    return status == GUFO_OK
               ? add_bytes(w, z->job, z->directory.data, z->directory.len, target, size, error)
               : status;
}

gufo_status npz_write_all(written_files *w, gufo_job *job, export_plan *plan, gufo_error *error)
{
    archive *z = mem_zero(&job->allocator, sizeof *z);
    gufo_status status = written_keep(w, &job->allocator, z, error);

    if (status != GUFO_OK)
        return status;
    *z = (archive){.allocator = job->allocator, .job = job, .count = plan->count};
    z->directory.allocator = &z->allocator;
    z->members = mem_array(&job->allocator, z->count, sizeof *z->members);
    status = written_keep(w, &job->allocator, z->members, error);
    if (status == GUFO_OK)
        status = fill(w, z, plan, error);
    /* The directory is freed with all other blocks. */
    if (z->directory.data != NULL &&
        written_keep(w, &job->allocator, z->directory.data, error) != GUFO_OK)
        return GUFO_E_MEMORY;
    job->begins_with_data = true;
    job->hooks.begin = sum_all;
    job->hooks.context = z;
    return status;
}
