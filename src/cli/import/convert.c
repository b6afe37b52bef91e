/* gufo convert [OPTION...] DIR|FILE [OUT] [TYPE]: a model of a training framework as a GGUF file, of
 * whatever type.
 *
 * The import is a model like any other: opening it is all that differs from gufo quantize. */
#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/input.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/save.h"
#include "cli/core/jobs/part_run.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/signals.h"
#include "cli/core/values/array.h"
#include "cli/import/convert_remote.h"
#include "cli/import/given_keys.h"
#include "cli/quantize/quantize.h"

#include "gufo/import.h"
#include "gufo/schema.h"

#include <stdlib.h>
#include <string.h>

typedef struct convert_options {
    quantize_options quantize; /* first: the rows of both tables are about it */
    const char *arch, *pre, *metadata, *vocabulary, *base; /* NULL if not given */
    option_texts settings;                                 /* of --set */
    uint32_t flags;                                        /* of gufo_checkpoint_flags */
    gufo_document *given;                                  /* what --set says: owned */
    gufo_model *other;                                     /* --vocab-from: owned */
    const gufo_import *import;                             /* closed with its model */
    convert_remote remote;                                 /* owned; outlives the model */
} convert_options;

static const command_option convert_table[] = {
    {"output", "OUT",
     "The file to write, or a folder, in which its name follows the naming convention (default: "
     "the folder of the model)",
     OPTION_OUTPUT},
    {"outfile", "OUT", "The same as --output", OPTION_TEXT(command_input, output)},
    {"outtype", "TYPE", "The same as TYPE", OPTION_TEXT(quantize_options, type)},
    {"arch", "NAME", "The architecture, such as llama, where config.json does not state it",
     OPTION_TEXT(convert_options, arch)},
    {"base", "DIR|FILE.gguf",
     "The base model of an adapter (default: a folder beside it, with the name in "
     "adapter_config.json)",
     OPTION_READ(quantize_read_file), OPTION_PLACE(convert_options, base, const char *),
     .common = true},
    {"generic", NULL,
     "Convert an architecture without rules, --arch NAME: tensors keep their names, and the fields "
     "of config.json become keys NAME.*",
     OPTION_BITS(convert_options, flags, GUFO_CHECKPOINT_GENERIC)},
    {"set", "KEY=[TYPE:]VALUE", "Set a metadata value, such as general.license=mit (repeatable)",
     OPTION_TEXTS(convert_options, settings)},
    {"metadata", "FILE.json",
     "Take values of general.* from a JSON file; they override all but --set",
     OPTION_READ(quantize_read_file), OPTION_PLACE(convert_options, metadata, const char *)},
    {"pre", "NAME",
     "The pre-tokenizer, where gufo does not recognise it: a name of 'gufo list pretokenizers'",
     OPTION_TEXT(convert_options, pre)},
    {"vocab-from", "OTHER.gguf", "Take the tokenizer of another model",
     OPTION_READ(quantize_read_file), OPTION_PLACE(convert_options, vocabulary, const char *),
     .common = true},
    {"vocab-only", NULL, "Write the vocabulary alone, without tensors",
     OPTION_BITS(convert_options, flags, GUFO_CHECKPOINT_VOCABULARY_ONLY)},
    {"no-vocab", NULL, "Write the tensors alone, without a tokenizer",
     OPTION_BITS(convert_options, flags, GUFO_CHECKPOINT_NO_VOCABULARY)},
    {"mmproj", NULL, "Write the part that sees images or hears, in place of the text model",
     OPTION_BITS(convert_options, flags, GUFO_CHECKPOINT_TOWER)},
    {"keep-tokenizer-json", NULL, "Also store tokenizer.json, as tokenizer.huggingface.json",
     OPTION_BITS(convert_options, flags, GUFO_CHECKPOINT_KEEP_TOKENIZER)},
    {"keep-rwkv-world", NULL, "Also store the vocabulary of RWKV World, as tokenizer.rwkv.world",
     OPTION_BITS(convert_options, flags, GUFO_CHECKPOINT_KEEP_WORLD)},
    {"force-config", NULL,
     "Convert although config.json contradicts the tensors, the vocabulary or itself",
     OPTION_BITS(convert_options, flags, GUFO_CHECKPOINT_FORCE_CONFIG)},
#include "cli/quantize/quantize_options.def"
    {0},
};

/* ---- opening -------------------------------------------------------------------------------- */

static int open_vocabulary(convert_options *o)
{
    if (o->vocabulary == NULL)
        return CODE_OK;
    o->other = input_open_model(o->vocabulary, 0);
    return o->other != NULL ? CODE_OK : CODE_FAILED;
}

/* What would let the conversion go on. */
static const char *const hints[] = {
    [GUFO_ADVICE_ARCH] = "--arch NAME says which rules apply",
    [GUFO_ADVICE_GENERIC] = "--arch NAME --generic keeps the names of tensors and of fields",
    [GUFO_ADVICE_PRE] = "--pre NAME says how to cut texts",
    [GUFO_ADVICE_VOCABULARY] = "--vocab-from takes the vocabulary of another model",
    [GUFO_ADVICE_BASE] = "--base names the model that the adapter is for",
    [GUFO_ADVICE_MEMORY] = "--memory SIZE lets it use more",
    [GUFO_ADVICE_FOLLOW] = "--follow reads it",
    [GUFO_ADVICE_FORCE] = "--force-config converts it all the same",
    [GUFO_ADVICE_TOWER] = "--mmproj converts the part that sees images or hears",
};

/* The command for a file that is not of a framework; NULL: none is known. */
static const char *other_command(const char *path)
{
    foreign_kind kind;

    if (input_is_gguf(path))
        return "'gufo quantize' changes its types";
    return foreign_file_find(path, &kind) && !kind.converts ? "'gufo migrate' converts it" : NULL;
}

/* Options that do not go together are wrong usage, what files say is not. */
static int report_refused(const convert_options *o, const gufo_error *error)
{
    const char *path = o->quantize.input, *other = other_command(path);
    char near[INPUT_NEAR_SIZE];

    if (other == NULL && input_find_near(path, near))
        other = near;
    if (other == NULL && error->advice < sizeof hints / sizeof *hints)
        other = hints[error->advice];
    report_error_with(path, error, other);
    return error->code == GUFO_E_ARGUMENT ? CODE_USAGE : CODE_FAILED;
}

/* TYPE "auto" is known now, and what each type means. */
static void take_types(convert_options *o, gufo_import *import)
{
    quantize_options *q = &o->quantize;

    o->import = import;
    for (size_t i = 0; i < q->output_count; i++) {
        if (q->targets[i].name == q->auto_type)
            q->targets[i] = (gufo_quantize_target){.name = NULL};
        gufo_import_target(import, &q->targets[i]);
    }
    gufo_import_prepare(import, &q->plan);
}

/* The short name of a type; NULL where no tensors are written. */
static const char *type_name(const convert_options *o, size_t index)
{
    return (o->flags & GUFO_CHECKPOINT_VOCABULARY_ONLY) != 0 ? NULL
                                                             : o->quantize.targets[index].name;
}

static int name_output(const quantize_options *q, size_t index, char out[GUFO_NAME_SIZE])
{
    const convert_options *o = (const convert_options *)q;
    gufo_error error;

    return gufo_import_file_name(o->import, type_name(o, index), out, &error) == GUFO_OK
               ? CODE_OK
               : report_error(q->input, &error);
}

/* OUT may have {ftype} in its name. */
static int fill_output(quantize_options *q)
{
    const char *text = q->paths[0] != NULL ? q->paths[0] : "";
    size_t size = gufo_name_fill(NULL, 0, text, q->targets[0].name) + 1;
    char *filled = malloc(size);

    if (q->paths[0] == NULL || filled == NULL) {
        free(filled);
        return q->paths[0] == NULL ? CODE_OK : report_memory(NULL);
    }
    (void)gufo_name_fill(filled, size, text, q->targets[0].name);
    free(q->paths[0]);
    q->paths[0] = filled;
    return !q->dry_run && save_is_pending(filled, true) ? CODE_USAGE : CODE_OK;
}

static int open_checkpoint(convert_options *o, gufo_model **model)
{
    quantize_options *q = &o->quantize;
    const char *path = o->remote.path != NULL ? o->remote.path : q->input;
    const char *called = part_name(&q->base, q->paths[0], NAME_CHECKPOINT, NULL);
    const uint32_t follow = options_follow() ? GUFO_CHECKPOINT_FOLLOW : 0u;
    const gufo_checkpoint_options options = {
        .flags = o->flags | follow,
        .arch = o->arch,
        .pre = o->pre,
        .metadata = o->metadata,
        .known = o->given,
        .vocabulary = o->other,
        .base = o->base,
        .memory = q->memory,
        .called = called != NULL ? called : o->remote.called,
        .folder = o->remote.folder.open != NULL ? &o->remote.folder : NULL,
        .base_called = part_name(&q->base, q->paths[0], NAME_BASE, NULL)};
    gufo_import *import;
    gufo_error error;

    signals_reading(path);
    import = gufo_import_checkpoint(path, &options, &error);
    if (import == NULL)
        return report_refused(o, &error);
    take_types(o, import);
    q->called = gufo_import_describe(import).called;
    q->base_called = gufo_import_describe(import).base_called;
    *model = gufo_import_take_model(import, path, &error);
    if (*model == NULL)
        return report_error(path, &error);
    foreign_file_warn(*model, path);
    return fill_output(&o->quantize);
}

static int open_model(quantize_options *quantize, gufo_model **model)
{
    convert_options *o = (convert_options *)quantize;
    int code = given_keys_take(&o->given, &o->settings);

    if (code == CODE_OK)
        code = open_vocabulary(o);
    if (code == CODE_OK && remote_is(quantize->input))
        code = convert_remote_open(&o->remote, quantize->input);
    return code == CODE_OK ? open_checkpoint(o, model) : code;
}

/* ---- what is reported beyond what gufo quantize does ---------------------------------------- */

/* What became of the weights of a quantized source: a row for each way they were packed and each type
 * that they have now. */
typedef struct packed_sum {
    const char *from;
    uint32_t to;
    bool repacked; /* blocks have the same numbers; else these are unpacked, and rounded */
    bool measured;
    uint64_t tensors;
    gufo_quantize_loss loss;
    double relative;
} packed_sum;

static const char *const how_words[] = {"unpacked", "repacked"};

static const record_field sum_fields[] = {
    {"from", "Quantized as", RECORD_TEXT, RECORD_AT(packed_sum, from), .width = -12},
    {NULL, "Tensors", RECORD_COUNT, RECORD_AT(packed_sum, tensors), .width = 7, .drop = 2},
    {NULL, "How", RECORD_CHOICE, RECORD_AT(packed_sum, repacked), .width = -8, .words = how_words},
    {"to", "To", RECORD_TYPE, RECORD_AT(packed_sum, to), .width = -8},
    {"repacked", NULL, RECORD_FLAG, RECORD_AT(packed_sum, repacked)},
    {"tensors", NULL, RECORD_COUNT, RECORD_AT(packed_sum, tensors)},
    {"relative_rmse", "Relative RMSE", RECORD_REAL, RECORD_AT(packed_sum, relative),
     RECORD_KNOWN(packed_sum, measured), .width = 14, .drop = 1},
    {"largest_error", "Largest error", RECORD_SINGLE, RECORD_AT(packed_sum, loss.largest_error),
     RECORD_KNOWN(packed_sum, measured), .width = 14, .drop = 3},
};
static const record_type sum_type = RECORD_OF(packed_sum, sum_fields, 0);

typedef struct quantized_source {
    const char *method;
    record_list weights;
} quantized_source;

static const record_field source_fields[] = {
    {"method", NULL, RECORD_TEXT, RECORD_AT(quantized_source, method)},
    {"weights", NULL, RECORD_LIST, RECORD_AT(quantized_source, weights), .of = &sum_type},
};
static const record_type source_type = RECORD_OF(quantized_source, source_fields, 0);

/* In the order of first appearance. */
typedef struct packed_sums {
    packed_sum *list;
    size_t count;
} packed_sums;

static packed_sum *sum_of(packed_sums *sums, const packed_sum *like)
{
    packed_sum *added;

    for (size_t i = 0; i < sums->count; i++)
        if (strcmp(sums->list[i].from, like->from) == 0 && sums->list[i].to == like->to &&
            sums->list[i].repacked == like->repacked)
            return &sums->list[i];
    added = array_add(&sums->list, &sums->count, sizeof *added);
    if (added != NULL)
        *added = *like;
    return added;
}

/* Of a plan nothing is measured yet. */
static bool add_tensor(packed_sums *sums, const gufo_import_tensor *from,
                       const gufo_quantizer_tensor *now, bool planned)
{
    const gufo_element_type *to = gufo_element_type_by_id(now->choice.type);
    const bool repacked = (now->choice.flags & GUFO_RECIPE_CONVERTS) == 0 &&
                          (to->flags & GUFO_ELEMENT_QUANTIZED) != 0;
    const packed_sum like = {.from = from->from,
                             .to = now->choice.type,
                             .repacked = repacked,
                             .measured = repacked || !planned};
    packed_sum *sum = sum_of(sums, &like);

    if (sum == NULL)
        return false;
    sum->tensors++;
    gufo_quantize_loss_add(&sum->loss, &now->loss);
    sum->relative = gufo_quantize_loss_relative(&sum->loss);
    return true;
}

static void print_sums(const record_list *weights)
{
    table t = record_table(&sum_type, 0);

    t.gap = 1;
    putchar('\n');
    record_print(&t, &sum_type, weights);
}

/* Nothing of a source that is not quantized. */
static void report_sums(const convert_options *o, const gufo_quantizer *q, size_t output,
                        json_writer *j)
{
    quantized_source source = {.method = gufo_import_describe(o->import).quantized};
    gufo_quantizer_tensor now;
    gufo_import_tensor from;
    packed_sums sums = {0};
    bool good = source.method != NULL;

    for (uint64_t i = 0; good && gufo_quantizer_target_tensor_at(q, output, i, &now) &&
                         gufo_import_tensor_at(o->import, i, &from);
         i++)
        good = !from.packed || add_tensor(&sums, &from, &now, o->quantize.dry_run);
    source.weights = (record_list){.items = sums.list, .count = sums.count};
    if (good && sums.count > 0 && j != NULL)
        record_write(j, "quantized_source", &source_type, &source);
    else if (good && sums.count > 0)
        print_sums(&source.weights);
    free(sums.list);
}

static bool make_forced(const void *context, uint64_t index, void *record)
{
    const char **text = record;

    *text = gufo_import_forced_at(context, index);
    return *text != NULL;
}

/* The contradictions that --force-config has let pass, with the first output. */
static void report_forced(const gufo_import *import, size_t output, json_writer *j)
{
    const char *text;

    if (j != NULL)
        record_write_list(j, "forced", &record_texts,
                          &(record_list){.make = make_forced, .context = import});
    for (uint64_t i = 0;
         j == NULL && output == 0 && (text = gufo_import_forced_at(import, i)) != NULL; i++) {
        if (i == 0)
            puts("\n--force-config accepted:");
        text_print("  %s\n", text);
    }
}

static void report_more(const quantize_options *q, const gufo_quantizer *quantizer, size_t output,
                        json_writer *j)
{
    const convert_options *o = (const convert_options *)q;

    report_sums(o, quantizer, output, j);
    report_forced(o->import, output, j);
}

/* ---- the command ---------------------------------------------------------------------------- */

static int convert(void *context)
{
    static const char auto_type[] = "auto";
    convert_options *o = context;
    quantize_options *q = &o->quantize;

    q->open = open_model;
    q->auto_type = auto_type;
    q->beside_input = true;
    q->name_output = name_output;
    q->report_more = report_more;
    return quantize_run(q);
}

static void release(void *context)
{
    convert_options *o = context;

    quantize_release(&o->quantize);
    gufo_model_free(o->other);
    gufo_document_free(o->given);
    convert_remote_close(&o->remote);
}

const command_line command_convert = {
    .operands = {"DIR|FILE [OUT] [TYPE] [THREADS]", 1, 4, "DIR or FILE is needed"},
    .doc =
        "Convert a Hugging Face or PyTorch model to a GGUF file.\v"
        "DIR is a folder with config.json (or Mistral's params.json), a tokenizer, and "
        "*.safetensors or pytorch_model*.bin files; FILE is one of these; gufo finds the others "
        "in the same folder.  TYPE is F16, BF16, F32, or any that 'gufo quantize' takes (Q8_0, "
        "Q4_K_M ...); auto, the default, is F16 or BF16, as the model is stored.  gufo reads, "
        "rearranges and quantizes tensors in one go, in bounded memory.\n\n"
        "DIR may be on another machine: hf://OWNER/NAME[@REVISION], or the https address of a "
        "folder.  gufo fetches each part of a file once, when it is needed, and keeps none of "
        "them on this disk.\n\n"
        "DIR may be a LoRA adapter of PEFT, with adapter_config.json and "
        "adapter_model.safetensors or .bin: gufo converts it to an adapter file by the rules of "
        "its base; the default TYPE is F32.\n\n"
        "The architecture comes from config.json.  For one without rules gufo ends with status 3; "
        "--arch NAME --generic makes a file with the tensors' own names.  Where blocks of GGUF "
        "hold the numbers of quantized weights (FP8, GPTQ, AWQ, compressed-tensors, modelopt, "
        "MXFP4 ...), gufo keeps them; elsewhere it unpacks the weights.  It converts the text "
        "model; --mmproj converts the part that sees images or hears, which programs read from a "
        "file of its own.  It recognises the pre-tokenizer by the content "
        "of tokenizer.json, so an edited vocabulary does no harm.",
    .examples = {{"gufo convert Qwen3-8B qwen3-8b-bf16.gguf BF16", "Converts a folder."},
                 {"gufo convert Qwen3-8B --to models Q4_K_M,Q8_0",
                  "Writes two quantized files, from one reading."},
                 {"gufo convert model.safetensors unet.gguf F16 --arch unet --generic",
                  "Converts an architecture without rules."}},
    COMMAND_OPTIONS(convert_table, convert_options),
    .run = convert,
    .release = release,
};
