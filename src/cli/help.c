/* gufo --help, gufo --version, gufo help COMMAND. */
#include "cli/help.h"

#include "cli/commands.h"
#include "cli/report.h"

#include <stdlib.h>

/* ---- gufo itself ---------------------------------------------------------------------------- */

typedef struct top_input {
    command_input base;
    int command_at;
} top_input;

static error_t parse_top(int key, char *text, struct argp_state *state)
{
    top_input *input = state->input;

    (void)text;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = input->base.shared;
        input->command_at = state->argc;
        return 0;
    case OPTION_VERSION:
        printf("gufo %s\n", gufo_version());
        input->base.shared->done = true;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_ARG:
        input->command_at = state->next - 1; /* what follows belongs to the command */
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option top_table[] = {
    {"version", OPTION_VERSION, NULL, 0, "Print the version", 91},
    {0},
};

static const char before_commands[] = "Read and check GGUF model files.\n\n Commands:\n";

static const char after_options[] =
    "\v'gufo help COMMAND' explains a command, 'man gufo' everything.  FILE may be '-' for "
    "standard "
    "input.\n\n"
    "Exit status: 0 done; 1 the answer is no (invalid, not found); 2 wrong usage; 3 a file could "
    "not be read or written, or is malformed; 4 interrupted.";

/* The text around the options, the table of commands in it: to be freed.  (argp would sort them.)
 */
static char *top_doc(void)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (out == NULL)
        return NULL;
    fputs(before_commands, out);
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "  %-27s%s\n", commands[i].name, commands[i].summary);
    fputs(after_options, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static struct argp top_argp(const char *doc)
{
    return (struct argp){
        .options = top_table,
        .parser = parse_top,
        .args_doc = "COMMAND [OPTION...] FILE...",
        .doc = doc,
        .children = options_children,
    };
}

int help_parse_top(int argc, char **argv, shared_options *shared, int *command_at)
{
    top_input input = {.base = {shared}, .command_at = argc};
    char *doc = top_doc();
    struct argp top = top_argp(doc); /* without memory, without the text */
    int code = options_parse(&top, ARGP_IN_ORDER, argc, argv, shared, &input);

    free(doc);
    *command_at = input.command_at;
    return code;
}

void help_print_top(FILE *out)
{
    static char name[] = "gufo";
    char *doc = top_doc();
    struct argp top = top_argp(doc);

    argp_help(&top, out, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
    free(doc);
}

int help_unknown_command(const char *name)
{
    const command *nearest = command_nearest(name);

    if (nearest != NULL)
        return report_usage(NULL, "there is no command '%s'; did you mean '%s'?", name,
                            nearest->name);
    return report_usage(NULL, "there is no command '%s'", name);
}

/* ---- gufo help COMMAND ---------------------------------------------------------------------- */

/* Every command explains itself. */
static int explain(const char *name, shared_options *shared)
{
    static char program[] = "gufo", help[] = "--help";
    char *arguments[] = {program, help, NULL};
    const command *found = command_find(name);

    if (found == NULL)
        return help_unknown_command(name);
    shared->command = found->name;
    return command_line_run(found->line, 2, arguments, shared);
}

static int help_with(void *options)
{
    shared_options *shared = ((command_input *)options)->shared;

    if (shared->arg_count > 0)
        return explain(shared->args[0], shared);
    help_print_top(stdout);
    return CODE_OK;
}

const command_line command_help = {
    .operands = "[COMMAND]",
    .doc = "Explain a command, or gufo itself.",
    .size = sizeof(command_input),
    .most = 1,
    .needed = "one command at a time",
    .run = help_with,
};
