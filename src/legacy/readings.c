/* Tokens to texts and types, a function for each kind of vocabulary.
 *
 *              the file has             GGUF wants
 *     pieces   " the", "\x0a", ""       U+2581 "the", "<0x0A>" (byte), "" (control)
 *     unigram  U+2581 "the"             the same
 *     bytes    " the"                   U+0120 "the": the byte alphabet
 *     decoded  " the", U+FFFD           the same; what U+FFFD was is lost
 *     latin    " the", U+00E2 U+0082    bytes e2 82 in the byte alphabet
 *     whisper  " the", and no text      bytes, and made-up special tokens */
#include "legacy/readings.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "legacy/alphabet.h"
#include "legacy/whisper_tokens.h"

static bool set_word(word_list *words, uint64_t id, gufo_str text, word_type type)
{
    words->texts[id] = text;
    words->types[id] = (int32_t)type;
    return true;
}

static bool copy_word(word_list *words, uint64_t id, const char *text, word_type type)
{
    size_t len = strlen(text);
    char *room = word_list_room(words, len);

    if (room == NULL)
        return false;
    memcpy(room, text, len);
    return set_word(words, id, (gufo_str){room, len}, type);
}

/* "<|endoftext|>" and the like. */
static bool is_special(gufo_str text)
{
    return text.len > 4 && str_begins(text, "<|") && str_ends(text, "|>") &&
           alphabet_is_plain(text);
}

/* ---- SentencePiece --------------------------------------------------------------------------- */

/* Ids that every model of this kind has; their texts in the file say nothing. */
static const struct fixed_piece {
    const char *text;
    word_type type;
} fixed_pieces[] = {{"<unk>", WORD_UNKNOWN}, {"<s>", WORD_CONTROL}, {"</s>", WORD_CONTROL}};

enum { FIXED_PIECES = 3, FIRST_BYTE = 3, LAST_BYTE = 258 };

/* Converters gave tokens that users had added the score -1000.  A trained vocabulary, where scores
 * count down, has a token with that score, too. */
static bool is_added(const legacy_vocabulary *vocabulary, uint64_t id)
{
    const legacy_token *token = &vocabulary->tokens[id];

    return vocabulary->has_scores && token->score == -1000.0f && token[-1].score != -999.0f &&
           (id + 1 == vocabulary->count || token[1].score != -1001.0f);
}

/* Blanks as SentencePiece writes them: U+2581. */
static bool set_piece(word_list *words, uint64_t id, gufo_str piece)
{
    static const char blank[] = "\xe2\x96\x81";
    size_t blanks = 0, len = 0;
    char *room;

    for (size_t i = 0; i < piece.len; i++)
        blanks += piece.data[i] == ' ';
    if (blanks == 0)
        return set_word(words, id, piece, WORD_NORMAL);
    room = piece.len > SIZE_MAX / 3 ? NULL : word_list_room(words, piece.len + 2 * blanks);
    if (room == NULL)
        return false;
    for (size_t i = 0; i < piece.len; i++) {
        size_t size = piece.data[i] == ' ' ? 3 : 1;

        memcpy(room + len, size == 3 ? blank : &piece.data[i], size);
        len += size;
    }
    return set_word(words, id, (gufo_str){room, len}, WORD_NORMAL);
}

static bool read_piece(word_list *words, const legacy_vocabulary *vocabulary, uint64_t id)
{
    gufo_str piece = vocabulary->tokens[id].bytes;
    char byte[8];

    if (id < FIXED_PIECES)
        return copy_word(words, id, fixed_pieces[id].text, fixed_pieces[id].type);
    if (piece.len == 0)
        return set_word(words, id, piece, WORD_CONTROL);
    if (is_added(vocabulary, id))
        return set_word(words, id, piece, WORD_USER_DEFINED);
    if (id < FIRST_BYTE || id > LAST_BYTE || piece.len != 1)
        return set_piece(words, id, piece);
    (void)snprintf(byte, sizeof byte, "<0x%02X>", (unsigned)(uint8_t)piece.data[0]);
    return copy_word(words, id, byte, WORD_BYTE);
}

static bool is_byte_piece(gufo_str text)
{
    return text.len == 6 && str_begins(text, "<0x") && is_hex(text.data[3]) &&
           is_hex(text.data[4]) && text.data[5] == '>';
}

static bool read_unigram(word_list *words, const legacy_vocabulary *vocabulary, uint64_t id)
{
    gufo_str text = vocabulary->tokens[id].bytes;
    word_type type = WORD_NORMAL;

    if (str_is_word(text, "<unk> <|unk|>"))
        type = WORD_UNKNOWN;
    else if (is_special(text) || str_is_word(text, "<s> </s> <pad> <mask>"))
        type = WORD_CONTROL;
    else if (is_byte_piece(text))
        type = WORD_BYTE;
    return set_word(words, id, text, type);
}

/* ---- byte level ------------------------------------------------------------------------------ */

/* Converters that found no token for an id wrote the text of padding, and whole special texts. */
static bool set_bytes(word_list *words, uint64_t id, gufo_str bytes)
{
    word_type type = is_special(bytes) ? WORD_CONTROL : WORD_NORMAL;

    if (gufo_str_equal(bytes, gufo_str_of(word_padding_of(id).text)))
        type = WORD_UNUSED;
    words->bytes[id] = type == WORD_NORMAL ? bytes : (gufo_str){0};
    words->types[id] = (int32_t)type;
    return alphabet_text(words, bytes, &words->texts[id]);
}

static bool read_bytes(word_list *words, const legacy_vocabulary *vocabulary, uint64_t id)
{
    return set_bytes(words, id, vocabulary->tokens[id].bytes);
}

/* Characters up to U+00FF are bytes.  A text with others is a token that was added to the
 * vocabulary, which converters copied. */
static bool read_latin(word_list *words, const legacy_vocabulary *vocabulary, uint64_t id)
{
    gufo_str text = vocabulary->tokens[id].bytes;
    char *room = word_list_room(words, text.len);
    size_t len = 0;
    uint32_t character;

    if (room == NULL)
        return false;
    for (size_t at = 0, step; at < text.len; at += step) {
        step = utf8_decode((gufo_str){text.data + at, text.len - at}, &character);
        if (step == 0 || character > 0xff)
            return set_word(words, id, text, WORD_USER_DEFINED);
        room[len++] = (char)character;
    }
    return set_bytes(words, id, (gufo_str){room, len});
}

/* ---- Whisper --------------------------------------------------------------------------------- */

static bool make_whisper(word_list *words, uint64_t id)
{
    whisper_ids ids = whisper_ids_of(words->count);

    return copy_word(words, id, whisper_text_of(&ids, id).text, WORD_CONTROL);
}

/* ---- all ------------------------------------------------------------------------------------- */

static const legacy_reading readings[] = {
    [LEGACY_TEXTS_PIECES] = {.scores = true, .types = true, .keep_empty = true, .read = read_piece},
    [LEGACY_TEXTS_UNIGRAM] = {.scores = true, .read = read_unigram},
    [LEGACY_TEXTS_BYTES] = {.bytes = true, .read = read_bytes},
    [LEGACY_TEXTS_DECODED] = {.bytes = true, .decoded = true, .read = read_bytes},
    [LEGACY_TEXTS_LATIN] = {.bytes = true, .read = read_latin},
    [LEGACY_TEXTS_WHISPER] = {.bytes = true, .read = read_bytes, .make = make_whisper},
};

const legacy_reading *legacy_reading_of(legacy_texts texts)
{
    return &readings[texts];
}
