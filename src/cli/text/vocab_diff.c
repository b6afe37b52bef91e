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
#include <string.h>

#include "base/memory.h"
#include "cli/core/values/str.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/text/vocab.h"
#include "cli/text/vocab_open.h"
#include "gufo/schema.h"
#include "text/census.h"
#include "text/formats/source.h"
#include "text/formats/tokenizer_file.h"

enum { SHOWN = 20, MOST_SETTINGS = GUFO_SPECIAL_COUNT + 6, ID_TEXT = 16 };

typedef struct setting {
    const char *name, *a, *b;
} setting;

typedef struct comparison {
    const vocab_options *options;
    const char *paths[2];
    input in[2];
    gufo_vocab *vocabs[2];
    setting settings[MOST_SETTINGS]; /* that differ */
    char ids[2][GUFO_SPECIAL_COUNT][ID_TEXT];
    token_difference *tokens; /* owned */
    uint64_t setting_count, token_count, token_room;
    uint64_t counts[TOKEN_CHANGES];
    uint64_t merges[2], first_merge; /* counts; the rank of the first difference */
    bool no_memory, other_merges, same;
    record_list setting_list, token_list; /* of the above */
} comparison;

static const char *const change_names[TOKEN_CHANGES] = {
    [CHANGE_REMOVED] = "removed", [CHANGE_ADDED] = "added", [CHANGE_MOVED] = "moved",
    [CHANGE_TYPE] = "type",       [CHANGE_SCORE] = "score",
};
static const char change_marks[TOKEN_CHANGES] = {
    [CHANGE_REMOVED] = '-', [CHANGE_ADDED] = '+', [CHANGE_MOVED] = '>',
    [CHANGE_TYPE] = '!',    [CHANGE_SCORE] = '~',
};

/* ---- settings ------------------------------------------------------------------------------- */

static void add_setting(comparison *c, const char *name, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        c->settings[c->setting_count++] = (setting){name, a, b};
}

static void compare_special(comparison *c, const gufo_vocab_facts facts[2])
{
    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++) {
        for (int side = 0; side < 2; side++)
            if (facts[side].special[i] == GUFO_NO_TOKEN)
                snprintf(c->ids[side][i], ID_TEXT, "none");
            else
                snprintf(c->ids[side][i], ID_TEXT, "%" PRIu32, facts[side].special[i]);
        add_setting(c, gufo_special_name((gufo_special)i), c->ids[0][i], c->ids[1][i]);
    }
}

static void compare_settings(comparison *c)
{
    static const char *const words[] = {"no", "yes"};
    gufo_vocab_facts facts[2] = {gufo_vocab_describe(c->vocabs[0]),
                                 gufo_vocab_describe(c->vocabs[1])};

    add_setting(c, "model", facts[0].model, facts[1].model);
    add_setting(c, "pre-tokenizer", facts[0].pre != NULL ? facts[0].pre : "none",
                facts[1].pre != NULL ? facts[1].pre : "none");
    compare_special(c, facts);
    add_setting(c, "adds BOS", words[facts[0].add_bos], words[facts[1].add_bos]);
    add_setting(c, "adds EOS", words[facts[0].add_eos], words[facts[1].add_eos]);
    add_setting(c, "space prefix", words[facts[0].space_prefix], words[facts[1].space_prefix]);
    add_setting(c, "clean spaces", words[facts[0].clean_spaces], words[facts[1].clean_spaces]);
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

static void add_difference(void *context, const token_difference *d)
{
    comparison *c = context;
    token_difference *larger =
        mem_grow(&default_allocator, c->tokens, c->token_count, &c->token_room, sizeof *larger);

    c->no_memory = c->no_memory || larger == NULL;
    if (larger == NULL)
        return;
    c->tokens = larger;
    c->tokens[c->token_count++] = *d;
    c->counts[d->change]++;
}

enum { DETAILS_SIZE = 64, BEFORE_TEXT = 12, LEAST_TEXT = 8 };

/* What is printed behind the text of a token. */
static int describe(const comparison *c, const token_difference *d, char out[DETAILS_SIZE])
{
    gufo_token tokens[2];

    out[0] = '\0';
    if (d->change == CHANGE_REMOVED || d->change == CHANGE_ADDED)
        return 0;
    (void)gufo_vocab_token(c->vocabs[0], d->first, &tokens[0]);
    (void)gufo_vocab_token(c->vocabs[1], d->second, &tokens[1]);
    if (d->change == CHANGE_MOVED)
        return snprintf(out, DETAILS_SIZE, "  now %" PRIu32, d->second);
    if (d->change == CHANGE_TYPE)
        return snprintf(out, DETAILS_SIZE, "  %s -> %s", vocab_type_name(tokens[0].type),
                        vocab_type_name(tokens[1].type));
    return snprintf(out, DETAILS_SIZE, "  %g -> %g", (double)tokens[0].score,
                    (double)tokens[1].score);
}

static void print_difference(const comparison *c, const token_difference *d)
{
    int side = d->first == GUFO_NO_TOKEN;
    uint32_t id = side == 0 ? d->first : d->second;
    size_t columns = stdout_columns(), used;
    char details[DETAILS_SIZE];
    gufo_text room = {0};
    gufo_str text = vocab_quoted(c->vocabs[side], id, &room);

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
    for (int i = 0; i < TOKEN_CHANGES; i++)
        if (c->counts[i] > 0) {
            fprintf(l.out, "%s%s %s", before, human_grouped(c->counts[i]).text,
                    i == CHANGE_TYPE    ? "of another type"
                    : i == CHANGE_SCORE ? "with another score"
                                        : change_names[i]);
            before = ", ";
        }
    line_end(&l);
}

static void print_tokens(const comparison *c)
{
    uint64_t shown =
        c->options->base.shared->verbose || c->token_count < SHOWN ? c->token_count : SHOWN;

    if (c->token_count == 0)
        return;
    if (c->setting_count > 0)
        putc('\n', stdout);
    print_counts(c);
    for (uint64_t i = 0; i < shown; i++)
        print_difference(c, &c->tokens[i]);
    if (c->token_count > shown)
        printf("  ... and %s more: -v shows all\n", human_grouped(c->token_count - shown).text);
}

/* ---- merges --------------------------------------------------------------------------------- */

/* Those of tokenizer.json, or of tokenizer.ggml.merges. */
typedef struct merge_walk {
    tokenizer_file *file; /* NULL: `iter` */
    uint32_t at;
    gufo_array_iter iter;
} merge_walk;

static tokenizer_file *read_file(const gufo_vocab *vocab, const gufo_model *model)
{
    gufo_str text;

    return strcmp(gufo_vocab_describe(vocab).model, "huggingface") == 0 &&
                   source_text(model, "tokenizer.huggingface.json", &text, NULL) == GUFO_OK
               ? tokenizer_file_read(text, NULL, NULL)
               : NULL;
}

static merge_walk start_merges(const gufo_vocab *vocab, const gufo_model *model, uint64_t *count)
{
    gufo_array none = {.type = GUFO_VALUE_STRING, .encoding = {3, GUFO_LITTLE_ENDIAN}},
               array = none;
    tokenizer_file *file = read_file(vocab, model);

    if (file == NULL && gufo_model_key_array(model, "tokenizer.ggml.merges", GUFO_VALUE_STRING,
                                             &array, NULL) != GUFO_OK)
        array = none;
    *count = file != NULL ? file->merge_count : array.count;
    return (merge_walk){.file = file, .iter = gufo_array_start(&array)};
}

/* The parts of the next merge; false: there is none. */
static bool next_merge(merge_walk *w, gufo_str parts[2])
{
    const char *space;
    gufo_value value;

    if (w->file != NULL) {
        if (w->at == w->file->merge_count)
            return false;
        parts[0] = w->file->merges[w->at].left;
        parts[1] = w->file->merges[w->at++].right;
        return true;
    }
    if (!gufo_array_next(&w->iter, &value))
        return false;
    space = value.as.str.len > 0 ? memchr(value.as.str.data, ' ', value.as.str.len) : NULL;
    parts[0] = space == NULL ? value.as.str
                             : (gufo_str){value.as.str.data, (size_t)(space - value.as.str.data)};
    parts[1] = space == NULL ? (gufo_str){"", 0} : rest_of(value.as.str, parts[0].len + 1);
    return true;
}

static void compare_merges(comparison *c)
{
    merge_walk walk[2] = {start_merges(c->vocabs[0], c->in[0].model, &c->merges[0]),
                          start_merges(c->vocabs[1], c->in[1].model, &c->merges[1])};
    gufo_str merges[2][2];
    uint64_t rank = 0;
    bool first, second;

    do {
        first = next_merge(&walk[0], merges[0]);
        second = next_merge(&walk[1], merges[1]);
        rank++;
    } while (first && second && gufo_str_equal(merges[0][0], merges[1][0]) &&
             gufo_str_equal(merges[0][1], merges[1][1]));
    c->other_merges = first || second;
    c->first_merge = rank - 1;
    tokenizer_file_free(walk[0].file);
    tokenizer_file_free(walk[1].file);
}

static void print_merges(const comparison *c)
{
    line l;

    if (!c->other_merges)
        return;
    if (c->setting_count + c->token_count > 0)
        putc('\n', stdout);
    line_begin(&l);
    fprintf(l.out, "Merges: %s and %s; they differ from rank %s on",
            human_grouped(c->merges[0]).text, human_grouped(c->merges[1]).text,
            human_grouped(c->first_merge).text);
    line_end(&l);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static const record_field setting_fields[] = {
    {"name", NULL, RECORD_TEXT, RECORD_AT(setting, name)},
    {"a", NULL, RECORD_TEXT, RECORD_AT(setting, a)},
    {"b", NULL, RECORD_TEXT, RECORD_AT(setting, b)},
};
static const record_type setting_type = RECORD_OF(setting, setting_fields, 0);

typedef struct token_row {
    const char *types[2];
    gufo_token tokens[2];
    gufo_str text;
    token_difference ids;
    bool there[2], scores;
} token_row;

static const record_field token_fields[] = {
    {"change", NULL, RECORD_CHOICE, RECORD_AT(token_row, ids.change), .words = change_names},
    {"text", NULL, RECORD_STR, RECORD_AT(token_row, text)},
    {"a", NULL, RECORD_PLAIN, RECORD_AT(token_row, ids.first), RECORD_KNOWN(token_row, there[0])},
    {"b", NULL, RECORD_PLAIN, RECORD_AT(token_row, ids.second), RECORD_KNOWN(token_row, there[1])},
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

    if (index >= c->token_count)
        return false;
    row->ids = c->tokens[index];
    row->there[0] = gufo_vocab_token(c->vocabs[0], row->ids.first, &row->tokens[0]);
    row->there[1] = gufo_vocab_token(c->vocabs[1], row->ids.second, &row->tokens[1]);
    row->text = row->tokens[row->there[0] ? 0 : 1].text;
    for (int side = 0; side < 2 && row->ids.change == CHANGE_TYPE; side++)
        row->types[side] = vocab_type_name(row->tokens[side].type);
    row->scores = row->ids.change == CHANGE_SCORE;
    return true;
}

static const record_field count_fields[] = {
    {"removed", NULL, RECORD_COUNT, RECORD_AT(comparison, counts[CHANGE_REMOVED])},
    {"added", NULL, RECORD_COUNT, RECORD_AT(comparison, counts[CHANGE_ADDED])},
    {"moved", NULL, RECORD_COUNT, RECORD_AT(comparison, counts[CHANGE_MOVED])},
    {"type", NULL, RECORD_COUNT, RECORD_AT(comparison, counts[CHANGE_TYPE])},
    {"score", NULL, RECORD_COUNT, RECORD_AT(comparison, counts[CHANGE_SCORE])},
};
static const record_type count_type = RECORD_OF(comparison, count_fields, 0);

static const record_field merge_fields[] = {
    {"a", NULL, RECORD_COUNT, RECORD_AT(comparison, merges[0])},
    {"b", NULL, RECORD_COUNT, RECORD_AT(comparison, merges[1])},
    {"first_difference", NULL, RECORD_COUNT, RECORD_AT(comparison, first_merge),
     RECORD_KNOWN(comparison, other_merges)},
};
static const record_type merge_type = RECORD_OF(comparison, merge_fields, 0);

static const record_field comparison_fields[] = {
    {"a", NULL, RECORD_TEXT, RECORD_AT(comparison, paths[0])},
    {"b", NULL, RECORD_TEXT, RECORD_AT(comparison, paths[1])},
    {"settings", NULL, RECORD_LIST, RECORD_AT(comparison, setting_list), .of = &setting_type},
    {"counts", NULL, RECORD_RECORD, .at = 0, .of = &count_type},
    {"tokens", NULL, RECORD_LIST, RECORD_AT(comparison, token_list), .of = &token_type},
    {"merges", NULL, RECORD_RECORD, .at = 0, .of = &merge_type},
    {"same", NULL, RECORD_FLAG, RECORD_AT(comparison, same)},
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
    compare_merges(c);
    compare_settings(c);
    census_compare(c->vocabs[0], c->vocabs[1], add_difference, c);
    if (c->no_memory)
        return report_memory(NULL);
    c->setting_list = (record_list){.items = c->settings, .count = c->setting_count};
    c->token_list = (record_list){.make = make_token, .context = c};
    c->same = c->setting_count + c->token_count == 0 && !c->other_merges;
    report(c);
    return c->same ? CODE_OK : CODE_NO;
}

int vocab_diff(const vocab_options *options)
{
    char **args = options->base.shared->args;
    comparison c = {.options = options, .paths = {args[1], args[2]}};
    int code = CODE_OK;

    for (int i = 0; i < 2 && code == CODE_OK; i++)
        code = vocab_open_model(c.paths[i], &options->how, &c.in[i], &c.vocabs[i]);
    if (code == CODE_OK)
        code = compare(&c);
    for (int i = 0; i < 2; i++) {
        gufo_vocab_free(c.vocabs[i]);
        input_close(&c.in[i]);
    }
    mem_free(&default_allocator, c.tokens);
    return code;
}
