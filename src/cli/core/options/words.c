/* The words of a command line. */
#include "cli/core/options/words.h"

#include <string.h>

static void add_rows(words_rows *all, const command_option *row)
{
    for (; row != NULL && row->help != NULL; row++)
        if ((row->name != NULL || row->letter != 0) && all->count < WORDS_MOST_OPTIONS)
            all->rows[all->count++] = row;
}

static words_rows rows_of(const command_line *line)
{
    words_rows all = {.count = 0};

    add_rows(&all, line->options);
    add_rows(&all, options_shared);
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
