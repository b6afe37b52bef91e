/* gufo --help, gufo --version, gufo help COMMAND.  This file takes the table of commands from the
 * shared options, because the table leads here and calls go one way. */
#include "cli/commands.h"

#include "cli/core/values/str.h"
#include "cli/core/files/path.h"
#include "cli/core/options/built_in.h"
#include "cli/core/options/names.h"

#include <stdio.h>
#include <string.h>

/* ---- gufo itself ---------------------------------------------------------------------------- */

static int read_version(void *options, const option_given *given)
{
    printf("gufo %s\n", gufo_version());
    built_in_print(stdout);
    ((command_input *)options)->shared->done = true;
    given->state->next = given->state->argc;
    return CODE_OK;
}

static const command_option gufo_table[] = {
    {"version", NULL, "Print the version and what is built in", OPTION_READ(read_version),
     .letter = 'V', .group = 91},
    {0},
};

/* What other programs call it. */
static const struct {
    const char *word, *means;
} meant[] = {
    {"info", "'gufo show FILE' shows what a model is"},
    {"inspect", "'gufo show FILE' shows what a model is"},
    {"metadata", "'gufo show FILE' shows it"},
    {"meta", "'gufo show FILE' shows the metadata"},
    {"dump", "'gufo show -v FILE' shows all, 'gufo get FILE KEY' one value"},
    {"gguf-dump", "'gufo show -v FILE' shows all, 'gufo get FILE KEY' one value"},
    {"gguf_dump.py", "'gufo show -v FILE' shows all, 'gufo get FILE KEY' one value"},
    {"cat", "'gufo get FILE KEY' prints a value, 'gufo show FILE' shows all"},
    {"check", "'gufo validate FILE' reports every fault"},
    {"lint", "'gufo validate FILE' reports every fault"},
    {"compare", "'gufo diff FILE OTHER' shows how two models differ"},
    {"rm", "'gufo edit --remove KEY FILE' removes a key"},
    {"remove", "'gufo edit --remove KEY FILE' removes a key"},
    {"delete", "'gufo edit --remove KEY FILE' removes a key"},
    {"set", "'gufo edit --set KEY=VALUE FILE' sets a key"},
    {"rename",
     "'gufo name --rename FILE' gives a file its name, 'gufo edit --rename OLD=NEW FILE' a key"},
    {"join", "'gufo merge FIRST OUT' writes one file"},
    {"merge-lora", "'gufo lora merge BASE ADAPTER -o OUT' merges an adapter"},
    {"run", "gufo does not run models; 'gufo estimate FILE' prints the command that does"},
    {"serve", "gufo does not run models; 'gufo estimate FILE' prints the command that does"},
    {"quant", "'gufo quantize FILE TYPE' changes the types of tensors"},
    {"convert_hf_to_gguf.py", "'gufo convert DIR' makes a GGUF file of a checkpoint"},
    {"keys", "'gufo list keys' lists them"},
    {"rules", "'gufo list rules' lists them"},
    {"types", "'gufo list types' lists them"},
    {"md5", "'gufo hash FILE' prints other hashes, 'gufo hash --sha256 FILE' SHA-256"},
    {"size", "'gufo show FILE' shows the size, 'gufo estimate FILE' the memory that it needs"},
    {"version", "'gufo --version' prints it"},
};

static const char *find_meant(const char *word)
{
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strcmp(meant[i].word, word) == 0)
            return meant[i].means;
    return NULL;
}

/* Runs the command that the first argument names. */
static int run_named(int count, char **arguments, shared_options *shared)
{
    const char *name = arguments[0], *means = find_meant(name);
    suggestion near = suggest_start(gufo_str_of(name));

    for (const command *each = shared->commands; each->name != NULL; each++) {
        if (strcmp(each->name, name) == 0) {
            shared->command = each->name;
            report_command(each->name);
            return command_line_run(each->line, count, arguments, shared);
        }
        suggest_offer(&near, gufo_str_of(each->name));
    }
    report_command(NULL);
    if (ends_with(gufo_str_of(name), ".gguf") || (means == NULL && path_exists(name)))
        return report_usage("'%s' is not a command; did you mean 'gufo show %s'?", name, name);
    if (means != NULL)
        return report_usage("unknown command '%s'; %s", name, means);
    return report_usage("unknown command '%s'%s", name, suggest_text(&near, ""));
}

static int run(void *options)
{
    shared_options *shared = ((command_input *)options)->shared;

    if (shared->arg_count > 0)
        return run_named(shared->arg_count, shared->args, shared);
    command_line_help(&command_gufo, shared, false, stderr);
    return CODE_USAGE;
}

const command_line command_gufo = {
    .operands = {.names = "COMMAND [OPTION...] FILE..."},
    .doc = "Inspect, check, change, quantize and sign GGUF model files."
           "\v'gufo help COMMAND' explains a command, 'man gufo' everything.  FILE may be '-' for "
           "standard input.\n\n"
           "Exit status: 0 done; 1 the answer is no (invalid, not found); 2 wrong usage; 3 a file "
           "could not be read or written, or is malformed; 4 interrupted.",
    .examples = {{"gufo show model.gguf", "Shows what a model is and what it holds."},
                 {"gufo help quantize", "Explains a command."}},
    COMMAND_OPTIONS(gufo_table, command_input),
    .flags = ARGP_IN_ORDER, /* what follows the command belongs to it */
    .run = run,
};

/* ---- gufo help COMMAND ---------------------------------------------------------------------- */

/* Lets the command print its help. */
static int help(void *options)
{
    shared_options *shared = ((command_input *)options)->shared;
    static char option[] = "--help";

    if (shared->arg_count > 0)
        return run_named(2, (char *[]){shared->args[0], option, NULL}, shared);
    shared->command = NULL;
    command_line_help(&command_gufo, shared, true, stdout);
    return CODE_OK;
}

const command_line command_help = {
    .operands = {"[COMMAND]", 0, 1, "one command at a time"},
    .doc = "Explain a command, or gufo itself.",
    .run = help,
};
