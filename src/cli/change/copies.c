/* gufo strip, endian and extract: a model, or parts of it, in another form. */
#include "cli/commands.h"
#include "cli/core/jobs/copying.h"
#include "cli/core/files/path.h"
#include "cli/core/options/names.h"
#include "cli/core/terminal/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- gufo strip FILE OUT: a model without its tensors, or with some of them ------------------ */

typedef struct strip_options {
    copying job;
    bool vocabulary_only, no_tensors;
    const char *tensors; /* GLOB */
    bool matched;        /* it, at least once */
} strip_options;

static const command_option strip_table[] = {
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
    {"vocab-only", NULL, "No tensors, and none of the metadata that describes their data",
     OPTION_FLAG(strip_options, vocabulary_only)},
    {"no-tensors", NULL, "No tensors, but all metadata", OPTION_FLAG(strip_options, no_tensors)},
    {"tensors", "GLOB", "All metadata, and the tensors whose names match",
     OPTION_TEXT(strip_options, tensors)},
    {"dry-run", NULL, "Show the result, but write nothing",
     OPTION_FLAG(strip_options, job.dry_run)},
    {0},
};

static bool keeps_tensor(void *context, gufo_str name)
{
    strip_options *o = context;
    bool keeps = glob_matches(o->tensors, name);

    o->matched = o->matched || keeps;
    return keeps;
}

static gufo_job *plan_strip(copying *job, gufo_error *error)
{
    strip_options *o = (void *)job;
    gufo_strip_options what = {.vocabulary_only = o->vocabulary_only,
                               .keeps_tensor = o->tensors != NULL ? keeps_tensor : NULL,
                               .context = o};
    gufo_job *made = gufo_job_strip(job->model, &what, error);

    if (made == NULL || o->tensors == NULL || o->matched)
        return made;
    job->code = report_as(CODE_NO, job->input, "no tensor matches '%s'", o->tensors);
    gufo_job_free(made);
    return NULL;
}

static int strip(void *context)
{
    strip_options *o = context;

    if (o->vocabulary_only + o->no_tensors + (o->tensors != NULL) != 1)
        return report_usage("one of --vocab-only, --no-tensors and --tensors is needed");
    return copying_run(&o->job, plan_strip);
}

const command_line command_strip = {
    .operands = {"--vocab-only|--no-tensors|--tensors=GLOB FILE OUT", 2, 2,
                 "FILE and OUT are needed"},
    .out = 2,
    .doc = "Write a model without its tensors, or with some of them.\v"
           "--vocab-only keeps what a tokenizer needs: general.*, tokenizer.* and the "
           "hyperparameters of the architecture.  Exit status 1 means that no tensor matches GLOB.",
    .examples = {{"gufo strip --vocab-only model.gguf vocab.gguf", "Writes the vocabulary alone."},
                 {"gufo strip --tensors='blk.0.*' model.gguf block.gguf",
                  "Writes all metadata, and the tensors of the first block."}},
    COMMAND_OPTIONS(strip_table, strip_options),
    .run = strip,
};

/* ---- gufo endian FILE OUT: a model in the other byte order ----------------------------------- */

typedef enum wanted_order { ORDER_NONE, ORDER_LITTLE, ORDER_BIG, ORDER_OTHER } wanted_order;

typedef struct endian_options {
    copying job;
    wanted_order order;
} endian_options;

static const char *const orders[] = {"little", "big", "other", NULL};

static const command_option endian_table[] = {
    {"to", "ORDER", "The byte order of OUT: little, big, or other",
     OPTION_CHOICE(endian_options, order, orders, ORDER_LITTLE)},
    {"dry-run", NULL, "Show the result, but write nothing",
     OPTION_FLAG(endian_options, job.dry_run)},
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
#include "cli/core/options/part_options.def"
    {0},
};

static gufo_job *plan_endian(copying *job, gufo_error *error)
{
    wanted_order wanted = ((const endian_options *)(const void *)job)->order;
    const gufo_model *first = gufo_model_shard(job->model, 0);
    bool is_big = gufo_model_facts(first).byte_order == GUFO_BIG_ENDIAN;
    bool big = wanted == ORDER_OTHER ? !is_big : wanted == ORDER_BIG;
    const gufo_endian_options options = {.order = big ? GUFO_BIG_ENDIAN : GUFO_LITTLE_ENDIAN};

    return gufo_job_endian(job->model, &options, error);
}

static int endian(void *context)
{
    endian_options *o = context;

    if (o->order == ORDER_NONE)
        return report_usage("--to is needed: little, big or other");
    return copying_run(&o->job, plan_endian);
}

const command_line command_endian = {
    .operands = {"--to=ORDER FILE OUT", 2, 2, "FILE and OUT are needed"},
    .out = 2,
    .doc = "Write a model in the other byte order.\v"
           "gufo swaps the bytes of metadata and of the numbers inside the blocks of every "
           "tensor.  OUT is of version 3.  If FILE is the first shard of a set, OUT must have the "
           "name of the first shard of a set of the same size.",
    .examples = {{"gufo endian --to=big model.gguf model-be.gguf", "Writes a big-endian copy."},
                 {"gufo endian --to=other --dry-run model-be.gguf model.gguf",
                  "Shows what becomes of a file of either byte order."}},
    COMMAND_OPTIONS(endian_table, endian_options),
    .run = endian,
};

/* ---- gufo extract FILE TENSOR...: tensors as raw bytes, npy or safetensors ------------------- */

typedef struct extract_options {
    copying job;
    bool format_given;
    unsigned type; /* of `types`, from 1; 0: not given */
    gufo_extract_options what;
    char *default_output; /* owned */
    uint64_t *tensors;    /* the numbers of the chosen ones */
    size_t tensor_count;
} extract_options;

/* ---- extract: command line ------------------------------------------------------------------- */

static const char *const formats[] = {[GUFO_EXTRACT_RAW] = "raw",
                                      [GUFO_EXTRACT_NUMPY] = "npy",
                                      [GUFO_EXTRACT_SAFETENSORS] = "safetensors",
                                      NULL};
static const char *const type_names[] = {"f32", "f16", "bf16", NULL};
static const uint32_t types[] = {GUFO_TYPE_F32, GUFO_TYPE_F16, GUFO_TYPE_BF16};

static const command_option extract_table[] = {
    {"output", "OUT", "The file to write ('-': standard output)", OPTION_OUTPUT},
    {"format", "FORMAT", "raw, npy or safetensors (default: by the name of OUT, else raw)",
     OPTION_CHOICE(extract_options, what.format, formats, 0),
     .given = offsetof(extract_options, format_given)},
    {"dtype", "TYPE", "Decode to f32, f16 or bf16",
     OPTION_CHOICE(extract_options, type, type_names, 1), .own = GUFO_SPELLING_ELEMENT_TYPE},
#include "cli/core/options/part_options.def"
    {0},
};

/* ---- extract: which tensors ------------------------------------------------------------------ */

/* A name means just that tensor, even if it looks like a pattern. */
static bool is_meant(const char *wanted, bool is_name, gufo_str name)
{
    return is_name ? gufo_str_equal(name, gufo_str_of(wanted)) : glob_matches(wanted, name);
}

/* Marks the tensors that one argument names; false if it names none. */
static bool mark(uint64_t *chosen, const gufo_model *set, const char *wanted)
{
    gufo_tensor tensor;
    bool is_name = gufo_model_tensor_find(set, wanted, &tensor), found = false;

    for (uint64_t i = 0; gufo_model_tensor_at(set, i, &tensor); i++)
        if (is_meant(wanted, is_name, tensor.name)) {
            chosen[i] = 1;
            found = true;
        }
    return found;
}

/* Of a tensor the last part of the name is easily forgotten. */
static int report_missing(const copying *job, const char *wanted)
{
    char whole[128];
    int size = snprintf(whole, sizeof whole, "%s.weight", wanted);
    bool is_near =
        size > 0 && (size_t)size < sizeof whole && gufo_model_tensor_find(job->model, whole, NULL);

    return report_as(CODE_NO, job->input, "no tensor matches '%s'%s%s%s", wanted,
                     is_near ? "; did you mean '" : "", is_near ? whole : "", is_near ? "'?" : "");
}

/* Lists what the arguments mean, in the order of the model. */
static int choose(extract_options *o)
{
    const copying *job = &o->job;
    const shared_options *shared = job->base.shared;
    size_t count = (size_t)gufo_model_tensor_count(job->model); /* in memory, so it fits */

    o->tensors = calloc(count + 1, sizeof *o->tensors);
    if (o->tensors == NULL)
        return report_memory(NULL);
    for (int i = 1; i < shared->arg_count; i++)
        if (!mark(o->tensors, job->model, shared->args[i]))
            return report_missing(job, shared->args[i]);
    /* No number is written over a mark that is still to be read. */
    for (size_t i = 0; i < count; i++)
        if (o->tensors[i] != 0)
            o->tensors[o->tensor_count++] = i;
    return CODE_OK;
}

/* ---- extract: where to ----------------------------------------------------------------------- */

/* By what follows the dot. */
static void guess_format(extract_options *o)
{
    const char *dot = o->job.base.output != NULL ? strrchr(o->job.base.output, '.') : NULL;

    if (o->format_given || dot == NULL || dot == o->job.base.output)
        return;
    for (size_t i = 0; formats[i] != NULL; i++)
        if (strcmp(dot + 1, formats[i]) == 0)
            o->what.format = (gufo_extract_format)i;
}

/* Whether a stranger's name may become that of a file here: it does not lead elsewhere, hide, or
 * look like an option. */
static bool is_harmless(gufo_str name)
{
    return name.len > 0 && name.data[0] != '.' && name.data[0] != '-' &&
           memchr(name.data, '/', name.len) == NULL && text_is_clean(name);
}

/* "NAME.npy" in the current folder. */
static int choose_output(extract_options *o)
{
    const char *format = formats[o->what.format];
    gufo_tensor tensor;

    if (o->job.base.output != NULL)
        return CODE_OK;
    if (o->tensor_count != 1)
        return report_usage("-o OUT is needed for several tensors");
    (void)gufo_model_tensor_at(o->job.model, o->tensors[0], &tensor);
    if (!is_harmless(tensor.name))
        return report_usage("-o OUT is needed: the name of the tensor cannot be the name "
                            "of a file");
    o->default_output = path_format("%.*s.%s", (int)tensor.name.len, tensor.name.data, format);
    o->job.base.output = o->default_output;
    return o->default_output != NULL ? CODE_OK : CODE_FAILED;
}

/* Advice where a type is refused: NumPy has no bfloat16, and gufo cannot decode unknown blocks. */
static const char *choose_hint(const extract_options *o)
{
    const gufo_element_type *type;
    gufo_tensor tensor;

    for (size_t i = 0; i < o->tensor_count; i++) {
        (void)gufo_model_tensor_at(o->job.model, o->tensors[i], &tensor);
        type = gufo_element_type_by_id(tensor.type);
        if (type == NULL || (type->flags & GUFO_ELEMENT_DECODES) == 0)
            return "--format raw without --dtype copies its bytes as they are";
    }
    return "--dtype f32, or --format safetensors";
}

static gufo_job *plan_extract(copying *job, gufo_error *error)
{
    extract_options *o = (void *)job;

    job->code = choose(o);
    if (job->code == CODE_OK)
        job->code = choose_output(o);
    if (job->code != CODE_OK)
        return NULL;
    if (o->type > 0)
        o->what.type = gufo_element_type_by_id(types[o->type - 1]);
    job->type_hint = choose_hint(o);
    return gufo_job_extract(job->model, o->tensors, o->tensor_count, &o->what, error);
}

static int extract(void *context)
{
    extract_options *o = context;

    guess_format(o);
    o->job.foreign = true;
    return copying_run(&o->job, plan_extract);
}

static void release(void *context)
{
    extract_options *o = context;

    free(o->default_output);
    free(o->tensors);
}

const command_line command_extract = {
    .operands = {"FILE TENSOR...", 2, 0, "FILE and TENSOR are needed"},
    .doc = "Write tensors of a model to a file of another format.\v"
           "TENSOR is a name or a GLOB; only safetensors holds several.  raw without --dtype "
           "writes the bytes as they are stored; everything else is little-endian.  Without "
           "--dtype, npy and safetensors keep plain numbers as they are and get quantized ones as "
           "f32.  Without -o, OUT is the name of the tensor with the name of the format appended.  "
           "Exit status 1 means that FILE has no such tensor.",
    .examples = {{"gufo extract --dtype=f32 -o row.npy model.gguf output_norm.weight",
                  "Writes one tensor for NumPy."},
                 {"gufo extract -o block.safetensors model.gguf 'blk.0.*'",
                  "Writes several tensors."}},
    COMMAND_OPTIONS(extract_table, extract_options),
    .run = extract,
    .release = release,
};
