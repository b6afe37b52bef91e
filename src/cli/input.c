/* Opening what the user named. */
#include "cli/input.h"

#include "cli/report.h"
#include "cli/signals.h"

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

/* ---- opening -------------------------------------------------------------------------------- */

static int open_set(input *in, const gufo_open_options *options)
{
    gufo_error error;
    char *failed_path = NULL;

    in->set = gufo_set_open(in->path, options, &failed_path, &error);
    if (in->set == NULL)
        report_error(failed_path != NULL ? failed_path : in->path, &error);
    free(failed_path);
    return in->set != NULL ? CODE_OK : CODE_FAILED;
}

static int open_file(input *in, const gufo_open_options *options)
{
    gufo_error error;

    if (input_is_stdin(in->path))
        in->file = gufo_open_fd(STDIN_FILENO, options, &error);
    else
        in->file = gufo_open(in->path, options, &error);
    if (in->file == NULL)
        report_error(in->path, &error);
    return in->file != NULL ? CODE_OK : CODE_FAILED;
}

int input_open(input *in, const char *path, const input_options *options)
{
    gufo_open_options open_options = {.flags = options->open_flags};
    int code;

    *in = (input){.path = path};
    signals_reading(path);
    if (input_set_size(path, options->single) > 0)
        code = open_set(in, &open_options);
    else
        code = open_file(in, &open_options);
    if (code != CODE_OK)
        signals_reading(NULL);
    return code;
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
