/* Which way to write: the first possible one, with the reasons why others are not. */
#define _GNU_SOURCE /* fstatvfs */

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/files/move.h"
#include "edit/edit.h"
#include "edit/journal.h"

enum { SENTENCE = 160 };

/* The longest step in which blocks are inserted: odd alignments on odd file systems are not worth
 * more. */
#define LARGEST_STEP ((uint64_t)64 << 20)

/* What is being planned. */
typedef struct choice {
    gufo_edit *edit;
    const gufo_edit_target *target;
    gufo_edit_plan *plan;
} choice;

const char *gufo_edit_way_name(gufo_edit_way way)
{
    static const char *const names[] = {
        [GUFO_EDIT_NOTHING] = "nothing",
        [GUFO_EDIT_OVERWRITE] = "overwrite",
        [GUFO_EDIT_INSERT] = "insert",
        [GUFO_EDIT_REWRITE] = "rewrite",
    };

    return (size_t)way < sizeof names / sizeof *names ? names[way] : NULL;
}

static void say(char out[SENTENCE], const char *text)
{
    snprintf(out, SENTENCE, "%s", text);
}

/* ---- reasons -------------------------------------------------------------------------------- */

/* Why nothing can be written in place, whatever the caller wishes; NULL if it can. */
static const char *impossible(const choice *c)
{
    const gufo_model *file = c->edit->model;

    if (c->target->output != NULL)
        return "the result goes to another file";
    if (c->plan->relaid)
        return c->target->pack ? "the tensors get a new layout"
                               : "the alignment changes, and every tensor with it";
    if (!c->edit->writable)
        return "the file cannot be opened for writing";
    if (gufo_model_facts(file).alignment > GUFO_MAX_ALIGNMENT)
        return "the alignment is so large that the journal would be, too";
    if (gufo_model_facts(file).size < gufo_model_facts(file).data_offset)
        return "the file ends before its tensor data begins";
    if (model_file(file)->source.have < gufo_model_facts(file).data_offset)
        return "the file cannot be mapped";
    if (!edit_journal_possible(c->edit->real_path))
        return "the name of the file is too long for a journal beside it";
    return NULL;
}

/* Why nothing is to be written in place; NULL if something is. */
static const char *unwanted(const choice *c, char room[SENTENCE])
{
    const char *reason;

    if (c->target->in_place == GUFO_EDIT_IN_PLACE_NEVER)
        return "a new file was asked for";
    reason = edit_obstacle(c->edit, room);
    if (reason == NULL || c->target->in_place != GUFO_EDIT_IN_PLACE_ALWAYS)
        return reason;
    say(c->plan->warning, reason);
    return NULL;
}

/* ---- layouts -------------------------------------------------------------------------------- */

/* Reads the header as any reader will. */
static gufo_status check_readable(const choice *c, gufo_error *error)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_METADATA_ONLY | GUFO_OPEN_INCOMPLETE,
                                       .max_depth = GUFO_LARGEST_DEPTH,
                                       .allocator = &c->edit->allocator};
    gufo_error reason = {0};
    const void *bytes;
    gufo_model *model;
    size_t size;
    uint64_t found;
    gufo_status status = gufo_document_header(c->edit->document, &bytes, &size, error);

    if (status != GUFO_OK)
        return status;
    model = gufo_model_open_memory(bytes, size, &options, &reason);
    if (model == NULL)
        return fail_as(error, &reason);
    found = gufo_model_facts(model).data_offset;
    gufo_model_free(model);
    if (found != c->plan->data_offset)
        return refuse(error, GUFO_E_CHANGED, "the file was changed while it was being edited");
    return GUFO_OK;
}

/* Lays the document out, and notes what comes of it. */
static gufo_status lay_out(const choice *c, const gufo_layout_options *options, gufo_error *error)
{
    gufo_layout layout;
    gufo_status status = gufo_document_layout(c->edit->document, options, &layout, error);

    if (status != GUFO_OK)
        return status;
    c->plan->data_offset = layout.data_offset;
    c->plan->file_size = layout.file_size;
    c->plan->padding = layout.padding;
    return GUFO_OK;
}

/* More of it than is wanted. */
static bool leaves_room(const choice *c)
{
    return c->target->no_padding && c->plan->padding > 0;
}

/* ---- overwrite ------------------------------------------------------------------------------ */

static gufo_status choose_overwrite(const choice *c, gufo_error *error)
{
    uint64_t size = gufo_document_metadata_size(c->edit->document);
    uint64_t room = c->plan->old_data_offset;
    gufo_layout_options options = {.way = GUFO_LAYOUT_AS_SOURCE, .minimum = room};
    gufo_status status = GUFO_OK;

    if (size > room) {
        snprintf(c->plan->not_overwritten, SENTENCE,
                 "the new metadata is %s bytes too long for its place", GROUPED(size - room));
        return GUFO_OK;
    }
    status = lay_out(c, &options, error);
    if (status == GUFO_OK && leaves_room(c))
        snprintf(c->plan->not_overwritten, SENTENCE,
                 "%s bytes would be left over, which " GUFO_PADDING_KEY " would fill",
                 GROUPED(room - size));
    else if (status == GUFO_OK && c->plan->data_offset == room)
        c->plan->way = GUFO_EDIT_OVERWRITE;
    else
        snprintf(c->plan->not_overwritten, SENTENCE,
                 "%s bytes would be left over, too few for " GUFO_PADDING_KEY,
                 GROUPED(room - size));
    return status;
}

/* ---- insert --------------------------------------------------------------------------------- */

/* Fewest blocks that give room for the metadata and the reserve. */
static bool choose_insert(const choice *c)
{
    gufo_layout_options options = {.way = GUFO_LAYOUT_AS_SOURCE, .reserve = c->target->reserve};
    struct statvfs info;
    uint64_t step;

    if (!disk_may_insert(c->edit->fd) || fstatvfs(c->edit->fd, &info) != 0 || info.f_bsize == 0) {
        say(c->plan->not_inserted, "the file system cannot insert blocks");
        return false;
    }
    options.block = info.f_bsize;
    /* At least one step, else there would be nothing to insert. */
    if (!checked_common_multiple(info.f_bsize, gufo_document_alignment(c->edit->document), &step) ||
        step > LARGEST_STEP || !checked_add(c->plan->old_data_offset, step, &options.minimum) ||
        lay_out(c, &options, NULL) != GUFO_OK) {
        say(c->plan->not_inserted, "the alignment does not fit the blocks of the file system");
        return false;
    }
    if (leaves_room(c)) {
        say(c->plan->not_inserted,
            "whole blocks leave room, which " GUFO_PADDING_KEY " would fill");
        return false;
    }
    c->plan->way = GUFO_EDIT_INSERT;
    return true;
}

/* ---- rewrite -------------------------------------------------------------------------------- */

static gufo_status rewrite(const choice *c, bool shared, gufo_error *error)
{
    gufo_layout_options options = {.way =
                                       c->plan->relaid ? GUFO_LAYOUT_PACKED : GUFO_LAYOUT_AS_SOURCE,
                                   .reserve = c->target->reserve,
                                   .block = shared ? MOVE_SHARED_BLOCK : 0};
    gufo_status status;

    c->plan->way = GUFO_EDIT_REWRITE;
    if (c->target->pack && gufo_document_version(c->edit->document) != 3) {
        c->edit->document->encoding.version = 3;
        document_touch(c->edit->document);
    }
    status = lay_out(c, &options, error);
    return status == GUFO_OK ? check_readable(c, error) : status;
}

/* ---- the choice ----------------------------------------------------------------------------- */

static void count_change(void *context, const gufo_change *change)
{
    (void)change;
    ++*(uint64_t *)context;
}

static bool has_padding(const gufo_model *model)
{
    gufo_entry entry;

    return gufo_model_find(model, GUFO_PADDING_KEY, &entry) && document_is_padding(&entry);
}

/* Whether the result is the file as it is. */
static gufo_status changes_nothing(const choice *c, bool *nothing, gufo_error *error)
{
    uint64_t changes = 0;
    gufo_status status = gufo_document_changes(c->edit->document, count_change, &changes, error);

    *nothing = changes == 0 && !c->plan->relaid && c->target->output == NULL &&
               c->target->reserve == 0 && !(c->target->no_padding && has_padding(c->edit->model)) &&
               c->target->in_place != GUFO_EDIT_IN_PLACE_NEVER;
    return status;
}

static gufo_edit_plan begin_plan(const gufo_edit *edit, const gufo_edit_target *target)
{
    gufo_facts facts = gufo_model_facts(edit->model);
    bool realigned = gufo_document_alignment(edit->document) != facts.alignment;

    return (gufo_edit_plan){.old_data_offset = facts.data_offset,
                            .data_offset = facts.data_offset,
                            .file_size = facts.size,
                            .relaid = target->pack || realigned};
}

/* A way in place, if there is one. */
static gufo_status choose_in_place(const choice *c, gufo_error *error)
{
    char room[SENTENCE];
    const char *reason = impossible(c);
    gufo_status status = GUFO_OK;

    if (reason == NULL)
        reason = unwanted(c, room);
    if (reason != NULL) {
        say(c->plan->not_overwritten, reason);
        say(c->plan->not_inserted, reason);
    } else {
        status = choose_overwrite(c, error);
        if (status != GUFO_OK || c->plan->way == GUFO_EDIT_OVERWRITE || choose_insert(c))
            return status;
    }
    if (c->target->in_place != GUFO_EDIT_IN_PLACE_ALWAYS)
        return GUFO_OK;
    return refuse(error, GUFO_E_ARGUMENT, "the file cannot be edited in place: %s%s%s",
                  c->plan->not_overwritten, reason == NULL ? ", and " : "",
                  reason == NULL ? c->plan->not_inserted : "");
}

gufo_status edit_choose(gufo_edit *edit, const gufo_edit_target *target, gufo_edit_plan *plan,
                        gufo_error *error)
{
    const choice c = {edit, target, plan};
    gufo_status status;
    bool nothing;

    if (target->reserve > GUFO_MAX_RESERVE)
        return refuse(error, GUFO_E_ARGUMENT, "at most 64 MiB can be reserved for later edits");
    *plan = begin_plan(edit, target);
    status = changes_nothing(&c, &nothing, error);
    if (status != GUFO_OK || nothing)
        return status;
    plan->way = GUFO_EDIT_REWRITE;
    status = choose_in_place(&c, error);
    if (status != GUFO_OK)
        return status;
    if (plan->way != GUFO_EDIT_REWRITE)
        return check_readable(&c, error);
    edit_give_back(edit);
    return rewrite(&c, false, error);
}

gufo_status edit_choose_rewrite(gufo_edit *edit, const gufo_edit_target *target, bool shared,
                                gufo_edit_plan *plan, gufo_error *error)
{
    const choice c = {edit, target, plan};

    edit_give_back(edit);
    plan->warning[0] = '\0';
    return rewrite(&c, shared, error);
}

/* ---- calls
 * -------------------------------------------------------------------------------------- */

gufo_status edit_check_call(const gufo_edit *edit, const gufo_edit_target *target,
                            gufo_error *error)
{
    if (edit->applied)
        return refuse(error, GUFO_E_ARGUMENT, "the edit was applied already");
    if (edit->fd < 0 && target->output == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "the file was opened read-only");
    if (target->in_place > GUFO_EDIT_IN_PLACE_NEVER)
        return refuse(error, GUFO_E_ARGUMENT,
                      "gufo_edit_target.in_place is %d, which does not exist",
                      (int)target->in_place);
    if (target->no_padding && target->reserve > 0)
        return refuse(error, GUFO_E_ARGUMENT,
                      "room is either left for later edits (reserve) or not (no_padding)");
    return reserved_check(target->reserved, "gufo_edit_target", error);
}
