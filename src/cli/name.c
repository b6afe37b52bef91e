/* gufo name FILE...: whether the names of files conform to the naming convention, and what their
 * parts say. */
#include "cli/name.h"

#include "cli/commands.h"
#include "cli/report.h"
#include "cli/save.h"
#include "cli/stdout.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- command line --------------------------------------------------------------------------- */

static const command_option name_table[] = {
    {"suggest", NULL, "Make a conforming name from the metadata and the tensors of FILE",
     OPTION_FLAG(name_options, suggest)},
    {"rename", NULL, "Rename FILE to it; for the first shard of a set, rename all of its shards",
     OPTION_FLAG(name_options, rename)},
    {0},
};

/* ---- output --------------------------------------------------------------------------------- */

/* Whether the argument is more than a name: a file that is there, or the way to one. */
static bool is_path(const char *text)
{
    struct stat info;

    return strchr(text, '/') != NULL || lstat(text, &info) == 0;
}

static int explain(const char *path, const shared_options *shared)
{
    gufo_str name = gufo_str_of(path_name(path));
    gufo_name parsed;
    gufo_error error;
    bool conforming = gufo_name_explain(name, &parsed, &error) == GUFO_OK;

    if (shared->json) {
        json_writer j = json_writer_start(stdout);

        name_begin_json(&j, path, is_path(path));
        json_end_document(&j);
    } else {
        text_put(stdout, name, TEXT_PLAIN);
        if (conforming)
            puts(": conforms");
        else
            printf(": does not conform: %s\n", error.message);
        name_print_parts(&parsed, conforming);
    }
    return conforming ? CODE_OK : CODE_NO;
}

/* Whether argument `index` is a later shard of a set that an argument before it has named as a
 * whole:
 * `gufo name --rename *.gguf`. */
static bool is_treated(const shared_options *shared, int index)
{
    const char *path = shared->args[index];
    size_t prefix_len;
    uint32_t number, count;
    bool found = false;

    if (!gufo_shard_path_parse(path, &prefix_len, &number, &count) || number == 1)
        return false;
    char *first = input_sibling_path(path, 1);

    for (int i = 0; i < index && first != NULL && !found; i++)
        found = strcmp(shared->args[i], first) == 0;
    free(first);
    return found;
}

static int name_all(void *context)
{
    const name_options *options = context;
    const shared_options *shared = options->base.shared;
    bool opens = options->suggest || options->rename;
    output_guard kept;
    int code = CODE_OK;

    if (options->input.single && (options->rename || !opens))
        return report_usage("name", "--single is for --suggest only");
    if (!save_guard(&kept, (const char *const *)shared->args,
                    options->rename ? (size_t)shared->arg_count : 0))
        return CODE_FAILED;
    for (int i = 0; i < shared->arg_count && !stdout_broken(); i++)
        if (!opens || options->input.single || !is_treated(shared, i))
            code = worst_code(code, opens ? name_suggest(shared->args[i], options, &kept)
                                          : explain(shared->args[i], shared));
    guard_free(&kept);
    return code;
}

const command_line command_name = {
    .operands = "FILE...",
    .doc =
        "Explain the names of model files.\v"
        "Without options no file is opened, and none has to exist.  Exit status 1 means that "
        "a name does not conform to the naming convention of GGUF files, and the output says why.  "
        "A file that has the new name already is replaced only with --force.",
    .options = name_table,
    .size = sizeof(name_options),
    .single = offsetof(name_options, input.single),
    .least = 1,
    .needed = "no FILE is given",
    .run = name_all,
};
