/* Lines of key files and signature files. */
#include "digest/signature.h"

#include <string.h>

#include "base/error.h"

bool text_line(gufo_str *rest, gufo_str *line)
{
    const char *newline = rest->len > 0 ? memchr(rest->data, '\n', rest->len) : NULL;
    size_t len = newline != NULL ? (size_t)(newline - rest->data) : rest->len;

    if (rest->len == 0)
        return false;
    *line = (gufo_str){rest->data, len};
    if (len > 0 && line->data[len - 1] == '\r')
        line->len--;
    len += newline != NULL;
    *rest = (gufo_str){rest->data + len, rest->len - len};
    return true;
}

bool signature_skip(gufo_str *line, const char *beginning)
{
    size_t len = strlen(beginning);

    if (line->len < len || memcmp(line->data, beginning, len) != 0)
        return false;
    *line = (gufo_str){line->data + len, line->len - len};
    return true;
}

bool signature_ends(gufo_str rest)
{
    gufo_str line;

    while (text_line(&rest, &line))
        if (line.len > 0)
            return false;
    return true;
}

#ifdef GUFO_SODIUM
#include <sodium.h>

bool signature_bytes(gufo_str *rest, uint8_t *out, size_t size)
{
    gufo_str line;
    size_t read;

    return text_line(rest, &line) &&
           sodium_base642bin(out, size, line.data, line.len, NULL, &read, NULL,
                             sodium_base64_VARIANT_ORIGINAL) == 0 &&
           read == size;
}

bool signature_read(gufo_str *rest, uint8_t *out, size_t size)
{
    gufo_str line;

    return text_line(rest, &line) && signature_skip(&line, UNTRUSTED) &&
           signature_bytes(rest, out, size);
}

int signature_put(char *text, const uint8_t *bytes, size_t size)
{
    size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);

    (void)sodium_bin2base64(text, room, bytes, size, sodium_base64_VARIANT_ORIGINAL);
    memcpy(text + room - 1, "\n", 2);
    return (int)room;
}
#endif

gufo_status signature_missing(gufo_error *error)
{
    return refuse(error, GUFO_E_TYPE,
                  "signatures are not available: this library was built without libsodium "
                  "(Debian package libsodium-dev)");
}

void gufo_key_id_text(const uint8_t id[8], char text[17])
{
    static const char hex[] = "0123456789ABCDEF";

    /* A number, whose last byte is the first one of the file. */
    for (size_t i = 0; i < 8; i++) {
        text[2 * i] = hex[id[7 - i] >> 4];
        text[2 * i + 1] = hex[id[7 - i] & 15];
    }
    text[16] = '\0';
}
