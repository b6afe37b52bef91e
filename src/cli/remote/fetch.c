/* gufo fetch ADDRESS [OUT]: downloads that are never a mixture of two files. */
#include "cli/commands.h"
#include "cli/core/files/progress.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/json.h"
#include "cli/core/values/number.h"
#include "cli/remote/fetch_manifest.h"
#include "gufo/remote.h"

enum { MOST_REQUESTS = 64 };

typedef struct fetch_options {
    command_input base;
    const char *sha256, *manifest;
    bool single, into_cache;
    uint64_t requests;
} fetch_options;

typedef struct work {
    const fetch_options *options;
    progress bar;
    fetch_manifest manifest;
    json_writer j;
} work;

/* ---- results -------------------------------------------------------------------------------- */

static void write_json(json_writer *j, const gufo_fetched *file)
{
    json_begin_object(j, NULL);
    json_write_text(j, "file", file->path);
    json_write_text(j, "address", file->address);
    json_write_u64(j, "size", file->size);
    json_write_u64(j, "kept", file->kept);
    json_write_bool(j, "restarted", file->is_new);
    json_write_text(j, "sha256", file->sha256);
    json_end_object(j);
}

static void print_file(const gufo_fetched *file)
{
    text_print("%s: %s, %s\n", file->path, human_file_size(file->size).text,
               file->sha256 != NULL ? "the SHA-256 agrees" : "no SHA-256 is known");
}

static void on_file(void *context, const gufo_fetched *file)
{
    work *w = context;
    const shared_options *shared = w->options->base.shared;

    progress_end(&w->bar);
    if (file->is_new)
        report_note(file->path,
                    "the file was another one than an interrupted download had begun with; "
                    "all of it was fetched again");
    if (shared->json)
        write_json(&w->j, file);
    else if (!shared->quiet)
        print_file(file);
}

static gufo_status check_manifest(void *context, const gufo_fetched *files, size_t count,
                                  gufo_error *error)
{
    work *w = context;

    return fetch_manifest_check(&w->manifest, files, count, error);
}

/* ---- the work ------------------------------------------------------------------------------- */

/* A total that is not known is that which has come. */
static bool show_progress(void *context, uint64_t done, uint64_t total)
{
    return progress_step(context, done, total != 0 ? total : done);
}

static int report_failure(work *w, const char *address, const gufo_error *error, bool mismatch)
{
    bool is_output = error->role == GUFO_FILE_OUTPUT;

    if (error->code == GUFO_E_STOPPED && signals_stopped()) {
        report_note(error->file, "interrupted; the same command goes on from there");
        return CODE_INTERRUPTED;
    }
    if (mismatch || w->manifest.differs) {
        (void)report_error(address, error);
        return CODE_NO;
    }
    if (is_output)
        return save_report(error->file, error);
    return report_refusal(address, error);
}

static int fetch_with(gufo_remote *remote, work *w, const char *address)
{
    const fetch_options *o = w->options;
    const shared_options *shared = o->base.shared;
    gufo_fetch_options options = {.flags = (shared->force ? GUFO_FETCH_REPLACE : 0) |
                                           (o->single ? GUFO_FETCH_SINGLE : 0) |
                                           (o->into_cache ? GUFO_FETCH_INTO_CACHE : 0),
                                  .requests = (uint32_t)o->requests,
                                  .sha256 = o->sha256,
                                  .check = w->manifest.text.data != NULL ? check_manifest : NULL,
                                  .fetched = on_file,
                                  .context = w};
    gufo_run run = {.threads = (unsigned)shared->threads,
                    .progress = show_progress,
                    .progress_context = &w->bar};
    bool mismatch = false;
    gufo_status status;
    gufo_error error;

    progress_start(&w->bar, shared->quiet);
    signals_defer();
    status = gufo_remote_fetch(remote, address, o->base.output, &options, &run, &mismatch, &error);
    progress_end(&w->bar);
    return status == GUFO_OK ? CODE_OK : report_failure(w, address, &error, mismatch);
}

static int fetch(void *context)
{
    const fetch_options *o = context;
    const char *address = o->base.shared->args[0];
    work w = {.options = o, .j = json_writer_start(stdout)};
    gufo_remote *remote;
    gufo_error error;
    int code;

    if (o->into_cache && (o->base.output != NULL || o->manifest != NULL))
        return report_usage("--into-cache takes neither OUT nor --manifest");
    code = fetch_manifest_read(&w.manifest, o->manifest);
    remote = code == CODE_OK ? remote_client(&error) : NULL;
    if (code == CODE_OK)
        code = remote != NULL ? fetch_with(remote, &w, address) : report_refusal(NULL, &error);
    fetch_manifest_free(&w.manifest);
    return code;
}

/* ---- command line --------------------------------------------------------------------------- */

static const command_option fetch_table[] = {
    {"output", "OUT", "The file to write, or the folder to write to", OPTION_OUTPUT,
     .common = true},
    {"sha256", "HEX", "The SHA-256 that the file must have (default: what the service says of it)",
     OPTION_TEXT(fetch_options, sha256), .common = true},
    {"manifest", "FILE", "Compare what was fetched with a manifest of gufo hash or sha256sum",
     OPTION_TEXT(fetch_options, manifest), .common = true},
    {"connections", "N", "Requests at a time (default: 4)",
     OPTION_NUMBER(fetch_options, requests, 1, MOST_REQUESTS), .common = true},
    {"into-cache", NULL,
     "Write to the cache of Hugging Face, in place of OUT, so that its programs find the file",
     OPTION_FLAG(fetch_options, into_cache)},
    {"single", NULL, "Fetch only this file, even if it is the first of several shards",
     OPTION_FLAG(fetch_options, single), .common = true},
    {0},
};

const command_line command_fetch = {
    .operands = {"ADDRESS [OUT]", 1, 2, "ADDRESS is needed"},
    .out = 2,
    .doc = "Download a model.\v"
           "The file gets its name when all of it is there and right; until then it is OUT.part.  "
           "The same command continues what was interrupted, if the server still has the same "
           "file: its ETag or its SHA-256 says so.  Else it starts over.  With the first shard of "
           "a set, gufo fetches all of them.  Exit status 1 means that the hash differs, and "
           "nothing is left of the file.",
    .examples = {{"gufo fetch hf://org/model/small.gguf", "Writes small.gguf."},
                 {"gufo fetch https://host/m-00001-of-00003.gguf models/",
                  "Writes all shards to the folder models."}},
    COMMAND_OPTIONS(fetch_table, fetch_options),
    .run = fetch,
};
