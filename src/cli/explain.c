/* gufo explain WORD...: what a key, a tensor, a type, an architecture or a rule is.
 *
 *     llama.context_length  metadata key
 *       key             {arch}.context_length
 *       type            uint32
 *       ...
 *       used by         afmoe, apertus ...
 *       example         gufo get FILE llama.context_length
 *
 * A word may have several meanings: each is shown. */
#include "cli/catalogue.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "cli/text.h"

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 16, LINE_COLUMNS = 96, LONGEST_HINTED = 200 };

/* ---- text ----------------------------------------------------------------------------------- */

static void put_name(const char *name)
{
    printf("  %-*s", NAME_COLUMNS, name);
}

/* A list of words that continues on further lines. */
typedef struct word_list {
    const char *name; /* of the list; NULL once it has begun */
    size_t column;
} word_list;

static void put_word(void *context, const char *word)
{
    word_list *list = context;
    size_t len = strlen(word);

    if (list->name != NULL) {
        put_name(list->name);
        list->name = NULL;
        list->column = NAME_COLUMNS + 2;
    } else if (list->column + strlen(", ") + len + strlen(",") > LINE_COLUMNS) {
        printf(",\n%*s", NAME_COLUMNS + 2, "");
        list->column = NAME_COLUMNS + 2;
    } else {
        fputs(", ", stdout);
        list->column += 2;
    }
    fputs(word, stdout);
    list->column += len;
}

static void print_match(const catalogue *c, size_t index, const char *word)
{
    word_list users = {.name = "used by"};
    char example[EXAMPLE_SIZE];
    catalogue_row row;

    (void)c->row(index, &row);
    text_put(stdout, gufo_str_of(word), TEXT_PLAIN);
    printf("  %s\n", c->heading);
    for (size_t i = 0; c->columns.names[i] != NULL; i++)
        if (*row.cells[i] != '\0') {
            put_name(c->columns.names[i]);
            printf("%s\n", row.cells[i]);
        }
    if (c->users != NULL)
        c->users(index, put_word, &users);
    if (users.name == NULL)
        putc('\n', stdout);
    put_name("example");
    catalogue_example(c, index, word, example);
    printf("%s\n", example);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_word(void *context, const char *word)
{
    json_write_text(context, NULL, word);
}

static void write_match(json_writer *j, const catalogue *c, size_t index, const char *word)
{
    char example[EXAMPLE_SIZE];
    catalogue_row row;

    (void)c->row(index, &row);
    json_begin_object(j, NULL);
    json_write_text(j, "kind", c->one);
    catalogue_write_cells(j, &c->columns, &row);
    if (c->users != NULL) {
        json_begin_array(j, "used_by");
        c->users(index, write_word, j);
        json_end_array(j);
    }
    catalogue_example(c, index, word, example);
    json_write_text(j, "example", example);
    json_end_object(j);
}

/* ---- the command ---------------------------------------------------------------------------- */

static int report_unknown(const char *word)
{
    catalogue_hint hint;

    if (strlen(word) <= LONGEST_HINTED && catalogue_nearest(word, &hint))
        report_message(NULL, "'%s' is not known; did you mean '%.*s%s'?", word,
                       (int)hint.before.len, hint.before.data, hint.name);
    else
        report_message(NULL, "'%.*s' is not known", LONGEST_HINTED, word);
    return CODE_NO;
}

static int explain(void *context, const char *word)
{
    const command_input *input = context;
    bool json = input->shared->json;
    json_writer j = json_writer_start(stdout);
    size_t index, matches = 0;

    if (json) {
        json_begin_object(&j, NULL);
        json_write_text(&j, "word", word);
        json_begin_array(&j, "matches");
    }
    for (size_t i = 0; i < catalogue_count; i++) {
        if (!catalogue_lookup(&catalogues[i], word, &index))
            continue;
        matches++;
        if (json)
            write_match(&j, &catalogues[i], index, word);
        else
            print_match(&catalogues[i], index, word);
    }
    if (json) {
        json_end_array(&j);
        json_end_document(&j);
    }
    return matches > 0 ? CODE_OK : report_unknown(word);
}

const command_line command_explain = {
    .operands = "KEY|TENSOR|TYPE|ARCH|TOKENIZER|RULE...",
    .doc = "Explain a key, a tensor, a type, an architecture, a tokenizer or a rule.\v"
           "Names may be those of a file (llama.context_length, blk.3.attn_q.weight) or those of "
           "'gufo list' ({arch}.context_length).",
    .size = sizeof(command_input),
    .least = 1,
    .needed = "no word is given",
    .each = explain,
};
