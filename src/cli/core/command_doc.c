/* The text of a command's help around its options. */
#include "cli/core/command_line.h"

#include <stdio.h>
#include <string.h>

static FILE *open_text(char *out, size_t size)
{
    memset(out, 0, size);
    return fmemopen(out, size, "w");
}

/* In the order of the table, which argp would sort. */
static void put_commands(const command *commands, FILE *out)
{
    for (const command *each = commands; each->name != NULL; each++) {
        if (each->group != NULL)
            fprintf(out, "\n%s:\n", each->group);
        fprintf(out, "  %-27s%s\n", each->name, each->summary);
    }
}

/* argp keeps lines that begin with a space as they are. */
static void put_examples(const command_line *line, FILE *out)
{
    for (size_t i = 0; i < COMMAND_EXAMPLES && line->examples[i].command != NULL; i++)
        fprintf(out, "%s  %s\n      %s\n", i == 0 ? "\n\nExamples:\n" : "",
                line->examples[i].command, line->examples[i].says);
}

void command_line_doc(const command_line *line, const shared_options *shared, char out[COMMAND_DOC])
{
    const char *doc = line->doc != NULL ? line->doc : "", *after = strchr(doc, '\v');
    FILE *text = open_text(out, COMMAND_DOC);

    if (text == NULL)
        return;
    fprintf(text, "%.*s", (int)strcspn(doc, "\v"), doc);
    if (shared->command == NULL) {
        putc('\n', text);
        put_commands(shared->commands, text);
    }
    fputs(after != NULL ? after : "\v", text);
    put_examples(line, text);
    fclose(text);
}
