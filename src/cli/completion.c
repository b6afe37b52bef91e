/* gufo completion SHELL: completes command lines in bash, zsh and fish.
 *
 * The scripts of completions/ (CMake makes the header) do not know the commands and options: at
 * every completion they ask `gufo completion words`, which walks the words so far by the tables of
 * options.  Its first line names the kind of the answer (words, models, files or folders); then
 * follow words, one per line, each with a tab and its meaning.  The scripts complete the part of a
 * word after the last "=", which is a word of its own in bash. */
#include "cli/commands.h"

#include "cli/core/values/str.h"
#include "cli/core/options/command_line.h"
#include "cli/inspect/catalogue.h"
#include "completion_scripts.h"

#include "gufo/format.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what an argument may be ---------------------------------------------------------------- */

/* Words of the usage, such as FILE, and their completions. */
static const struct meaning {
    const char *names;
    const char *answer; /* NULL: the words that follow */
    const char *lists;  /* of `gufo list`, whose first column gives words */
    bool of_model;      /* offers the keys or tensors of the model in the words before */
} meanings[] = {
    {"A B FILE FIRST IN OTHER SHARD", .answer = "models"},
    {"MANIFEST OLD OUT OUTPREFIX PATH PUB SECRET", .answer = "files"},
    {"DIR", .answer = "folders"},
    {"ARCH", .lists = "archs"},
    {"KEY", .lists = "keys", .of_model = true},
    {"RULE", .lists = "rules"},
    {"TENSOR", .lists = "tensors", .of_model = true},
    {"TYPE", .lists = "filetypes types"},
    {"TOKENIZER", .lists = "tokenizers pretokenizers"},
};

typedef struct completer {
    const command *commands;
    const char *answer; /* "words" if it is NULL; printed before the first word */
    const char *model;  /* the first operand that may be one */
    const char *word;   /* offers begin like this */
    bool started;
} completer;

static void start_answer(completer *c, const char *answer)
{
    if (!c->started)
        puts(answer);
    c->started = true;
}

/* Offers only what a shell takes as it is: names come from files. */
static void offer(completer *c, gufo_str name, const char *means)
{
    if (!is_made_of(name, LETTERS DIGITS "._-+/%@") || !begins_with(name, c->word))
        return;
    start_answer(c, "words");
    printf("%.*s\t%s\n", (int)name.len, name.data, means);
}

/* Offers the rows of lists, whose names blanks divide. */
static void offer_lists(completer *c, const char *lists)
{
    catalogue_row row;

    for (gufo_str name; (name = next_word(&lists)).len > 0;)
        for (const catalogue *list = catalogues; list < catalogues + catalogue_count; list++)
            for (size_t i = 0; gufo_str_equal(name, gufo_str_of(list->name)) && list->row(i, &row);
                 i++)
                offer(c, gufo_str_of(row.cells[0]), list->one);
}

/* Offers keys or tensors of the model; false if it cannot be read. */
static bool offer_of_model(completer *c, bool keys)
{
    const gufo_open_options options = {.flags = GUFO_OPEN_LENIENT | GUFO_OPEN_INCOMPLETE};
    struct stat info; /* a pipe would keep the shell waiting */
    bool is_file = c->model != NULL && stat(c->model, &info) == 0 && S_ISREG(info.st_mode);
    gufo_model *model = is_file ? gufo_model_open(c->model, &options, NULL) : NULL;
    gufo_tensor tensor;
    gufo_entry entry;

    for (uint64_t i = 0; keys && model != NULL && gufo_model_entry_at(model, i, &entry); i++)
        offer(c, entry.key, gufo_value_type_name(entry.value.type));
    for (uint64_t i = 0; !keys && model != NULL && gufo_model_tensor_at(model, i, &tensor); i++)
        offer(c, tensor.name, "tensor");
    gufo_model_free(model);
    return model != NULL;
}

static bool is_word_of(gufo_str name, const char *words)
{
    for (gufo_str word; (word = next_word(&words)).len > 0;)
        if (gufo_str_equal(word, name))
            return true;
    return false;
}

/* Completes what a word of the usage means. */
static void complete_named(completer *c, const char *text)
{
    gufo_str name = {text, strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")};

    if (gufo_str_equal(name, gufo_str_of("COMMAND")))
        for (const command *each = c->commands; each->name != NULL; each++)
            offer(c, gufo_str_of(each->name), each->summary);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const struct meaning *m = &meanings[i];

        if (!is_word_of(name, m->names))
            continue;
        if (m->answer != NULL)
            start_answer(c, m->answer);
        else if (!m->of_model || !offer_of_model(c, text[0] == 'K'))
            offer_lists(c, m->lists);
    }
}

/* "show|merge" are words, "FILE|MANIFEST" what they mean. */
static void complete_alternatives(completer *c, const char *names, size_t len)
{
    for (size_t part; len > 0; names += part, len -= part) {
        part = strcspn(names, "|") < len ? strcspn(names, "|") : len;
        if (islower((unsigned char)names[0]))
            offer(c, (gufo_str){names, part}, "");
        else
            complete_named(c, names);
        part += part < len;
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Completes the argument of an option: its part after the last "=" of the word. */
static void complete_argument(completer *c, const command_option *option, const char *word)
{
    const char *names = option->argument, *equals;

    for (; (equals = strchr(word, '=')) != NULL; word = equals + 1) {
        names = strchr(names, '=');
        if (names == NULL)
            return;
        names++;
    }
    c->word = word;
    for (size_t i = 0; option->words != NULL && option->words[i] != NULL; i++)
        offer(c, gufo_str_of(option->words[i]), "");
    if (option->words == NULL && strncmp(names, "FILE", 4) == 0)
        start_answer(c, "files"); /* of any kind */
    else if (option->words == NULL)
        complete_alternatives(c, names, strlen(names));
}

static void complete_option(completer *c, const words_rows *all, const char *word)
{
    size_t len = strcspn(word, "=");
    char name[64];

    if (word[len] == '=') {
        const command_option *option = words_find(all, word + 2, len - 2);

        if (option != NULL && option->argument != NULL)
            complete_argument(c, option, word + len + 1);
        return;
    }
    c->word = word;
    for (size_t i = 0; i < all->count; i++) {
        int size;

        if (all->rows[i]->name == NULL)
            continue;
        size = snprintf(name, sizeof name, "--%s", all->rows[i]->name);
        offer(c, (gufo_str){name, (size_t)size}, all->rows[i]->help);
    }
}

/* Moves to the next word of a usage, which is not an option; its length, 0 at the end of the
 * line. */
static size_t next_name(const char **at)
{
    size_t len;

    do {
        *at += strspn(*at, " ");
        len = strcspn(*at, " \n");
    } while (**at == '-' && (*at += len, true));
    return len;
}

/* If the operands so far fit a form of the command, "merge OUT IN...", completes the next one.  An
 * operand in brackets is optional: the one after it may come as well. */
static void complete_form(completer *c, const char *form, char **operands, size_t count)
{
    const char *name = form;
    size_t len = next_name(&name);

    for (size_t i = 0; i < count && len > 0; i++) {
        bool last = len > 3 && strncmp(name + len - 3, "...", 3) == 0;

        if (islower((unsigned char)name[0]) && memchr(name, '|', len) == NULL &&
            (strlen(operands[i]) != len || strncmp(operands[i], name, len) != 0))
            return;
        if (last)
            break;
        name += len;
        len = next_name(&name);
    }
    for (bool optional = len > 0; optional; len = next_name(&name)) {
        optional = name[0] == '[';
        complete_alternatives(c, name + optional, len - optional);
        name += len;
    }
}

static void complete_operand(completer *c, const command_line *line, char **operands, size_t count,
                             const char *word)
{
    c->word = word;
    for (const char *form = line->operands.names; form != NULL; form = strchr(form, '\n')) {
        form += *form == '\n';
        complete_form(c, form, operands, count);
    }
}

/* Completes the last word of a command line; the command itself is one of the words of gufo. */
static void complete(completer *c, const command_line *line, size_t count, char **words)
{
    words_reader reader = words_start(line);
    char **operands = calloc(count, sizeof *operands);
    const char *last = words[count - 1];

    for (size_t i = 0; operands != NULL && i + 1 < count; i++) {
        if (words_next(&reader, words[i]) == WORD_OPERAND)
            operands[reader.operands - 1] = words[i];
        for (const command *each = c->commands; reader.in_order && each->name != NULL; each++)
            if (reader.operands == 1 && strcmp(each->name, words[i]) == 0) {
                free(operands);
                complete(c, each->line, count - i - 1, words + i + 1);
                return;
            }
    }
    c->model = operands != NULL ? operands[0] : NULL;
    if (operands != NULL && reader.taking != NULL)
        complete_argument(c, reader.taking, last);
    else if (operands != NULL && last[0] == '-' && !reader.all_operands)
        complete_option(c, &reader.all, last);
    else if (operands != NULL)
        complete_operand(c, line, operands, reader.operands, last);
    free(operands);
}

/* ---- the scripts ---------------------------------------------------------------------------- */

static const struct shell {
    const char *name;
    const unsigned char *script;
    size_t size;
} shells[] = {{"bash", completion_bash, sizeof completion_bash},
              {"zsh", completion_zsh, sizeof completion_zsh},
              {"fish", completion_fish, sizeof completion_fish}};

/* ---- the command ---------------------------------------------------------------------------- */

static int completion(void *context)
{
    const shared_options *shared = ((command_input *)context)->shared;
    const char *name = shared->args[0];
    completer c = {.commands = shared->commands};

    if (strcmp(name, "words") == 0 && shared->arg_count > 1) {
        complete(&c, &command_gufo, (size_t)shared->arg_count - 1, shared->args + 1);
        return CODE_OK;
    }
    for (size_t i = 0; shared->arg_count == 1 && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, name) == 0) {
            fwrite(shells[i].script, 1, shells[i].size, stdout);
            return CODE_OK;
        }
    return report_usage("one of bash, zsh and fish is needed");
}

const command_line command_completion = {
    .operands = {"bash|zsh|fish", 1, 0, "one of bash, zsh and fish is needed"},
    .doc = "Print a script that completes command lines of gufo in a shell.\v"
           "Packages install the scripts already.",
    .examples = {{"source <(gufo completion bash)", "Completes in this bash."},
                 {"gufo completion fish > ~/.config/fish/completions/gufo.fish",
                  "Completes in fish from now on."}},
    .flags = ARGP_IN_ORDER, /* the words that follow are completed */
    .run = completion,
};
