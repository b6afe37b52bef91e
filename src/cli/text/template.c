/* gufo template FILE: renders a chat template. */
#include "cli/text/template.h"

#include "cli/commands.h"
#include "cli/core/values/json.h"
#include "cli/core/terminal/text.h"

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

static int write_result(templating *t)
{
    json_writer j;

    if (t->options->ids)
        return template_write_ids(t);
    if (!t->options->base.shared->json) {
        text_put_result((gufo_str){t->out.data, t->out.len}, TEXT_LINES);
        return CODE_OK;
    }
    j = json_begin_document(t->path);
    if (t->options->name != NULL)
        json_write_text(&j, "name", t->options->name);
    json_write_str(&j, "text", (gufo_str){t->out.data, t->out.len});
    json_end_document(&j);
    return CODE_OK;
}

static int template_run(void *context)
{
    static int (*const steps[])(templating * t) = {
        check_arguments, template_find, parse, template_set_variables, render, write_result};
    static int (*const lint_steps[])(templating * t) = {check_arguments, template_find,
                                                        template_lint};
    const template_options *o = context;
    templating t = {.options = o, .path = o->base.shared->args[0]};
    size_t count = o->lint ? sizeof lint_steps / sizeof *lint_steps : sizeof steps / sizeof *steps;
    int code = CODE_OK;

    for (size_t i = 0; i < count && code == CODE_OK; i++)
        code = (o->lint ? lint_steps : steps)[i](&t);
    gufo_text_free(&t.out);
    gufo_vocab_close(t.vocab);
    gufo_template_values_free(t.values);
    gufo_template_free(t.parsed);
    template_close(&t);
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
