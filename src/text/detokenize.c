/* Ids to text.
 *
 *     ids --> BOS, EOS --> pieces --> first space --> clean-up --> whole characters --> text
 *
 * An EOS that may be the last id waits for the next one; clean-up holds spaces and apostrophes back;
 * the last step holds back a character that is not complete.  What has passed all of them is final,
 * and so the text does not depend on how ids come in. */
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/vocab.h"
#include "text/characters/byte_alphabet.h"
#include "text/characters/characters.h"
#include "text/characters/escapes.h"
#include "text/pipeline/pipeline.h"
#include "text/tokenizers/algorithm.h"
#include "text/vocabulary/vocabulary.h"

/* ==== pieces ================================================================================= */

/* The piece of a token: its stored text, read as its algorithm and its attributes say.
 *
 *     control, unknown, user-defined   as stored
 *     normal                           U+2581 is a space; or, in byte-level BPE, characters are bytes
 *     byte                             "<0x0A>" is the byte 0A
 *     unused, or of no known type      nothing
 *     any token of RWKV                escapes are resolved */

/* ---- forms of token texts ------------------------------------------------------------------- */

static bool add_stored(gufo_str text, gufo_text *out)
{
    return text_add(out, text.data, text.len);
}

static bool add_spaces(gufo_str text, gufo_text *out)
{
    if (!text_reserve(out, text.len))
        return false;
    for (size_t at = 0; at < text.len;) {
        bool space = str_begins(str_from(text, at), ESCAPED_SPACE);

        text_put_byte(out, space ? ' ' : text.data[at]);
        at += space ? sizeof ESCAPED_SPACE - 1 : 1;
    }
    return true;
}

/* "[UNK_BYTE_0xe282ac" + text + "]": what llama.cpp prints for a character outside the alphabet. */
static bool add_unknown(uint32_t code_point, gufo_str text, gufo_text *out)
{
    static const char before[] = "[UNK_BYTE_0x";
    char bytes[4], digits[2 * sizeof bytes], *end = digits;
    size_t size = lenient_encode(code_point, bytes);

    for (size_t i = 0; i < size; i++)
        end = hex_put(end, (uint8_t)bytes[i], false);
    return text_add(out, before, sizeof before - 1) &&
           text_add(out, digits, (size_t)(end - digits)) && text_add(out, text.data, text.len) &&
           text_add(out, "]", 1);
}

static bool add_alphabet(gufo_str text, gufo_text *out)
{
    bool enough = text_reserve(out, text.len);
    size_t size;

    for (size_t at = 0; at < text.len && enough; at += size) {
        uint32_t code_point = lenient_decode(text.data + at, text.len - at, &size);
        int byte = byte_alphabet_byte(code_point);

        if (byte >= 0)
            text_put_byte(out, (char)byte); /* no longer than its character */
        else
            enough = add_unknown(code_point, text, out) && text_reserve(out, text.len - at - size);
    }
    return enough;
}

/* Up to two digits behind "<0x". */
static bool add_byte(gufo_str text, gufo_text *out)
{
    uint64_t value;

    (void)str_hex(text, 3, 2, &value);
    return text_add(out, &(char){(char)value}, 1);
}

static bool add_nothing(gufo_str text, gufo_text *out)
{
    (void)text;
    (void)out;
    return true;
}

/* ---- the form of a token -------------------------------------------------------------------- */

/* For the original's ids runs of spaces are user-defined and normal (opening/known_texts.c). */
static bool is_stored(const gufo_vocab *vocab, uint32_t attributes)
{
    if (vocab->original && (attributes & GUFO_TOKEN_NORMAL) != 0 &&
        (attributes & VOCAB_SPECIAL) == GUFO_TOKEN_USER_DEFINED)
        return false;
    return (attributes & VOCAB_SPECIAL) != 0;
}

typedef bool add_form(gufo_str text, gufo_text *out);

/* Appends the piece of a token that exists; false without memory. */
static bool piece_add(const gufo_vocab *vocab, uint32_t id, gufo_text *out)
{
    uint32_t attributes = vocab->attributes[id];
    bool alphabet = vocab->algorithm == &algorithm_bpe && !vocab->escape_spaces;
    add_form *add = add_nothing;

    if (vocab->algorithm == &algorithm_rwkv)
        add = add_unescaped;
    else if (is_stored(vocab, attributes))
        add = add_stored;
    else if ((attributes & GUFO_TOKEN_NORMAL) != 0)
        add = alphabet ? add_alphabet : add_spaces;
    else if ((attributes & GUFO_TOKEN_BYTE) != 0)
        add = add_byte;
    return add(vocab_text(vocab, id), out);
}

/* ==== clean-up: spaces that tokenizers put before punctuation go, as far as text is read ===== */

/* Three passes, each over the result of the one before:
 *
 *     say ' so ' , they 're here !     as tokens give it
 *     say ' so ', they 're here!       1: no space before ? ! . ,
 *     say'so ', they 're here!         2: an apostrophe between two spaces loses both
 *     say'so ', they're here!          3: no space before 's 'm 're 've
 *
 * A pass replaces texts from left to right.  It holds back what is the beginning of one of them, at
 * most three bytes, and so the passes can follow each other byte by byte. */

enum { CLEAN_PASSES = 3, CLEAN_HELD = 4 };

/* What each pass holds back: the beginning of something that it may replace.  {0} to begin with. */
typedef struct clean_up {
    struct {
        char text[CLEAN_HELD];
        size_t len;
    } held[CLEAN_PASSES];
} clean_up;

typedef struct replacement {
    const char *found, *text;
} replacement;

enum { MOST_RULES = 5 };

/* None begins with another one of the same pass. */
static const replacement passes[CLEAN_PASSES][MOST_RULES] = {
    {{" ?", "?"}, {" !", "!"}, {" .", "."}, {" ,", ","}},
    {{" ' ", "'"}},
    {{" 's", "'s"}, {" 'm", "'m"}, {" 're", "'re"}, {" 've", "'ve"}},
};

/* The rule of a pass that begins with what is held; NULL: none. */
static const replacement *rule_of(const clean_up *clean, size_t pass)
{
    const replacement *rule = passes[pass];

    while (rule->found != NULL &&
           strncmp(rule->found, clean->held[pass].text, clean->held[pass].len) != 0)
        rule++;
    return rule->found != NULL ? rule : NULL;
}

/* `out` has room for it. */
static void put(clean_up *clean, size_t pass, char byte, gufo_text *out);

/* Passes the first held byte on. */
static void release(clean_up *clean, size_t pass, gufo_text *out)
{
    char first = clean->held[pass].text[0];

    clean->held[pass].len--;
    memmove(clean->held[pass].text, clean->held[pass].text + 1, clean->held[pass].len);
    put(clean, pass + 1, first, out);
}

static void put(clean_up *clean, size_t pass, char byte, gufo_text *out)
{
    const replacement *rule = NULL;

    if (pass == CLEAN_PASSES) {
        text_put_byte(out, byte);
        return;
    }
    clean->held[pass].text[clean->held[pass].len++] = byte;
    while (clean->held[pass].len > 0 && (rule = rule_of(clean, pass)) == NULL)
        release(clean, pass, out);
    if (clean->held[pass].len == 0 || rule->found[clean->held[pass].len] != '\0')
        return;
    clean->held[pass].len = 0;
    for (const char *at = rule->text; *at != '\0'; at++)
        put(clean, pass + 1, *at, out);
}

static size_t held(const clean_up *clean)
{
    size_t sum = 0;

    for (size_t pass = 0; pass < CLEAN_PASSES; pass++)
        sum += clean->held[pass].len;
    return sum;
}

/* Every rule begins with a space: what is before the first one is final if nothing is held. */
static gufo_str skip_plain(const clean_up *clean, gufo_str text, gufo_text *out)
{
    const char *space = held(clean) == 0 ? memchr(text.data, ' ', text.len) : text.data;
    size_t plain = space != NULL ? (size_t)(space - text.data) : text.len;

    if (plain > 0)
        (void)text_add(out, text.data, plain); /* has room */
    return (gufo_str){text.data + plain, text.len - plain};
}

/* Appends to `out` what is final after more text; false without memory. */
static bool clean_up_feed(clean_up *clean, gufo_str text, gufo_text *out)
{
    if (!text_reserve(out, text.len + held(clean)))
        return false;
    while (text.len > 0) {
        text = skip_plain(clean, text, out);
        if (text.len == 0)
            break;
        put(clean, 0, *text.data, out);
        text = (gufo_str){text.data + 1, text.len - 1};
    }
    return true;
}

/* Appends what is held back: the text ends here. */
static bool clean_up_end(clean_up *clean, gufo_text *out)
{
    if (!text_reserve(out, held(clean)))
        return false;
    for (size_t pass = 0; pass < CLEAN_PASSES; pass++)
        while (clean->held[pass].len > 0)
            release(clean, pass, out);
    return true;
}

/* ==== texts ================================================================================== */

enum { LONGEST_UNFINISHED = 3 };

struct gufo_detokenizer {
    gufo_allocator allocator;
    const gufo_vocab *vocab;
    uint32_t flags;
    bool begun;     /* an id has come */
    bool lead;      /* the next piece loses a space at its beginning */
    bool eos_waits; /* the last id was an EOS, which is dropped if none follows */
    clean_up clean;
    gufo_text piece; /* on its way to the clean-up */
    gufo_ids ids;    /* of a tokenizer.json, whose decoder sees them all at once */
    char unfinished[LONGEST_UNFINISHED];
    size_t unfinished_len;
};

/* Before the first id. */
static void restart(gufo_detokenizer *d)
{
    d->begun = d->eos_waits = false;
    d->lead = d->vocab->space_prefix;
}

/* ---- characters ----------------------------------------------------------------------------- */

/* How many bytes the sequence that begins with `first` has; 1 where none begins. */
static size_t sequence_length(uint8_t first)
{
    return first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Whether a sequence of UTF-8 may continue so (RFC 3629, section 4). */
static bool may_follow(uint8_t first, uint8_t second)
{
    uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= least && second <= most;
}

/* The bytes at the end of the text that begin a character and do not finish it. */
static size_t unfinished_length(const char *text, size_t len)
{
    for (size_t back = 1; back <= LONGEST_UNFINISHED && back <= len; back++) {
        uint8_t first = (uint8_t)text[len - back];

        if ((first & 0xc0) == 0x80)
            continue;
        if (sequence_length(first) > back &&
            (back == 1 || may_follow(first, (uint8_t)text[len - back + 1])))
            return back;
        break;
    }
    return 0;
}

/* Puts what was held back behind the text that is final. */
static bool resume_character(gufo_detokenizer *d, gufo_text *out)
{
    if (!text_add(out, d->unfinished, d->unfinished_len))
        return false;
    d->unfinished_len = 0;
    return true;
}

/* Takes an unfinished character off the text, which is final up to `final`. */
static void hold_character(gufo_detokenizer *d, gufo_text *out, size_t final)
{
    size_t len = unfinished_length(out->data + final, out->len - final);

    out->len -= len;
    memcpy(d->unfinished, out->data + out->len, len);
    d->unfinished_len = len;
}

/* ---- pieces --------------------------------------------------------------------------------- */

static bool is_dropped(const gufo_detokenizer *d, uint32_t id)
{
    return (d->flags & GUFO_DETOKENIZE_SKIP_SPECIAL) != 0 &&
           (d->vocab->attributes[id] & (GUFO_TOKEN_CONTROL | GUFO_TOKEN_UNKNOWN)) != 0;
}

/* Appends a piece without the space at its beginning, if it is the first one. */
static bool add_piece(gufo_detokenizer *d, uint32_t id, gufo_text *out)
{
    size_t before = out->len;
    bool lead = d->lead;

    d->lead = false;
    if (is_dropped(d, id))
        return true;
    if (!piece_add(d->vocab, id, out))
        return false;
    if (lead && out->len > before && out->data[before] == ' ') {
        out->len--;
        memmove(out->data + before, out->data + before + 1, out->len - before);
    }
    return true;
}

static bool add_token(gufo_detokenizer *d, uint32_t id, gufo_text *out)
{
    if (!d->vocab->clean_spaces)
        return add_piece(d, id, out);
    d->piece.len = 0;
    return add_piece(d, id, &d->piece) &&
           clean_up_feed(&d->clean, (gufo_str){d->piece.data, d->piece.len}, out);
}

/* Whether encoding adds this token, so that decoding may remove it. */
static bool is_removed(const gufo_detokenizer *d, gufo_special special, uint32_t id)
{
    bool added = special == GUFO_SPECIAL_BOS ? d->vocab->add_bos : d->vocab->add_eos;

    return (d->flags & GUFO_DETOKENIZE_REMOVE_SPECIAL) != 0 && added &&
           id == d->vocab->special[special];
}

static bool add_id(gufo_detokenizer *d, uint32_t id, gufo_text *out)
{
    bool first = !d->begun;

    d->begun = true;
    if (first && is_removed(d, GUFO_SPECIAL_BOS, id)) {
        d->lead = false;
        return true;
    }
    if (d->eos_waits && !add_token(d, d->vocab->special[GUFO_SPECIAL_EOS], out))
        return false;
    d->eos_waits = is_removed(d, GUFO_SPECIAL_EOS, id);
    return d->eos_waits || add_token(d, id, out);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Nothing is appended if an id does not exist. */
static gufo_status check_ids(const gufo_vocab *vocab, const uint32_t *ids, size_t count,
                             gufo_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= vocab->size)
            return refuse(error, GUFO_E_RANGE,
                          "token %" PRIu32 " does not exist: the vocabulary has %s tokens", ids[i],
                          GROUPED(vocab->size));
    return GUFO_OK;
}

static gufo_status start(gufo_detokenizer *d, const gufo_vocab *vocab, uint32_t flags,
                         gufo_error *error)
{
    *d = (gufo_detokenizer){.allocator = vocab->allocator, .vocab = vocab, .flags = flags};
    restart(d);
    return flags_check(flags, GUFO_DETOKENIZE_SKIP_SPECIAL | GUFO_DETOKENIZE_REMOVE_SPECIAL,
                       "gufo_detokenize", error);
}

static bool keep_ids(gufo_detokenizer *d, const uint32_t *ids, size_t count)
{
    d->ids.allocator = &d->allocator;
    if (!ids_reserve(&d->ids, count))
        return false;
    if (count > 0)
        memcpy(d->ids.ids + d->ids.count, ids, count * sizeof *ids);
    d->ids.count += count;
    return true;
}

gufo_status gufo_detokenizer_feed(gufo_detokenizer *d, const uint32_t *ids, size_t count,
                                  gufo_text *out, gufo_error *error)
{
    gufo_status status = check_ids(d->vocab, ids, count, error);
    size_t final = out->len;
    bool enough;

    if (status != GUFO_OK)
        return status;
    if (d->vocab->pipeline != NULL)
        return keep_ids(d, ids, count) ? GUFO_OK : fail_memory(error);
    d->piece.allocator = &d->allocator;
    enough = resume_character(d, out);
    for (size_t i = 0; i < count && enough; i++)
        enough = add_id(d, ids[i], out);
    if (!enough)
        return fail_memory(error);
    hold_character(d, out, final);
    return GUFO_OK;
}

gufo_status gufo_detokenizer_end(gufo_detokenizer *d, gufo_text *out, gufo_error *error)
{
    if (d->vocab->pipeline != NULL) {
        size_t count = d->ids.count;

        d->ids.count = 0;
        return pipeline_decode(d->vocab->pipeline, d->vocab, d->ids.ids, count, d->flags, out,
                               error);
    }
    if (!resume_character(d, out) || !clean_up_end(&d->clean, out))
        return fail_memory(error);
    restart(d);
    return GUFO_OK;
}

gufo_detokenizer *gufo_detokenizer_new(const gufo_vocab *vocab, uint32_t flags, gufo_error *error)
{
    gufo_detokenizer *d = mem_object(&vocab->allocator, sizeof *d, error);

    if (d != NULL && start(d, vocab, flags, error) != GUFO_OK) {
        gufo_detokenizer_free(d);
        return NULL;
    }
    return d;
}

void gufo_detokenizer_free(gufo_detokenizer *d)
{
    gufo_allocator allocator;

    if (d == NULL)
        return;
    allocator = d->allocator;
    gufo_text_free(&d->piece);
    gufo_ids_free(&d->ids);
    mem_free(&allocator, d);
}

gufo_status gufo_detokenize(const gufo_vocab *vocab, const uint32_t *ids, size_t count,
                            uint32_t flags, gufo_text *out, gufo_error *error)
{
    gufo_detokenizer d;
    gufo_status status = start(&d, vocab, flags, error);

    if (status == GUFO_OK)
        status = gufo_detokenizer_feed(&d, ids, count, out, error);
    if (status == GUFO_OK)
        status = gufo_detokenizer_end(&d, out, error);
    gufo_text_free(&d.piece);
    gufo_ids_free(&d.ids);
    return status;
}

gufo_status gufo_token_piece(const gufo_vocab *vocab, uint32_t id, gufo_text *out,
                             gufo_error *error)
{
    gufo_status status = check_ids(vocab, &id, 1, error);

    if (status == GUFO_OK && vocab->pipeline != NULL)
        return pipeline_decode(vocab->pipeline, vocab, &id, 1, 0, out, error);
    if (status == GUFO_OK && !piece_add(vocab, id, out))
        status = fail_memory(error);
    return status;
}
