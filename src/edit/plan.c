/* Which way to write: the first one that is open, with the reasons why others are not. */
#define _GNU_SOURCE /* fstatvfs */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/checked.h"
#include "base/disk.h"
#include "base/error.h"
#include "edit/edit.h"

enum { SENTENCE = 160 };

/* The longest step in which blocks are inserted: odd alignments on odd file systems are not worth
 * more. */
#define LARGEST_STEP ((uint64_t)64 << 20)

/* What is being planned. */
typedef struct choice {
    gufo_edit *edit;
    new_header *header;
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
    const gufo_model *file = c->edit->file;

    if (c->target->output != NULL)
        return "the result goes to another file";
    if (c->plan->relaid)
        return c->edit->lay_anew ? "tensors are laid out anew"
                                 : "the alignment changes, and every tensor with it";
    if (!c->edit->writable)
        return "the file cannot be opened for writing";
    if (gufo_model_facts(file).size < gufo_model_facts(file).data_offset)
        return "the file ends before the place of tensor data";
    if (model_file(file)->source.have < gufo_model_facts(file).data_offset)
        return "the file cannot be mapped";
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

/* ---- overwrite ------------------------------------------------------------------------------ */

static bool choose_overwrite(const choice *c)
{
    uint64_t size = new_header_size(c->header), room = c->plan->old_data_offset;

    if (new_header_fits(c->header, room)) {
        c->plan->way = GUFO_EDIT_OVERWRITE;
        c->plan->data_offset = room;
        return true;
    }
    if (size > room)
        snprintf(c->plan->not_overwritten, SENTENCE,
                 "the new metadata is %" PRIu64 " bytes too long for its place", size - room);
    else
        snprintf(c->plan->not_overwritten, SENTENCE,
                 "%" PRIu64 " bytes would be left over, too few for " GUFO_PADDING_KEY,
                 room - size);
    return false;
}

/* ---- insert --------------------------------------------------------------------------------- */

/* Fewest blocks that give room for the metadata and the reserve. */
static bool choose_insert(const choice *c)
{
    struct statvfs info;
    uint64_t step;

    if (!disk_may_insert(c->edit->fd) || fstatvfs(c->edit->fd, &info) != 0 || info.f_bsize == 0) {
        say(c->plan->not_inserted, "the file system cannot insert blocks");
        return false;
    }
    /* At least one step, else there would be nothing to insert. */
    if (!common_multiple(info.f_bsize, c->header->alignment, &step) || step > LARGEST_STEP ||
        !new_header_place(c->header, c->plan->old_data_offset + step, step, c->target->reserve,
                          &c->plan->data_offset)) {
        say(c->plan->not_inserted, "alignment and blocks do not go together");
        return false;
    }
    c->plan->way = GUFO_EDIT_INSERT;
    return true;
}

/* ---- the choice ----------------------------------------------------------------------------- */

static gufo_status finish_plan(const choice *c, gufo_error *error)
{
    const gufo_model *file = c->edit->file;
    uint64_t size = gufo_model_facts(file).size, begin = gufo_model_facts(file).data_offset;
    uint64_t data = size > begin ? size - begin : 0;

    if (!checked_add(c->plan->data_offset, data, &c->plan->file_size) ||
        c->plan->file_size > INT64_MAX)
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                         "the file would be larger than any file can be");
    if (new_header_lay(c->header, c->edit, c->plan->data_offset, error) != GUFO_OK)
        return error != NULL ? error->code : GUFO_E_MALFORMED;
    c->plan->padding = c->header->padding;
    return c->plan->relaid ? edit_measure_relaid(c->edit, c->header, c->plan, error) : GUFO_OK;
}

static gufo_status rewrite(const choice *c, gufo_error *error)
{
    c->plan->way = GUFO_EDIT_REWRITE;
    if (!new_header_place(c->header, 0, c->header->alignment, c->target->reserve,
                          &c->plan->data_offset))
        return fail_with(error, GUFO_E_RANGE, GUFO_NO_OFFSET,
                         "the file would be larger than any file can be");
    return finish_plan(c, error);
}

static void count_change(void *context, const gufo_edit_change *change)
{
    (void)change;
    ++*(uint64_t *)context;
}

/* Whether the result is the file as it is. */
static gufo_status changes_nothing(const choice *c, bool *nothing, gufo_error *error)
{
    uint64_t changes = 0;
    gufo_status status = gufo_edit_changes(c->edit, count_change, &changes, error);

    *nothing = changes == 0 && !c->plan->relaid && c->target->output == NULL &&
               c->target->reserve == 0 && c->target->in_place != GUFO_EDIT_IN_PLACE_NEVER;
    return status;
}

static gufo_edit_plan begin_plan(const gufo_edit *edit, const new_header *h)
{
    uint64_t begin = gufo_model_facts(edit->file).data_offset;

    return (gufo_edit_plan){.old_data_offset = begin,
                            .data_offset = begin,
                            .file_size = gufo_model_facts(edit->file).size,
                            .relaid = h->relaid};
}

/* A way in place, if there is one. */
static gufo_status choose_in_place(const choice *c, gufo_error *error)
{
    char room[SENTENCE];
    const char *reason = impossible(c);

    if (reason == NULL)
        reason = unwanted(c, room);
    if (reason != NULL) {
        say(c->plan->not_overwritten, reason);
        say(c->plan->not_inserted, reason);
    } else if (choose_overwrite(c) || choose_insert(c))
        return GUFO_OK;
    if (c->target->in_place != GUFO_EDIT_IN_PLACE_ALWAYS)
        return GUFO_OK;
    return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                     "the file cannot be edited in place: %s%s%s", c->plan->not_overwritten,
                     reason == NULL ? ", and " : "", reason == NULL ? c->plan->not_inserted : "");
}

gufo_status edit_choose(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                        gufo_edit_plan *plan, gufo_error *error)
{
    const choice c = {edit, h, target, plan};
    gufo_status status;
    bool nothing;

    if (target->reserve > GUFO_EDIT_MAX_RESERVE)
        return fail_with(error, GUFO_E_ARGUMENT, GUFO_NO_OFFSET,
                         "at most 64 MiB can be reserved for later edits");
    *plan = begin_plan(edit, h);
    status = changes_nothing(&c, &nothing, error);
    if (status != GUFO_OK || nothing)
        return status;
    plan->way = GUFO_EDIT_REWRITE;
    status = choose_in_place(&c, error);
    if (status != GUFO_OK)
        return status;
    if (plan->way != GUFO_EDIT_REWRITE)
        return finish_plan(&c, error);
    edit_give_back(edit);
    return rewrite(&c, error);
}

gufo_status edit_choose_rewrite(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                                gufo_edit_plan *plan, gufo_error *error)
{
    const choice c = {edit, h, target, plan};

    edit_give_back(edit);
    plan->warning[0] = '\0';
    return rewrite(&c, error);
}
