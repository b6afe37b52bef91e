/* Ids to text.
 *
 *     ids --> BOS, EOS --> pieces --> first space --> clean-up --> whole characters --> text
 *
 * An EOS that may be the last id waits for the next one; clean-up holds spaces and apostrophes back;
 * the last step holds back a character that is not complete.  What has passed all of them is final,
 * and so the text does not depend on how ids come in. */
#include "base/error.h"
#include "base/memory.h"
#include "text/clean_up.h"
#include "base/buffer.h"
#include "text/piece.h"
#include "text/pipeline/pipeline.h"
#include "text/vocabulary/vocabulary.h"

#include <inttypes.h>
#include <string.h>

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
            return refuse(error, GUFO_E_RANGE, "no token %" PRIu32 ": the vocabulary has %s tokens",
                          ids[i], GROUPED(vocab->size));
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
