/* Reading manifests.
 *
 *     sha256    7dd641b32f59b60dbd4b5420c4b0f6321ccf48f58f6ae201a3dbc4a58a27c6e4  tiny model.gguf
 *     word      word                                                             rest of the line
 *
 * Two spaces come before the name, which may itself begin with spaces; any other space or tab
 * between the words does as well.  It also reads what sha256sum and its relatives write: a hash of
 * all bytes of a file, whose length or tag says which algorithm it is.
 *
 *     7dd641b32f59b60dbd4b5420c4b0f6321ccf48f58f6ae201a3dbc4a58a27c6e4 *tiny model.gguf
 *     SHA256 (tiny model.gguf) = 7dd641b32f59b60dbd4b5420c4b0f6321ccf48f58f6ae201a3dbc4a58a27c6e4
 *
 * The text is copied once; escapes are taken out of names in
 * place, where they only become shorter. */
#include "digest/manifest.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "gufo/print.h"
#include "digest/algorithm.h"
#include "digest/signature.h"

/* Where reading is. */
typedef struct reader {
    gufo_manifest *manifest;
    char *at, *end;  /* of the line that is read */
    uint64_t number; /* of it */
    uint64_t offset; /* in the text */
    gufo_error *error;
} reader;

static gufo_status malformed(const reader *r, const char *what)
{
    return fail_with(r->error, GUFO_E_MALFORMED, r->offset, "line %" PRIu64 ": %s", r->number,
                     what);
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_spaces(reader *r)
{
    while (r->at < r->end && is_space(*r->at))
        r->at++;
}

static gufo_str take_word(reader *r)
{
    char *begin = r->at;

    while (r->at < r->end && !is_space(*r->at))
        r->at++;
    return (gufo_str){begin, (size_t)(r->at - begin)};
}

/* The hash in the form that gufo_digest_text gives it, or with upper-case digits. */
static bool parse_digest(gufo_str word, gufo_digest_algorithm algorithm, uint8_t *digest)
{
    size_t size = gufo_digest_kind_of(algorithm)->size;
    char text[GUFO_DIGEST_TEXT];
    size_t digits = 0;

    memset(digest, 0, GUFO_DIGEST_SIZE);
    /* The text of the zeros shows where dashes belong. */
    if (word.len != gufo_digest_text(algorithm, digest, text))
        return false;
    for (size_t i = 0; i < word.len; i++) {
        int value = hex_digit(word.data[i]);

        if (text[i] == '-' && word.data[i] == '-')
            continue;
        if (text[i] == '-' || value < 0 || digits / 2 >= size)
            return false;
        digest[digits / 2] = (uint8_t)(digest[digits / 2] << 4 | value);
        digits++;
    }
    return true;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* What follows `\u`: "{1b}". */
static bool unescape_character(reader *r, char **out)
{
    const gufo_str rest = {r->at, (size_t)(r->end - r->at)};
    uint64_t value;
    size_t digits;

    if (rest.len == 0 || *rest.data != '{')
        return false;
    digits = str_hex(rest, 1, 6, &value);
    if (digits == 0 || digits + 1 == rest.len || rest.data[digits + 1] != '}' || value > 0x10ffff)
        return false;
    r->at += digits + 2;
    *out += gufo_utf8_encode((uint32_t)value, *out);
    return true;
}

/* One escape, whose backslash has been read; its meaning is never longer. */
static bool unescape(reader *r, char **out)
{
    static const char names[] = "nrt\\\"", values[] = "\n\r\t\\\"";
    const char *found;
    uint64_t value;
    char kind;

    if (r->at == r->end)
        return false;
    kind = *r->at++;
    if (kind == 'u')
        return unescape_character(r, out);
    if (kind == 'x') {
        if (str_hex((gufo_str){r->at, (size_t)(r->end - r->at)}, 0, 2, &value) < 2)
            return false;
        r->at += 2;
        *(*out)++ = (char)value;
        return true;
    }
    found = kind != '\0' ? strchr(names, kind) : NULL;
    if (found != NULL)
        *(*out)++ = values[found - names];
    return found != NULL;
}

/* The rest of the line. */
static gufo_status take_name(reader *r, bool escaped, gufo_str *name)
{
    char *begin = r->at, *out = escaped ? r->at : r->end;

    while (escaped && r->at < r->end) {
        char c = *r->at++;

        if (c != '\\')
            *out++ = c;
        else if (!unescape(r, &out))
            return malformed(r,
                             "an escape in the name is not one of \\n, \\r, \\t, \\\\, \\\", \\xHH "
                             "and \\u{HEX}");
    }
    *name = (gufo_str){begin, (size_t)(out - begin)};
    return GUFO_OK;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static gufo_status add_line(manifest_lines *m, const gufo_manifest_line *line, gufo_error *error)
{
    gufo_manifest_line *place = buffer_extend(&m->room, sizeof *line);

    if (place == NULL)
        return fail_memory(error);
    *place = *line;
    m->lines = (gufo_manifest_line *)m->room.data;
    m->count++;
    return GUFO_OK;
}

static gufo_status fail_algorithm(const reader *r, gufo_str word)
{
    return fail_with(r->error, GUFO_E_MALFORMED, r->offset,
                     "line %" PRIu64
                     ": %s is not an algorithm; a line is ALGORITHM HASH NAME, with "
                     "xxh64, sha1, sha256, blake2b or uuid",
                     r->number, QUOTED(word));
}

/* ALGORITHM HASH NAME, after the first word. */
static gufo_status read_gufo(reader *r, bool escaped, gufo_manifest_line *line)
{
    gufo_status status;

    skip_spaces(r);
    if (!parse_digest(take_word(r), line->algorithm, line->digest))
        return malformed(r, "the second word is not a hash of this algorithm");
    for (int i = 0; i < 2 && r->at < r->end && is_space(*r->at); i++)
        r->at++;
    if (r->at == r->end)
        return malformed(r, "the name is missing");
    status = take_name(r, escaped, &line->name);
    return status == GUFO_OK ? add_line(&r->manifest->data, line, r->error) : status;
}

/* HASH, a space, a space or an asterisk, NAME, after the hash; or just a hash. */
static gufo_status read_gnu(reader *r, bool escaped, gufo_manifest_line *line)
{
    gufo_status status = GUFO_OK;

    line->name = gufo_str_of("-");
    if (r->at < r->end)
        r->at++;
    if (r->at < r->end && (is_space(*r->at) || *r->at == '*'))
        r->at++;
    if (r->at < r->end)
        status = take_name(r, escaped, &line->name);
    return status == GUFO_OK ? add_line(&r->manifest->files, line, r->error) : status;
}

/* "(NAME) = HASH", after the tag: a name may hold anything, so that the last ") = " counts. */
static gufo_status read_bsd(reader *r, bool escaped, gufo_manifest_line *line)
{
    static const char between[] = ") = ";
    enum { BETWEEN = sizeof between - 1 };
    char *begin = r->at + 2, *at = r->end - BETWEEN, *end = r->end;
    gufo_status status;

    while (at > begin && memcmp(at, between, BETWEEN) != 0)
        at--;
    if (at <= begin || r->at[0] != ' ' || r->at[1] != '(' ||
        !parse_digest((gufo_str){at + BETWEEN, (size_t)(end - at) - BETWEEN}, line->algorithm,
                      line->digest))
        return malformed(r, "a line with a tag has the form ALGORITHM (NAME) = HASH");
    r->at = begin;
    r->end = at;
    status = take_name(r, escaped, &line->name);
    return status == GUFO_OK ? add_line(&r->manifest->files, line, r->error) : status;
}

static bool is_bsd(gufo_str word, gufo_digest_algorithm *algorithm)
{
    static const char *const tags[] = {[GUFO_DIGEST_XXH64] = "XXH64",
                                       [GUFO_DIGEST_SHA1] = "SHA1",
                                       [GUFO_DIGEST_SHA256] = "SHA256",
                                       [GUFO_DIGEST_BLAKE2B] = "BLAKE2b"};

    for (unsigned i = 0; i < sizeof tags / sizeof *tags; i++)
        if (gufo_str_equal(word, gufo_str_of(tags[i]))) {
            *algorithm = (gufo_digest_algorithm)i;
            return true;
        }
    return false;
}

/* A hash as the first word: its length says which algorithm it is. */
static bool is_gnu(gufo_str word, gufo_manifest_line *line)
{
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++)
        if (!gufo_digest_kind_of((gufo_digest_algorithm)i)->file_only &&
            parse_digest(word, (gufo_digest_algorithm)i, line->digest)) {
            line->algorithm = (gufo_digest_algorithm)i;
            return true;
        }
    return false;
}

static gufo_status read_line(reader *r)
{
    gufo_manifest_line line = {.number = r->number};
    gufo_str word;
    bool escaped;

    skip_spaces(r);
    if (r->at == r->end || *r->at == '#')
        return GUFO_OK;
    escaped = *r->at == '\\';
    r->at += escaped;
    word = take_word(r);
    if (algorithm_named(word, &line.algorithm))
        return read_gufo(r, escaped, &line);
    if (is_bsd(word, &line.algorithm) && r->end - r->at > 2)
        return read_bsd(r, escaped, &line);
    return is_gnu(word, &line) ? read_gnu(r, escaped, &line) : fail_algorithm(r, word);
}

static gufo_status read_lines(gufo_manifest *m, size_t size, gufo_error *error)
{
    reader r = {.manifest = m, .error = error};
    gufo_str rest = {m->names, size}, line;
    gufo_status status = GUFO_OK;

    while (status == GUFO_OK && text_line(&rest, &line)) {
        r.number++;
        r.offset = (uint64_t)(line.data - m->names);
        r.at = m->names + r.offset;
        r.end = r.at + line.len;
        status = read_line(&r);
    }
    if (status == GUFO_OK && m->data.count + m->files.count == 0)
        return fail_with(error, GUFO_E_MALFORMED, 0, "this manifest has no line with a hash");
    return status;
}

gufo_manifest *gufo_manifest_parse(gufo_str text, const gufo_parse_options *options,
                                   gufo_error *error)
{
    const gufo_allocator *allocator = mem_allocator(options != NULL ? options->allocator : NULL);
    gufo_manifest *m;
    gufo_status status;

    if (parse_options_check(options, error) != GUFO_OK)
        return NULL;
    m = mem_zero(allocator, sizeof *m);
    if (m == NULL) {
        (void)fail_memory(error);
        return NULL;
    }
    m->data.room.allocator = m->files.room.allocator = allocator;
    m->names = mem_text(allocator, text);
    status = m->names != NULL ? read_lines(m, text.len, error) : fail_memory(error);
    if (status == GUFO_OK)
        return m;
    gufo_manifest_free(m);
    return NULL;
}

void gufo_manifest_free(gufo_manifest *m)
{
    const gufo_allocator *allocator = m != NULL ? m->data.room.allocator : NULL;

    if (m == NULL)
        return;
    mem_free(allocator, m->names);
    buffer_free(&m->data.room);
    buffer_free(&m->files.room);
    mem_free(allocator, m);
}

static bool line_at(const manifest_lines *lines, uint64_t index, gufo_manifest_line *out)
{
    if (index >= lines->count)
        return false;
    if (out != NULL)
        *out = lines->lines[index];
    return true;
}

uint64_t gufo_manifest_count(const gufo_manifest *m)
{
    return m->data.count;
}

bool gufo_manifest_at(const gufo_manifest *m, uint64_t index, gufo_manifest_line *out)
{
    return line_at(&m->data, index, out);
}

uint64_t gufo_manifest_file_count(const gufo_manifest *m)
{
    return m->files.count;
}

bool gufo_manifest_file_at(const gufo_manifest *m, uint64_t index, gufo_manifest_line *out)
{
    return line_at(&m->files, index, out);
}
