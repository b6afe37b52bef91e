/* Floor 2: what a GGUF file is: opening, looking up, checking and writing.
 *
 * "Spec" below is the GGUF specification, version 3 (docs/gguf.md of the ggml project); clauses are
 * cited by the struct or section that states them.
 *
 * Part 1  values       metadata values, typed access, arrays
 * Part 2  files        open, metadata, tensors
 * Part 3  shard sets   several files that are one model
 * Part 4  rules        what a file may break, and the validator
 * Part 5  writer       plan, layout, data */
#ifndef GUFO_FORMAT_H
#define GUFO_FORMAT_H

#include "base.h"
#include "codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- limits --------------------------------------------------------------------------------- */

#define GUFO_MAX_DEPTH 16             /* arrays inside arrays: an array of numbers has depth 1 */
#define GUFO_MAX_KEY 65535            /* bytes of a key (spec, gguf_metadata_kv_t) */
#define GUFO_MAX_NAME 64              /* bytes of a tensor name (spec, gguf_tensor_info_t) */
#define GUFO_MAX_DIMS 4               /* dimensions of a tensor (spec, gguf_tensor_info_t) */
#define GUFO_MAX_ALIGNMENT (1u << 24) /* bytes */
#define GUFO_QUANTIZATION_VERSION 2u  /* general.quantization_version of today */
#define GUFO_DEFAULT_ALIGNMENT 32u    /* where general.alignment is absent (spec, General) */
#define GUFO_MAX_COUNT 0x7fffffffu    /* metadata entries, and tensors, of one file */
/* Bytes of header, metadata and infos that are kept in memory where mapping is impossible. */
#define GUFO_MAX_UNMAPPED (256u << 20)

/* ==== Part 1: values ========================================================================= */

/* Spec, gguf_metadata_value_type.  The numbers are those in the file. */
typedef enum gufo_value_type {
    GUFO_VALUE_UINT8 = 0,
    GUFO_VALUE_INT8 = 1,
    GUFO_VALUE_UINT16 = 2,
    GUFO_VALUE_INT16 = 3,
    GUFO_VALUE_UINT32 = 4,
    GUFO_VALUE_INT32 = 5,
    GUFO_VALUE_FLOAT32 = 6,
    GUFO_VALUE_BOOL = 7,
    GUFO_VALUE_STRING = 8,
    GUFO_VALUE_ARRAY = 9,
    GUFO_VALUE_UINT64 = 10,
    GUFO_VALUE_INT64 = 11,
    GUFO_VALUE_FLOAT64 = 12,
} gufo_value_type;

#define GUFO_VALUE_TYPE_COUNT 13

/* "uint8" ... "float64", "bool", "string", "array"; NULL for a number that is no type. */
GUFO_API const char *gufo_value_type_name(gufo_value_type type);
/* The type with that name into *type; false if there is none. */
GUFO_API bool gufo_value_type_by_name(const char *name, gufo_value_type *type);
/* Bytes of one value in a file and of its C type; 0 for strings and arrays. */
GUFO_API size_t gufo_value_type_size(gufo_value_type type);

typedef enum gufo_byte_order {
    GUFO_LITTLE_ENDIAN = 0,
    GUFO_BIG_ENDIAN = 1,
} gufo_byte_order;

/* How the bytes of a file encode numbers and lengths. */
typedef struct gufo_encoding {
    uint8_t version;    /* 1, 2 or 3; version 1 has lengths of 32 bits */
    uint8_t byte_order; /* of gufo_byte_order */
} gufo_encoding;

/* A view of an array as it lies in the file.  Use the functions below to look inside. */
typedef struct gufo_array {
    gufo_value_type type; /* of the elements */
    uint64_t count;       /* elements */
    const uint8_t *data;  /* the first element's bytes */
    uint64_t size;        /* bytes of all elements */
    gufo_encoding encoding;
} gufo_array;

/* A value.  Numbers are widened: all unsigned integers are in `u`, signed ones in `i`, both float
 * types in `f` (a float32 is exact there). */
typedef struct gufo_value {
    gufo_value_type type;
    union {
        uint64_t u;
        int64_t i;
        double f;
        bool b;
        gufo_str str;
        gufo_array array;
    } as;
} gufo_value;

/* Conversions that lose nothing: unsigned from any integer type that holds the number, signed
 * likewise, double from both float types.  GUFO_E_TYPE for another type, GUFO_E_RANGE where the
 * number does not fit; *out is then left alone.  Any thread. */
GUFO_API gufo_status gufo_value_u64(const gufo_value *value, uint64_t *out, gufo_error *error);
GUFO_API gufo_status gufo_value_i64(const gufo_value *value, int64_t *out, gufo_error *error);
GUFO_API gufo_status gufo_value_f64(const gufo_value *value, double *out, gufo_error *error);
GUFO_API gufo_status gufo_value_bool(const gufo_value *value, bool *out, gufo_error *error);
GUFO_API gufo_status gufo_value_str(const gufo_value *value, gufo_str *out, gufo_error *error);
/* The array, if its elements have type `elements`. */
GUFO_API gufo_status gufo_value_array(const gufo_value *value, gufo_value_type elements,
                                      gufo_array *out, gufo_error *error);

/* Walks an array from front to back, in time linear in its bytes whatever the element type. */
typedef struct gufo_array_iter {
    gufo_array array;
    uint64_t index;    /* of the next element */
    uint64_t position; /* of the next element's bytes in array.data */
    bool changed;      /* set when the bytes no longer make sense: the file was changed meanwhile */
} gufo_array_iter;

GUFO_API gufo_array_iter gufo_array_start(const gufo_array *array);
/* The next element into *out; false at the end, or (`iter->changed`) where bounds no longer hold.
 * Never reads outside the array, even if the file is overwritten meanwhile. */
GUFO_API bool gufo_array_next(gufo_array_iter *iter, gufo_value *out);

/* Element `index`.  Constant time for numbers and bools, linear for strings and arrays.
 * GUFO_E_RANGE past the end, GUFO_E_CHANGED as above; *out may then be overwritten. */
GUFO_API gufo_status gufo_array_at(const gufo_array *array, uint64_t index, gufo_value *out,
                                   gufo_error *error);

/* Copies elements [first, first + count) of an array of numbers or bools to `out`, in the byte
 * order of this machine and in the C type of the element type (uint8_t for bool).  GUFO_E_TYPE for
 * strings and arrays, GUFO_E_RANGE past the end. */
GUFO_API gufo_status gufo_array_read(const gufo_array *array, uint64_t first, uint64_t count,
                                     void *out, gufo_error *error);

/* ==== Part 2: files ========================================================================== */

typedef struct gufo_file gufo_file;
struct gufo_finding;

typedef enum gufo_open_flags {
    /* Open a damaged file as far as it can be read.  Reading goes on after a fault as long as the
     * position of the next field is certain; gufo_file_damage tells the first fault.  Tensors then
     * say how many of their bytes are there. */
    GUFO_OPEN_LENIENT = 1,
    /* Read metadata into memory instead of mapping the file: slower, but a file that somebody
     * truncates while it is open cannot raise SIGBUS. */
    GUFO_OPEN_NO_MAP = 2,
    /* Do not ask whether tensor data is there: extents are compared neither with the end of the file
     * nor with each other, and gufo_file_data_size is 0.  For files that hold metadata only, and for
     * programs that check extents themselves: without that, a tensor may claim bytes that belong to
     * another tensor or to nobody.  gufo_tensor.available and .complete still tell. */
    GUFO_OPEN_METADATA_ONLY = 4,
    /* Accept what ggml's reader accepts although the specification forbids it: keys of any bytes and
     * any length (G203, G204), a bool other than 0 and 1 (G209), as alignment any power of two
     * (G211).  Keys may then hold NUL bytes: compare them as gufo_str. */
    GUFO_OPEN_AS_GGML = 8,
    /* Read no byte beyond those that are needed, for a gufo_source whose `size` is only an upper
     * bound; many small reads instead of a few large ones. */
    GUFO_OPEN_NO_READ_AHEAD = 16,
} gufo_open_flags;

typedef struct gufo_open_options {
    uint32_t flags;                  /* of gufo_open_flags */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t max_metadata;           /* entries; 0: GUFO_MAX_COUNT */
    uint64_t max_tensors;            /* 0: GUFO_MAX_COUNT */
    uint64_t max_unmapped;           /* bytes; 0: GUFO_MAX_UNMAPPED */
    /* With GUFO_OPEN_LENIENT: told of every fault that open looks for, not only the first. */
    void (*on_finding)(void *context, const struct gufo_finding *finding);
    void *finding_context;
} gufo_open_options;

/* Opens a file, reads its header, metadata and tensor infos once, checks them (part 4 lists the
 * rules) and builds the index.  The file is mapped and read-only; strings and arrays stay in it.
 * Memory: at most 200 bytes per metadata entry and tensor, allocated as they are seen.  Where
 * mapping is impossible (a pipe, a device), metadata is kept in memory, up to max_unmapped bytes,
 * and a pipe is read to its end: one without an end never returns. Changing the file while it is
 * open is noticed as GUFO_E_CHANGED or as wrong content; truncating it raises SIGBUS in whoever
 * touches the lost bytes (see GUFO_OPEN_NO_MAP). `options` may be NULL.  The result is closed with
 * gufo_close; NULL on failure. */
GUFO_API gufo_file *gufo_open(const char *path, const gufo_open_options *options,
                              gufo_error *error);
/* The same from a file descriptor, which stays the caller's and may be closed right after. */
GUFO_API gufo_file *gufo_open_fd(int fd, const gufo_open_options *options, gufo_error *error);
/* The same from memory, which must outlive the file and stay as it is. */
GUFO_API gufo_file *gufo_open_memory(const void *data, size_t size,
                                     const gufo_open_options *options, gufo_error *error);
/* The same from a source; the struct is copied, its context must outlive the file.  Its `close` is
 * called by gufo_close, and on failure before returning. */
GUFO_API gufo_file *gufo_open_source(const gufo_source *source, const gufo_open_options *options,
                                     gufo_error *error);
/* Releases everything; all views die.  NULL is allowed. */
GUFO_API void gufo_close(gufo_file *file);

/* Facts of the file.  Any thread. */
GUFO_API uint32_t gufo_file_version(const gufo_file *file);
GUFO_API gufo_byte_order gufo_file_byte_order(const gufo_file *file);
GUFO_API uint64_t gufo_file_size(const gufo_file *file); /* bytes that are there */
/* The default if a lenient open did not find it, or found one that makes no sense. */
GUFO_API uint32_t gufo_file_alignment(const gufo_file *file);
/* Where tensor data begins: the end of the tensor infos, aligned.  0 if a lenient open could not
 * read that far. */
GUFO_API uint64_t gufo_file_data_offset(const gufo_file *file);
/* Bytes from the data offset to the end of the last tensor; 0 without tensors. */
GUFO_API uint64_t gufo_file_data_size(const gufo_file *file);
/* Where the tensor infos end, before the padding; 0 if a lenient open did not reach it. */
GUFO_API uint64_t gufo_file_infos_end(const gufo_file *file);
/* The first fault that a lenient open met; NULL if there was none.  Lives as long as the file. */
GUFO_API const gufo_error *gufo_file_damage(const gufo_file *file);
/* What the header announces; more than there are in a damaged file. */
GUFO_API uint64_t gufo_file_claimed_metadata(const gufo_file *file);
GUFO_API uint64_t gufo_file_claimed_tensors(const gufo_file *file);

/* One key with its value.  Spec, gguf_metadata_kv_t. */
typedef struct gufo_entry {
    gufo_str key;
    gufo_value value;
    uint64_t offset;       /* of the entry in the file */
    uint64_t value_offset; /* of the value's first content byte: number, text, first element */
    uint64_t end;          /* the byte after the entry */
} gufo_entry;

/* The number of entries; entry `index` in file order (false past the end); the entry with this key
 * (false if there is none; the first of several, which only a lenient open lets in), found in
 * constant time.  Views live as long as the file.  Any thread. */
GUFO_API uint64_t gufo_metadata_count(const gufo_file *file);
GUFO_API bool gufo_metadata_at(const gufo_file *file, uint64_t index, gufo_entry *out);
GUFO_API bool gufo_metadata_find(const gufo_file *file, const char *key, gufo_entry *out);
GUFO_API bool gufo_metadata_find_str(const gufo_file *file, gufo_str key, gufo_entry *out);

/* The value of `key`, converted as gufo_value_* does.  GUFO_E_NOT_FOUND if it is absent. */
GUFO_API gufo_status gufo_get_u64(const gufo_file *file, const char *key, uint64_t *out,
                                  gufo_error *error);
GUFO_API gufo_status gufo_get_i64(const gufo_file *file, const char *key, int64_t *out,
                                  gufo_error *error);
GUFO_API gufo_status gufo_get_f64(const gufo_file *file, const char *key, double *out,
                                  gufo_error *error);
GUFO_API gufo_status gufo_get_bool(const gufo_file *file, const char *key, bool *out,
                                   gufo_error *error);
GUFO_API gufo_status gufo_get_str(const gufo_file *file, const char *key, gufo_str *out,
                                  gufo_error *error);
GUFO_API gufo_status gufo_get_array(const gufo_file *file, const char *key,
                                    gufo_value_type elements, gufo_array *out, gufo_error *error);

/* One tensor.  Spec, gguf_tensor_info_t. */
typedef struct gufo_tensor {
    gufo_str name;
    uint32_t type;                /* id; gufo_element_type_by_id may not know it */
    uint32_t n_dims;              /* 0 (a scalar) to 4 */
    uint64_t dims[GUFO_MAX_DIMS]; /* in the file's order: dims[0] is the row; 1 beyond n_dims */
    uint64_t elements;    /* product of dims; 0 if a lenient open found dims that make no sense
                                   * (of more than four, the first four are shown) */
    uint64_t offset;      /* of the data, from the start of the file; GUFO_NO_OFFSET if a
                                   * lenient open could not tell */
    uint64_t size;        /* bytes of data */
    uint64_t available;   /* bytes that are there: less than size in a truncated file */
    uint64_t info_offset; /* of the tensor info in the file */
    bool size_known;      /* false: the type's layout is unknown, and size reaches to the next
                                   * offset of a tensor with bytes, or to the end of the file */
    bool complete;        /* all bytes are there; always after a strict open */
} gufo_tensor;

/* As for metadata: count, file order, constant-time search by name. */
GUFO_API uint64_t gufo_tensor_count(const gufo_file *file);
GUFO_API bool gufo_tensor_at(const gufo_file *file, uint64_t index, gufo_tensor *out);
GUFO_API bool gufo_tensor_find(const gufo_file *file, const char *name, gufo_tensor *out);
GUFO_API bool gufo_tensor_find_str(const gufo_file *file, gufo_str name, gufo_tensor *out);

/* The tensor's bytes, if the file is mapped or in memory and all of them are there; else NULL. */
GUFO_API const void *gufo_tensor_data(const gufo_file *file, const gufo_tensor *tensor);

/* Reads bytes [offset, offset + size) of the tensor's data into buffer, with pread where there is a
 * file, so that an I/O error comes back as one.  GUFO_E_RANGE outside the tensor, GUFO_E_TRUNCATED
 * where the bytes are missing, GUFO_E_ARGUMENT for a pipe, whose data is gone.  Any thread. */
GUFO_API gufo_status gufo_tensor_read(const gufo_file *file, const gufo_tensor *tensor,
                                      uint64_t offset, void *buffer, size_t size,
                                      gufo_error *error);

/* The same for any bytes of the file.  Of a pipe, only what was kept of its metadata. */
GUFO_API gufo_status gufo_file_read(const gufo_file *file, uint64_t offset, void *buffer,
                                    size_t size, gufo_error *error);
/* Whether gufo_file_read can reach tensor data: false for a pipe. */
GUFO_API bool gufo_file_has_data(const gufo_file *file);

/* GUFO_E_CHANGED if the file has another size or time of change than when it was opened: what was
 * read since then may be of both.  Nothing can be said of memory, pipes and other sources. */
GUFO_API gufo_status gufo_file_unchanged(const gufo_file *file, gufo_error *error);

/* ==== Part 3: shard sets ===================================================================== */

/* Splits "DIR/NAME-00002-of-00005.gguf" into the length of "DIR/NAME", the number (from 1) and the
 * count.  False if the path does not end that way, or the number is not in 1..count. */
GUFO_API bool gufo_shard_path_parse(const char *path, size_t *prefix_len, uint32_t *number,
                                    uint32_t *count);

/* The inverse: the path of shard `number` of `count` (both below 100000) whose path begins with the
 * first `prefix_len` bytes of `path`.  Writes at most `size` bytes with the terminator and returns the
 * bytes that are needed without it, like snprintf. */
GUFO_API size_t gufo_shard_path_format(char *out, size_t size, const char *path, size_t prefix_len,
                                       uint32_t number, uint32_t count);

typedef struct gufo_set gufo_set;

/* Opens a model.  If `path` is named as the first of several shards, all shards are opened and
 * checked: numbering and count (split.no, split.count), total (split.tensors.count), version, byte
 * order, alignment, no tensor twice.  Any other path is a set of one. GUFO_E_SHARDS if a shard is
 * missing or the shards do not belong together; otherwise as gufo_open. `failed_path`, if not NULL,
 * receives the path that the error is about (NULL if none or without memory), to be freed with
 * free(). Lenient opening and on_finding apply to each file (findings do not tell which: open
 * shards one by one for that); checks between files stay strict. */
GUFO_API gufo_set *gufo_set_open(const char *path, const gufo_open_options *options,
                                 char **failed_path, gufo_error *error);
GUFO_API void gufo_set_close(gufo_set *set);

/* The number of shards (1 for an ordinary file), shard `index` from 0 and its path (NULL past the
 * end).  The metadata of the model is that of shard 0.  Everything belongs to the set. */
GUFO_API size_t gufo_set_shard_count(const gufo_set *set);
GUFO_API const gufo_file *gufo_set_shard(const gufo_set *set, size_t index);
GUFO_API const char *gufo_set_shard_path(const gufo_set *set, size_t index);

/* The tensors of all shards, in shard order; *shard (may be NULL) receives the index of the shard.
 * Offsets count within that shard's file. */
GUFO_API uint64_t gufo_set_tensor_count(const gufo_set *set);
GUFO_API bool gufo_set_tensor_at(const gufo_set *set, uint64_t index, gufo_tensor *out,
                                 size_t *shard);
GUFO_API bool gufo_set_tensor_find(const gufo_set *set, const char *name, gufo_tensor *out,
                                   size_t *shard);

/* ==== Part 4: rules ========================================================================== */

typedef enum gufo_severity {
    GUFO_INFO,    /* legal, but some tools refuse it */
    GUFO_WARNING, /* readable, but not as the specification wants it */
    GUFO_ERROR,   /* the file breaks the format */
} gufo_severity;

/* "info", "warning", "error". */
GUFO_API const char *gufo_severity_name(gufo_severity severity);

/* One rule.  Ids never change their meaning. */
typedef struct gufo_rule {
    const char *id;   /* "G205" */
    const char *name; /* "key-duplicate" */
    gufo_severity severity;
    bool fatal;          /* gufo_open refuses a file that breaks it */
    gufo_status status;  /* the error code that gufo_open then gives */
    const char *clause;  /* where the format says so */
    const char *summary; /* one sentence */
} gufo_rule;

GUFO_API size_t gufo_rule_count(void);
GUFO_API const gufo_rule *gufo_rule_at(size_t index);              /* NULL past the end */
GUFO_API const gufo_rule *gufo_rule_by_id(const char *id_or_name); /* NULL if there is none */

typedef enum gufo_fix_kind {
    GUFO_FIX_NONE,
    GUFO_FIX_REWRITE, /* writing the file anew mends it: padding, gaps */
    GUFO_FIX_SET,     /* key `key` gets `value` */
    GUFO_FIX_RENAME,  /* key `key` becomes `value` (a string) */
    GUFO_FIX_SHORTEN, /* the array `key` keeps its first `value` (an unsigned number) elements */
} gufo_fix_kind;

/* The one right answer to a finding. */
typedef struct gufo_fix {
    gufo_fix_kind kind;
    gufo_str key;
    gufo_value value;
} gufo_fix;

/* One place where a file breaks a rule.  Lives only during the call that hands it over. */
typedef struct gufo_finding {
    const gufo_rule *rule;
    uint64_t offset;     /* in the file, or GUFO_NO_OFFSET */
    gufo_str subject;    /* the key, the tensor name, "header" ...: raw bytes from the file */
    const char *message; /* one sentence that cites the clause; control characters escaped */
    const char *hint;    /* what may be done about it, one clause; NULL if nothing is known */
    gufo_fix fix;        /* GUFO_FIX_NONE if there is no one right answer */
    size_t shard;        /* index of the file in its set; 0 for a single file */
} gufo_finding;

typedef void gufo_finding_fn(void *context, const gufo_finding *finding);

/* Checks the rules that open does not look at (UTF-8, key characters, padding, gaps ...) on an open
 * file.  Reads padding bytes, never tensor data.  Findings come in the order of metadata, tensor
 * infos, data.  Fails only for I/O, memory, and a file that is truncated meanwhile. */
GUFO_API gufo_status gufo_file_check(const gufo_file *file, gufo_finding_fn *found, void *context,
                                     gufo_error *error);

/* Checks the rules that only a set as a whole can break: a key that the first shard lacks and the
 * tensors of another one need.  Each shard is checked by itself with gufo_file_check. */
GUFO_API void gufo_set_check(const gufo_set *set, gufo_finding_fn *found, void *context);

/* Opens leniently and reports every finding of every rule of the format (check.h has the rules about
 * what a file means).  A file so broken that nothing can be read (not GGUF at all) is a finding too.
 * GUFO_OPEN_LENIENT is added to `options->flags`, on_finding and its context are replaced; the rest
 * is used; NULL is allowed.  Fails only for I/O, memory, and a file that is truncated meanwhile. */
GUFO_API gufo_status gufo_validate(const char *path, const gufo_open_options *options,
                                   gufo_finding_fn *found, void *context, gufo_error *error);
GUFO_API gufo_status gufo_validate_fd(int fd, const gufo_open_options *options,
                                      gufo_finding_fn *found, void *context, gufo_error *error);

/* What a file that is no GGUF file is, from its first bytes: "an HTML page", "a Git LFS pointer"
 * ...; NULL if nothing is recognised.  4096 bytes are enough.  Static; any thread. */
GUFO_API const char *gufo_recognise(const void *data, size_t size);

/* ==== Part 5: writer ========================================================================= */

/* A writer is a plan first: add metadata and tensors, then ask for the layout, which is final:
 * every offset and the size of the file are known before a byte of data exists.  Then open an
 * output and write data, in any order and from any thread.
 *
 *     plan    gufo_writer_new, gufo_writer_add_*, gufo_writer_copy_*
 *     layout  gufo_writer_layout (or the first gufo_writer_open_*), after which nothing can be added
 *     data    gufo_writer_open_path / _fd, gufo_writer_write ..., gufo_writer_finish
 *
 * Planning is for one thread at a time. */
typedef struct gufo_writer gufo_writer;

typedef enum gufo_writer_flags {
    /* Accept what gufo_open accepts (names, alignments, version 2 in big-endian order ...) instead
     * of the stricter rules for new content.  For programs that copy or change existing files. */
    GUFO_WRITER_AS_READ = 1,
} gufo_writer_flags;

typedef struct gufo_writer_options {
    uint32_t version;                /* 3 or 2; 0: 3 */
    gufo_byte_order byte_order;      /* of metadata; data is written as it is given */
    uint32_t flags;                  /* of gufo_writer_flags */
    const gufo_allocator *allocator; /* NULL: malloc */
} gufo_writer_options;

/* `options` may be NULL.  GUFO_E_ARGUMENT for a version that cannot be written. */
GUFO_API gufo_writer *gufo_writer_new(const gufo_writer_options *options, gufo_error *error);
/* Releases the writer; an unfinished output is removed and its target left as it was. */
GUFO_API void gufo_writer_free(gufo_writer *writer);

/* Elements for an array: `count` values of `type` at `items`, which is an array of the C type
 * (uint8_t ... double, bool), of gufo_str for strings, of gufo_items for arrays. */
typedef struct gufo_items {
    gufo_value_type type;
    uint64_t count;
    const void *items;
} gufo_items;

/* Adds an entry; entries keep the order of the calls.  Text and elements are copied.
 * general.alignment sets the alignment of the file: it must be a uint32, a power of two from 8 to
 * GUFO_MAX_ALIGNMENT.  What no reader would accept is refused with the rule and its status: a key
 * twice, empty, too long, not of [a-zA-Z0-9_.-] or with an empty segment, text that is not UTF-8
 * (strings inside arrays may be any bytes: raw tokens occur), arrays nested too deep.  A refused
 * addition leaves the plan as it was. */
GUFO_API gufo_status gufo_writer_add_u8(gufo_writer *w, const char *key, uint8_t v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_i8(gufo_writer *w, const char *key, int8_t v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_u16(gufo_writer *w, const char *key, uint16_t v,
                                         gufo_error *e);
GUFO_API gufo_status gufo_writer_add_i16(gufo_writer *w, const char *key, int16_t v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_u32(gufo_writer *w, const char *key, uint32_t v,
                                         gufo_error *e);
GUFO_API gufo_status gufo_writer_add_i32(gufo_writer *w, const char *key, int32_t v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_f32(gufo_writer *w, const char *key, float v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_u64(gufo_writer *w, const char *key, uint64_t v,
                                         gufo_error *e);
GUFO_API gufo_status gufo_writer_add_i64(gufo_writer *w, const char *key, int64_t v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_f64(gufo_writer *w, const char *key, double v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_bool(gufo_writer *w, const char *key, bool v, gufo_error *e);
GUFO_API gufo_status gufo_writer_add_text(gufo_writer *w, const char *key, const char *text,
                                          gufo_error *e);
GUFO_API gufo_status gufo_writer_add_str(gufo_writer *w, const char *key, gufo_str text,
                                         gufo_error *e);
GUFO_API gufo_status gufo_writer_add_array(gufo_writer *w, const char *key, const gufo_items *items,
                                           gufo_error *e);
/* Any value, a view into an open file among them (re-encoded in this writer's byte order).
 * GUFO_E_RANGE for an integer that does not fit its type; a float32 is rounded to nearest. */
GUFO_API gufo_status gufo_writer_add_value(gufo_writer *w, gufo_str key, const gufo_value *value,
                                           gufo_error *e);
/* Entry `index` of a file with its bits as they are; all entries, in order.  The alignment comes
 * along. */
GUFO_API gufo_status gufo_writer_copy_entry(gufo_writer *w, const gufo_file *file, uint64_t index,
                                            gufo_error *e);
GUFO_API gufo_status gufo_writer_copy_metadata(gufo_writer *w, const gufo_file *file,
                                               gufo_error *e);

/* Adds a tensor; data lies in the order of the calls.  `size` may be 0 for a type whose layout is
 * known and must be given for any other.  Refused with the rule and its status: a name twice,
 * empty, over 64 bytes, with a NUL or not UTF-8; too many dims; rows that do not fill blocks; sizes
 * that overflow; removed types.  (With GUFO_WRITER_AS_READ, only what gufo_open refuses.)  A size
 * that contradicts type and dims is GUFO_E_ARGUMENT. */
GUFO_API gufo_status gufo_writer_add_tensor(gufo_writer *w, gufo_str name, uint32_t type,
                                            uint32_t n_dims, const uint64_t *dims, uint64_t size,
                                            gufo_error *e);
/* All tensors of a file, in order, with their names, types, dims and sizes; no data.
 * GUFO_E_MALFORMED for one whose dims or offset make no sense, which only a lenient open gives. */
GUFO_API gufo_status gufo_writer_copy_tensors(gufo_writer *w, const gufo_file *file, gufo_error *e);

typedef struct gufo_layout {
    uint64_t metadata_size; /* bytes of header, metadata and tensor infos, without padding */
    uint64_t data_offset;
    uint64_t file_size; /* with the padding after the last tensor */
    uint64_t tensor_count;
    uint32_t alignment;
    uint64_t padding; /* bytes of the entry gufo.padding (document.h), which metadata_size counts */
    uint64_t reserved[4];
} gufo_layout;

/* Ends planning and tells the layout; `out` may be NULL.  GUFO_E_RANGE if the file would be larger
 * than any file can be. */
GUFO_API gufo_status gufo_writer_layout(gufo_writer *w, gufo_layout *out, gufo_error *e);
/* Where tensor `index` goes; after gufo_writer_layout.  False past the end. */
GUFO_API bool gufo_writer_tensor(const gufo_writer *w, uint64_t index, uint64_t *offset,
                                 uint64_t *size);
/* The first data_offset bytes of the file: header, metadata, infos, padding.  Lives as long as the
 * writer; NULL before gufo_writer_layout. */
GUFO_API const void *gufo_writer_header(const gufo_writer *w, size_t *size);

/* Opens the output; a writer has one output in its life.  The file is made under a temporary name
 * beside `path`, its full size is reserved (lack of space shows now), and gufo_writer_finish syncs
 * and renames it: a crash leaves the old file or the new one.  The target of a symlink is replaced,
 * not the link; mode and, where permitted, owner are kept.  GUFO_E_EXISTS if the target exists and
 * `replace` is false, or if it is no regular file. */
GUFO_API gufo_status gufo_writer_open_path(gufo_writer *w, const char *path, bool replace,
                                           gufo_error *e);
/* The name of the temporary file, for a signal handler that wants to unlink it; NULL if none.  It
 * is freed by gufo_writer_finish and gufo_writer_free: keep the signals blocked during those. */
GUFO_API const char *gufo_writer_temporary(const gufo_writer *w);
/* Streams to a descriptor (a pipe, a socket, a terminal), which stays the caller's and must block.
 * Data must then come in order; padding is added.  A write that fails ends the output.  A pipe that
 * is closed raises SIGPIPE unless the program ignores it. */
GUFO_API gufo_status gufo_writer_open_fd(gufo_writer *w, int fd, gufo_error *e);

/* Writes bytes [offset, offset + size) of tensor `index`.  To a path from any thread, in any order,
 * and again where that is wanted; to a stream in order.  GUFO_E_RANGE outside the tensor,
 * GUFO_E_ARGUMENT without an output or out of order. */
GUFO_API gufo_status gufo_writer_write(gufo_writer *w, uint64_t index, uint64_t offset,
                                       const void *data, size_t size, gufo_error *e);
/* Copies bytes [offset, offset + size) of a tensor in a file to the same place of tensor `index`: the
 * kernel shares or moves them where both are files and it can, else they are read and written.
 * Threads and errors as in gufo_writer_write and gufo_tensor_read; *read_failed tells which of the
 * two failed. */
GUFO_API gufo_status gufo_writer_copy_data(gufo_writer *w, uint64_t index, uint64_t offset,
                                           const gufo_file *file, const gufo_tensor *tensor,
                                           uint64_t size, bool *read_failed, gufo_error *e);
/* Pads, checks that every tensor got all its bytes (GUFO_E_ARGUMENT names one that did not), syncs
 * and puts the file in place.  On failure nothing is left behind (but what a stream has sent).  One
 * thread. */
GUFO_API gufo_status gufo_writer_finish(gufo_writer *w, gufo_error *e);

#ifdef __cplusplus
}
#endif

#endif
