/* gufo vocab --list: tokens, a line each.
 *
 *     token          id  bytes  type     score  use
 *     "<s>"           1      3  control      0  bos
 *     " the"        278      6  normal     -19 */
#include <inttypes.h>
#include <string.h>

#include "cli/core/values/json.h"
#include "cli/core/terminal/stdout.h"
#include "cli/core/records/table.h"
#include "base/number.h"
#include "cli/text/vocab.h"
#include "text/vocabulary/ids.h"

enum { USE_SIZE = 160 };

/* ---- what a token is used for ---------------------------------------------------------------- */

static void add_use(char out[USE_SIZE], const char *word)
{
    size_t len = strlen(out);

    snprintf(out + len, USE_SIZE - len, "%s%s", len > 0 ? ", " : "", word);
}

/* "bos, eos"; of a duplicate, the token that is found instead. */
static void describe_use(const vocab_report *r, uint32_t id, char out[USE_SIZE])
{
    gufo_token token;
    uint32_t found;

    out[0] = '\0';
    (void)gufo_vocab_token(r->vocab, id, &token);
    for (unsigned i = 0; i < GUFO_SPECIAL_COUNT; i++)
        if (r->facts.special[i] == id)
            add_use(out, gufo_special_name((gufo_special)i));
    if ((token.attributes & GUFO_TOKEN_END) != 0)
        add_use(out, "ends generation");
    found = gufo_vocab_find(r->vocab, token.text);
    if (found != id && found != GUFO_NO_TOKEN)
        snprintf(out + strlen(out), USE_SIZE - strlen(out), "%sthe same as %" PRIu32,
                 out[0] != '\0' ? ", " : "", found);
}

/* ---- for people ----------------------------------------------------------------------------- */

typedef struct listing {
    const vocab_report *report;
    const gufo_ids *ids; /* NULL: all tokens */
    gufo_text *room;
    bool scores;
} listing;

static size_t piece_size(const gufo_vocab *vocab, uint32_t id)
{
    gufo_text piece = {0};
    size_t size;

    (void)!gufo_token_piece(vocab, id, &piece, NULL);
    size = piece.len;
    gufo_text_free(&piece);
    return size;
}

static bool make_row(const void *context, uint64_t index, table_row *row)
{
    const listing *l = context;
    uint64_t count = l->ids != NULL ? l->ids->count : l->report->facts.size;
    uint32_t id = (uint32_t)index;
    char use[USE_SIZE], score[NUMBER_SIZE];
    gufo_token token;

    if (index >= count || stdout_broken())
        return false;
    if (l->ids != NULL)
        id = l->ids->ids[index];
    (void)gufo_vocab_token(l->report->vocab, id, &token);
    describe_use(l->report, id, use);
    score[number_f32(score, token.score)] = '\0';
    row_str(row, vocab_quoted(l->report->vocab, id, l->room));
    row_text(row, "%" PRIu32, id);
    row_text(row, "%zu", piece_size(l->report->vocab, id));
    row_text(row, "%s", vocab_type_name(token.type));
    if (l->scores)
        row_text(row, "%s", score);
    if (use[0] != '\0')
        row_text(row, "%s", use);
    return true;
}

void vocab_list_table(const vocab_report *r, const gufo_ids *ids)
{
    static const table_column columns[] = {{"token", -5, 0},
                                           {"id", 2, 0},
                                           {"bytes", 5, 2},
                                           {"type", -4, 1},
                                           {"use", -3, 3}},
                              scored[] = {{"token", -5, 0}, {"id", 2, 0},    {"bytes", 5, 2},
                                          {"type", -4, 1},  {"score", 5, 4}, {"use", -3, 3}};
    gufo_text room = {0};
    listing l = {r, ids, &room,
                 strcmp(r->facts.algorithm, "SPM") == 0 || strcmp(r->facts.algorithm, "UGM") == 0};
    table t = l.scores ? table_of(scored, sizeof scored / sizeof *scored)
                       : table_of(columns, sizeof columns / sizeof *columns);

    table_print(&t, make_row, &l);
    gufo_text_free(&room);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void vocab_list_token(struct json_writer *j, const vocab_report *r, uint32_t id)
{
    gufo_text piece = {0};
    gufo_token token;
    uint32_t found;

    (void)gufo_vocab_token(r->vocab, id, &token);
    json_begin_object(j, NULL);
    json_write_u64(j, "id", id);
    json_write_str(j, "text", token.text);
    if (gufo_token_piece(r->vocab, id, &piece, NULL) == GUFO_OK)
        json_write_str(j, "piece", (gufo_str){piece.len > 0 ? piece.data : "", piece.len});
    json_write_text(j, "type", vocab_type_name(token.type));
    json_write_f32(j, "score", token.score);
    json_write_bool(j, "ends_generation", (token.attributes & GUFO_TOKEN_END) != 0);
    found = gufo_vocab_find(r->vocab, token.text);
    if (found != id && found != GUFO_NO_TOKEN)
        json_write_u64(j, "same_as", found);
    json_end_object(j);
    gufo_text_free(&piece);
}

static void write_json(const vocab_report *r, const gufo_ids *ids)
{
    uint64_t count = ids != NULL ? ids->count : r->facts.size;
    json_writer j = json_begin_document(r->path);

    json_begin_array(&j, vocab_lists[r->options->listed - LISTED_TOKENS]);
    for (uint64_t i = 0; i < count && !stdout_broken(); i++)
        vocab_list_token(&j, r, ids != NULL ? ids->ids[i] : (uint32_t)i);
    json_end_array(&j);
    json_end_document(&j);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int find_special(const vocab_report *r, gufo_ids *ids)
{
    const uint32_t bits = GUFO_TOKEN_CONTROL | GUFO_TOKEN_UNKNOWN | GUFO_TOKEN_USER_DEFINED;
    gufo_token token;

    for (uint32_t id = 0; gufo_vocab_token(r->vocab, id, &token); id++)
        if ((token.attributes & bits) != 0 && !ids_add(ids, id))
            return report_memory(r->path);
    return CODE_OK;
}

int vocab_list(vocab_report *r)
{
    vocab_listed listed = r->options->listed;
    gufo_ids special = {0}, *ids = listed == LISTED_SPECIAL       ? &special
                                   : listed == LISTED_LONGEST     ? &r->longest
                                   : listed == LISTED_DUPLICATES  ? &r->duplicates
                                   : listed == LISTED_UNREACHABLE ? &r->unreachable
                                                                  : NULL;
    int code = listed == LISTED_SPECIAL ? find_special(r, &special) : CODE_OK;

    if (code == CODE_OK && r->options->base.shared->json)
        write_json(r, ids);
    else if (code == CODE_OK && (ids == NULL || ids->count > 0))
        vocab_list_table(r, ids);
    gufo_ids_free(&special);
    return code;
}
