/* Opening what the user named. */
#include "cli/core/files/input.h"

#include "cli/core/files/foreign_file.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/save.h"
#include "cli/core/options/names.h"
#include "cli/core/terminal/signals.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- shards --------------------------------------------------------------------------------- */

/* Of an address what is behind its question mark stays. */
char *input_sibling_path(const char *path, uint32_t number)
{
    const char *full = remote_spelled(path), *shown = remote_shown(full);
    size_t prefix_len, size = strlen(full) + 1;
    uint32_t own_number, count;
    char *text;

    if (!gufo_shard_path_parse(shown, &prefix_len, &own_number, &count))
        return NULL;
    text = malloc(size);
    if (text != NULL)
        (void)snprintf(text + gufo_shard_path_format(text, size, shown, prefix_len, number, count),
                       size - strlen(shown), "%s", full + strlen(shown));
    return text;
}

/* Whether this sibling is missing.  A sibling that cannot be read is not missing, nor is one elsewhere: opening
 * it reports why. */
static bool is_missing(const char *path)
{
    struct stat status;

    return !remote_is(path) && stat(path, &status) != 0 && errno == ENOENT;
}

/* The number of the shard that the path names, and the count of its set: false for one of one, and
 * where the name does not say it. */
static bool names_shard(const char *path, uint32_t *number, uint32_t *count)
{
    return !path_is_standard(path) &&
           gufo_shard_path_parse(remote_shown(remote_spelled(path)), NULL, number, count) &&
           *count > 1;
}

/* The path of the first of the other shards that is missing, which the caller frees; NULL if none
 * is missing, or without memory. */
static char *find_missing(const char *path, uint32_t own, uint32_t count)
{
    for (uint32_t number = 1; number <= count; number++) {
        char *sibling = number != own ? input_sibling_path(path, number) : NULL;

        if (sibling != NULL && is_missing(sibling))
            return sibling;
        free(sibling);
    }
    return NULL;
}

uint32_t input_named_size(const char *path, bool single)
{
    uint32_t number, count;

    return !single && names_shard(path, &number, &count) && number == 1 ? count : 0;
}

uint32_t input_find_set(const char *path, bool single, char **missing)
{
    uint32_t number, count;

    *missing = NULL;
    if (single || !names_shard(path, &number, &count) || is_missing(path))
        return 0;
    *missing = find_missing(path, number, count);
    return *missing == NULL && number == 1 ? count : 0;
}

uint32_t input_set_size(const char *path, bool single)
{
    char *missing;
    uint32_t count = input_find_set(path, single, &missing);

    if (missing != NULL)
        report_warning(path, "shard %s is missing; gufo reads only this file", missing);
    free(missing);
    return count;
}

/* ---- edits in progress --------------------------------------------------------------------- */

bool input_is_pending(const char *path)
{
    bool pending;
    uint32_t number, count;

    if (remote_is(path))
        return false;
    pending = save_is_pending(path, false);
    if (!gufo_shard_path_parse(path, NULL, &number, &count) || number != 1)
        return pending;
    for (number = 2; number <= count && !pending; number++) {
        char *sibling = input_sibling_path(path, number);

        pending = sibling != NULL && save_is_pending(sibling, false);
        free(sibling);
    }
    return pending;
}

/* ---- kinds of files ------------------------------------------------------------------------- */

bool input_is_gguf(const char *path)
{
    char magic[4];

    return (remote_is(path) ? remote_begin : path_begin)(path, magic, sizeof magic) ==
               sizeof magic &&
           (memcmp(magic, "GGUF", sizeof magic) == 0 || memcmp(magic, "FUGG", sizeof magic) == 0);
}

enum { MOST_NAMES = 10000, LETTERS_PER_STEP = 4 };

/* A name without its suffix. */
static gufo_str stem_of(gufo_str name)
{
    const char *dot = strrchr(name.data, '.');

    return dot != NULL ? (gufo_str){name.data, (size_t)(dot - name.data)} : name;
}

/* Whether two names differ in their suffix, or in upper and lower case, alone. */
static bool has_stem_of(gufo_str name, gufo_str wanted)
{
    gufo_str stem = stem_of(name), other = stem_of(wanted);

    if (stem.len != other.len)
        other = wanted;
    return stem.len == other.len && strncasecmp(stem.data, other.data, stem.len) == 0;
}

/* Names in a folder; one step is allowed for each four letters before the suffix: b.gguf is not
 * a.gguf.  Names of the same stem are nearer than all others. */
static suggestion nearest_in(DIR *folder, gufo_str name)
{
    suggestion near = suggest_start(name);
    const struct dirent *entry;
    bool same_stem = false;

    near.best = strcspn(name.data, ".") / LETTERS_PER_STEP + 1;
    for (size_t i = 0; i < MOST_NAMES && (entry = readdir(folder)) != NULL; i++) {
        gufo_str found = gufo_str_of(entry->d_name);
        bool has_stem = has_stem_of(found, name);

        if (found.data[0] == '.' || (same_stem && !has_stem))
            continue;
        if (has_stem && !same_stem) {
            near = suggest_start(name);
            near.best = found.len + name.len + 1;
            same_stem = true;
        }
        if (suggest_offer(&near, found))
            near.name = (gufo_str){
                near.text, (size_t)snprintf(near.text, sizeof near.text, "%s", entry->d_name)};
    }
    return near;
}

bool input_find_near(const char *path, char out[INPUT_NEAR_SIZE])
{
    char folder[PATH_MAX];
    suggestion near;
    DIR *names;

    if (path_is_standard(path) || remote_is(path) || path_exists(path) ||
        !path_folder(path, folder) || (names = opendir(folder)) == NULL)
        return false;
    near = nearest_in(names, gufo_str_of(path_name(path)));
    (void)closedir(names);
    return near.name.len > 0 &&
           snprintf(out, INPUT_NEAR_SIZE, "did you mean %.*s%s?", (int)(path_name(path) - path),
                    path, near.text) < INPUT_NEAR_SIZE;
}

/* ---- opening -------------------------------------------------------------------------------- */

gufo_model *input_open_file(const char *path, const gufo_open_options *options, gufo_error *error)
{
    if (path_is_standard(path))
        return gufo_model_open_fd(STDIN_FILENO, options, error);
    return (remote_is(path) ? remote_open : gufo_model_open)(path, options, error);
}

gufo_model *input_open_quietly(const char *path, uint32_t open_flags, gufo_error *error)
{
    gufo_open_options options = {
        .flags = open_flags, .name = path, .max_depth = options_max_depth()};

    return foreign_file_find(path, NULL) ? foreign_file_open(path, FOREIGN_SEEN, error)
                                         : input_open_file(path, &options, error);
}

static gufo_model *open_model(const char *path, uint32_t open_flags)
{
    char near[INPUT_NEAR_SIZE];
    gufo_error error;
    gufo_model *model;

    if (path[0] == '\0') {
        report_message(NULL, "a FILE has an empty name");
        return NULL;
    }
    path = remote_shown(path);
    signals_reading(path);
    model = input_open_quietly(path, open_flags, &error);
    if (model == NULL) {
        bool is_near = input_find_near(path, near);

        report_error_with(path, &error, is_near ? near : report_limit(error.rule));
        signals_reading(NULL);
    }
    return model;
}

gufo_model *input_open_model(const char *path, uint32_t open_flags)
{
    return input_is_pending(path) ? NULL : open_model(path, open_flags);
}

bool input_is_part(const gufo_model *model, uint64_t *number, uint64_t *count)
{
    if (gufo_model_shard_count(model) > 1 ||
        gufo_model_get_u64(model, "split.count", count, NULL) != GUFO_OK || *count <= 1 ||
        gufo_model_get_u64(model, "split.no", number, NULL) != GUFO_OK || *number >= *count)
        return false;
    ++*number;
    return true;
}

/* A shard that has another name looks like a whole model. */
static void warn_if_part(const char *path, const gufo_model *model)
{
    uint64_t number, count;
    uint32_t ignored;

    if (!path_is_standard(path) && !names_shard(path, &ignored, &ignored) &&
        input_is_part(model, &number, &count))
        report_warning(path, "this is shard %" PRIu64 " of %" PRIu64 "; gufo reads only this file",
                       number, count);
}

static int open_as(input *in, const char *path, const input_options *options, bool set)
{
    uint32_t flags = options->open_flags | (set ? 0 : GUFO_OPEN_INCOMPLETE);

    *in = (input){.path = remote_shown(path)};
    if (!(set || remote_is(path) ? input_is_pending(path) : save_is_pending(path, false)))
        in->model = open_model(path, flags);
    if (in->model != NULL && !set && !options->single)
        warn_if_part(path, in->model);
    return in->model != NULL ? CODE_OK : CODE_FAILED;
}

int input_open(input *in, const char *path, const input_options *options)
{
    return open_as(in, path, options, input_set_size(path, options->single) > 0);
}

int input_open_whole(input *in, const char *path, const input_options *options)
{
    bool is_set = input_named_size(path, options->single) > 0;

    if (!is_set) /* a later shard, perhaps, which may be alone */
        (void)input_set_size(path, options->single);
    return open_as(in, path, options, is_set);
}

int input_open_data(input *in, const char *path, const input_options *options, const char *use)
{
    int code = input_open_whole(in, path, options);

    if (code != CODE_OK || gufo_model_has_data(in->model))
        return code;
    report_message(path, "the data of a pipe cannot be %s; give a file", use);
    input_close(in);
    return CODE_USAGE;
}

void input_close(input *in)
{
    gufo_model_free(in->model);
    *in = (input){0};
    signals_reading(NULL);
}

const char *input_file_at(const gufo_model *model, size_t index)
{
    size_t shards = gufo_model_shard_count(model);

    return index < shards ? gufo_model_name(gufo_model_shard(model, index))
                          : foreign_file_part_at(model, (uint32_t)(index - shards) + 1);
}

bool input_guard(const input *in, gufo_guard *guard)
{
    return save_guard(guard, NULL, 0) && input_guard_more(in, guard);
}

bool input_guard_more(const input *in, gufo_guard *guard)
{
    /* "-" is standard input, which may be a file. */
    bool guarded = save_guard_more(guard, &in->path, 1);
    const char *path;

    for (size_t i = 0; guarded && in->model != NULL && (path = input_file_at(in->model, i)) != NULL;
         i++)
        guarded = save_guard_more(guard, &path, 1);
    return guarded && foreign_file_guard(in->path, guard);
}

int input_damage(const input *in, bool report)
{
    int code = CODE_OK;

    for (size_t i = 0; i < gufo_model_shard_count(in->model); i++) {
        const gufo_error *damage = gufo_model_damage(gufo_model_shard(in->model, i));

        if (damage == NULL)
            continue;
        code = CODE_NO;
        if (report)
            report_error(gufo_model_name(gufo_model_shard(in->model, i)), damage);
    }
    return code;
}
