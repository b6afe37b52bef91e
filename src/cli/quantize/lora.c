/* gufo lora: LoRA adapters.
 *
 *     gufo lora merge BASE ADAPTER...        a model with adapters folded in
 *
 * To merge is to quantize, to the type that BASE has or to another one, with adapters: opening them
 * is all that differs from gufo quantize. */
#include "cli/commands.h"
#include "cli/core/files/input.h"
#include "cli/core/options/command_line.h"
#include "cli/core/options/names.h"
#include "cli/core/values/array.h"
#include "cli/quantize/quantize.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lora_options {
    quantize_options quantize; /* first: the rows of both tables are about it */
    const char *type;          /* NULL: that of each tensor */
    double *scales;            /* owned */
    size_t scale_count;
    gufo_quantize_adapter adapters[GUFO_QUANTIZE_ADAPTERS];
} lora_options;

/* ---- command line --------------------------------------------------------------------------- */

static int read_scale(void *context, const option_given *given)
{
    lora_options *o = context;
    char *end;
    double scale, *added;

    errno = 0;
    scale = strtod(given->text, &end);
    if (end == given->text || *end != '\0' || !isfinite(scale) || scale == 0)
        return report_usage("--scale needs a number other than 0, such as 0.5, not '%s'",
                            given->text);
    added = array_add(&o->scales, &o->scale_count, sizeof *added);
    if (added == NULL)
        return CODE_FAILED;
    *added = scale;
    return CODE_OK;
}

static const command_option lora_table[] = {
    {"output", "OUT", "The file to write, or a folder, in which its name is made from that of BASE",
     OPTION_OUTPUT, .common = true},
    {"scale", "S",
     "Multiply what an adapter adds (default: 1); repeat it to give each ADAPTER its own factor",
     OPTION_READ(read_scale), .common = true},
    {"type", "TYPE",
     "The type of the result, any that 'gufo quantize' takes (default: each tensor keeps its own)",
     OPTION_TEXT(lora_options, type), .common = true},
    {"allow-requantize", NULL, "Accept a quantized BASE for another quantized TYPE",
     OPTION_FLAG(quantize_options, plan.recipe.allow_requantize)},
    {"any-base", NULL, "Merge an ADAPTER that was made for another model than BASE",
     OPTION_BITS(quantize_options, plan.flags, GUFO_QUANTIZE_ANY_BASE)},
    {"keep-split", NULL, "Write one file per shard of BASE",
     OPTION_BITS(quantize_options, plan.flags, GUFO_QUANTIZE_KEEP_SPLIT)},
    {"override-kv", "KEY=TYPE:VALUE",
     "Set a metadata value; TYPE is int, float, bool or str (repeatable)",
     OPTION_READ(quantize_read_override)},
#include "cli/quantize/quantize_options.def"
    {0},
};

/* ---- opening -------------------------------------------------------------------------------- */

static int open_adapter(lora_options *o, const char *path)
{
    gufo_quantize_options *plan = &o->quantize.plan;
    size_t number = plan->adapter_count;
    gufo_model *model = input_open_model(path, 0);

    if (model == NULL)
        return CODE_FAILED;
    if (!gufo_model_has_data(model)) {
        gufo_model_free(model);
        return report_as(CODE_USAGE, path, "the data of a pipe cannot be merged; give a file");
    }
    o->adapters[plan->adapter_count++] =
        (gufo_quantize_adapter){.model = model,
                                .scale = o->scale_count > 1    ? o->scales[number]
                                         : o->scale_count == 1 ? o->scales[0]
                                                               : 1};
    return CODE_OK;
}

static int open_models(quantize_options *quantize, gufo_model **base)
{
    lora_options *o = (lora_options *)quantize;
    int code;

    *base = input_open_model(quantize->input, 0);
    code = *base != NULL ? CODE_OK : CODE_FAILED;
    for (int i = 2; i < quantize->base.shared->arg_count && code == CODE_OK; i++)
        code = open_adapter(o, quantize->base.shared->args[i]);
    quantize->plan.adapters = o->adapters;
    return code;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* TYPE may be the last word, as of gufo quantize. */
static void take_type(lora_options *o)
{
    shared_options *shared = o->quantize.base.shared;
    const char *last = shared->args[shared->arg_count - 1];

    if (shared->arg_count > 3 && o->type == NULL && !path_exists(last) &&
        gufo_quantize_target_by_name(last, o->quantize.pure, NULL))
        o->type = command_line_take(shared, shared->arg_count - 1);
}

static int refuse_subcommand(const char *word)
{
    suggestion near = suggest_start(gufo_str_of(word));

    if (suggest_offer(&near, gufo_str_of("merge")))
        return report_usage("unknown subcommand '%s'%s", word, suggest_text(&near, ""));
    return report_usage("unknown subcommand '%s'; use 'gufo lora merge BASE ADAPTER -o OUT'", word);
}

static int read_arguments(lora_options *o)
{
    quantize_options *q = &o->quantize;
    const shared_options *shared = q->base.shared;
    int adapters, code = CODE_OK;

    if (strcmp(shared->args[0], "merge") != 0)
        return refuse_subcommand(shared->args[0]);
    take_type(o);
    adapters = shared->arg_count - 2;
    if (adapters < 1)
        return report_usage("merge: BASE and ADAPTER are needed");
    if (adapters > GUFO_QUANTIZE_ADAPTERS)
        return report_usage("at most %d adapters are merged at once", GUFO_QUANTIZE_ADAPTERS);
    if (o->scale_count > 1 && o->scale_count != (size_t)adapters)
        return report_usage("--scale is given %zu times for %d adapters", o->scale_count, adapters);
    if (q->base.output == NULL && q->folder == NULL && !q->dry_run)
        return path_exists(shared->args[shared->arg_count - 1])
                   ? report_usage("merge: -o OUT is needed")
                   : report_usage("merge: -o gives the output: -o %s",
                                  shared->args[shared->arg_count - 1]);
    if (q->base.output != NULL && q->folder != NULL)
        return report_usage("--to DIR takes no OUT");
    q->input = shared->args[1];
    for (int i = 2; i < shared->arg_count && code == CODE_OK; i++)
        code = option_add(&q->read, shared->args[i]);
    return code == CODE_OK ? quantize_take_arguments(q, q->base.output, o->type) : code;
}

static int lora(void *context)
{
    lora_options *o = context;

    o->quantize.open = open_models;
    return quantize_finish(&o->quantize, read_arguments(o));
}

static void release(void *context)
{
    lora_options *o = context;

    quantize_release(&o->quantize);
    for (size_t i = 0; i < o->quantize.plan.adapter_count; i++)
        gufo_model_free((gufo_model *)o->adapters[i].model);
    free(o->scales);
}

const command_line command_lora = {
    .operands = {"merge BASE ADAPTER... [TYPE] -o OUT", 1, 0, "the subcommand is missing: merge"},
    .doc =
        "Merge LoRA adapters into a model.\v"
        "BASE and ADAPTER are GGUF files; 'gufo convert' makes an ADAPTER from a PEFT folder.  "
        "Every tensor that an adapter has a pair for becomes BASE + S * (alpha / rank) * B * A, "
        "computed in double and rounded once to its type; gufo copies all others.  It decodes the "
        "tensors of a quantized BASE and encodes them again, which loses a little more each time: "
        "merge into F16 or BF16 where it exists, and quantize afterwards or with --type.\n\n"
        "gufo checks the adapters first: 'gufo validate ADAPTER --base BASE' shows everything "
        "that does not fit.  While it works, the output is OUT.part; the same command continues "
        "an interrupted run.  The result does not depend on threads, memory or processor.",
    .examples = {{"gufo lora merge base.gguf adapter.gguf -o merged.gguf",
                  "Writes a model with the adapter in it."},
                 {"gufo lora merge base.gguf a.gguf b.gguf --scale 0.5 --scale 1 -o both.gguf",
                  "Merges two, the first at half its strength."},
                 {"gufo lora merge base-f16.gguf a.gguf --type Q4_K_M -o merged-q4_k_m.gguf",
                  "Merges and quantizes in one go."}},
    COMMAND_OPTIONS(lora_table, lora_options),
    .run = lora,
    .release = release,
};
