/* gufo name FILE...: checks names of files against the naming convention and explains their parts;
 * makes names from the content of files (--suggest, --rename). */
#include "cli/commands.h"
#include "cli/core/files/input.h"
#include "cli/core/values/json.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/validate/rename.h"

#include "gufo/name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct name_options {
    command_input base;
    input_options input;
    bool suggest, rename;
} name_options;

/* ---- command line --------------------------------------------------------------------------- */

static const command_option name_table[] = {
    {"suggest", NULL, "Make a name by the convention from the metadata and the tensors of FILE",
     OPTION_FLAG(name_options, suggest)},
    {"rename", NULL,
     "Rename FILE to the suggested name; for the first shard of a set, rename all of its shards",
     OPTION_FLAG(name_options, rename)},
    OPTION_SINGLE(name_options),
    {0},
};

/* ---- the parts ------------------------------------------------------------------------------ */

static const struct part {
    const char *key, *label;
    size_t offset; /* of the gufo_str in gufo_name */
} parts[] = {
    {"sidecar", "sidecar", offsetof(gufo_name, sidecar)},
    {"base_name", "base name", offsetof(gufo_name, base_name)},
    {"size_label", "size label", offsetof(gufo_name, size_label)},
    {"fine_tune", "fine tune", offsetof(gufo_name, fine_tune)},
    {"version", "version", offsetof(gufo_name, version)},
    {"encoding", "encoding", offsetof(gufo_name, encoding)},
    {"type", "type", offsetof(gufo_name, type)},
    {"shard", "shard", offsetof(gufo_name, shard)},
};

enum { PART_COUNT = sizeof parts / sizeof *parts };

static gufo_str part_of(const gufo_name *name, size_t index)
{
    return *(const gufo_str *)(const void *)((const char *)name + parts[index].offset);
}

/* The numbers in the parts of the name; null where the part is absent or 64 bits do not hold it. */
static void write_facts(json_writer *j, const gufo_name *name)
{
    gufo_name_facts facts = gufo_name_read_facts(name);

    json_write_known(j, "expert_count", facts.parameters > 0, facts.experts);
    json_write_known(j, "parameter_count", facts.parameters > 0, facts.parameters);
    json_write_known(j, "shard_number", facts.shard > 0, facts.shard);
    json_write_known(j, "shard_count", facts.shard > 0, facts.shard_count);
}

/* Begins the JSON object of one FILE: its name and the parts of it.  `with_path`: it is more than a
 * name. */
static void begin_json(json_writer *j, const char *path, bool with_path)
{
    gufo_str name = gufo_str_of(path_name(path));
    gufo_error error = {0};
    gufo_name parsed;
    bool conforming = gufo_name_explain(name, &parsed, &error) == GUFO_OK;

    json_begin_object(j, NULL);
    if (with_path)
        json_write_text(j, "path", path);
    json_write_str(j, "name", name);
    json_write_bool(j, "conforming", conforming);
    for (size_t i = 0; i < PART_COUNT; i++) {
        gufo_str part = part_of(&parsed, i);

        if (part.data != NULL)
            json_write_str(j, parts[i].key, part);
        else
            json_write_null(j, parts[i].key);
    }
    write_facts(j, &parsed);
    if (!conforming)
        json_write_text(j, "reason", error.message);
}

static void print_parts(const gufo_name *parsed, gufo_str name)
{
    uintptr_t begin = (uintptr_t)name.data;

    for (size_t i = 0; i < PART_COUNT; i++) {
        gufo_str part = part_of(parsed, i);

        if (part.data == NULL)
            continue;
        printf("  %-10s  ", parts[i].label);
        text_put(stdout, part, TEXT_PLAIN);
        puts((uintptr_t)part.data - begin > name.len ? " (assumed)" : "");
    }
}

/* ---- output --------------------------------------------------------------------------------- */

/* Whether the argument is more than a name: an existing file, or a path. */
static bool is_path(const char *text)
{
    struct stat info;

    return strchr(text, '/') != NULL || lstat(text, &info) == 0;
}

static int explain(const char *path, const shared_options *shared)
{
    gufo_str name = gufo_str_of(path_name(path));
    json_writer j = json_writer_start(stdout);
    gufo_name parsed;
    gufo_error error;
    bool conforming = gufo_name_explain(name, &parsed, &error) == GUFO_OK;

    if (shared->json) {
        begin_json(&j, path, is_path(path));
        json_end_document(&j);
    } else {
        if (conforming)
            text_print("%.*s: conforms\n", (int)name.len, name.data);
        else
            text_print("%.*s: does not conform: %s\n", (int)name.len, name.data, error.message);
        print_parts(&parsed, name);
    }
    return conforming ? CODE_OK : CODE_NO;
}

/* ---- suggesting ----------------------------------------------------------------------------- */

/* The new names for the files of one model, and the name of its first file. */
typedef struct proposal {
    rename_move *moves; /* with copies of paths: files are closed before they get new names */
    size_t count;
    char first[GUFO_NAME_SIZE];
    gufo_error fault; /* why it does not conform; GUFO_OK: it does */
} proposal;

static void free_proposal(proposal *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free((char *)p->moves[i].from);
        free((char *)p->moves[i].to);
    }
    free(p->moves);
}

static int propose_one(proposal *p, const input *in, size_t index)
{
    const char *path = gufo_model_name(gufo_model_shard(in->model, index));
    char name[GUFO_NAME_SIZE];
    rename_move *move;
    gufo_error error;

    if (gufo_name_suggest(in->model, index, name, &error) != GUFO_OK)
        return report_error(path, &error);
    if (index == 0)
        memcpy(p->first, name, sizeof name);
    if (strcmp(path_name(path), name) == 0)
        return CODE_OK;
    move = &p->moves[p->count++];
    *move = (rename_move){strdup(path), path_beside(path, name)};
    return move->from != NULL && move->to != NULL ? CODE_OK : report_memory(path);
}

static int propose(proposal *p, const input *in)
{
    size_t count = gufo_model_shard_count(in->model);
    int code = CODE_OK;

    p->moves = calloc(count, sizeof *p->moves);
    if (p->moves == NULL)
        return report_memory(in->path);
    for (size_t i = 0; i < count && code == CODE_OK; i++)
        code = propose_one(p, in, i);
    if (code == CODE_OK && gufo_name_explain(gufo_str_of(p->first), NULL, &p->fault) != GUFO_OK)
        report_warning(in->path, "%s does not conform: %s", p->first, p->fault.message);
    return code;
}

/* ---- renaming ------------------------------------------------------------------------------- */

static int rename_files(proposal *p, bool force, output_guard *kept)
{
    const char *failed_path = NULL;
    gufo_error error;
    gufo_status status = GUFO_OK;

    signals_hold();
    if (p->count > 0)
        status = rename_all(p->moves, p->count, force, kept, &failed_path, &error);
    signals_release();
    if (status != GUFO_OK)
        return save_report(failed_path, &error);
    for (size_t i = 0; i < p->count; i++)
        if (!save_guard_more(kept, &p->moves[i].to, 1))
            return CODE_FAILED;
    return CODE_OK;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void write_json(const char *path, const proposal *p, bool renamed)
{
    json_writer j = json_writer_start(stdout);

    begin_json(&j, path, true);
    json_write_text(&j, "suggested", p->first);
    if (p->fault.code != GUFO_OK)
        json_write_text(&j, "suggested_reason", p->fault.message);
    if (renamed) {
        json_begin_array(&j, "renamed");
        for (size_t i = 0; i < p->count; i++) {
            json_begin_object(&j, NULL);
            json_write_text(&j, "from", p->moves[i].from);
            json_write_text(&j, "to", p->moves[i].to);
            json_end_object(&j);
        }
        json_end_array(&j);
    }
    json_end_document(&j);
}

static void print_moves(const proposal *p)
{
    if (p->count == 0)
        printf("%s: the file already has that name\n", p->first);
    for (size_t i = 0; i < p->count; i++)
        text_print("%s -> %s\n", p->moves[i].from, p->moves[i].to);
}

/* ---- one FILE ------------------------------------------------------------------------------- */

/* --suggest and --rename for one FILE.  Adds renamed files to `kept`: no other may replace them. */
static int suggest(const char *path, const name_options *options, output_guard *kept)
{
    const shared_options *shared = options->base.shared;
    proposal p = {0};
    input in;
    int code;

    if (options->rename && path_is_standard(path))
        return report_usage("standard input has no name to change");
    if (options->rename && foreign_file_refuse(path))
        return CODE_FAILED;
    code = (options->rename ? input_open_whole : input_open)(&in, path, &options->input);
    if (code != CODE_OK)
        return code;
    code = propose(&p, &in);
    input_close(&in);
    if (code == CODE_OK && options->rename)
        code = rename_files(&p, shared->force, kept);
    if (code == CODE_OK && shared->json)
        write_json(path, &p, options->rename);
    else if (code == CODE_OK && !options->rename)
        puts(p.first);
    else if (code == CODE_OK && !shared->quiet)
        print_moves(&p);
    free_proposal(&p);
    return code;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Whether argument `index` is a later shard of a set that an argument before it has named as a
 * whole: `gufo name --rename *.gguf`. */
static bool is_treated(const shared_options *shared, int index)
{
    const char *path = shared->args[index];
    uint32_t number;
    bool found = false;

    if (!gufo_shard_path_parse(path, NULL, &number, NULL) || number == 1)
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
        return report_usage("--single is for --suggest only");
    if (!save_guard(&kept, (const char *const *)shared->args,
                    options->rename ? (size_t)shared->arg_count : 0))
        return CODE_FAILED;
    for (int i = 0; i < shared->arg_count && !stdout_broken(); i++)
        if (!opens || options->input.single || !is_treated(shared, i))
            code = worst_code(code, opens ? suggest(shared->args[i], options, &kept)
                                          : explain(shared->args[i], shared));
    guard_free(&kept);
    return code;
}

const command_line command_name = {
    .operands = {"FILE...", 1, 0, "no FILE is given"},
    .doc =
        "Explain the names of model files.\v"
        "Without options, gufo opens no file, and FILE need not exist.  Exit status 1 means that "
        "a name does not conform to the naming convention of GGUF files, and the output says why.  "
        "gufo replaces a file that already has the new name only with --force.",
    .examples = {{"gufo name Mixtral-8x7B-v0.1-Q4_K_M.gguf", "Explains the parts of the name."},
                 {"gufo name --rename model.gguf",
                  "Gives the file the name that its metadata asks for."}},
    COMMAND_OPTIONS(name_table, name_options),
    .run = name_all,
};
