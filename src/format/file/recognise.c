/* Recognises files that are not GGUF files: broken downloads leave web pages, pointers and
 * archives. */
#include "base/bytes.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "format/file/file.h"
#include "format/value/value.h"
#include "gufo/format.h"

/* The draft of the first proposal of GGUF (June 2023), which says that it is version 1, too.
 *
 *     version 1    key  type:u32  value
 *     the draft    key  length of the value:u32  type:u32  value
 *
 * Its tensor infos have another field as well, and its keys other names.  What it is shows in the first
 * two entries (one could be either): read as entries of the draft, the second key of a file of
 * version 1 has its own letters as a length. */

enum { COUNT_AT = 12, START = 16, LENGTH = 4, LONGEST_KEY = 65535, LAST_TYPE = GUFO_VALUE_ARRAY };

static uint32_t number_at(const uint8_t *at)
{
    return load_u32(at, bytes_swapped(false));
}

/* Whether a value of this length is one of that type; *size becomes its bytes.  A string's length
 * may be that of its text alone. */
static bool is_value(uint32_t type, uint32_t len, const uint8_t *at, uint64_t left, uint64_t *size)
{
    uint64_t text;

    *size = len;
    if (type > LAST_TYPE)
        return false;
    if (type != GUFO_VALUE_STRING && type != GUFO_VALUE_ARRAY)
        return len == value_type_row(type)->size;
    if (left < LENGTH)
        return false;
    if (type == GUFO_VALUE_ARRAY)
        return len >= 2 * LENGTH;
    text = number_at(at);
    *size = LENGTH + text;
    return len == text || len == *size;
}

static bool is_key(const uint8_t *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return len > 0;
}

/* An entry at *at, which moves behind it. */
static bool is_entry(const uint8_t *data, uint64_t size, uint64_t *at)
{
    uint64_t key_at = *at + LENGTH, value_at, value_size;
    uint32_t key;

    if (size < key_at)
        return false;
    key = number_at(data + *at);
    if (key > LONGEST_KEY || size - key_at < key + 2 * (uint64_t)LENGTH ||
        !is_key(data + key_at, key))
        return false;
    value_at = key_at + key + 2 * (uint64_t)LENGTH;
    *at = value_at;
    if (!is_value(number_at(data + value_at - LENGTH), number_at(data + value_at - 2 * LENGTH),
                  data + value_at, size - value_at, &value_size) ||
        value_size > size - value_at)
        return false;
    *at += value_size;
    return true;
}

bool draft_recognise(const void *file, uint64_t size)
{
    const uint8_t *data = file;
    uint64_t at = START;

    return size >= START && number_at(data + LENGTH) == 1 && number_at(data + COUNT_AT) >= 2 &&
           is_entry(data, size, &at) && is_entry(data, size, &at);
}

typedef struct signature {
    const char *bytes;
    size_t len;
    const char *kind;
} signature;

#define SIGNATURE(bytes, kind)        \
    {                                 \
        bytes, sizeof bytes - 1, kind \
    }

/* Exact first bytes. */
static const signature signatures[] = {
    SIGNATURE("version https://git-lfs", "a Git LFS pointer; the model itself was not downloaded"),
    SIGNATURE("PK\003\004", "a ZIP archive"),
    SIGNATURE("PK\005\006", "an empty ZIP archive"),
    SIGNATURE("PK\007\010", "a ZIP archive in several parts"),
    SIGNATURE("lmgg", "a legacy GGML model (unversioned)"),
    SIGNATURE("fmgg", "a legacy GGMF model"),
    SIGNATURE("tjgg", "a legacy GGJT model"),
    SIGNATURE("ccgg", "a legacy GGCC model (falcon)"),
    SIGNATURE("algg", "a legacy GGLA adapter"),
    SIGNATURE("nsgg", "a llama.cpp session file"),
    SIGNATURE("FUGG", "a GGUF file with its magic number swapped"),
    SIGNATURE("\200\002", "a Python pickle (an old PyTorch checkpoint)"),
    SIGNATURE("\200\003", "a Python pickle (an old PyTorch checkpoint)"),
    SIGNATURE("\200\004", "a Python pickle (an old PyTorch checkpoint)"),
    SIGNATURE("\200\005", "a Python pickle (an old PyTorch checkpoint)"),
    SIGNATURE("\037\213", "a gzip archive"),
    SIGNATURE("\050\265\057\375", "a Zstandard archive"),
    SIGNATURE("7z\274\257\047\034", "a 7z archive"),
    SIGNATURE("\3757zXZ", "an xz archive"),
    SIGNATURE("BZh", "a bzip2 archive"),
    SIGNATURE("Rar!", "a RAR archive"),
    SIGNATURE("\211HDF\r\n", "an HDF5 file"),
    SIGNATURE("\223NUMPY", "a NumPy array"),
    SIGNATURE("%PDF", "a PDF document"),
    SIGNATURE("\177ELF", "an ELF program"),
    SIGNATURE("#!", "a script"),
};

/* First characters of a text, after blanks and a byte order mark, in any case. */
static const signature texts[] = {
    SIGNATURE("<!doctype html", "an HTML page: the download returned a web page, not the file"),
    SIGNATURE("<html", "an HTML page: the download returned a web page, not the file"),
    SIGNATURE("<head", "an HTML page: the download returned a web page, not the file"),
    SIGNATURE("<!--", "an HTML page: the download returned a web page, not the file"),
    SIGNATURE("<?xml", "an XML document, perhaps an error message of the store"),
    SIGNATURE("<error>", "an XML document, perhaps an error message of the store"),
    SIGNATURE("invalid username or password",
              "an answer of the Hub: the model needs a login, or does not exist"),
    SIGNATURE("access to model ",
              "an answer of the Hub: the model is gated, and access was not granted"),
    SIGNATURE("entry not found", "an answer of the Hub: no such file is in the repository"),
    SIGNATURE("repository not found", "an answer of the Hub: there is no such repository"),
    SIGNATURE("{", "a JSON text, perhaps an error message of the server"),
    SIGNATURE("[", "a JSON text, perhaps an error message of the server"),
};

static const char *match_signature(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (size >= signatures[i].len && memcmp(data, signatures[i].bytes, signatures[i].len) == 0)
            return signatures[i].kind;
    return NULL;
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

static bool begins_with(const unsigned char *data, size_t size, const signature *text)
{
    if (size < text->len)
        return false;
    for (size_t i = 0; i < text->len; i++)
        if (lower(data[i]) != (unsigned char)text->bytes[i])
            return false;
    return true;
}

static const char *match_text(const unsigned char *data, size_t size)
{
    size_t start = size >= 3 && memcmp(data, "\357\273\277", 3) == 0 ? 3 : 0;

    while (start < size && memchr(" \t\r\n", data[start], 4) != NULL)
        start++;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (begins_with(data + start, size - start, &texts[i]))
            return texts[i].kind;
    return NULL;
}

/* A safetensors file begins with the length of a JSON object and the object. */
static bool is_safetensors(const unsigned char *data, size_t size)
{
    static const uint64_t largest_header = 100 * 1000 * 1000;

    return size >= 10 && data[8] == '{' && memchr("\"} \n", data[9], 4) != NULL &&
           load_u64(data, bytes_swapped(false)) <= largest_header;
}

/* Space that was reserved for a download that never came. */
static bool is_zero(const unsigned char *data, size_t size)
{
    return data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
}

/* The first member of a PyTorch checkpoint is NAME/data.pkl; its name is behind 30 bytes of other fields. */
static bool is_torch(const unsigned char *data, size_t size)
{
    static const char member[] = "/data.pkl";
    enum { NAME = 30, NAME_SIZE = 26, LEN = sizeof member - 1 };
    size_t end = size >= NAME ? NAME + (size_t)load_u16(data + NAME_SIZE, bytes_swapped(false)) : 0;

    return end >= NAME + LEN && end <= size && memcmp(data, "PK\003\004", 4) == 0 &&
           memcmp(data + end - LEN, member, LEN) == 0;
}

/* Its text gives the magic number as 0x47475546, which puts the last letter first. */
static bool is_swapped_draft(const unsigned char *data, size_t size)
{
    return size >= 4 && memcmp(data, "FUGG", 4) == 0 && draft_recognise(data, size);
}

const char *gufo_recognise(const void *data, size_t size)
{
    const char *kind;

    if (size == 0)
        return "an empty file";
    if (is_zero(data, size))
        return "nothing but zeros, as an interrupted download leaves them";
    if (is_swapped_draft(data, size))
        return DRAFT_KIND;
    if (is_torch(data, size))
        return "a PyTorch checkpoint (a ZIP archive)";
    kind = match_signature(data, size);
    if (kind == NULL && is_safetensors(data, size))
        kind = "a safetensors file";
    return kind != NULL ? kind : match_text(data, size);
}
