/* Lines of key files and signature files. */
#include "digest/signature.h"

#include <string.h>

#include "base/error.h"
#include "digest/base64.h"

bool signature_line(gufo_str *rest, gufo_str *line)
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

bool signature_read(gufo_str *rest, uint8_t *out, size_t size)
{
    gufo_str line;

    return signature_line(rest, &line) && signature_skip(&line, UNTRUSTED) &&
           signature_line(rest, &line) && base64_read(line, out, size);
}

bool signature_ends(gufo_str rest)
{
    gufo_str line;

    while (signature_line(&rest, &line))
        if (line.len > 0)
            return false;
    return true;
}

gufo_status signature_missing(gufo_error *error)
{
    return fail_with(error, GUFO_E_TYPE, GUFO_NO_OFFSET,
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
