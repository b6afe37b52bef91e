/* Opening what the user named. */
#include "cli/input.h"

#include "cli/report.h"
#include "cli/save.h"
#include "cli/signals.h"

#include "gufo/edit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options -------------------------------------------------------------------------------- */

static const struct argp_option input_table[] = {
    {"single", OPTION_SINGLE, NULL, 0, "Take just FILE, even if it is the first shard of a set", 1},
    {0},
};

static error_t parse_input(int key, char *text, struct argp_state *state)
{
    input_options *options = state->input;

    (void)text;
    if (key != OPTION_SINGLE)
        return ARGP_ERR_UNKNOWN;
    options->single = true;
    return 0;
}

static const struct argp input_argp = {.options = input_table, .parser = parse_input};

const struct argp_child input_children[] = {
    {&options_shared, 0, NULL, 90}, {&input_argp, 0, NULL, 0}, {0}};

/* ---- shards --------------------------------------------------------------------------------- */

bool input_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

char *input_sibling_path(const char *path, uint32_t number)
{
    size_t prefix_len, size = strlen(path) + 1;
    uint32_t own_number, count;
    char *text;

    if (!gufo_shard_path_parse(path, &prefix_len, &own_number, &count))
        return NULL;
    text = malloc(size);
    if (text != NULL)
        (void)gufo_shard_path_format(text, size, path, prefix_len, number, count);
    return text;
}

/* Whether this sibling is missing.  One that is there but cannot be read is not: opening it will
 * tell why. */
static bool is_missing(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 && errno == ENOENT;
}

uint32_t input_set_size(const char *path, bool single)
{
    size_t prefix_len;
    uint32_t number, count;

    if (single || input_is_stdin(path) || is_missing(path) ||
        !gufo_shard_path_parse(path, &prefix_len, &number, &count) || number != 1 || count < 2)
        return 0;
    for (number = 2; number <= count; number++) {
        char *sibling = input_sibling_path(path, number);
        bool missing = sibling == NULL || is_missing(sibling);

        if (missing && sibling != NULL)
            report_warning(path, "shard %s is missing; only this file is looked at", sibling);
        free(sibling);
        if (missing)
            return 0;
    }
    return count;
}

/* ---- edits on the way ---------------------------------------------------------------------- */

static bool file_is_pending(const char *path)
{
    gufo_edit_state state =
        input_is_stdin(path) ? GUFO_EDIT_STATE_SETTLED : gufo_edit_pending(path);

    if (state == GUFO_EDIT_STATE_LIVE)
        report_message(path, "is being edited");
    else if (state == GUFO_EDIT_STATE_INTERRUPTED)
        report_message(path, "an edit of it was interrupted; 'gufo edit --recover %s' repairs it",
                       path);
    else if (state == GUFO_EDIT_STATE_OLDER)
        report_message(path, "an edit of it by an older version of gufo was interrupted; only that "
                             "version can recover it");
    return state != GUFO_EDIT_STATE_SETTLED;
}

bool input_is_pending(const char *path)
{
    bool pending = file_is_pending(path);
    size_t prefix_len;
    uint32_t number, count;

    if (!gufo_shard_path_parse(path, &prefix_len, &number, &count) || number != 1)
        return pending;
    for (number = 2; number <= count && !pending; number++) {
        char *sibling = input_sibling_path(path, number);

        pending = sibling != NULL && file_is_pending(sibling);
        free(sibling);
    }
    return pending;
}

/* ---- opening -------------------------------------------------------------------------------- */

gufo_set *input_open_set(const char *path, uint32_t open_flags)
{
    gufo_open_options options = {.flags = open_flags};
    char *failed_path = NULL;
    gufo_error error;
    gufo_set *set;

    if (input_is_pending(path))
        return NULL;
    signals_reading(path);
    set = gufo_set_open(path, &options, &failed_path, &error);
    if (set == NULL) {
        report_error(failed_path != NULL ? failed_path : path, &error);
        signals_reading(NULL);
    }
    free(failed_path);
    return set;
}

static gufo_file *open_file(const char *path, uint32_t open_flags)
{
    gufo_open_options options = {.flags = open_flags};
    gufo_error error;
    gufo_file *file;

    if (file_is_pending(path))
        return NULL;
    signals_reading(path);
    file = input_is_stdin(path) ? gufo_open_fd(STDIN_FILENO, &options, &error)
                                : gufo_open(path, &options, &error);
    if (file == NULL) {
        report_error(path, &error);
        signals_reading(NULL);
    }
    return file;
}

static int open_as(input *in, const char *path, uint32_t open_flags, bool set)
{
    *in = (input){.path = path};
    if (set)
        in->set = input_open_set(path, open_flags);
    else
        in->file = open_file(path, open_flags);
    return in->set != NULL || in->file != NULL ? CODE_OK : CODE_FAILED;
}

int input_open(input *in, const char *path, const input_options *options)
{
    return open_as(in, path, options->open_flags, input_set_size(path, options->single) > 0);
}

int input_open_whole(input *in, const char *path, const input_options *options)
{
    return open_as(in, path, options->open_flags, !options->single && !input_is_stdin(path));
}

void input_close(input *in)
{
    gufo_set_close(in->set);
    gufo_close(in->file);
    *in = (input){0};
    signals_reading(NULL);
}

const gufo_file *input_main(const input *in)
{
    return input_shard(in, 0);
}

size_t input_shard_count(const input *in)
{
    return in->set != NULL ? gufo_set_shard_count(in->set) : 1;
}

const gufo_file *input_shard(const input *in, size_t index)
{
    return in->set != NULL ? gufo_set_shard(in->set, index) : in->file;
}

const char *input_shard_path(const input *in, size_t index)
{
    return in->set != NULL ? gufo_set_shard_path(in->set, index) : in->path;
}

bool input_guard(const input *in, output_guard *guard)
{
    size_t count = input_shard_count(in);
    const char **paths = calloc(count, sizeof *paths);
    bool guarded = false;

    for (size_t i = 0; paths != NULL && i < count; i++)
        paths[i] = input_shard_path(in, i);
    if (paths != NULL)
        guarded = save_guard(guard, paths, count);
    else
        report_message(in->path, "out of memory");
    free(paths);
    return guarded;
}

uint64_t input_tensor_count(const input *in)
{
    return in->set != NULL ? gufo_set_tensor_count(in->set) : gufo_tensor_count(in->file);
}

bool input_tensor_at(const input *in, uint64_t index, gufo_tensor *out, size_t *shard)
{
    if (in->set != NULL)
        return gufo_set_tensor_at(in->set, index, out, shard);
    *shard = 0;
    return gufo_tensor_at(in->file, index, out);
}
