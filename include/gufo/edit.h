/* Floor 4: changing a file.
 *
 * Part 1  metadata     set, remove and rename keys: in place where that is safe
 * Part 2  shards       one file into several, several into one
 * Part 3  forms        byte order, parts of a file, tensors in other formats */
#ifndef GUFO_EDIT_H
#define GUFO_EDIT_H

#include "produce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Part 1: metadata ======================================================================= */

/* An edit is a file and a list of changes to its metadata.  Nothing is written before
 * gufo_edit_apply, which takes the first of these ways that is open:
 *
 *     overwrite   the new metadata fits into the place of the old: only that is written
 *     insert      the file system inserts blocks in front, and the metadata grows into them
 *     rewrite     a new file, whose tensor data the kernel shares or copies, takes the name
 *
 * The first two leave tensor data where it is, whatever its size.  They are for a file that nobody
 * else has open or mapped (a lease of the system tells), that has one hard link, and that is not
 * reached through a symlink.  Room that is left over is filled by a last key, gufo.padding: a string
 * of spaces, which readers ignore and the next edit takes back.
 *
 *     begin    gufo_edit_open
 *     change   gufo_edit_set, gufo_edit_remove ..., in any order
 *     write    gufo_edit_apply, or gufo_edit_stream
 *
 * A file of version 1 becomes one of version 3.  One thread at a time. */
typedef struct gufo_edit gufo_edit;

typedef enum gufo_edit_flags {
    /* The file is only read, and the result goes somewhere else. */
    GUFO_EDIT_READ_ONLY = 1,
} gufo_edit_flags;

typedef struct gufo_edit_options {
    uint32_t flags;                  /* of gufo_edit_flags */
    const gufo_allocator *allocator; /* NULL: malloc */
} gufo_edit_options;

/* Opens a regular file and locks it against other edits (flock) until gufo_edit_close.  GUFO_E_IO
 * with EBUSY if somebody else edits it, GUFO_E_CHANGED if it has just been replaced, GUFO_E_ARGUMENT
 * if an interrupted edit has to be recovered first; else as gufo_open.  `options` may be NULL. */
GUFO_API gufo_edit *gufo_edit_open(const char *path, const gufo_edit_options *options,
                                   gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_edit_close(gufo_edit *edit);
/* The file as it is.  Views into it are void after gufo_edit_apply. */
GUFO_API const gufo_model *gufo_edit_file(const gufo_edit *edit);
/* Its path with all symlinks followed. */
GUFO_API const char *gufo_edit_path(const gufo_edit *edit);

/* ---- changes -------------------------------------------------------------------------------- */

/* Gives a key this value, in exactly this type.  A key that exists keeps its place, a new one comes
 * last.  Everything is copied.  Refused as gufo_document_set refuses it; and GUFO_E_ARGUMENT for
 * gufo.padding, which edits make themselves. */
GUFO_API gufo_status gufo_edit_set(gufo_edit *edit, const char *key, const gufo_value *value,
                                   gufo_error *error);
GUFO_API gufo_status gufo_edit_set_array(gufo_edit *edit, const char *key, const gufo_items *items,
                                         gufo_error *error);

typedef bool gufo_edit_select_fn(void *context, gufo_str key);

/* Removes every key that `select` chooses; *removed is their number. */
GUFO_API void gufo_edit_remove(gufo_edit *edit, gufo_edit_select_fn *select, void *context,
                               uint64_t *removed);
/* Gives a key another name; it keeps its place.  GUFO_E_NOT_FOUND, GUFO_E_EXISTS. */
GUFO_API gufo_status gufo_edit_rename(gufo_edit *edit, const char *from, const char *to,
                                      gufo_error *error);
GUFO_API gufo_status gufo_edit_rename_tensor(gufo_edit *edit, const char *from, const char *to,
                                             gufo_error *error);
/* Sets every key of another file that `select` chooses, with its bits as they are.  The file must
 * live as long as the edit. */
GUFO_API gufo_status gufo_edit_copy(gufo_edit *edit, const gufo_model *other,
                                    gufo_edit_select_fn *select, void *context, uint64_t *copied,
                                    gufo_error *error);

/* Gives every tensor its place anew, in the order of the infos: no gaps, zeros for padding, nothing
 * behind the end, version 3.  That takes a rewrite. */
GUFO_API void gufo_edit_lay_anew(gufo_edit *edit);

/* Does what a finding says is the one right answer (format.h); nothing if there is none. */
GUFO_API gufo_status gufo_edit_fix(gufo_edit *edit, const gufo_fix *fix, gufo_error *error);

/* The value that a key has after all changes so far. */
GUFO_API bool gufo_edit_find(const gufo_edit *edit, const char *key, gufo_value *out);

typedef enum gufo_edit_change_kind {
    GUFO_EDIT_REMOVED,
    GUFO_EDIT_RENAMED,
    GUFO_EDIT_CHANGED, /* another value or type */
    GUFO_EDIT_ADDED,
    GUFO_EDIT_TENSOR_RENAMED,
} gufo_edit_change_kind;

/* One difference between the file and the result.  Lives only during the call that hands it over. */
typedef struct gufo_edit_change {
    gufo_edit_change_kind kind;
    gufo_str old_name, new_name;             /* the same unless renamed */
    const gufo_value *old_value, *new_value; /* NULL where there is none */
} gufo_edit_change;

typedef void gufo_edit_change_fn(void *context, const gufo_edit_change *change);

/* Hands over all differences: keys in the order of the file, new ones last, then tensors. */
GUFO_API gufo_status gufo_edit_changes(const gufo_edit *edit, gufo_edit_change_fn *visit,
                                       void *context, gufo_error *error);

/* ---- writing -------------------------------------------------------------------------------- */

typedef enum gufo_edit_way {
    GUFO_EDIT_NOTHING, /* there is nothing to change */
    GUFO_EDIT_OVERWRITE,
    GUFO_EDIT_INSERT,
    GUFO_EDIT_REWRITE,
} gufo_edit_way;

/* "nothing", "overwrite", "insert", "rewrite". */
GUFO_API const char *gufo_edit_way_name(gufo_edit_way way);

typedef enum gufo_edit_in_place {
    GUFO_EDIT_IN_PLACE_IF_SAFE,
    /* Also where others have the file open or other names for it: they see its bytes move.
     * GUFO_E_ARGUMENT where it is impossible. */
    GUFO_EDIT_IN_PLACE_ALWAYS,
    GUFO_EDIT_IN_PLACE_NEVER,
} gufo_edit_in_place;

/* All metadata is in memory while it is written, padding included. */
#define GUFO_EDIT_MAX_RESERVE (UINT64_C(64) << 20)

typedef struct gufo_edit_target {
    const char *output; /* a new file; NULL: the file itself */
    bool replace;       /* the output may exist */
    gufo_edit_in_place in_place;
    uint64_t reserve; /* bytes of gufo.padding at least, for later edits, where the file grows or is
                       * rewritten; at most GUFO_EDIT_MAX_RESERVE */
    gufo_progress_fn *progress; /* may be NULL */
    void *progress_context;
} gufo_edit_target;

/* What gufo_edit_apply does, or has done. */
typedef struct gufo_edit_plan {
    gufo_edit_way way;
    uint64_t old_data_offset;
    uint64_t data_offset; /* a rewrite may choose a later one, so that blocks can be shared */
    uint64_t file_size;
    uint64_t padding; /* bytes of the entry gufo.padding */
    bool relaid; /* every tensor gets another place: the alignment changes, or it was asked for */
    /* One sentence each, empty if there is nothing to say: why the ways before were not taken, and
     * what GUFO_EDIT_IN_PLACE_ALWAYS goes ahead against. */
    char not_overwritten[160], not_inserted[160], warning[160];
} gufo_edit_plan;

/* Tells the way without taking it.  `target` may be NULL. */
GUFO_API gufo_status gufo_edit_plan_for(gufo_edit *edit, const gufo_edit_target *target,
                                        gufo_edit_plan *out, gufo_error *error);

/* Writes, once per edit.  Afterwards the file is the old or the new one, also after a crash: for the
 * time that an edit in place takes, the file is no GGUF file (its first four bytes are zeros), and
 * a journal beside it, FILE.gufo-journal, holds both forms of the metadata.  What a failure leaves is
 * the old file; where not even that could be put back, *recover (may be NULL) is true and
 * gufo_edit_recover has to be called.  GUFO_E_EXISTS, GUFO_E_CHANGED if the file was changed by others
 * meanwhile, GUFO_E_STOPPED.  `target` and `done` may be NULL. */
GUFO_API gufo_status gufo_edit_apply(gufo_edit *edit, const gufo_edit_target *target,
                                     gufo_edit_plan *done, bool *recover, gufo_error *error);

/* The file that the failure of gufo_edit_apply or gufo_edit_stream is about: the input's path or the
 * output's, as they were given; NULL if that is not known.  Lives as long as the edit. */
GUFO_API const char *gufo_edit_failed_path(const gufo_edit *edit);

/* Writes the result to a descriptor (a pipe, a socket, a terminal), which stays the caller's and
 * must block; only reserve and progress of `target` count. */
GUFO_API gufo_status gufo_edit_stream(gufo_edit *edit, int fd, const gufo_edit_target *target,
                                      gufo_error *error);

/* ---- after an interruption ------------------------------------------------------------------ */

typedef enum gufo_edit_state {
    GUFO_EDIT_STATE_SETTLED = 0,     /* nothing is known of an edit */
    GUFO_EDIT_STATE_LIVE = 1,        /* the file is being edited in place */
    GUFO_EDIT_STATE_INTERRUPTED = 2, /* until gufo_edit_recover it may not be a GGUF file */
    GUFO_EDIT_STATE_OLDER = 3, /* the same, by an older version of the library: it has to recover */
} gufo_edit_state;

/* What is to be known before the file is read or replaced.  Only a journal that can be trusted
 * counts: a regular file of one name, of the file's owner, root or the user, to which nobody else may
 * write.  Any thread. */
GUFO_API gufo_edit_state gufo_edit_pending(const char *path);

typedef enum gufo_edit_recovery {
    GUFO_EDIT_RECOVERED_NOTHING, /* there was no journal */
    GUFO_EDIT_RECOVERED_OLD,     /* the file is as it was before the edit */
    GUFO_EDIT_RECOVERED_NEW,     /* the edit is complete */
} gufo_edit_recovery;

/* Completes an interrupted edit, or takes it back where it had not begun.  May itself be interrupted
 * and repeated.  GUFO_E_ARGUMENT, and nothing is written, if the journal cannot be trusted, is of an
 * older version, or the file has several hard links.  GUFO_E_CHANGED, and nothing is written, if the file is neither: then somebody has
 * changed it, and the journal should be removed by hand.  `out` may be NULL. */
GUFO_API gufo_status gufo_edit_recover(const char *path, gufo_edit_recovery *out,
                                       gufo_error *error);

/* ==== Part 2: shards ========================================================================= */

/* A model that is to be written again: as one file or as several, in another byte order, or only
 * parts of it.  It is planned first, so that all that can be refused is refused before anything is
 * written, and then written:
 *
 *     plan     gufo_copy_split, _merge, _endian, _strip, _extract
 *     look     gufo_copy_output_count, gufo_copy_output_at, gufo_copy_normalised ...
 *     write    gufo_copy_run or gufo_copy_stream, once
 *
 * The input must outlive the copy.  One thread at a time; writing uses several. */
typedef struct gufo_copy gufo_copy;

GUFO_API void gufo_copy_free(gufo_copy *copy); /* NULL is allowed */

typedef struct gufo_split_options {
    /* Bounds of a shard; at least one must be given, 0 is none.  `max_size` counts all bytes of the
     * file.  A tensor that is larger makes a shard of its own, and so does metadata. */
    uint64_t max_size, max_tensors;
    bool metadata_alone;             /* no tensor in the first shard */
    const gufo_allocator *allocator; /* NULL: malloc */
} gufo_split_options;

/* Plans to divide a model, which may be a set already, into shards.  The first one gets all
 * metadata; each one gets split.no (uint16), split.count (uint16) and split.tensors.count (int32),
 * which are established, general.alignment where the model has it, and gufo.split.id: a uint64 that
 * tells which shards belong together (docs/shards.md).  NULL on failure: GUFO_E_ARGUMENT without a
 * bound, GUFO_E_LIMIT for more than GUFO_MAX_SHARDS shards. */
GUFO_API gufo_copy *gufo_copy_split(const gufo_model *input, const gufo_split_options *options,
                                    gufo_error *error);

/* Plans to make one file of a shard set.  The keys named above are dropped, but for the alignment.
 * gufo_open has checked most of what can be wrong with a set; this checks that the input is
 * one, and gufo.split.id where there is one.  GUFO_E_SHARDS. */
GUFO_API gufo_copy *gufo_copy_merge(const gufo_model *input, const gufo_allocator *allocator,
                                    gufo_error *error);

typedef struct gufo_copy_output {
    uint64_t size; /* of the file */
    uint64_t tensor_count;
    uint64_t data_size; /* bytes of tensors, without padding */
} gufo_copy_output;

/* The files that will be written; false past the end. */
GUFO_API size_t gufo_copy_output_count(const gufo_copy *copy);
GUFO_API bool gufo_copy_output_at(const gufo_copy *copy, size_t index, gufo_copy_output *out);
/* The path of output `index` for what gufo_copy_run is given as `path`.  Writes at most `size` bytes
 * with the terminator and returns the bytes that are needed without it, like snprintf. */
GUFO_API size_t gufo_copy_output_path(const gufo_copy *copy, const char *path, size_t index,
                                      char *out, size_t size);

/* Of gufo_normalised; each kind in words ("gaps between tensors are closed"), NULL for none. */
GUFO_API uint32_t gufo_copy_normalised(const gufo_copy *copy);
GUFO_API const char *gufo_normalised_text(gufo_normalised kind);

typedef struct gufo_copy_run_options {
    bool replace;               /* outputs that exist */
    unsigned threads;           /* 0: all cores; never more than their buffers may fill (24 MiB) */
    gufo_cpu cpu;               /* for what is decoded */
    gufo_progress_fn *progress; /* may be NULL */
    void *progress_context;
} gufo_copy_run_options;

/* Writes the files: `path` is the prefix of all names for a split, the path of the first shard where
 * a set gives a set (its name must say how many there are), else that of the one output.
 * All of them appear or none: they are made under temporary names beside their targets, space is
 * reserved for all before the first byte is written, and the first shard, without which there is no
 * set, gets its name last, while the old shards lie aside.  So a crash leaves the old set, the new one
 * or none that opens, and the same call finishes it (docs/shards.md).  Bytes that do not change are
 * moved by the kernel where it can.  On failure the old files are there, or nothing is left.
 * GUFO_E_EXISTS for an output that exists, unless `replace`: but shards that an interrupted call has
 * left without a first one are replaced.  GUFO_E_ARGUMENT for one that is the input or the same file
 * as another output, beside which the journal of an edit lies, or where something that is not the
 * user's own lies where the old file would be put aside; GUFO_E_CHANGED if the input was changed meanwhile, GUFO_E_STOPPED. */
GUFO_API gufo_status gufo_copy_run(gufo_copy *copy, const char *path,
                                   const gufo_copy_run_options *options, gufo_error *error);
/* Writes the one output to a descriptor that takes bytes in order (a pipe, a terminal); what was
 * sent before a failure stays sent. */
GUFO_API gufo_status gufo_copy_stream(gufo_copy *copy, int fd, const gufo_copy_run_options *options,
                                      gufo_error *error);
/* The file that the failure of either was about; NULL if none.  Lives as long as the copy. */
GUFO_API const char *gufo_copy_failed_path(const gufo_copy *copy);
/* The temporary files while gufo_copy_run works, for a signal handler: a list of
 * gufo_copy_output_count paths, NULL where there is none at the moment.  Lives as long as the copy. */
GUFO_API const char *volatile const *gufo_copy_temporaries(const gufo_copy *copy);

/* ==== Part 3: forms ========================================================================== */

/* Plans to turn the byte order of a model: of metadata and of every number inside the blocks of
 * every tensor.  A set gives a set.  GUFO_E_TYPE for a tensor whose type is not known,
 * GUFO_E_ARGUMENT if the model has that order already. */
GUFO_API gufo_copy *gufo_copy_endian(const gufo_model *input, gufo_byte_order order,
                                     const gufo_allocator *allocator, gufo_error *error);

typedef struct gufo_strip_options {
    /* Only what a tokenizer and a converter need: no tensors, and none of the metadata that
     * describes their data (docs/forms.md lists the keys). */
    bool vocabulary_only;
    /* Whether a tensor stays; NULL: none does. */
    bool (*keeps_tensor)(void *context, gufo_str name);
    void *context;
    const gufo_allocator *allocator; /* NULL: malloc */
} gufo_strip_options;

/* Plans one file with metadata and some of the tensors, or none. */
GUFO_API gufo_copy *gufo_copy_strip(const gufo_model *input, const gufo_strip_options *options,
                                    gufo_error *error);

typedef enum gufo_extract_format {
    GUFO_EXTRACT_RAW = 0,     /* nothing but bytes */
    GUFO_EXTRACT_NUMPY,       /* .npy, version 1.0 */
    GUFO_EXTRACT_SAFETENSORS, /* several tensors */
} gufo_extract_format;

/* Keep the elements as they are stored: raw blocks, and in other formats the numbers of types that
 * these have, too.  Whatever else there is becomes F32. */
#define GUFO_EXTRACT_AS_STORED UINT32_MAX

typedef struct gufo_extract_options {
    gufo_extract_format format;
    uint32_t type;                   /* GUFO_TYPE_F32, _F16, _BF16 or GUFO_EXTRACT_AS_STORED */
    const gufo_allocator *allocator; /* NULL: malloc */
} gufo_extract_options;

/* Plans one file with the tensors of these numbers in the set.  Numbers are little-endian, but for
 * raw bytes as stored; shapes have the row last, as these formats want it.  GUFO_E_ARGUMENT for
 * several tensors in a format that holds one, GUFO_E_TYPE for a type that cannot be decoded or that
 * the format does not have, GUFO_E_RANGE for a number past the end. */
GUFO_API gufo_copy *gufo_copy_extract(const gufo_model *input, const uint64_t *tensors,
                                      size_t count, const gufo_extract_options *options,
                                      gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
