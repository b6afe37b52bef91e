/* From files to models: shards become sets, links to the same file one model, and headers are read
 * on all cores.
 *
 * Headers are read, not mapped: a file that is truncated meanwhile is then one that cannot be read,
 * and not a signal for everything. */
#include "cli/inspect/ls.h"

#include "base/memory.h"
#include "base/sort.h"
#include "base/threads.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/input.h"

#include "gufo/edit.h"
#include "gufo/schema.h"
#include "gufo/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_TEXT 4096 /* bytes of a name that are kept */

/* ---- shards --------------------------------------------------------------------------------- */

/* As an argument, a later shard means just that file. */
static void parse_path(ls_file *file)
{
    if (gufo_shard_path_parse(file->path, &file->prefix_len, &file->number, &file->count) &&
        file->count > 1 && (file->number == 1 || !file->named))
        return;
    file->prefix_len = strlen(file->path);
    file->number = file->count = 0;
}

static int compare_sets(const ls_file *a, const ls_file *b)
{
    size_t len = a->prefix_len < b->prefix_len ? a->prefix_len : b->prefix_len;
    int order = memcmp(a->path, b->path, len);

    if (order == 0)
        order = (a->prefix_len > b->prefix_len) - (a->prefix_len < b->prefix_len);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

/* Names in a cache first, in their order. */
static bool tag_before(const ls_file *a, const ls_file *b)
{
    return a->tag != NULL && (b->tag == NULL || strcmp(a->tag, b->tag) < 0);
}

static bool shard_before(const void *a, const void *b)
{
    const ls_file *x = a, *y = b;
    int order = compare_sets(x, y);

    if (order == 0)
        order = (x->number > y->number) - (x->number < y->number);
    return order != 0 ? order < 0 : tag_before(x, y);
}

/* ---- links ---------------------------------------------------------------------------------- */

static void identify(ls_file *file)
{
    char *last = file->count > 0 ? input_sibling_path(file->path, file->count) : NULL;
    const char *paths[2] = {file->path, last != NULL ? last : file->path};
    struct stat status;

    for (size_t i = 0; i < 2; i++)
        if (stat(paths[i], &status) == 0) {
            file->devices[i] = status.st_dev;
            file->inodes[i] = status.st_ino;
        }
    free(last);
}

static int compare_links(const ls_file *a, const ls_file *b)
{
    int order = (a->left_out > b->left_out) - (a->left_out < b->left_out);

    for (size_t i = 0; i < 2 && order == 0; i++) {
        order = (a->devices[i] > b->devices[i]) - (a->devices[i] < b->devices[i]);
        if (order == 0)
            order = (a->inodes[i] > b->inodes[i]) - (a->inodes[i] < b->inodes[i]);
    }
    return order;
}

/* Of links to one file, one with a name in a cache comes first, then the first path. */
static bool link_before(const void *a, const void *b)
{
    const ls_file *x = a, *y = b;
    int order = compare_links(x, y);

    if (order == 0)
        order = tag_before(y, x) - tag_before(x, y);
    return order < 0 || (order == 0 && strcmp(x->path, y->path) < 0);
}

/* Keeps the first file of each set, and the first of several links to a file. */
static void join(ls_files *files)
{
    ls_file *items = files->items, *kept = items;

    for (size_t i = 0; i < files->count; i++)
        parse_path(&items[i]);
    sort_items(items, files->count, sizeof *items, shard_before);
    for (size_t i = 1; i < files->count; i++) {
        items[i].left_out = compare_sets(kept, &items[i]) == 0;
        kept = items[i].left_out ? kept : &items[i];
    }
    for (size_t i = 0; i < files->count; i++)
        if (!items[i].left_out)
            identify(&items[i]);
    sort_items(items, files->count, sizeof *items, link_before);
    kept = items;
    for (size_t i = 1; i < files->count && !items[i].left_out; i++) {
        items[i].left_out = items[i].inodes[0] != 0 && compare_links(kept, &items[i]) == 0;
        kept = items[i].left_out ? kept : &items[i];
    }
}

/* ---- opening -------------------------------------------------------------------------------- */

int ls_open_regular(const char *path, struct stat *status)
{
    int fd;

    if (stat(path, status) != 0) /* opening a device may have effects */
        return -1;
    if (!S_ISREG(status->st_mode)) {
        errno = ENOTSUP;
        return -1;
    }
    fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, status) != 0 || !S_ISREG(status->st_mode))) {
        close(fd);
        errno = ENOTSUP;
        fd = -1;
    }
    return fd;
}

static void set_fault(ls_file *file, const char *path, uint64_t offset, const char *message)
{
    file->fault.offset = offset;
    file->fault.message = strdup(message);
    if (strcmp(path, file->path) != 0)
        file->fault.file = strdup(path);
    if (file->fault.message == NULL)
        file->fault.message = strdup("out of memory");
}

/* Whether the file may be read; adds its size and date. */
static bool open_shard(ls_file *file, const char *path, gufo_input *in)
{
    gufo_edit_state state;
    struct stat status;
    int fd = ls_open_regular(path, &status);

    *in = gufo_input_fd(fd);
    in->name = path;
    if (fd < 0) {
        set_fault(file, path, GUFO_NO_OFFSET,
                  errno == ENOTSUP ? "not a regular file" : strerror(errno));
        return false;
    }
    file->size += (uint64_t)status.st_size;
    file->date = status.st_mtime > file->date ? status.st_mtime : file->date;
    state = gufo_edit_pending(path);
    if (state == GUFO_EDIT_STATE_SETTLED)
        return true;
    set_fault(file, path, GUFO_NO_OFFSET,
              state == GUFO_EDIT_STATE_LIVE ? "is being edited"
                                            : "an edit of it was interrupted; 'gufo edit "
                                              "--recover' repairs it");
    return false;
}

/* All files of a set, or one; close_shards frees paths and closes descriptors. */
typedef struct opened {
    gufo_input *inputs;
    char **paths;
    size_t count;
} opened;

static bool open_shards(ls_file *file, opened *o)
{
    size_t count = file->count > 0 ? file->count : 1;

    file->size = 0;
    o->inputs = calloc(count, sizeof *o->inputs);
    o->paths = calloc(count, sizeof *o->paths);
    if (o->inputs == NULL || o->paths == NULL)
        return false;
    for (; o->count < count; o->count++) {
        char *path = file->count > 0 ? input_sibling_path(file->path, (uint32_t)o->count + 1)
                                     : strdup(file->path);

        o->paths[o->count] = path;
        if (path == NULL || !open_shard(file, path, &o->inputs[o->count])) {
            o->count++;
            return false;
        }
    }
    return true;
}

static void close_shards(opened *o)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->inputs[i].fd >= 0 && o->paths[i] != NULL)
            close(o->inputs[i].fd);
        free(o->paths[i]);
    }
    free(o->inputs);
    free(o->paths);
}

/* ---- headers -------------------------------------------------------------------------------- */

static char *copy_text(const gufo_model *model, const char *key)
{
    gufo_str text;

    if (gufo_model_get_str(model, key, &text, NULL) != GUFO_OK)
        return NULL;
    if (text.len > MOST_TEXT) {
        text.len = MOST_TEXT;
        text.len = gufo_utf8_valid_prefix(text); /* no half characters */
    }
    return strndup(text.data, text.len);
}

static void take_facts(ls_file *file, const gufo_model *model)
{
    gufo_summary o;

    gufo_model_summarize(model, &o);
    file->name = copy_text(model, "general.name");
    file->architecture = copy_text(model, "general.architecture");
    file->quantization = o.quantization;
    file->parameters = o.parameters < UINT64_MAX ? o.parameters : 0;
    (void)gufo_model_key_u64(model, "{arch}.context_length", &file->context, NULL);
}

/* The size and the date of all files of a model in another format. */
static void add_parts(ls_file *file, const gufo_model *model)
{
    struct stat status;
    const char *path;

    file->size = 0;
    for (uint32_t i = 0; (path = foreign_file_part_at(model, i)) != NULL; i++)
        if (stat(path, &status) == 0) {
            file->size += (uint64_t)status.st_size;
            file->date = status.st_mtime > file->date ? status.st_mtime : file->date;
        }
}

/* Opens a model in another format as the one that it becomes. */
static gufo_model *open_foreign(ls_file *file)
{
    gufo_error error;
    gufo_model *model = foreign_file_open(file->path, FOREIGN_OUTLINE, &error);

    if (model == NULL)
        set_fault(file, error.file[0] != '\0' ? error.file : file->path, error.offset,
                  error.message);
    else
        add_parts(file, model);
    return model;
}

/* Opens what can be read of a broken file, and keeps the fault. */
static gufo_model *open_broken(ls_file *file, const opened *o, gufo_open_options *options,
                               const gufo_error *error)
{
    foreign_kind kind = {0};
    bool foreign = error->code == GUFO_E_NOT_GGUF && foreign_file_find(file->path, &kind);

    /* A part of a checkpoint is not listed beside it. */
    if (foreign && !(kind.converts && file->guessed))
        return open_foreign(file);
    file->left_out = error->code == GUFO_E_NOT_GGUF && file->guessed;
    if (file->left_out)
        return NULL;
    set_fault(file, error->file[0] != '\0' ? error->file : file->path, error->offset,
              error->message);
    options->flags |= GUFO_OPEN_LENIENT;
    return gufo_model_open_shards(o->inputs, o->count, options, NULL);
}

/* The metadata of files that are read side by side; longer ones are read one after the other, so that a folder
 * of a stranger takes the memory of one. */
enum { SHORT_METADATA = 32 << 20 };

/* Whether a file is to be read alone. */
static bool is_too_long(ls_file *file, const gufo_error *error)
{
    bool first = !file->is_long;

    file->is_long = error->rule != NULL && strcmp(error->rule->id, "G107") == 0;
    return first && file->is_long;
}

static void read_model(ls_file *file)
{
    gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP,
                                 .name = file->path,
                                 .max_unmapped = file->is_long ? 0 : SHORT_METADATA};
    gufo_model *model = NULL;
    gufo_error error;
    opened o = {0};

    options.flags |= file->count == 0 ? GUFO_OPEN_INCOMPLETE : 0;
    if (file->folder) {
        model = open_foreign(file);
    } else if (open_shards(file, &o)) {
        model = gufo_model_open_shards(o.inputs, o.count, &options, &error);
        if (model == NULL && !is_too_long(file, &error))
            model = open_broken(file, &o, &options, &error);
    } else if (file->fault.message == NULL) {
        set_fault(file, file->path, GUFO_NO_OFFSET, "out of memory");
    }
    if (model != NULL)
        take_facts(file, model);
    gufo_model_free(model);
    close_shards(&o);
}

static gufo_status read_file(void *context, unsigned thread, uint64_t index, void *result,
                             gufo_error *error)
{
    ls_file *file = (ls_file *)context + index;

    (void)thread, (void)result, (void)error;
    if (!file->left_out)
        read_model(file);
    return GUFO_OK;
}

void ls_read(ls_files *files, unsigned threads)
{
    parallel_loop loop = {.end = files->count,
                          .threads = thread_count(threads),
                          .context = files->items,
                          .work = read_file};
    gufo_error error;

    if (files->count == 0)
        return;
    join(files);
    if (parallel_run(&loop, &default_allocator, &error) != GUFO_OK) {
        report_error(NULL, &error);
        files->failed = true;
    }
    for (size_t i = 0; i < files->count; i++)
        if (files->items[i].is_long)
            read_model(&files->items[i]);
}
