/* The rules about tensor data.  A tensor that breaks one usually does so in many places: its first
 * one is reported, and their number. */
#include "quant/stats/stats.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/error.h"
#include "format/model/model.h"

typedef struct data_check {
    const gufo_model *model;
    const gufo_run *run; /* of the caller */
    gufo_finding_fn *found;
    void *context;
    uint64_t done, total; /* bytes */
} data_check;

/* ---- words ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 5, 6))) static void report(const data_check *c, rule_number rule,
                                                         uint64_t offset, const gufo_tensor *tensor,
                                                         const char *format, ...)
{
    char message[sizeof((gufo_error *)0)->message];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    finding_report(c->found, c->context, tensor->shard, rule, offset, tensor->name, message);
}

/* ---- findings ------------------------------------------------------------------------------- */

static uint64_t count_nonfinite(const gufo_stats *s)
{
    return s->nan.count + s->positive_infinite.count + s->negative_infinite.count;
}

static void report_scales(const data_check *c, const gufo_tensor *tensor, const gufo_stats *s)
{
    const gufo_stats_find *bad = &s->bad_scales;

    report(c, RULE_SCALE_NONFINITE, bad->offset, tensor,
           "tensor %s (%s): %s %s a scale that is infinite or NaN, %sin %s; %s values of the "
           "tensor are infinite or NaN",
           QUOTED(tensor->name), gufo_element_type_by_id(tensor->type)->name, GROUPED(bad->count),
           bad->count == 1 ? "block has" : "blocks have", bad->count == 1 ? "" : "the first ",
           stats_place_text(tensor, bad->first).text, GROUPED(count_nonfinite(s)));
}

/* The one that comes first in the file. */
static const gufo_stats_find *first_nonfinite(const gufo_stats *s, const char **kind)
{
    const struct {
        const gufo_stats_find *find;
        const char *kind;
    } all[] = {{&s->nan, "NaN"},
               {&s->positive_infinite, "infinity"},
               {&s->negative_infinite, "negative infinity"}};
    const gufo_stats_find *first = NULL;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const gufo_stats_find *find = all[i].find;

        if (find->count > 0 && (first == NULL || find->offset < first->offset ||
                                (find->offset == first->offset && find->first < first->first))) {
            first = find;
            *kind = all[i].kind;
        }
    }
    return first;
}

static void report_values(const data_check *c, const gufo_tensor *tensor, const gufo_stats *s)
{
    const char *kind = "";
    const gufo_stats_find *first = first_nonfinite(s, &kind);
    char quoted[GUFO_QUOTE_SIZE];

    if (first == NULL)
        return;
    quote_name(quoted, tensor->name);
    if (count_nonfinite(s) == 1)
        report(c, RULE_DATA_NONFINITE, first->offset, tensor, "tensor %s: the value in %s is %s",
               quoted, stats_place_text(tensor, first->first).text, kind);
    else
        report(c, RULE_DATA_NONFINITE, first->offset, tensor,
               "tensor %s: %s values are infinite or NaN; the first, in %s, is %s", quoted,
               GROUPED(count_nonfinite(s)), stats_place_text(tensor, first->first).text, kind);
}

/* ---- the check ------------------------------------------------------------------------------ */

static bool pass_progress(void *context, uint64_t done, uint64_t total)
{
    const data_check *c = context;

    (void)total;
    return c->run->progress(c->run->progress_context, c->done + done, c->total);
}

static gufo_status scan(data_check *c, const gufo_tensor *tensor, gufo_error *error)
{
    gufo_run run = *c->run;
    gufo_status status;
    gufo_stats s;

    run.progress_context = c;
    run.progress = c->run->progress != NULL ? pass_progress : NULL;
    status = gufo_tensor_scan(c->model, tensor, GUFO_STATS_ONE_PASS, &run, &s, error);
    if (status != GUFO_OK)
        return status;
    if (s.bad_scales.count > 0)
        report_scales(c, tensor, &s);
    else
        report_values(c, tensor, &s);
    return GUFO_OK;
}

static gufo_status check_tensor(data_check *c, const gufo_tensor *tensor, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    stats_layout layout;
    gufo_error reason;

    if (stats_lay_out(tensor, &layout, &reason) == GUFO_OK)
        status = scan(c, tensor, error);
    else
        report(c, RULE_DATA_UNCHECKED, tensor->offset, tensor, "%.900s: its data was not checked",
               reason.message);
    c->done += tensor->available;
    return status;
}

/* ---- downloads that did not finish ---------------------------------------------------------- */

/* How many tensors of a file in which zeros are suspect are between two places; 0 if none of them is a matrix: biases
 * may well be zero. */
static uint64_t count_tensors(const gguf_file *file, uint64_t begin, uint64_t end)
{
    uint64_t count = 0, matrices = 0;

    for (uint64_t i = 0; i < file->tensors.count; i++) {
        const tensor_record *tensor = file_tensor(file, i);

        if (!zeros_are_suspect(file, tensor) || tensor->offset < begin ||
            tensor->offset + tensor->size > end)
            continue;
        count++;
        matrices += zeros_are_suspect_matrix(file, tensor);
    }
    return matrices > 0 ? count : 0;
}

/* The last tensor of a file before a place in which zeros are suspect; NULL: there is none. */
static const tensor_record *last_tensor(const gguf_file *file, uint64_t before)
{
    const tensor_record *last = NULL;

    for (uint64_t i = 0; i < file->tensors.count; i++) {
        const tensor_record *tensor = file_tensor(file, i);

        if (zeros_are_suspect(file, tensor) && tensor->offset < before &&
            (last == NULL || tensor->offset > last->offset))
            last = tensor;
    }
    return last;
}

/* Whether a few pages of the last two tensors are zeros: else the end need not be read. */
static gufo_status looks_unfinished(const gguf_file *file, bool *out, gufo_error *error)
{
    const tensor_record *tensor;
    uint64_t before = file->source.size;
    gufo_status status = GUFO_OK;

    *out = true;
    for (unsigned i = 0; i < 2 && *out && status == GUFO_OK; i++) {
        tensor = last_tensor(file, before);
        *out = tensor != NULL && tensor->offset + tensor->size <= file->source.size;
        if (*out) {
            status = zeros_sample(file, tensor, out, error);
            before = tensor->offset;
        }
    }
    return status;
}

/* Zeros over several tensors at the end of a file. */
static gufo_status check_end(const data_check *c, const gufo_model *shard, gufo_error *error)
{
    const gguf_file *file = model_file(shard);
    uint64_t end = smaller(file->data_end, file->source.size), begin, count;
    char size[ZEROS_TEXT];
    const gufo_tensor place = {.name = gufo_str_of("data"), .shard = file->number};
    bool unfinished = false;
    gufo_status status = GUFO_OK;

    if (file->data_offset != 0 && end > file->data_offset)
        status = looks_unfinished(file, &unfinished, error);
    if (status == GUFO_OK && unfinished)
        status = zeros_before(file, file->data_offset, end, &begin, error);
    if (status != GUFO_OK || !unfinished)
        return model_fail(shard, status, error);
    count = count_tensors(file, begin, end);
    if (count > 1)
        report(c, RULE_DATA_MISSING, begin, &place,
               "the last %s, with %s tensors, are zeros: the download did not finish",
               zeros_text(end - begin, size), GROUPED(count));
    return GUFO_OK;
}

static gufo_status check_ends(const data_check *c, gufo_error *error)
{
    const gufo_model *shard;
    gufo_status status = GUFO_OK;

    for (uint32_t i = 0; status == GUFO_OK && (shard = gufo_model_shard(c->model, i)) != NULL; i++)
        if (model_file(shard) != NULL)
            status = check_end(c, shard, error);
    return status;
}

gufo_status gufo_model_check_data(const gufo_model *model, const gufo_run *run,
                                  gufo_finding_fn *found, void *context, gufo_error *error)
{
    data_check c = {.model = model, .run = run_of(run), .found = found, .context = context};
    gufo_status status = run_check(c.run, error);
    gufo_tensor tensor;

    if (status != GUFO_OK)
        return status;
    if (!gufo_model_has_data(model))
        return refuse(error, GUFO_E_ARGUMENT,
                      "the data of a pipe cannot be checked: it can be read only once");
    status = check_ends(&c, error);
    for (uint64_t i = 0; i < gufo_model_tensor_count(model) && status == GUFO_OK; i++) {
        status = model_tensor_at(model, i, &tensor, error);
        c.total += status == GUFO_OK && stats_has_own_data(&tensor) ? tensor.available : 0;
    }
    for (uint64_t i = 0; i < gufo_model_tensor_count(model) && status == GUFO_OK; i++) {
        status = model_tensor_at(model, i, &tensor, error);
        if (status == GUFO_OK && stats_has_own_data(&tensor))
            status = check_tensor(&c, &tensor, error);
    }
    return status;
}
