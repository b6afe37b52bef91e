/* The operands of gufo quantize, and the names of outputs.
 *
 *     IN [OUT] TYPE [THREADS]        as llama-quantize
 *     IN TYPE OUT.gguf [THREADS]     the order that people try
 *     IN TYPE [THREADS] -o OUT
 *     IN OUT [THREADS]               with --types-from
 *     IN TYPE,TYPE,... [THREADS]     with --to DIR
 *     IN [OUT] [THREADS]             with a size */
#include "cli/core/values/str.h"
#include "cli/core/jobs/part_run.h"
#include "cli/core/files/remote.h"
#include "cli/core/files/path.h"
#include "cli/core/files/save.h"
#include "cli/core/options/command_line.h"
#include "cli/core/records/quoting.h"
#include "cli/quantize/quantize.h"

#include "gufo/name.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { TYPE_SIZE = 64 };

/* ---- operands ------------------------------------------------------------------------------- */

/* The first of the types that are separated by commas. */
static size_t first_type(const char *text, char out[TYPE_SIZE])
{
    size_t len = strcspn(text, ",");

    snprintf(out, TYPE_SIZE, "%.*s", (int)len, text);
    return len;
}

/* Whether it means the type that the model is meant to have. */
static bool is_auto(const quantize_options *o, const char *type)
{
    return o->auto_type != NULL && strcasecmp(type, "auto") == 0;
}

static bool is_type(const quantize_options *o, const char *text)
{
    gufo_quantize_target target;
    char type[TYPE_SIZE];

    (void)first_type(text, type);
    return is_auto(o, type) || gufo_quantize_target_by_name(type, o->pure, &target);
}

/* Whether it can only be a file: it has a folder, or the suffix. */
static bool is_file(const char *text)
{
    return strchr(text, '/') != NULL ||
           (ends_with(gufo_str_of(text), ".gguf") && strcmp(text, ".gguf") != 0);
}

/* The sizes are called by their texts until the types are known. */
static int take_sizes(quantize_options *o, const char *types)
{
    if (types != NULL)
        return report_usage("TYPE (%s) and --%s exclude each other: the size decides about types",
                            types, o->size.option);
    for (size_t i = 0; i < o->size.count; i++)
        o->targets[o->output_count++].name = o->size.labels[i];
    return CODE_OK;
}

/* Each type becomes an output.  Without any, tensors that are not in the other model stay as they
 * are. */
static int read_types(quantize_options *o, const char *text)
{
    char type[TYPE_SIZE];
    int code = CODE_OK;

    if (o->size.count > 0)
        return take_sizes(o, text);
    if (text == NULL)
        o->targets[o->output_count++].name = o->auto_type != NULL ? o->auto_type : "COPY";
    for (; text != NULL; text = *text != '\0' ? text + 1 : NULL) {
        if (o->output_count == GUFO_QUANTIZE_TARGETS)
            return report_usage("more than %d types", GUFO_QUANTIZE_TARGETS);
        text += first_type(text, type);
        if (is_auto(o, type)) /* `open` finds it */
            o->targets[o->output_count++].name = o->auto_type;
        else
            code = quantize_read_target(type, o->pure, &o->targets[o->output_count++]);
        if (code != CODE_OK)
            return code;
    }
    return CODE_OK;
}

/* OUT and TYPE: one may be missing. */
typedef struct operands {
    const char *out, *types;
} operands;

/* Those after IN, up to THREADS; moves past them. */
static operands find_operands(const quantize_options *o, int *at)
{
    char *const *args = o->base.shared->args;
    int count = o->base.shared->arg_count;
    bool typeless = o->types_from != NULL || o->size.count > 0 || o->type != NULL;
    operands found = {NULL, NULL};

    if (*at < count && !is_type(o, args[*at]) &&
        (is_file(args[*at]) || *at + 1 < count || typeless || path_is_folder(args[*at])))
        found.out = args[(*at)++];
    if (*at < count && !(o->size.count > 0 && isdigit((unsigned char)args[*at][0])) &&
        (!typeless || is_type(o, args[*at])))
        found.types = args[(*at)++];
    if (found.out == NULL && *at < count && is_file(args[*at]))
        found.out = args[(*at)++];
    return found;
}

/* Checks options about sizes. */
static int check_sizes(const quantize_options *o)
{
    const char *wrong = NULL;

    if (o->size.count == 0)
        return o->size.first == NULL
                   ? CODE_OK
                   : report_usage("--%s needs --target-size or --target-bpw", o->size.first);
    if (o->types_from != NULL)
        wrong = "--types-from and a size exclude each other: both decide about types";
    else if (o->pure)
        wrong = "--pure and a size exclude each other: the size makes a mixture";
    else if (o->size.equal && o->size.sensitivity != NULL)
        wrong = "--sensitivity none and a file exclude each other";
    else if (o->size.saved != NULL && o->size.count > 1)
        wrong = "--save-plan writes one plan: give one size";
    return wrong != NULL ? report_usage("%s", wrong) : CODE_OK;
}

/* Checks whether the arguments go together. */
static int check_operands(const quantize_options *o, const operands *given)
{
    const char *wrong = NULL;

    if (check_sizes(o) != CODE_OK)
        return CODE_USAGE;
    if (o->folder == NULL && o->output_count > 1)
        wrong = o->size.count > 0 ? "several sizes need --to DIR" : "several types need --to DIR";
    else if (o->folder != NULL && given->out != NULL)
        wrong = "--to DIR takes no OUT; types are separated by commas";
    else if (o->types_from != NULL && o->output_count > 1)
        wrong = "--types-from gives one type to every tensor: several TYPEs make no sense";
    else if (o->types_from != NULL && (o->folder != NULL || given->out == NULL))
        wrong = "--types-from needs OUT";
    return wrong != NULL ? report_usage("%s", wrong) : CODE_OK;
}

static int read_operands(quantize_options *o, operands *given)
{
    shared_options *shared = o->base.shared;
    int at = 1, code = CODE_OK;

    *given = find_operands(o, &at);
    if (given->types != NULL && o->type != NULL)
        return report_usage("TYPE is given twice: by --outtype and as '%s'", given->types);
    if (given->types == NULL)
        given->types = o->type;
    if (given->out != NULL && o->base.output != NULL)
        return command_line_twice(given->out);
    if (given->out == NULL)
        given->out = o->base.output;
    if (at < shared->arg_count && !isdigit((unsigned char)shared->args[at][0]) &&
        is_type(o, shared->args[at]))
        return report_usage("several types are separated by commas: %s,%s", given->types,
                            shared->args[at]);
    if (at < shared->arg_count)
        code =
            option_number("THREADS", shared->args[at++], 1, OPTIONS_MOST_THREADS, &shared->threads);
    if (code != CODE_OK)
        return code;
    if (at < shared->arg_count)
        return report_usage("'%s' is an extra argument", shared->args[at]);
    if (given->types == NULL && o->types_from == NULL && o->auto_type == NULL && o->size.count == 0)
        return report_usage("TYPE is missing: 'gufo list filetypes' lists the types");
    return CODE_OK;
}

/* OUT may be a folder, or that of IN. */
static int find_folder(quantize_options *o, operands *given)
{
    if (o->folder != NULL)
        return CODE_OK;
    if (given->out != NULL && path_is_folder(given->out)) {
        o->folder = given->out;
        given->out = NULL;
    } else if (given->out == NULL && o->beside_input && remote_is(o->input)) {
        o->folder = "."; /* beside it is another machine */
    } else if (given->out == NULL && o->beside_input) {
        o->own_folder =
            path_is_folder(o->input) ? path_with(o->input, "") : path_beside(o->input, ".");
        o->folder = o->own_folder;
        return o->folder != NULL ? CODE_OK : CODE_FAILED;
    }
    return CODE_OK;
}

/* In a folder, the input says the name. */
static int set_output(quantize_options *o, const char *out)
{
    if (o->folder != NULL || out == NULL)
        return CODE_OK;
    o->paths[0] = path_with(out, "");
    return o->paths[0] != NULL ? CODE_OK : CODE_FAILED;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* The folder of several outputs is made, but none above it: a misspelt path is an error. */
static int make_folder(quantize_options *o)
{
    struct stat info;

    if (o->folder == NULL)
        return CODE_OK;
    if (stat(o->folder, &info) == 0)
        return S_ISDIR(info.st_mode) ? CODE_OK : report_as(CODE_USAGE, o->folder, "not a folder");
    if (errno == ENOENT && o->dry_run)
        return CODE_OK;
    if (errno == ENOENT && mkdir(o->folder, 0777) == 0)
        o->made_folder = !o->base.part.given; /* other workers use it */
    else if (errno != EEXIST || !o->base.part.given)
        return report_system(o->folder, errno);
    return CODE_OK;
}

bool quantize_may_exist(const quantize_options *o)
{
    return o->base.shared->force || o->base.shared->commits != NULL;
}

static int check_arguments(quantize_options *o)
{
    const char *output = o->dry_run ? NULL : o->paths[0];
    const part_conflict conflicts[] = {
        {o->resume, "--part excludes --resume: parts go on with what is there in any case"},
        {o->size.count > 0,
         "--part takes no size, which every worker would measure: measure once with --save-plan "
         "PLAN --dry-run, then give --tensor-type-file PLAN and the TYPE in its first line"},
        {o->paths[0] == NULL && o->folder == NULL, "--part needs OUT"},
    };
    int code = part_check(&o->base, output, conflicts, sizeof conflicts / sizeof *conflicts);

    if (code != CODE_OK)
        return code;

    if (path_is_standard(o->input) || (output != NULL && path_is_standard(output)))
        return report_usage("IN and OUT must be files, not '-'");
    if (output != NULL && save_is_stream(output))
        return report_as(CODE_USAGE, output, "target exists and is not a regular file");
    if (o->included.count > 0 && o->excluded.count > 0)
        return report_usage("--include-weights and --exclude-weights exclude each other");
    if (output != NULL && save_is_pending(output, true))
        return CODE_USAGE;
    for (size_t i = 0; i < o->output_count && code == CODE_OK; i++)
        code = save_check_dry(o->paths[i], o->input, true);
    if (code == CODE_OK)
        code = make_folder(o);
    return code == CODE_OK ? csv_check(o->report, quantize_may_exist(o)) : code;
}

int quantize_take_arguments(quantize_options *o, const char *out, const char *types)
{
    operands given = {out, types};
    int code = find_folder(o, &given);

    if (code == CODE_OK)
        code = read_types(o, given.types);
    if (code == CODE_OK)
        code = check_operands(o, &given);
    if (code == CODE_OK)
        code = set_output(o, given.out);
    return code == CODE_OK ? check_arguments(o) : code;
}

/* "TYPE IN OUT" */
static int check_order(const quantize_options *o)
{
    const shared_options *shared = o->base.shared;
    char *const *args = shared->args;

    if (shared->arg_count < 2 || isdigit((unsigned char)args[0][0]) || !is_type(o, args[0]) ||
        path_exists(args[0]))
        return CODE_OK;
    return report_usage("TYPE comes last: gufo %s %s %s %s", shared->command, args[1],
                        shared->arg_count > 2 ? args[2] : "OUT", args[0]);
}

int quantize_read_arguments(quantize_options *o)
{
    operands given;
    int code = check_order(o);

    o->input = o->base.shared->args[0];
    if (code == CODE_OK)
        code = read_operands(o, &given);
    return code == CODE_OK ? quantize_take_arguments(o, given.out, given.types) : code;
}

/* ---- names by the naming convention --------------------------------------------------------- */

/* The parts of IN's name, or of the one that its content suggests. */
static int find_parts(const quantize_options *o, const gufo_model *input,
                      char suggested[GUFO_NAME_SIZE], gufo_name *parts)
{
    gufo_error error;

    if (gufo_name_match(gufo_str_of(path_name(o->input)), parts))
        return CODE_OK;
    if (gufo_model_suggest_name(input, 0, suggested, &error) != GUFO_OK)
        return report_error(o->input, &error);
    return gufo_name_match(gufo_str_of(suggested), parts)
               ? CODE_OK
               : report_as(CODE_USAGE, o->input,
                           "its metadata gives no name for the output; write one before TYPE");
}

/* The file type of a copy stays what it is. */
static int format_name(const quantize_options *o, const gufo_name *parts, size_t index,
                       char out[GUFO_NAME_SIZE])
{
    gufo_name name = *parts;

    name.shard = (gufo_str){0};
    if (o->targets[index].base_type != NULL || o->size.count > 0)
        name.encoding = gufo_str_of(o->targets[index].name);
    if (gufo_name_format(out, GUFO_NAME_SIZE, &name) >= GUFO_NAME_SIZE)
        return report_as(CODE_USAGE, o->input, "the name of the output would be too long");
    return CODE_OK;
}

static int name_output(quantize_options *o, const gufo_name *parts, size_t index)
{
    char text[GUFO_NAME_SIZE];
    int code = o->name_output != NULL ? o->name_output(o, index, text)
                                      : format_name(o, parts, index, text);

    if (code != CODE_OK)
        return code;
    o->paths[index] = o->own_folder != NULL && !path_is_folder(o->input)
                          ? path_beside(o->input, text)
                          : path_format("%s/%s", o->folder, text);
    return o->paths[index] != NULL ? CODE_OK : CODE_FAILED;
}

static int check_names(const quantize_options *o)
{
    for (size_t i = 0; i < o->output_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(o->paths[i], o->paths[k]) == 0)
                return report_usage("two of the %s would have the same output, %s",
                                    o->size.count > 0 ? "sizes" : "types", o->paths[i]);
    return CODE_OK;
}

int quantize_name_outputs(quantize_options *o, const gufo_model *input)
{
    char suggested[GUFO_NAME_SIZE];
    gufo_name parts = {0};
    int code = CODE_OK;

    if (o->folder == NULL)
        return CODE_OK;
    if (o->name_output == NULL)
        code = find_parts(o, input, suggested, &parts);
    for (size_t i = 0; i < o->output_count && code == CODE_OK; i++)
        code = name_output(o, &parts, i);
    if (code == CODE_OK)
        code = check_names(o);
    for (size_t i = 0; i < o->output_count && code == CODE_OK; i++)
        if (!o->dry_run)
            code = save_is_pending(o->paths[i], true) ? CODE_USAGE : CODE_OK;
        else if (path_is_folder(o->folder)) /* else it would be made */
            code = save_check_dry(o->paths[i], o->input, true);
    return code;
}
