/* From files to models: shards become sets, links to the same file one model, and headers are read
 * on all cores.
 *
 * Headers are read, not mapped: a file that is truncated meanwhile is then one that cannot be read,
 * and not a signal for everything. */
#include "edit/find/find.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/threads.h"
#include "codec/run.h"
#include "gufo/edit.h"
#include "gufo/schema.h"
#include "gufo/summary.h"

enum { MOST_TEXT = 4096 }; /* bytes of a name that are kept */

/* ---- shards --------------------------------------------------------------------------------- */

/* Where it was named, a later shard means just that file. */
static void parse_path(found_file *file)
{
    if (gufo_shard_path_parse(file->path, &file->prefix_len, &file->number, &file->count) &&
        file->count > 1 && (file->number == 1 || !file->named))
        return;
    file->prefix_len = strlen(file->path);
    file->number = file->count = 0;
}

static char *sibling_path(const gufo_find *find, const found_file *file, uint32_t number)
{
    size_t size = strlen(file->path) + 1;
    char *path = mem_alloc(&find->allocator, size);

    if (path != NULL && file->count > 0)
        (void)gufo_shard_path_format(path, size, file->path, file->prefix_len, number, file->count);
    else if (path != NULL)
        memcpy(path, file->path, size);
    return path;
}

static int compare_sets(const found_file *a, const found_file *b)
{
    size_t len = a->prefix_len < b->prefix_len ? a->prefix_len : b->prefix_len;
    int order = memcmp(a->path, b->path, len);

    if (order == 0)
        order = (a->prefix_len > b->prefix_len) - (a->prefix_len < b->prefix_len);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

/* Names in a cache first, in their order. */
static bool tag_before(const found_file *a, const found_file *b)
{
    return a->tag != NULL && (b->tag == NULL || strcmp(a->tag, b->tag) < 0);
}

static bool shard_before(const void *a, const void *b)
{
    const found_file *x = a, *y = b;
    int order = compare_sets(x, y);

    if (order == 0)
        order = (x->number > y->number) - (x->number < y->number);
    return order != 0 ? order < 0 : tag_before(x, y);
}

/* ---- links ---------------------------------------------------------------------------------- */

static gufo_status identify(const gufo_find *find, found_file *file, gufo_error *error)
{
    char *last = sibling_path(find, file, file->count);
    const char *paths[2] = {file->path, last};
    struct stat status;

    if (last == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < 2; i++)
        if (stat(paths[i], &status) == 0) {
            file->devices[i] = status.st_dev;
            file->inodes[i] = status.st_ino;
        }
    mem_free(&find->allocator, last);
    return GUFO_OK;
}

static int compare_links(const found_file *a, const found_file *b)
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
    const found_file *x = a, *y = b;
    int order = compare_links(x, y);

    if (order == 0)
        order = tag_before(y, x) - tag_before(x, y);
    return order < 0 || (order == 0 && strcmp(x->path, y->path) < 0);
}

/* Leaves out another path of a model.  What is one by any of its paths is one. */
static void join_into(found_file *file, found_file *kept)
{
    file->left_out = true;
    kept->guessed = kept->guessed && file->guessed;
}

/* Keeps the first file of each set, and the first of several links to a file. */
static gufo_status join(gufo_find *find, gufo_error *error)
{
    found_file *files = find->files, *kept = files;
    gufo_status status = GUFO_OK;

    for (uint64_t i = 0; i < find->count; i++)
        parse_path(&files[i]);
    sort_items(files, (size_t)find->count, sizeof *files, shard_before);
    for (uint64_t i = 1; i < find->count; i++) {
        if (compare_sets(kept, &files[i]) == 0)
            join_into(&files[i], kept);
        else
            kept = &files[i];
    }
    for (uint64_t i = 0; i < find->count && status == GUFO_OK; i++)
        if (!files[i].left_out)
            status = identify(find, &files[i], error);
    sort_items(files, (size_t)find->count, sizeof *files, link_before);
    kept = files;
    for (uint64_t i = 1; i < find->count && !files[i].left_out; i++) {
        if (files[i].inodes[0] != 0 && compare_links(kept, &files[i]) == 0)
            join_into(&files[i], kept);
        else
            kept = &files[i];
    }
    return status;
}

/* ---- opening -------------------------------------------------------------------------------- */

int find_open_regular(const char *path, struct stat *status)
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
        (void)close(fd);
        errno = ENOTSUP;
        fd = -1;
    }
    return fd;
}

/* Keeps the fault of a model; that it is one of a file, too. */
static gufo_status set_fault(const gufo_find *find, found_file *file, const char *path,
                             const gufo_error *fault, gufo_error *error)
{
    mem_free(&find->allocator, file->fault);
    file->fault = mem_copy(&find->allocator, fault, sizeof *fault);
    if (file->fault == NULL)
        return fail_memory(error);
    if (file->fault->file[0] == '\0')
        fail_in(file->fault, GUFO_FILE_INPUT, 0, path);
    return GUFO_OK;
}

static void add_file_facts(found_file *file, const struct stat *status)
{
    file->size += (uint64_t)status->st_size;
    file->date = status->st_mtime > file->date ? (int64_t)status->st_mtime : file->date;
}

/* Opens a file that may be read and adds its size and date; *fault is why it may not. */
static bool open_shard(found_file *file, const char *path, gufo_input *in, gufo_error *fault)
{
    gufo_edit_state state;
    struct stat status;
    int fd = find_open_regular(path, &status);

    *in = gufo_input_fd(fd);
    in->name = path;
    if (fd < 0) {
        if (errno == ENOTSUP)
            (void)refuse(fault, GUFO_E_IO, "not a regular file");
        else
            (void)fail_io(fault, errno, "cannot open");
        return false;
    }
    add_file_facts(file, &status);
    state = gufo_edit_pending(path);
    if (state == GUFO_EDIT_STATE_SETTLED)
        return true;
    (void)refuse(fault, GUFO_E_CHANGED, "%s",
                 state == GUFO_EDIT_STATE_LIVE
                     ? "is being edited"
                     : "an edit of the file was interrupted; recover it first");
    return false;
}

/* All files of a set, or one. */
typedef struct opened {
    gufo_input *inputs;
    char **paths;
    size_t count;
    bool is_whole; /* else the model has a fault */
} opened;

static gufo_status open_shards(const gufo_find *find, found_file *file, opened *o,
                               gufo_error *error)
{
    size_t count = file->count > 0 ? file->count : 1;
    gufo_error fault;

    o->inputs = mem_array(&find->allocator, count, sizeof *o->inputs);
    o->paths = mem_array(&find->allocator, count, sizeof *o->paths);
    if (o->inputs == NULL || o->paths == NULL)
        return fail_memory(error);
    for (file->size = 0; o->count < count; o->count++) {
        char *path = sibling_path(find, file, (uint32_t)o->count + 1);

        if (path == NULL)
            return fail_memory(error);
        o->paths[o->count] = path;
        if (!open_shard(file, path, &o->inputs[o->count], &fault)) {
            o->count++;
            return set_fault(find, file, path, &fault, error);
        }
    }
    o->is_whole = true;
    return GUFO_OK;
}

static void close_shards(const gufo_find *find, opened *o)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->inputs[i].fd >= 0)
            (void)close(o->inputs[i].fd);
        mem_free(&find->allocator, o->paths[i]);
    }
    mem_free(&find->allocator, o->inputs);
    mem_free(&find->allocator, o->paths);
}

/* ---- headers -------------------------------------------------------------------------------- */

static char *copy_text(const gufo_find *find, const gufo_model *model, const char *key,
                       bool *memory)
{
    gufo_str text;
    char *copy;

    if (gufo_model_get_str(model, key, &text, NULL) != GUFO_OK)
        return NULL;
    if (text.len > MOST_TEXT) {
        text.len = MOST_TEXT;
        text.len = gufo_utf8_valid_prefix(text); /* no half characters */
    }
    copy = mem_text(&find->allocator, text);
    *memory = *memory && copy != NULL;
    return copy;
}

static gufo_status take_facts(const gufo_find *find, found_file *file, const gufo_model *model,
                              gufo_error *error)
{
    gufo_summary o;
    bool memory = true;

    gufo_model_summarize(model, &o);
    file->title = copy_text(find, model, "general.name", &memory);
    file->architecture = copy_text(find, model, "general.architecture", &memory);
    file->quantization = o.quantization;
    file->parameters = o.parameters < UINT64_MAX ? o.parameters : 0;
    (void)gufo_model_key_u64(model, "{arch}.context_length", &file->context, NULL);
    return memory ? GUFO_OK : fail_memory(error);
}

/* Opens a model in another format as the one that it becomes, with the size and the date of all of its
 * files; *out is NULL after a fault. */
static gufo_status open_foreign(const gufo_find *find, found_file *file, gufo_model **out,
                                gufo_error *error)
{
    const gufo_find_options *options = &find->options;
    struct stat status;
    const char *path;
    gufo_error fault = {.offset = GUFO_NO_OFFSET};

    *out = NULL;
    if (options->open == NULL)
        (void)refuse(&fault, GUFO_E_ARGUMENT, "gufo_find_options.open is missing");
    else
        *out = options->open(options->context, file->path, &fault);
    if (*out == NULL && fault.code == GUFO_E_MEMORY)
        return fail_as(error, &fault);
    if (*out == NULL)
        return set_fault(find, file, file->path, &fault, error);
    if (options->part == NULL)
        return GUFO_OK;
    file->size = 0;
    for (uint32_t i = 0; (path = options->part(options->context, *out, i)) != NULL; i++)
        if (stat(path, &status) == 0)
            add_file_facts(file, &status);
    return GUFO_OK;
}

/* Opens what can be read of a broken file, and keeps the fault. */
static gufo_status open_broken(const gufo_find *find, found_file *file, const opened *o,
                               gufo_open_options *open, const gufo_error *fault, gufo_model **out,
                               gufo_error *error)
{
    const gufo_find_options *options = &find->options;
    gufo_find_kind kind = fault->code == GUFO_E_NOT_GGUF && options->kind != NULL
                              ? options->kind(options->context, file->path)
                              : GUFO_FIND_NOTHING;
    gufo_status status;
    gufo_error lenient = {.offset = GUFO_NO_OFFSET};

    /* A part of a checkpoint is not listed beside it. */
    if (kind == GUFO_FIND_OLD || (kind == GUFO_FIND_CHECKPOINT && !file->guessed))
        return open_foreign(find, file, out, error);
    file->left_out = fault->code == GUFO_E_NOT_GGUF && file->guessed;
    if (file->left_out)
        return GUFO_OK;
    status = set_fault(find, file, file->path, fault, error);
    if (status != GUFO_OK)
        return status;
    open->flags |= GUFO_OPEN_LENIENT;
    *out = gufo_model_open_shards(o->inputs, o->count, open, &lenient);
    return *out == NULL && lenient.code == GUFO_E_MEMORY ? fail_as(error, &lenient) : GUFO_OK;
}

/* The metadata of files that are read side by side; longer ones are read one after the other, so that a folder
 * of a stranger takes the memory of one. */
enum { SHORT_METADATA = 32 << 20 };

/* Whether a file is to be read alone. */
static bool is_too_long(found_file *file, const gufo_error *fault)
{
    bool first = !file->is_long;

    file->is_long = fault->rule != NULL && strcmp(fault->rule->id, "G107") == 0;
    return first && file->is_long;
}

static gufo_status open_whole(const gufo_find *find, found_file *file, const opened *o,
                              gufo_model **out, gufo_error *error)
{
    gufo_open_options options = {.flags = GUFO_OPEN_NO_MAP,
                                 .name = file->path,
                                 .allocator = &find->allocator,
                                 .max_unmapped = file->is_long ? 0 : SHORT_METADATA};
    gufo_error fault;

    options.flags |= file->count == 0 ? GUFO_OPEN_INCOMPLETE : 0;
    *out = gufo_model_open_shards(o->inputs, o->count, &options, &fault);
    if (*out == NULL && fault.code == GUFO_E_MEMORY)
        return fail_as(error, &fault);
    return *out != NULL || is_too_long(file, &fault)
               ? GUFO_OK
               : open_broken(find, file, o, &options, &fault, out, error);
}

static gufo_status read_model(const gufo_find *find, found_file *file, gufo_error *error)
{
    gufo_model *model = NULL;
    opened o = {0};
    gufo_status status;

    if (file->folder) {
        status = open_foreign(find, file, &model, error);
    } else {
        status = open_shards(find, file, &o, error);
        if (status == GUFO_OK && o.is_whole)
            status = open_whole(find, file, &o, &model, error);
    }
    if (status == GUFO_OK && model != NULL)
        status = take_facts(find, file, model, error);
    gufo_model_free(model);
    close_shards(find, &o);
    return status;
}

typedef struct reading {
    gufo_find *find;
    const gufo_run *run;
} reading;

static gufo_status read_file(void *context, unsigned thread, uint64_t index, void *result,
                             gufo_error *error)
{
    const reading *r = context;
    found_file *file = &r->find->files[index];

    (void)thread, (void)result;
    return file->left_out ? GUFO_OK : read_model(r->find, file, error);
}

static gufo_status count_file(void *context, uint64_t index, const void *result, gufo_error *error)
{
    const reading *r = context;

    (void)result;
    return run_progress(r->run, index + 1, r->find->count, error);
}

/* ---- the list ------------------------------------------------------------------------------- */

/* Those that are left out come last. */
static bool model_before(const void *a, const void *b)
{
    const found_file *x = a, *y = b;
    int order = (x->left_out > y->left_out) - (x->left_out < y->left_out);

    if (order == 0)
        order = strcmp(x->tag != NULL ? x->tag : x->path, y->tag != NULL ? y->tag : y->path);
    return order != 0 ? order < 0 : strcmp(x->path, y->path) < 0;
}

static gufo_status read_all(reading *r, gufo_error *error)
{
    parallel_loop loop = {.end = r->find->count,
                          .threads = thread_count(r->run->threads),
                          .context = r,
                          .work = read_file,
                          .hand_over = count_file};
    gufo_status status = join(r->find, error);

    if (status == GUFO_OK)
        status = parallel_run(&loop, run_allocator(r->run), error);
    for (uint64_t i = 0; i < r->find->count && status == GUFO_OK; i++)
        if (r->find->files[i].is_long)
            status = read_model(r->find, &r->find->files[i], error);
    return status;
}

gufo_status gufo_find_read(gufo_find *find, const gufo_run *run, gufo_error *error)
{
    reading r = {.find = find, .run = run_of(run)};
    gufo_status status = run_check(r.run, error);

    if (status == GUFO_OK && find->is_read)
        status = refuse(error, GUFO_E_ARGUMENT, "the models of the list have been read");
    if (status != GUFO_OK)
        return status;
    find->is_read = true;
    if (find->count == 0)
        return GUFO_OK;
    status = read_all(&r, error);
    if (status == GUFO_OK)
        sort_items(find->files, (size_t)find->count, sizeof *find->files, model_before);
    else
        find_clear(find);
    return status;
}

bool gufo_find_at(const gufo_find *find, uint64_t index, gufo_found *out)
{
    const found_file *file = find->is_read && index < find->count ? &find->files[index] : NULL;

    if (file == NULL || file->left_out)
        return false;
    *out = (gufo_found){.path = file->path,
                        .name = file->tag,
                        .cache = file->cache,
                        .shards = file->count > 0 ? file->count : 1,
                        .size = file->size,
                        .date = file->date,
                        .title = file->title,
                        .architecture = file->architecture,
                        .quantization = file->quantization,
                        .parameters = file->parameters,
                        .context = file->context,
                        .fault = file->fault};
    return true;
}
