/* Reading never opens a file for writing, nor makes, renames or removes one: every call that could
 * is watched while files are opened in each way, looked at and checked.
 *
 * A program of its own: the calls are replaced in it; the real ones are reached through dlsym. */
#include "../support/findings.h"
#include "../support/good.h"
#include "../support/openers.h"
#include "../support/walk.h"
#include "../support/sink.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    bool on;
    size_t opened;    /* files opened for reading */
    const char *call; /* the first call that could change a file, or NULL */
} watch;

static void find_real(const char *name, void *real)
{
    void *found = dlsym(RTLD_NEXT, name);

    assert_non_null(found);
    memcpy(real, &found, sizeof found);
}

static void note(const char *call)
{
    if (watch.on && watch.call == NULL)
        watch.call = call;
}

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...);
    mode_t mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = (mode_t)va_arg(args, int);
    va_end(args);
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0)
        note("open for writing");
    watch.opened += watch.on;
    find_real("open64", &real);
    return real(path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t (*real)(int, const void *, size_t);

    note("write");
    find_real("write", &real);
    return real(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off_t);

    note("pwrite");
    find_real("pwrite64", &real);
    return real(fd, bytes, size, offset);
}

int ftruncate(int fd, off_t size)
{
    int (*real)(int, off_t);

    note("ftruncate");
    find_real("ftruncate64", &real);
    return real(fd, size);
}

int unlink(const char *path)
{
    int (*real)(const char *);

    note("unlink");
    find_real("unlink", &real);
    return real(path);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *);

    note("rename");
    find_real("rename", &real);
    return real(from, to);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t);

    if (fd >= 0 && ((protection & PROT_WRITE) != 0 || (flags & MAP_PRIVATE) == 0))
        note("mmap for writing");
    find_real("mmap64", &real);
    return real(address, size, protection, flags, fd, offset);
}

static void look_at(const char *path, uint32_t flags)
{
    gufo_open_options options = {.flags = flags};
    gufo_error error = no_error();
    findings found;
    gufo_model *file;
    gufo_model *set;

    findings_init(&found);
    watch.on = true;
    file = gufo_model_open(path, &options, &error);
    if (file != NULL)
        walk_file(file, NULL, 0, path);
    gufo_model_free(file);
    set = gufo_model_open(path, &options, &error);
    gufo_model_free(set);
    (void)validate_file(path, &options, findings_add, &found, &error);
    watch.on = false;
    findings_free(&found);
}

static void visit(const good_file *good, const builder *bytes, const char *label, void *context)
{
    static const uint32_t flags[] = {0, GUFO_OPEN_NO_MAP, GUFO_OPEN_LENIENT};
    const folder *f = context;
    path_text path = folder_path(f, "m-00001-of-00001.gguf");

    (void)good;
    for (size_t cut = 0; cut < 2; cut++) {
        write_file(path.text, bytes->data, bytes->len / (1 + cut));
        for (size_t i = 0; i < COUNT_OF(flags); i++)
            look_at(path.text, flags[i]);
    }
    check(watch.call == NULL, "%s: %s", label, watch.call);
    check_u64(entry_count(f->path), 1, "%s", label);
}

static void test_reading_changes_nothing(void **state)
{
    folder f = folder_new();

    (void)state;
    good_for_each(visit, &f);
    check(watch.opened > 0, "the watch sees what is opened");
    folder_remove(&f);
}

/* The watch would see it: the same for a job. */
static void test_writing_is_seen(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "out.gguf");
    gufo_error error = no_error();
    sink out = {.document = gufo_document_new(NULL, &error)};

    (void)state;
    check(out.document != NULL, "%s", error.message);
    watch.on = true;
    watch.call = NULL;
    check_ok(sink_open(&out, path.text, false, &error), &error, "open");
    watch.on = false;
    check(watch.call != NULL, "opening an output is seen");
    sink_free(&out);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading_changes_nothing),
        cmocka_unit_test(test_writing_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
