/* Tokens to texts and types, a function for each kind of vocabulary.
 *
 *              the file has             GGUF wants
 *     pieces   " the", "\x0a", ""       U+2581 "the", "<0x0A>" (byte), "" (control)
 *     unigram  U+2581 "the"             the same
 *     bytes    " the"                   U+0120 "the": the byte alphabet
 *     decoded  " the", U+FFFD           the same; what U+FFFD was is lost
 *     latin    " the", U+00E2 U+0082    bytes e2 82 in the byte alphabet
 *     whisper  " the", and no text      bytes, and made-up special tokens */
#include "base/error.h"
#include "base/text.h"
#include "gufo/print.h"
#include "legacy/readings.h"
#include "text/characters/byte_alphabet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ==== words ==================================================================================== */

/* A list of words; blocks that grow with the vocabulary hold new texts.
 *
 * Tokenizers look tokens up by text, so that a text belongs to one token alone.  Old converters
 * wrote the same text for several: where they decoded parts of characters, and for the rows of an
 * embedding that no token uses.  The first of them keeps it. */

typedef struct word_block {
    struct word_block *next;
    size_t used, size;
    char data[];
} word_block;

enum { BLOCK_SIZE = 1 << 16 };

gufo_status word_list_new(word_list *list, uint64_t count, const gufo_allocator *allocator,
                          gufo_error *error)
{
    *list = (word_list){.allocator = allocator, .count = count};
    list->texts = mem_array(allocator, count, sizeof *list->texts);
    list->bytes = mem_array(allocator, count, sizeof *list->bytes);
    list->types = mem_array(allocator, count, sizeof *list->types);
    list->repeated = mem_array(allocator, count, sizeof *list->repeated);
    if (list->texts == NULL || list->bytes == NULL || list->types == NULL || list->repeated == NULL)
        return fail_memory(error);
    for (uint64_t id = 0; id < count; id++)
        list->types[id] = WORD_NORMAL;
    return GUFO_OK;
}

void word_list_free(word_list *list)
{
    word_block *next;

    for (word_block *block = list->blocks; block != NULL; block = next) {
        next = block->next;
        mem_free(list->allocator, block);
    }
    name_index_free(&list->index, list->allocator);
    mem_free(list->allocator, list->texts);
    mem_free(list->allocator, list->bytes);
    mem_free(list->allocator, list->types);
    mem_free(list->allocator, list->repeated);
    *list = (word_list){0};
}

char *word_list_room(word_list *list, size_t size)
{
    word_block *block = list->blocks;

    if (block == NULL || size > block->size - block->used) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

        block = room > SIZE_MAX - sizeof *block ? NULL
                                                : mem_alloc(list->allocator, sizeof *block + room);
        if (block == NULL)
            return NULL;
        *block = (word_block){.next = list->blocks, .size = room};
        list->blocks = block;
    }
    block->used += size;
    return block->data + (block->used - size);
}

static word_padding word_padding_of(uint64_t id)
{
    word_padding padding;

    (void)snprintf(padding.text, sizeof padding.text, "[PAD%" PRIu64 "]", id);
    return padding;
}

bool word_has_replacement(gufo_str text)
{
    static const char replacement[] = "\xef\xbf\xbd";

    for (size_t at = 0; at + 3 <= text.len; at++)
        if (memcmp(text.data + at, replacement, 3) == 0)
            return true;
    return false;
}

bool word_is_readable(gufo_str text)
{
    return text.len > 0 && gufo_utf8_valid_prefix(text) == text.len && !word_has_replacement(text);
}

static gufo_str text_of(const void *owner, uint64_t id)
{
    return ((const word_list *)owner)->texts[id];
}

/* Gives a word that is not in the index a text; false if another word has it. */
static bool add_text(word_list *list, uint64_t id, gufo_str text)
{
    uint64_t first;

    list->texts[id] = text;
    return name_index_add(&list->index, id, &first);
}

bool word_list_rename(word_list *list, uint64_t id, gufo_str text)
{
    uint64_t first;

    if (name_index_find(&list->index, text, &first))
        return false;
    name_index_remove(&list->index, id);
    return add_text(list, id, text);
}

bool word_list_pad(word_list *list, uint64_t id)
{
    word_padding padding = word_padding_of(id);
    size_t len = strlen(padding.text);
    char *text = word_list_room(list, len);

    if (text == NULL)
        return false;
    memcpy(text, padding.text, len);
    list->texts[id] = (gufo_str){text, len};
    list->types[id] = WORD_UNUSED;
    return true;
}

/* A file may well use "[PAD7]" for another token; every "_" that is appended then was in a text of
 * the file, so that the steps are at most as many as its tokens. */
static gufo_status add_padding(word_list *list, uint64_t id, gufo_error *error)
{
    word_padding padding = word_padding_of(id);
    size_t len = strlen(padding.text), more = 0;
    char *text = word_list_room(list, len);

    list->types[id] = WORD_UNUSED;
    while (text != NULL) {
        memcpy(text, padding.text, len);
        memset(text + len, '_', more);
        if (add_text(list, id, (gufo_str){text, len + more}))
            return GUFO_OK;
        more++;
        text = word_list_room(list, len + more);
    }
    return fail_memory(error);
}

gufo_status word_list_make_unique(word_list *list, bool keep_empty, gufo_error *error)
{
    gufo_status status =
        name_index_new(&list->index, list->count, text_of, list, list->allocator, error);
    uint64_t first;

    if (status != GUFO_OK)
        return status;
    for (uint64_t id = 0; id < list->count; id++)
        list->repeated[id] =
            list->texts[id].len == 0 ? !keep_empty : !name_index_add(&list->index, id, &first);
    for (uint64_t id = 0; id < list->count && status == GUFO_OK; id++) {
        if (!list->repeated[id])
            continue;
        if (word_is_readable(list->bytes[id]) && add_text(list, id, list->bytes[id]))
            list->types[id] = WORD_USER_DEFINED;
        else
            status = add_padding(list, id, error);
        list->bytes[id] = (gufo_str){0};
    }
    return status;
}

/* ==== bytes as characters ====================================================================== */

bool alphabet_is_plain(gufo_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.data[i] <= ' ' || bytes.data[i] > '~')
            return false;
    return true;
}

/* The text of bytes; a view of them where they are their own text.  False without memory. */
static bool alphabet_text(word_list *list, gufo_str bytes, gufo_str *text)
{
    char *room;
    size_t len = 0;

    *text = bytes;
    if (alphabet_is_plain(bytes))
        return true;
    room = bytes.len > SIZE_MAX / 2 ? NULL : word_list_room(list, 2 * bytes.len);
    if (room == NULL)
        return false;
    for (size_t i = 0; i < bytes.len; i++) {
        char character[4];
        size_t size = gufo_utf8_encode(byte_alphabet_character((uint8_t)bytes.data[i]), character);

        memcpy(room + len, character, size);
        len += size;
    }
    *text = (gufo_str){room, len};
    return true;
}

/* ==== Whisper ================================================================================== */

/* Tokens of Whisper that its files leave out: programs make them from the number of tokens.
 *
 *     English (51864)         multilingual (51865 and more)
 *     50256 [_EOT_]           50257 [_EOT_]
 *     50257 [_SOT_]           50258 [_SOT_]
 *     50258 [_LANG_en] ...    50259 [_LANG_en] ...       one for each language: 99, later 100
 *     50357 [_TRANSLATE_]     behind the languages
 *     ...
 *     50363 [_BEG_]           the time 0
 *     50364 [_TT_1] ...       0.02 seconds later, each */

enum { MULTILINGUAL = 51865, OTHER_TOKENS = 51765, USUAL_LANGUAGES = 98 };

static const char *const languages[] = {
    "en", "zh", "de", "es",  "ru", "ko", "fr", "ja", "pt", "tr",  "pl", "ca", "nl", "ar", "sv",
    "it", "id", "hi", "fi",  "vi", "he", "uk", "el", "ms", "cs",  "ro", "da", "hu", "ta", "no",
    "th", "ur", "hr", "bg",  "lt", "la", "mi", "ml", "cy", "sk",  "te", "fa", "lv", "bn", "sr",
    "az", "sl", "kn", "et",  "mk", "br", "eu", "is", "hy", "ne",  "mn", "bs", "kk", "sq", "sw",
    "gl", "mr", "pa", "si",  "km", "sn", "yo", "so", "af", "oc",  "ka", "be", "tg", "sd", "gu",
    "am", "yi", "lo", "uz",  "fo", "ht", "ps", "tk", "nn", "mt",  "sa", "lb", "my", "bo", "tl",
    "mg", "as", "tt", "haw", "ln", "ha", "ba", "jw", "su", "yue",
};

whisper_ids whisper_ids_of(uint64_t tokens)
{
    uint64_t multilingual = tokens >= MULTILINGUAL, others = OTHER_TOKENS + multilingual;
    uint64_t count = tokens > others ? tokens - others : 0;
    uint64_t shift = multilingual ? count - USUAL_LANGUAGES : 0;

    return (whisper_ids){
        .end = 50256 + multilingual,
        .start = 50257 + multilingual,
        .languages = count,
        .translate = 50357 + shift,
        .transcribe = 50358 + shift,
        .solm = 50359 + shift,
        .previous = 50360 + shift,
        .no_speech = 50361 + shift,
        .no_timestamps = 50362 + shift,
        .begin = 50363 + shift,
    };
}

/* The names of those that there is one of. */
static const char *name_of(const whisper_ids *ids, uint64_t id)
{
    const struct special {
        uint64_t id;
        const char *name;
    } specials[] = {
        {ids->end, "EOT"},
        {ids->start, "SOT"},
        {ids->translate, "TRANSLATE"},
        {ids->transcribe, "TRANSCRIBE"},
        {ids->solm, "SOLM"},
        {ids->previous, "PREV"},
        {ids->no_speech, "NOSP"},
        {ids->no_timestamps, "NOT"},
        {ids->begin, "BEG"},
    };

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (specials[i].id == id)
            return specials[i].name;
    return NULL;
}

whisper_text whisper_text_of(const whisper_ids *ids, uint64_t id)
{
    const char *name = name_of(ids, id);
    uint64_t language = id - ids->start - 1;
    whisper_text text;

    if (name != NULL)
        (void)snprintf(text.text, sizeof text.text, "[_%s_]", name);
    else if (id > ids->begin)
        (void)snprintf(text.text, sizeof text.text, "[_TT_%" PRIu64 "]", id - ids->begin);
    else if (id > ids->start && language < ids->languages &&
             language < sizeof languages / sizeof *languages)
        (void)snprintf(text.text, sizeof text.text, "[_LANG_%s]", languages[language]);
    else
        (void)snprintf(text.text, sizeof text.text, "[_extra_token_%" PRIu64 "]", id);
    return text;
}

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
        step = gufo_utf8_decode((gufo_str){text.data + at, text.len - at}, &character);
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
