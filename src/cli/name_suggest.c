/* gufo name --suggest and --rename: names made from what files hold. */
#include "cli/name.h"
#include "cli/rename.h"
#include "cli/report.h"
#include "cli/save.h"
#include "cli/signals.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

/* The files of one model, with the names that they get. */
typedef struct proposal {
    size_t count;
    char **paths;               /* that the files have */
    char **targets;             /* and those that they get */
    char first[GUFO_NAME_SIZE]; /* the name of the first file */
    rename_move *moves;         /* those whose names change */
    size_t move_count;
} proposal;

static void free_proposal(proposal *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->paths[i]);
        free(p->targets[i]);
    }
    free(p->paths);
    free(p->targets);
    free(p->moves);
}

/* Copies the paths: the files are closed before they get new names. */
static int propose_one(proposal *p, const input *in, size_t index)
{
    const char *path = gufo_model_name(gufo_model_shard(in->model, index));
    char name[GUFO_NAME_SIZE];
    gufo_error error;

    if (gufo_name_suggest(in->model, index, name, &error) != GUFO_OK)
        return report_error(path, &error);
    if (index == 0)
        memcpy(p->first, name, sizeof name);
    p->paths[index] = strdup(path);
    p->targets[index] = path_beside(path, name);
    if (p->paths[index] == NULL || p->targets[index] == NULL)
        return report_memory(path);
    if (strcmp(p->paths[index], p->targets[index]) != 0)
        p->moves[p->move_count++] = (rename_move){.from = p->paths[index], .to = p->targets[index]};
    return CODE_OK;
}

static int propose(proposal *p, const input *in)
{
    int code = CODE_OK;

    p->count = gufo_model_shard_count(in->model);
    p->paths = calloc(p->count, sizeof *p->paths);
    p->targets = calloc(p->count, sizeof *p->targets);
    p->moves = calloc(p->count, sizeof *p->moves);
    if (p->paths == NULL || p->targets == NULL || p->moves == NULL) {
        p->count = 0;
        return report_memory(in->path);
    }
    for (size_t i = 0; i < p->count && code == CODE_OK; i++)
        code = propose_one(p, in, i);
    return code;
}

/* ---- renaming ------------------------------------------------------------------------------- */

static int rename_files(proposal *p, bool force, output_guard *kept)
{
    const char *failed_path = NULL;
    gufo_error error;
    gufo_status status = GUFO_OK;

    if (p->move_count == 0)
        return CODE_OK;
    signals_hold();
    status = rename_all(p->moves, p->move_count, force, kept, &failed_path, &error);
    signals_release();
    if (status != GUFO_OK)
        return save_report(failed_path, &error);
    for (size_t i = 0; i < p->move_count; i++)
        if (!save_guard_more(kept, &p->moves[i].to, 1))
            return CODE_FAILED;
    return CODE_OK;
}

/* ---- output --------------------------------------------------------------------------------- */

static void write_json(json_writer *j, const proposal *p, bool renamed)
{
    json_write_text(j, "suggested", p->first);
    if (renamed) {
        json_begin_array(j, "renamed");
        for (size_t i = 0; i < p->move_count; i++) {
            json_begin_object(j, NULL);
            json_write_text(j, "from", p->moves[i].from);
            json_write_text(j, "to", p->moves[i].to);
            json_end_object(j);
        }
        json_end_array(j);
    }
    json_end_document(j);
}

static void print_moves(const proposal *p)
{
    if (p->move_count == 0)
        printf("%s: the file already has that name\n", p->first);
    for (size_t i = 0; i < p->move_count; i++) {
        text_put(stdout, gufo_str_of(p->moves[i].from), TEXT_PLAIN);
        fputs(" -> ", stdout);
        text_put(stdout, gufo_str_of(p->moves[i].to), TEXT_PLAIN);
        putc('\n', stdout);
    }
}

/* ---- one FILE ------------------------------------------------------------------------------- */

static int finish(const char *path, proposal *p, const name_options *options, output_guard *kept)
{
    const shared_options *shared = options->base.shared;
    json_writer j = json_writer_start(stdout);
    int code = options->rename ? rename_files(p, shared->force, kept) : CODE_OK;

    if (code != CODE_OK)
        return code;
    if (shared->json) {
        name_begin_json(&j, path, true);
        write_json(&j, p, options->rename);
    } else if (!options->rename) {
        puts(p->first);
    } else if (!shared->quiet) {
        print_moves(p);
    }
    return CODE_OK;
}

int name_suggest(const char *path, const name_options *options, output_guard *kept)
{
    proposal p = {0};
    input in;
    int code;

    if (options->rename && path_is_standard(path))
        return report_usage("name", "standard input has no name that could be changed");
    code = options->rename ? input_open_whole(&in, path, &options->input)
                           : input_open(&in, path, &options->input);
    if (code != CODE_OK)
        return code;
    code = propose(&p, &in);
    input_close(&in);
    if (code == CODE_OK)
        code = finish(path, &p, options, kept);
    free_proposal(&p);
    return code;
}
