/* gufo --help, gufo --version, gufo help COMMAND. */
#include "cli/commands.h"

#include "base/distance.h"
#include "cli/core/report.h"

#include <stdio.h>
#include <string.h>

/* ---- the text ------------------------------------------------------------------------------- */

static const char before_commands[] = "Read and check GGUF model files.\n\n Commands:\n";

static const char after_options[] =
    "\v'gufo help COMMAND' explains a command, 'man gufo' everything.  FILE may be '-' for "
    "standard input.\n\n"
    "Exit status: 0 done; 1 the answer is no (invalid, not found); 2 wrong usage; 3 a file could "
    "not be read or written, or is malformed; 4 interrupted.";

/* The text around the options, the table of commands in it.  (argp would sort them.) */
static const char *make_doc(void)
{
    static char text[1 << 13];
    size_t len = (size_t)snprintf(text, sizeof text, "%s", before_commands);

    for (size_t i = 0; i < command_count && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "  %-27s%s\n", commands[i].name,
                                commands[i].summary);
    if (len < sizeof text)
        snprintf(text + len, sizeof text - len, "%s", after_options);
    return text;
}

/* ---- gufo itself ---------------------------------------------------------------------------- */

static bool read_version(void *options, const option_given *given)
{
    printf("gufo %s\n", gufo_version());
    ((command_input *)options)->shared->done = true;
    given->state->next = given->state->argc;
    return true;
}

static const command_option gufo_table[] = {
    {"version", NULL, "Print the version", OPTION_READ(read_version), .group = 91},
    {0},
};

static const command *find(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* The command whose name is most like `name`; NULL if none is. */
static const command *find_nearest(const char *name)
{
    const command *nearest = NULL;
    size_t best = strlen(name) / 2 + 1; /* a word is not similar if half of its letters differ */

    for (size_t i = 0; i < command_count; i++) {
        size_t distance = text_distance(gufo_str_of(commands[i].name), gufo_str_of(name), best);

        if (distance < best) {
            best = distance;
            nearest = &commands[i];
        }
    }
    return nearest;
}

/* Runs the command that the first argument names. */
static int run_named(int count, char **arguments, shared_options *shared)
{
    const char *name = arguments[0];
    const command *found = find(name), *nearest = find_nearest(name);

    if (found != NULL) {
        shared->command = found->name;
        return command_line_run(found->line, count, arguments, shared);
    }
    if (nearest != NULL)
        return report_usage(NULL, "there is no command '%s'; did you mean '%s'?", name,
                            nearest->name);
    return report_usage(NULL, "there is no command '%s'", name);
}

static int run(void *options)
{
    shared_options *shared = ((command_input *)options)->shared;

    if (shared->arg_count > 0)
        return run_named(shared->arg_count, shared->args, shared);
    command_line_help(&command_gufo, shared, stderr);
    return CODE_USAGE;
}

const command_line command_gufo = {
    .operands = {.names = "COMMAND [OPTION...] FILE..."},
    .make_doc = make_doc,
    COMMAND_OPTIONS(gufo_table, command_input),
    .flags = ARGP_IN_ORDER, /* what follows the command belongs to it */
    .run = run,
};

/* ---- gufo help COMMAND ---------------------------------------------------------------------- */

/* Every command explains itself. */
static int help(void *options)
{
    shared_options *shared = ((command_input *)options)->shared;
    static char option[] = "--help";

    if (shared->arg_count > 0)
        return run_named(2, (char *[]){shared->args[0], option, NULL}, shared);
    shared->command = NULL;
    command_line_help(&command_gufo, shared, stdout);
    return CODE_OK;
}

const command_line command_help = {
    .operands = {"[COMMAND]", 0, 1, "one command at a time"},
    .doc = "Explain a command, or gufo itself.",
    .run = help,
};
