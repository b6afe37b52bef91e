/* The models of a tokenizer.json, with the normalizers and decoders that belong to them. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "text/formats/base64.h"
#include "text/export/json_writing.h"
#include "text/vocabulary/vocabulary.h"

#define WORD_START "\xe2\x96\x81"

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
        status = json_make_pre(e);
    if (status == GUFO_OK)
        status = make_vocab(e, &vocab);
    if (status == GUFO_OK)
        status = json_copy_merges(e, merges);
    if (status != GUFO_OK) {
        json_decref(vocab);
        json_decref(merges);
        return status;
    }
    e->model = make_bpe(e, true, vocab, merges);
    e->normalizer = json_null();
    e->decoder = json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", 0,
                           "trim_offsets", 1, "use_regex", 1);
    return GUFO_OK;
}

/* The space before a text, and all others, become U+2581. */
static json_t *pieces_normalizer(bool prefix)
{
    json_t *steps = json_array();

    if (prefix)
        (void)json_array_append_new(
            steps, json_pack("{s:s, s:s}", "type", "Prepend", "prepend", WORD_START));
    (void)json_array_append_new(steps, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace",
                                                 "pattern", "String", " ", "content", WORD_START));
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static json_t *pieces_decoder(bool prefix)
{
    json_t *steps =
        json_pack("[{s:s, s:{s:s}, s:s}, {s:s}, {s:s}]", "type", "Replace", "pattern", "String",
                  WORD_START, "content", " ", "type", "ByteFallback", "type", "Fuse");

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
        status = json_derive_merges(e, merges);
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
    return json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", WORD_START,
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
