/* gufo extract FILE TENSOR...: tensors as raw bytes, npy or safetensors. */
#include "cli/commands.h"
#include "cli/copying.h"
#include "cli/report.h"
#include "cli/show.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct extract_options {
    command_input base;
    const char *output;
    bool format_given;
    gufo_extract_options what;
    char *default_output; /* to be freed */
    uint64_t *tensors;    /* numbers of those that are meant */
    size_t tensor_count;
} extract_options;

enum { OPTION_FORMAT = OPTION_COMMAND, OPTION_DTYPE };

static const struct argp_option extract_table[] = {
    {"output", 'o', "OUT", 0, "The file to write ('-': standard output)", 1},
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "raw, npy or safetensors (default: by the name of OUT, else raw)", 1},
    {"dtype", OPTION_DTYPE, "TYPE", 0, "Decode to f32, f16 or bf16", 1},
    {0},
};

/* ---- command line --------------------------------------------------------------------------- */

static const struct {
    const char *name, *suffix;
} formats[] = {[GUFO_EXTRACT_RAW] = {"raw", ".raw"},
               [GUFO_EXTRACT_NUMPY] = {"npy", ".npy"},
               [GUFO_EXTRACT_SAFETENSORS] = {"safetensors", ".safetensors"}};

enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static bool read_format(extract_options *o, const char *text)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(text, formats[i].name) == 0) {
            o->what.format = (gufo_extract_format)i;
            return o->format_given = true;
        }
    }
    report_usage("extract", "--format is raw, npy or safetensors, not '%s'", text);
    return false;
}

static bool read_type(extract_options *o, const char *text)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {{"f32", GUFO_TYPE_F32}, {"f16", GUFO_TYPE_F16}, {"bf16", GUFO_TYPE_BF16}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(text, types[i].name) == 0) {
            o->what.type = gufo_element_type_by_id(types[i].type);
            return true;
        }
    }
    report_usage("extract", "--dtype is f32, f16 or bf16, not '%s'", text);
    return false;
}

static error_t parse_extract(int key, char *text, struct argp_state *state)
{
    extract_options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o->base.shared;
        return 0;
    case 'o':
        o->output = text;
        return 0;
    case OPTION_FORMAT:
        return read_format(o, text) ? 0 : EINVAL;
    case OPTION_DTYPE:
        return read_type(o, text) ? 0 : EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp extract_argp = {
    .options = extract_table,
    .parser = parse_extract,
    .args_doc = "FILE TENSOR...",
    .doc = "Write tensors of a model to a file of another format.\v"
           "TENSOR is a name or a GLOB; only safetensors holds several.  raw without --dtype is "
           "the bytes as they are stored; everything else is little-endian.  Without --dtype, npy "
           "and safetensors keep plain numbers as they are and get quantized ones as f32.  Without "
           "-o, OUT is the name of the tensor with the name of the format appended.  Exit status 1 "
           "means that there is no such tensor.",
    .children = options_children,
};

/* ---- which tensors -------------------------------------------------------------------------- */

/* A name means just that tensor, even if it looks like a pattern. */
static bool is_meant(const char *wanted, bool is_name, gufo_str name)
{
    return is_name ? gufo_str_equal(name, gufo_str_of(wanted)) : show_matches(wanted, name);
}

/* Marks the tensors that one argument means; false if there is none. */
static bool mark(bool *chosen, const gufo_model *set, const char *wanted)
{
    gufo_tensor tensor;
    bool is_name = gufo_tensor_find(set, wanted, &tensor), found = false;

    for (uint64_t i = 0; gufo_tensor_at(set, i, &tensor); i++)
        if (is_meant(wanted, is_name, tensor.name))
            found = chosen[i] = true;
    return found;
}

/* Marks what the arguments mean, and lists it in the order of the model. */
static int choose(extract_options *o, const copying *job, bool *chosen)
{
    const shared_options *shared = o->base.shared;

    for (int i = 1; i < shared->arg_count; i++) {
        if (mark(chosen, job->model, shared->args[i]))
            continue;
        report_message(job->input, "there is no tensor '%s'", shared->args[i]);
        return CODE_NO;
    }
    for (uint64_t i = 0; i < gufo_tensor_count(job->model); i++)
        if (chosen[i])
            o->tensors[o->tensor_count++] = i;
    return CODE_OK;
}

static int choose_all(extract_options *o, const copying *job)
{
    size_t count = (size_t)gufo_tensor_count(job->model); /* in memory, so it fits */
    bool *chosen = calloc(count + 1, sizeof *chosen);
    int code = CODE_FAILED;

    o->tensors = calloc(count + 1, sizeof *o->tensors);
    if (chosen != NULL && o->tensors != NULL)
        code = choose(o, job, chosen);
    else
        report_message(NULL, "out of memory");
    free(chosen);
    return code;
}

/* ---- where to ------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *suffix)
{
    size_t len = strlen(text), suffix_len = strlen(suffix);

    return len > suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

static void guess_format(extract_options *o)
{
    for (size_t i = 0; i < FORMAT_COUNT && !o->format_given && o->output != NULL; i++)
        if (ends_with(o->output, formats[i].suffix))
            o->what.format = (gufo_extract_format)i;
}

/* Whether a stranger's name may become that of a file here: not one that leads elsewhere, hides, or
 * looks like an option. */
static bool is_harmless(gufo_str name)
{
    uint32_t code_point;

    if (name.len == 0 || name.data[0] == '.' || name.data[0] == '-')
        return false;
    for (size_t step; name.len > 0; name.data += step, name.len -= step) {
        step = utf8_decode(name, &code_point);
        if (step == 0 || code_point == '/' || utf8_is_control(code_point))
            return false;
    }
    return true;
}

/* "NAME.npy" in the current folder. */
static int choose_output(extract_options *o, copying *job)
{
    const char *suffix = formats[o->what.format].suffix;
    gufo_tensor tensor;

    job->output = o->output;
    if (o->output != NULL)
        return CODE_OK;
    if (o->tensor_count != 1)
        return report_usage("extract", "-o OUT is needed for several tensors");
    (void)gufo_tensor_at(job->model, o->tensors[0], &tensor);
    if (!is_harmless(tensor.name))
        return report_usage("extract",
                            "-o OUT is needed: the name of the tensor cannot be the name "
                            "of a file");
    o->default_output = calloc(1, tensor.name.len + strlen(suffix) + 1);
    if (o->default_output == NULL) {
        report_message(NULL, "out of memory");
        return CODE_FAILED;
    }
    memcpy(o->default_output, tensor.name.data, tensor.name.len);
    strcpy(o->default_output + tensor.name.len, suffix);
    job->output = o->default_output;
    return CODE_OK;
}

/* What helps where a type is refused: NumPy has no bfloat16, and unknown blocks cannot be
 * decoded. */
static const char *choose_hint(const extract_options *o, const copying *job)
{
    const gufo_element_type *type;
    gufo_tensor tensor;

    for (size_t i = 0; i < o->tensor_count; i++) {
        (void)gufo_tensor_at(job->model, o->tensors[i], &tensor);
        type = gufo_element_type_by_id(tensor.type);
        if (type == NULL || (type->flags & GUFO_ELEMENT_DECODES) == 0)
            return "--format raw without --dtype copies its bytes as they are";
    }
    return "--dtype f32, or --format safetensors";
}

static int plan(extract_options *o, copying *job, gufo_error *error)
{
    int code = choose_all(o, job);

    if (code == CODE_OK)
        code = choose_output(o, job);
    if (code != CODE_OK)
        return code;
    job->type_hint = choose_hint(o, job);
    job->plan = gufo_job_extract(job->model, o->tensors, o->tensor_count, &o->what, error);
    return CODE_OK;
}

int command_extract(int argc, char **argv, shared_options *shared)
{
    extract_options options = {.base = {shared}};
    int code = options_parse(&extract_argp, 0, argc, argv, &options.base);
    copying job = {.shared = shared};
    gufo_error error;

    if (code != 0 || shared->done)
        return code;
    if (shared->arg_count < 2)
        return report_usage("extract", "FILE and TENSOR are needed");
    guess_format(&options);
    job.input = shared->args[0];
    code = copying_open(&job);
    if (code == CODE_OK)
        code = plan(&options, &job, &error);
    code = copying_finish(&job, code, &error);
    free(options.default_output);
    free(options.tensors);
    return code;
}
