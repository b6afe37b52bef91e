/* gufo name FILE...: checks names of files against the naming convention and explains their parts;
 * makes names from the content of files (--suggest, --rename). */
#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/input.h"
#include "cli/core/files/save.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"

#include "gufo/name.h"

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

/* ---- the report ----------------------------------------------------------------------------- */

/* The new names for the files of one model, and the name of its first file. */
typedef struct proposal {
    gufo_move *moves; /* with copies of paths: files are closed before they get new names */
    size_t count;
    char first[GUFO_NAME_SIZE];
    const char *reason; /* why it does not conform; NULL: it does */
    gufo_error fault;
    bool is_renamed;
    record_list renamed;
} proposal;

static const record_field move_fields[] = {
    {"from", NULL, RECORD_TEXT, RECORD_AT(gufo_move, from)},
    {"to", NULL, RECORD_TEXT, RECORD_AT(gufo_move, to)},
};
static const record_type move_type = RECORD_OF(gufo_move, move_fields, 0);

static const record_field proposal_fields[] = {
    {"suggested", NULL, RECORD_CHARS, RECORD_AT(proposal, first)},
    {"suggested_reason", NULL, RECORD_TEXT, RECORD_AT(proposal, reason), .none = RECORD_OR_OUT},
    {"renamed", NULL, RECORD_LIST, RECORD_AT(proposal, renamed), RECORD_GIVEN(proposal, is_renamed),
     .of = &move_type},
};
static const record_type proposal_type = RECORD_OF(proposal, proposal_fields, 0);

/* One FILE: its name, and the parts of it. */
typedef struct explained {
    const char *path; /* NULL: it is just a name */
    gufo_str name;
    gufo_name parts;
    gufo_name_facts facts;
    bool conforming, is_sized, is_shard; /* numbers are null where 64 bits do not hold them, too */
    const char *reason;                  /* why it does not conform */
    gufo_error fault;
    const proposal *proposal;
} explained;

#define PART(key, label, member)                                   \
    {                                                              \
        key, label, RECORD_STR, RECORD_AT(explained, parts.member) \
    }

static const record_field explained_fields[] = {
    {"path", NULL, RECORD_TEXT, RECORD_AT(explained, path), .none = RECORD_OR_OUT},
    {"name", NULL, RECORD_STR, RECORD_AT(explained, name)},
    {"conforming", NULL, RECORD_FLAG, RECORD_AT(explained, conforming)},
    PART("sidecar", "sidecar", sidecar),
    PART("base_name", "base name", base_name),
    PART("size_label", "size label", size_label),
    PART("fine_tune", "fine tune", fine_tune),
    PART("version", "version", version),
    PART("encoding", "encoding", encoding),
    PART("type", "type", type),
    PART("shard", "shard", shard),
    {"expert_count", NULL, RECORD_PLAIN, RECORD_AT(explained, facts.experts),
     RECORD_KNOWN(explained, is_sized)},
    {"parameter_count", NULL, RECORD_PLAIN, RECORD_AT(explained, facts.parameters),
     RECORD_KNOWN(explained, is_sized)},
    {"shard_number", NULL, RECORD_PLAIN, RECORD_AT(explained, facts.shard),
     RECORD_KNOWN(explained, is_shard)},
    {"shard_count", NULL, RECORD_PLAIN, RECORD_AT(explained, facts.shard_count),
     RECORD_KNOWN(explained, is_shard)},
    {"reason", NULL, RECORD_TEXT, RECORD_AT(explained, reason), .none = RECORD_OR_OUT},
    {NULL, NULL, RECORD_POINTER, RECORD_TO(explained, proposal), .none = RECORD_OR_OUT,
     .of = &proposal_type},
};
static const record_type explained_type = RECORD_OF(explained, explained_fields, 0);

/* Returns whether the name conforms. */
static bool explain_name(const char *path, explained *e)
{
    *e = (explained){.name = gufo_str_of(path_name(path))};
    e->conforming = gufo_name_explain(e->name, &e->parts, &e->fault) == GUFO_OK;
    e->reason = e->conforming ? NULL : e->fault.message;
    e->facts = gufo_name_read_facts(&e->parts);
    e->is_sized = e->facts.parameters > 0;
    e->is_shard = e->facts.shard > 0;
    return e->conforming;
}

static void print_parts(const explained *e)
{
    for (const record_field *f = explained_fields; f < explained_fields + explained_type.count;
         f++) {
        const gufo_str *part = (const void *)((const char *)e + f->at);

        if (f->title == NULL || part->data == NULL)
            continue;
        printf("  %-10s  ", f->title);
        text_put(stdout, *part, TEXT_PLAIN);
        puts((uintptr_t)part->data - (uintptr_t)e->name.data > e->name.len ? " (assumed)" : "");
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
    explained e;

    (void)explain_name(path, &e);
    e.path = is_path(path) ? path : NULL;
    if (shared->json)
        record_write_document(NULL, &explained_type, &e);
    else {
        text_print("%.*s: %s%s\n", (int)e.name.len, e.name.data,
                   e.conforming ? "conforms" : "does not conform: ", e.conforming ? "" : e.reason);
        print_parts(&e);
    }
    return e.conforming ? CODE_OK : CODE_NO;
}

/* ---- suggesting ----------------------------------------------------------------------------- */

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
    gufo_move *move;
    gufo_error error;

    if (gufo_model_suggest_name(in->model, index, name, &error) != GUFO_OK)
        return report_error(path, &error);
    if (index == 0)
        memcpy(p->first, name, sizeof name);
    if (strcmp(path_name(path), name) == 0)
        return CODE_OK;
    move = &p->moves[p->count++];
    *move = (gufo_move){.from = strdup(path), .to = path_beside(path, name)};
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
    if (code == CODE_OK && gufo_name_explain(gufo_str_of(p->first), NULL, &p->fault) != GUFO_OK) {
        p->reason = p->fault.message;
        report_warning(in->path, "%s does not conform: %s", p->first, p->reason);
    }
    return code;
}

/* ---- renaming ------------------------------------------------------------------------------- */

static int rename_files(proposal *p, bool force, gufo_guard *kept)
{
    const gufo_save_options options = {.flags = force ? GUFO_SAVE_REPLACE : 0, .guard = kept};
    gufo_error error;
    gufo_status status = GUFO_OK;

    signals_hold();
    if (p->count > 0)
        status = gufo_rename(p->moves, p->count, &options, &error);
    signals_release();
    if (status != GUFO_OK)
        return save_report(error.file, &error);
    for (size_t i = 0; i < p->count; i++)
        if (!save_guard_more(kept, &p->moves[i].to, 1))
            return CODE_FAILED;
    return CODE_OK;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void write_json(const char *path, proposal *p, bool renamed)
{
    explained e;

    p->is_renamed = renamed;
    p->renamed = (record_list){.items = p->moves, .count = p->count};
    (void)explain_name(path, &e);
    e.path = path;
    e.proposal = p;
    record_write_document(NULL, &explained_type, &e);
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
static int suggest(const char *path, const name_options *options, gufo_guard *kept)
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
    gufo_guard kept;
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
    gufo_guard_free(&kept);
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
