/* gufo export FILE DIR: a model as the files of Hugging Face's libraries. */
#include "cli/core/values/str.h"
#include "cli/commands.h"
#include "cli/core/jobs/copying.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/path.h"
#include "cli/core/jobs/job_run.h"
#include "cli/core/files/save.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"

#include "gufo/import.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct export_options {
    copying job;
    gufo_export_options what;
    unsigned format, dtype; /* words of the lists below; dtype is counted from 1, 0: as it is */
    bool made_folder;
} export_options;

static const char *const formats[] = {"safetensors", "npz", NULL};
static const char *const dtypes[] = {"bf16", "f16", "f32", NULL};
static const uint32_t dtype_ids[] = {GUFO_TYPE_BF16, GUFO_TYPE_F16, GUFO_TYPE_F32};

static const command_option export_table[] = {
    {"output", "DIR", "The folder to make for the files", OPTION_OUTPUT},
    {"format", "FORMAT", "safetensors, the default, or npz: one file for NumPy",
     OPTION_CHOICE(export_options, format, formats, 0), .common = true},
    {"dtype", "TYPE",
     "bf16, f16 or f32, for tensors of two dimensions and more (default: the types that they have, "
     "and bf16 for what is quantized)",
     OPTION_CHOICE(export_options, dtype, dtypes, 1), .common = true},
    {"shard-size", "SIZE", "At most this many bytes of tensors in a file (default: 5 GB)",
     OPTION_SIZE(export_options, what.shard_size, 1, "500M or 2G"), .common = true},
    {"memory", "SIZE", "Use at most SIZE of memory, such as 2G or 512M (default: 512M)",
     OPTION_MEMORY(export_options, job.memory, 1, "512M or 2G")},
    {"dry-run", NULL, "Show which files and tensors would be written, but write nothing",
     OPTION_FLAG(export_options, job.dry_run), .common = true},
#include "cli/core/options/part_options.def"
    {0},
};

/* ---- reports -------------------------------------------------------------------------------- */

typedef struct tensor_row {
    gufo_export_tensor tensor;
    record_list shape;
} tensor_row;

static const record_field tensor_fields[] = {
    {"name", NULL, RECORD_STR, RECORD_AT(tensor_row, tensor.name)},
    {"dtype", NULL, RECORD_TEXT, RECORD_AT(tensor_row, tensor.dtype)},
    {"shape", NULL, RECORD_LIST, RECORD_AT(tensor_row, shape), .of = &record_numbers},
    {"source", NULL, RECORD_STR, RECORD_AT(tensor_row, tensor.source)},
    {"file", NULL, RECORD_TEXT, RECORD_AT(tensor_row, tensor.file)},
};
static const record_type tensor_type = RECORD_OF(tensor_row, tensor_fields, 0);

typedef struct result {
    record_list tensors, warnings;
} result;

static const record_field result_fields[] = {
    {"tensors", NULL, RECORD_LIST, RECORD_AT(result, tensors), .of = &tensor_type},
    {"warnings", NULL, RECORD_LIST, RECORD_AT(result, warnings), .of = &record_texts},
};
static const record_type result_type = RECORD_OF(result, result_fields, 0);

static bool make_tensor(const void *context, uint64_t index, void *record)
{
    tensor_row *row = record;
    bool found = gufo_export_tensor_at(context, index, &row->tensor);

    row->shape = (record_list){.items = row->tensor.shape, .count = row->tensor.n_dims};
    return found;
}

static bool make_warning(const void *context, uint64_t index, void *record)
{
    const char **warning = record;

    *warning = gufo_export_warning_at(context, index);
    return *warning != NULL;
}

static void print_tensor(const gufo_export_tensor *t)
{
    line l;

    line_begin(&l);
    fputs("  ", l.out);
    text_put(l.out, t->name, TEXT_PLAIN);
    fprintf(l.out, "  %s ", t->dtype);
    for (uint32_t i = 0; i < t->n_dims; i++)
        fprintf(l.out, "%s%" PRIu64, i > 0 ? " x " : " ", t->shape[i]);
    fputs("  of ", l.out);
    text_put(l.out, t->source, TEXT_PLAIN);
    line_end(&l);
}

/* Tensors are listed by dry runs, which are asked for details. */
static void report(const copying *job, json_writer *j)
{
    const result r = {.tensors = {.make = make_tensor, .context = job->plan},
                      .warnings = {.make = make_warning, .context = job->plan}};
    gufo_export_tensor t;

    if (j != NULL)
        record_write_members(j, &result_type, &r);
    for (uint64_t i = 0; j == NULL && job->dry_run && gufo_export_tensor_at(job->plan, i, &t); i++)
        print_tensor(&t);
}

static void warn(const gufo_job *job, const char *path)
{
    const char *warning;

    for (uint64_t i = 0; (warning = gufo_export_warning_at(job, i)) != NULL; i++)
        report_warning(path, "%s", warning);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Makes the folder.  A dry run makes it, too, to see whether files can be written there; it is removed
 * at the end. */
static int make_folder(export_options *o)
{
    const char *path = o->job.base.output;
    int code;

    if (path_exists(path))
        return path_is_folder(path) ? CODE_OK : report_system(path, ENOTDIR);
    code = save_check_dry(path, NULL, false);
    if (code == CODE_OK && o->job.dry_run)
        o->job.into_new = true;
    else if (code == CODE_OK) {
        code = mkdir(path, 0777) == 0 || (errno == EEXIST && o->job.base.part.given)
                   ? CODE_OK
                   : report_system(path, errno);
        o->made_folder = code == CODE_OK && !o->job.base.part.given; /* other workers use it */
    }
    return code;
}

/* The names of all outputs, sorted. */
typedef struct output_names {
    char **list;
    size_t count;
} output_names;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void free_names(output_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free((void *)names->list);
}

static int list_names(output_names *names, const gufo_job *job, const char *folder)
{
    const size_t count = gufo_job_output_count(job);

    *names = (output_names){.list = calloc(count + 1, sizeof *names->list)};
    if (names->list == NULL)
        return report_memory(NULL);
    while (names->count < count) {
        char *path = job_output_path(job, folder, names->count);

        if (path == NULL) {
            free_names(names);
            return CODE_FAILED;
        }
        memmove(path, path + strlen(folder) + 1, strlen(path) - strlen(folder));
        names->list[names->count++] = path;
    }
    qsort((void *)names->list, count, sizeof *names->list, compare_names);
    return CODE_OK;
}

static bool is_output(const output_names *names, const char *name)
{
    return bsearch(&name, (const void *)names->list, names->count, sizeof *names->list,
                   compare_names) != NULL;
}

/* Files that readers of the folder would take for parts of the model. */
static bool is_part(gufo_str name)
{
    return (begins_with(name, "model") && ends_with(name, ".safetensors")) ||
           ends_with(name, ".safetensors.index.json");
}

/* Files that readers take for parts of whatever model a folder has: its tokenizer, say. */
static bool is_beside(const char *name)
{
    static const char *const names[] = {
        "adapter_config.json",
        "added_tokens.json",
        "chat_template.jinja",
        "chat_template.json",
        "generation_config.json",
        "hf_quant_config.json",
        "merges.txt",
        "modules.json",
        "params.json",
        "quant_config.json",
        "quantize_config.json",
        "rwkv_vocab_v20230424.txt",
        "special_tokens_map.json",
        "spiece.model",
        "tekken.json",
        "tiktoken.model",
        "tokenizer.json",
        "tokenizer.model",
        "tokenizer_config.json",
        "vocab.json",
        "vocab.txt",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int check_file(const output_names *outputs, const char *folder, const char *name)
{
    if ((!is_part(gufo_str_of(name)) && !is_beside(name)) || is_output(outputs, name))
        return CODE_OK;
    return report_as(CODE_USAGE, folder,
                     is_beside(name)
                         ? "it has a file of another model, %s, that readers would take "
                           "for one of this: remove it first"
                         : "it has tensors of another model, in %s: remove them first",
                     name);
}

/* A folder with files of another model would be a mixture. */
static int check_folder(const gufo_job *job, const char *folder)
{
    DIR *all = opendir(folder);
    output_names outputs;
    struct dirent *one;
    int code;

    if (all == NULL)
        return report_system(folder, errno);
    code = list_names(&outputs, job, folder);
    if (code == CODE_OK) {
        while (code == CODE_OK && (one = readdir(all)) != NULL)
            code = check_file(&outputs, folder, one->d_name);
        free_names(&outputs);
    }
    (void)closedir(all);
    return code;
}

static gufo_job *plan(copying *job, gufo_error *error)
{
    export_options *o = (export_options *)job;
    gufo_job *made;

    o->what.format = (gufo_export_format)o->format;
    if (o->dtype > 0)
        o->what.dtype = gufo_element_type_by_id(dtype_ids[o->dtype - 1]);
    made = gufo_export_job(job->model, &o->what, error);
    if (made == NULL)
        return NULL;
    warn(made, job->input);
    job->code = make_folder(o);
    if (job->code == CODE_OK && !job->into_new)
        job->code = check_folder(made, job->base.output);
    if (job->code == CODE_OK)
        return made;
    gufo_job_free(made);
    return NULL;
}

static int export_model(void *context)
{
    export_options *o = context;
    int code;

    if (path_is_standard(o->job.base.output))
        return report_usage("several files cannot go to standard output");
    o->job.report = report;
    code = copying_run(&o->job, plan);
    if (o->made_folder && code != CODE_OK)
        (void)rmdir(o->job.base.output);
    return code;
}

const command_line command_export = {
    .operands = {"FILE DIR", 2, 2, "FILE and DIR are needed"},
    .out = 2,
    .doc =
        "Export a model to the files of Hugging Face.\v"
        "DIR gets config.json, the tokenizer and *.safetensors files, as Hugging Face's libraries "
        "read them; 'gufo convert DIR' makes the same model from them again, with the help of "
        "gguf-metadata.json.  Tensors get the names, and their numbers the order, that the "
        "framework uses; gufo decodes quantized tensors.  For adapters, and for architectures "
        "without rules, it ends with status 2.",
    .examples = {{"gufo export qwen3-8b-bf16.gguf Qwen3-8B", "Writes a folder."},
                 {"gufo export model-q4_k_m.gguf model --dtype=f16 --shard-size=2G",
                  "Decodes a quantized model to F16, in files of two gigabytes."},
                 {"gufo export --format=npz model.gguf arrays",
                  "Writes arrays/model.npz, for NumPy."}},
    COMMAND_OPTIONS(export_table, export_options),
    .run = export_model,
};
