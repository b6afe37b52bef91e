/* The walk: header, metadata and tensor infos of a GGUF file, once, from front to back.
 *
 *     "GGUF"  version:u32  tensor_count  metadata_count          the header
 *     key:string  type:u32  value                                metadata_count times
 *     name:string  n_dims:u32  dims...  type:u32  offset:u64     tensor_count times
 *
 * Counts, lengths and dims have 64 bits; in version 1, 32.  There is no other parser of these
 * bytes: strict and lenient opening and the validator all come here, and differ in what file_fault
 * does.  Where the position of the next field is certain (a bad key, a bool of 2) a lenient walk
 * continues; where it is not (a length past the end) it stops.
 *
 * Functions return false to stop; file->status says whether that is a failure. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "format/file/file.h"
#include "format/rules/rules.h"
#include "format/value/value.h"

/* What is being read, for messages.  The key or name of it is kept by its place in the file:
 * reading more of a pipe moves the bytes, so that no view of them may be kept. */
typedef struct place {
    rule_number rule; /* that is broken if the file ends here */
    const char *what; /* "metadata entry" or "tensor info" */
    uint64_t index, count;
    uint64_t name_at;
    uint64_t name_len;
    bool named; /* the key or name has been read */
} place;

typedef struct walker {
    gguf_file *file;
    uint64_t position;
    gufo_encoding encoding;
    bool swap;
    size_t width; /* of lengths */
    place at;
    bool reported;   /* the reason why the next bytes cannot be read was reported */
    uint64_t visits; /* strings and arrays in arrays that may still come */
} walker;

static const gufo_str header = {"header", 6};

enum { HEADER_START = 8 }; /* magic and version: the same in all versions */

enum { ENOUGH_TO_RECOGNISE = 4096 };

static const uint8_t *here(const walker *w)
{
    return w->file->source.base + w->position;
}

/* The key or name of what is being read. */
static gufo_str subject(const walker *w)
{
    if (!w->at.named)
        return header;
    return (gufo_str){(const char *)w->file->source.base + w->at.name_at, (size_t)w->at.name_len};
}

/* Tries to make the bytes before `upto` available.  Those of a source that cannot be mapped are
 * kept in memory, which has a limit. */
static void make_available(walker *w, uint64_t upto)
{
    gguf_file *file = w->file;
    gufo_error reason;

    if (w->reported)
        return;
    file->status = source_need(&file->source, upto, &reason);
    if (file->source.over_limit) {
        file->status = GUFO_OK;
        w->reported = true;
        (void)file_fault(file, RULE_MEMORY_LIMIT, reason.offset, subject(w), "%s", reason.message);
    } else if (file->status != GUFO_OK && file->error != NULL)
        *file->error = reason;
}

/* Makes `size` bytes from the current position on available.  False if the file is shorter than
 * that (file->status stays GUFO_OK) or cannot be read. */
static bool have(walker *w, uint64_t size)
{
    source *s = &w->file->source;
    uint64_t upto;

    if (size <= s->have - w->position)
        return true;
    if (!checked_add(w->position, size, &upto))
        return false;
    make_available(w, upto);
    return w->file->status == GUFO_OK && upto <= s->have;
}

/* Reports why nothing from here on can be read, unless reading failed or that is reported already.
 * Always false. */
__attribute__((format(printf, 4, 5))) static bool stop(walker *w, rule_number rule, uint64_t at,
                                                       const char *format, ...)
{
    char message[GUFO_MESSAGE_SIZE];
    va_list args;

    if (w->file->status != GUFO_OK || w->reported)
        return false;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)file_fault(w->file, rule, at, subject(w), "%s", message);
    return false;
}

/* The bytes from the current position to the end of the file, if known. */
static uint64_t left(const walker *w)
{
    return w->file->source.size - w->position;
}

/* ---- truncation ----------------------------------------------------------------------------- */

static bool fail_short(walker *w, const char *field)
{
    const place *at = &w->at;

    return stop(w, at->rule, w->position, "file ends inside the %s of %s %" PRIu64 " of %" PRIu64,
                field, at->what, at->index + 1, at->count);
}

static bool fail_length(walker *w, const char *field, uint64_t len)
{
    const place *at = &w->at;

    return stop(w, at->rule, w->position,
                "%s of %s %" PRIu64 " of %" PRIu64
                " has %s bytes, but only %s are left in the file",
                field, at->what, at->index + 1, at->count, GROUPED(len),
                GROUPED(left(w) - smaller(left(w), w->width)));
}

/* ---- fields --------------------------------------------------------------------------------- */

/* A number of 4 or 8 bytes. */
static bool read_integer(walker *w, const char *field, size_t width, uint64_t *out)
{
    if (!have(w, width))
        return fail_short(w, field);
    *out = width == 4 ? load_u32(here(w), w->swap) : load_u64(here(w), w->swap);
    w->position += width;
    return true;
}

static bool read_u32(walker *w, const char *field, uint32_t *out)
{
    uint64_t wide;
    bool read = read_integer(w, field, sizeof *out, &wide);

    if (read)
        *out = (uint32_t)wide;
    return read;
}

/* A complete string of any length: the place and the length of its text. */
static bool read_string(walker *w, const char *field, uint64_t *text_at, uint64_t *text_len)
{
    uint64_t start = w->position, len, whole;

    if (!read_integer(w, field, w->width, &len))
        return false;
    w->position = start;
    /* No file is that long, but the end of a pipe has to be found to say how long it is. */
    if (!checked_add(w->width, len, &whole))
        whole = UINT64_MAX - start;
    if (!have(w, whole) || whole > SIZE_MAX)
        return fail_length(w, field, len);
    *text_at = start + w->width;
    *text_len = string_text(here(w) + w->width, len, w->encoding).len;
    w->position += whole;
    return true;
}

/* The key or name that a record begins with; it becomes the subject of messages. */
static bool read_name(walker *w, const char *field, uint32_t *len)
{
    if (!read_string(w, field, &w->at.name_at, &w->at.name_len))
        return false;
    w->at.named = true;
    *len = w->at.name_len > UINT32_MAX ? UINT32_MAX : (uint32_t)w->at.name_len;
    return true;
}

/* ---- header --------------------------------------------------------------------------------- */

static bool read_version(walker *w)
{
    gguf_file *file = w->file;
    uint32_t little, big;

    if (!have(w, HEADER_START))
        return stop(w, RULE_HEADER_TRUNCATED, file->source.size, "file ends inside the version");
    little = load_u32(here(w) + 4, bytes_swapped(false));
    big = load_u32(here(w) + 4, bytes_swapped(true));
    if ((little < 1 || little > 3) && (big < 1 || big > 3))
        return stop(w, RULE_VERSION, 4,
                    "version %" PRIu32 " does not exist; the known versions are 1, 2 and 3",
                    little);
    w->encoding.byte_order = little <= 3 ? GUFO_LITTLE_ENDIAN : GUFO_BIG_ENDIAN;
    w->encoding.version = (uint8_t)(little <= 3 ? little : big);
    w->swap = encoding_swapped(w->encoding);
    w->width = encoding_length_size(w->encoding);
    file->encoding = w->encoding;
    w->position = HEADER_START;
    return true;
}

/* As much as is there of what is needed to say what a file is. */
static gufo_status read_beginning(source *s)
{
    return source_need(s, smaller(ENOUGH_TO_RECOGNISE, s->size), NULL);
}

static bool read_magic(walker *w)
{
    static const char magic[4] = {'G', 'G', 'U', 'F'};
    gguf_file *file = w->file;
    const char *kind;

    if (have(w, sizeof magic) && memcmp(here(w), magic, sizeof magic) == 0)
        return true;
    if (file->status == GUFO_OK && file->source.size < sizeof magic)
        (void)have(w, file->source.size);
    if (file->status != GUFO_OK || w->reported)
        return false;
    (void)read_beginning(&file->source);
    kind = gufo_recognise(file->source.base, (size_t)file->source.have);
    return stop(w, RULE_MAGIC, 0, "not a GGUF file: %s%s",
                kind != NULL ? "it is " : "it does not begin with \"GGUF\"",
                kind != NULL ? kind : "");
}

/* One count of the header against the limit and against what can be there: `least` is the size of
 * the smallest possible record. */
static bool check_count(walker *w, rule_number rule, uint64_t at, const char *what, uint64_t count,
                        uint64_t max, uint64_t least)
{
    uint64_t needed;

    if (count > max)
        return stop(w, RULE_COUNT_LIMIT, at, "header announces %s %s, the limit is %s",
                    GROUPED(count), what, GROUPED(max));
    if (!checked_mul(count, least, &needed) || needed > left(w))
        return file_fault(w->file, rule, at, subject(w),
                          "header announces %s %s, which take at least %s bytes, but only %s are "
                          "left in the file",
                          GROUPED(count), what, GROUPED(needed), GROUPED(left(w)));
    return true;
}

/* Files of version 1 are that, or of the draft before it. */
static bool is_draft(walker *w)
{
    source *s = &w->file->source;

    if (w->encoding.version != 1 || w->encoding.byte_order != GUFO_LITTLE_ENDIAN)
        return false;
    if (read_beginning(s) != GUFO_OK)
        s->over_limit = false; /* that much may not be needed: reading on says so */
    return draft_recognise(s->base, s->have);
}

static bool read_header(walker *w)
{
    gguf_file *file = w->file;

    if (!read_magic(w) || !read_version(w))
        return false;
    if (!have(w, 2 * w->width))
        return stop(w, RULE_HEADER_TRUNCATED, file->source.size,
                    "file ends inside the counts of the header");
    file->claimed_tensors = load_length(here(w), w->encoding);
    file->claimed_metadata = load_length(here(w) + w->width, w->encoding);
    w->position += 2 * w->width;
    if (is_draft(w))
        return stop(w, RULE_VERSION, 4, "this is " DRAFT_KIND);
    /* The smallest records: name length, dimension count, type and offset; key length, value type
     * and a value of one byte. */
    return check_count(w, RULE_TENSOR_COUNT, HEADER_START, "tensors", file->claimed_tensors,
                       file->max_tensors, w->width + 4 + 4 + 8) &&
           check_count(w, RULE_METADATA_COUNT, HEADER_START + w->width, "metadata entries",
                       file->claimed_metadata, file->max_metadata, w->width + 4 + 1);
}

/* ---- metadata ------------------------------------------------------------------------------- */

/* Checks the key or name that was read last. */
static bool check_subject(walker *w, const name_rule *rules)
{
    for (; rules->broken != NULL; rules++) {
        char message[GUFO_MESSAGE_SIZE];

        if (rules->broken(subject(w), message, sizeof message) &&
            !file_fault(w->file, rules->rule, w->at.name_at - w->width, subject(w), "%s", message))
            return false;
    }
    return true;
}

static bool fail_bool(walker *w, uint64_t at)
{
    return file_fault(w->file, RULE_BOOL_VALUE, at, subject(w),
                      "key %s holds a bool of %u; only 0 and 1 are valid", QUOTED(subject(w)),
                      w->file->source.base[at]);
}

static bool fail_array(walker *w, const array_skip *skip, skip_result why)
{
    switch (why) {
    case SKIP_BAD_TYPE:
        return stop(w, RULE_ARRAY_TYPE, skip->position,
                    "array of key %s has elements of type %" PRIu32 ", which does not exist",
                    QUOTED(subject(w)), skip->type);
    case SKIP_TOO_MANY:
        return stop(w, RULE_COUNT_LIMIT, skip->position,
                    "array of key %s: arrays hold more strings and arrays than the limit of %s",
                    QUOTED(subject(w)), GROUPED(w->file->max_texts));
    case SKIP_TOO_DEEP:
        return stop(w, RULE_ARRAY_DEPTH, skip->position,
                    "arrays of key %s are nested more than %u deep", QUOTED(subject(w)),
                    w->file->max_depth);
    default:
        return stop(w, w->at.rule, skip->position,
                    "file ends inside the array of key %s, %s %" PRIu64 " of %" PRIu64,
                    QUOTED(subject(w)), w->at.what, w->at.index + 1, w->at.count);
    }
}

/* Where the bytes of an array of strings, of which some were read, will probably end: they are about as long as
 * those before.  Later ones are often longer, which an eighth more allows for. */
static void expect_strings(const walker *w, const array_skip *skip)
{
    const uint64_t read = skip->position - w->position;
    uint64_t done, rest;

    if (!skip->entered || skip->depth != 1 || skip->inner != GUFO_VALUE_STRING)
        return;
    done = skip->count - skip->left[0];
    if (checked_mul(skip->left[0], done > 0 ? read / done + 1 : 2 * w->width, &rest))
        source_expect(&w->file->source, skip->position, capped_add(rest, rest / 8));
}

static bool read_array(walker *w, entry_record *entry)
{
    source *s = &w->file->source;
    skip_result result;
    array_skip skip;

    array_skip_start(&skip, s->base, w->position, s->have, w->encoding);
    skip.max_depth = w->file->max_depth;
    skip.visits = w->visits;
    while ((result = array_skip_run(&skip)) == SKIP_SHORT) {
        uint64_t had = s->have;

        expect_strings(w, &skip);
        make_available(w, skip.need);
        if (s->have == had)
            break;
        skip.base = s->base;
        skip.end = s->have;
    }
    if (result != SKIP_DONE)
        return fail_array(w, &skip, result);
    w->visits = skip.visits;
    entry->element_type = (uint8_t)skip.outer;
    entry->count = skip.count;
    entry->value_at = w->position + array_header_size(w->encoding);
    w->position = skip.position;
    return skip.bad_bool == UINT64_MAX || fail_bool(w, skip.bad_bool);
}

static bool read_number(walker *w, entry_record *entry, const value_type_info *info)
{
    if (!have(w, info->size))
        return fail_short(w, "value");
    entry->value_at = w->position;
    w->position += info->size;
    return info->kind != KIND_BOOL || w->file->source.base[entry->value_at] <= 1 ||
           fail_bool(w, entry->value_at);
}

static bool read_value(walker *w, entry_record *entry)
{
    const value_type_info *info;
    uint32_t type;

    if (!read_u32(w, "value type", &type))
        return false;
    info = value_type_row(type);
    if (info == NULL)
        return stop(w, RULE_VALUE_TYPE, w->position - 4,
                    "value of key %s has type %" PRIu32 ", which does not exist",
                    QUOTED(subject(w)), type);
    entry->type = (uint8_t)type;
    return info->kind == KIND_STRING  ? read_string(w, "string", &entry->value_at, &entry->count)
           : info->kind == KIND_ARRAY ? read_array(w, entry)
                                      : read_number(w, entry, info);
}

/* Keeps a copy of a record at the end of a list: memory follows what was read, not what was
 * announced. */
static bool keep(gguf_file *file, records *list, const void *record)
{
    void *room = records_add(list, &file->allocator);

    if (room == NULL) {
        file->status = fail_memory(file->error);
        return false;
    }
    memcpy(room, record, list->size);
    return true;
}

static bool read_entry(walker *w, uint64_t index)
{
    gguf_file *file = w->file;
    entry_record entry = {.record.offset = w->position};

    w->at = (place){.rule = RULE_METADATA_TRUNCATED,
                    .what = "metadata entry",
                    .index = index,
                    .count = file->claimed_metadata};
    if (!read_name(w, "key", &entry.record.name_len) || !check_subject(w, key_rules) ||
        !read_value(w, &entry))
        return false;
    entry.end = w->position;
    return keep(file, &file->entries, &entry);
}

/* ---- tensor infos --------------------------------------------------------------------------- */

/* A lenient walk passes over more dimensions than are allowed, if they are few enough to be meant;
 * the tensor cannot be used. */
static bool check_dims_count(walker *w, uint32_t count, tensor_record *tensor)
{
    enum { MEANT_AT_MOST = 64 };

    if (count <= GUFO_MAX_DIMS)
        return true;
    tensor->flags |= TENSOR_UNUSABLE;
    return file_fault(w->file, RULE_DIMS_COUNT, w->position - 4, subject(w),
                      "tensor %s has %s dimensions, at most %d are allowed", QUOTED(subject(w)),
                      GROUPED(count), GUFO_MAX_DIMS) &&
           count <= MEANT_AT_MOST;
}

static bool read_dims(walker *w, tensor_record *tensor)
{
    uint32_t count;

    if (!read_u32(w, "dimension count", &count) || !check_dims_count(w, count, tensor))
        return false;
    tensor->n_dims = (uint8_t)(count < GUFO_MAX_DIMS ? count : GUFO_MAX_DIMS);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t dim;

        if (!read_integer(w, "dimensions", w->width, &dim))
            return false;
        if (i < GUFO_MAX_DIMS)
            tensor->dims[i] = dim;
    }
    return true;
}

/* Sizes that follow from type and dims.  `at` is where the dims are. */
static bool check_shape(walker *w, uint64_t at, tensor_record *tensor)
{
    const gufo_element_type *type = gufo_element_type_by_id(tensor->type);
    uint64_t elements;

    if (tensor->flags & TENSOR_UNUSABLE)
        return true;
    if (!tensor_measure(tensor->type, tensor->n_dims, tensor->dims, &elements, &tensor->size)) {
        tensor->flags |= TENSOR_UNUSABLE;
        return file_fault(w->file, RULE_DIMS_OVERFLOW, at, subject(w),
                          "elements or bytes of tensor %s do not fit into 63 bits",
                          QUOTED(subject(w)));
    }
    if (!tensor_rows_fill_blocks(tensor->type, tensor->n_dims, tensor->dims)) {
        tensor->flags |= TENSOR_UNUSABLE;
        tensor->size = 0;
        return file_fault(w->file, RULE_ROW_BLOCKS, at, subject(w),
                          "rows of tensor %s have %s elements, which is not a multiple of %" PRIu32
                          ", the block of %s",
                          QUOTED(subject(w)), GROUPED(tensor->n_dims > 0 ? tensor->dims[0] : 1),
                          type->block_elements, type->name);
    }
    if (elements > 0 && (type == NULL || type->block_elements == 0))
        tensor->flags |= TENSOR_SIZE_UNKNOWN;
    return true;
}

static bool read_info(walker *w, uint64_t index)
{
    gguf_file *file = w->file;
    tensor_record tensor = {.record.offset = w->position};
    uint64_t dims_at;

    w->at = (place){.rule = RULE_INFOS_TRUNCATED,
                    .what = "tensor info",
                    .index = index,
                    .count = file->claimed_tensors};
    if (!read_name(w, "name", &tensor.record.name_len) || !check_subject(w, name_rules))
        return false;
    dims_at = w->position;
    return read_dims(w, &tensor) && read_u32(w, "element type", &tensor.type) &&
           read_integer(w, "offset", 8, &tensor.offset) && check_shape(w, dims_at, &tensor) &&
           keep(file, &file->tensors, &tensor);
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* Whether names are added to their index when so many were read: seldom, because the index is rebuilt
 * each time, but early enough to find repeated names before they take much memory. */
static bool is_time_to_index(uint64_t count)
{
    enum { FIRST = 1 << 10 };

    return count >= FIRST && (count & (count - 1)) == 0 && __builtin_ctzll(count) % 2 == 0;
}

static bool index_some(gguf_file *file, uint64_t count, bool (*index)(gguf_file *file))
{
    return !is_time_to_index(count) || (index(file) && !file->cut_short);
}

/* Whether to go on; asked at every entry, which may be long, and at every so many tensors. */
static bool note_position(walker *w)
{
    gguf_file *file = w->file;

    if (opening_note(file->opening, &file->noted, w->position))
        return true;
    file->status = refuse(file->error, GUFO_E_STOPPED, "stopped");
    return false;
}

static bool walk_records(walker *w)
{
    /* Of an info: a name of 24 bytes, two dimensions. */
    enum { TENSORS_BETWEEN = 256, USUAL_INFO = 64 };
    gguf_file *file = w->file;
    uint64_t infos;

    for (uint64_t i = 0; i < file->claimed_metadata; i++)
        if (!read_entry(w, i) || !index_some(file, i + 1, index_keys) || !note_position(w))
            return false;
    file->metadata_read = true;
    if (checked_mul(file->claimed_tensors, USUAL_INFO, &infos))
        source_expect(&file->source, w->position, infos);
    for (uint64_t i = 0; i < file->claimed_tensors; i++)
        if (!read_info(w, i) || !index_some(file, i + 1, index_names) ||
            (i % TENSORS_BETWEEN == 0 && !note_position(w)))
            return false;
    file->infos_end = w->position;
    return true;
}

/* A lenient walk that had to stop says what it has not seen. */
static void report_unread(walker *w)
{
    gguf_file *file = w->file;
    uint64_t entries = file->claimed_metadata - file->entries.count;
    uint64_t tensors = file->claimed_tensors - file->tensors.count;

    if (file->status != GUFO_OK || !file->lenient)
        return;
    (void)file_fault(file, RULE_UNREAD, w->position, header,
                     "%s of %s metadata entries and %s of %s tensor infos could not be read",
                     GROUPED(entries), GROUPED(file->claimed_metadata), GROUPED(tensors),
                     GROUPED(file->claimed_tensors));
}

bool file_walk(gguf_file *file)
{
    walker w = {.file = file, .visits = file->max_texts};

    if (!read_header(&w))
        return false;
    if (walk_records(&w))
        return true;
    report_unread(&w);
    return false;
}
