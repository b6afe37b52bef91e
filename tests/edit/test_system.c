/* The system refuses a call, is interrupted, shares blocks, or others change files in between:
 * edits, their recovery and copies either succeed or leave what was there.
 *
 * A program of its own: the calls are replaced in it; the real ones are reached through dlsym. */
#include "workshop.h"
#include "../support/edits.h"

#include "base/files/move.h"
#include "format/model/model.h"
#include "gufo/compare.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#ifdef __linux__
#include <linux/fs.h>
#include <sys/ioctl.h>
#endif

/* ---- faults --------------------------------------------------------------------------------- */

typedef enum call {
    CALL_OPEN,
    CALL_CLOSE, /* which closes all the same */
    CALL_FSTAT,
    CALL_STAT,
    CALL_LSTAT,
    CALL_FSTATVFS,
    CALL_FLOCK,
    CALL_LEASE,
    CALL_PREAD,
    CALL_RESERVE,
    CALL_REALPATH,
    CALL_STRNDUP,
    CALLS,
} call;

/* Call number `at` of one kind, from 1, fails with errno `failure`, unless that is 0; `before` is
 * called just before it. */
static struct {
    call kind;
    unsigned at, count; /* at 0: none */
    int failure;
    void (*before)(void);
    bool shares; /* the file system can let files share blocks */
    uint64_t shared;
    bool lasting; /* the calls after that one fail as well */
} fault;

static void no_fault(void)
{
    memset(&fault, 0, sizeof fault);
}

static void fail_call(call kind, unsigned at, int failure)
{
    no_fault();
    fault.kind = kind;
    fault.at = at;
    fault.failure = failure;
}

static bool fails(call kind)
{
    if (fault.at == 0 || kind != fault.kind || ++fault.count < fault.at ||
        (fault.count > fault.at && !fault.lasting))
        return false;
    if (fault.before != NULL)
        fault.before();
    errno = fault.failure;
    return fault.failure != 0;
}

static void find_real(const char *name, void *real)
{
    void *found = dlsym(RTLD_NEXT, name);

    assert_non_null(found);
    memcpy(real, &found, sizeof found);
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, mode_t);
    mode_t mode = 0;
    va_list arguments;

    va_start(arguments, flags);
    if ((flags & O_CREAT) != 0)
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    find_real("open64", &real);
    return fails(CALL_OPEN) ? -1 : real(path, flags, mode);
}

int close(int fd)
{
    int (*real)(int);
    int result;

    find_real("close", &real);
    result = real(fd);
    return fails(CALL_CLOSE) ? -1 : result;
}

int fstat(int fd, struct stat *info)
{
    int (*real)(int, struct stat *);

    find_real("fstat64", &real);
    return fails(CALL_FSTAT) ? -1 : real(fd, info);
}

int stat(const char *path, struct stat *info)
{
    int (*real)(const char *, struct stat *);

    find_real("stat64", &real);
    return fails(CALL_STAT) ? -1 : real(path, info);
}

int lstat(const char *path, struct stat *info)
{
    int (*real)(const char *, struct stat *);

    find_real("lstat64", &real);
    return fails(CALL_LSTAT) ? -1 : real(path, info);
}

int fstatvfs(int fd, struct statvfs *info)
{
    int (*real)(int, struct statvfs *);

    find_real("fstatvfs64", &real);
    return fails(CALL_FSTATVFS) ? -1 : real(fd, info);
}

int flock(int fd, int operation)
{
    int (*real)(int, int);

    find_real("flock", &real);
    return fails(CALL_FLOCK) ? -1 : real(fd, operation);
}

int fcntl(int fd, int command, ...)
{
    int (*real)(int, int, void *);
    void *argument;
    va_list arguments;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    find_real("fcntl64", &real);
    return command == F_SETLEASE && fails(CALL_LEASE) ? -1 : real(fd, command, argument);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    ssize_t (*real)(int, void *, size_t, off_t);

    find_real("pread64", &real);
    return fails(CALL_PREAD) ? -1 : real(fd, bytes, size, offset);
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    int (*real)(int, int, off_t, off_t);

    find_real("fallocate64", &real);
    return mode == 0 && fails(CALL_RESERVE) ? -1 : real(fd, mode, offset, size);
}

char *realpath(const char *path, char *resolved)
{
    char *(*real)(const char *, char *);

    find_real("realpath", &real);
    return fails(CALL_REALPATH) ? NULL : real(path, resolved);
}

char *strndup(const char *text, size_t len)
{
    char *(*real)(const char *, size_t);

    find_real("strndup", &real);
    return fails(CALL_STRNDUP) ? NULL : real(text, len);
}

#ifdef __linux__
/* Copies what a file system would share: whole blocks, at places that are whole blocks. */
static int share(int to, const struct file_clone_range *range)
{
    size_t size = (size_t)range->src_length;
    char *bytes = malloc(size);
    bool done;

    if (bytes == NULL || range->src_offset % MOVE_SHARED_BLOCK != 0 ||
        range->dest_offset % MOVE_SHARED_BLOCK != 0 || size % MOVE_SHARED_BLOCK != 0) {
        free(bytes);
        errno = EINVAL;
        return -1;
    }
    done = pread((int)range->src_fd, bytes, size, (off_t)range->src_offset) == (ssize_t)size &&
           pwrite(to, bytes, size, (off_t)range->dest_offset) == (ssize_t)size;
    free(bytes);
    fault.shared += size;
    return done ? 0 : -1;
}

int ioctl(int fd, unsigned long request, ...)
{
    int (*real)(int, unsigned long, void *);
    void *argument;
    va_list arguments;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == FICLONERANGE && fault.shares)
        return share(fd, argument);
    find_real("ioctl", &real);
    return real(fd, request, argument);
}
#endif

/* ---- edits ---------------------------------------------------------------------------------- */

typedef struct edit_row {
    const char *label;
    size_t name_len;
    uint64_t alignment; /* 0: as it is */
    gufo_edit_in_place in_place;
    bool elsewhere; /* the result goes to `out` */
    gufo_edit_way way;
} edit_row;

static const edit_row edits[] = {
    {"overwrite", 4, 0, GUFO_EDIT_IN_PLACE_IF_SAFE, false, GUFO_EDIT_OVERWRITE},
    {"insert", 5000, 0, GUFO_EDIT_IN_PLACE_IF_SAFE, false, GUFO_EDIT_INSERT},
    {"insert always", 5000, 0, GUFO_EDIT_IN_PLACE_ALWAYS, false, GUFO_EDIT_INSERT},
    {"rewrite", 4, 0, GUFO_EDIT_IN_PLACE_NEVER, false, GUFO_EDIT_REWRITE},
    {"another alignment", 4, 32, GUFO_EDIT_IN_PLACE_IF_SAFE, false, GUFO_EDIT_REWRITE},
    {"another file", 4, 0, GUFO_EDIT_IN_PLACE_IF_SAFE, true, GUFO_EDIT_REWRITE},
};

static gufo_status change(gufo_edit *edit, const edit_row *row, gufo_error *error)
{
    char text[5000];
    const gufo_value name = {.type = GUFO_VALUE_STRING, .as.str = {text, row->name_len}};
    const gufo_value number = {.type = GUFO_VALUE_UINT32, .as.u = row->alignment};
    gufo_status status;

    memset(text, 'n', sizeof text);
    status = edit_set(edit, "general.name", &name, error);
    return status == GUFO_OK && row->alignment != 0
               ? edit_set(edit, GUFO_ALIGNMENT_KEY, &number, error)
               : status;
}

static gufo_status do_edit(const workshop *b, const edit_row *row, gufo_edit_plan *plan,
                           bool *recover, gufo_error *error)
{
    const gufo_edit_target target = {.output = row->elsewhere ? b->out.text : NULL,
                                     .in_place = row->in_place};
    gufo_edit *edit = gufo_edit_open(b->in.text, NULL, error);
    gufo_status status = edit != NULL ? change(edit, row, error) : error->code;

    *recover = false;
    if (status == GUFO_OK)
        status = gufo_edit_apply(edit, &target, NULL, plan, recover, error);
    gufo_edit_free(edit);
    return status;
}

/* The file has the new name and its tensors are those of the source. */
static void check_edited(const workshop *b, const edit_row *row, const char *label)
{
    gufo_model *file = open_path(row->elsewhere ? b->out.text : b->in.text);
    gufo_model *before = gufo_model_open_memory(b->bytes, b->len, NULL, NULL);
    gufo_tensor tensor;
    gufo_str name;

    check_ok(gufo_model_get_str(file, "general.name", &name, NULL), NULL, "%s", label);
    check_u64(name.len, row->name_len, "%s", label);
    for (size_t i = 0; i < COUNT_OF(copied_tensors); i++) {
        uint8_t *now = tensor_bytes(file, copied_tensors[i].name, &tensor);
        uint8_t *then = tensor_bytes(before, copied_tensors[i].name, &tensor);

        check(memcmp(now, then, (size_t)tensor.size) == 0, "%s: %s", label, copied_tensors[i].name);
        free(now);
        free(then);
    }
    gufo_model_free(before);
    gufo_model_free(file);
}

/* Without a failure. */
static void edit_well(const workshop *b, const edit_row *row)
{
    gufo_error error = no_error();
    gufo_edit_plan plan;
    bool recover;

    check_ok(do_edit(b, row, &plan, &recover, &error), &error, "%s", row->label);
    check_u64(plan.way, row->way, "%s: %s, %s", row->label, plan.not_overwritten,
              plan.not_inserted);
    check_edited(b, row, row->label);
    restore(b);
}

/* Call `at` of a kind fails; true if there were so many. */
static bool edit_failing(const workshop *b, const edit_row *row, uint64_t before, call kind,
                         unsigned at)
{
    gufo_error error = no_error();
    gufo_status status;
    bool recover, reached;
    char label[96];

    snprintf(label, sizeof label, "%s, call %d number %u", row->label, (int)kind, at);
    fail_call(kind, at, EIO);
    status = do_edit(b, row, NULL, &recover, &error);
    reached = fault.count >= at;
    no_fault();
    if (status == GUFO_OK)
        check_edited(b, row, label);
    else {
        check(reached, "%s: %s", label, error.message);
        check(error.code != GUFO_OK, "%s", label);
        check_error_shape(&error, error.code, label);
        check(!recover, "%s: nothing to recover", label);
        check_u64(folder_state(b), before, "%s: the files", label);
    }
    restore(b);
    return reached;
}

static void test_edits(void **state)
{
    workshop b = workshop_new();
    uint64_t before = folder_state(&b);
    unsigned failed = 0;

    (void)state;
    disk_simulate(true);
    for (size_t i = 0; i < COUNT_OF(edits); i++) {
        edit_well(&b, &edits[i]);
        for (call kind = 0; kind < CALLS; kind++)
            for (unsigned at = 1; edit_failing(&b, &edits[i], before, kind, at); at++)
                failed++;
    }
    check(failed > 100, "%u calls", failed);
    disk_simulate(false);
    workshop_end(&b);
}

/* ---- who may write, and who else is there --------------------------------------------------- */

static const edit_row *const overwriting = &edits[0];

/* A file that can only be read is replaced, where its folder allows that. */
static void test_read_only(void **state)
{
    static const int failures[] = {EACCES, EPERM, EROFS, ETXTBSY};
    workshop b = workshop_new();

    (void)state;
    disk_simulate(true);
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        gufo_error error = no_error();
        gufo_edit_plan plan;
        bool recover;

        fail_call(CALL_OPEN, 1, failures[i]);
        check_ok(do_edit(&b, overwriting, &plan, &recover, &error), &error, "%d", failures[i]);
        check_u64(plan.way, GUFO_EDIT_REWRITE, "%d", failures[i]);
        check_str(gufo_str_of(plan.not_overwritten), "the file cannot be opened for writing", "%d",
                  failures[i]);
        check_edited(&b, overwriting, "read only");
        restore(&b);
    }
    disk_simulate(false);
    workshop_end(&b);
}

/* Others hold the lease or the lock; and file systems without locks and leases. */
static void test_others(void **state)
{
    static const struct {
        call kind;
        int failure;
        gufo_status status;
        const char *message; /* of the error, or why it was not overwritten */
        gufo_edit_way way;
    } rows[] = {
        {CALL_OPEN, EWOULDBLOCK, GUFO_E_IO, "another process is editing the file", 0},
        {CALL_OPEN, EMFILE, GUFO_E_IO, "cannot open", 0},
        {CALL_FLOCK, EWOULDBLOCK, GUFO_E_IO, "another process is editing the file", 0},
        {CALL_FLOCK, ENOLCK, GUFO_OK, "", GUFO_EDIT_OVERWRITE},
        {CALL_LEASE, EAGAIN, GUFO_OK, "the file is open or mapped elsewhere", GUFO_EDIT_REWRITE},
        {CALL_LEASE, EINVAL, GUFO_OK, "cannot check whether the file is open elsewhere",
         GUFO_EDIT_REWRITE},
    };
    workshop b = workshop_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_error error = no_error();
        gufo_edit_plan plan = {.way = GUFO_EDIT_NOTHING};
        const char *said;
        bool recover;

        disk_simulate(rows[i].kind != CALL_LEASE);
        fail_call(rows[i].kind, 1, rows[i].failure);
        fault.lasting = rows[i].kind == CALL_FLOCK;
        check_status(do_edit(&b, overwriting, &plan, &recover, &error), rows[i].status, &error,
                     "row %zu", i);
        said = rows[i].status == GUFO_OK ? plan.not_overwritten : error.message;
        check(strncmp(said, rows[i].message, strlen(rows[i].message)) == 0, "row %zu: %s", i, said);
        check_u64(plan.way, rows[i].way, "row %zu", i);
        restore(&b);
    }
    no_fault();
    disk_simulate(false);
    workshop_end(&b);
}

static const workshop *replaced_in; /* by replace_input */

/* Another process gives the name to another file. */
static void replace_input(void)
{
    path_text other = folder_path(&replaced_in->f, "out.new");

    fault.at = 0;
    write_file(other.text, "new", 3);
    check(rename(other.text, replaced_in->in.text) == 0, "rename");
}

/* Between opening and locking: the file that was opened has no name any more, and is not edited. */
static void test_replaced(void **state)
{
    workshop b = workshop_new();

    (void)state;
    replaced_in = &b;
    for (unsigned at = 1; at <= 2; at++) {
        gufo_error error = no_error();

        fail_call(CALL_STAT, at, 0);
        fault.before = replace_input;
        check(gufo_edit_open(b.in.text, NULL, &error) == NULL, "opened");
        check_u64(error.code, GUFO_E_CHANGED, "%s", error.message);
        check_str(gufo_str_of(error.message), "the file was replaced by another process", "%u", at);
        check_file(b.in.text, "new", 3, "left alone");
        restore(&b);
    }
    no_fault();
    workshop_end(&b);
}

/* ---- taking it back ------------------------------------------------------------------------- */

/* After a failure of the disk that an edit wants to take back, a call of the system fails, too. */
static bool take_back_failing(const workshop *b, uint64_t before, unsigned disk_at, call kind,
                              unsigned at, unsigned *left)
{
    const edit_row *row = &edits[1];
    gufo_error error = no_error();
    gufo_status status;
    bool recover, reached;
    char label[96];

    snprintf(label, sizeof label, "disk %u, call %d number %u", disk_at, (int)kind, at);
    fail_call(kind, at, EIO);
    disk_fail_once(disk_at, EIO);
    status = do_edit(b, row, NULL, &recover, &error);
    disk_fail_never();
    reached = fault.count >= at;
    no_fault();
    *left += recover;
    /* A journal that cannot be read is taken for one that is complete. */
    check(recover || !gufo_edit_pending(b->in.text), "%s: pending, and not said", label);
    if (recover)
        check_ok(gufo_edit_recover(b->in.text, NULL, NULL, &error), &error, "%s", label);
    if (status == GUFO_OK || folder_state(b) != before)
        check_edited(b, row, label);
    restore(b);
    return reached;
}

static void test_taking_back(void **state)
{
    static const call kinds[] = {CALL_OPEN, CALL_FSTAT, CALL_PREAD, CALL_STRNDUP};
    workshop b = workshop_new();
    uint64_t before = folder_state(&b);
    unsigned left = 0;

    (void)state;
    disk_simulate(true);
    for (unsigned disk_at = 4; disk_at < 14; disk_at++)
        for (size_t k = 0; k < COUNT_OF(kinds); k++)
            for (unsigned at = 1; take_back_failing(&b, before, disk_at, kinds[k], at, &left);)
                at++;
    check(left > 10, "recovery was needed %u times", left);
    disk_simulate(false);
    workshop_end(&b);
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* Leaves half an edit. */
static void interrupt(const workshop *b, const edit_row *row, unsigned disk_at)
{
    gufo_error error = no_error();
    bool recover;

    restore(b);
    disk_fail_from(disk_at, EIO);
    check(do_edit(b, row, NULL, &recover, &error) != GUFO_OK, "%s", row->label);
    disk_fail_never();
    check(recover && gufo_edit_pending(b->in.text), "%s: pending", row->label);
}

/* A call fails while it is recovered; the second time nothing fails. */
static bool recover_failing(const workshop *b, const edit_row *row, unsigned disk_at,
                            uint64_t before, call kind, unsigned at, int failure)
{
    gufo_error error = no_error();
    gufo_edit_recovery recovery;
    gufo_status status;
    char label[96];
    bool reached;

    snprintf(label, sizeof label, "%s, call %d number %u, errno %d", row->label, (int)kind, at,
             failure);
    interrupt(b, row, disk_at);
    fail_call(kind, at, failure);
    status = gufo_edit_recover(b->in.text, NULL, &recovery, &error);
    reached = fault.count >= at;
    no_fault();
    check(status == GUFO_OK || reached, "%s: %s", label, error.message);
    check_ok(gufo_edit_recover(b->in.text, NULL, status == GUFO_OK ? NULL : &recovery, &error),
             &error, "%s", label);
    check(!gufo_edit_pending(b->in.text), "%s", label);
    check(recovery != GUFO_EDIT_RECOVERED_NOTHING, "%s", label);
    if (recovery == GUFO_EDIT_RECOVERED_OLD)
        check_u64(folder_state(b), before, "%s: old", label);
    else
        check_edited(b, row, label);
    return reached;
}

static void test_recovery(void **state)
{
    static const struct {
        unsigned row, disk_at;
    } cases[] = {{0, 6}, {0, 9}, {1, 6}, {1, 9}};
    static const int failures[] = {EIO, EINTR, EACCES};
    workshop b = workshop_new();
    uint64_t before = folder_state(&b);
    unsigned failed = 0;

    (void)state;
    disk_simulate(true);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t k = 0; k < COUNT_OF(failures); k++)
            for (call kind = 0; kind < CALLS; kind++)
                for (unsigned at = 1; recover_failing(&b, &edits[cases[i].row], cases[i].disk_at,
                                                      before, kind, at, failures[k]);
                     at++)
                    failed++;
    check(failed > 100, "%u calls", failed);
    (void)unlink(folder_path(&b.f, "in.gguf.gufo-journal").text);
    disk_simulate(false);
    workshop_end(&b);
}

/* ---- shared blocks -------------------------------------------------------------------------- */

enum { LARGE = 300000 };

static uint64_t shared_last; /* of share_blocks */

/* A model of one tensor, with an alignment that is not that of blocks.  Its data begins at byte
 * 4096 - `before` or later by blocks. */
static void write_large(const char *path, size_t before)
{
    builder b = builder_new((encoding){3, false});
    const uint64_t dims[1] = {LARGE};

    builder_header(&b, 1, 1);
    builder_key(&b, "general.name", GUFO_VALUE_STRING);
    builder_length(&b, 3900 - before);
    builder_fill(&b, 'o', 3900 - before);
    builder_tensor(&b, "t", GUFO_TYPE_I8, 1, dims, 0);
    builder_pad(&b, 32);
    builder_pattern(&b, 3, LARGE);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

/* Where blocks can be shared, the data begins as far into one as before, and all whole blocks
 * are. */
static void share_blocks(const workshop *b, size_t before, size_t length, uint64_t reserve)
{
    const edit_row row = {"shared", length, 0, GUFO_EDIT_IN_PLACE_NEVER, false, GUFO_EDIT_REWRITE};
    const gufo_edit_target target = {.in_place = row.in_place, .reserve = reserve};
    path_text path = folder_path(&b->f, "out.large");
    gufo_error error = no_error();
    gufo_edit_plan plan;
    gufo_edit *edit;
    gufo_model *file;
    gufo_tensor tensor;
    gufo_str name;
    uint8_t *data;

    write_large(path.text, before);
    edit = gufo_edit_open(path.text, NULL, &error);
    check(edit != NULL, "%s", error.message);
    check_ok(change(edit, &row, &error), &error, "name of %zu bytes", length);
    fault.shares = true;
    fault.shared = 0;
    check_ok(gufo_edit_apply(edit, &target, NULL, &plan, NULL, &error), &error, "%zu bytes",
             length);
    gufo_edit_free(edit);
    shared_last = fault.shared;
    no_fault();
    check_u64(plan.data_offset % MOVE_SHARED_BLOCK, plan.old_data_offset % MOVE_SHARED_BLOCK,
              "%zu bytes: place", length);
    check(plan.padding == 0 ? reserve == 0 : plan.padding >= reserve, "%zu bytes: room", length);
    file = open_path(path.text);
    check_u64(gufo_model_facts(file).data_offset, plan.data_offset, "%zu bytes", length);
    check_u64(gufo_model_facts(file).size, plan.file_size, "%zu bytes", length);
    check_ok(gufo_model_get_str(file, "general.name", &name, NULL), NULL, "name");
    check_u64(name.len, length, "name");
    data = tensor_bytes(file, "t", &tensor);
    for (size_t i = 0; i < LARGE; i++)
        check(data[i] == pattern_byte(3, i), "%zu bytes: byte %zu", length, i);
    free(data);
    gufo_model_free(file);
}

static void test_sharing(void **state)
{
    static const struct {
        size_t before, length;
        uint64_t reserve;
    } rows[] = {{0, 10, 0}, {0, 3900, 0}, {0, 4999, 5000}, {1000, 10, 0}, {1000, 4999, 0}};
    workshop b = workshop_new();

    (void)state;
#ifndef FICLONERANGE
    skip();
#endif
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        share_blocks(&b, rows[i].before, rows[i].length, rows[i].reserve);
        /* One block to ask, and all but the two ends of the data. */
        check(shared_last >= LARGE - MOVE_SHARED_BLOCK, "row %zu: only %" PRIu64 " bytes shared", i,
              shared_last);
    }
    workshop_end(&b);
}

/* Space cannot be reserved on this file system, or the call is interrupted. */
static void test_reserving(void **state)
{
    static const int failures[] = {EINTR, EOPNOTSUPP, EINVAL};
    workshop b = workshop_new();

    (void)state;
    disk_simulate(true);
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        for (size_t k = 3; k < COUNT_OF(edits); k++) {
            gufo_error error = no_error();
            bool recover;

            fail_call(CALL_RESERVE, 1, failures[i]);
            check_ok(do_edit(&b, &edits[k], NULL, &recover, &error), &error, "%s, errno %d",
                     edits[k].label, failures[i]);
            check(fault.count >= 1, "reserved");
            no_fault();
            check_edited(&b, &edits[k], edits[k].label);
            restore(&b);
        }
    }
    disk_simulate(false);
    workshop_end(&b);
}

/* ---- copies --------------------------------------------------------------------------------- */

static unsigned planned_at; /* fault.at while a copy is written */

/* Makes copy `number`; *blamed tells whether the failure is about the source. */
static gufo_status do_copy(const workshop *b, size_t number, bool *blamed, gufo_error *error)
{
    const gufo_run options = {.threads = 1};
    bool stream = copies[number].out == NULL;
    path_text out = folder_path(&b->f, stream ? "out.stream" : copies[number].out);
    gufo_model *set =
        gufo_model_open(copies[number].from_set ? b->first.text : b->in.text, NULL, error);
    gufo_job *c = copies[number].plan(set, NULL, error);
    int fd = stream ? open(out.text, O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1;
    gufo_status status;

    check(c != NULL && stream == (fd >= 0), "%s: %s", copies[number].label, error->message);
    fault.at = planned_at;
    status = stream ? gufo_job_stream(c, fd, &options, error)
                    : run_job(c, out.text, false, &options, error);
    fault.at = 0;
    *blamed = status != GUFO_OK && error->role == GUFO_FILE_INPUT;
    gufo_job_free(c);
    gufo_model_free(set);
    if (stream)
        (void)close(fd);
    if (stream && status != GUFO_OK)
        (void)unlink(out.text);
    return status;
}

/* Call `at` of a kind fails while the copy is written; true if there were so many. */
static bool copy_failing(const workshop *b, size_t number, const uint64_t states[2], call kind,
                         unsigned at)
{
    gufo_error error = no_error();
    gufo_status status;
    bool blamed, reached;
    char label[96];

    snprintf(label, sizeof label, "%s, call %d number %u", copies[number].label, (int)kind, at);
    fail_call(kind, 0, EIO);
    planned_at = at;
    status = do_copy(b, number, &blamed, &error);
    reached = fault.count >= at;
    no_fault();
    if (status != GUFO_OK)
        check_error_shape(&error, GUFO_E_IO, label);
    if (kind == CALL_PREAD)
        check((status != GUFO_OK) == reached && blamed == reached, "%s: %s", label, error.message);
    check_u64(folder_state(b), states[status == GUFO_OK], "%s: the files", label);
    restore(b);
    return reached;
}

static void test_copies(void **state)
{
    static const call kinds[] = {CALL_PREAD, CALL_FSTAT, CALL_OPEN, CALL_CLOSE, CALL_LSTAT};
    workshop b = workshop_new();
    uint64_t states[2] = {folder_state(&b), 0}; /* after failure, after success */

    (void)state;
    disk_without_help(true);
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        gufo_error error = no_error();
        bool blamed;

        planned_at = 0;
        check_ok(do_copy(&b, i, &blamed, &error), &error, "%s", copies[i].label);
        states[1] = folder_state(&b);
        restore(&b);
        for (size_t k = 0; k < COUNT_OF(kinds); k++)
            for (unsigned at = 1; copy_failing(&b, i, states, kinds[k], at);)
                at++;
    }
    disk_without_help(false);
    workshop_end(&b);
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* A read fails: it is said in which model and shard. */
static void test_compare(void **state)
{
    const gufo_compare_options options = {.flags = GUFO_COMPARE_VALUES};
    const gufo_run run = {.threads = 1};
    workshop b = workshop_new();
    unsigned failed[2] = {0, 0};
    gufo_status status = GUFO_E_IO;

    (void)state;
    for (unsigned at = 1; status != GUFO_OK; at++) {
        gufo_error error = no_error();
        gufo_model *first = gufo_model_open(b.first.text, NULL, &error);
        gufo_model *other = gufo_model_open(b.other.text, NULL, &error);
        gufo_comparison result;

        fail_call(CALL_PREAD, at, EIO);
        status = gufo_compare(first, other, &options, &run, &result, &error);
        no_fault();
        if (status != GUFO_OK) {
            check_error_shape(&error, GUFO_E_IO, "compare");
            const gufo_model *side = error.role == GUFO_FILE_SECOND_INPUT ? other : first;
            const gufo_model *shard = gufo_model_shard(side, error.file_index);

            check(shard != NULL && strcmp(error.file, gufo_model_name(shard)) == 0, "%s",
                  error.file);
            failed[side == other]++;
        }
        gufo_model_free(first);
        gufo_model_free(other);
    }
    check(failed[0] > 1 && failed[1] > 1, "%u and %u", failed[0], failed[1]);
    workshop_end(&b);
}

/* The same with several candidates: the file is named. */
static void test_candidates(void **state)
{
    const gufo_candidates_options options = {.flags = GUFO_COMPARE_VALUES};
    const gufo_run run = {.threads = 1};
    workshop b = workshop_new();
    unsigned failed = 0;
    gufo_status status = GUFO_E_IO;

    (void)state;
    for (unsigned at = 1; status != GUFO_OK; at++) {
        gufo_error error = no_error();
        gufo_model *first = gufo_model_open(b.first.text, NULL, &error);
        gufo_model *other = gufo_model_open(b.other.text, NULL, &error);
        const gufo_model *const candidates[] = {first, other};

        fail_call(CALL_PREAD, at, EIO);
        status = gufo_compare_candidates(first, candidates, 2, &options, &run, NULL, &error);
        no_fault();
        if (status != GUFO_OK)
            check_error_shape(&error, GUFO_E_IO, "candidates");
        if (status != GUFO_OK && strcmp(error.file, b.other.text) == 0) {
            check_u64(error.role, GUFO_FILE_SECOND_INPUT, "role");
            failed++;
        }
        gufo_model_free(first);
        gufo_model_free(other);
    }
    check(failed > 1, "%u", failed);
    workshop_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits),       cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_others),      cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_taking_back), cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_sharing),     cmocka_unit_test(test_reserving),
        cmocka_unit_test(test_copies),      cmocka_unit_test(test_compare),
        cmocka_unit_test(test_candidates),
    };

    return cmocka_run_group_tests(tests, copies_setup, NULL);
}
