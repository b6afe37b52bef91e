/* gufo template FILE: renders a chat template. */
#include "cli/text/template.h"
#include "cli/core/files/remote.h"

#include "cli/commands.h"
#include "cli/core/files/foreign_file.h"
#include "cli/core/files/path.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/text.h"
#include "cli/text/tokenize_write.h"
#include "gufo/summary.h"
#include "gufo/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- command line --------------------------------------------------------------------------- */

static const command_option template_table[] = {
    {"messages", "F", "The same as MESSAGES", OPTION_TEXT(template_options, messages)},
    {"tools", "F", "The tools, a JSON array in the file F", OPTION_TEXT(template_options, tools),
     .common = true},
    {"context", "F", "All variables: the members of the JSON object in the file F",
     OPTION_TEXT(template_options, context)},
    {"set", "VAR=JSON", "Set one variable (repeatable)", OPTION_TEXTS(template_options, variables),
     .common = true},
    {"no-generation-prompt", NULL, "Do not begin the answer: add_generation_prompt is false",
     OPTION_FLAG(template_options, no_prompt), .common = true},
    {"ids", NULL, "Print the ids of the prompt's tokens", OPTION_FLAG(template_options, ids),
     .common = true},
    {"name", "NAME", "Take tokenizer.chat_template.NAME", OPTION_TEXT(template_options, name)},
    {"now", "TIME", "What strftime_now gives, such as 2026-01-02T00:00:00 (UTC; default: now)",
     OPTION_TEXT(template_options, now)},
    {"seed", "N", "Seed of the filter 'random': the same N picks the same items (default: 0)",
     OPTION_NUMBER(template_options, seed, 0, UINT64_MAX)},
    {"lint", NULL, "Check the template, and do not render it", OPTION_FLAG(template_options, lint),
     .common = true},
    {0},
};

/* Reads `count` digits and the character behind them; false if something else is there. */
static bool read_part(const char **text, int count, char behind, int *out)
{
    *out = 0;
    for (int i = 0; i < count; i++, ++*text) {
        if (**text < '0' || **text > '9')
            return false;
        *out = *out * 10 + (**text - '0');
    }
    if (**text != behind)
        return false;
    *text += behind != 0;
    return true;
}

/* Days from 1970 to a day of the calendar (Howard Hinnant's rule of years that begin in March). */
static int64_t days_from_1970(int64_t year, int month, int day)
{
    int64_t shifted = month <= 2 ? year - 1 : year, century = shifted / 400;
    int64_t in_century = shifted - century * 400;
    int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return century * 146097 + in_century * 365 + in_century / 4 - in_century / 100 + in_year -
           719468;
}

/* "2026-01-02T00:00:00", or the day alone. */
static bool read_time(const char *text, int64_t *out)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, hour = 0, minute = 0, second = 0;
    bool whole = strlen(text) > 10;

    if (!read_part(&text, 4, '-', &year) || !read_part(&text, 2, '-', &month) ||
        !read_part(&text, 2, whole ? 'T' : 0, &day))
        return false;
    if (whole &&
        (!read_part(&text, 2, ':', &hour) || !read_part(&text, 2, ':', &minute) ||
         !read_part(&text, 2, *text != 0 && text[1] != 0 && text[2] == 'Z' ? 'Z' : 0, &second) ||
         *text != 0))
        return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days[month - 1] || hour > 23 ||
        minute > 59 || second > 59)
        return false;
    *out = days_from_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

/* Whether JSON is given in place of the name of a file. */
static bool is_inline(const char *path)
{
    path += strspn(path, " \t\r\n");
    return (*path == '[' || *path == '{') && access(path, F_OK) != 0;
}

static int check_arguments(templating *t)
{
    const template_options *o = t->options;
    int streams = path_is_standard(t->path);
    const char *const files[] = {o->context, template_messages_path(t), o->tools};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] != NULL && is_inline(files[i]))
            return report_usage("JSON comes from a file, or from standard input as -: "
                                "echo '[...]' | gufo template FILE -");
        streams += files[i] != NULL && path_is_standard(files[i]);
    }
    if (o->messages != NULL && o->base.shared->arg_count > 1)
        return report_usage("MESSAGES and --messages exclude each other");
    if (streams > 1)
        return report_usage("only one file can be standard input");
    if (o->lint && (o->context != NULL || files[1] != NULL || o->ids || o->tools != NULL ||
                    o->variables.count > 0 || o->no_prompt || o->now != NULL || o->seed != 0))
        return report_usage("--lint does not render: it excludes variables");
    if (o->now == NULL)
        t->now = (int64_t)time(NULL);
    else if (!read_time(o->now, &t->now))
        return report_usage("--now: '%s' is not a time such as 2026-01-02T00:00:00", o->now);
    return CODE_OK;
}

/* ---- the template: of a model, by its name, or FILE itself ---------------------------------- */

enum { LARGEST_TEMPLATE = 16 << 20 };

/* The names of all templates of a model, with commas between them; the caller frees them. */
static char *list_names(const gufo_model *model)
{
    text_stream names;
    uint64_t place = 0;
    gufo_str name;
    bool first = true;

    if (!text_stream_open(&names))
        return NULL;
    while (gufo_model_next_chat_template(model, &place, &name, NULL)) {
        if (name.len == 0)
            continue;
        fputs(first ? "" : ", ", names.out);
        text_put(names.out, name, TEXT_PLAIN);
        first = false;
    }
    return text_stream_close(&names);
}

static int report_missing(templating *t)
{
    char *names = list_names(t->model);
    const char *asked = t->options->name;

    if (names == NULL)
        report_message(t->path, "the model has no chat template%s",
                       asked != NULL ? " with a name" : "");
    else if (asked == NULL)
        report_message(t->path, "the model has no chat template without a name: --name takes %s",
                       names);
    else
        report_message(t->path, "no chat template is called '%s': --name takes %s", asked, names);
    free(names);
    return CODE_FAILED;
}

static int find_in_model(templating *t)
{
    gufo_error error;

    t->model = input_open_model(t->path, 0);
    if (t->model == NULL)
        return CODE_FAILED;
    switch (gufo_model_chat_template(t->model, t->options->name, &t->source, &error)) {
    case GUFO_OK:
        return CODE_OK;
    case GUFO_E_NOT_FOUND:
        return report_missing(t);
    default:
        return report_error(t->path, &error);
    }
}

/* Anything that does not begin as a model does is a template. */
static int find_template(templating *t)
{
    int code;

    if (!path_is_standard(t->path) && (input_is_gguf(t->path) || foreign_file_find(t->path, NULL)))
        return find_in_model(t);
    if (t->options->name != NULL)
        return report_usage("--name is for a model, and FILE is not one");
    if (t->options->ids)
        return report_usage("--ids needs the vocabulary of a model, and FILE is not one");
    code = small_file_read(t->path, LARGEST_TEMPLATE, "a template has at most 16 MiB", &t->file);
    t->source = t->file;
    return code;
}

static void close_template(templating *t)
{
    gufo_model_free(t->model);
    if (t->file.data != NULL)
        small_file_free(&t->file);
}

/* ---- rendering ------------------------------------------------------------------------------ */

static int parse(templating *t)
{
    gufo_error error;

    t->parsed = gufo_template_parse(t->source, NULL, NULL, &error);
    if (t->parsed != NULL)
        return CODE_OK;
    error.offset = GUFO_NO_OFFSET; /* the line and the column say more */
    return report_error(t->path, &error);
}

static int render(templating *t)
{
    const gufo_template_options options = {.now = t->now, .seed = t->options->seed};
    gufo_error error;

    switch (gufo_template_render(t->parsed, t->values, &options, &t->out, NULL, &error)) {
    case GUFO_OK:
        return CODE_OK;
    case GUFO_E_STOPPED:
        return report_as(CODE_NO, t->path, "%s", error.message);
    default:
        return report_error(t->path, &error);
    }
}

/* ---- the prompt, and its tokens ------------------------------------------------------------- */

static int open_vocabulary(templating *t)
{
    gufo_error error;

    if (t->vocab == NULL)
        t->vocab = gufo_vocab_open(t->model, NULL, &error);
    return t->vocab != NULL ? CODE_OK : report_error(t->path, &error);
}

static int find_ids(templating *t, gufo_ids *ids)
{
    const gufo_run run = {.threads = (unsigned)t->options->base.shared->threads};
    const gufo_str prompt = {t->out.data, t->out.len};
    gufo_error error;
    int code = open_vocabulary(t);

    if (code == CODE_OK && gufo_tokenize_prompt(t->vocab, prompt, &run, ids, &error) != GUFO_OK)
        code = report_error(t->path, &error);
    return code;
}

typedef struct prompt {
    const char *name;
    gufo_str text;
    bool has_ids;
    record_list ids;
} prompt;

static const record_field prompt_fields[] = {
    {"name", NULL, RECORD_TEXT, RECORD_AT(prompt, name), .none = RECORD_OR_OUT},
    {"text", NULL, RECORD_STR, RECORD_AT(prompt, text)},
    {"ids", NULL, RECORD_LIST, RECORD_AT(prompt, ids), RECORD_GIVEN(prompt, has_ids),
     .of = &record_ids},
};
static const record_type prompt_type = RECORD_OF(prompt, prompt_fields, 0);

static int write_result(templating *t)
{
    const gufo_str text = {t->out.len > 0 ? t->out.data : "", t->out.len};
    const bool wants_ids = t->options->ids;
    gufo_ids ids = {0};
    int code = wants_ids ? find_ids(t, &ids) : CODE_OK;

    if (code == CODE_OK && t->options->base.shared->json)
        record_write_document(
            t->path, &prompt_type,
            &(prompt){t->options->name, text, wants_ids, {.items = ids.ids, .count = ids.count}});
    else if (code == CODE_OK && wants_ids)
        token_write_array(ids.ids, ids.count);
    else if (code == CODE_OK)
        text_put_result(text, TEXT_LINES);
    gufo_ids_free(&ids);
    return code;
}

/* ---- --lint --------------------------------------------------------------------------------- */

static const record_field finding_fields[] = {
    {"dangerous", NULL, RECORD_FLAG, RECORD_AT(gufo_template_finding, dangerous)},
    {"line", NULL, RECORD_COUNT, RECORD_AT(gufo_template_finding, line)},
    {"column", NULL, RECORD_COUNT, RECORD_AT(gufo_template_finding, column)},
    {"offset", NULL, RECORD_OFFSET, RECORD_AT(gufo_template_finding, offset)},
    {"message", NULL, RECORD_TEXT, RECORD_AT(gufo_template_finding, message)},
};
static const record_type finding_type = RECORD_OF(gufo_template_finding, finding_fields, 0);

typedef struct listing {
    const char *path;
    json_writer *json; /* NULL: lines */
    uint64_t count;
} listing;

static bool write_finding(void *context, const gufo_template_finding *found)
{
    listing *l = context;

    l->count++;
    if (l->json == NULL) {
        text_print("%s:%" PRIu64 ":%" PRIu64 ": %s: %s\n", l->path, found->line, found->column,
                   found->dangerous ? "danger" : "fault", found->message);
        return true;
    }
    record_write(l->json, NULL, &finding_type, found);
    return true;
}

static int lint(templating *t)
{
    listing l = {.path = t->path};
    gufo_status status;
    gufo_error error;
    json_writer j;

    if (t->options->base.shared->json) {
        j = json_begin_document(t->path);
        if (t->options->name != NULL)
            json_write_text(&j, "name", t->options->name);
        json_begin_array(&j, "findings");
        l.json = &j;
    }
    status = gufo_template_lint(t->source, NULL, write_finding, &l, &error);
    if (l.json != NULL) {
        json_end_array(&j);
        json_end_document(&j);
    }
    if (status != GUFO_OK)
        return report_error(t->path, &error);
    return l.count == 0 ? CODE_OK : CODE_NO;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int template_run(void *context)
{
    static int (*const steps[])(templating * t) = {
        check_arguments, find_template, parse, template_set_variables, render, write_result};
    static int (*const lint_steps[])(templating * t) = {check_arguments, find_template, lint};
    const template_options *o = context;
    templating t = {.options = o, .path = remote_shown(o->base.shared->args[0])};
    size_t count = o->lint ? sizeof lint_steps / sizeof *lint_steps : sizeof steps / sizeof *steps;
    int code = CODE_OK;

    for (size_t i = 0; i < count && code == CODE_OK; i++)
        code = (o->lint ? lint_steps : steps)[i](&t);
    gufo_text_free(&t.out);
    gufo_vocab_free(t.vocab);
    gufo_template_values_free(t.values);
    gufo_template_free(t.parsed);
    close_template(&t);
    return code;
}

const command_line command_template = {
    .operands = {"FILE [MESSAGES]", 1, 2, "FILE is needed, and at most one file of MESSAGES"},
    .doc =
        "Print the prompt that the chat template of a model makes from messages, as Hugging "
        "Face's transformers does.\v"
        "FILE is a model, or a template in a text file.  MESSAGES is a JSON file, or '-' for "
        "standard input (the default): a list of messages, or an object with 'messages', 'tools' "
        "and other variables.  gufo runs the template in a sandbox: it sees the variables that "
        "are given here, and nothing else, and gufo limits its steps, memory and output.  Without "
        "--context, the variables are those that transformers sets: messages, tools, documents, "
        "add_generation_prompt, and bos_token, eos_token ... of the model's vocabulary.  Exit "
        "status 1 means that the template itself refused the messages, and with --lint, that "
        "something was found; 3 that it is malformed, fails, or takes too much.",
    .examples = {{"gufo template model.gguf chat.json", "Prints the prompt."},
                 {"gufo template --ids model.gguf <chat.json",
                  "Prints the ids of its tokens, with one BOS."},
                 {"gufo template --lint model.gguf", "Reports what is wrong with a template."}},
    COMMAND_OPTIONS(template_table, template_options),
    .run = template_run,
};
