/* gufo quantize [OPTION...] IN [OUT] [TYPE] [THREADS]: a model with other element types.
 *
 * The library plans and works; this file has the options, opens what they name, watches for
 * signals, and reports failures. */

#include "cli/quantize/quantize.h"

#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/input.h"
#include "cli/core/jobs/part_run.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- command line --------------------------------------------------------------------------- */

static const command_option quantize_table[] = {
    {"types-from", "FILE",
     "Give each tensor the type that it has in FILE; TYPE is for tensors that FILE lacks, "
     "which otherwise stay as they are",
     QUANTIZE_FILE(types_from), .common = true},
    {"allow-requantize", NULL,
     "Accept quantized tensors as a source; they lose more than the original does",
     OPTION_FLAG(quantize_options, plan.recipe.allow_requantize), .common = true},
    {"leave-output-tensor", NULL, "Leave output.weight unchanged",
     OPTION_FLAG(quantize_options, plan.recipe.keep_output)},
    {"prune-layers", "N,N,...", "Leave layers out and renumber the others",
     OPTION_READ(quantize_read_layers)},
    {"keep-split", NULL, "Write one file per shard of the input",
     OPTION_BITS(quantize_options, plan.flags, GUFO_QUANTIZE_KEEP_SPLIT)},
    {"override-kv", "KEY=TYPE:VALUE",
     "Set a metadata value; TYPE is int, float, bool or str (repeatable)",
     OPTION_READ(quantize_read_override)},
    {"output", "OUT", "The file to write", OPTION_OUTPUT},
#include "cli/quantize/quantize_options.def"
    {0},
};

/* ---- answers for the library ---------------------------------------------------------------- */

static const gufo_element_type *type_of_rule(void *context, gufo_str name)
{
    quantize_options *o = context;
    const name_rule *rule = name_rules_find(&o->rules, name);

    return rule != NULL ? rule->type : NULL;
}

static const gufo_element_type *type_in_model(void *other, const gufo_quantize_target *target,
                                              gufo_str name)
{
    gufo_tensor tensor;

    (void)target;
    return gufo_model_tensor_find_str(other, name, &tensor) ? gufo_element_type_by_id(tensor.type)
                                                            : NULL;
}

/* Whether the name has one of these parts. */
static bool has_part(gufo_str name, const option_texts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        for (size_t at = 0; at <= name.len; at++)
            if (begins_with(rest_of(name, at), parts->items[i]))
                return true;
    return false;
}

static bool is_included(void *context, gufo_str name)
{
    const quantize_options *o = context;

    return (o->included.count == 0 || has_part(name, &o->included)) &&
           !has_part(name, &o->excluded);
}

/* ---- the work ------------------------------------------------------------------------------- */

/* Everything that a run has open. */
typedef struct work {
    quantize_options *options;
    gufo_model *input, *other;     /* `other`: gives its types */
    gufo_imatrix *whole, *imatrix; /* the same, or the used part */
    gufo_quantize_override *overrides;
    gufo_quantizer *quantizer;
    gufo_guard guard; /* the files that the report may not replace */
    gufo_text saved;  /* the text of --save-plan */
    gufo_cpu cpu;
    bool reported; /* a part of it, which is all that there is to say */
} work;

/* No output replaces a file of a model that is read. */
static int add_files(quantize_options *o, const gufo_model *model)
{
    const char *path;
    int code = CODE_OK;

    for (size_t i = 0; code == CODE_OK && (path = input_file_at(model, i)) != NULL; i++)
        code = option_add(&o->read, path);
    return code;
}

static int open_input(work *w)
{
    quantize_options *o = w->options;
    int code = CODE_OK;

    if (o->open != NULL)
        code = o->open(o, &w->input);
    else if ((w->input = input_open_model(o->input, 0)) == NULL)
        code = CODE_FAILED;
    if (code != CODE_OK)
        return code;
    /* The job does not know the files of a model that is made. */
    if (add_files(w->options, w->input) != CODE_OK)
        return CODE_FAILED;
    code = quantize_name_outputs(w->options, w->input);
    for (size_t i = 0; i < o->output_count && code == CODE_OK; i++)
        if (o->paths[i] != NULL && foreign_file_spoiled(o->input, o->paths[i]))
            code = CODE_USAGE;
    return code;
}

static int open_imatrix(work *w)
{
    quantize_options *o = w->options;
    gufo_imatrix_merge_options select = {.keep = is_included, .keep_context = o};
    gufo_error error;

    if (o->imatrix == NULL)
        return CODE_OK;
    w->imatrix = w->whole = gufo_imatrix_open(o->imatrix, NULL, &error);
    if (w->whole != NULL && o->included.count + o->excluded.count > 0)
        w->imatrix = gufo_imatrix_merge((const gufo_imatrix *const *)&w->whole, 1, &select, &error);
    return w->imatrix != NULL ? CODE_OK : report_error(o->imatrix, &error);
}

/* Without TYPE the output has the file type of that model. */
static int open_types(work *w)
{
    quantize_options *o = w->options;
    gufo_quantize_target *target = &o->targets[0];
    uint64_t file_type;

    if (o->types_from == NULL)
        return CODE_OK;
    w->other = input_open_model(o->types_from, 0);
    if (w->other == NULL)
        return CODE_FAILED;
    if (target->base_type == NULL &&
        gufo_model_get_u64(w->other, "general.file_type", &file_type, NULL) == GUFO_OK &&
        file_type <= UINT32_MAX)
        target->file_type = gufo_file_type_by_id((uint32_t)file_type);
    o->plan.recipe.model_type = type_in_model;
    o->plan.recipe.model_context = w->other;
    return add_files(o, w->other);
}

static int make_overrides(work *w)
{
    const quantize_options *o = w->options;
    int code = CODE_OK;

    w->overrides = calloc(o->override_count + 1, sizeof *w->overrides);
    if (w->overrides == NULL)
        return report_memory(NULL);
    for (size_t i = 0; i < o->override_count && code == CODE_OK; i++)
        code = quantize_make_override(&o->overrides[i], gufo_model_shard(w->input, 0),
                                      &w->overrides[i]);
    return code;
}

static int set_options(work *w)
{
    quantize_options *o = w->options;
    gufo_quantize_options *options = &o->plan;

    options->recipe.plan_only = o->dry_run && !o->base.part.given;
    options->recipe.override_type = o->rules.count > 0 ? type_of_rule : NULL;
    options->recipe.override_context = o;
    options->overrides = w->overrides;
    options->override_count = o->override_count;
    options->pruned_layers = o->pruned;
    options->recipe.target = o->targets[0];
    options->more_targets = o->targets + 1;
    options->more_count = o->output_count - 1;
    if (w->imatrix != NULL && gufo_imatrix_entry_count(w->imatrix) > 0) {
        options->importance = w->imatrix;
        options->importance_path = o->imatrix;
        options->importance_name = o->imatrix_name =
            part_name(&o->base, o->paths[0], NAME_IMATRIX, o->imatrix);
    }
    return CODE_OK;
}

/* With a size, the types come from measurements. */
static int choose_types(work *w)
{
    quantize_options *o = w->options;

    return o->size.count > 0 ? size_make_plan(o, w->input, w->cpu) : CODE_OK;
}

static int plan(work *w)
{
    quantize_options *o = w->options;
    gufo_error error;

    w->quantizer = gufo_quantizer_new(w->input, &o->plan, &error);
    if (o->rules.costly != NULL)
        return report_usage("a --tensor-type pattern for %s takes too many steps",
                            o->rules.costly->type->name);
    if (w->quantizer == NULL)
        return quantize_failed(o, o->input, &error, true);
    quantize_warn(w->quantizer, o);
    return o->size.count > 0 ? CODE_OK : name_rules_check(&o->rules, o->input, w->input);
}

/* ---- the report's file ---------------------------------------------------------------------- */

static bool guard_outputs(work *w)
{
    const gufo_job *job = gufo_quantizer_job(w->quantizer);
    const quantize_options *o = w->options;
    size_t count = gufo_job_output_count(job), each = count / o->output_count;
    bool guarded = true;

    for (size_t i = 0; !o->dry_run && guarded && i < count; i++) {
        char *path = job_output_path(job, o->paths[i / each], i);

        guarded = path != NULL && save_guard_output(&w->guard, path);
        free(path);
    }
    return guarded;
}

/* The report and the plan replace neither inputs nor outputs; this finds it out before the work. */
static int guard_report(work *w)
{
    const quantize_options *o = w->options;
    const char *const paths[] = {o->report, o->size.saved};
    const input in = {o->input, w->input};
    int code = CODE_OK;

    if (o->report == NULL && o->size.saved == NULL)
        return CODE_OK;
    if (o->report != NULL)
        code = part_check_beside(&o->base, o->paths[0], o->report, "--report");
    if (code != CODE_OK)
        return code;
    if (!input_guard(&in, &w->guard) || !save_guard_more(&w->guard, o->read.items, o->read.count) ||
        !guard_outputs(w))
        return CODE_FAILED;
    for (size_t i = 0; i < 2 && code == CODE_OK; i++)
        if (paths[i] != NULL)
            code = save_check(paths[i], quantize_may_exist(o), &w->guard);
    return code;
}

/* While the input is certain to be there. */
static int write_plan(work *w)
{
    return w->options->size.saved != NULL ? size_write_plan(w->options, &w->saved) : CODE_OK;
}

/* A plan is a result, as the outputs are: a run that was interrupted, or has failed, leaves none, and
 * the one that was there. */
static int save_plan(work *w)
{
    const quantize_options *o = w->options;

    return o->size.saved == NULL
               ? CODE_OK
               : save_bytes(o->size.saved, (gufo_str){w->saved.data, w->saved.len},
                            o->base.shared->force, &w->guard);
}

static job_run how_to_run(const work *w)
{
    const quantize_options *o = w->options;
    job_run how = {.files = resume_files(o->paths[0], o->base.shared, o->resume),
                   .input = &o->base,
                   .dry_run = o->dry_run,
                   .names = {{.name = NAME_IMATRIX, .text = o->imatrix_name},
                             {.name = NAME_CHECKPOINT, .text = o->called},
                             {.name = NAME_BASE, .text = o->base_called}},
                   .files_only = true,
                   .cpu = w->cpu,
                   .memory = o->memory};

    how.files.also_read = o->read.items;
    how.files.also_read_count = o->read.count;
    how.files.more_paths = (const char *const *)o->paths + 1;
    how.files.more_count = o->output_count - 1;
    return how;
}

static int run(work *w)
{
    const quantize_options *o = w->options;
    job_run how = how_to_run(w);
    gufo_error error;
    job_end end;
    bool named;

    if (o->dry_run && !o->base.part.given)
        return CODE_OK;
    signals_reading(NULL); /* the mapping is not used any more */
    end = job_run_start(&how, gufo_quantizer_job(w->quantizer), &error);
    w->reported = end == JOB_REPORTED;
    if (end != JOB_FAILED)
        return how.code;
    if (error.code == GUFO_E_STOPPED)
        return resume_interrupted(o->paths[0], o->base.shared, o->resume);
    named = error.role != GUFO_FILE_NONE && error.file[0] != '\0';
    return quantize_failed(o, named ? error.file : o->input, &error, false);
}

/* The bytes of the files as they are now. */
static void measure_outputs(work *w)
{
    const gufo_job *job = gufo_quantizer_job(w->quantizer);
    quantize_options *o = w->options;
    size_t count = gufo_job_output_count(job), each = count / o->output_count;

    for (size_t i = 0; !o->dry_run && i < count; i++) {
        char *path = job_output_path(job, o->paths[i / each], i);
        struct stat info;

        if (path != NULL && stat(path, &info) == 0)
            o->size.reached[i / each] += (uint64_t)info.st_size;
        free(path);
    }
}

/* After an interrupted commit it may be there already. */
static int save_report_of(work *w)
{
    quantize_options *o = w->options;

    if (quantize_may_exist(o) && !o->base.shared->force && path_exists(o->report)) {
        report_note(o->report, "it exists, and is not replaced");
        return CODE_OK;
    }
    return report_is_page(o->report) ? quantize_save_page(w->quantizer, o, w->input, &w->guard)
                                     : quantize_save_csv(w->quantizer, o, &w->guard);
}

static int report_result(work *w)
{
    if (w->options->size.plan != NULL)
        measure_outputs(w);
    quantize_report(w->quantizer, w->options);
    return w->options->report != NULL ? save_report_of(w) : CODE_OK;
}

static int quantize(quantize_options *options)
{
    static int (*const steps[])(work * w) = {open_input,  open_imatrix, open_types, make_overrides,
                                             set_options, choose_types, plan,       guard_report,
                                             write_plan,  run,          save_plan,  report_result};
    work w = {.options = options};
    int code = options_cpu(&w.cpu);

    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CODE_OK && !w.reported; i++)
        code = steps[i](&w);
    gufo_guard_free(&w.guard);
    gufo_quantizer_free(w.quantizer);
    free(w.overrides);
    gufo_text_free(&w.saved);
    if (w.imatrix != w.whole)
        gufo_imatrix_free(w.imatrix);
    gufo_imatrix_free(w.whole);
    gufo_model_free(w.other);
    gufo_model_free(w.input);
    signals_reading(NULL);
    return code;
}

void quantize_release(void *context)
{
    quantize_options *o = context;

    name_rules_free(&o->rules);
    size_release(&o->size);
    for (size_t i = 0; i < o->override_count; i++)
        free(o->overrides[i].key);
    free(o->overrides);
    free(o->pruned);
    free(o->read.items);
    free(o->own_folder);
    for (size_t i = 0; i < o->output_count; i++)
        free(o->paths[i]);
}

int quantize_finish(quantize_options *o, int code)
{
    if (code == CODE_OK)
        code = quantize(o);
    if (code != CODE_OK && o->made_folder)
        (void)rmdir(o->folder); /* unless something is in it, to be resumed */
    return code;
}

int quantize_run(void *context)
{
    quantize_options *o = context;

    return quantize_finish(o, quantize_read_arguments(o));
}

/* Without OUT the name conforms, and says what the file is. */
static int quantize_named(void *context)
{
    ((quantize_options *)context)->beside_input = true;
    return quantize_run(context);
}

const command_line command_quantize = {
    .operands = {"IN [OUT] TYPE|--target-size=SIZE [THREADS]", 1, 4, "IN, OUT and TYPE are needed"},
    .doc =
        "Change the element types of a model's tensors.\v"
        "TYPE is a file type (Q4_K_M, IQ4_XS, F16 ...), which mixes element types as "
        "llama-quantize does; the name of an element type (MXFP4, NVFP4 ...), which every tensor "
        "then gets; or COPY.  The format's own names (MOSTLY_Q4_K_M, GGML_TYPE_MXFP4) and names "
        "without underscores (q4km) work, too.  Common ones are Q8_0, Q6_K, Q5_K_M, Q4_K_M, "
        "IQ4_XS, Q3_K_M, F16 and BF16; 'gufo list filetypes' and 'gufo list types' show all.  "
        "Without OUT, gufo writes the output beside IN.  If IN follows the naming convention, the "
        "output has its name with another encoding, else the name that 'gufo name --suggest' "
        "gives.\n\n"
        "With --to DIR, gufo reads IN once and writes several types, TYPE,TYPE,..., under such "
        "names.  All outputs appear, or none.\n\n"
        "--target-size and --target-bpw replace TYPE: gufo measures what every tensor would lose "
        "as every type, and chooses the types that lose least in a file of that size.  It keeps "
        "the measurements beside the output, in IN.losses, a GGUF file, for other sizes.\n\n"
        "While it works, the output is OUT.part.  An interrupted run leaves it, with a journal, "
        "and the same command continues it.  The result does not depend on threads, memory or "
        "processor.\n\n"
        "Exit status 1 means that none of the patterns of an option matches a tensor; nothing is "
        "written.",
    .examples = {{"gufo quantize model-f16.gguf model-q4_k_m.gguf Q4_K_M",
                  "Writes a smaller model."},
                 {"gufo quantize --to=models model-f16.gguf Q4_K_M,Q5_K_M,Q8_0",
                  "Writes three, from one reading."},
                 {"gufo quantize --imatrix=im.gguf --target-size=5.8G model-f16.gguf model.gguf",
                  "Writes the best file of 5.8 GB, with errors weighed by the matrix."}},
    COMMAND_OPTIONS(quantize_table, quantize_options),
    .run = quantize_named,
    .release = quantize_release,
};
