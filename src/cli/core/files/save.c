/* Output files: atomic, and removed when a signal comes. */
#include "cli/core/values/str.h"
#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/report.h"
#include "cli/core/terminal/signals.h"
#include "gufo/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool save_is_stream(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool save_is_stdout(const char *path)
{
    struct stat named, standard;

    if (path_is_standard(path))
        return true;
    return stat(path, &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
           !S_ISREG(named.st_mode) && named.st_dev == standard.st_dev &&
           named.st_ino == standard.st_ino && named.st_rdev == standard.st_rdev;
}

int save_open_stream(const char *path, gufo_error *error)
{
    return save_is_stdout(path) ? STDOUT_FILENO : gufo_stream_open(path, error);
}

gufo_status save_close_stream(int fd, gufo_status status, gufo_error *error)
{
    if (fd != STDOUT_FILENO && close(fd) != 0 && status == GUFO_OK)
        return error_set(error, GUFO_E_IO, errno, "cannot close");
    return status;
}

bool save_is_pending(const char *path, bool is_output)
{
    gufo_edit_state state =
        path_is_standard(path) ? GUFO_EDIT_STATE_SETTLED : gufo_edit_pending(path);

    if (state == GUFO_EDIT_STATE_LIVE)
        report_message(path, "%sis being edited", is_output ? "the output " : "");
    else if (state == GUFO_EDIT_STATE_INTERRUPTED)
        report_message(path,
                       is_output
                           ? "an edit of the output was interrupted; recover it first: 'gufo edit "
                             "--recover %s'"
                           : "an edit of it was interrupted; 'gufo edit --recover %s' repairs it",
                       path);
    return state != GUFO_EDIT_STATE_SETTLED;
}

static bool guarded(gufo_guard *guard, gufo_status status, const char *path,
                    const gufo_error *error)
{
    if (status == GUFO_OK)
        return true;
    report_error(path, error);
    gufo_guard_free(guard);
    return false;
}

bool save_guard_more(gufo_guard *guard, const char *const *paths, size_t count)
{
    gufo_status status = GUFO_OK;
    gufo_error error;

    for (size_t i = 0; i < count && status == GUFO_OK; i++)
        if (paths[i] != NULL)
            status = path_is_standard(paths[i]) ? gufo_guard_add_fd(guard, STDIN_FILENO, &error)
                                                : gufo_guard_add_paths(guard, &paths[i], 1, &error);
    return guarded(guard, status, NULL, &error);
}

bool save_guard(gufo_guard *guard, const char *const *paths, size_t count)
{
    *guard = (gufo_guard){0};
    return save_guard_more(guard, paths, count);
}

bool save_guard_output(gufo_guard *guard, const char *path)
{
    gufo_error error;
    gufo_status status = gufo_guard_add_output(guard, path, &error);

    return guarded(guard, status, path, &error);
}

bool save_would_replace(const char *path, const char *const *paths, size_t count)
{
    gufo_guard guard;
    bool replaces;

    if (path == NULL || !path_exists(path))
        return false;
    if (!save_guard(&guard, paths, count))
        return true;
    replaces = gufo_guard_has(&guard, path);
    gufo_guard_free(&guard);
    if (replaces)
        report_message(path, "the output is an input; it would be lost");
    return replaces;
}

static int save_stream(const char *path, gufo_str bytes)
{
    gufo_error error;
    int fd = save_open_stream(path, &error);

    if (fd < 0)
        return report_refusal(path, &error);
    gufo_status status = gufo_stream_write(fd, bytes, &error);

    return save_close_stream(fd, status, &error) == GUFO_OK ? CODE_OK : report_error(path, &error);
}

void save_remove(const char *path)
{
    if (!save_is_stream(path))
        (void)unlink(path);
}

int save_report(const char *path, const gufo_error *error)
{
    if (error->code == GUFO_E_STOPPED)
        return report_as(CODE_INTERRUPTED, path, "interrupted; nothing was written");
    if (error->code != GUFO_E_EXISTS)
        return report_refusal(path, error);
    return report_as(CODE_USAGE, path, "%s (--force replaces it)", error->message);
}

static gufo_save_options save_options(bool force, const gufo_guard *guard)
{
    return (gufo_save_options){.flags = force ? GUFO_SAVE_REPLACE : 0, .guard = guard};
}

static int check_folder(const char *path, const gufo_text *target)
{
    char *name = path_format("%.*s", (int)target->len, target->data);
    char *folder = name != NULL ? path_beside(name, ".") : NULL;
    int code = folder != NULL ? CODE_OK : CODE_FAILED;

    if (folder != NULL && access(folder, W_OK) != 0)
        code = report_system(path, errno);
    free(folder);
    free(name);
    return code;
}

static int check_place(const char *path, bool force, const gufo_guard *guard, bool made_here)
{
    const gufo_save_options options = save_options(force, guard);
    gufo_text target = {0};
    gufo_error error;
    int code = CODE_OK;

    if (save_is_stream(path))
        return CODE_OK;
    if (gufo_save_check(path, &options, &target, &error) != GUFO_OK)
        code = save_report(path, &error);
    else if (made_here)
        code = check_folder(path, &target);
    gufo_text_free(&target);
    return code;
}

int save_check(const char *path, bool force, const gufo_guard *guard)
{
    return check_place(path, force, guard, false);
}

int save_check_later(const char *path, bool force, const gufo_guard *guard)
{
    return check_place(path, force, guard, true);
}

int save_check_dry(const char *path, const char *input, bool force)
{
    gufo_guard guard;
    int code;

    if (path == NULL || path_is_standard(path))
        return CODE_OK;
    if (path_is_folder(path))
        return report_as(CODE_FAILED, path, "cannot open: %s", strerror(EISDIR));
    if (!save_guard(&guard, &input, 1))
        return CODE_FAILED;
    code = save_check(path, force, &guard);
    gufo_guard_free(&guard);
    return code;
}

static int save(const char *path, gufo_str bytes, const gufo_save_options *options)
{
    gufo_error error;
    gufo_status status;

    if (save_is_pending(path, true))
        return CODE_USAGE;
    signals_hold();
    status = gufo_save(path, bytes, options, &error);
    signals_release();
    return status == GUFO_OK ? CODE_OK : save_report(path, &error);
}

int save_bytes(const char *path, gufo_str bytes, bool force, const gufo_guard *guard)
{
    const gufo_save_options options = save_options(force, guard);

    return save_is_stream(path) ? save_stream(path, bytes) : save(path, bytes, &options);
}

int save_secret(const char *path, gufo_str bytes, bool force, const gufo_guard *guard)
{
    gufo_save_options options = save_options(force, guard);

    options.flags |= GUFO_SAVE_PRIVATE;
    return save_is_stream(path)
               ? report_as(CODE_USAGE, path, "secrets are written to regular files only")
               : save(path, bytes, &options);
}
