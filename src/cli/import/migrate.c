/* gufo migrate OLD [OUT]: an old model file as a GGUF file of today.
 *
 * The library knows the formats; this file opens the old one, as often as it takes: at first to see
 * what it is and what it lacks, then with the settings that were found or asked for. */
#include "cli/import/migrate.h"

#include "cli/commands.h"
#include "cli/core/files/input.h"
#include "cli/core/jobs/part_run.h"
#include "cli/core/jobs/job_run.h"
#include "cli/core/files/save.h"
#include "cli/core/terminal/signals.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- command line --------------------------------------------------------------------------- */

static const char *const kept_types[] = {"F16", "F32", NULL}; /* GUFO_LEGACY_F16 is the first */

static const command_option migrate_table[] = {
    {"output", "OUT", "The file to write (default: a conforming name beside OLD)", OPTION_OUTPUT,
     .common = true},
    {"arch", "NAME",
     "The architecture of OLD, such as llama, gpt2, starcoder or rwkv6, where it is ambiguous",
     OPTION_TEXT(migrate_options, arch)},
    {"falcon-grouped", NULL,
     "Falcon files of 13 and 14 June 2023, in which q, k and v are in the order of Hugging Face",
     OPTION_BITS(migrate_options, flags, GUFO_LEGACY_FALCON_GROUPED)},
    {"set", "KEY=[TYPE:]VALUE", "Set a metadata value, such as general.license=mit (repeatable)",
     OPTION_TEXTS(migrate_options, settings), .common = true},
    {"gqa", "N", "LLaMA: N query heads share a key-value head; checked against the shapes",
     OPTION_NUMBER(migrate_options, groups, 1, UINT32_MAX)},
    {"eps", "X", "The epsilon of the norms", OPTION_TEXT(migrate_options, epsilon)},
    {"ctx", "N", "The context length", OPTION_NUMBER(migrate_options, context, 1, UINT32_MAX)},
    {"vocab-from", "OTHER.gguf", "Take the tokenizer of another model",
     OPTION_TEXT(migrate_options, vocabulary), .common = true},
    {"known", "FILE", "Take settings from a JSON file by the SHA-256 of OLD",
     OPTION_TEXT(migrate_options, known)},
    {"dequantize", "F16|F32",
     "Give all quantized tensors this type; F16 becomes F32 where it overflows",
     OPTION_CHOICE(migrate_options, keep, kept_types, GUFO_LEGACY_F16)},
    {"quantize", "TYPE", "Quantize on the way, to a TYPE of 'gufo quantize'",
     OPTION_TEXT(migrate_options, quantize), .common = true},
    {"yes", NULL, "Do not ask: take the defaults, and list them", OPTION_FLAG(migrate_options, yes),
     .letter = 'y', .common = true},
    {"dry-run", NULL, "Show what OLD is, has and lacks; write nothing",
     OPTION_FLAG(migrate_options, dry_run), .common = true},
    {"resume", NULL,
     "Continue an interrupted run, even with --force, or report why that is not possible; start if "
     "there is none",
     OPTION_FLAG(migrate_options, resume)},
#include "cli/core/options/part_options.def"
    {0},
};

static int check_arguments(migration *m)
{
    migrate_options *o = m->options;
    const char *output = o->base.output;
    const part_conflict conflicts[] = {
        {o->resume, "--part excludes --resume: parts go on with what is there in any case"}};
    int code = part_check(&o->base, output, conflicts, 1);

    if (code != CODE_OK)
        return code;

    o->input = o->base.shared->args[0];
    if (path_is_standard(o->input))
        return report_usage("OLD must be a file, not '-'");
    if (o->quantize != NULL && o->keep != GUFO_LEGACY_NEAREST)
        return report_usage("--quantize and --dequantize exclude each other");
    if (o->quantize != NULL && (!gufo_quantize_target_by_name(o->quantize, false, &m->target) ||
                                m->target.base_type == NULL))
        return report_usage("--quantize: unknown type '%s': 'gufo list filetypes' lists "
                            "the types",
                            o->quantize);
    if (o->resume && output != NULL && save_is_stream(output))
        return report_usage("--resume is for a file");
    if (save_is_pending(o->input, false) ||
        (!o->dry_run && output != NULL && save_is_pending(output, true)))
        return CODE_USAGE;
    if (output != NULL && !resume_is_left(output) && !o->base.part.given)
        code = save_check_dry(output, o->input, o->dry_run || o->base.shared->force);
    return code == CODE_OK ? options_cpu(&m->cpu) : code;
}

/* ---- the old file --------------------------------------------------------------------------- */

static int open_vocabulary(migration *m)
{
    const char *path = m->options->vocabulary;

    if (path == NULL)
        return CODE_OK;
    m->vocabulary = input_open_model(path, 0);
    return m->vocabulary != NULL ? CODE_OK : CODE_FAILED;
}

/* Only an architecture that does not exist is wrong usage. */
static int report_refused(const migration *m, const gufo_error *error)
{
    bool usage = error->code == GUFO_E_ARGUMENT && m->options->arch != NULL &&
                 !input_is_gguf(m->options->input);

    report_error(m->options->input, error);
    return error->code == GUFO_E_STOPPED ? CODE_INTERRUPTED : usage ? CODE_USAGE : CODE_FAILED;
}

/* Opens it with what is known by now. */
static int open_old(migration *m, uint32_t flags)
{
    migrate_options *o = m->options;
    gufo_run run = progress_run(&m->bar, o->base.shared);
    const gufo_legacy_options options = {.flags = flags | o->flags,
                                         .arch = o->arch,
                                         .keep = o->quantize != NULL ? GUFO_LEGACY_F32 : o->keep,
                                         .known = m->given,
                                         .vocabulary = m->vocabulary,
                                         .run = &run,
                                         .called =
                                             part_name(&o->base, o->base.output, NAME_OLD, NULL)};
    gufo_error error;

    gufo_import_free(m->import);
    run.cpu = m->cpu;
    signals_reading(o->input);
    progress_start(&m->bar, o->base.shared->quiet);
    m->import = gufo_import_legacy(o->input, &options, &error);
    progress_end(&m->bar);
    return m->import != NULL ? CODE_OK : report_refused(m, &error);
}

static int look(migration *m)
{
    return open_old(m, 0);
}

/* Reads the blocks that no longer exist. */
static int measure(migration *m)
{
    return open_old(m, GUFO_LEGACY_MEASURE);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int report_result(migration *m)
{
    migrate_warn(m);
    if (m->options->dry_run || !save_is_stdout(m->output))
        migrate_report(m);
    return CODE_OK;
}

static int migrate(void *context)
{
    static int (*const steps[])(migration * m) = {check_arguments,
                                                  migrate_take_settings,
                                                  open_vocabulary,
                                                  look,
                                                  migrate_take_known,
                                                  migrate_take_facts,
                                                  look,
                                                  migrate_ask,
                                                  measure,
                                                  migrate_check_settings,
                                                  migrate_plan,
                                                  migrate_write,
                                                  report_result};
    migration m = {.options = context};
    int code = CODE_OK;

    for (size_t i = 0; i < sizeof steps / sizeof *steps && code == CODE_OK && !m.reported; i++)
        code = steps[i](&m);
    gufo_quantizer_free(m.quantizer);
    gufo_job_free(m.plain);
    gufo_import_free(m.import);
    gufo_model_free(m.vocabulary);
    gufo_document_free(m.given);
    free(m.output);
    signals_reading(NULL);
    return code;
}

const command_line command_migrate = {
    .operands = {"OLD [OUT]", 1, 2, "OLD is needed"},
    .out = 2,
    .doc =
        "Convert an old model file to GGUF: GGML, GGMF, GGJT, of LLaMA and its relatives, Falcon, "
        "GPT-2, GPT-J, GPT-NeoX, MPT, StarCoder, BLOOM, RWKV or Whisper, a LoRA adapter (GGLA), "
        "or GGUF version 1 or 2.\v"
        "OLD is the first file of a model in several parts (OLD.1, OLD.2 ...).  Settings that it "
        "lacks come from options, from the file of --known, from what nearly all models of its "
        "family have, or from your answers, if standard input is a terminal.  Numbers stay "
        "exactly the same where a current type can hold them; the report says where it cannot.  "
        "Exit status 3 means that OLD is damaged or cannot become a GGUF file.",
    .examples = {{"gufo migrate --dry-run ggml-model-q4_0.bin",
                  "Shows what the file is, has and lacks."},
                 {"gufo migrate --yes --ctx 4096 --set general.license=llama2 "
                  "ggml-model-q4_0.bin",
                  "Asks nothing."},
                 {"gufo migrate --quantize Q4_K_M ggml-model-f16.bin model.gguf",
                  "Quantizes on the way."}},
    COMMAND_OPTIONS(migrate_table, migrate_options),
    .run = migrate,
};
