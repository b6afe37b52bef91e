/* argp reads command lines: it gets the options of the command and the shared ones as one table.
 *
 * By default argp would exit by itself and report errors in several lines; here it returns errors,
 * and command_help.c prints the help. */
#include "cli/core/options/command_line.h"
#include "cli/core/options/names.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/values/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ----------------------------------------------------------------------------------- */

static void list_rows(words_rows *all, const command_option *row)
{
    for (; row != NULL && row->help != NULL; row++)
        if ((row->name != NULL || row->letter != 0) && all->count < WORDS_MOST_OPTIONS)
            all->rows[all->count++] = row;
}

static words_rows rows_of(const command_line *line)
{
    words_rows all = {.count = 0};

    list_rows(&all, line->options);
    list_rows(&all, options_shared);
    return all;
}

const command_option *words_find(const words_rows *all, const char *name, size_t len)
{
    const command_option *found = NULL;

    for (size_t i = 0; i < all->count; i++) {
        if (all->rows[i]->name == NULL || strncmp(all->rows[i]->name, name, len) != 0)
            continue;
        if (all->rows[i]->name[len] == '\0')
            return all->rows[i];
        found = all->rows[i];
    }
    return found;
}

words_reader words_start(const command_line *line)
{
    return (words_reader){.all = rows_of(line), .in_order = (line->flags & ARGP_IN_ORDER) != 0};
}

/* The rest of the word is the whole argument, except for an option that takes two. */
static void take(words_reader *r, const command_option *option, bool has_argument)
{
    bool takes = option->argument != NULL && !option->optional;

    r->taken = has_argument;
    r->taking = takes && (!has_argument || strchr(option->argument, ' ') != NULL) ? option : NULL;
}

static word_kind next_argument(words_reader *r)
{
    r->taken++;
    if (r->taken > 1 || strchr(r->taking->argument, ' ') == NULL)
        r->taking = NULL;
    return WORD_ARGUMENT;
}

/* Letters in one word: the first one with an argument takes the rest. */
static word_kind next_letters(words_reader *r, const char *letters)
{
    for (; *letters != '\0'; letters++) {
        const command_option *option = NULL;

        for (size_t i = 0; i < r->all.count && option == NULL; i++)
            if (r->all.rows[i]->letter == *letters)
                option = r->all.rows[i];
        if (option == NULL)
            return WORD_UNKNOWN;
        take(r, option, letters[1] != '\0');
        if (option->argument != NULL)
            break;
    }
    return WORD_OPTION;
}

word_kind words_next(words_reader *r, const char *word)
{
    const command_option *option;
    size_t len;

    if (r->taking != NULL)
        return next_argument(r);
    if (r->all_operands || word[0] != '-' || word[1] == '\0') {
        r->operands++;
        r->all_operands = r->all_operands || r->in_order;
        return WORD_OPERAND;
    }
    if (word[1] != '-')
        return next_letters(r, word + 1);
    if (word[2] == '\0') {
        r->all_operands = true;
        return WORD_OPTION;
    }
    len = strcspn(word + 2, "=");
    option = words_find(&r->all, word + 2, len);
    if (option == NULL)
        return WORD_UNKNOWN;
    take(r, option, word[2 + len] != '\0');
    return WORD_OPTION;
}

enum { FIRST_LONG_KEY = 0x100 }; /* of options without a letter */

/* A command line in the parser: what argp knows of a row, the row itself, and the struct for its
 * value. */
typedef struct reading {
    shared_options *shared;
    struct argp_option table[WORDS_MOST_OPTIONS + 1];
    const command_option *rows[WORDS_MOST_OPTIONS];
    void *options[WORDS_MOST_OPTIONS];
    size_t count;
    struct argp argp;
} reading;

/* ---- the parser ----------------------------------------------------------------------------- */

static void add_rows(reading *r, const command_option *row, void *options)
{
    for (; row != NULL && row->help != NULL && r->count < WORDS_MOST_OPTIONS; row++) {
        if (row->name == NULL && row->letter == 0) /* a heading */
            continue;
        r->rows[r->count] = row;
        r->options[r->count] = options;
        r->table[r->count] = (struct argp_option){
            .name = row->name,
            .key = row->letter != 0 ? row->letter : FIRST_LONG_KEY + (int)r->count,
            .arg = row->argument,
            .flags = row->optional ? OPTION_ARG_OPTIONAL : 0};
        r->count++;
    }
}

/* Whether gufo commit has the option itself: how to report, and with how many threads, is not the workers' matter. */
static bool is_of_commit(const reading *r, size_t index)
{
    return r->shared->commits != NULL && r->options[index] == r->shared &&
           r->rows[index]->kind != OPTION_KIND_READ;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    const reading *r = state->input;

    if (key == ARGP_KEY_INIT) {
        /* Drops argp's own messages; those of getopt (unknown option) are one line. */
        state->err_stream = NULL;
        return 0;
    }
    if (key == ARGP_KEY_ARGS) {
        r->shared->args = state->argv + state->next;
        r->shared->arg_count = state->argc - state->next;
        return 0;
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->table[i].key == key && is_of_commit(r, i))
            return 0;
        else if (r->table[i].key == key)
            return option_store(r->options[i], &(option_given){r->rows[i], text, state}) == CODE_OK
                       ? 0
                       : EINVAL;
    return ARGP_ERR_UNKNOWN;
}

static void start(reading *r, const command_line *line, command_input *input)
{
    *r = (reading){.shared = input->shared};
    add_rows(r, line->options, input);
    add_rows(r, options_shared, input->shared);
    r->argp = (struct argp){.options = r->table, .parser = parse};
}

/* ---- reading -------------------------------------------------------------------------------- */

/* getopt would print an unknown option as it is, control characters and all, and suggest
 * nothing. */
static int report_unknown(const words_rows *all, const char *word)
{
    bool is_long = word[1] == '-';
    size_t len = strcspn(word, "=");
    suggestion near = suggest_start((gufo_str){word + 2, is_long ? len - 2 : 0});

    for (size_t i = 0; i < all->count; i++)
        if (all->rows[i]->name != NULL)
            suggest_offer(&near, gufo_str_of(all->rows[i]->name));
    return report_usage("unknown option '%.*s'%s", (int)len, word, suggest_text(&near, "--"));
}

/* llama-gguf-split also takes --split_max_size.  False if the name has no underscore. */
static bool replace_underscores(char *word)
{
    char *end = word + strcspn(word, "="), *at = word;
    bool any = false;

    for (; (at = memchr(at, '_', (size_t)(end - at))) != NULL; any = true)
        *at = '-';
    return any;
}

/* A word is an option of other programs: no beginning of one of ours is meant. */
static const char *find_hint(const command_line *line, const char *word)
{
    size_t len = strcspn(word, "=");

    for (const command_hint *h = line->hints; h != NULL && h->given != NULL; h++)
        if (strlen(h->given) == len && strncmp(h->given, word, len) == 0)
            return h->hint;
    return NULL;
}

/* Checks all words; of a command that reads what follows itself, those before it. */
static int check_words(const command_line *line, int argc, char **argv)
{
    words_reader reader = words_start(line);

    for (int i = 1; i < argc && !reader.all_operands; i++) {
        const char *hint = reader.taking != NULL ? NULL : find_hint(line, argv[i]);

        if (hint != NULL)
            return report_usage("unknown option '%.*s'; %s", (int)strcspn(argv[i], "="), argv[i],
                                hint);
        if (words_next(&reader, argv[i]) == WORD_UNKNOWN &&
            !(replace_underscores(argv[i]) && words_next(&reader, argv[i]) != WORD_UNKNOWN))
            return report_unknown(&reader.all, argv[i]);
    }
    return CODE_OK;
}

int command_line_twice(const char *operand)
{
    return report_usage("OUT is given twice: by --output and as '%s'", operand);
}

const char *command_line_take(shared_options *shared, int index)
{
    const char *operand = shared->args[index];

    shared->arg_count--;
    memmove(shared->args + index, shared->args + index + 1,
            (size_t)(shared->arg_count - index) * sizeof *shared->args);
    return operand;
}

/* OUT is an operand unless --output gives it: then one operand less is needed, or none less if OUT
 * may be left out. */
static int check_operands(const command_line *line, command_input *input)
{
    shared_options *shared = input->shared;
    int out = line->out, given = out != 0 && input->output != NULL;
    int count = shared->arg_count + given, most = line->operands.most;
    int least = line->operands.least - (given && out <= line->operands.least);

    if (given && most != 0 && count == most + 1)
        return command_line_twice(shared->args[out - 1]);
    if (shared->arg_count < least || (most != 0 && count > most))
        return report_usage("%s", line->operands.needed);
    if (out != 0 && !given && shared->arg_count >= out) /* which may be left out */
        input->output = command_line_take(shared, out - 1);
    return CODE_OK;
}

/* "--gpu-layers" and "=99" as one word, which lives as long as the options. */
static char *join(command_input *input, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 1;
    char **joined = array_add(&input->joined.items, &input->joined.count, sizeof *joined);

    if (joined == NULL)
        return NULL;
    *joined = malloc(size);
    if (*joined == NULL) {
        report_memory(NULL);
        return NULL;
    }
    snprintf(*joined, size, "%s%s", name, value);
    return *joined;
}

static bool replace_alias(const command_line *line, char **word, command_input *input)
{
    size_t len = strcspn(*word, "=");

    for (command_alias *a = line->aliases; a != NULL && a->given != NULL; a++)
        if (strncmp(*word, a->given, len) == 0 && a->given[len] == '\0') {
            *word = (*word)[len] == '\0' ? a->name : join(input, a->name, *word + len);
            return *word != NULL;
        }
    return true;
}

/* argp reads "-ngl" as three letters, so that it gets the long form.  False without memory. */
static bool replace_aliases(const command_line *line, int argc, char **argv, command_input *input)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!replace_alias(line, &argv[i], input))
            return false;
    return true;
}

static int parse_line(const command_line *line, int argc, char **argv, command_input *input)
{
    static char program[] = "gufo";
    const shared_options *shared = input->shared;
    char *own = argv[0];
    error_t failure;
    reading r;

    if (!replace_aliases(line, argc, argv, input))
        return CODE_FAILED;
    if (check_words(line, argc, argv) != CODE_OK)
        return CODE_USAGE;
    start(&r, line, input);
    input->shared->arg_count = 0;
    argv[0] = program; /* how getopt's messages begin */
    failure = argp_parse(&r.argp, argc, argv, line->flags | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &r);
    argv[0] = own;
    stdout_set_color(options_color(shared));
    report_color(options_error_color(shared));
    if (shared->quiet)
        report_quiet();
    if (shared->verbose)
        report_verbose();
    if (failure == ENOMEM)
        report_memory(NULL);
    if (failure != 0)
        return CODE_USAGE;
    if (shared->help != HELP_NONE)
        command_line_help(line, shared, shared->help == HELP_WHOLE, stdout);
    return shared->done ? CODE_OK : check_operands(line, input);
}

/* Frees the texts of options, and lets the command free its own. */
static void release(const command_line *line, command_input *input)
{
    const command_option *option = line->options;

    if (line->release != NULL)
        line->release(input);
    for (; option != NULL && option->help != NULL; option++)
        if (option->kind == OPTION_KIND_TEXTS)
            free(((option_texts *)(void *)((char *)input + option->place))->items);
    for (size_t i = 0; i < input->joined.count; i++)
        free(input->joined.items[i]);
    free((void *)input->joined.items);
    gufo_plan_free(input->part.plan);
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
    if (code == CODE_OK && shared->commits != NULL && line != shared->gufo && !input->part.given)
        code = report_as(CODE_USAGE, shared->commits, "the command of its plan has no --part");
    if (code == CODE_OK && !shared->done)
        code = line->run != NULL ? line->run(input) : command_line_each(input, line->each);
    release(line, input);
    return code;
}

/* ---- the words of a process, or of a plan ---------------------------------------------------- */

/* argp moves words, and some are changed. */
static char **copy_words(const char *const *words, size_t count)
{
    char **copy = calloc(count + 1, sizeof *copy);

    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(words[i]);
        if (copy[i] == NULL)
            break;
    }
    return copy;
}

static int run_copy(shared_options *shared)
{
    const size_t count = shared->word_count;
    char **copy = copy_words(shared->words, count), **given = NULL;
    int code;

    /* What words become is not what is to be freed. */
    if (copy != NULL && (count == 0 || copy[count - 1] != NULL))
        given = calloc(count + 1, sizeof *given);
    if (given != NULL)
        memcpy(given, copy, count * sizeof *given);
    code = given != NULL ? command_line_run(shared->gufo, (int)count, given, shared)
                         : report_memory(NULL);
    for (size_t i = 0; copy != NULL && i < count; i++)
        free(copy[i]);
    free((void *)copy);
    free((void *)given);
    return code;
}

int command_line_start(const shared_options *shared)
{
    shared_options now = *shared;
    int code = run_copy(&now);

    if (code == CODE_AGAIN) {
        shared_options again = *shared;

        again.planned = now.planned;
        code = run_copy(&again);
        free((char *)now.planned);
    }
    return code;
}
