/* One open file: the interface inside the room; model.h has that for callers.
 *
 * Opening has four stages, each in its own file:
 *
 *     walk.c       header, metadata and tensor infos, front to back: fills `entries` and `tensors`
 *     index.c      names to numbers; keys and names that occur twice: while walking, and at its end
 *     extents.c    places of data: sizes, order, overlaps, the end of the file
 *     open.c       all of them in a row, for each kind of source; the alignment, which an entry sets
 *     open_system.c, open_none.c   open paths and descriptors; refuse both in a build without a system
 *     opening.c    progress, and stopping
 *     access.c     what others ask of an open file; sizes of tensors
 *
 * All of them report faults to `file_fault`, which knows whether the file is being opened strictly
 * (the first fault ends it) or leniently (faults are collected and reading continues). */

#ifndef GUFO_FORMAT_FILE_H
#define GUFO_FORMAT_FILE_H

#include "base/files/source.h"
#include "base/lock.h"
#include "format/file/records.h"
#include "format/rules/rules.h"
#include "gufo/format.h"

/* How the files of one model are opened: the options of the caller, and progress over all of them. */
typedef struct opening_state {
    const gufo_open_options *options;
    mutex lock;    /* of what follows, and of the caller's function */
    uint64_t done; /* bytes of all files */
    bool stopped;
} opening_state;

void opening_init(opening_state *o, const gufo_open_options *options);
void opening_end(opening_state *o);

/* Whether to go on, when a file of which *noted bytes were counted has come to `done`. */
bool opening_note(opening_state *o, uint64_t *noted, uint64_t done);

/* What a file lists: an entry or a tensor.  All offsets count from the start of the file. */
typedef struct file_record {
    uint64_t offset;   /* where it begins, with the length of its name */
    uint32_t name_len; /* of the key or name behind that */
} file_record;

/* One metadata entry: where its parts are. */
typedef struct entry_record {
    file_record record;
    uint64_t value_at;    /* of the number, the text, the first element */
    uint64_t end;         /* the byte after the value */
    uint64_t count;       /* bytes of a string, elements of an array */
    uint8_t type;         /* of gufo_value_type */
    uint8_t element_type; /* of an array */
} entry_record;

#define GUFO_ALIGNMENT_KEY "general.alignment"

enum {
    TENSOR_UNUSABLE = 1, /* lenient only: dims or offset make no sense, so there are no extents */
    TENSOR_SIZE_UNKNOWN = 2, /* size is the room up to the next tensor */
    TENSOR_UNPLACED = 4,     /* lenient only: the offset is not known */
    TENSOR_OVERLAPS = 8      /* lenient only: begins inside the data of another */
};

typedef struct tensor_record {
    file_record record;
    uint64_t dims[GUFO_MAX_DIMS];
    uint64_t offset; /* of the data; from the start of the file once extents are known */
    uint64_t size;
    uint32_t type;
    uint8_t n_dims;
    uint8_t flags;
} tensor_record;

typedef struct gguf_file {
    source source;
    uint32_t number; /* in the list of files that are one model */
    gufo_allocator allocator;
    gufo_encoding encoding;
    uint32_t alignment;
    bool alignment_known; /* false: lenient, and general.alignment makes no sense */
    uint64_t claimed_metadata, claimed_tensors; /* by the header */
    uint64_t infos_end, data_offset, data_end;
    bool metadata_read; /* all of it */
    records entries;    /* of entry_record */
    records tensors;    /* of tensor_record */
    name_index keys, names;

    /* While opening. */
    uint64_t keys_indexed, names_indexed; /* so many entries and tensors */
    uint64_t repeated;                    /* keys and names that occur twice */
    bool cut_short; /* lenient only: too many of these, and what followed was not read */
    bool lenient, metadata_only, as_ggml; /* of gufo_open_flags */
    bool header_alone;                    /* what follows the header of a stream is not read */
    uint64_t max_metadata, max_tensors, max_texts;
    unsigned max_depth; /* of arrays */
    opening_state *opening;
    uint64_t noted; /* bytes that its progress has */
    gufo_finding_fn *on_finding;
    void *finding_context;
    gufo_error *error; /* for strict opening and for failures of the system */
    gufo_status status;

    bool damaged;
    gufo_error damage; /* the first fault of a lenient open */
} gguf_file;

/* Opens file `number` of a model: takes over what `input` has to close, also on failure.  Errors do
 * not name the file.  NULL on failure. */
gguf_file *file_open(const gufo_input *input, opening_state *o, uint32_t number, gufo_error *error);
void file_close(gguf_file *file);
/* Opens the source of a path or a descriptor. */
gufo_status file_open_system(gguf_file *file, const gufo_input *input, bool map, uint64_t limit,
                             gufo_error *error);

/* A fault at `offset` about `subject`.  Returns whether reading may continue: always when lenient;
 * otherwise file->status and the caller's error are set. */
__attribute__((format(printf, 5, 6))) bool file_fault(gguf_file *file, rule_number rule,
                                                      uint64_t offset, gufo_str subject,
                                                      const char *format, ...);

/* The most records of a kind that options let in: `limit`, or what is always the limit. */
static inline uint64_t file_count_limit(uint64_t limit)
{
    return limit == 0 || limit > GUFO_MAX_COUNT ? GUFO_MAX_COUNT : limit;
}

/* Hands a finding about file `shard` to `found`: the message gets the clause of the rule
 * appended. */
void finding_report(gufo_finding_fn *found, void *context, size_t shard, rule_number rule,
                    uint64_t offset, gufo_str subject, const char *message);

/* The stations.  False: stop, with file->status saying whether that is a failure.  What the walk has
 * read since the last call is added to the index, so that names that are repeated without end are found
 * before they fill the memory. */
bool file_walk(gguf_file *file);
bool index_keys(gguf_file *file);
bool index_names(gguf_file *file);

bool extents_find(gguf_file *file);

static inline entry_record *file_entry(const gguf_file *file, uint64_t index)
{
    return records_at(&file->entries, index);
}

static inline tensor_record *file_tensor(const gguf_file *file, uint64_t index)
{
    return records_at(&file->tensors, index);
}

/* What the public functions report about one file.  False past the end, or if none exists. */
bool file_entry_at(const gguf_file *file, uint64_t index, gufo_entry *out);
bool file_entry_find(const gguf_file *file, gufo_str key, gufo_entry *out);
bool file_tensor_at(const gguf_file *file, uint64_t index, gufo_tensor *out);
/* Bytes [offset, offset + size) of the file.  GUFO_E_RANGE outside. */
gufo_status file_read(const gguf_file *file, uint64_t offset, void *out, size_t size,
                      gufo_error *error);

/* The indices of the tensors whose place is known, *count of them, in the order of their data: to
 * be freed with the file's allocator; NULL without memory. */
uint32_t *order_by_offset(const gguf_file *file, uint64_t *count);

/* Whether all bytes of a tensor are present. */
bool tensor_complete(const gguf_file *file, const tensor_record *tensor);

/* The key or name of a record, as a view into the file. */
gufo_str file_name(const gguf_file *file, const file_record *record);

/* Whether open accepts an alignment: a multiple of 8, or a power of two as writers of today's files
 * understand it. */
bool alignment_acceptable(uint64_t alignment);

/* Elements and bytes from type and dims.  False if they, or any stride, do not fit into 63 bits;
 * dims of zero cannot hide that.  *size is 0 where the layout of the type is not known. */
bool tensor_measure(uint32_t type, uint32_t n_dims, const uint64_t *dims, uint64_t *elements,
                    uint64_t *size);
/* Whether a row of dims[0] elements fills whole blocks; true where that is not known. */
bool tensor_rows_fill_blocks(uint32_t type, uint32_t n_dims, const uint64_t *dims);
/* Both, and too many dims, as failures of a tensor; for a new one removed types are one, too. */
gufo_status tensor_check_shape(gufo_str name, uint32_t type, uint32_t n_dims, const uint64_t *dims,
                               bool is_new, uint64_t *elements, uint64_t *size, gufo_error *error);

/* ---- what may be written ------------------------------------------------------------------------ */

/* What may be written: the rules for new content, and the looser ones for copied content, so that
 * every file that opens can be written again. */
typedef enum content_rules {
    CONTENT_NEW,     /* all rules of the specification */
    CONTENT_AS_READ, /* what gufo_model_open asks for */
    CONTENT_AS_GGML, /* what it asks for with GUFO_OPEN_AS_GGML */
} content_rules;

gufo_status content_check_key(gufo_str key, content_rules rules, gufo_error *error);
/* The name of a tensor. */
gufo_status content_check_name(gufo_str name, content_rules rules, gufo_error *error);

/* A value for `key`: that its type exists, the text of a string, the range of a number, and what
 * the alignment may be.  Of an array, only that it is not the alignment. */
gufo_status content_check_value(gufo_str key, const gufo_value *value, content_rules rules,
                                gufo_error *error);

/* Checks type and dims of tensor `name`, and that `*size` is right; fills it in if it was 0 and can
 * be computed. */
gufo_status content_check_shape(gufo_str name, uint32_t type, uint32_t n_dims, const uint64_t *dims,
                                uint64_t *size, content_rules rules, gufo_error *error);

/* ---- files of the draft that came before version 1 ---------------------------------------------- */

#define DRAFT_KIND                                                                           \
    "a file of the draft of GGUF that was proposed before version 1 (its values have their " \
    "length before them), which no program reads; convert the original model"

/* Whether the first bytes of a file, whatever its magic number, are those of the draft.  What tells
 * is the first two entries, which `size` should cover. */
bool draft_recognise(const void *file, uint64_t size);

#endif
