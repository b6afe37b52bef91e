/* Output files: atomic, and removed when a signal comes. */
#include "cli/save.h"

#include "base/memory.h"
#include "base/output.h"
#include "cli/report.h"
#include "cli/signals.h"

#include "gufo/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool save_is_stream(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool save_is_pending(const char *path)
{
    bool pending = gufo_edit_pending(path);

    if (pending)
        report_message(path,
                       "an edit of the output was interrupted and has to be recovered first: "
                       "'gufo edit --recover %s'",
                       path);
    return pending;
}

static int save_stream(const char *path, gufo_str bytes)
{
    gufo_error error;
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0) {
        report_system(path, errno);
        return CODE_FAILED;
    }
    bool written = output_write_all(fd, bytes.data, bytes.len, &error) == GUFO_OK;

    if (!written)
        report_error(path, &error);
    if (close(fd) != 0 && written) {
        report_system(path, errno);
        written = false;
    }
    return written ? CODE_OK : CODE_FAILED;
}

int save_report(const char *path, const gufo_error *error)
{
    if (error->code != GUFO_E_EXISTS) {
        report_error(path, error);
        return CODE_FAILED;
    }
    report_message(path, "%s (--force replaces it)", error->message);
    return CODE_USAGE;
}

/* Signals wait while the temporary file is made and while it gets its final name. */
static gufo_status save_file(const char *path, gufo_str bytes, bool force, gufo_error *error)
{
    output out;

    signals_hold();
    gufo_status status = output_open(&out, path, force, bytes.len, &default_allocator, error);

    if (status == GUFO_OK)
        signals_temporary(out.temporary);
    signals_release();
    if (status != GUFO_OK)
        return status;
    status = output_write(&out, 0, bytes.data, bytes.len, error);
    signals_hold();
    signals_temporary(NULL);
    if (status == GUFO_OK)
        status = output_commit(&out, error);
    else
        output_discard(&out);
    signals_release();
    return status;
}

int save_bytes(const char *path, gufo_str bytes, bool force)
{
    gufo_error error;

    if (save_is_stream(path))
        return save_stream(path, bytes);
    if (save_is_pending(path))
        return CODE_USAGE;
    if (save_file(path, bytes, force, &error) != GUFO_OK)
        return save_report(path, &error);
    return CODE_OK;
}
