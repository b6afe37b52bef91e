/* Way 3: a new file.
 *
 * The tensor data is moved as it is, gaps and unknown types included, by the kernel where it can.
 * Where it can share blocks (btrfs, XFS), the data begins as far into a block as it did before, so
 * that all of it is shared.  Another alignment gives every tensor a new place: then a writer lays
 * the file out anew. */
#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/move.h"
#include "base/output.h"
#include "edit/edit.h"
#include "format/writer.h"

enum { BUFFER = 1 << 20 };

/* Between two reports of progress: a multiple of every block. */
#define STEP ((uint64_t)64 << 20)

/* ---- progress ------------------------------------------------------------------------------- */

static gufo_status report(const gufo_edit_target *target, uint64_t done, uint64_t total,
                          gufo_error *error)
{
    if (target->progress == NULL || target->progress(target->progress_context, done, total))
        return GUFO_OK;
    return fail_with(error, GUFO_E_STOPPED, GUFO_NO_OFFSET, "stopped");
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- a new header before the same data ------------------------------------------------------ */

/* A rewrite on its way. */
typedef struct rewriting {
    gufo_edit *edit;
    new_header *header;
    const gufo_edit_target *target;
    gufo_edit_plan *plan;
    output out;
    uint64_t data; /* bytes */
} rewriting;

static void blame_input(const rewriting *r)
{
    r->edit->failed_path = r->edit->path;
}

static gufo_status check_unchanged(const rewriting *r, gufo_error *error)
{
    gufo_status status = gufo_file_unchanged(r->edit->file, error);

    if (status != GUFO_OK)
        blame_input(r);
    return status;
}

/* Whether the file systems let the new file share blocks of the old one: asks by doing it. */
static bool can_share(const rewriting *r)
{
    const source *input = &r->edit->file->source;

    return input->fd >= 0 && r->data >= MOVE_SHARED_BLOCK &&
           disk_clone(input->fd, 0, r->out.fd, 0, MOVE_SHARED_BLOCK) == 0;
}

/* Moves the beginning of the data to where blocks can be shared. */
static gufo_status move_to_shared(const rewriting *r, gufo_error *error)
{
    uint64_t unit, place;

    if (!common_multiple(MOVE_SHARED_BLOCK, r->header->alignment, &unit) ||
        !new_header_place(r->header, r->plan->old_data_offset % unit, unit, r->target->reserve,
                          &place))
        return GUFO_OK;
    r->plan->data_offset = place;
    r->plan->file_size = place + r->data;
    if (new_header_lay(r->header, r->edit, place, error) != GUFO_OK)
        return error != NULL ? error->code : GUFO_E_MALFORMED;
    r->plan->padding = r->header->padding;
    return GUFO_OK;
}

/* Lack of space shows now, unless blocks are shared: then it is not needed. */
static gufo_status make_room(const rewriting *r, bool shared, gufo_error *error)
{
    uint64_t size = r->plan->file_size;
    int failure = ENOSYS;

    if (!shared) {
        do
            failure = disk_reserve(r->out.fd, size) == 0 ? 0 : errno;
        while (failure == EINTR);
    }
    if (shared || failure == EINVAL || failure == EOPNOTSUPP)
        failure = disk_resize(r->out.fd, size) == 0 ? 0 : errno;
    return failure == 0 ? GUFO_OK : fail_io(error, failure, "cannot reserve space");
}

static gufo_status move_data(const rewriting *r, gufo_error *error)
{
    const source *input = &r->edit->file->source;
    void *space = mem_alloc(&r->edit->allocator, BUFFER);
    gufo_status status = space != NULL ? GUFO_OK : fail_memory(error);
    bool read_failed;

    /* The first step ends where a block does, so that all others begin with one. */
    for (uint64_t done = 0, step; status == GUFO_OK && done < r->data; done += step) {
        uint64_t from = r->plan->old_data_offset + done;

        step = smaller(STEP - from % STEP, r->data - done);
        status = move_bytes(input, from, step, r->out.fd, r->plan->data_offset + done, space,
                            BUFFER, &read_failed, error);
        if (status != GUFO_OK && read_failed)
            blame_input(r);
        if (status == GUFO_OK)
            status = report(r->target, done + step, r->data, error);
    }
    mem_free(&r->edit->allocator, space);
    return status;
}

static gufo_status fill(const rewriting *r, gufo_error *error)
{
    bool shared = can_share(r);
    gufo_status status = shared ? move_to_shared(r, error) : GUFO_OK;

    if (status == GUFO_OK)
        status = make_room(r, shared, error);
    if (status == GUFO_OK)
        status = output_write(&r->out, 0, r->header->out.out.data, r->header->out.out.len, error);
    if (status == GUFO_OK)
        status = move_data(r, error);
    return status == GUFO_OK ? check_unchanged(r, error) : status;
}

static gufo_status rewrite_same(rewriting *r, const char *path, bool replace,
                                const output_guard *guard, gufo_error *error)
{
    gufo_status status = output_open(&r->out, path, replace, 0, guard, &r->edit->allocator, error);

    if (status != GUFO_OK)
        return status;
    status = fill(r, error);
    if (status == GUFO_OK)
        return output_commit(&r->out, error);
    output_discard(&r->out);
    return status;
}

/* ---- another alignment ---------------------------------------------------------------------- */

/* Plans a file with the entries of the new header and the tensors of the old file. */
static gufo_status plan_tensors(const gufo_edit *edit, gufo_writer *w, const gufo_file *metadata,
                                gufo_error *error)
{
    gufo_status status = gufo_writer_copy_metadata(w, metadata, error);
    gufo_tensor tensor;

    for (uint64_t i = 0; status == GUFO_OK && gufo_tensor_at(edit->file, i, &tensor); i++)
        status = gufo_writer_add_tensor(w, edit_tensor_name(edit, i, &tensor), tensor.type,
                                        tensor.n_dims, tensor.dims, tensor.size, error);
    return status;
}

static gufo_writer *plan_anew(const gufo_edit *edit, const new_header *h, gufo_error *error)
{
    const gufo_open_options open_options = {.flags = GUFO_OPEN_METADATA_ONLY,
                                            .allocator = &edit->allocator};
    const gufo_writer_options options = {.version = h->version,
                                         .byte_order = gufo_file_byte_order(edit->file),
                                         .flags = GUFO_WRITER_AS_READ,
                                         .allocator = &edit->allocator};
    gufo_file *metadata = gufo_open_memory(h->out.out.data, h->out.out.len, &open_options, error);
    gufo_writer *w = metadata != NULL ? gufo_writer_new(&options, error) : NULL;

    if (w != NULL && plan_tensors(edit, w, metadata, error) != GUFO_OK) {
        gufo_writer_free(w);
        w = NULL;
    }
    gufo_close(metadata);
    return w;
}

static gufo_status copy_tensor(const rewriting *r, gufo_writer *w, uint64_t index, uint64_t *done,
                               gufo_error *error)
{
    gufo_status status = GUFO_OK;
    gufo_tensor tensor;
    bool read_failed;

    (void)gufo_tensor_at(r->edit->file, index, &tensor);
    for (uint64_t at = 0, step; status == GUFO_OK && at < tensor.size; at += step) {
        step = smaller(STEP, tensor.size - at);
        status =
            gufo_writer_copy_data(w, index, at, r->edit->file, &tensor, step, &read_failed, error);
        if (status != GUFO_OK && read_failed)
            blame_input(r);
        *done += step;
        if (status == GUFO_OK)
            status = report(r->target, *done, r->data, error);
    }
    return status;
}

/* For a writer whose output is open. */
static gufo_status copy_tensors(const rewriting *r, gufo_writer *w, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t done = 0;

    for (uint64_t i = 0; status == GUFO_OK && i < gufo_tensor_count(r->edit->file); i++)
        status = copy_tensor(r, w, i, &done, error);
    if (status == GUFO_OK)
        status = check_unchanged(r, error);
    return status == GUFO_OK ? gufo_writer_finish(w, error) : status;
}

static gufo_status lay_anew(const gufo_edit *edit, const new_header *h, gufo_edit_plan *plan,
                            gufo_writer **w, gufo_error *error)
{
    gufo_layout layout;
    gufo_status status;

    *w = plan_anew(edit, h, error);
    if (*w == NULL)
        return error != NULL ? error->code : GUFO_E_MALFORMED;
    status = gufo_writer_layout(*w, &layout, error);
    if (status == GUFO_OK) {
        plan->data_offset = layout.data_offset;
        plan->file_size = layout.file_size;
    }
    return status;
}

gufo_status edit_measure_relaid(gufo_edit *edit, const new_header *h, gufo_edit_plan *plan,
                                gufo_error *error)
{
    gufo_writer *w;
    gufo_status status = lay_anew(edit, h, plan, &w, error);

    gufo_writer_free(w);
    return status;
}

static gufo_status rewrite_anew(const rewriting *r, const char *path, bool replace,
                                const output_guard *guard, gufo_error *error)
{
    gufo_writer *w;
    gufo_status status = lay_anew(r->edit, r->header, r->plan, &w, error);

    if (status == GUFO_OK)
        status = writer_open_guarded(w, path, replace, guard, error);
    if (status == GUFO_OK)
        status = copy_tensors(r, w, error);
    gufo_writer_free(w);
    return status;
}

/* ---- both ----------------------------------------------------------------------------------- */

static rewriting begin(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                       gufo_edit_plan *plan)
{
    uint64_t size = gufo_file_size(edit->file), offset = gufo_file_data_offset(edit->file);

    return (rewriting){.edit = edit,
                       .header = h,
                       .target = target,
                       .plan = plan,
                       .data = size > offset ? size - offset : 0};
}

gufo_status edit_rewrite(gufo_edit *edit, new_header *h, const gufo_edit_target *target,
                         gufo_edit_plan *plan, gufo_error *error)
{
    rewriting r = begin(edit, h, target, plan);
    const char *path = target->output != NULL ? target->output : edit->path;
    bool replace = target->output == NULL || target->replace;
    output_guard guard = {.allocator = &edit->allocator};
    gufo_status status = GUFO_OK;

    if (target->output != NULL)
        status = guard_add_path(&guard, edit->path, error);
    guard_ready(&guard);
    if (status == GUFO_OK)
        status = plan->relaid ? rewrite_anew(&r, path, replace, &guard, error)
                              : rewrite_same(&r, path, replace, &guard, error);
    guard_free(&guard);
    return status;
}

/* ---- streams -------------------------------------------------------------------------------- */

static gufo_status stream_same(const rewriting *r, int fd, gufo_error *error)
{
    void *space = mem_alloc(&r->edit->allocator, BUFFER);
    gufo_status status = space != NULL ? GUFO_OK : fail_memory(error);

    if (status == GUFO_OK)
        status = output_write_all(fd, r->header->out.out.data, r->header->out.out.len, error);
    for (uint64_t done = 0, step; status == GUFO_OK && done < r->data; done += step) {
        step = smaller(BUFFER, r->data - done);
        status = gufo_file_read(r->edit->file, r->plan->old_data_offset + done, space, (size_t)step,
                                error);
        if (status != GUFO_OK)
            blame_input(r);
        if (status == GUFO_OK)
            status = output_write_all(fd, space, (size_t)step, error);
        if (status == GUFO_OK)
            status = report(r->target, done + step, r->data, error);
    }
    mem_free(&r->edit->allocator, space);
    return status == GUFO_OK ? check_unchanged(r, error) : status;
}

static gufo_status stream_anew(const rewriting *r, int fd, gufo_error *error)
{
    gufo_writer *w;
    gufo_status status = lay_anew(r->edit, r->header, r->plan, &w, error);

    if (status == GUFO_OK)
        status = gufo_writer_open_fd(w, fd, error);
    if (status == GUFO_OK)
        status = copy_tensors(r, w, error);
    gufo_writer_free(w);
    return status;
}

gufo_status gufo_edit_stream(gufo_edit *edit, int fd, const gufo_edit_target *target,
                             gufo_error *error)
{
    gufo_edit_target into = target != NULL ? *target : (gufo_edit_target){0};
    gufo_edit_plan plan = {0};
    new_header h;
    gufo_status status = new_header_make(&h, edit, error);

    if (status != GUFO_OK)
        return status;
    into.output = "";
    status = edit_choose(edit, &h, &into, &plan, error);
    if (status == GUFO_OK) {
        rewriting r = begin(edit, &h, &into, &plan);

        status = (plan.relaid ? stream_anew : stream_same)(&r, fd, error);
    }
    new_header_free(&h);
    return status;
}
