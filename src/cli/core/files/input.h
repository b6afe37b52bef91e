/* A FILE argument that is read: a path, "-" for standard input, or the first shard of a set; an address of a
 * model elsewhere (remote.h); a model in another format is seen as the GGUF file that it becomes
 * (foreign_file.h). */
#ifndef CLI_CORE_FILES_INPUT_H
#define CLI_CORE_FILES_INPUT_H

#include "gufo/files.h"
#include "cli/core/files/path.h"
#include "cli/core/options/options.h"

#include "gufo/format.h"

typedef struct input_options {
    uint32_t open_flags; /* of gufo_open_flags */
    bool single;         /* the first shard of a set means just that file */
} input_options;

/* The row of --single: the options of the command have an `input`. */
#define OPTION_SINGLE(type)                                                       \
    {                                                                             \
        "single", NULL, "Read just FILE, even if it is the first shard of a set", \
            OPTION_FLAG(type, input.single)                                       \
    }

typedef struct input {
    const char *path; /* as the user wrote it */
    gufo_model *model;
} input;

/* How many shards `path` means: 0 for a single file.  It means a set if it has the name of the
 * first of several shards, `single` is false, and all siblings exist.  Warns about the first one
 * that is missing, also for a later shard. */
uint32_t input_set_size(const char *path, bool single);
/* The same without the warning: *missing is the path of the first shard that is missing, which the
 * caller frees, or NULL. */
uint32_t input_find_set(const char *path, bool single, char **missing);
/* The same by its name alone, whether the siblings are there or not. */
uint32_t input_named_size(const char *path, bool single);
/* The path of shard `number`, from 1, of the set of `path`, which the caller frees; NULL without
 * memory. */
char *input_sibling_path(const char *path, uint32_t number);

/* Where nothing has the name `path`: "did you mean NAME?", if a name in its folder is near; false if
 * none is. */
enum { INPUT_NEAR_SIZE = 512 };
bool input_find_near(const char *path, char out[INPUT_NEAR_SIZE]);

/* Whether the model is one of several shards, opened alone: which, from 1, and of how many. */
bool input_is_part(const gufo_model *model, uint64_t *number, uint64_t *count);

/* Whether this is a regular file that begins as a GGUF file does, even in the wrong byte order. */
bool input_is_gguf(const char *path);

/* Opens the model.  If `path` does not mean a set, opens just that file, even if it is a part of
 * one.  Returns CODE_OK, or CODE_FAILED after a report. */
int input_open(input *in, const char *path, const input_options *options);
/* The same for commands that need the data: all shards of a set must exist. */
int input_open_whole(input *in, const char *path, const input_options *options);
/* The same; CODE_USAGE after a report for a pipe, whose data cannot be read again.  `use` is what
 * the command does with it: "hashed". */
int input_open_data(input *in, const char *path, const input_options *options, const char *use);
void input_close(input *in);

/* CODE_NO if the file is damaged, which GUFO_OPEN_LENIENT accepts; with `report`, reports the first
 * fault of each shard. */
int input_damage(const input *in, bool report);

/* Opens the model that `path` is, or begins; refuses a file that is only a part of one.  NULL after
 * a report. */
gufo_model *input_open_model(const char *path, uint32_t open_flags);

/* Opens a GGUF file from wherever it is: gufo_model_open for a path, standard input or an address. */
gufo_model *input_open_file(const char *path, const gufo_open_options *options, gufo_error *error);

/* Opens what is there, without a report and without a look for edits and for shards that are missing. */
gufo_model *input_open_quietly(const char *path, uint32_t open_flags, gufo_error *error);

/* The path of file `index` of a model: of its shards, or of the parts of an old file; NULL past the last
 * one. */
const char *input_file_at(const gufo_model *model, size_t index);

/* Guards all its files against being replaced by an output (gufo/files.h); the caller frees
 * the guard with gufo_guard_free.  False after a report. */
bool input_guard(const input *in, gufo_guard *guard);
/* Adds them to a guard.  False, with the guard freed, after a report. */
bool input_guard_more(const input *in, gufo_guard *guard);

/* Whether an edit of the file, or of a shard of the set that it begins, is running or was
 * interrupted, so that it must not be read; reports that with advice. */
bool input_is_pending(const char *path);

#endif
