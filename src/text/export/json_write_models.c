/* The models of a tokenizer.json, with the normalizers and decoders that belong to them. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/base64.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/text.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"
#include "text/export/json_writing.h"
#include "text/pretokenizers/pre_rules.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

/* ==== merges ================================================================================= */

/* A byte-level vocabulary has them as keys.  One of pieces has scores: a merge for every way to cut
 * a token into two tokens, those of tokens with high scores first. */

/* Those of the keys. */
static gufo_status copy_merges(json_export *e, json_t *merges)
{
    gufo_array_iter walk;
    gufo_value value;
    gufo_array array;
    gufo_entry entry;

    if (merges == NULL)
        return fail_memory(e->error);
    if (!vocab_entry(e->source, "merges", &entry))
        return GUFO_OK;
    if (gufo_value_array(&entry.value, GUFO_VALUE_STRING, &array, e->error) != GUFO_OK)
        return GUFO_E_TYPE;
    for (walk = gufo_array_start(&array); gufo_array_next(&walk, &value);) {
        gufo_str text = value.as.str;

        if (gufo_utf8_valid_prefix(text) != text.len || memchr(text.data, '\0', text.len) != NULL)
            return refuse(e->error, GUFO_E_MALFORMED,
                          "merge %" PRIu64 ", %s, has bytes that JSON cannot have", walk.index - 1,
                          QUOTED(text));
        if (json_array_append_new(merges, json_stringn(text.data, text.len)) != 0)
            return fail_memory(e->error);
    }
    return walk.changed ? refuse(e->error, GUFO_E_CHANGED, "the file was changed in the meantime")
                        : GUFO_OK;
}

/* ---- from scores ---------------------------------------------------------------------------- */

static bool scores_higher(const void *owner, uint32_t a, uint32_t b)
{
    const gufo_vocab *v = owner;
    float left = vocab_score(v, a), right = vocab_score(v, b);

    return left != right ? left > right : a < b;
}

typedef struct cut {
    uint32_t left, right;
} cut;

static bool is_before(const void *a, const void *b)
{
    const cut *left = a, *right = b;

    return left->left != right->left ? left->left < right->left : left->right < right->right;
}

/* Longer tokens, and cuts beyond these, are not made by merges: no vocabulary in use has them, and
 * looking for them could take the square of a file's size. */
enum { LONGEST_TOKEN = 1024, MOST_CUTS = 256 };

static size_t cuts_of(const gufo_vocab *v, uint32_t id, uint32_t count, cut cuts[MOST_CUTS])
{
    gufo_str text = vocab_text(v, id);
    size_t found = 0, at = 0;

    while (found < MOST_CUTS && text.len <= LONGEST_TOKEN) {
        cut c;

        at += length_by_first_byte(text.data + at, text.len - at);
        if (at >= text.len)
            break;
        c.left = vocab_find(v, text.data, at);
        c.right = vocab_find(v, text.data + at, text.len - at);
        if (c.left < count && c.right < count)
            cuts[found++] = c;
    }
    sort_items(cuts, found, sizeof *cuts, is_before);
    return found;
}

static gufo_status add_merge(json_export *e, json_t *merges, cut c)
{
    gufo_str left = vocab_text(e->vocab, c.left), right = vocab_text(e->vocab, c.right);
    json_t *pair;
    char *text;

    /* A space would end the first part. */
    if (memchr(left.data, ' ', left.len) != NULL || memchr(right.data, ' ', right.len) != NULL) {
        pair = json_pack("[s%, s%]", left.data, left.len, right.data, right.len);
    } else {
        text = mem_alloc(&e->vocab->allocator, left.len + right.len + 1);
        if (text == NULL)
            return fail_memory(e->error);
        memcpy(text, left.data, left.len);
        text[left.len] = ' ';
        memcpy(text + left.len + 1, right.data, right.len);
        pair = json_stringn(text, left.len + right.len + 1);
        mem_free(&e->vocab->allocator, text);
    }
    return json_array_append_new(merges, pair) == 0 ? GUFO_OK : fail_memory(e->error);
}

static gufo_status derive_merges(json_export *e, json_t *merges)
{
    const gufo_vocab *v = e->vocab;
    uint32_t *order = mem_array(&v->allocator, e->count, sizeof *order);
    gufo_status status = order != NULL && merges != NULL ? GUFO_OK : fail_memory(e->error);
    cut cuts[MOST_CUTS];

    for (uint32_t id = 0; status == GUFO_OK && id < e->count; id++)
        order[id] = id;
    if (status == GUFO_OK)
        sort_indices(order, e->count, scores_higher, v);
    for (uint32_t i = 0; status == GUFO_OK && i < e->count; i++) {
        size_t count =
            vocab_type(v, order[i]) == TOKEN_NORMAL ? cuts_of(v, order[i], e->count, cuts) : 0;

        for (size_t k = 0; status == GUFO_OK && k < count; k++)
            status = add_merge(e, merges, cuts[k]);
    }
    mem_free(&v->allocator, order);
    return status;
}

/* ==== the pre-tokenizer: the steps that registry/pretokenizer_steps.tsv has for a name ======= */

static json_t *byte_level(bool regex)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0,
                     "trim_offsets", 1, "use_regex", regex);
}

/* "Isolated EXPRESSION"; Kept is the inverse of Removed. */
static json_t *split(gufo_str rest)
{
    const char *space = memchr(rest.data, ' ', rest.len);
    size_t len = space != NULL ? (size_t)(space - rest.data) : rest.len;
    bool kept = len == 4 && memcmp(rest.data, "Kept", len) == 0;
    gufo_str regex = str_from(rest, len + (space != NULL)),
             behavior = kept ? gufo_str_of("Removed") : (gufo_str){rest.data, len};

    return json_pack("{s:s, s:{s:s%}, s:s%, s:b}", "type", "Split", "pattern", "Regex", regex.data,
                     regex.len, "behavior", behavior.data, behavior.len, "invert", kept);
}

static json_t *step_of(const char *words)
{
    gufo_str step = gufo_str_of(words);

    if (str_begins(step, "Split "))
        return split(str_from(step, 6));
    if (str_begins(step, "Digits "))
        return json_pack("{s:s, s:b}", "type", "Digits", "individual_digits",
                         strcmp(words, "Digits individual") == 0);
    if (str_begins(step, "Punctuation "))
        return json_pack("{s:s, s:s}", "type", "Punctuation", "behavior",
                         words + strlen("Punctuation "));
    return byte_level(strcmp(words, "ByteLevel") == 0);
}

/* The pre-tokenizer of a byte-level vocabulary. */
static gufo_status make_pre(json_export *e)
{
    const char *pre = gufo_vocab_describe(e->vocab).pre;
    const pre_step *row = pre != NULL ? pre_steps_of(pre) : NULL;
    json_t *steps;

    if (row == NULL)
        return refuse(e->error, GUFO_E_TYPE,
                      "the pre-tokenizer \"%s\" has no form in tokenizer.json",
                      pre != NULL ? pre : "");
    steps = json_array();
    do {
        if (json_array_append_new(steps, step_of(row->step)) != 0) {
            json_decref(steps);
            return fail_memory(e->error);
        }
    } while (!pre_step_is_last(row++));
    e->pre_tokenizer = json_array_size(steps) == 1
                           ? json_incref(json_array_get(steps, 0))
                           : json_pack("{s:s, s:O}", "type", "Sequence", "pretokenizers", steps);
    json_decref(steps);
    return GUFO_OK;
}

/* ==== models ================================================================================= */

json_t *json_token_text(const json_export *e, uint32_t id)
{
    const gufo_allocator *allocator = &e->vocab->allocator;
    wordpiece_text word = {"", vocab_text(e->vocab, id)};
    json_t *text;
    char *joined;

    if (e->vocab->algorithm == &algorithm_wpm)
        word = wordpiece_text_of(e->vocab, id);
    joined = mem_join(allocator, gufo_str_of(word.prefix), word.rest);
    text = joined != NULL ? json_stringn(joined, strlen(word.prefix) + word.rest.len) : NULL;
    mem_free(allocator, joined);
    return text;
}

static gufo_status fail_twice(json_export *e, uint32_t id)
{
    return refuse(e->error, GUFO_E_MALFORMED,
                  "token %" PRIu32 ", %s, occurs twice, which tokenizer.json does not allow", id,
                  QUOTED(vocab_text(e->vocab, id)));
}

/* {text: id}; *out is a new reference. */
static gufo_status make_vocab(json_export *e, json_t **out)
{
    json_t *vocab = json_object();

    *out = vocab;
    for (uint32_t id = 0; vocab != NULL && id < e->count; id++) {
        gufo_str text = vocab_text(e->vocab, id);

        if (json_object_getn(vocab, text.data, text.len) != NULL)
            return fail_twice(e, id);
        if (json_object_setn_new(vocab, text.data, text.len, json_integer(id)) != 0)
            return fail_memory(e->error);
    }
    return vocab != NULL ? GUFO_OK : fail_memory(e->error);
}

static json_t *unknown_text(const json_export *e)
{
    uint32_t id = e->vocab->special[GUFO_SPECIAL_UNKNOWN];

    return id < e->count ? json_token_text(e, id) : json_null();
}

/* Takes over vocab and merges. */
static json_t *make_bpe(const json_export *e, bool bytes, json_t *vocab, json_t *merges)
{
    return json_pack("{s:s, s:n, s:o, s:n, s:n, s:b, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout",
                     "unk_token", bytes ? json_null() : unknown_text(e),
                     "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", !bytes,
                     "byte_fallback", !bytes, "ignore_merges", bytes && e->vocab->ignore_merges,
                     "vocab", vocab, "merges", merges);
}

gufo_status json_make_byte_level(json_export *e)
{
    json_t *vocab = NULL, *merges = json_array();
    gufo_status status;

    if (!e->vocab->byte_alphabet)
        status =
            refuse(e->error, GUFO_E_TYPE, "the pre-tokenizer \"%s\" has no form in tokenizer.json",
                   gufo_vocab_describe(e->vocab).pre);
    else
        status = make_pre(e);
    if (status == GUFO_OK)
        status = make_vocab(e, &vocab);
    if (status == GUFO_OK)
        status = copy_merges(e, merges);
    if (status != GUFO_OK) {
        json_decref(vocab);
        json_decref(merges);
        return status;
    }
    e->model = make_bpe(e, true, vocab, merges);
    e->normalizer = json_null();
    e->decoder = byte_level(true);
    return GUFO_OK;
}

/* The space before a text, and all others, become U+2581. */
static json_t *pieces_normalizer(bool prefix)
{
    json_t *steps = json_array();

    if (prefix)
        (void)json_array_append_new(
            steps, json_pack("{s:s, s:s}", "type", "Prepend", "prepend", ESCAPED_SPACE));
    (void)json_array_append_new(steps,
                                json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern",
                                          "String", " ", "content", ESCAPED_SPACE));
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static json_t *pieces_decoder(bool prefix)
{
    json_t *steps =
        json_pack("[{s:s, s:{s:s}, s:s}, {s:s}, {s:s}]", "type", "Replace", "pattern", "String",
                  ESCAPED_SPACE, "content", " ", "type", "ByteFallback", "type", "Fuse");

    if (prefix)
        (void)json_array_append_new(steps, json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip",
                                                     "content", " ", "start", 1, "stop", 0));
    return json_pack("{s:s, s:o}", "type", "Sequence", "decoders", steps);
}

gufo_status json_make_pieces(json_export *e)
{
    json_t *vocab = NULL, *merges = json_array();
    gufo_status status = make_vocab(e, &vocab);

    if (status == GUFO_OK)
        status = derive_merges(e, merges);
    if (status != GUFO_OK) {
        json_decref(vocab);
        json_decref(merges);
        return status;
    }
    e->model = make_bpe(e, false, vocab, merges);
    e->normalizer = pieces_normalizer(e->vocab->space_prefix);
    e->pre_tokenizer = json_null();
    e->decoder = pieces_decoder(e->vocab->space_prefix);
    return GUFO_OK;
}

/* ---- WordPiece ------------------------------------------------------------------------------ */

static gufo_status add_word(json_export *e, json_t *vocab, uint32_t id)
{
    json_t *text = json_token_text(e, id);
    const char *word = json_string_value(text);
    gufo_status status = GUFO_OK;

    if (word != NULL && json_object_get(vocab, word) != NULL)
        status = fail_twice(e, id);
    else if (json_object_set_new(vocab, word, json_integer(id)) != 0)
        status = fail_memory(e->error);
    json_decref(text);
    return status;
}

gufo_status json_make_wordpiece(json_export *e)
{
    const gufo_vocab *v = e->vocab;
    json_t *vocab = json_object();
    gufo_status status = vocab != NULL ? GUFO_OK : fail_memory(e->error);

    for (uint32_t id = 0; status == GUFO_OK && id < e->count; id++)
        status = add_word(e, vocab, id);
    if (status == GUFO_OK && v->special[GUFO_SPECIAL_UNKNOWN] >= e->count)
        status = refuse(e->error, GUFO_E_MALFORMED,
                        "the vocabulary has no unknown token, which "
                        "WordPiece needs");
    if (status != GUFO_OK) {
        json_decref(vocab);
        return status;
    }
    e->model = json_pack("{s:s, s:o, s:s, s:i, s:o}", "type", "WordPiece", "unk_token",
                         unknown_text(e), "continuing_subword_prefix", "##",
                         "max_input_chars_per_word", 100, "vocab", vocab);
    e->normalizer = json_pack("{s:s, s:b, s:b, s:b, s:b}", "type", "BertNormalizer", "clean_text",
                              1, "handle_chinese_chars", 1, "strip_accents", v->strip_accents,
                              "lowercase", v->lowercase);
    e->pre_tokenizer = json_pack("{s:s}", "type", "BertPreTokenizer");
    e->decoder = json_pack("{s:s, s:s, s:b}", "type", "WordPiece", "prefix", "##", "cleanup", 1);
    return GUFO_OK;
}

/* ---- Unigram -------------------------------------------------------------------------------- */

/* The map of characters, in base64; null: none. */
static json_t *charsmap(const json_export *e)
{
    buffer bytes = {.allocator = &e->vocab->allocator}, text = bytes;
    json_t *normalizer = NULL;
    gufo_array map;
    gufo_entry entry;
    void *place;

    if (!vocab_entry(e->source, "precompiled_charsmap", &entry) ||
        entry.value.type != GUFO_VALUE_ARRAY || entry.value.as.array.count == 0 ||
        gufo_value_type_size(entry.value.as.array.type) != 1)
        return json_null();
    map = entry.value.as.array;
    place = buffer_extend(&bytes, map.count);
    if (place != NULL && gufo_array_read(&map, 0, map.count, place, NULL) == GUFO_OK &&
        base64_write(bytes.data, bytes.len, &text))
        normalizer = json_pack("{s:s, s:s%}", "type", "Precompiled", "precompiled_charsmap",
                               (const char *)text.data, text.len);
    buffer_free(&bytes);
    buffer_free(&text);
    return normalizer;
}

static json_t *replace(const char *regex, const char *content)
{
    return json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", regex, "content",
                     content);
}

/* Where spaces are removed: those before and behind a text, and all but one between words. */
static json_t *unigram_normalizer(const json_export *e)
{
    json_t *map = charsmap(e), *steps;

    if (!e->vocab->remove_extra_spaces || map == NULL)
        return map;
    steps = json_array();
    if (!json_is_null(map))
        (void)json_array_append(steps, map);
    json_decref(map);
    (void)json_array_append_new(steps, replace("^ +| +$", ""));
    (void)json_array_append_new(steps, replace(" {2,}", " "));
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static json_t *metaspace(bool prefix)
{
    return json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", ESCAPED_SPACE,
                     "prepend_scheme", prefix ? "always" : "never", "split", 0);
}

gufo_status json_make_unigram(json_export *e)
{
    const gufo_vocab *v = e->vocab;
    uint32_t unknown = v->special[GUFO_SPECIAL_UNKNOWN];
    json_t *list = json_array();

    for (uint32_t id = 0; list != NULL && id < e->count; id++) {
        gufo_str text = vocab_text(v, id);

        if (json_array_append_new(
                list, json_pack("[s%, f]", text.data, text.len, (double)vocab_score(v, id))) != 0) {
            json_decref(list);
            return fail_memory(e->error);
        }
    }
    e->model = json_pack("{s:s, s:o, s:o, s:b}", "type", "Unigram", "unk_id",
                         unknown < e->count ? json_integer(unknown) : json_null(), "vocab", list,
                         "byte_fallback", 0);
    e->normalizer = unigram_normalizer(e);
    /* A word begins a text in either case (ugm_normalizer.c). */
    e->pre_tokenizer = metaspace(v->space_prefix || v->remove_extra_spaces);
    e->decoder = metaspace(v->space_prefix || v->remove_extra_spaces);
    return GUFO_OK;
}
