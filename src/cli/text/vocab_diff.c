/* gufo vocab diff A B: how two vocabularies differ.
 *
 *     Settings
 *       pre-tokenizer  gpt-2 -> llama-bpe
 *
 *     Tokens: 1 removed, 2 added
 *       - 12    "old"
 *       + 1000  "new"
 *
 *     Merges: 50,000 and 50,001, the first difference is 49,999 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/core/values/number.h"
#include "cli/core/values/json.h"
#include "cli/core/terminal/line.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/text/vocab.h"
#include "gufo/schema.h"
#include "text/formats/source.h"
#include "text/formats/tokenizer_file.h"
#include "text/census.h"

enum { SHOWN = 20 }; /* lines without -v */

typedef struct comparison {
    const vocab_options *options;
    vocab_input sides[2];
    const gufo_vocab *vocabs[2];
    uint64_t counts[TOKEN_CHANGES], total;
    uint64_t merges[2], first_merge; /* counts; the rank of the first difference, or UINT64_MAX */
    uint64_t settings;
    json_writer json;
} comparison;

static const struct {
    const char *name, *mark;
} changes[TOKEN_CHANGES] = {
    [CHANGE_REMOVED] = {"removed", "-"}, [CHANGE_ADDED] = {"added", "+"},
    [CHANGE_MOVED] = {"moved", ">"},     [CHANGE_TYPE] = {"type", "!"},
    [CHANGE_SCORE] = {"score", "~"},
};

/* ---- settings ------------------------------------------------------------------------------- */

static void put_setting(comparison *c, const char *name, const char *first, const char *second)
{
    const shared_options *shared = c->options->base.shared;

    if (strcmp(first, second) == 0)
        return;
    c->settings++;
    if (shared->json) {
        json_begin_object(&c->json, NULL);
        json_write_text(&c->json, "name", name);
        json_write_text(&c->json, "a", first);
        json_write_text(&c->json, "b", second);
        json_end_object(&c->json);
    } else if (!shared->quiet) {
        line l;

        if (c->settings == 1)
            puts("Settings");
        line_begin(&l);
        fprintf(l.out, "  %-13s  ", name);
        text_put(l.out, gufo_str_of(first), TEXT_PLAIN);
        fputs(" -> ", l.out);
        text_put(l.out, gufo_str_of(second), TEXT_PLAIN);
        line_end(&l);
    }
}

static void compare_special(comparison *c, const gufo_vocab_facts facts[2])
{
    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++) {
        char ids[2][16];

        for (int side = 0; side < 2; side++)
            if (facts[side].special[i] == GUFO_NO_TOKEN)
                snprintf(ids[side], sizeof ids[side], "none");
            else
                snprintf(ids[side], sizeof ids[side], "%" PRIu32, facts[side].special[i]);
        put_setting(c, gufo_special_name((gufo_special)i), ids[0], ids[1]);
    }
}

static void compare_settings(comparison *c)
{
    static const char *const words[] = {"no", "yes"};
    gufo_vocab_facts facts[2] = {gufo_vocab_describe(c->vocabs[0]),
                                 gufo_vocab_describe(c->vocabs[1])};

    put_setting(c, "model", facts[0].model, facts[1].model);
    put_setting(c, "pre-tokenizer", facts[0].pre != NULL ? facts[0].pre : "none",
                facts[1].pre != NULL ? facts[1].pre : "none");
    compare_special(c, facts);
    put_setting(c, "adds BOS", words[facts[0].add_bos], words[facts[1].add_bos]);
    put_setting(c, "adds EOS", words[facts[0].add_eos], words[facts[1].add_eos]);
    put_setting(c, "space prefix", words[facts[0].space_prefix], words[facts[1].space_prefix]);
    put_setting(c, "clean spaces", words[facts[0].clean_spaces], words[facts[1].clean_spaces]);
}

/* ---- tokens --------------------------------------------------------------------------------- */

static void count_difference(void *context, const token_difference *d)
{
    comparison *c = context;

    c->counts[d->change]++;
    c->total++;
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

static void print_difference(void *context, const token_difference *d)
{
    comparison *c = context;
    int side = d->first == GUFO_NO_TOKEN;
    uint32_t id = side == 0 ? d->first : d->second;
    size_t columns = stdout_columns(), used;
    char details[DETAILS_SIZE];
    gufo_text room = {0};
    gufo_str text;

    if (c->total++ >= SHOWN && !c->options->base.shared->verbose)
        return;
    text = vocab_quoted(c->vocabs[side], id, &room);
    used = BEFORE_TEXT + (size_t)describe(c, d, details);
    printf("  %s %-6" PRIu32 "  ", changes[d->change].mark, id);
    text_put_middle(stdout, text, TEXT_PLAIN,
                    columns == 0                  ? SIZE_MAX
                    : columns > used + LEAST_TEXT ? columns - used
                                                  : LEAST_TEXT);
    puts(details);
    gufo_text_free(&room);
}

static void write_details(json_writer *j, token_change change, const gufo_token *a,
                          const gufo_token *b)
{
    if (change == CHANGE_TYPE) {
        json_write_text(j, "a_type", vocab_type_name(a->type));
        json_write_text(j, "b_type", vocab_type_name(b->type));
    } else if (change == CHANGE_SCORE) {
        json_write_f32(j, "a_score", a->score);
        json_write_f32(j, "b_score", b->score);
    }
}

static void write_difference(void *context, const token_difference *d)
{
    comparison *c = context;
    gufo_token tokens[2];
    bool in_first = gufo_vocab_token(c->vocabs[0], d->first, &tokens[0]),
         in_second = gufo_vocab_token(c->vocabs[1], d->second, &tokens[1]);

    c->total++;
    json_begin_object(&c->json, NULL);
    json_write_text(&c->json, "change", changes[d->change].name);
    json_write_str(&c->json, "text", tokens[in_first ? 0 : 1].text);
    json_write_known(&c->json, "a", in_first, d->first);
    json_write_known(&c->json, "b", in_second, d->second);
    if (in_first && in_second)
        write_details(&c->json, d->change, &tokens[0], &tokens[1]);
    json_end_object(&c->json);
}

static void put_counts(const comparison *c)
{
    const char *before = "Tokens: ";
    line l;

    line_begin(&l);
    for (int i = 0; i < TOKEN_CHANGES; i++)
        if (c->counts[i] > 0) {
            fprintf(l.out, "%s%s %s", before, human_grouped(c->counts[i]).text,
                    i == CHANGE_TYPE    ? "of another type"
                    : i == CHANGE_SCORE ? "with another score"
                                        : changes[i].name);
            before = ", ";
        }
    line_end(&l);
}

static void put_tokens(comparison *c)
{
    if (c->total == 0)
        return;
    if (c->settings > 0)
        putc('\n', stdout);
    put_counts(c);
    c->total = 0;
    census_compare(c->vocabs[0], c->vocabs[1], print_difference, c);
    if (c->total > SHOWN && !c->options->base.shared->verbose)
        printf("  ... and %s more: -v shows all\n", human_grouped(c->total - SHOWN).text);
}

/* ---- merges --------------------------------------------------------------------------------- */

/* Those of tokenizer.json, or of tokenizer.ggml.merges. */
typedef struct merge_walk {
    tokenizer_file *file; /* NULL: `iter` */
    uint32_t at;
    gufo_array_iter iter;
} merge_walk;

static tokenizer_file *read_file(const vocab_input *v)
{
    gufo_str text;

    return strcmp(gufo_vocab_describe(v->vocab).model, "huggingface") == 0 &&
                   source_text(v->in.model, "tokenizer.huggingface.json", &text, NULL) == GUFO_OK
               ? tokenizer_file_read(text, NULL, NULL)
               : NULL;
}

static merge_walk start_merges(const vocab_input *v, uint64_t *count)
{
    gufo_array none = {.type = GUFO_VALUE_STRING, .encoding = {3, GUFO_LITTLE_ENDIAN}},
               array = none;
    tokenizer_file *file = read_file(v);

    if (file == NULL && gufo_key_array(v->in.model, "tokenizer.ggml.merges", GUFO_VALUE_STRING,
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
    parts[1] = space == NULL ? (gufo_str){"", 0} : str_from(value.as.str, parts[0].len + 1);
    return true;
}

static void compare_merges(comparison *c)
{
    merge_walk walk[2] = {start_merges(&c->sides[0], &c->merges[0]),
                          start_merges(&c->sides[1], &c->merges[1])};
    gufo_str merges[2][2];
    uint64_t rank = 0;
    bool first, second;

    do {
        first = next_merge(&walk[0], merges[0]);
        second = next_merge(&walk[1], merges[1]);
        rank++;
    } while (first && second && gufo_str_equal(merges[0][0], merges[1][0]) &&
             gufo_str_equal(merges[0][1], merges[1][1]));
    c->first_merge = first || second ? rank - 1 : UINT64_MAX;
    tokenizer_file_free(walk[0].file);
    tokenizer_file_free(walk[1].file);
}

static void put_merges(const comparison *c)
{
    line l;

    if (c->first_merge == UINT64_MAX)
        return;
    if (c->settings + c->total > 0)
        putc('\n', stdout);
    line_begin(&l);
    fprintf(l.out, "Merges: %s and %s; they differ from rank %s on",
            human_grouped(c->merges[0]).text, human_grouped(c->merges[1]).text,
            human_grouped(c->first_merge).text);
    line_end(&l);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void write_json(comparison *c)
{
    c->json = json_writer_start(stdout);
    json_begin_object(&c->json, NULL);
    json_write_text(&c->json, "a", c->options->base.shared->args[1]);
    json_write_text(&c->json, "b", c->options->base.shared->args[2]);
    json_begin_array(&c->json, "settings");
    compare_settings(c);
    json_end_array(&c->json);
    json_begin_object(&c->json, "counts");
    for (int i = 0; i < TOKEN_CHANGES; i++)
        json_write_u64(&c->json, changes[i].name, c->counts[i]);
    json_end_object(&c->json);
    json_begin_array(&c->json, "tokens");
    census_compare(c->vocabs[0], c->vocabs[1], write_difference, c);
    json_end_array(&c->json);
    json_begin_object(&c->json, "merges");
    json_write_u64(&c->json, "a", c->merges[0]);
    json_write_u64(&c->json, "b", c->merges[1]);
    json_write_known(&c->json, "first_difference", c->first_merge != UINT64_MAX, c->first_merge);
    json_end_object(&c->json);
    json_write_bool(&c->json, "same", c->settings + c->total == 0 && c->first_merge == UINT64_MAX);
    json_end_document(&c->json);
}

static int compare(comparison *c)
{
    const shared_options *shared = c->options->base.shared;

    compare_merges(c);
    census_compare(c->vocabs[0], c->vocabs[1], count_difference, c);
    if (shared->json) {
        c->total = 0;
        write_json(c);
    } else {
        compare_settings(c);
        if (!shared->quiet) {
            put_tokens(c);
            put_merges(c);
        }
    }
    return c->settings + c->total == 0 && c->first_merge == UINT64_MAX ? CODE_OK : CODE_NO;
}

int vocab_diff(const vocab_options *options)
{
    comparison c = {.options = options};
    int code = CODE_OK;

    for (int i = 0; i < 2 && code == CODE_OK; i++) {
        code = vocab_input_open(&c.sides[i], options->base.shared->args[i + 1], options);
        c.vocabs[i] = c.sides[i].vocab;
    }
    if (code == CODE_OK)
        code = compare(&c);
    for (int i = 0; i < 2; i++)
        vocab_input_close(&c.sides[i]);
    return code;
}
