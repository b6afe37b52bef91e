/* gufo vocab diff A B: how two vocabularies differ.
 *
 *     Settings
 *       pre-tokenizer  gpt-2 -> llama-bpe
 *
 *     Tokens: 1 removed, 2 added
 *       - 12    "old"
 *       + 1000  "new"
 *
 *     Merges: 50,000 and 50,001; they differ from rank 49,999 on */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/core/records/record.h"
#include "cli/core/files/remote.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/text/vocab.h"
#include "cli/text/vocab_open.h"

enum { SHOWN = 20, MOST_SETTINGS = GUFO_SPECIAL_ROOM + 8, SETTING_TEXT = 64 };

typedef struct setting {
    const char *name;
    char a[SETTING_TEXT], b[SETTING_TEXT];
} setting;

typedef struct comparison {
    const vocab_options *options;
    const char *paths[2];
    vocab_input in[2];
    gufo_vocab_comparison found;
    setting *settings; /* that differ */
    uint64_t setting_count;
    gufo_token_differences tokens;
    record_list setting_list, token_list; /* of the above */
} comparison;

static const char *const change_names[GUFO_TOKEN_CHANGE_COUNT] = {
    [GUFO_TOKEN_CHANGE_REMOVED] = "removed", [GUFO_TOKEN_CHANGE_ADDED] = "added",
    [GUFO_TOKEN_CHANGE_MOVED] = "moved",     [GUFO_TOKEN_CHANGE_TYPE] = "type",
    [GUFO_TOKEN_CHANGE_SCORE] = "score",
};
static const char change_marks[GUFO_TOKEN_CHANGE_COUNT] = {
    [GUFO_TOKEN_CHANGE_REMOVED] = '-', [GUFO_TOKEN_CHANGE_ADDED] = '+',
    [GUFO_TOKEN_CHANGE_MOVED] = '>',   [GUFO_TOKEN_CHANGE_TYPE] = '!',
    [GUFO_TOKEN_CHANGE_SCORE] = '~',
};

/* ---- settings ------------------------------------------------------------------------------- */

static void add_setting(void *context, const gufo_vocab_setting *given)
{
    comparison *c = context;
    setting *s = &c->settings[c->setting_count];

    if (c->setting_count == MOST_SETTINGS)
        return;
    c->setting_count++;
    s->name = given->name;
    (void)snprintf(s->a, sizeof s->a, "%s", given->a);
    (void)snprintf(s->b, sizeof s->b, "%s", given->b);
}

static void print_settings(const comparison *c)
{
    for (const setting *s = c->settings; s < c->settings + c->setting_count; s++) {
        line l;

        if (s == c->settings)
            puts("Settings");
        line_begin(&l);
        fprintf(l.out, "  %-13s  ", s->name);
        text_put(l.out, gufo_str_of(s->a), TEXT_PLAIN);
        fputs(" -> ", l.out);
        text_put(l.out, gufo_str_of(s->b), TEXT_PLAIN);
        line_end(&l);
    }
}

/* ---- tokens --------------------------------------------------------------------------------- */

enum { DETAILS_SIZE = 64, BEFORE_TEXT = 12, LEAST_TEXT = 8 };

/* What is printed behind the text of a token. */
static int describe(const comparison *c, const gufo_token_difference *d, char out[DETAILS_SIZE])
{
    gufo_token tokens[2];

    out[0] = '\0';
    if (d->change == GUFO_TOKEN_CHANGE_REMOVED || d->change == GUFO_TOKEN_CHANGE_ADDED)
        return 0;
    (void)gufo_vocab_token(c->in[0].vocab, d->a, &tokens[0]);
    (void)gufo_vocab_token(c->in[1].vocab, d->b, &tokens[1]);
    if (d->change == GUFO_TOKEN_CHANGE_MOVED)
        return snprintf(out, DETAILS_SIZE, "  now %" PRIu32, d->b);
    if (d->change == GUFO_TOKEN_CHANGE_TYPE)
        return snprintf(out, DETAILS_SIZE, "  %s -> %s", gufo_token_type_name(tokens[0].type),
                        gufo_token_type_name(tokens[1].type));
    return snprintf(out, DETAILS_SIZE, "  %g -> %g", (double)tokens[0].score,
                    (double)tokens[1].score);
}

static void print_difference(const comparison *c, const gufo_token_difference *d)
{
    int side = d->a == GUFO_NO_TOKEN;
    uint32_t id = side == 0 ? d->a : d->b;
    size_t columns = stdout_columns(), used;
    char details[DETAILS_SIZE];
    gufo_text room = {0};
    gufo_str text = vocab_quoted(c->in[side].vocab, id, &room);

    used = BEFORE_TEXT + (size_t)describe(c, d, details);
    printf("  %c %-6" PRIu32 "  ", change_marks[d->change], id);
    text_put_middle(stdout, text, TEXT_PLAIN,
                    columns == 0                  ? SIZE_MAX
                    : columns > used + LEAST_TEXT ? columns - used
                                                  : LEAST_TEXT);
    puts(details);
    gufo_text_free(&room);
}

static void print_counts(const comparison *c)
{
    const char *before = "Tokens: ";
    line l;

    line_begin(&l);
    for (int i = 0; i < GUFO_TOKEN_CHANGE_COUNT; i++)
        if (c->found.tokens[i] > 0) {
            fprintf(l.out, "%s%s %s", before, human_grouped(c->found.tokens[i]).text,
                    i == GUFO_TOKEN_CHANGE_TYPE    ? "of another type"
                    : i == GUFO_TOKEN_CHANGE_SCORE ? "with another score"
                                                   : change_names[i]);
            before = ", ";
        }
    line_end(&l);
}

static void print_tokens(const comparison *c)
{
    uint64_t shown =
        c->options->base.shared->verbose || c->tokens.count < SHOWN ? c->tokens.count : SHOWN;

    if (c->tokens.count == 0)
        return;
    if (c->setting_count > 0)
        putc('\n', stdout);
    print_counts(c);
    for (uint64_t i = 0; i < shown; i++)
        print_difference(c, &c->tokens.items[i]);
    if (c->tokens.count > shown)
        printf("  ... and %s more: -v shows all\n", human_grouped(c->tokens.count - shown).text);
}

/* ---- merges --------------------------------------------------------------------------------- */

static void print_merges(const comparison *c)
{
    line l;

    if (!c->found.merges_differ)
        return;
    if (c->setting_count + c->tokens.count > 0)
        putc('\n', stdout);
    line_begin(&l);
    fprintf(l.out, "Merges: %s and %s; they differ from rank %s on",
            human_grouped(c->found.merges_a).text, human_grouped(c->found.merges_b).text,
            human_grouped(c->found.first_merge).text);
    line_end(&l);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static const record_field setting_fields[] = {
    {"name", NULL, RECORD_TEXT, RECORD_AT(setting, name)},
    {"a", NULL, RECORD_CHARS, RECORD_AT(setting, a)},
    {"b", NULL, RECORD_CHARS, RECORD_AT(setting, b)},
};
static const record_type setting_type = RECORD_OF(setting, setting_fields, 0);

typedef struct token_row {
    const char *types[2];
    gufo_token tokens[2];
    gufo_str text;
    gufo_token_difference ids;
    bool there[2], scores;
} token_row;

static const record_field token_fields[] = {
    {"change", NULL, RECORD_CHOICE, RECORD_AT(token_row, ids.change), .words = change_names},
    {"text", NULL, RECORD_STR, RECORD_AT(token_row, text)},
    {"a", NULL, RECORD_PLAIN, RECORD_AT(token_row, ids.a), RECORD_KNOWN(token_row, there[0])},
    {"b", NULL, RECORD_PLAIN, RECORD_AT(token_row, ids.b), RECORD_KNOWN(token_row, there[1])},
    {"a_type", NULL, RECORD_TEXT, RECORD_AT(token_row, types[0]), .none = RECORD_OR_OUT},
    {"b_type", NULL, RECORD_TEXT, RECORD_AT(token_row, types[1]), .none = RECORD_OR_OUT},
    {"a_score", NULL, RECORD_SINGLE, RECORD_AT(token_row, tokens[0].score),
     RECORD_GIVEN(token_row, scores)},
    {"b_score", NULL, RECORD_SINGLE, RECORD_AT(token_row, tokens[1].score),
     RECORD_GIVEN(token_row, scores)},
};
static const record_type token_type = RECORD_OF(token_row, token_fields, 0);

static bool make_token(const void *context, uint64_t index, void *record)
{
    const comparison *c = context;
    token_row *row = record;

    if (index >= c->tokens.count)
        return false;
    row->ids = c->tokens.items[index];
    row->there[0] = gufo_vocab_token(c->in[0].vocab, row->ids.a, &row->tokens[0]);
    row->there[1] = gufo_vocab_token(c->in[1].vocab, row->ids.b, &row->tokens[1]);
    row->text = row->tokens[row->there[0] ? 0 : 1].text;
    for (int side = 0; side < 2 && row->ids.change == GUFO_TOKEN_CHANGE_TYPE; side++)
        row->types[side] = gufo_token_type_name(row->tokens[side].type);
    row->scores = row->ids.change == GUFO_TOKEN_CHANGE_SCORE;
    return true;
}

static const record_field count_fields[] = {
    {"removed", NULL, RECORD_COUNT, RECORD_AT(comparison, found.tokens[GUFO_TOKEN_CHANGE_REMOVED])},
    {"added", NULL, RECORD_COUNT, RECORD_AT(comparison, found.tokens[GUFO_TOKEN_CHANGE_ADDED])},
    {"moved", NULL, RECORD_COUNT, RECORD_AT(comparison, found.tokens[GUFO_TOKEN_CHANGE_MOVED])},
    {"type", NULL, RECORD_COUNT, RECORD_AT(comparison, found.tokens[GUFO_TOKEN_CHANGE_TYPE])},
    {"score", NULL, RECORD_COUNT, RECORD_AT(comparison, found.tokens[GUFO_TOKEN_CHANGE_SCORE])},
};
static const record_type count_type = RECORD_OF(comparison, count_fields, 0);

static const record_field merge_fields[] = {
    {"a", NULL, RECORD_COUNT, RECORD_AT(comparison, found.merges_a)},
    {"b", NULL, RECORD_COUNT, RECORD_AT(comparison, found.merges_b)},
    {"first_difference", NULL, RECORD_COUNT, RECORD_AT(comparison, found.first_merge),
     RECORD_KNOWN(comparison, found.merges_differ)},
};
static const record_type merge_type = RECORD_OF(comparison, merge_fields, 0);

static const record_field comparison_fields[] = {
    {"a", NULL, RECORD_TEXT, RECORD_AT(comparison, paths[0])},
    {"b", NULL, RECORD_TEXT, RECORD_AT(comparison, paths[1])},
    {"settings", NULL, RECORD_LIST, RECORD_AT(comparison, setting_list), .of = &setting_type},
    {"counts", NULL, RECORD_RECORD, .at = 0, .of = &count_type},
    {"tokens", NULL, RECORD_LIST, RECORD_AT(comparison, token_list), .of = &token_type},
    {"merges", NULL, RECORD_RECORD, .at = 0, .of = &merge_type},
    {"same", NULL, RECORD_FLAG, RECORD_AT(comparison, found.same)},
};
static const record_type comparison_type = RECORD_OF(comparison, comparison_fields, 0);

/* ---- the whole ------------------------------------------------------------------------------ */

static void report(comparison *c)
{
    const shared_options *shared = c->options->base.shared;
    json_writer j = json_writer_start(stdout);

    if (shared->json) {
        record_write(&j, NULL, &comparison_type, c);
        json_writer_line(&j);
    } else if (!shared->quiet) {
        print_settings(c);
        print_tokens(c);
        print_merges(c);
    }
}

static int compare(comparison *c)
{
    const gufo_vocab_compare_options options = {.source_a = &c->in[0].source,
                                                .source_b = &c->in[1].source,
                                                .tokens = &c->tokens,
                                                .setting = add_setting,
                                                .context = c};
    setting settings[MOST_SETTINGS];
    gufo_error error;

    c->settings = settings;
    if (gufo_vocab_compare(c->in[0].vocab, c->in[1].vocab, &options, &c->found, &error) != GUFO_OK)
        return report_error(c->paths[error.role == GUFO_FILE_SECOND_INPUT], &error);
    c->setting_list = (record_list){.items = c->settings, .count = c->setting_count};
    c->token_list = (record_list){.make = make_token, .context = c};
    report(c);
    return c->found.same ? CODE_OK : CODE_NO;
}

int vocab_diff(const vocab_options *options)
{
    char **args = options->base.shared->args;
    comparison c = {.options = options, .paths = {remote_shown(args[1]), remote_shown(args[2])}};
    int code = vocab_open_input(&c.in[0], c.paths[0], &options->how);

    if (code == CODE_OK)
        code = vocab_open_input(&c.in[1], c.paths[1], &options->how);
    if (code == CODE_OK)
        code = compare(&c);
    vocab_close_input(&c.in[0]);
    vocab_close_input(&c.in[1]);
    gufo_token_differences_free(&c.tokens);
    return code;
}
