/* gufo diff --values with several candidates: how each tensor of a model is kept in each of them.
 *
 * The library compares; this file passes the rows on to the forms. */
#include "cli/diff/diff_candidates.h"

#include "cli/core/files/input.h"
#include "cli/core/files/save.h"
#include "cli/core/records/quoting.h"

#include <stdlib.h>

/* ---- forms ---------------------------------------------------------------------------------- */

static const candidates_form *form_of(const candidates_report *r)
{
    static const candidates_form nothing = {0};
    const shared_options *shared = r->options->base.shared;

    if (shared->json)
        return &candidates_json;
    if (shared->quiet)
        return &nothing;
    return diff_wants_losses(r->options) ? &candidates_losses : &candidates_table;
}

static void on_row(void *context, const gufo_tensor_difference *row, size_t count)
{
    candidates_report *r = context;
    const candidates_form *form = form_of(r);

    if (!r->counted)
        r->steps = diff_steps_of(r->sums, count);
    r->counted = true;
    diff_steps_add(&r->steps, row);
    if (form->row != NULL)
        form->row(r, row);
    if (r->csv.out != NULL)
        candidates_csv.row(r, row);
}

/* ---- the work ------------------------------------------------------------------------------- */

/* A page needs what each tensor loses, too. */
static gufo_status compare_models(candidates_report *r, const gufo_run *run, gufo_error *error)
{
    const gufo_candidates_options options = {
        .flags = GUFO_COMPARE_VALUES, .tensor = on_row, .context = r};
    const gufo_model *const *candidates = (const gufo_model *const *)(r->models + 1);

    if (!report_is_page(r->options->report))
        return gufo_compare_candidates(r->models[0], candidates, r->count, &options, run, r->sums,
                                       error);
    r->losses =
        gufo_loss_table_new(r->models[0], candidates, r->count, &options, run, r->sums, error);
    return r->losses != NULL ? GUFO_OK : error->code;
}

static int compare(candidates_report *r)
{
    const shared_options *shared = r->options->base.shared;
    const candidates_form *form = form_of(r);
    gufo_run run = diff_run(r->options, &r->bar);
    gufo_status status;
    gufo_error error;
    int code = CODE_OK;

    progress_start_beside(&r->bar, shared);
    if (form->begin != NULL)
        form->begin(r);
    status = compare_models(r, &run, &error);
    progress_end(&r->bar);
    if (form->end != NULL)
        form->end(r, status == GUFO_OK ? NULL : &error);
    if (status != GUFO_OK)
        return status == GUFO_E_STOPPED ? CODE_OK : report_refusal(r->paths[0], &error);
    for (size_t k = 0; k < r->count; k++)
        code = r->sums[k].same ? code : CODE_NO;
    return code;
}

/* ---- the file of --report ------------------------------------------------------------------- */

/* It replaces none of the models. */
static bool guard_models(const candidates_report *r, gufo_guard *guard)
{
    bool guarded = save_guard(guard, NULL, 0);

    for (size_t k = 0; guarded && k <= r->count; k++) {
        const input in = {r->paths[k], r->models[k]};

        guarded = input_guard_more(&in, guard);
    }
    return guarded;
}

static int save_report_of(candidates_report *r, int code, const gufo_guard *guard)
{
    const diff_options *o = r->options;
    int saved = CODE_OK;

    if (code <= CODE_NO)
        saved = csv_save(&r->csv, o->report, o->base.shared->force, guard);
    else
        free(text_stream_close(&r->csv));
    return worst_code(code, saved);
}

/* ---- a page ------------------------------------------------------------------------------------- */

/* What the page is made of; the models of the page are opened by themselves, damaged or not. */
typedef struct diff_page {
    report_store store;
    report_source *sources[GUFO_COMPARE_CANDIDATES];
    gufo_report_model models[GUFO_COMPARE_CANDIDATES];
    size_t count;
} diff_page;

static int open_sources(diff_page *page, const candidates_report *r)
{
    const input_options opening = {.single = false};
    int code = CODE_OK;

    for (size_t k = 0; k < r->count && code == CODE_OK; k++) {
        page->sources[k] =
            report_source_open(r->paths[1 + k], r->options->base.shared, &opening, &code);
        if (page->sources[k] == NULL)
            return code;
        page->models[k] = *report_source_model(page->sources[k]);
        page->count++;
    }
    return code;
}

static int compare_on_page(candidates_report *r, diff_page *page, const gufo_guard *guard)
{
    const diff_options *o = r->options;
    gufo_report_content content = {.models = page->models, .model_count = r->count};
    int code = compare(r), saved = CODE_OK;
    size_t count;

    page->store.losses = r->losses;
    if (r->losses == NULL)
        return code;
    saved = open_sources(page, r);
    if (saved == CODE_OK)
        saved = report_put_losses(&page->store, r->paths[0], r->paths + 1,
                                  gufo_loss_table_list(r->losses, &count), r->count, &content);
    if (saved == CODE_OK)
        saved = report_page_save(&content, o->report, o->base.shared->force, guard, NULL);
    return worst_code(code, saved);
}

static int save_page(candidates_report *r, const gufo_guard *guard)
{
    diff_page *page = calloc(1, sizeof *page);
    int code = page != NULL ? compare_on_page(r, page, guard) : report_memory(NULL);

    for (size_t k = 0; page != NULL && k < page->count; k++)
        report_source_free(page->sources[k]);
    if (page != NULL)
        report_store_free(&page->store);
    free(page);
    return code;
}

static int save_csv(candidates_report *r, const gufo_guard *guard)
{
    if (!text_stream_open(&r->csv))
        return report_memory(NULL);
    candidates_csv.begin(r);
    return save_report_of(r, compare(r), guard);
}

static int compare_with_report(candidates_report *r)
{
    const diff_options *o = r->options;
    gufo_guard guard;
    int code;

    if (!guard_models(r, &guard))
        return CODE_FAILED;
    code = save_check(o->report, o->base.shared->force, &guard);
    if (code == CODE_OK)
        code = report_is_page(o->report) ? save_page(r, &guard) : save_csv(r, &guard);
    gufo_guard_free(&guard);
    return code;
}

int diff_candidates(const diff_options *options, const char *const *paths,
                    gufo_model *const *models, size_t candidates)
{
    candidates_report r = {.options = options,
                           .paths = paths,
                           .models = models,
                           .count = candidates,
                           .j = json_writer_start(stdout)};

    int code = options->report != NULL ? compare_with_report(&r) : compare(&r);

    diff_losses_free(&r);
    return code;
}
