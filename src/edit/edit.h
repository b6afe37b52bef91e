/* An edit of metadata, as its files see it.
 *
 *     open.c      the file, its lock, and what stands against changing it in place
 *     changes.c   the list of changes
 *     header.c    the first bytes of the new file
 *     plan.c      which way to write them
 *     inplace.c   ways 1 and 2, with journal.c
 *     rewrite.c   way 3, and streams
 *     fix.c       findings that have one right answer
 *     recover.c   after an interruption */
#ifndef GUFO_EDIT_EDIT_H
#define GUFO_EDIT_EDIT_H

#include "base/buffer.h"
#include "format/encode.h"
#include "format/file.h"
#include "gufo/edit.h"

/* An entry of the result: an entry of some open file, perhaps under another name.  New values are
 * files, too: of one entry, in memory. */
typedef struct slot {
    const gufo_file *from;
    uint64_t index;  /* in it */
    uint64_t origin; /* the entry of the edited file that it was; NO_ORIGIN: a new one */
    char *name;      /* owned; NULL: as in `from` */
} slot;

#define NO_ORIGIN UINT64_MAX

/* A value that was set. */
typedef struct new_value {
    gufo_writer *writer; /* owns the bytes */
    gufo_file *file;
} new_value;

struct gufo_edit {
    gufo_allocator allocator;
    char *path;      /* as it was given */
    char *real_path; /* symlinks followed */
    int fd;          /* -1: read only */
    bool writable;   /* `fd` is */
    bool leased;
    gufo_file *file;
    records slots;       /* of slot, in the order of the result */
    records values;      /* of new_value */
    char **tensor_names; /* new ones, by index; NULL without any, and for those that stay */
    bool lay_anew;       /* asked for */
    bool applied;
    const char *failed_path; /* `path`, the output's, or NULL */
};

static inline slot *edit_slot(const gufo_edit *edit, uint64_t index)
{
    return records_at(&edit->slots, index);
}

/* ---- changes.c ------------------------------------------------------------------------------ */

/* All entries of the file, gufo.padding left out. */
gufo_status edit_load(gufo_edit *edit, gufo_error *error);
void edit_unload(gufo_edit *edit);

/* The entry of a slot, under its name. */
gufo_entry edit_entry(const slot *s);
gufo_str edit_tensor_name(const gufo_edit *edit, uint64_t index, const gufo_tensor *tensor);

/* ---- header.c ------------------------------------------------------------------------------- */

/* The first bytes of the new file: header, entries, infos.  They can be laid out several times, for
 * different beginnings of the data:
 *
 *     header | entries | gufo.padding | infos | zeros |
 *                      ^ entries_end           fewer than the alignment
 *                                                     ^ data_offset */
typedef struct new_header {
    encoder out; /* up to data_offset once it is laid out */
    encoder infos;
    uint64_t entries_end;
    uint64_t entry_count;
    uint64_t alignment;
    uint32_t version;
    uint64_t padding; /* bytes of the entry */
    /* The alignment changes, and all offsets with it, or that was asked for: then there are no infos
     * in here, and a writer takes the entries. */
    bool relaid;
} new_header;

/* The type and value of an entry, with its bits as they are. */
gufo_status encode_entry_value(encoder *e, const gufo_file *file, uint64_t index,
                               gufo_error *error);

gufo_status new_header_make(new_header *h, const gufo_edit *edit, gufo_error *error);
void new_header_free(new_header *h);

/* Bytes without any padding. */
uint64_t new_header_size(const new_header *h);
/* Whether it can end at `data_offset`, a multiple of the alignment: what is left over is either less
 * than the alignment or enough for a gufo.padding. */
bool new_header_fits(const new_header *h, uint64_t data_offset);
/* The first place that it can end at, with `reserve` bytes of padding at least, among `base`,
 * `base` + `unit` and so on, all multiples of the alignment.  False past the largest file. */
bool new_header_place(const new_header *h, uint64_t base, uint64_t unit, uint64_t reserve,
                      uint64_t *out);
/* Lays it out, and makes sure that it can be read. */
gufo_status new_header_lay(new_header *h, const gufo_edit *edit, uint64_t data_offset,
                           gufo_error *error);

/* The smallest multiple of both; false if it does not fit. */
bool common_multiple(uint64_t a, uint64_t b, uint64_t *out);

/* ---- open.c --------------------------------------------------------------------------------- */

/* Opens for writing if that is permitted, else for reading, and locks.  `*writable` tells. */
gufo_status edit_open_locked(const char *path, int *fd, bool *writable, gufo_error *error);

/* ---- recover.c ------------------------------------------------------------------------------ */

/* GUFO_E_ARGUMENT while the file is being edited, or if an edit of it was interrupted.  `locked`: the
 * lock of the file is ours. */
gufo_status edit_check_settled(const char *path, bool locked, gufo_error *error);

/* Takes the lease of the file.  Returns what stands against writing in place (static, or in `room`),
 * NULL for nothing. */
const char *edit_obstacle(gufo_edit *edit, char room[160]);
void edit_give_back(gufo_edit *edit);

/* ---- plan.c --------------------------------------------------------------------------------- */

/* Fills in the plan, lays `h` out for it, and keeps the lease if the way is in place. */
gufo_status edit_choose(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                        gufo_edit_plan *plan, gufo_error *error);
/* The same for a rewrite, where the way that was planned before could not be gone. */
gufo_status edit_choose_rewrite(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                                gufo_edit_plan *plan, gufo_error *error);

/* ---- inplace.c ------------------------------------------------------------------------------ */

/* What was done to the file. */
typedef enum in_place_outcome {
    IN_PLACE_DONE,
    IN_PLACE_UNTOUCHED, /* the file is the old one */
    IN_PLACE_CLOSED,    /* the same, and a rewrite may still succeed */
    IN_PLACE_BROKEN,    /* the journal stays, and has to be recovered from */
} in_place_outcome;

/* Ways 1 and 2. */
gufo_status edit_write_in_place(gufo_edit *edit, const new_header *h, const gufo_edit_plan *plan,
                                in_place_outcome *outcome, gufo_error *error);

enum { MAGIC_SIZE = 4 }; /* without them it is no GGUF file */

gufo_status edit_sync(int fd, gufo_error *error);
/* Writes the first `size` bytes of a file, in such an order that it is no GGUF file before all of
 * them are on disk. */
gufo_status edit_put_header(int fd, const uint8_t *header, uint64_t size, gufo_error *error);

/* ---- rewrite.c ------------------------------------------------------------------------------ */

/* Fills in what a file that is laid out anew will be like. */
gufo_status edit_measure_relaid(gufo_edit *edit, const new_header *h, gufo_edit_plan *plan,
                                gufo_error *error);

/* Way 3.  `plan` has been chosen; data_offset, padding and file_size may change. */
gufo_status edit_rewrite(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                         gufo_edit_plan *plan, gufo_error *error);

#endif
