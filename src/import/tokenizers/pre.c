/* tokenizer.ggml.pre of a byte-level vocabulary: the name whose pre-tokenizer cuts texts as that of
 * tokenizer.json does.  An edited vocabulary is recognised all the same.
 *
 * Several names cut alike.  Those are kept whose other rules agree with tokenizer.json; then the usual
 * name of the architecture decides. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/architectures/configuration/config.h"
#include "import/json_file.h"
#include "import/tokenizers/pre.h"
#include "import/tokenizers/reading.h"
#include "text/pretokenizers/pre_rules.h"
#include "text/pipeline/steps/step_reading.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 256 };

typedef struct known_name {
    const pre_rules *rules;
    size_t differences; /* texts that it cuts otherwise */
} known_name;

typedef struct known_names {
    known_name list[MOST_NAMES];
    size_t count;
} known_names;

/* ==== its steps, in the words of registry/pretokenizer_steps.tsv =============================== */

static bool append(buffer *out, gufo_str text)
{
    return buffer_append(out, text.data, text.len);
}

static bool append_words(buffer *out, const char *first, gufo_str second)
{
    return append(out, gufo_str_of(first)) && append(out, second);
}

/* Line ends and tabs as escapes, which mean the same. */
static bool append_regex(buffer *out, gufo_str regex)
{
    for (size_t i = 0; i < regex.len; i++) {
        char c = regex.data[i];
        gufo_str text = c == '\n'   ? gufo_str_of("\\n")
                        : c == '\r' ? gufo_str_of("\\r")
                        : c == '\t' ? gufo_str_of("\\t")
                                    : (gufo_str){&regex.data[i], 1};

        if (!append(out, text))
            return false;
    }
    return true;
}

static bool append_split(step_reading *r, buffer *out)
{
    const json_t *pattern = step_object(r, "pattern");
    gufo_str behavior = step_text(r, "behavior"), regex = json_str(json_member(pattern, "Regex"));
    bool invert = step_flag(r, "invert");

    if (invert)
        behavior = gufo_str_of(str_is(behavior, "Removed") ? "Kept" : "inverted");
    return append_words(out, "Split ", behavior) && append(out, gufo_str_of(" ")) &&
           append_regex(out, regex.len > 0 ? regex : json_str(json_member(pattern, "String")));
}

static bool append_step(step_reading *r, buffer *out)
{
    if (step_is(r, "Split"))
        return append_split(r, out);
    if (step_is(r, "Punctuation"))
        return append_words(out, "Punctuation ", step_text_or(r, "behavior", "Isolated"));
    if (step_is(r, "Digits"))
        return append_words(out, "Digits ",
                            gufo_str_of(step_flag(r, "individual_digits") ? "individual" : "runs"));
    if (step_is(r, "ByteLevel"))
        return append(out, gufo_str_of(step_flag_or(r, "use_regex", true) ? "ByteLevel" : "Bytes"));
    return append(out, r->type);
}

static gufo_status take(step_reading *r, void *context)
{
    buffer *out = context;

    return append_step(r, out) && append(out, gufo_str_of("\n")) ? r->status : step_no_memory(r);
}

/* Appends the steps of tokenizer.json's pre-tokenizer in the words of registry/pretokenizer_steps.tsv, a
 * line for each. */
static gufo_status pre_spell(tokenizer_reading *r, buffer *out)
{
    return reading_each_step(r, PRE_TOKENIZER, take, out);
}

/* ==== why none is known ======================================================================== */

/* Why no known pre-tokenizer cuts texts as a tokenizer.json says: the nearest ones, which step is
 * another than the nearest one's, and texts that show it. */

enum { NEAREST = 3, EXAMPLES = 3, SHOWN = 12, LONGEST_STEP = 120, SENTENCE = 400 };

/* ---- names ---------------------------------------------------------------------------------- */

/* The nearest shapes, each by its first name, the nearest first. */
static size_t find_nearest(const known_names *known, const known_name *nearest[NEAREST])
{
    size_t count = 0;

    for (size_t i = 0; i < known->count; i++) {
        const known_name *name = &known->list[i];
        size_t at = 0;
        bool met = false;

        for (size_t k = 0; k < count; k++)
            met |= strcmp(nearest[k]->rules->shape, name->rules->shape) == 0;
        while (at < count && nearest[at]->differences <= name->differences)
            at++;
        if (met || at == NEAREST)
            continue;
        count += count < NEAREST;
        for (size_t k = count - 1; k > at; k--)
            nearest[k] = nearest[k - 1];
        nearest[at] = name;
    }
    return count;
}

static void write_nearest(const known_name *const nearest[NEAREST], size_t count, size_t probes,
                          char out[SENTENCE])
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && len < SENTENCE; i++)
        len += (size_t)snprintf(out + len, SENTENCE - len, "%s%s (%zu of %s texts differ)",
                                i > 0 ? ", " : "", nearest[i]->rules->shape,
                                nearest[i]->differences, GROUPED(probes));
}

/* ---- steps ---------------------------------------------------------------------------------- */

static gufo_str cut_step_text(gufo_str step)
{
    return (gufo_str){step.data, step.len < LONGEST_STEP ? step.len : LONGEST_STEP};
}

/* Compares the steps, a line each, with those of the nearest name. */
static void write_step(gufo_str steps, const char *nearest, char out[SENTENCE])
{
    const pre_step *row = pre_steps_of(nearest);
    const char *at = steps.data;
    size_t number = 1;

    out[0] = '\0';
    if (row == NULL || steps.len == 0)
        return;
    for (;; number++) {
        const char *end = memchr(at, '\n', (size_t)(steps.data + steps.len - at));
        gufo_str said = {at, end != NULL ? (size_t)(end - at) : 0},
                 known = row != NULL ? gufo_str_of(row->step) : (gufo_str){"", 0};

        if (!gufo_str_equal(said, known)) {
            (void)snprintf(out, SENTENCE, "; step %zu is %.*s, that of %s is %.*s", number,
                           (int)cut_step_text(said).len, said.data, nearest,
                           (int)cut_step_text(known).len, known.data);
            return;
        }
        if (end == NULL || row == NULL)
            return;
        at = end + 1;
        row = pre_step_is_last(row) ? NULL : row + 1;
    }
}

/* ---- examples ------------------------------------------------------------------------------- */

/* A text around a place, with bars where it is cut. */
static void write_cuts(gufo_str text, size_t middle, const cut_set *cuts, char out[SENTENCE])
{
    size_t begin = middle > SHOWN ? middle - SHOWN : 0, len = 0;

    while (begin > 0 && ((uint8_t)text.data[begin] & 0xC0) == 0x80)
        begin--;
    for (size_t at = begin; at < text.len && len + 2 < SENTENCE; at++) {
        if (at >= middle + SHOWN && ((uint8_t)text.data[at] & 0xC0) != 0x80)
            break;
        if (at > begin && cuts->at[at])
            out[len++] = '|';
        out[len++] = text.data[at];
    }
    out[len] = '\0';
}

static size_t first_difference(const byte_pairs *pairs, gufo_str text, const cut_set *a,
                               const cut_set *b)
{
    size_t at = 1;

    while (at < text.len && (a->at[at] == b->at[at] || !cut_is_material(pairs, text, at)))
        at++;
    return at;
}

static gufo_status write_examples(const probe_list *probes, const byte_pairs *pairs,
                                  const char *shape, const bool *differs, char *out, size_t room,
                                  gufo_error *error)
{
    gufo_status status = GUFO_OK;
    size_t shown = 0, len = 0;

    out[0] = '\0';
    for (size_t i = 0; status == GUFO_OK && i < probes->count && shown < EXAMPLES && len < room;
         i++) {
        char said[SENTENCE], known_text[SENTENCE];
        cut_set known;
        size_t at;

        if (!differs[i])
            continue;
        status = known_cut(probes, shape, probes->texts[i], &known, error);
        if (status != GUFO_OK)
            break;
        at = first_difference(pairs, probes->texts[i], &probes->cuts[i], &known);
        write_cuts(probes->texts[i], at, &probes->cuts[i], said);
        write_cuts(probes->texts[i], at, &known, known_text);
        len += (size_t)snprintf(out + len, room - len, "%s %s, not %s", shown++ > 0 ? ";" : "",
                                QUOTED(gufo_str_of(said)), QUOTED(gufo_str_of(known_text)));
    }
    return status;
}

/* ---- all ------------------------------------------------------------------------------------ */

static gufo_status pre_reasons_fail(tokenizer_reading *r, const probe_list *probes,
                                    const byte_pairs *pairs, const known_names *known)
{
    const known_name *nearest[NEAREST];
    size_t count = find_nearest(known, nearest), ignored;
    const char *shape = nearest[0]->rules->shape;
    char names[SENTENCE], step[SENTENCE], examples[GUFO_MESSAGE_SIZE];
    buffer steps = {.allocator = r->allocator};
    bool *differs = mem_array(r->allocator, probes->count, sizeof *differs);
    gufo_status status = differs == NULL ? fail_memory(r->error) : pre_spell(r, &steps);

    if (status == GUFO_OK)
        status = known_compare(probes, pairs, shape, SIZE_MAX, differs, &ignored, r->error);
    if (status == GUFO_OK)
        status = write_examples(probes, pairs, shape, differs, examples, sizeof examples, r->error);
    if (status == GUFO_OK) {
        write_nearest(nearest, count, probes->count, names);
        write_step((gufo_str){(const char *)steps.data, steps.len}, shape, step);
        status = reading_fail(r, GUFO_E_TYPE, "tokenizer.json",
                              "no name of tokenizer.ggml.pre cuts texts as the pre-tokenizer does. "
                              "Nearest: %s%s. It cuts%s",
                              names, step, examples);
        status = import_advise(status, GUFO_ADVICE_PRE, r->error);
    }
    buffer_free(&steps);
    mem_free(r->allocator, differs);
    return status;
}

/* ==== choosing ================================================================================= */

/* ---- which names cut alike ------------------------------------------------------------------ */

/* Names whose texts are in the byte alphabet. */
static bool is_candidate(const pre_rules *rules)
{
    return !rules->raw_text && !rules->escape_spaces;
}

/* Of each name up to `most` texts that it cuts otherwise. */
static gufo_status count_differences(const probe_list *probes, const byte_pairs *pairs, size_t most,
                                     known_names *known, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    const pre_rules *rules;

    known->count = 0;
    for (size_t i = 0; status == GUFO_OK && (rules = pre_rules_at(i)) != NULL; i++) {
        size_t same = 0;

        if (!is_candidate(rules) || known->count == MOST_NAMES)
            continue;
        while (same < known->count && strcmp(known->list[same].rules->shape, rules->shape) != 0)
            same++;
        known->list[known->count] = (known_name){.rules = rules};
        if (same < known->count)
            known->list[known->count].differences = known->list[same].differences;
        else
            status = known_compare(probes, pairs, rules->shape, most, NULL,
                                   &known->list[known->count].differences, error);
        known->count++;
    }
    return status;
}

/* ---- choosing among equals ------------------------------------------------------------------ */

typedef struct wanted {
    bool ignore_merges, add_bos;
} wanted;

typedef bool agree_with(const pre_rules *rules, const wanted *w);

static bool agree_on_merges(const pre_rules *rules, const wanted *w)
{
    return rules->ignore_merges == w->ignore_merges;
}

static bool agree_on_bos(const pre_rules *rules, const wanted *w)
{
    return rules->add_bos == w->add_bos;
}

/* Keeps those that agree, if there are any. */
static void keep(known_names *names, agree_with *agree, const wanted *w)
{
    size_t count = 0;

    for (size_t i = 0; i < names->count; i++)
        count += agree(names->list[i].rules, w);
    if (count == 0)
        return;
    count = 0;
    for (size_t i = 0; i < names->count; i++)
        if (agree(names->list[i].rules, w))
            names->list[count++] = names->list[i];
    names->count = count;
}

static const char *find_name(const known_names *names, gufo_str name)
{
    for (size_t i = 0; i < names->count; i++)
        if (gufo_str_equal(gufo_str_of(names->list[i].rules->name), name))
            return names->list[i].rules->name;
    return NULL;
}

static size_t count_shape(const known_names *names, const char *shape)
{
    size_t count = 0;

    for (size_t i = 0; i < names->count; i++)
        count += strcmp(names->list[i].rules->shape, shape) == 0;
    return count;
}

/* The name of the shape that most names have; without one, a name that says no more than it must. */
static const char *name_of_shape(const known_names *names)
{
    const char *found = NULL, *plain = names->list[0].rules->name;
    size_t most = 0;

    for (size_t i = 0; i < names->count; i++) {
        const pre_rules *rules = names->list[i].rules;
        size_t count = count_shape(names, rules->shape);

        if (strcmp(rules->name, rules->shape) == 0 && count > most) {
            found = rules->name;
            most = count;
        }
    }
    for (size_t i = names->count; i-- > 0;)
        if (!names->list[i].rules->no_default_bos)
            plain = names->list[i].rules->name;
    return found != NULL ? found : plain;
}

/* The usual name; that of the steps of tokenizer.json; that of a shape. */
static const char *choose_name(const tokenizer_reading *r, const known_names *names,
                               const char *of_steps)
{
    const char *list = usual_pre(r->config->architecture), *found = NULL;

    for (gufo_str name = str_piece(&list, ' '); name.len > 0 && found == NULL;
         name = str_piece(&list, ' '))
        found = find_name(names, name);
    if (found == NULL && of_steps != NULL)
        found = find_name(names, gufo_str_of(of_steps));
    return found != NULL ? found : name_of_shape(names);
}

/* The name that registry/pretokenizer_steps.tsv has for the steps of tokenizer.json; NULL: none. */
static gufo_status name_of_steps(tokenizer_reading *r, const char **name)
{
    buffer steps = {.allocator = r->allocator};
    bool ignore_merges = json_is_true(json_object_get(r->model, "ignore_merges"));
    gufo_status status = pre_spell(r, &steps);

    if (status == GUFO_OK)
        *name = pre_of_steps((gufo_str){steps.len > 0 ? (const char *)steps.data : "", steps.len},
                             ignore_merges);
    buffer_free(&steps);
    return status;
}

static void choose(tokenizer_reading *r, known_names *names, const char *of_steps, gufo_str *pre)
{
    wanted w = {json_is_true(json_object_get(r->model, "ignore_merges")), special_adds_bos(r)};

    keep(names, agree_on_merges, &w);
    keep(names, agree_on_bos, &w);
    *pre = gufo_str_of(choose_name(r, names, of_steps));
}

/* ---- all ------------------------------------------------------------------------------------ */

static gufo_status fail_unknown(tokenizer_reading *r, const probe_list *probes,
                                const byte_pairs *pairs, known_names *known)
{
    gufo_status status = count_differences(probes, pairs, SIZE_MAX, known, r->error);

    return status == GUFO_OK ? pre_reasons_fail(r, probes, pairs, known) : status;
}

static gufo_status recognise(tokenizer_reading *r, const probe_list *probes,
                             const byte_pairs *pairs, gufo_str *pre)
{
    known_names known = {.count = 0}, equal = {.count = 0};
    const char *of_steps = NULL;
    gufo_status status = count_differences(probes, pairs, 1, &known, r->error);

    if (status == GUFO_OK)
        status = name_of_steps(r, &of_steps);
    if (status != GUFO_OK)
        return status;
    for (size_t i = 0; i < known.count; i++)
        if (known.list[i].differences == 0)
            equal.list[equal.count++] = known.list[i];
    if (equal.count > 0)
        choose(r, &equal, of_steps, pre);
    else if (of_steps != NULL) /* readers are known to cut this definition a little otherwise */
        *pre = gufo_str_of(of_steps);
    else
        return fail_unknown(r, probes, pairs, &known);
    return GUFO_OK;
}

static gufo_status follow(tokenizer_reading *r, pre_cutter *cutter, const token_list *tokens,
                          gufo_str *pre)
{
    byte_pairs *pairs = mem_zero(r->allocator, sizeof *pairs);
    probe_list probes = {.allocator = NULL};
    gufo_status status = pairs == NULL ? fail_memory(r->error)
                                       : probe_list_make(&probes, cutter, r->allocator, r->error);

    if (status == GUFO_E_LIMIT)
        status = import_advise(reading_fail(r, status, "tokenizer.json",
                                            "an expression of the pre-tokenizer takes too long"),
                               GUFO_ADVICE_PRE, r->error);
    if (status == GUFO_OK)
        status = byte_pairs_learn(pairs, tokens, r->allocator, r->error);
    if (status == GUFO_OK)
        status = recognise(r, &probes, pairs, pre);
    probe_list_free(&probes);
    if (pairs != NULL)
        byte_pairs_free(pairs, r->allocator);
    mem_free(r->allocator, pairs);
    return status;
}

/* Without tokenizer.json nothing says how to cut texts. */
static gufo_status guess(tokenizer_reading *r, gufo_str *pre)
{
    const char *names = usual_pre(r->config->architecture);

    *pre = str_piece(&names, ' ');
    if (pre->len == 0)
        return import_advise(
            refuse(r->error, GUFO_E_TYPE,
                   "without tokenizer.json nothing says how the vocabulary cuts texts"),
            GUFO_ADVICE_PRE, r->error);
    return import_warn(r->import, r->error,
                       "without tokenizer.json nothing says how the vocabulary cuts texts: %.*s is "
                       "usual for the architecture %s",
                       (int)pre->len, pre->data, r->config->architecture);
}

/* A part of the pre-tokenizer that cannot be followed: a name of the caller's helps. */
static gufo_status fail_unread(tokenizer_reading *r)
{
    gufo_status status = r->error != NULL ? r->error->code : GUFO_E_TYPE;

    reading_name_file(r, "tokenizer.json");
    return import_advise(status, status != GUFO_E_MEMORY ? GUFO_ADVICE_PRE : GUFO_ADVICE_NONE,
                         r->error);
}

static gufo_status fail_without_bytes(tokenizer_reading *r)
{
    return import_advise(reading_fail(r, GUFO_E_TYPE, "tokenizer.json",
                                      "the pre-tokenizer does not make bytes of texts (ByteLevel), "
                                      "as the tokenizer model \"gpt2\" needs"),
                         GUFO_ADVICE_PRE, r->error);
}

gufo_status pre_choose(tokenizer_reading *r, const token_list *tokens, gufo_str *pre)
{
    pre_cutter *cutter;
    gufo_status status;

    if (r->request->pre != NULL) {
        *pre = gufo_str_of(r->request->pre);
        return GUFO_OK;
    }
    if (r->json == NULL)
        return guess(r, pre);
    cutter = pre_cutter_new(r);
    status = cutter == NULL                                    ? fail_unread(r)
             : reading_has_step(r, PRE_TOKENIZER, "ByteLevel") ? follow(r, cutter, tokens, pre)
                                                               : fail_without_bytes(r);
    pre_cutter_free(cutter);
    return status;
}
