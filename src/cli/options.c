/* The shared options.
 *
 * argp reads the command line and prints the help; it would also exit by itself and speak in
 * several lines, so that is turned off: errors come back, and gufo prints help itself. */
#include "cli/options.h"

#include "base/utf8.h"
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 1024

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

    if (!option_number(shared->command, "--threads", text, 1, MAX_THREADS, &threads))
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
        return option_choice(shared->command, &color_option, text != NULL ? text : "always",
                             &shared->color)
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

bool options_color(const shared_options *shared)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (shared->color != COLOR_AUTO)
        return shared->color == COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && (no_color == NULL || *no_color == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}
