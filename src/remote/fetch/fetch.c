/* Several downloads and their names.
 *
 *     find      every output: what must not be replaced shows before anybody is asked
 *     begin     the first bytes of every file: headers are checked, and the disk has room for all
 *     transfer  file after file
 *     check     each by its SHA-256, and all by the caller
 *     commit    names for all of them */
#include "remote/fetch/fetch.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/commit.h"
#include "base/memory.h"
#include "codec/run.h"
#include "remote/fetch/local_copy.h"
#include "remote/fetch/missing.h"

enum { USUAL_REQUESTS = 4 };

typedef struct fetch {
    const gufo_fetch_options *options;
    const gufo_run *run;
    const gufo_allocator *allocator;
    output *outputs;
    download *downloads;
    gufo_fetched *facts;
    size_t count;
    fetch_progress progress;
    bool mismatch; /* a SHA-256 is another one than wanted */
} fetch;

static bool is_about_output(gufo_status status, const gufo_error *error)
{
    return status == GUFO_E_EXISTS || status == GUFO_E_ARGUMENT || error->system != 0;
}

/* An error names the output where the disk has failed, else the file of the server. */
static gufo_status fail_at(const download *d, gufo_status status, gufo_error *error)
{
    if (is_about_output(status, error))
        fail_in(error, GUFO_FILE_OUTPUT, 0, d->file->path);
    else
        fail_in(error, GUFO_FILE_INPUT, 0, d->file->address);
    return status;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static gufo_status find_outputs(fetch *f, gufo_error *error)
{
    bool replace = (f->options->flags & GUFO_FETCH_REPLACE) != 0;
    gufo_status status = GUFO_OK;
    size_t at = 0;

    for (size_t i = 0; i < f->count && status == GUFO_OK; i++) {
        at = i;
        status = output_find(&f->outputs[i], f->downloads[i].file->path, replace || f->count > 1,
                             NULL, f->allocator, error);
    }
    if (status == GUFO_OK && f->count > 1)
        status = commit_check(f->outputs, f->count, &at, error);
    if (status == GUFO_OK && f->count > 1)
        status = commit_check_replace(f->outputs, f->count, replace, &at, error);
    if (status != GUFO_OK)
        fail_in(error, GUFO_FILE_OUTPUT, 0, f->downloads[at].file->path);
    return status;
}

static bool asks_progress(void *context)
{
    const fetch *f = context;

    return run_progress(f->run, f->progress.done, f->progress.total, NULL) == GUFO_OK;
}

/* The total is known if the size of every file is. */
static gufo_status begin_all(fetch *f, gufo_error *error)
{
    uint64_t total = 0;

    for (size_t i = 0; i < f->count; i++) {
        download *d = &f->downloads[i];
        gufo_status status;

        d->goes_on = asks_progress;
        d->context = f;
        status = d->file->local != NULL ? local_copy_begin(d, error) : download_begin(d, error);
        f->mismatch = d->differs;
        if (status != GUFO_OK)
            return fail_at(d, status, error);
        f->progress.done += range_set_bytes(&d->finished);
        total = capped_add(total, d->size);
    }
    f->progress.total = total != GUFO_NO_OFFSET ? total : 0;
    return GUFO_OK;
}

static gufo_status transfer_all(fetch *f, gufo_error *error)
{
    uint32_t requests = f->options->requests != 0 ? f->options->requests : USUAL_REQUESTS;

    for (size_t i = 0; i < f->count; i++) {
        download *d = &f->downloads[i];
        gufo_status status = missing_fetch(d, requests, &f->progress, error);

        if (status == GUFO_OK)
            status = download_check(d, error);
        f->mismatch = d->differs;
        if (status != GUFO_OK)
            return fail_at(d, status, error);
    }
    return GUFO_OK;
}

static void note_facts(fetch *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const download *d = &f->downloads[i];

        f->facts[i] = (gufo_fetched){.path = d->file->path,
                                     .part = d->out->temporary,
                                     .address = d->file->address,
                                     .sha256 = d->found[0] != '\0' ? d->found : NULL,
                                     .size = d->size,
                                     .kept = d->kept,
                                     .is_new = d->is_new};
    }
}

/* They are all there, and not what the caller wants. */
static void drop_all(fetch *f)
{
    for (size_t i = 0; i < f->count; i++)
        f->downloads[i].has_ranges = false;
}

static gufo_status commit_all(fetch *f, gufo_error *error)
{
    size_t failed = 0;
    gufo_status status = GUFO_OK;

    if (f->options->check != NULL)
        status = f->options->check(f->options->context, f->facts, f->count, error);
    if (status == GUFO_E_CHANGED)
        drop_all(f);
    if (status != GUFO_OK)
        return status;
    status = f->count > 1 ? commit_set(f->outputs, f->count, &failed, error)
                          : output_commit(&f->outputs[0], error);
    if (status != GUFO_OK) {
        fail_in(error, GUFO_FILE_OUTPUT, 0, f->downloads[failed].file->path);
        return status;
    }
    for (size_t i = 0; i < f->count; i++) {
        f->downloads[i].is_named = true;
        f->facts[i].part = NULL;
    }
    return GUFO_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static gufo_status prepare(fetch *f, gufo_remote *remote, const fetch_file *files,
                           gufo_error *error)
{
    f->outputs = mem_array(f->allocator, f->count, sizeof *f->outputs);
    f->downloads = mem_array(f->allocator, f->count, sizeof *f->downloads);
    f->facts = mem_array(f->allocator, f->count, sizeof *f->facts);
    if (f->outputs == NULL || f->downloads == NULL || f->facts == NULL)
        return fail_memory(error);
    for (size_t i = 0; i < f->count; i++) {
        f->outputs[i] = (output){.fd = -1, .allocator = f->allocator};
        f->downloads[i] = (download){.remote = remote,
                                     .file = &files[i],
                                     .allocator = f->allocator,
                                     .replace = (f->options->flags & GUFO_FETCH_REPLACE) != 0,
                                     .out = &f->outputs[i],
                                     .record.journal.fd = -1};
    }
    return GUFO_OK;
}

static void end_all(fetch *f)
{
    for (size_t i = 0;
         f->facts != NULL && f->outputs != NULL && f->downloads != NULL && i < f->count; i++)
        download_end(&f->downloads[i]);
    mem_free(f->allocator, f->outputs);
    mem_free(f->allocator, f->downloads);
    mem_free(f->allocator, f->facts);
}

gufo_status fetch_files(gufo_remote *remote, const fetch_file *files, size_t count,
                        const gufo_fetch_options *options, const gufo_run *run, bool *mismatch,
                        gufo_error *error)
{
    fetch f = {.options = options,
               .run = run_of(run),
               .allocator = run_allocator(run_of(run)),
               .count = count};
    gufo_status status = prepare(&f, remote, files, error);

    f.progress.run = f.run;
    if (status == GUFO_OK)
        status = find_outputs(&f, error);
    if (status == GUFO_OK)
        status = begin_all(&f, error);
    if (status == GUFO_OK)
        status = transfer_all(&f, error);
    if (status == GUFO_OK) {
        note_facts(&f);
        status = commit_all(&f, error);
    }
    for (size_t i = 0; status == GUFO_OK && options->fetched != NULL && i < count; i++)
        options->fetched(options->context, &f.facts[i]);
    end_all(&f);
    *mismatch = f.mismatch;
    return status;
}
