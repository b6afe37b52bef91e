/* The shared options, and those of a command by its table.
 *
 * argp reads the command line and prints the help; it would also exit by itself and speak in
 * several lines, so that is turned off: errors come back, and gufo prints help itself. */
#include "cli/options.h"

#include "base/checked.h"
#include "base/utf8.h"
#include "cli/array.h"
#include "cli/number.h"
#include "cli/report.h"
#include "cli/stdout.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 1024

/* ---- values --------------------------------------------------------------------------------- */

bool options_number(const shared_options *shared, const char *option, const char *text,
                    uint64_t lowest, uint64_t highest, uint64_t *out)
{
    const char *end = text;
    uint64_t value;

    if (number_read(&end, &value) && *end == '\0' && value >= lowest && value <= highest) {
        *out = value;
        return true;
    }
    report_usage(shared->command, "%s needs a whole number from %llu to %llu, not '%s'", option,
                 (unsigned long long)lowest, (unsigned long long)highest, text);
    return false;
}

/* "50M" is 50,000,000, "50Mi" is 52,428,800.  Of memory both are the latter, letters may be small,
 * and B may follow. */
static bool size_of_text(const char *text, bool memory, uint64_t *out)
{
    static const char letters[] = "KMGT";
    size_t known = memory ? 4 : 3;
    const char *at = text, *letter;
    uint64_t size, factor = 1;

    if (!number_read(&at, &size))
        return false;
    letter = memchr(letters, memory ? toupper((unsigned char)*at) : *at, known);
    if (letter != NULL) {
        bool binary = *++at == 'i';

        at += binary;
        for (const char *each = letters; each <= letter; each++)
            factor *= binary || memory ? 1024 : 1000;
    }
    at += memory && *at == 'B';
    return *at == '\0' && checked_mul(size, factor, out);
}

static bool read_size(const shared_options *shared, const command_option *option, const char *text,
                      uint64_t *out)
{
    if (size_of_text(text, option->kind == OPTION_KIND_MEMORY, out) && *out >= option->lowest)
        return true;
    report_usage(shared->command, "--%s needs a size such as %s, not '%s'", option->name,
                 option->example, text);
    return false;
}

/* "red, green or blue" */
static void list_words(const char *const *words, char *out, size_t size)
{
    size_t len = 0;

    for (size_t i = 0; words[i] != NULL && len < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%s",
                                i == 0                 ? ""
                                : words[i + 1] == NULL ? " or "
                                                       : ", ",
                                words[i]);
}

static bool read_choice(const shared_options *shared, const command_option *option,
                        const char *text, void *out)
{
    char words[128];
    unsigned number = (unsigned)option->lowest;

    for (size_t i = 0; option->words[i] != NULL; i++, number++) {
        if (strcmp(text, option->words[i]) != 0)
            continue;
        memcpy(out, &number, sizeof number); /* enums are as large */
        return true;
    }
    list_words(option->words, words, sizeof words);
    report_usage(shared->command, "--%s is %s, not '%s'", option->name, words, text);
    return false;
}

bool options_add(option_texts *texts, const char *text)
{
    const char **added = array_add(&texts->items, &texts->count, sizeof *added);

    if (added != NULL)
        *added = text;
    return added != NULL;
}

/* ---- shared options ------------------------------------------------------------------------- */

static const struct argp_option shared_table[] = {
    {NULL, 0, NULL, 0, "Options of all commands:", 90},
    {"json", 'j', NULL, 0, "Write the result as JSON, one object per FILE and line", 90},
    {"quiet", 'q', NULL, 0, "Do not print warnings, or anything but the result", 90},
    {"verbose", 'v', NULL, 0, "Print more", 90},
    {"color", OPTION_COLOR, "WHEN", OPTION_ARG_OPTIONAL,
     "Use colour: auto (on a terminal, unless NO_COLOR is set), always or never", 90},
    {"threads", OPTION_THREADS, "N", 0, "Use at most N threads (default: one per core)", 90},
    {"force", OPTION_FORCE, NULL, 0, "Replace an output file that exists", 90},
    {"help", 'h', NULL, 0, "Print this help", 91},
    {0},
};

static const char *const color_words[] = {
    [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

static const command_option color_option = {"color",
                                            OPTION_CHOICE(shared_options, color, color_words, 0)};

static error_t set_threads(shared_options *shared, const char *text)
{
    uint64_t threads;

    if (!options_number(shared, "--threads", text, 1, MAX_THREADS, &threads))
        return EINVAL;
    shared->threads = (unsigned)threads;
    return 0;
}

/* Prints the help of the whole parser and ends reading. */
static void print_help(shared_options *shared, struct argp_state *state)
{
    char name[64];
    char *own = state->name;

    snprintf(name, sizeof name, "gufo%s%s", shared->command != NULL ? " " : "",
             shared->command != NULL ? shared->command : "");
    state->name = name;
    argp_state_help(state, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC);
    state->name = own;
    shared->done = true;
    state->next = state->argc;
}

static error_t parse_shared(int key, char *text, struct argp_state *state)
{
    shared_options *shared = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->err_stream = NULL; /* argp's own words; getopt's (unknown option) are one line */
        return 0;
    case 'j':
        shared->json = true;
        return 0;
    case 'q':
        shared->quiet = true;
        report_quiet();
        return 0;
    case 'v':
        shared->verbose++;
        return 0;
    case 'h':
        print_help(shared, state);
        return 0;
    case OPTION_COLOR:
        return read_choice(shared, &color_option, text != NULL ? text : "always", &shared->color)
                   ? 0
                   : EINVAL;
    case OPTION_THREADS:
        return set_threads(shared, text);
    case OPTION_FORCE:
        shared->force = true;
        return 0;
    case ARGP_KEY_ARGS:
        shared->args = state->argv + state->next;
        shared->arg_count = state->argc - state->next;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp shared_argp = {.options = shared_table, .parser = parse_shared};

const struct argp_child options_children[] = {{&shared_argp, 0, NULL, 90}, {0}};

/* getopt prints an unknown option as it is.  No option has control characters in its name, so that
 * one that has is refused before getopt sees it; its escaped form is printed. */
static bool has_control_characters(const char *argument)
{
    bool is_long = argument[0] == '-' && argument[1] == '-';
    gufo_str name = {argument, is_long ? strcspn(argument, "=") : strnlen(argument, 2)};
    uint32_t code_point;
    size_t step;

    if (argument[0] != '-')
        return false;
    for (; name.len > 0; name.data += step, name.len -= step) {
        step = utf8_decode(name, &code_point);
        if (step == 0 || utf8_is_control(code_point))
            return true;
    }
    return false;
}

static const char *first_strange_option(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (has_control_characters(argv[i]))
            return argv[i];
    return NULL;
}

int options_parse(const struct argp *parser, unsigned flags, int argc, char **argv,
                  const shared_options *shared, void *input)
{
    static char program[] = "gufo";
    const char *strange = first_strange_option(argc, argv);
    char *own = argv[0];
    error_t failure;

    if (strange != NULL)
        return report_usage(shared->command, "there is no option '%s'", strange);
    argv[0] = program; /* how getopt's messages begin */
    failure = argp_parse(parser, argc, argv, flags | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, input);
    argv[0] = own;
    if (failure == ENOMEM)
        report_memory(NULL);
    return failure != 0 ? CODE_USAGE : 0;
}

/* ---- commands ------------------------------------------------------------------------------- */

enum { MOST_OPTIONS = 32 }; /* of one command */

/* A command line on its way through the parser. */
typedef struct reading {
    const command_line *line;
    command_input *input;
} reading;

static int key_of(const command_line *line, const command_option *option)
{
    return option->letter != 0 ? option->letter : OPTION_COMMAND + (int)(option - line->options);
}

/* The table as argp wants it. */
static void make_table(const command_line *line, struct argp_option table[MOST_OPTIONS + 2])
{
    static const struct argp_option single = {
        "single", OPTION_SINGLE, NULL, 0, "Read just FILE, even if it is the first shard of a set",
        1};
    const command_option *option = line->options;
    size_t count = 0;

    for (; option != NULL && option->help != NULL && count < MOST_OPTIONS; option++)
        table[count++] =
            (struct argp_option){.name = option->name,
                                 .key = option->name != NULL ? key_of(line, option) : 0,
                                 .arg = option->argument,
                                 .flags = option->optional ? OPTION_ARG_OPTIONAL : 0,
                                 .doc = option->help,
                                 .group = option->group != 0 ? option->group : 1};
    if (line->single != 0)
        table[count++] = single;
    table[count] = (struct argp_option){0};
}

static bool store(const reading *r, const command_option *option, const char *text,
                  struct argp_state *state)
{
    const shared_options *shared = r->input->shared;
    void *to = (char *)r->input + option->place;
    char name[64];

    if (option->given != 0)
        *(bool *)((void *)((char *)r->input + option->given)) = true;
    switch (option->kind) {
    case OPTION_KIND_FLAG:
        return *(bool *)to = true;
    case OPTION_KIND_BITS:
        *(uint32_t *)to |= (uint32_t)option->lowest;
        return true;
    case OPTION_KIND_TEXT:
        *(const char **)to = text;
        return true;
    case OPTION_KIND_TEXTS:
        return options_add(to, text);
    case OPTION_KIND_NUMBER:
        snprintf(name, sizeof name, "--%s", option->name);
        return options_number(shared, name, text, option->lowest, option->highest, to);
    case OPTION_KIND_SIZE:
    case OPTION_KIND_MEMORY:
        return read_size(shared, option, text, to);
    case OPTION_KIND_CHOICE:
        return read_choice(shared, option, text, to);
    case OPTION_KIND_READ:
        return option->read(r->input, &(option_given){option, text, state});
    }
    return false;
}

static error_t parse_command(int key, char *text, struct argp_state *state)
{
    const reading *r = state->input;
    const command_option *option = r->line->options;

    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = r->input->shared;
        return 0;
    }
    if (key == OPTION_SINGLE)
        return *((bool *)(void *)((char *)r->input + r->line->single)) = true, 0;
    for (; option != NULL && option->help != NULL; option++)
        if (option->name != NULL && key_of(r->line, option) == key)
            return store(r, option, text, state) ? 0 : EINVAL;
    return ARGP_ERR_UNKNOWN;
}

static int parse_line(const command_line *line, int argc, char **argv, command_input *input)
{
    struct argp_option table[MOST_OPTIONS + 2];
    const struct argp parser = {.options = table,
                                .parser = parse_command,
                                .args_doc = line->operands,
                                .doc = line->doc,
                                .children = options_children};
    const shared_options *shared = input->shared;
    reading r = {line, input};
    int code;

    make_table(line, table);
    code = options_parse(&parser, 0, argc, argv, shared, &r);
    if (code == CODE_OK && !shared->done &&
        (shared->arg_count < line->least || (line->most != 0 && shared->arg_count > line->most)))
        return report_usage(shared->command, "%s", line->needed);
    return code;
}

/* Frees the texts of options, and what the command itself has to free. */
static void release(const command_line *line, command_input *input)
{
    const command_option *option = line->options;

    if (line->release != NULL)
        line->release(input);
    for (; option != NULL && option->help != NULL; option++)
        if (option->kind == OPTION_KIND_TEXTS)
            free(((option_texts *)(void *)((char *)input + option->place))->items);
    free(input);
}

int options_for_each(void *options, int (*one)(void *options, const char *argument))
{
    const command_input *input = options;
    int code = CODE_OK;

    for (int i = 0; i < input->shared->arg_count && !stdout_broken(); i++)
        code = worst_code(code, one(options, input->shared->args[i]));
    return code;
}

int options_run(const command_line *line, int argc, char **argv, shared_options *shared)
{
    command_input *input = calloc(1, line->size > sizeof *input ? line->size : sizeof *input);
    int code = CODE_OK;

    if (input == NULL)
        return report_memory(NULL);
    input->shared = shared;
    if (!line->unread)
        code = parse_line(line, argc, argv, input);
    if (code == CODE_OK && !shared->done)
        code = line->run != NULL ? line->run(input) : options_for_each(input, line->each);
    release(line, input);
    return code;
}

/* ---- colour --------------------------------------------------------------------------------- */

bool options_color(const shared_options *shared)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (shared->color != COLOR_AUTO)
        return shared->color == COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && (no_color == NULL || *no_color == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}
