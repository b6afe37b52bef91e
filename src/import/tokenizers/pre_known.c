/* The known pre-tokenizers, how their cuts of some texts differ from those of a tokenizer.json, and which of these
 * differences count. */
#include "base/error.h"
#include "base/memory.h"
#include "import/tokenizers/pre.h"
#include "text/pipeline/steps/pre_tokenizer.h"
#include "text/pretokenizers/pretokenizer.h"
#include "text/characters/unicode.h"
#include "text/characters/byte_alphabet.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"

#include <string.h>

/* ==== which cuts count ========================================================================= */

/* Which cuts of a text can make a difference for a vocabulary: those between bytes that a token has
 * side by side.  Programs moreover disagree at white space beyond ASCII, and at punctuation that Unicode got after
 * 8.0, which never count. */

enum { LAST_CHARACTER = 0x200, NO_BYTE = 256 };

static void learn_token(byte_pairs *pairs, const uint16_t *bytes, gufo_str text)
{
    unsigned before = NO_BYTE;

    for (size_t at = 0, size; at < text.len; at += size) {
        uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);
        unsigned byte = code_point < LAST_CHARACTER ? bytes[code_point] : NO_BYTE;

        if (before != NO_BYTE && byte != NO_BYTE)
            pairs->bits[before][byte / 8] |= (uint8_t)(1U << byte % 8);
        before = byte;
    }
}

gufo_status byte_pairs_learn(byte_pairs *pairs, const token_list *tokens,
                             const gufo_allocator *allocator, gufo_error *error)
{
    static const char *const properties[] = {"step_punctuation"};
    uint16_t bytes[LAST_CHARACTER];
    byte_texts alphabet;

    memset(pairs, 0, sizeof *pairs);
    for (unsigned i = 0; i < LAST_CHARACTER; i++)
        bytes[i] = NO_BYTE;
    byte_alphabet_fill(&alphabet);
    for (unsigned byte = 0; byte < 256; byte++) {
        size_t size;

        bytes[lenient_decode(alphabet.text[byte], alphabet.len[byte], &size)] = (uint16_t)byte;
    }
    for (uint32_t id = 0; id < tokens->count; id++)
        if (tokens->tokens[id].type == TOKEN_NORMAL)
            learn_token(pairs, bytes, tokens->tokens[id].text);
    pairs->punctuation = code_map_of_properties(properties, 1, allocator);
    return pairs->punctuation != NULL ? GUFO_OK : fail_memory(error);
}

void byte_pairs_free(byte_pairs *pairs, const gufo_allocator *allocator)
{
    if (pairs->punctuation != NULL)
        code_map_free(pairs->punctuation, allocator);
    mem_free(allocator, pairs->punctuation);
}

/* Which class programs see depends on which one, and on its version. */
static bool is_disputed(const byte_pairs *pairs, gufo_str text, size_t at)
{
    size_t size;
    uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);

    return code_point >= 0x80 &&
           (class_of(code_point) == CLASS_W ||
            (class_of(code_point) == CLASS_P && code_point <= LAST_CODE_POINT &&
             code_map_get(pairs->punctuation, code_point) == 0));
}

bool cut_is_material(const byte_pairs *pairs, gufo_str text, size_t at)
{
    uint8_t before = (uint8_t)text.data[at - 1], behind = (uint8_t)text.data[at];
    size_t start = at;

    if ((pairs->bits[before][behind / 8] >> behind % 8 & 1) == 0)
        return false;
    /* A cut may be inside a character. */
    while (start > 0 && ((uint8_t)text.data[start] & 0xC0) == 0x80)
        start--;
    return !is_disputed(pairs, text, start) &&
           !is_disputed(pairs, text, character_before(text, at));
}

/* ==== the cuts of a tokenizer.json ============================================================= */

/* The pre-tokenizer of a tokenizer.json, run on a text: where the pieces that it leaves begin and end.
 *
 * ByteLevel writes each byte as a character of an alphabet, and later steps may cut between the bytes of one
 * character of the text.  The origin of each is that whole character: which byte it is follows from how many before it
 * have the same origin. */

#define ALL_STEPS UINT64_C(1000000000) /* of expressions, for all texts: half a second */

struct pre_cutter {
    gufo_allocator allocator;
    pre_tokenizer *steps;
    expression_scratch *scratch;
    text_pieces pieces, spare;
};

/* ---- making --------------------------------------------------------------------------------- */

/* Readers put no space before texts, whatever they cut; the step is of a copy. */
static gufo_status drop_prefix(step_reading *r, void *context)
{
    (void)context;
    return !step_is(r, "ByteLevel") ||
                   json_object_set_new((json_t *)r->step, "add_prefix_space", json_false()) == 0
               ? GUFO_OK
               : step_no_memory(r);
}

static pre_tokenizer *make_steps(tokenizer_reading *r, gufo_error *error)
{
    json_t *copy = reading_copy_steps(r, PRE_TOKENIZER, drop_prefix, NULL);
    pre_tokenizer *steps = NULL;

    if (copy == NULL && tokenizer_file_part(r->json, "pre_tokenizer") != NULL)
        (void)fail_memory(error);
    else
        steps = pre_tokenizer_new(copy, NULL, r->allocator, error);
    json_decref(copy);
    return steps;
}

pre_cutter *pre_cutter_new(tokenizer_reading *r)
{
    pre_cutter *c = mem_object(r->allocator, sizeof *c, r->error);
    gufo_error reason = {.code = GUFO_E_MEMORY};

    if (c == NULL)
        return NULL;
    c->pieces.text = c->spare.text = (work_text){.allocator = &c->allocator, .keeps_origins = true};
    c->steps = make_steps(r, &reason);
    if (c->steps != NULL)
        c->scratch = expression_scratch_new(&c->allocator, &reason);
    if (c->scratch != NULL) {
        expression_allow(c->scratch, ALL_STEPS);
        return c;
    }
    (void)fail_as(r->error, &reason);
    pre_cutter_free(c);
    return NULL;
}

void pre_cutter_free(pre_cutter *c)
{
    gufo_allocator allocator;

    if (c == NULL)
        return;
    allocator = c->allocator;
    pre_tokenizer_free(c->steps);
    expression_scratch_free(c->scratch);
    text_pieces_free(&c->pieces);
    text_pieces_free(&c->spare);
    mem_free(&allocator, c);
}

/* ---- running -------------------------------------------------------------------------------- */

static bool is_same(const work_text *t, size_t a, size_t b)
{
    return t->origins[a].begin == t->origins[b].begin && t->origins[a].end == t->origins[b].end;
}

/* The places in the original text where pieces that begin at, or end before, a byte do so. */
static size_t begin_of(const work_text *t, size_t at)
{
    size_t place = t->origins[at].begin;

    for (size_t i = at; i-- > 0 && is_same(t, i, at);)
        place += ((uint8_t)t->data[i] & 0xC0) != 0x80;
    return place < t->origins[at].end ? place : t->origins[at].end;
}

static size_t end_of(const work_text *t, size_t at)
{
    return at == t->len || !is_same(t, at - 1, at) ? t->origins[at - 1].end : begin_of(t, at);
}

/* Cuts a text of at most LONGEST_PROBE bytes.  GUFO_E_LIMIT: expressions took too long, for
 * this text and those before it together. */
static gufo_status pre_cutter_run(pre_cutter *c, gufo_str text, cut_set *cuts, gufo_error *error)
{
    text_pieces *pieces = &c->pieces;
    gufo_status status;

    memset(cuts, 0, sizeof *cuts);
    pieces->count = pieces->text.len = 0;
    if (text.len == 0 || text.len > LONGEST_PROBE)
        return refuse(error, GUFO_E_ARGUMENT, "the text is empty or too long");
    if (!work_text_take(&pieces->text, text) || !text_pieces_add(pieces, 0, pieces->text.len))
        return fail_memory(error);
    status = pre_tokenizer_run(c->steps, c->scratch, pieces, &c->spare, error);
    for (uint64_t i = 0; status == GUFO_OK && i < pieces->count; i++) {
        cuts->at[begin_of(&pieces->text, pieces->list[i].begin)] = true;
        cuts->at[end_of(&pieces->text, pieces->list[i].end)] = true;
    }
    cuts->at[0] = cuts->at[text.len] = false;
    return status;
}

static const struct {
    const char *kind, *text; /* with escapes */
} table[] = {
#define ROW(kind, text) {kind, text},
#include "registry/pretokenizer_probes.inc"
#undef ROW
};

enum { PROBES = sizeof table / sizeof *table };

/* ==== the cuts of known ones =================================================================== */

/* ---- texts ---------------------------------------------------------------------------------- */

static bool unescape(probe_list *probes)
{
    size_t begins[PROBES + 1];

    probes->bytes.allocator = probes->allocator;
    for (size_t i = 0; i < PROBES; i++) {
        begins[i] = probes->bytes.len;
        if (!add_unescaped(gufo_str_of(table[i].text), &probes->bytes))
            return false;
    }
    begins[PROBES] = probes->bytes.len;
    for (size_t i = 0; i < PROBES; i++)
        probes->texts[i] = (gufo_str){probes->bytes.data + begins[i], begins[i + 1] - begins[i]};
    return true;
}

gufo_status probe_list_make(probe_list *probes, pre_cutter *cutter, const gufo_allocator *allocator,
                            gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *probes = (probe_list){.allocator = allocator, .count = PROBES};
    probes->texts = mem_array(allocator, PROBES, sizeof *probes->texts);
    probes->cuts = mem_array(allocator, PROBES, sizeof *probes->cuts);
    if (probes->texts == NULL || probes->cuts == NULL || !unescape(probes))
        return fail_memory(error);
    for (size_t i = 0; status == GUFO_OK && i < PROBES; i++)
        status = pre_cutter_run(cutter, probes->texts[i], &probes->cuts[i], error);
    return status;
}

void probe_list_free(probe_list *probes)
{
    gufo_text_free(&probes->bytes);
    if (probes->allocator == NULL)
        return;
    mem_free(probes->allocator, probes->texts);
    mem_free(probes->allocator, probes->cuts);
}

/* ---- known cuts ----------------------------------------------------------------------------- */

typedef struct cutting {
    cut_set *cuts;
    size_t at;
} cutting;

static gufo_status take_piece(void *context, gufo_str text, gufo_error *error)
{
    cutting *c = context;

    (void)error;
    c->at += text.len;
    c->cuts->at[c->at] = true;
    return GUFO_OK;
}

static gufo_status cut_text(pre_scratch *scratch, gufo_str text, cut_set *cuts, gufo_error *error)
{
    cutting c = {cuts, 0};
    gufo_status status;

    memset(cuts, 0, sizeof *cuts);
    status = pretokenizer_run(scratch, text, take_piece, &c, error);
    cuts->at[text.len] = false;
    return status;
}

static bool differ(const byte_pairs *pairs, gufo_str text, const cut_set *a, const cut_set *b)
{
    for (size_t at = 1; at < text.len; at++)
        if (a->at[at] != b->at[at] && cut_is_material(pairs, text, at))
            return true;
    return false;
}

static gufo_status compare(const probe_list *probes, const byte_pairs *pairs, pre_scratch *scratch,
                           size_t most, bool *differs, size_t *count, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    *count = 0;
    for (size_t i = 0; status == GUFO_OK && i < probes->count && *count < most; i++) {
        cut_set cuts;
        bool differing;

        status = cut_text(scratch, probes->texts[i], &cuts, error);
        differing = status == GUFO_OK && differ(pairs, probes->texts[i], &probes->cuts[i], &cuts);
        *count += differing;
        if (differs != NULL)
            differs[i] = differing;
    }
    return status;
}

gufo_status known_compare(const probe_list *probes, const byte_pairs *pairs, const char *shape,
                          size_t most, bool *differs, size_t *count, gufo_error *error)
{
    pretokenizer *known = pretokenizer_new(shape, probes->allocator, error);
    pre_scratch *scratch = known != NULL ? pre_scratch_new(known, probes->allocator, error) : NULL;
    gufo_status status = scratch != NULL
                             ? compare(probes, pairs, scratch, most, differs, count, error)
                             : GUFO_E_MEMORY;

    pre_scratch_free(scratch);
    pretokenizer_free(known);
    return status;
}

gufo_status known_cut(const probe_list *probes, const char *shape, gufo_str text, cut_set *cuts,
                      gufo_error *error)
{
    pretokenizer *known = pretokenizer_new(shape, probes->allocator, error);
    pre_scratch *scratch = known != NULL ? pre_scratch_new(known, probes->allocator, error) : NULL;
    gufo_status status = scratch != NULL ? cut_text(scratch, text, cuts, error) : GUFO_E_MEMORY;

    pre_scratch_free(scratch);
    pretokenizer_free(known);
    return status;
}
