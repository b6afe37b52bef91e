/* What gufo vocab reports: facts, and with --list tokens, a line each.  docs/json.md describes the JSON; for
 * people:
 *
 *     model.gguf
 *
 *     Vocabulary
 *       model          llama (SPM)
 *       tokens         32,000: 31,741 normal, 1 unknown, 2 control, 256 byte
 *       lengths        half of the written tokens have at most 6 bytes, 90 % at most 11
 *       bos            1 "<s>"
 *       adds           BOS
 *       duplicates     none
 *       unreachable    3,417
 *
 *     Longest tokens (10 of 31,741)
 *       token                  id  bytes  type     score  use
 *       "               "   29871     48  normal  -29871 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "gufo/print.h"
#include "cli/core/records/record.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/terminal/text.h"
#include "cli/core/values/number.h"
#include "cli/text/vocab.h"

/* ---- words ---------------------------------------------------------------------------------- */

const char *const vocab_lists[] = {"tokens",     "special",     "longest",
                                   "duplicates", "unreachable", NULL};

gufo_str vocab_quoted(const gufo_vocab *vocab, uint32_t id, gufo_text *room)
{
    gufo_token token = {.text = {"", 0}};
    gufo_text piece = {0};
    text_stream s;
    char *text = NULL;

    (void)gufo_vocab_token(vocab, id, &token);
    if (gufo_token_piece(vocab, id, &piece, NULL) == GUFO_OK && piece.len > 0)
        token.text = (gufo_str){piece.data, piece.len};
    if (text_stream_open(&s)) {
        putc('"', s.out);
        text_put(s.out, token.text, TEXT_QUOTED);
        putc('"', s.out);
        text = text_stream_close(&s);
    }
    gufo_text_free(&piece);
    gufo_text_free(room);
    if (text == NULL)
        return gufo_str_of("?");
    *room = (gufo_text){.data = text, .len = strlen(text), .room = strlen(text) + 1};
    return (gufo_str){room->data, room->len};
}

/* ---- tokens --------------------------------------------------------------------------------- */

enum { USE_SIZE = 160 };

typedef struct token_row {
    gufo_token token;
    uint32_t id, same_as;   /* the token that is found instead of this one */
    gufo_str quoted, piece; /* for people; for JSON */
    uint64_t bytes;         /* that the token gives */
    const char *type;
    bool ends_generation, is_same; /* whether there is another one */
    char score[GUFO_NUMBER_SIZE], use[USE_SIZE];
} token_row;

enum { SCORES = 1 }; /* a part: the algorithm uses them */

static const record_field token_fields[] = {
    {NULL, "token", RECORD_STR, RECORD_AT(token_row, quoted), .width = -5},
    {"id", "id", RECORD_PLAIN, RECORD_AT(token_row, id), .width = 2},
    {NULL, "bytes", RECORD_PLAIN, RECORD_AT(token_row, bytes), .width = 5, .drop = 2},
    {"text", NULL, RECORD_STR, RECORD_AT(token_row, token.text)},
    {"piece", NULL, RECORD_STR, RECORD_AT(token_row, piece), .none = RECORD_OR_OUT},
    {"type", "type", RECORD_TEXT, RECORD_AT(token_row, type), .width = -4, .drop = 1},
    {"score", NULL, RECORD_SINGLE, RECORD_AT(token_row, token.score)},
    {NULL, "score", RECORD_CHARS, RECORD_AT(token_row, score), .part = SCORES, .width = 5,
     .drop = 4},
    {"ends_generation", NULL, RECORD_FLAG, RECORD_AT(token_row, ends_generation)},
    {"same_as", NULL, RECORD_PLAIN, RECORD_AT(token_row, same_as),
     RECORD_GIVEN(token_row, is_same)},
    {NULL, "use", RECORD_CHARS, RECORD_AT(token_row, use), .none = RECORD_OR_OUT, .width = -3,
     .drop = 3},
};
static const record_type token_type = RECORD_OF(token_row, token_fields, 0);

static void add_use(char out[USE_SIZE], const char *word)
{
    size_t len = strlen(out);

    snprintf(out + len, USE_SIZE - len, "%s%s", len > 0 ? ", " : "", word);
}

/* "bos, eos"; of a duplicate, the token that is found instead. */
static void describe_use(const vocab_report *r, token_row *row)
{
    char same[32];

    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++)
        if (r->facts.special[i] == row->id)
            add_use(row->use, gufo_special_name((gufo_special)i));
    if (row->ends_generation)
        add_use(row->use, "ends generation");
    snprintf(same, sizeof same, "the same as %" PRIu32, row->same_as);
    if (row->is_same)
        add_use(row->use, same);
}

typedef struct listing {
    const vocab_report *report;
    const gufo_ids *ids;       /* NULL: all tokens */
    gufo_text *quoted, *piece; /* room for a token */
} listing;

static bool make_token(const void *context, uint64_t index, void *record)
{
    const listing *l = context;
    const vocab_report *r = l->report;
    token_row *row = record;

    if (index >= (l->ids != NULL ? l->ids->count : r->facts.size) || stdout_broken())
        return false;
    row->id = l->ids != NULL ? l->ids->ids[index] : (uint32_t)index;
    (void)gufo_vocab_token(r->vocab, row->id, &row->token);
    row->type = gufo_token_type_name(row->token.type);
    row->ends_generation = (row->token.attributes & GUFO_TOKEN_END) != 0;
    row->same_as = gufo_vocab_find(r->vocab, row->token.text);
    row->is_same = row->same_as != row->id && row->same_as != GUFO_NO_TOKEN;
    l->piece->len = 0;
    if (gufo_token_piece(r->vocab, row->id, l->piece, NULL) == GUFO_OK)
        row->piece = (gufo_str){l->piece->len > 0 ? l->piece->data : "", l->piece->len};
    row->bytes = row->piece.len;
    if (r->options->base.shared->json)
        return true;
    row->quoted = vocab_quoted(r->vocab, row->id, l->quoted);
    row->score[gufo_number_f32(row->score, row->token.score)] = '\0';
    describe_use(r, row);
    return true;
}

static void print_tokens(const vocab_report *r, const record_list *list)
{
    record_type type = token_type;
    table t;

    if (strcmp(r->facts.algorithm, "SPM") == 0 || strcmp(r->facts.algorithm, "UGM") == 0)
        type.parts = SCORES;
    t = record_table(&type, 2);
    record_print(&t, &type, list);
}

static void write_tokens(const vocab_report *r, const record_list *list)
{
    json_writer j = json_begin_document(r->path);

    record_write_list(&j, vocab_lists[r->options->listed - LISTED_TOKENS], &token_type, list);
    json_end_document(&j);
}

void vocab_list(const vocab_report *r)
{
    vocab_listed listed = r->options->listed;
    gufo_text quoted = {0}, piece = {0};
    const gufo_ids *ids = listed == LISTED_SPECIAL       ? &r->special
                          : listed == LISTED_LONGEST     ? &r->longest
                          : listed == LISTED_DUPLICATES  ? &r->duplicates
                          : listed == LISTED_UNREACHABLE ? &r->unreachable
                                                         : NULL;
    const listing l = {r, ids, &quoted, &piece};
    const record_list list = {.make = make_token, .context = &l};

    if (r->options->base.shared->json)
        write_tokens(r, &list);
    else if (ids == NULL || ids->count > 0)
        print_tokens(r, &list);
    gufo_text_free(&quoted);
    gufo_text_free(&piece);
}

/* ---- facts, as JSON ------------------------------------------------------------------------- */

typedef struct special_row {
    const char *name;
    uint32_t id;
    gufo_str text;
} special_row;

static const record_field special_fields[] = {
    {NULL, NULL, RECORD_TEXT, RECORD_AT(special_row, name)},
    {"id", NULL, RECORD_PLAIN, RECORD_AT(special_row, id)},
    {"text", NULL, RECORD_STR, RECORD_AT(special_row, text)},
};
static const record_type special_type = RECORD_OF(special_row, special_fields, 0);

/* Of --text. */
typedef struct text_row {
    uint64_t bytes, tokens;
    double bytes_per_token; /* NaN: no tokens */
} text_row;

static const record_field text_fields[] = {
    {"bytes", NULL, RECORD_COUNT, RECORD_AT(text_row, bytes)},
    {"tokens", NULL, RECORD_COUNT, RECORD_AT(text_row, tokens)},
    {"bytes_per_token", NULL, RECORD_REAL, RECORD_AT(text_row, bytes_per_token),
     .none = RECORD_OR_NULL},
};
static const record_type text_type = RECORD_OF(text_row, text_fields, 0);

static const record_field length_fields[] = {{NULL, NULL, RECORD_COUNT, .bytes = sizeof(uint64_t)}};
static const record_type length_type = RECORD_BARE(uint64_t, length_fields);

typedef struct result {
    gufo_vocab_facts facts;
    uint64_t types[GUFO_TOKEN_TYPE_COUNT];
    record_list lengths, special, longest, duplicates, unreachable, warnings;
    bool has_text;
    text_row text;
} result;

static const record_field count_fields[] = {
    {"other", NULL, RECORD_COUNT, RECORD_AT(result, types[0]), .none = RECORD_OR_OUT},
    {"normal", NULL, RECORD_COUNT, RECORD_AT(result, types[1]), .none = RECORD_OR_OUT},
    {"unknown", NULL, RECORD_COUNT, RECORD_AT(result, types[2]), .none = RECORD_OR_OUT},
    {"control", NULL, RECORD_COUNT, RECORD_AT(result, types[3]), .none = RECORD_OR_OUT},
    {"user_defined", NULL, RECORD_COUNT, RECORD_AT(result, types[4]), .none = RECORD_OR_OUT},
    {"unused", NULL, RECORD_COUNT, RECORD_AT(result, types[5]), .none = RECORD_OR_OUT},
    {"byte", NULL, RECORD_COUNT, RECORD_AT(result, types[6]), .none = RECORD_OR_OUT},
};
static const record_type count_type = RECORD_OF(result, count_fields, 0);

static const record_field result_fields[] = {
    {"model", NULL, RECORD_TEXT, RECORD_AT(result, facts.model)},
    {"algorithm", NULL, RECORD_TEXT, RECORD_AT(result, facts.algorithm)},
    {"pre", NULL, RECORD_TEXT, RECORD_AT(result, facts.pre)},
    {"size", NULL, RECORD_COUNT, RECORD_AT(result, facts.size)},
    {"types", NULL, RECORD_RECORD, .at = 0, .of = &count_type},
    {"lengths", NULL, RECORD_LIST, RECORD_AT(result, lengths), .of = &length_type},
    {"special", NULL, RECORD_MAP, RECORD_AT(result, special), .of = &special_type},
    {"add_bos", NULL, RECORD_FLAG, RECORD_AT(result, facts.add_bos)},
    {"add_eos", NULL, RECORD_FLAG, RECORD_AT(result, facts.add_eos)},
    {"space_prefix", NULL, RECORD_FLAG, RECORD_AT(result, facts.space_prefix)},
    {"clean_spaces", NULL, RECORD_FLAG, RECORD_AT(result, facts.clean_spaces)},
    {"ignore_merges", NULL, RECORD_FLAG, RECORD_AT(result, facts.ignore_merges)},
    {"original", NULL, RECORD_TEXT, RECORD_AT(result, facts.original)},
    {"longest", NULL, RECORD_LIST, RECORD_AT(result, longest), .of = &token_type},
    {"duplicates", NULL, RECORD_LIST, RECORD_AT(result, duplicates), .of = &record_ids},
    {"unreachable", NULL, RECORD_LIST, RECORD_AT(result, unreachable), .of = &record_ids},
    {"text", NULL, RECORD_RECORD, RECORD_AT(result, text), RECORD_GIVEN(result, has_text),
     .of = &text_type},
    {"warnings", NULL, RECORD_LIST, RECORD_AT(result, warnings), .of = &record_texts},
};
static const record_type result_type = RECORD_OF(result, result_fields, 0);

static bool make_warning(const void *context, uint64_t index, void *record)
{
    const char **warning = record;

    *warning = gufo_vocab_warning_at(context, index);
    return *warning != NULL;
}

static void write_facts(const vocab_report *r, const record_list *longest)
{
    special_row special[GUFO_SPECIAL_COUNT];
    uint64_t count = 0;
    result all = {
        .facts = r->facts,
        .lengths = {.items = r->lengths, .count = GUFO_TOKEN_LENGTHS},
        .longest = *longest,
        .duplicates = {.items = r->duplicates.ids, .count = r->duplicates.count},
        .unreachable = {.items = r->unreachable.ids, .count = r->unreachable.count},
        .warnings = {.make = make_warning, .context = r->vocab},
        .has_text = r->options->text != NULL,
        .text = {r->text_bytes, r->text_tokens,
                 r->text_tokens > 0 ? (double)r->text_bytes / (double)r->text_tokens : NAN}};
    gufo_token token;

    memcpy(all.types, r->types, sizeof all.types);
    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++)
        if (gufo_vocab_token(r->vocab, r->facts.special[i], &token))
            special[count++] =
                (special_row){gufo_special_name((gufo_special)i), r->facts.special[i], token.text};
    all.special = (record_list){.items = special, .count = count};
    record_write_document(r->path, &result_type, &all);
}

/* ---- facts, for people ---------------------------------------------------------------------- */

enum { BEFORE_VALUE = 17, LEAST_VALUE = 20 };

/* A label, and a value that goes on below it where a terminal ends. */
static void put_value(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_value(const char *label, const char *format, ...)
{
    const size_t columns = stdout_columns(), least = BEFORE_VALUE + LEAST_VALUE;
    char text[TEXT_LINE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("  %-13s  ", label);
    text_put_wrapped(stdout, gufo_str_of(text), BEFORE_VALUE, BEFORE_VALUE,
                     columns == 0 || columns > least ? columns : least);
    putc('\n', stdout);
}

static void put_types(const vocab_report *r)
{
    char text[512] = "";
    size_t len = 0;

    for (int type = 0; type < GUFO_TOKEN_TYPE_COUNT; type++)
        if (r->types[type] > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s %s %s", len > 0 ? "," : ":",
                                    human_grouped(r->types[type]).text, gufo_token_type_name(type));
    put_value("tokens", "%s%s", human_grouped(r->facts.size).text, text);
}

/* The bytes that `percent` of `all` written tokens do not exceed. */
static size_t most_bytes_of(const vocab_report *r, uint64_t all, unsigned percent)
{
    uint64_t sum = r->lengths[0];
    size_t bytes = 0;

    while (bytes < GUFO_TOKEN_LENGTHS - 1 && sum * 100 < all * percent)
        sum += r->lengths[++bytes];
    return bytes;
}

static void put_lengths(const vocab_report *r)
{
    uint64_t all = 0;

    for (size_t i = 0; i < GUFO_TOKEN_LENGTHS; i++)
        all += r->lengths[i];
    if (all > 0)
        put_value("lengths", "half of the written tokens have at most %s, 90 %% at most %zu",
                  human_counted(most_bytes_of(r, all, 50), "byte", "bytes").text,
                  most_bytes_of(r, all, 90));
}

static void put_special(const vocab_report *r)
{
    gufo_text room = {0};

    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++) {
        uint32_t id = r->facts.special[i];

        if (id != GUFO_NO_TOKEN)
            put_value(gufo_special_name((gufo_special)i), "%" PRIu32 " %s", id,
                      vocab_quoted(r->vocab, id, &room).data);
    }
    gufo_text_free(&room);
}

static const char *describe_added(const gufo_vocab_facts *facts)
{
    if (facts->adds_bos)
        return facts->adds_sep ? "BOS and SEP" : facts->adds_eos ? "BOS and EOS" : "BOS";
    return facts->adds_eos ? "EOS" : "nothing";
}

static void put_flags(const vocab_report *r)
{
    const struct {
        bool set;
        const char *label, *words;
    } flags[] = {
        {r->facts.space_prefix, "spaces", "one is put before a text"},
        {r->facts.clean_spaces, "decoding", "removes spaces before punctuation"},
        {r->facts.ignore_merges, "merging", "not of pieces that are tokens"},
    };

    put_value("adds", "%s", describe_added(&r->facts));
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].set)
            put_value(flags[i].label, "%s", flags[i].words);
}

static void put_counts(const vocab_report *r)
{
    if (r->duplicates.count > 0)
        put_value("duplicates", "%s (--list=duplicates)", human_grouped(r->duplicates.count).text);
    else
        put_value("duplicates", "none");
    if (r->unreachable.count > 0)
        put_value("unreachable", "%s of %s (--list=unreachable)",
                  human_grouped(r->unreachable.count).text, human_grouped(r->tested).text);
    else
        put_value("unreachable", "none");
    if (r->options->text != NULL && r->text_tokens > 0)
        put_value("text", "%s, %s: %.2f bytes per token",
                  human_counted(r->text_bytes, "byte", "bytes").text,
                  human_counted(r->text_tokens, "token", "tokens").text,
                  (double)r->text_bytes / (double)r->text_tokens);
    else if (r->options->text != NULL)
        put_value("text", "%s, no tokens", human_counted(r->text_bytes, "byte", "bytes").text);
    if (r->facts.original != NULL)
        put_value("original", "%s", r->facts.original);
}

static void print_facts(const vocab_report *r, const record_list *longest)
{
    bool color = options_color(r->options->base.shared);

    table_name(color, r->path);
    fputs("\n\n", stdout);
    table_name(color, "Vocabulary");
    putc('\n', stdout);
    put_value("model", "%s (%s)", r->facts.model, r->facts.algorithm);
    if (r->facts.pre != NULL)
        put_value("pre-tokenizer", "%s", r->facts.pre);
    put_types(r);
    put_lengths(r);
    put_special(r);
    put_flags(r);
    put_counts(r);
    if (r->longest.count == 0)
        return;
    putc('\n', stdout);
    table_title(color, "Longest tokens", r->longest.count, r->facts.size);
    print_tokens(r, longest);
}

void vocab_facts(const vocab_report *r)
{
    gufo_text quoted = {0}, piece = {0};
    const listing l = {r, &r->longest, &quoted, &piece};
    const record_list longest = {.make = make_token, .context = &l};

    (r->options->base.shared->json ? write_facts : print_facts)(r, &longest);
    gufo_text_free(&quoted);
    gufo_text_free(&piece);
}
