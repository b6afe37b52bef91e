/* The pre-tokenizer of a tokenizer.json, followed step by step.
 *
 * Every step is a split: an expression, and what becomes of its matches and of what is between them.
 * ByteLevel moreover writes each byte as a visible character, so that later steps see other text;
 * `origin` says where each of its bytes comes from. */
#include "import/tokenizers/pre_cuts.h"

#include <pcre2.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/advise.h"
#include "import/tokenizers/pre_expression.h"
#include "text/formats/json_reading.h"
#include "text/vocabulary/byte_alphabet.h"

enum {
    MOST_STEPS = 32,
    TEXT_ROOM = 4 * LONGEST_PROBE,
    FEW_TRIES = 100, /* of PCRE2, for one match: enough for nearly all */
    MOST_TRIES = 1000000,
    ALL_TRIES = 50000000, /* for all matches in all texts */
};

#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define PUNCTUATION "[!-/:-@\\[-`{-~\\p{P}]"

typedef enum behavior {
    ISOLATED,
    REMOVED,
    MERGED_WITH_PREVIOUS,
    MERGED_WITH_NEXT,
    CONTIGUOUS,
} behavior;

typedef struct cut_step {
    pcre2_code *code; /* NULL: bytes become visible characters */
    behavior how;
    bool invert;
} cut_step;

typedef struct range {
    size_t begin, end;
    bool is_match;
} range;

typedef struct range_row {
    range list[TEXT_ROOM + 1];
    size_t count;
} range_row;

struct pre_cutter {
    gufo_allocator allocator;
    cut_step steps[MOST_STEPS];
    size_t count;
    bool has_bytes;
    byte_texts alphabet;
    pcre2_general_context *memory;
    pcre2_compile_context *compile;
    pcre2_match_context *context;
    pcre2_match_data *match;
    uint32_t tries; /* that are left */
    /* Of the text that is cut. */
    char text[TEXT_ROOM], next_text[TEXT_ROOM];
    uint16_t origin[TEXT_ROOM + 1], next_origin[TEXT_ROOM + 1];
    size_t len;
    range_row pieces, next, found; /* found: matches and gaps of one piece */
};

/* Zeroed: sanitizers do not see what compiled expressions write. */
static void *take_memory(size_t size, void *allocator)
{
    return mem_zero(allocator, size);
}

static void give_memory(void *block, void *allocator)
{
    mem_free(allocator, block);
}

/* A part of the pre-tokenizer that cannot be followed: a name of the caller's helps. */
static gufo_status fail_unread(tokenizer_reading *r, const char *kind, gufo_str part,
                               const char *fault, const char *what)
{
    gufo_status status =
        reading_fail(r, GUFO_E_TYPE, "tokenizer.json", "the %s %s of the pre-tokenizer %s%s", kind,
                     QUOTED(part), fault, what);

    return import_advise(status, GUFO_ADVICE_PRE, r->error);
}

/* ---- compiling ------------------------------------------------------------------------------ */

typedef struct compiling {
    tokenizer_reading *r;
    pre_cutter *cutter;
} compiling;

static gufo_status add_step(compiling *c, gufo_str pattern, bool literal, behavior how, bool invert)
{
    static const uint32_t options =
        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
    pre_cutter *cutter = c->cutter;
    buffer text = {.allocator = &cutter->allocator};
    const char *what = NULL;
    size_t at = 0, len;
    int code = 0;

    if (cutter->count == MOST_STEPS)
        return reading_fail(c->r, GUFO_E_LIMIT, "tokenizer.json",
                            "the pre-tokenizer has more than %d steps", (int)MOST_STEPS);
    if (!literal && !pre_expression_rewrite(pattern, &text, &what)) {
        buffer_free(&text);
        return what == NULL ? fail_memory(c->r->error)
                            : fail_unread(c->r, "expression", pattern, "has ", what);
    }
    len = literal ? pattern.len : text.len - 1;
    cutter->steps[cutter->count] = (cut_step){
        pcre2_compile(literal ? (PCRE2_SPTR)pattern.data : text.data, len,
                      literal ? PCRE2_UTF | PCRE2_LITERAL : options, &code, &at, cutter->compile),
        how, invert};
    buffer_free(&text);
    if (cutter->steps[cutter->count].code == NULL)
        return fail_unread(c->r, "expression", pattern, "cannot be read", "");
    cutter->count++;
    return GUFO_OK;
}

static gufo_status add_bytes(compiling *c)
{
    if (c->cutter->count == MOST_STEPS)
        return reading_fail(c->r, GUFO_E_LIMIT, "tokenizer.json",
                            "the pre-tokenizer has more than %d steps", (int)MOST_STEPS);
    c->cutter->steps[c->cutter->count++] = (cut_step){.code = NULL};
    c->cutter->has_bytes = true;
    return GUFO_OK;
}

static gufo_status take_behavior(compiling *c, gufo_str name, behavior otherwise, behavior *out)
{
    static const struct {
        const char *name;
        behavior how;
    } names[] = {{"Isolated", ISOLATED},
                 {"Removed", REMOVED},
                 {"MergedWithPrevious", MERGED_WITH_PREVIOUS},
                 {"MergedWithNext", MERGED_WITH_NEXT},
                 {"Contiguous", CONTIGUOUS}};

    *out = otherwise;
    if (name.len == 0)
        return GUFO_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i].name)) {
            *out = names[i].how;
            return GUFO_OK;
        }
    return reading_fail(c->r, GUFO_E_TYPE, "tokenizer.json",
                        "the pre-tokenizer has the unknown behavior %s", QUOTED(name));
}

static gufo_status compile_split(json_reading *j, const json_t *step, compiling *c)
{
    const json_t *pattern = json_member(step, "pattern");
    bool literal = json_object_get(pattern, "String") != NULL;
    gufo_str text = json_is_string(pattern) ? json_text(pattern)
                                            : json_word(j, pattern, literal ? "String" : "Regex");
    behavior how;
    gufo_status status = take_behavior(c, json_word(j, step, "behavior"), ISOLATED, &how);

    if (status == GUFO_OK && text.len == 0)
        return json_wrong(j, "a Split of the pre-tokenizer has no pattern");
    return status == GUFO_OK ? add_step(c, text, literal || json_is_string(pattern), how,
                                        json_flag(j, step, "invert", false))
                             : status;
}

static gufo_status compile_bytes(json_reading *j, const json_t *step, compiling *c)
{
    gufo_status status = json_flag(j, step, "use_regex", true)
                             ? add_step(c, gufo_str_of(GPT2), false, ISOLATED, false)
                             : GUFO_OK;

    return status == GUFO_OK ? add_bytes(c) : status;
}

static gufo_status compile_digits(json_reading *j, const json_t *step, compiling *c)
{
    bool single = json_flag(j, step, "individual_digits", false);

    return add_step(c, gufo_str_of("\\p{N}"), false, single ? ISOLATED : CONTIGUOUS, false);
}

static gufo_status compile_punctuation(json_reading *j, const json_t *step, compiling *c)
{
    behavior how;
    gufo_status status = take_behavior(c, json_word(j, step, "behavior"), ISOLATED, &how);

    return status == GUFO_OK ? add_step(c, gufo_str_of(PUNCTUATION), false, how, false) : status;
}

static gufo_status compile_words(json_reading *j, const json_t *step, compiling *c)
{
    (void)j;
    (void)step;
    return add_step(c, gufo_str_of("\\w+|[^\\w\\s]+"), false, REMOVED, true);
}

static gufo_status compile_spaces(json_reading *j, const json_t *step, compiling *c)
{
    (void)j;
    (void)step;
    return add_step(c, gufo_str_of("\\s"), false, REMOVED, false);
}

static gufo_status compile_bert(json_reading *j, const json_t *step, compiling *c)
{
    gufo_status status = compile_spaces(j, step, c);

    return status == GUFO_OK ? add_step(c, gufo_str_of(PUNCTUATION), false, ISOLATED, false)
                             : status;
}

static gufo_status compile_metaspace(json_reading *j, const json_t *step, compiling *c)
{
    return json_flag(j, step, "split", true)
               ? add_step(c, gufo_str_of(" "), true, MERGED_WITH_NEXT, false)
               : GUFO_OK;
}

static gufo_status compile_delimiter(json_reading *j, const json_t *step, compiling *c)
{
    gufo_str delimiter = json_word(j, step, "delimiter");

    return delimiter.len == 0 ? json_wrong(j, "CharDelimiterSplit has no delimiter")
                              : add_step(c, delimiter, true, REMOVED, false);
}

static gufo_status compile_step(json_reading *j, const json_t *step, gufo_str type, void *context)
{
    static const struct {
        const char *type;
        gufo_status (*compile)(json_reading *j, const json_t *step, compiling *c);
    } types[] = {
        {"Split", compile_split},
        {"ByteLevel", compile_bytes},
        {"Digits", compile_digits},
        {"Punctuation", compile_punctuation},
        {"Whitespace", compile_words},
        {"WhitespaceSplit", compile_spaces},
        {"BertPreTokenizer", compile_bert},
        {"Metaspace", compile_metaspace},
        {"CharDelimiterSplit", compile_delimiter},
    };
    compiling *c = context;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(type, types[i].type)) {
            gufo_status status = types[i].compile(j, step, c);

            return status != GUFO_OK ? status : j->status;
        }
    return fail_unread(c->r, "step", type, "is not known", "");
}

pre_cutter *pre_cutter_new(tokenizer_reading *r)
{
    pre_cutter *cutter = mem_object(r->allocator, sizeof *cutter, r->error);
    json_reading j = {.allocator = *r->allocator, .file = r->json, .error = r->error};
    compiling c = {r, cutter};

    if (cutter == NULL)
        return NULL;
    byte_alphabet_fill(&cutter->alphabet);
    cutter->memory = pcre2_general_context_create(take_memory, give_memory, &cutter->allocator);
    if (cutter->memory != NULL) {
        cutter->compile = pcre2_compile_context_create(cutter->memory);
        cutter->context = pcre2_match_context_create(cutter->memory);
        cutter->match = pcre2_match_data_create(1, cutter->memory);
    }
    if (cutter->compile == NULL || cutter->context == NULL || cutter->match == NULL) {
        (void)fail_memory(r->error);
    } else {
        (void)pcre2_set_newline(cutter->compile, PCRE2_NEWLINE_LF);
        cutter->tries = ALL_TRIES;
        if (json_each_step(&j, "pre_tokenizer", "pretokenizers", compile_step, &c) == GUFO_OK)
            return cutter;
    }
    pre_cutter_free(cutter);
    return NULL;
}

void pre_cutter_free(pre_cutter *cutter)
{
    gufo_allocator allocator;

    if (cutter == NULL)
        return;
    for (size_t i = 0; i < cutter->count; i++)
        pcre2_code_free(cutter->steps[i].code);
    pcre2_match_data_free(cutter->match);
    pcre2_match_context_free(cutter->context);
    pcre2_compile_context_free(cutter->compile);
    pcre2_general_context_free(cutter->memory);
    allocator = cutter->allocator;
    mem_free(&allocator, cutter);
}

bool pre_cutter_has_bytes(const pre_cutter *cutter)
{
    return cutter->has_bytes;
}

/* ---- splitting ------------------------------------------------------------------------------ */

static void add_range(range_row *row, size_t begin, size_t end, bool is_match)
{
    if (begin < end)
        row->list[row->count++] = (range){begin, end, is_match};
}

static size_t behind_character(const pre_cutter *c, size_t at, size_t end)
{
    for (at++; at < end && ((uint8_t)c->text[at] & 0xC0) == 0x80;)
        at++;
    return at;
}

/* An expression that needs many tries for each match would take hours for all texts: PCRE2 does not say
 * how many it took, so that a match is given more and more of them. */
static int find_match(pre_cutter *c, const cut_step *step, PCRE2_SPTR text, size_t len, size_t from)
{
    int count = PCRE2_ERROR_MATCHLIMIT;

    for (uint32_t tries = FEW_TRIES;
         count == PCRE2_ERROR_MATCHLIMIT && tries <= MOST_TRIES && tries <= c->tries; tries *= 10) {
        c->tries -= tries;
        (void)pcre2_set_match_limit(c->context, tries);
        count = pcre2_match(step->code, text, len, from, PCRE2_NO_UTF_CHECK, c->match, c->context);
    }
    return count;
}

/* Matches in one piece, and what is between them.  An empty match right behind another match does not
 * count; the search goes on a character further. */
static gufo_status find_matches(pre_cutter *c, const cut_step *step, range whole, gufo_error *error)
{
    PCRE2_SPTR text = (PCRE2_SPTR)c->text + whole.begin;
    size_t len = whole.end - whole.begin, from = 0, last = 0;
    bool matched = false;

    c->found.count = 0;
    while (from <= len) {
        int count = find_match(c, step, text, len, from);
        const size_t *match = pcre2_get_ovector_pointer(c->match);

        if (count == PCRE2_ERROR_NOMATCH)
            break;
        if (count < 0 || match[0] > match[1] || match[0] < from)
            return refuse(error, GUFO_E_LIMIT, "an expression takes too long");
        if (match[0] == match[1] && ((matched && match[0] == last) || match[0] == len)) {
            from = behind_character(c, whole.begin + match[0], whole.end) - whole.begin;
            continue;
        }
        add_range(&c->found, whole.begin + last, whole.begin + match[0], false);
        add_range(&c->found, whole.begin + match[0], whole.begin + match[1], true);
        from = match[0] < match[1]
                   ? match[1]
                   : behind_character(c, whole.begin + match[0], whole.end) - whole.begin;
        last = match[1];
        matched = true;
    }
    add_range(&c->found, whole.begin + last, whole.end, false);
    return GUFO_OK;
}

static bool joins(behavior how, bool before, bool now)
{
    return (how == MERGED_WITH_PREVIOUS && now && !before) ||
           (how == MERGED_WITH_NEXT && before && !now) || (how == CONTIGUOUS && before == now);
}

/* Makes pieces of matches and gaps. */
static void take_found(pre_cutter *c, const cut_step *step)
{
    for (size_t i = 0; i < c->found.count; i++) {
        range r = c->found.list[i];
        bool is_match = r.is_match != step->invert,
             before = i > 0 && c->found.list[i - 1].is_match != step->invert;

        if (step->how == REMOVED && is_match)
            continue;
        if (i > 0 && joins(step->how, before, is_match))
            c->next.list[c->next.count - 1].end = r.end;
        else
            add_range(&c->next, r.begin, r.end, false);
    }
}

/* Each byte becomes its character of the byte alphabet. */
static gufo_status show_bytes(pre_cutter *c, gufo_error *error)
{
    size_t len = 0;

    for (size_t i = 0; i < c->pieces.count; i++) {
        range whole = c->pieces.list[i];
        size_t begin = len;

        for (size_t at = whole.begin; at < whole.end; at++) {
            uint8_t byte = (uint8_t)c->text[at];

            if (len + 2 > TEXT_ROOM)
                return refuse(error, GUFO_E_LIMIT, "the pre-tokenizer makes texts too long");
            for (size_t k = 0; k < c->alphabet.len[byte]; k++) {
                c->next_text[len] = c->alphabet.text[byte][k];
                c->next_origin[len++] = c->origin[at];
            }
        }
        /* The end of a piece is not always the beginning of the next one. */
        c->next.list[c->next.count++] = (range){begin, len, false};
        c->next_origin[len] = c->origin[whole.end];
    }
    memcpy(c->text, c->next_text, len);
    memcpy(c->origin, c->next_origin, (len + 1) * sizeof *c->origin);
    c->len = len;
    return GUFO_OK;
}

static gufo_status run_step(pre_cutter *c, const cut_step *step, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    c->next.count = 0;
    if (step->code == NULL)
        status = show_bytes(c, error);
    for (size_t i = 0; step->code != NULL && status == GUFO_OK && i < c->pieces.count; i++) {
        status = find_matches(c, step, c->pieces.list[i], error);
        if (status == GUFO_OK)
            take_found(c, step);
    }
    memcpy(c->pieces.list, c->next.list, c->next.count * sizeof *c->next.list);
    c->pieces.count = c->next.count;
    return status;
}

gufo_status pre_cutter_run(pre_cutter *c, gufo_str text, cut_set *cuts, gufo_error *error)
{
    gufo_status status = GUFO_OK;

    memset(cuts, 0, sizeof *cuts);
    if (text.len == 0 || text.len > LONGEST_PROBE)
        return refuse(error, GUFO_E_ARGUMENT, "the text is empty or too long");
    memcpy(c->text, text.data, text.len);
    for (size_t at = 0; at <= text.len; at++)
        c->origin[at] = (uint16_t)at;
    c->len = text.len;
    c->pieces.count = 0;
    add_range(&c->pieces, 0, text.len, false);
    for (size_t i = 0; status == GUFO_OK && i < c->count; i++)
        status = run_step(c, &c->steps[i], error);
    for (size_t i = 0; status == GUFO_OK && i < c->pieces.count; i++) {
        cuts->at[c->origin[c->pieces.list[i].begin]] = true;
        cuts->at[c->origin[c->pieces.list[i].end]] = true;
    }
    cuts->at[0] = cuts->at[text.len] = false;
    return status;
}
