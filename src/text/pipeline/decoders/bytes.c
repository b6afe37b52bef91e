/* Decoders of bytes: ByteLevel and ByteFallback. */
#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "text/pipeline/decoders/decoding.h"
#include "text/vocabulary/byte_alphabet.h"
#include "text/vocabulary/characters.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static bool put_replacement(gufo_text *out)
{
    return text_add(out, REPLACEMENT, sizeof REPLACEMENT - 1);
}

/* ---- ByteLevel ------------------------------------------------------------------------------ */

static void read_byte_level(step_reading *r, decoder_step *step)
{
    (void)step;
    (void)step_flag(r, "add_prefix_space");
    (void)step_flag(r, "trim_offsets");
}

/* The bytes of a token; or, where some character is not of the alphabet, its text. */
static bool put_bytes(gufo_str token, gufo_text *out)
{
    size_t before = out->len, size;

    if (!text_reserve(out, token.len))
        return false;
    for (size_t at = 0; at < token.len; at += size) {
        int byte = byte_alphabet_byte(lenient_decode(token.data + at, token.len - at, &size));

        if (byte < 0) {
            out->len = before;
            return text_add(out, token.data, token.len);
        }
        text_put_byte(out, (char)byte);
    }
    return true;
}

/* The length of what begins like a character, but is none: the longest begin of a valid sequence. */
static size_t broken_length(gufo_str text)
{
    static const struct {
        uint8_t first, last;     /* of the first byte */
        uint8_t lowest, highest; /* of the second one */
        uint8_t size;
    } forms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                 {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                 {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    const uint8_t *bytes = (const uint8_t *)text.data;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t len = 1;

        if (bytes[0] < forms[i].first || bytes[0] > forms[i].last)
            continue;
        if (text.len == 1 || bytes[1] < forms[i].lowest || bytes[1] > forms[i].highest)
            return 1;
        while (len < text.len && len < forms[i].size && (bytes[len] & 0xC0) == 0x80)
            len++;
        return len;
    }
    return 1;
}

/* Bytes as text: what is broken is U+FFFD, one for each begin of a sequence. */
static bool put_text(gufo_str bytes, gufo_text *out)
{
    while (bytes.len > 0) {
        size_t valid = gufo_utf8_valid_prefix(bytes);

        if (!text_add(out, bytes.data, valid))
            return false;
        bytes = str_from(bytes, valid);
        if (bytes.len == 0)
            break;
        if (!put_replacement(out))
            return false;
        bytes = str_from(bytes, broken_length(bytes));
    }
    return true;
}

static gufo_status run_byte_level(const decoder_step *step, decoding *d)
{
    gufo_text *bytes = &d->spare[0];

    (void)step;
    bytes->len = 0;
    for (uint64_t i = 0; i < d->in.count; i++)
        if (!put_bytes(token_at(&d->in, i), bytes))
            return fail_memory(d->error);
    return put_text((gufo_str){bytes->data, bytes->len}, &d->out.bytes) && token_end(&d->out)
               ? GUFO_OK
               : fail_memory(d->error);
}

const decoder_kind decoder_byte_level = {
    .type = "ByteLevel", .read = read_byte_level, .run = run_byte_level};

/* ---- ByteFallback --------------------------------------------------------------------------- */

/* The byte that a token stands for, <0x0A>; -1: none.  (The library reads "+A" as a number, too.) */
static int byte_of(gufo_str token)
{
    int value = 0;

    if (token.len != 6 || !str_begins(token, "<0x") || token.data[5] != '>')
        return -1;
    for (size_t i = 3; i < 5; i++) {
        int digit = hex_digit(token.data[i]);

        if (token.data[i] == '+' && i == 3)
            continue;
        if (digit < 0)
            return -1;
        value = 16 * value + digit;
    }
    return value;
}

/* Bytes in a row: text if they are, else a replacement for each. */
static bool put_run(gufo_text *run, token_texts *out)
{
    gufo_str bytes = {run->data, run->len};
    bool enough = true;

    if (bytes.len == 0)
        return true;
    run->len = 0;
    if (gufo_utf8_valid_prefix(bytes) == bytes.len)
        return token_put(out, bytes) && token_end(out);
    for (size_t i = 0; i < bytes.len && enough; i++)
        enough = put_replacement(&out->bytes) && token_end(out);
    return enough;
}

static gufo_status run_byte_fallback(const decoder_step *step, decoding *d)
{
    gufo_text *run = &d->spare[0];
    bool enough = true;

    (void)step;
    run->len = 0;
    for (uint64_t i = 0; i < d->in.count && enough; i++) {
        gufo_str token = token_at(&d->in, i);
        int byte = byte_of(token);

        enough = byte >= 0
                     ? text_add(run, &(char){(char)byte}, 1)
                     : put_run(run, &d->out) && token_put(&d->out, token) && token_end(&d->out);
    }
    return enough && put_run(run, &d->out) ? GUFO_OK : fail_memory(d->error);
}

const decoder_kind decoder_byte_fallback = {.type = "ByteFallback", .run = run_byte_fallback};
