/* The files of a model as targets of one job: those of tensors first, then all others, which are bytes
 * that are known already.  So all of them get their names together, or none does. */
#include "base/checked.h"
#include "base/error.h"
#include "base/memory.h"
#include "format/model/model.h"
#include "gufo/codec.h"
#include "gufo/schema.h"
#include "import/export/tensors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- numbers that are too large for F16 ----------------------------------------------------- */

/* job_hooks.measure; the context is a pointer to the job, or begins with one.  GUFO_E_RANGE: a
 * finite number became infinite.  Those that are not finite stay what they are. */
static gufo_status too_large_measure(void *context, const measured_rows *seen, void *result,
                                     gufo_error *error)
{
    gufo_job *const *job = context;
    plain_piece room;
    const piece *p = job_piece_at(*job, seen->piece, &room);
    const uint64_t all = seen->count * p->columns;

    (void)result;
    for (uint64_t i = gufo_first_nonfinite(seen->decoded, all); i < all; i++)
        if (isfinite(seen->values[i]) && !isfinite(seen->decoded[i]))
            return refuse(error, GUFO_E_RANGE, "tensor %s: the value %.9g is too large for %s",
                          QUOTED(p->name), (double)seen->values[i], p->made[seen->made].type->name);
    return GUFO_OK;
}

#define SHARD_SIZE UINT64_C(5000000000)

/* What a job of an export owns. */
typedef struct exporting {
    gufo_allocator allocator;
    gufo_job *job;
    export_plan plan;
    json_t *config;
    written_files written;
    gufo_export_options options;
} exporting;

static void free_exporting(void *planner)
{
    exporting *e = planner;
    gufo_allocator a = e->allocator;

    written_free(&e->written, &a);
    export_plan_close(&e->plan);
    json_decref(e->config);
    mem_free(&a, e);
}

/* ---- checks --------------------------------------------------------------------------------- */

static bool is_dtype(const gufo_element_type *type)
{
    return type == NULL || type->id == GUFO_TYPE_F32 || type->id == GUFO_TYPE_F16 ||
           type->id == GUFO_TYPE_BF16;
}

static gufo_status check_options(const gufo_export_options *o, gufo_error *error)
{
    if (o->format > GUFO_EXPORT_NPZ)
        return refuse(error, GUFO_E_ARGUMENT, "an unknown format of files");
    if (!is_dtype(o->dtype))
        return refuse(error, GUFO_E_ARGUMENT, "tensors can be exported as F32, F16 and BF16");
    if (o->format == GUFO_EXPORT_NPZ && o->shard_size != 0)
        return refuse(error, GUFO_E_ARGUMENT, "a model in NumPy's format is one file");
    if (o->format == GUFO_EXPORT_NPZ && o->dtype != NULL && o->dtype->id == GUFO_TYPE_BF16)
        return refuse(error, GUFO_E_ARGUMENT, "NumPy has no BF16: F16 or F32 can be asked for");
    return reserved_check(o->reserved, "gufo_export_options", error);
}

static gufo_status check_model(const gufo_model *model, gufo_error *error)
{
    gufo_str type;

    if (!gufo_model_has_data(model))
        return refuse(error, GUFO_E_ARGUMENT, "the data of a pipe is gone");
    if (gufo_model_key_str(model, "general.type", &type, NULL) == GUFO_OK &&
        !gufo_str_equal(type, gufo_str_of("model")))
        return refuse(error, GUFO_E_TYPE, "general.type is %s: only models can be exported",
                      QUOTED(type));
    return GUFO_OK;
}

/* ---- planning ------------------------------------------------------------------------------- */

static gufo_status add_tensors(exporting *e, gufo_error *error)
{
    const gufo_export_options *o = &e->options;
    gufo_status status = job_add_shards(e->job, e->plan.model, error);

    if (status != GUFO_OK || e->plan.count == 0)
        return status;
    return o->format == GUFO_EXPORT_NPZ
               ? npz_write_all(&e->written, e->job, &e->plan, error)
               : safetensors_write_all(&e->written, e->job, &e->plan,
                                       o->shard_size != 0 ? o->shard_size : SHARD_SIZE, error);
}

static gufo_status add_files(exporting *e, gufo_error *error)
{
    const export_files *files = &e->plan.files;
    gufo_status status = export_add_files(e->plan.model, e->config, &e->plan.files, error);
    uint32_t ignored;

    for (uint32_t i = 0; i < files->count && status == GUFO_OK; i++)
        status = written_target(&e->written, e->job, files->list[i].name, files->list[i].bytes,
                                files->list[i].size, 0, 0, &ignored, error);
    return status;
}

static gufo_status plan_export(exporting *e, const gufo_model *model, gufo_error *error)
{
    const bool is_npz = e->options.format == GUFO_EXPORT_NPZ;
    const uint32_t usual = is_npz ? GUFO_TYPE_F32 : GUFO_TYPE_BF16;
    const export_types types = {
        .matrices = e->options.dtype,
        .decoded = e->options.dtype != NULL ? e->options.dtype : gufo_element_type_by_id(usual),
        .without_bf16 = is_npz};
    export_files warnings = {.count = 0};
    gufo_status status = check_model(model, error);

    if (status == GUFO_OK && e->config == NULL)
        status = export_config(model, &e->config, &warnings, error);
    if (status == GUFO_OK)
        status =
            export_plan_open(&e->plan, model, e->config, &types, &warnings, &e->allocator, error);
    export_files_free(&warnings);
    if (status == GUFO_OK)
        status = add_tensors(e, error);
    return status == GUFO_OK ? add_files(e, error) : status;
}

/* gufo_export_job; `config`: config.json, in place of what export_config says; NULL: that. */
static gufo_job *export_job_of(const gufo_model *model, json_t *config,
                               const gufo_export_options *options, gufo_error *error)
{
    static const gufo_export_options none = {.format = GUFO_EXPORT_SAFETENSORS};
    exporting *e;
    gufo_job *job;

    if (options == NULL)
        options = &none;
    if (check_options(options, error) != GUFO_OK)
        return NULL;
    job = job_new(options->allocator, error);
    if (job == NULL)
        return NULL;
    e = mem_object(options->allocator, sizeof *e, error);
    if (e == NULL)
        return job_planned(job, GUFO_E_MEMORY, error);
    e->options = *options;
    e->config = json_incref(config);
    e->job = job;
    job->hooks.measure = too_large_measure;
    job->hooks.context = &e->job;
    job->planner = e;
    job->planner_free = free_exporting;
    job->naming = JOB_NAMED_EACH;
    return job_planned(job, plan_export(e, model, error), error);
}

gufo_job *gufo_export_job(const gufo_model *model, const gufo_export_options *options,
                          gufo_error *error)
{
    return export_job_of(model, NULL, options, error);
}

/* ---- looking -------------------------------------------------------------------------------- */

static const exporting *exporting_of(const gufo_job *job)
{
    return job != NULL && job->planner_free == free_exporting ? job->planner : NULL;
}

bool gufo_export_tensor_at(const gufo_job *job, uint64_t index, gufo_export_tensor *out)
{
    const exporting *e = exporting_of(job);
    const export_tensor *t;
    gufo_tensor first = {0};

    if (e == NULL || index >= e->plan.count)
        return false;
    t = &e->plan.tensors[index];
    if (e->plan.inversion.undoings[t->owner].box_count > 0)
        (void)gufo_model_tensor_at(
            e->plan.model,
            e->plan.inversion.boxes[e->plan.inversion.undoings[t->owner].first_box].tensor, &first);
    *out = (gufo_export_tensor){.name = t->like->name,
                                .dtype = t->number->name,
                                .type = t->type,
                                .n_dims = t->like->n_dims,
                                .source = first.name,
                                .file = job->targets[t->file].name,
                                .size = t->size};
    memcpy(out->shape, t->like->shape, sizeof out->shape);
    return true;
}

const char *gufo_export_warning_at(const gufo_job *job, uint64_t index)
{
    const exporting *e = exporting_of(job);

    return e != NULL && index < e->plan.files.warning_count ? e->plan.files.warnings[index] : NULL;
}
