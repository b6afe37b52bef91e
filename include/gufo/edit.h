/* Changing a file.
 *
 *     gufo_edit *edit = gufo_edit_open("model.gguf", NULL, &error);
 *
 *     gufo_document_set_text(gufo_edit_document(edit), "general.name", "Tiny", &error);
 *     gufo_edit_apply(edit, NULL, NULL, NULL, NULL, &error);
 *     gufo_edit_free(edit);
 *
 * Part 1  metadata     set, remove and rename keys: in place where that is safe
 * Part 2  shards       one file into several, several into one
 * Part 3  forms        byte order, parts of a file, tensors in other formats */
#ifndef GUFO_EDIT_H
#define GUFO_EDIT_H

#include "check.h"
#include "codec.h"
#include "produce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== The simple interface =================================================================== */

typedef struct gufo_edit gufo_edit;
typedef struct gufo_edit_options gufo_edit_options;
typedef struct gufo_edit_target gufo_edit_target;
typedef struct gufo_edit_plan gufo_edit_plan;

/* Opens a regular file and locks it against other edits (flock) until gufo_edit_free.  GUFO_E_IO
 * with EBUSY if another process is editing it, GUFO_E_CHANGED if it has just been replaced,
 * GUFO_E_ARGUMENT if an interrupted edit has to be recovered first; else as gufo_model_open.  `options`
 * may be NULL. */
GUFO_MUST_USE GUFO_API gufo_edit *gufo_edit_open(const char *path, const gufo_edit_options *options,
                                                 gufo_error *error);
/* The result: made from the model, and changed by the caller.  It belongs to the edit.  Where
 * tensors cannot keep their places, only a packed rewrite can write it (gufo_edit_target). */
GUFO_MUST_USE GUFO_API gufo_document *gufo_edit_document(gufo_edit *edit);
/* Writes, once per edit.  Afterwards the file is the old or the new one, also after a crash.
 * During an edit in place the file is not a GGUF file (its first four bytes are zeros), and a
 * journal beside it, FILE.gufo-journal, holds both forms of the metadata.  A failure leaves the old
 * file.  If even that could not be restored, *recover (may be NULL) is true and gufo_edit_recover
 * must be called.  GUFO_E_EXISTS, GUFO_E_CHANGED if the file was changed meanwhile, GUFO_E_STOPPED,
 * and the errors of gufo_document_layout.  `target`, `run` and `done` may be NULL; of `run`, a
 * rewrite uses threads, memory and progress. */
GUFO_MUST_USE GUFO_API gufo_status gufo_edit_apply(gufo_edit *edit, const gufo_edit_target *target,
                                                   const gufo_run *run, gufo_edit_plan *done,
                                                   bool *recover, gufo_error *error);
/* NULL is allowed. */
GUFO_API void gufo_edit_free(gufo_edit *edit);

/* ==== Part 1: metadata ======================================================================= */

/* An edit is a file, a lock on it, and a document that describes the result (document.h).  Nothing
 * is written before gufo_edit_apply, which uses the first of these ways that is possible:
 *
 *     overwrite   the new metadata fits into the place of the old: only that is written
 *     insert      the file system inserts blocks in front, and the metadata grows into them
 *     rewrite     a new file, whose tensor data the kernel shares or copies, takes the name
 *
 * The first two leave tensor data where it is, whatever its size.  They require a file that is not
 * open or mapped elsewhere (a file lease checks this), that has one hard link, and that is not
 * reached through a symlink.  A last key, gufo.padding, fills the room that is left over: it is a
 * string of spaces, which readers ignore and the next edit reuses.
 *
 *     begin    gufo_edit_open
 *     change   gufo_edit_document, and functions of the document, in any order
 *     write    gufo_edit_apply, or gufo_edit_stream
 *
 * A file of version 1 becomes one of version 3.  One thread at a time. */

typedef enum gufo_edit_flags {
    /* The file is only read, and the result goes somewhere else. */
    GUFO_EDIT_READ_ONLY = 1,
} gufo_edit_flags;

typedef struct gufo_edit_options {
    uint32_t flags;                  /* of gufo_edit_flags */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t max_depth;              /* as in gufo_open_options */
    uint64_t reserved[4];            /* must be zero */
} gufo_edit_options;

/* The file as it is.  Views into it are invalid after gufo_edit_apply. */
GUFO_API const gufo_model *gufo_edit_model(const gufo_edit *edit);

/* Reports what the edit breaks: the findings of gufo_model_check_content about the result, without those that the
 * file has already.  For a key or tensor that the edit touches, another message is another finding.
 * Only such findings are reported for a rule that the file breaks at more places than gufo_model_check_content
 * lists, and if the edit makes known an architecture or tokenizer that was not known, because the
 * file could not be judged by it before.  `offset` is GUFO_NO_OFFSET.
 * Call this before gufo_edit_apply; it lays out the document again.  `options` are those of
 * gufo_model_check_content; if they have no allocator, that of the edit is used.  GUFO_E_ARGUMENT for an edit
 * that was applied, and the errors of gufo_model_check_content, gufo_document_layout and
 * gufo_document_header. */
GUFO_API gufo_status gufo_edit_check(gufo_edit *edit, const gufo_check_options *options,
                                     gufo_finding_fn *found, void *context, gufo_error *error);

/* ---- writing -------------------------------------------------------------------------------- */

typedef enum gufo_edit_way {
    GUFO_EDIT_NOTHING = 0, /* there is nothing to change */
    GUFO_EDIT_OVERWRITE = 1,
    GUFO_EDIT_INSERT = 2,
    GUFO_EDIT_REWRITE = 3,
} gufo_edit_way;

/* "nothing", "overwrite", "insert", "rewrite". */
GUFO_API const char *gufo_edit_way_name(gufo_edit_way way);

typedef enum gufo_edit_in_place {
    GUFO_EDIT_IN_PLACE_IF_SAFE = 0,
    /* Also if the file is open elsewhere or has other names: other readers see its bytes move.
     * GUFO_E_ARGUMENT where it is impossible. */
    GUFO_EDIT_IN_PLACE_ALWAYS = 1,
    GUFO_EDIT_IN_PLACE_NEVER = 2,
} gufo_edit_in_place;

typedef struct gufo_edit_target {
    const char *output; /* a new file; NULL: the file itself */
    bool replace;       /* the output may exist */
    gufo_edit_in_place in_place;
    uint64_t reserve; /* bytes of gufo.padding at least, for later edits, where the file grows or is
                       * rewritten; at most GUFO_MAX_RESERVE */
    /* Every tensor gets a new place, in the order of the infos: no gaps, zeros as padding, nothing
     * after the end, version 3.  This requires a rewrite. */
    bool pack;
    /* The result has no gufo.padding: gufo does not use a way of writing that leaves room.
     * GUFO_E_ARGUMENT together with `reserve`. */
    bool no_padding;
    uint64_t reserved[4]; /* must be zero */
} gufo_edit_target;

/* What gufo_edit_apply will do, or has done. */
typedef struct gufo_edit_plan {
    gufo_edit_way way;
    uint64_t old_data_offset;
    uint64_t data_offset; /* a rewrite may choose a later one, so that blocks can be shared */
    uint64_t file_size;
    uint64_t padding; /* bytes of the entry gufo.padding */
    bool relaid; /* every tensor gets another place: the alignment changes, or it was asked for */
    /* One sentence each, empty if there is nothing to say: why the earlier ways were not used, and
     * the risk that GUFO_EDIT_IN_PLACE_ALWAYS accepts. */
    char not_overwritten[160], not_inserted[160], warning[160];
    uint64_t reserved[4];
} gufo_edit_plan;

/* Plans the edit without writing it, and refuses what gufo_edit_apply would: GUFO_E_ARGUMENT for an
 * edit that was applied, and for the file itself where it was opened read-only.  `target` and `out`
 * may be NULL. */
GUFO_API gufo_status gufo_edit_plan_for(gufo_edit *edit, const gufo_edit_target *target,
                                        gufo_edit_plan *out, gufo_error *error);

/* Writes the result to a descriptor (a pipe, a socket, a terminal), which the caller keeps and
 * which must block; only reserve, pack and no_padding of `target` count. */
GUFO_MUST_USE GUFO_API gufo_status gufo_edit_stream(gufo_edit *edit, int fd,
                                                    const gufo_edit_target *target,
                                                    const gufo_run *run, gufo_error *error);

/* ---- after an interruption ------------------------------------------------------------------ */

typedef enum gufo_edit_state {
    GUFO_EDIT_STATE_SETTLED = 0,     /* no edit is pending */
    GUFO_EDIT_STATE_LIVE = 1,        /* the file is being edited in place */
    GUFO_EDIT_STATE_INTERRUPTED = 2, /* until gufo_edit_recover it may not be a GGUF file */
} gufo_edit_state;

/* Whether an edit of the file is pending; ask before the file is read or replaced.  Only a journal
 * that can be trusted counts: a regular file of one name, of the file's owner, root or the user, to
 * which no other user may write.  A missing file and NULL are settled.  Any thread. */
GUFO_API gufo_edit_state gufo_edit_pending(const char *path);

typedef enum gufo_edit_recovery {
    GUFO_EDIT_RECOVERED_NOTHING = 0, /* there was no journal */
    GUFO_EDIT_RECOVERED_OLD = 1,     /* the file is as it was before the edit */
    GUFO_EDIT_RECOVERED_NEW = 2,     /* the edit is complete */
} gufo_edit_recovery;

/* Completes an interrupted edit, or undoes it where it had not begun.  May itself be interrupted
 * and repeated.  A file that has the name of a journal and never was one stays.  GUFO_E_ARGUMENT,
 * and nothing is written, if the journal cannot be trusted, is of another version, or the file has
 * several hard links.  GUFO_E_CHANGED, and nothing is written, if the file matches neither form:
 * then another program has changed it, and the user should remove the journal.  `options`, whose
 * flags must be 0, and `out` may be NULL. */
GUFO_MUST_USE GUFO_API gufo_status gufo_edit_recover(const char *path,
                                                     const gufo_edit_options *options,
                                                     gufo_edit_recovery *out, gufo_error *error);

/* ==== Part 2: shards ========================================================================= */

/* Functions that write a model again: as one file or as several, in another byte order, or only in
 * parts.  Each function plans a job (produce.h), which the caller then inspects and runs.  The
 * input must outlive the job.  NULL options mean {0}. */

typedef struct gufo_split_options {
    /* Limits of a shard; at least one must be given, 0 means no limit.  `max_size` counts all bytes
     * of the file.  A tensor that is larger gets its own shard, and so does metadata. */
    uint64_t max_size, max_tensors;
    bool metadata_alone;             /* no tensor in the first shard */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_split_options;

/* Plans to split a model, which may already be a set, into shards; gufo_job_run takes the prefix of
 * all names.  The first one gets all metadata; each one gets split.no (uint16), split.count
 * (uint16) and split.tensors.count (int32), which are established, general.alignment where the
 * model has it, and gufo.split.id: a uint64 that identifies the shards that belong together
 * (docs/shards.md).  NULL on failure: GUFO_E_ARGUMENT without a limit (as without options),
 * GUFO_E_LIMIT for more than GUFO_MAX_SHARDS shards, GUFO_E_SHARDS for a shard that was opened
 * alone. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_job_split(const gufo_model *input,
                                                const gufo_split_options *options,
                                                gufo_error *error);

typedef struct gufo_merge_options {
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_merge_options;

/* Plans to merge a shard set into one file.  The keys named above are dropped, except the
 * alignment.  gufo_model_open has checked most of the rules about a set; this function checks that the
 * input is a set, and compares gufo.split.id where it is present.  GUFO_E_SHARDS. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_job_merge(const gufo_model *input,
                                                const gufo_merge_options *options,
                                                gufo_error *error);

/* A kind of gufo_job_normalised in words ("gaps between tensors are closed"), NULL for none. */
GUFO_API const char *gufo_normalised_text(gufo_normalised kind);

/* ==== Part 3: forms ========================================================================== */

typedef struct gufo_endian_options {
    gufo_byte_order order;           /* of the result; {0}: little-endian */
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_endian_options;

/* Plans to swap the byte order of a model: of metadata and of every number inside the blocks of
 * every tensor.  A set gives a set.  GUFO_E_TYPE for a tensor whose type is not known,
 * GUFO_E_ARGUMENT if the model has that order already. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_job_endian(const gufo_model *input,
                                                 const gufo_endian_options *options,
                                                 gufo_error *error);

typedef struct gufo_strip_options {
    /* Only what a tokenizer and a converter need: no tensors, and none of the metadata that
     * describes their data (docs/forms.md lists the keys). */
    bool vocabulary_only;
    gufo_select_fn *keeps_tensor; /* whether a tensor stays; NULL: none does */
    void *context;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_strip_options;

/* Plans one file with metadata and some of the tensors, or none. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_job_strip(const gufo_model *input,
                                                const gufo_strip_options *options,
                                                gufo_error *error);

typedef enum gufo_extract_format {
    GUFO_EXTRACT_RAW = 0,         /* nothing but bytes */
    GUFO_EXTRACT_NUMPY = 1,       /* .npy, version 1.0 */
    GUFO_EXTRACT_SAFETENSORS = 2, /* several tensors */
} gufo_extract_format;

typedef struct gufo_extract_options {
    gufo_extract_format format;
    /* F32, F16 or BF16; NULL: the elements stay as they are stored: raw blocks, and in other
     * formats the numbers of types that these have, too.  Whatever else there is becomes F32. */
    const gufo_element_type *type;
    const gufo_allocator *allocator; /* NULL: malloc */
    uint64_t reserved[4];            /* must be zero */
} gufo_extract_options;

/* Plans one file with the tensors of these numbers in the set.  Numbers are little-endian, except
 * raw bytes as stored; shapes have the row last, as these formats require.  GUFO_E_ARGUMENT for
 * several tensors in a format that holds one, GUFO_E_TYPE for a type that cannot be decoded or that
 * the format does not have, GUFO_E_RANGE for a number past the end. */
GUFO_MUST_USE GUFO_API gufo_job *gufo_job_extract(const gufo_model *input, const uint64_t *tensors,
                                                  size_t count, const gufo_extract_options *options,
                                                  gufo_error *error);

#ifdef __cplusplus
}
#endif

#endif
