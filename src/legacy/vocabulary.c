/* A vocabulary, step by step:
 *
 *     read       each token's text, type and bytes (readings.c)
 *     unique     no two tokens have the same text (readings.c)
 *     merges     found again where no bytes are lost (merges.c)
 *     added      tokens that no merge makes
 *     special    tokens that begin and end texts (below)
 *     set        the keys of all that */
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "legacy/readings.h"
#include "legacy/vocabulary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ==== special tokens by role, which are tokens like others in a file =========================== */

static const struct role {
    const char *key;
    size_t id;         /* in a legacy_text_rule */
    const char *texts; /* that confirm the id */
    word_type type;
} roles[] = {
    {"tokenizer.ggml.unknown_token_id", offsetof(legacy_text_rule, unknown), "<unk>", WORD_UNKNOWN},
    {"tokenizer.ggml.bos_token_id", offsetof(legacy_text_rule, bos),
     "<s> <|endoftext|> <|startoftranscript|> [_SOT_]", WORD_CONTROL},
    {"tokenizer.ggml.eos_token_id", offsetof(legacy_text_rule, eos), "</s> <|endoftext|> [_EOT_]",
     WORD_CONTROL},
    {"tokenizer.ggml.padding_token_id", offsetof(legacy_text_rule, padding), "<pad> <|padding|>",
     WORD_CONTROL},
};

enum { ROLES = sizeof roles / sizeof *roles };

static bool is_confirmed(const struct role *role, const word_list *words,
                         const legacy_text_rule *rule, uint64_t *id)
{
    *id = (uint64_t) * (const int64_t *)(const void *)((const char *)rule + role->id);
    return *id < words->count && str_is_word(words->texts[*id], role->texts);
}

/* Where a rule expects a token of a role, and its text is one that such tokens have, gives it the
 * type of the role. */
static void special_ids_mark(word_list *words, const legacy_text_rule *rule)
{
    uint64_t id;

    for (size_t i = 0; i < ROLES; i++)
        if (is_confirmed(&roles[i], words, rule, &id))
            words->types[id] = (int32_t)roles[i].type;
}

/* Sets tokenizer.ggml.*_token_id for those. */
static gufo_status special_ids_set(gufo_document *document, const word_list *words,
                                   const legacy_text_rule *rule, gufo_error *error)
{
    gufo_status status = GUFO_OK;
    uint64_t id;

    for (size_t i = 0; i < ROLES && status == GUFO_OK; i++)
        if (is_confirmed(&roles[i], words, rule, &id))
            status = gufo_document_set_u32(document, roles[i].key, (uint32_t)id, error);
    return status;
}

/* ==== the vocabulary =========================================================================== */

typedef struct maker {
    gufo_document *document;
    const legacy_vocabulary *vocabulary;
    legacy_text_rule rule;
    const legacy_reading *reading;
    word_list words;
    legacy_merge *merges; /* by id; NULL: not found */
    uint64_t made;        /* tokens that a merge makes */
    legacy_text_report *report;
    gufo_error *error;
} maker;

/* ---- which rule ------------------------------------------------------------------------------ */

/* Files of LLaMA models with a vocabulary of merges (convert.py --vocabtype bpe) have raw bytes,
 * and scores that count down from the first token on; SentencePiece has 0 for some hundred
 * tokens. */
static bool counts_down(const legacy_vocabulary *vocabulary)
{
    const legacy_token *tokens = vocabulary->tokens;

    for (uint64_t id = 0; id < vocabulary->count; id++)
        if ((id < 4 || tokens[id].score != -1000.0f) && tokens[id].score != -(float)id)
            return false;
    return vocabulary->has_scores && vocabulary->count >= 4;
}

static bool any_replacement(const legacy_vocabulary *vocabulary)
{
    for (uint64_t id = 0; id < vocabulary->count; id++)
        if (word_has_replacement(vocabulary->tokens[id].bytes))
            return true;
    return false;
}

/* Families whose files differ. */
static legacy_text_rule rule_for(const legacy_text_rule *family,
                                 const legacy_vocabulary *vocabulary, uint64_t rows)
{
    legacy_text_rule rule = *family;
    whisper_ids whisper = whisper_ids_of(rows);

    if (rule.texts == LEGACY_TEXTS_PIECES && counts_down(vocabulary)) {
        rule.texts = LEGACY_TEXTS_BYTES;
        rule.model = "gpt2";
    }
    /* The first converters for MPT decoded tokens; no byte is U+FFFD. */
    if (rule.texts == LEGACY_TEXTS_LATIN && any_replacement(vocabulary))
        rule.texts = LEGACY_TEXTS_DECODED;
    if (rule.texts == LEGACY_TEXTS_WHISPER) {
        rule.bos = (int64_t)whisper.start;
        rule.eos = (int64_t)whisper.end;
    }
    return rule;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static gufo_status read_words(maker *m)
{
    for (uint64_t id = 0; id < m->words.count; id++) {
        bool done = true;

        if (id < m->vocabulary->count)
            done = m->reading->read(&m->words, m->vocabulary, id);
        else if (m->reading->make != NULL)
            done = m->reading->make(&m->words, id);
        else
            done = word_list_pad(&m->words, id);
        if (!done)
            return fail_memory(m->error);
    }
    return GUFO_OK;
}

/* Bytes are lost if the converter decoded tokens: then U+FFFD is in several, or it is known of the
 * family.  (One token of GPT-2 really is U+FFFD.) */
static void count_lossy(maker *m)
{
    bool decoded = m->reading->decoded;

    for (uint64_t id = 0; id < m->vocabulary->count; id++) {
        gufo_str bytes = m->vocabulary->tokens[id].bytes;

        m->report->renamed += m->words.repeated[id];
        m->report->lossy +=
            word_has_replacement(bytes) || (m->reading->decoded && m->words.repeated[id]);
        decoded = decoded || (m->words.repeated[id] && word_has_replacement(bytes));
    }
    if (!decoded || !m->reading->bytes)
        m->report->lossy = 0;
}

/* ---- merges ---------------------------------------------------------------------------------- */

static gufo_status find_merges(maker *m)
{
    bool complete;
    gufo_status status;

    if (m->reading->decoded || m->report->lossy > 0) {
        m->report->no_merges =
            "they cannot be found from tokens whose bytes the old converter did not keep";
        return GUFO_OK;
    }
    m->merges = mem_array(m->words.allocator, m->words.count, sizeof *m->merges);
    if (m->merges == NULL)
        return fail_memory(m->error);
    status = legacy_merges_find(m->words.bytes, m->words.count, m->words.allocator, m->merges,
                                &complete, m->error);
    if (status == GUFO_OK && !complete) {
        m->report->no_merges = "to find them from these tokens would take too long";
        mem_free(m->words.allocator, m->merges);
        m->merges = NULL;
    }
    for (uint64_t id = 0; id < m->words.count && m->merges != NULL && status == GUFO_OK; id++)
        m->made += m->merges[id].left != MERGE_NONE;
    return status;
}

static bool is_added(const maker *m, uint64_t id)
{
    return m->merges[id].left == MERGE_NONE && m->words.bytes[id].len > 1;
}

/* "<fim_prefix>", ">>TITLE<<". */
static bool is_bracketed(gufo_str text)
{
    return alphabet_is_plain(text) && ((str_begins(text, "<") && str_ends(text, ">")) ||
                                       (str_begins(text, ">>") && str_ends(text, "<<")));
}

enum { MADE_FOR_EACH_ADDED = 16 };

/* Tokens that no merge makes were put into the vocabulary by hand: they are looked for in the text
 * itself, before merging.  If they are many, the ids are not in the order of the merges, and
 * nothing follows. */
static void mark_added(maker *m)
{
    uint64_t added = 0;

    for (uint64_t id = 0; id < m->words.count; id++)
        added += is_added(m, id);
    if (added > m->made / MADE_FOR_EACH_ADDED) {
        m->report->unmade = m->vocabulary->merge_count == 0 ? added : 0;
        return;
    }
    m->report->added = added;
    for (uint64_t id = 0; id < m->words.count; id++) {
        gufo_str bytes = m->words.bytes[id];

        if (!is_added(m, id))
            continue;
        if (is_bracketed(bytes))
            m->words.types[id] = WORD_CONTROL;
        else if (word_is_readable(bytes) &&
                 (alphabet_is_plain(bytes) || word_list_rename(&m->words, id, bytes)))
            m->words.types[id] = WORD_USER_DEFINED;
    }
}

static gufo_status set_strings(maker *m, const char *key, const gufo_str *texts, uint64_t count)
{
    const gufo_items items = {GUFO_VALUE_STRING, count, texts};

    return gufo_document_set_array(m->document, key, &items, m->error);
}

static bool merge_text(maker *m, const legacy_merge *merge, gufo_str *out)
{
    gufo_str left = m->words.texts[merge->left], right = m->words.texts[merge->right];
    char *room = word_list_room(&m->words, left.len + 1 + right.len);

    if (room == NULL)
        return false;
    memcpy(room, left.data, left.len);
    room[left.len] = ' ';
    memcpy(room + left.len + 1, right.data, right.len);
    *out = (gufo_str){room, left.len + 1 + right.len};
    return true;
}

static gufo_status set_found_merges(maker *m)
{
    gufo_str *texts = mem_array(m->words.allocator, m->made, sizeof *texts);
    uint64_t count = 0;
    bool done = texts != NULL;
    gufo_status status;

    for (uint64_t id = 0; id < m->words.count && done; id++)
        if (m->merges[id].left != MERGE_NONE)
            done = merge_text(m, &m->merges[id], &texts[count++]);
    status = done ? set_strings(m, "tokenizer.ggml.merges", texts, count) : fail_memory(m->error);
    mem_free(m->words.allocator, texts);
    return status;
}

static gufo_status set_merges(maker *m)
{
    if (!m->reading->bytes || (m->vocabulary->merge_count == 0 && m->merges == NULL))
        return GUFO_OK;
    m->report->merges = true;
    m->report->no_merges = NULL;
    if (m->vocabulary->merge_count > 0)
        return set_strings(m, "tokenizer.ggml.merges", m->vocabulary->merges,
                           m->vocabulary->merge_count);
    return set_found_merges(m);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static gufo_status set_scores(maker *m)
{
    float *scores;
    gufo_status status = GUFO_OK;

    if (!m->reading->scores)
        return GUFO_OK;
    scores = mem_array(m->words.allocator, m->words.count, sizeof *scores);
    if (scores == NULL)
        return fail_memory(m->error);
    for (uint64_t id = 0; id < m->vocabulary->count && status == GUFO_OK; id++) {
        scores[id] = m->vocabulary->has_scores ? m->vocabulary->tokens[id].score : 0;
        if (!isfinite(scores[id]))
            status = refuse(m->error, GUFO_E_MALFORMED,
                            "the score of token %" PRIu64 " is not a finite number", id);
    }
    if (status == GUFO_OK)
        status = gufo_document_set_array(m->document, "tokenizer.ggml.scores",
                                         &(gufo_items){GUFO_VALUE_FLOAT32, m->words.count, scores},
                                         m->error);
    mem_free(m->words.allocator, scores);
    return status;
}

static gufo_status set_types(maker *m)
{
    bool needed = m->reading->types;

    for (uint64_t id = 0; id < m->words.count && !needed; id++)
        needed = m->words.types[id] != WORD_NORMAL;
    if (!needed)
        return GUFO_OK;
    return gufo_document_set_array(m->document, "tokenizer.ggml.token_type",
                                   &(gufo_items){GUFO_VALUE_INT32, m->words.count, m->words.types},
                                   m->error);
}

static gufo_status set_keys(maker *m)
{
    gufo_status status =
        gufo_document_set_text(m->document, "tokenizer.ggml.model", m->rule.model, m->error);

    if (status == GUFO_OK && m->rule.pre != NULL)
        status = gufo_document_set_text(m->document, "tokenizer.ggml.pre", m->rule.pre, m->error);
    if (status == GUFO_OK)
        status = set_strings(m, "tokenizer.ggml.tokens", m->words.texts, m->words.count);
    if (status == GUFO_OK)
        status = set_scores(m);
    if (status == GUFO_OK)
        status = set_types(m);
    if (status == GUFO_OK)
        status = set_merges(m);
    if (status == GUFO_OK)
        status = special_ids_set(m->document, &m->words, &m->rule, m->error);
    return status;
}

static gufo_status make(maker *m)
{
    gufo_status status = read_words(m);

    if (status == GUFO_OK)
        status = word_list_make_unique(&m->words, m->reading->keep_empty, m->error);
    if (status != GUFO_OK)
        return status;
    count_lossy(m);
    if (m->reading->bytes)
        status = find_merges(m);
    if (status != GUFO_OK)
        return status;
    if (m->merges != NULL)
        mark_added(m);
    special_ids_mark(&m->words, &m->rule);
    return set_keys(m);
}

gufo_status legacy_set_vocabulary(gufo_document *document, const legacy_vocabulary *vocabulary,
                                  const legacy_text_rule *rule, uint64_t rows,
                                  const gufo_allocator *allocator, legacy_text_report *report,
                                  gufo_error *error)
{
    maker m = {.document = document, .vocabulary = vocabulary, .report = report, .error = error};
    uint64_t count = larger(rows, vocabulary->count);
    gufo_status status;

    *report = (legacy_text_report){0};
    if (vocabulary->count == 0 || rule == NULL || rule->texts == LEGACY_TEXTS_NONE)
        return GUFO_OK;
    if (count > LEGACY_MAX_TOKENS)
        return refuse(error, GUFO_E_LIMIT, "the file has %s tokens, a vocabulary at most %s",
                      GROUPED(count), GROUPED(LEGACY_MAX_TOKENS));
    m.rule = rule_for(rule, vocabulary, rows);
    m.reading = legacy_reading_of(m.rule.texts);
    status = word_list_new(&m.words, count, mem_allocator(allocator), error);
    if (status == GUFO_OK)
        status = make(&m);
    mem_free(mem_allocator(allocator), m.merges);
    word_list_free(&m.words);
    return status;
}
