/* The ids of the original, beside those of engines.
 *
 * A GGUF file names a recipe that is nearest to a tokenizer.json; what it drops (a normalizer, white space
 * that a token takes, an expression) shows in few texts, and nobody would notice. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/vocab.h"
#include "import/tokenizers/reading.h"
#include "text/formats/source.h"
#include "text/formats/tokenizer_file.h"
#include "text/pipeline/pipeline_parts.h"
#include "text/characters/escapes.h"
#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

enum { CHANGE_NAME = 64 };

typedef struct step_change {
    char name[CHANGE_NAME]; /* of the thing: "NFC", "clean_text of BertNormalizer" */
    const pipeline *changed;
} step_change;

/* Calls `take` for each thing that can be left out, with the pipeline that is left; those that cannot be
 * made are skipped.  `p` is the file's own, whose added tokens are changed meanwhile. */
typedef gufo_status take_change(void *context, const step_change *change);

/* ==== changes of a pipeline, one after the other =============================================== */

/* A change removes a step, or gives another value to one of its members, in a copy of the JSON; the normalizer or the
 * pre-tokenizer is made again from that.  The model, which takes longest to make, stays that of the file. */

/* Members of steps with values that readers of GGUF files may not follow, and the value that they get; a step of a type
 * without a row is left out. */
static const struct {
    reading_part part;
    const char *type, *member, *value; /* value: JSON; NULL: without \p{M} in the expression */
    const char *name;
} member_changes[] = {
    {NORMALIZER, "BertNormalizer", "clean_text", "false", "clean_text of BertNormalizer"},
    {NORMALIZER, "BertNormalizer", "handle_chinese_chars", "false",
     "handle_chinese_chars of BertNormalizer"},
    {NORMALIZER, "BertNormalizer", "strip_accents", "false", "strip_accents of BertNormalizer"},
    {NORMALIZER, "BertNormalizer", "lowercase", "false", "lowercase of BertNormalizer"},
    {PRE_TOKENIZER, "ByteLevel", "add_prefix_space", "false", "add_prefix_space of ByteLevel"},
    {PRE_TOKENIZER, "Metaspace", "split", "false", "split of Metaspace"},
    {PRE_TOKENIZER, "Metaspace", "prepend_scheme", "\"always\"", "prepend_scheme of Metaspace"},
    {PRE_TOKENIZER, "Metaspace", "prepend_scheme", "\"never\"", "prepend_scheme of Metaspace"},
    {PRE_TOKENIZER, "Split", "pattern", NULL, "\\p{M} in an expression"},
};

enum {
    ROWS = sizeof member_changes / sizeof *member_changes,
    MOST_STEPS = 32 /* real files have 6 */
};

/* ---- steps ---------------------------------------------------------------------------------- */

/* The change of a step: by a row, or, with ROWS, that it is left out. */
typedef struct changing {
    reading_part part;
    size_t step, row;
    size_t at;         /* the step that comes */
    bool met, changed; /* the step exists, and has what is to change */
    char name[CHANGE_NAME];
} changing;

/* The pattern without \p{M}; NULL: it has none. */
static json_t *without_marks(const json_t *pattern)
{
    const gufo_str marks = gufo_str_of("\\p{M}");
    gufo_str regex = json_str(json_member(pattern, "Regex"));
    char *text = mem_array(mem_allocator(NULL), regex.len + 1, 1), *end = text;
    json_t *pattern_left = NULL;

    for (size_t i = 0; text != NULL && i < regex.len;) {
        bool is_marks = str_begins(str_from(regex, i), marks.data);

        if (!is_marks)
            *end++ = regex.data[i];
        i += is_marks ? marks.len : 1;
    }
    if (text != NULL && (size_t)(end - text) < regex.len)
        pattern_left = json_pack("{s:s%}", "Regex", text, (size_t)(end - text));
    mem_free(mem_allocator(NULL), text);
    return pattern_left;
}

/* Changes a member.  False if it has that value already, or memory ran out. */
static bool change_member(json_t *step, size_t row)
{
    json_t *value = member_changes[row].value != NULL
                        ? json_loads(member_changes[row].value, JSON_DECODE_ANY, NULL)
                        : without_marks(json_member(step, member_changes[row].member));
    bool differs = value != NULL &&
                   !json_equal(json_object_get(step, member_changes[row].member), value) &&
                   json_object_set(step, member_changes[row].member, value) == 0;

    json_decref(value);
    return differs;
}

/* A sequence of no steps. */
static bool leave_out(json_t *step, reading_part part)
{
    return json_object_clear(step) == 0 &&
           json_object_set_new(step, "type", json_string("Sequence")) == 0 &&
           json_object_set_new(step, reading_list_name(part), json_array()) == 0;
}

static bool has_rows(const step_reading *r, reading_part part)
{
    for (size_t i = 0; i < ROWS; i++)
        if (member_changes[i].part == part && step_is(r, member_changes[i].type))
            return true;
    return false;
}

/* The step is of a copy, and its type one that there is. */
static gufo_status change_step(step_reading *r, void *context)
{
    changing *c = context;
    json_t *step = (json_t *)r->step;

    if (c->at++ != c->step)
        return GUFO_OK;
    c->met = true;
    if (c->row < ROWS
            ? member_changes[c->row].part != c->part || !step_is(r, member_changes[c->row].type)
            : has_rows(r, c->part))
        return GUFO_OK;
    (void)snprintf(c->name, sizeof c->name, "%.*s", (int)CHANGE_NAME - 1,
                   c->row < ROWS ? member_changes[c->row].name : r->type.data);
    c->changed = c->row < ROWS ? change_member(step, c->row) : leave_out(step, c->part);
    return GUFO_OK;
}

/* Hands over the pipeline with another part. */
static gufo_status take_part(tokenizer_reading *r, const pipeline *p, const changing *c,
                             const json_t *part, take_change *take, void *context)
{
    pipeline other = *p;
    step_change change = {.changed = &other};
    gufo_status status = GUFO_OK;

    memcpy(change.name, c->name, sizeof change.name);
    if (c->part == NORMALIZER)
        other.normalizer = normalizer_new(part, NULL, r->allocator, NULL);
    else
        other.pre_tokenizer = pre_tokenizer_new(part, NULL, r->allocator, NULL);
    if (other.normalizer != NULL && other.pre_tokenizer != NULL)
        status = take(context, &change);
    if (c->part == NORMALIZER)
        normalizer_free(other.normalizer);
    else
        pre_tokenizer_free(other.pre_tokenizer);
    return status;
}

static gufo_status make_change(tokenizer_reading *r, const pipeline *p, changing *c,
                               take_change *take, void *context)
{
    json_t *copy = reading_copy_steps(r, c->part, change_step, c);
    gufo_status status = c->changed ? take_part(r, p, c, copy, take, context) : GUFO_OK;

    json_decref(copy);
    return status;
}

static gufo_status each_step(tokenizer_reading *r, const pipeline *p, reading_part part,
                             take_change *take, void *context)
{
    gufo_status status = GUFO_OK;
    bool more = true;

    for (size_t step = 0; more && step < MOST_STEPS && status == GUFO_OK; step++)
        for (size_t row = 0; row <= ROWS && status == GUFO_OK; row++) {
            changing c = {.part = part, .step = step, .row = row};

            status = make_change(r, p, &c, take, context);
            more = c.met;
        }
    return status;
}

/* ---- added tokens --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t at;
} flags[] = {
    {"single_word of added tokens", offsetof(added_token, single_word)},
    {"lstrip of added tokens", offsetof(added_token, lstrip)},
    {"rstrip of added tokens", offsetof(added_token, rstrip)},
};

enum { FLAGS = sizeof flags / sizeof *flags };

static bool *flag_of(added_token *token, size_t flag)
{
    return (bool *)((char *)token + flags[flag].at);
}

static gufo_status each_flag(tokenizer_reading *r, pipeline *p, take_change *take, void *context)
{
    bool *said = mem_array(r->allocator, (uint64_t)p->added_count + 1, sizeof *said);
    gufo_status status = said != NULL ? GUFO_OK : fail_memory(r->error);

    for (size_t flag = 0; status == GUFO_OK && flag < FLAGS; flag++) {
        step_change change = {.changed = p};
        bool any = false;

        (void)snprintf(change.name, sizeof change.name, "%s", flags[flag].name);
        for (uint32_t i = 0; i < p->added_count; i++) {
            any |= said[i] = *flag_of(&p->added[i], flag);
            *flag_of(&p->added[i], flag) = false;
        }
        if (any)
            status = take(context, &change);
        for (uint32_t i = 0; i < p->added_count; i++)
            *flag_of(&p->added[i], flag) = said[i];
    }
    mem_free(r->allocator, said);
    return status;
}

static gufo_status step_changes_each(tokenizer_reading *r, pipeline *p, take_change *take,
                                     void *context)
{
    gufo_status status = each_step(r, p, NORMALIZER, take, context);

    if (status == GUFO_OK)
        status = each_step(r, p, PRE_TOKENIZER, take, context);
    return status == GUFO_OK ? each_flag(r, p, take, context) : status;
}

/* Texts that pre-tokenizers cut differently, and some that normalizers change. */
static const char *const texts[] = {
#define ROW(kind, text) text,
#include "registry/pretokenizer_probes.inc"
#undef ROW
    /* Forms of characters, ligatures and digits, Hangul and Kana, characters that stand for others. */
    "e\xcc\x81 \xc3\xa9 n\xcc\x83 q\xcc\xa3\xcc\x87 q\xcc\x87\xcc\xa3",
    "\xef\xac\x81n \xe2\x85\xa7 \xe2\x91\xa0 x\xc2\xb2 \xef\xbc\xa1\xef\xbc\xa2",
    "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab \xef\xbd\xb6\xef\xbe\x9e",
    "\xe2\x84\xab \xe2\x84\xa6 \xcd\xbe \xe1\xbf\xaf",
    /* Letters of both cases; white space; what does not show. */
    "STRASSE Stra\xc3\x9f \xc4\xb0stanbul \xce\xa3\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x82",
    " x  y\xc2\xa0z\xe2\x80\x83w\xe3\x80\x80v ",
    "x\xe2\x80\x8by\xe2\x80\x8dz\xef\xbb\xbfw\xc2\xadv",
};

enum {
    TEXTS = sizeof texts / sizeof *texts,
    MOST_TOKENS = 8, /* added tokens, each with texts of its own */
    MOST_TEXTS = TEXTS + 3 * MOST_TOKENS,
    EXAMPLE = 120, /* bytes that are shown */
};

/* A text, and what both make of it. */
typedef struct compared_text {
    gufo_str text; /* of c->bytes, when all are there */
    size_t begin, end;
    gufo_ids ids, engine_ids;
    bool differs, explained;
} compared_text;

typedef struct comparing {
    tokenizer_reading *r;
    pipeline *original;
    pipeline_scratch *scratch;
    gufo_vocab *engine;
    compared_text list[MOST_TEXTS];
    size_t count, differ;
    gufo_text bytes;
    gufo_ids changed_ids;
} comparing;

/* ==== comparing ================================================================================ */

/* ---- both tokenizers ------------------------------------------------------------------------ */

static gufo_vocab *open_engine(const tokenizer_reading *r)
{
    const gufo_vocab_options how = {.tokenizer = GUFO_TOKENIZER_GGML, .allocator = r->allocator};
    gufo_model *model = source_over_document(r->document, r->allocator, NULL);
    gufo_vocab *vocab = model != NULL ? gufo_vocab_open(model, &how, NULL) : NULL;

    gufo_model_free(model);
    return vocab;
}

/* Nobody reads the file after this: what a tokenizer_config.json says is added to it. */
static pipeline *open_original(tokenizer_reading *r, gufo_error *error)
{
    buffer config = {.allocator = r->allocator};
    bool found, good;

    good = reading_file(r, "tokenizer_config.json", &config, &found) == GUFO_OK &&
           (config.len == 0 ||
            tokenizer_config_apply(r->json, (gufo_str){(const char *)config.data, config.len},
                                   error) == GUFO_OK);
    buffer_free(&config);
    return good ? pipeline_new(r->json, 1, r->allocator, error) : NULL;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static gufo_status end_text(comparing *c, size_t begin, bool memory)
{
    c->list[c->count++] = (compared_text){.begin = begin,
                                          .end = c->bytes.len,
                                          .ids.allocator = c->r->allocator,
                                          .engine_ids.allocator = c->r->allocator};
    return memory ? GUFO_OK : fail_memory(c->r->error);
}

static gufo_status add_probe(comparing *c, const char *escaped)
{
    size_t begin = c->bytes.len;

    return end_text(c, begin, add_unescaped(gufo_str_of(escaped), &c->bytes));
}

static bool add_around(gufo_text *out, const char *before, gufo_str token, const char *behind)
{
    return text_add(out, before, strlen(before)) && text_add(out, token.data, token.len) &&
           text_add(out, behind, strlen(behind));
}

/* Tokens that take white space, or are whole words, show it beside other text alone. */
static gufo_status add_token_texts(comparing *c, gufo_str token)
{
    static const char *const around[][2] = {{"the", "end"}, {"the ", " end"}, {"The \n", "\n End"}};
    gufo_status status = GUFO_OK;

    for (size_t i = 0; status == GUFO_OK && i < sizeof around / sizeof *around; i++) {
        size_t begin = c->bytes.len;

        status = end_text(c, begin, add_around(&c->bytes, around[i][0], token, around[i][1]));
    }
    return status;
}

static gufo_status make_texts(comparing *c)
{
    const pipeline *p = c->original;
    gufo_status status = GUFO_OK;
    size_t tokens = 0;

    for (size_t i = 0; status == GUFO_OK && i < TEXTS; i++)
        status = add_probe(c, texts[i]);
    for (uint32_t i = 0; status == GUFO_OK && i < p->added_count && tokens < MOST_TOKENS; i++) {
        const added_token *token = &p->added[i];

        if (!token->lstrip && !token->rstrip && !token->single_word && tokens > 0)
            continue; /* one of the others is enough */
        tokens++;
        status = add_token_texts(c, token->content);
    }
    for (size_t i = 0; i < c->count; i++)
        c->list[i].text =
            (gufo_str){c->bytes.data + c->list[i].begin, c->list[i].end - c->list[i].begin};
    return status;
}

/* ---- ids ------------------------------------------------------------------------------------ */

static bool encode(comparing *c, const pipeline *p, gufo_str text, gufo_ids *ids)
{
    const pipeline_request request = {.specials = true};

    ids->count = 0;
    return pipeline_encode(p, c->scratch, &request, text, ids, NULL) == GUFO_OK;
}

static bool encode_as_engines(const comparing *c, gufo_str text, gufo_ids *ids)
{
    const gufo_tokenize_options options = {.flags = GUFO_TOKENIZE_PARSE_SPECIAL};

    ids->count = 0;
    return gufo_tokenize(c->engine, text, &options, ids, NULL) == GUFO_OK;
}

static bool same(const gufo_ids *a, const gufo_ids *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->ids, b->ids, a->count * sizeof *a->ids) == 0);
}

/* A text that one of them cannot encode has no ids to compare. */
static void compare_texts(comparing *c)
{
    for (size_t i = 0; i < c->count; i++) {
        compared_text *t = &c->list[i];

        t->differs = encode(c, c->original, t->text, &t->ids) &&
                     encode_as_engines(c, t->text, &t->engine_ids) &&
                     !same(&t->ids, &t->engine_ids);
        c->differ += t->differs;
    }
}

/* ---- report --------------------------------------------------------------------------------- */

/* "NFC: 15 of 216 texts, such as ..." */
static gufo_status report(comparing *c, const char *name, size_t count, size_t first)
{
    gufo_str text = c->list[first].text;

    if (text.len > EXAMPLE)
        text.len = gufo_utf8_valid_prefix((gufo_str){text.data, EXAMPLE});
    return import_warn(c->r->import, c->r->error, "tokenizer.json, %s: %s of %s texts, such as %s",
                       name, GROUPED(count), GROUPED(c->count), QUOTED(text));
}

/* A change explains a text if without it both give the same ids; then it is a reason for all texts that
 * differ and that it changes, maybe with others. */
static gufo_status try_change(void *context, const step_change *change)
{
    comparing *c = context;
    size_t count = 0, first = 0;
    bool explains = false, touched[MOST_TEXTS] = {false};

    for (size_t i = 0; i < c->count; i++) {
        compared_text *t = &c->list[i];

        if (!t->differs || !encode(c, change->changed, t->text, &c->changed_ids) ||
            same(&t->ids, &c->changed_ids))
            continue;
        touched[i] = true;
        first = count++ == 0 ? i : first;
        explains |= same(&t->engine_ids, &c->changed_ids);
    }
    for (size_t i = 0; explains && i < c->count; i++)
        c->list[i].explained |= touched[i];
    return explains ? report(c, change->name, count, first) : GUFO_OK;
}

static gufo_status report_rest(comparing *c)
{
    size_t count = 0, first = 0;

    for (size_t i = 0; i < c->count; i++)
        if (c->list[i].differs && !c->list[i].explained)
            first = count++ == 0 ? i : first;
    return count > 0 ? report(c, "other reasons", count, first) : GUFO_OK;
}

static gufo_status explain(comparing *c)
{
    gufo_status status =
        import_warn(c->r->import, c->r->error,
                    "tokenizer.json gives other ids than readers of the GGUF file for %s of %s "
                    "texts",
                    GROUPED(c->differ), GROUPED(c->count));

    if (status == GUFO_OK)
        status = step_changes_each(c->r, c->original, try_change, c);
    return status == GUFO_OK ? report_rest(c) : status;
}

static gufo_status compare(comparing *c)
{
    gufo_status status;

    c->scratch = pipeline_scratch_new(c->original, c->r->allocator, c->r->error);
    if (c->scratch == NULL)
        return GUFO_E_MEMORY;
    status = make_texts(c);
    if (status == GUFO_OK)
        compare_texts(c);
    return status == GUFO_OK && c->differ > 0 ? explain(c) : status;
}

static gufo_status warn_without(tokenizer_reading *r, const gufo_error *reason)
{
    return reason->code == GUFO_E_MEMORY
               ? fail_memory(r->error)
               : import_warn(r->import, r->error,
                             "tokenizer.json cannot be followed by its own rules, so that its ids "
                             "are not compared: %s",
                             reason->message);
}

gufo_status compare_ids(tokenizer_reading *r)
{
    comparing *c = mem_zero(r->allocator, sizeof *c);
    gufo_error reason = {.code = GUFO_E_MEMORY};
    gufo_status status;

    if (c == NULL)
        return fail_memory(r->error);
    *c = (comparing){.r = r, .engine = open_engine(r)};
    c->original = open_original(r, &reason);
    c->changed_ids.allocator = r->allocator;
    c->bytes.allocator = r->allocator;
    status = c->original == NULL ? warn_without(r, &reason)
             : c->engine != NULL ? compare(c)
                                 : GUFO_OK;
    for (size_t i = 0; i < c->count; i++) {
        gufo_ids_free(&c->list[i].ids);
        gufo_ids_free(&c->list[i].engine_ids);
    }
    gufo_ids_free(&c->changed_ids);
    gufo_text_free(&c->bytes);
    pipeline_scratch_free(c->scratch);
    pipeline_free(c->original);
    gufo_vocab_free(c->engine);
    mem_free(r->allocator, c);
    return status;
}
