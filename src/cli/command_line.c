/* Command lines are read by argp, for which the table of a command becomes its own. */
#include "cli/command_line.h"

#include "cli/report.h"
#include "cli/stdout.h"

#include <errno.h>
#include <stdlib.h>

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

/* The table as argp wants it; NULL for none, because argp loses memory over an empty one. */
static const struct argp_option *make_table(const command_line *line,
                                            struct argp_option table[MOST_OPTIONS + 2])
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
    return count > 0 ? table : NULL;
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
            return option_store(r->input->shared->command, r->input,
                                &(option_given){option, text, state})
                       ? 0
                       : EINVAL;
    return ARGP_ERR_UNKNOWN;
}

static int parse_line(const command_line *line, int argc, char **argv, command_input *input)
{
    struct argp_option table[MOST_OPTIONS + 2];
    const struct argp parser = {.options = make_table(line, table),
                                .parser = parse_command,
                                .args_doc = line->operands,
                                .doc = line->doc,
                                .children = options_children};
    const shared_options *shared = input->shared;
    reading r = {line, input};
    int code = options_parse(&parser, 0, argc, argv, shared, &r);

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

int command_line_each(void *options, int (*one)(void *options, const char *argument))
{
    const command_input *input = options;
    int code = CODE_OK;

    for (int i = 0; i < input->shared->arg_count && !stdout_broken(); i++)
        code = worst_code(code, one(options, input->shared->args[i]));
    return code;
}

int command_line_run(const command_line *line, int argc, char **argv, shared_options *shared)
{
    command_input *input = calloc(1, line->size > sizeof *input ? line->size : sizeof *input);
    int code = CODE_OK;

    if (input == NULL)
        return report_memory(NULL);
    input->shared = shared;
    if (!line->unread)
        code = parse_line(line, argc, argv, input);
    if (code == CODE_OK && !shared->done)
        code = line->run != NULL ? line->run(input) : command_line_each(input, line->each);
    release(line, input);
    return code;
}
