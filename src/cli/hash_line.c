/* Lines of a manifest.
 *
 * Names go out as they are, so that other tools find their own lines; but one that would break the
 * line, or act on a terminal, or is not text, is escaped, and a backslash before the line says
 * so. */
#include "cli/hash.h"

#include "base/utf8.h"
#include "cli/text.h"

static bool needs_escapes(gufo_str text)
{
    uint32_t code_point;
    size_t step;

    for (; text.len > 0; text.data += step, text.len -= step) {
        step = utf8_decode(text, &code_point);
        if (step == 0 || utf8_is_control(code_point))
            return true;
    }
    return false;
}

static void put_name(FILE *out, gufo_str name, bool escaped)
{
    if (escaped)
        text_put(out, name, TEXT_QUOTED);
    else
        fwrite(name.data, 1, name.len, out);
}

void hash_put_line(FILE *out, gufo_digest_algorithm algorithm, const uint8_t *digest,
                   const char *path, const gufo_str *tensor)
{
    gufo_str file = gufo_str_of(path);
    bool escaped = needs_escapes(file) || (tensor != NULL && needs_escapes(*tensor));
    char text[GUFO_DIGEST_TEXT];

    (void)gufo_digest_text(algorithm, digest, text);
    fprintf(out, "%s%-8s  %s  ", escaped ? "\\" : "", gufo_digest_kind_of(algorithm)->name, text);
    put_name(out, file, escaped);
    if (tensor != NULL) {
        putc(':', out);
        put_name(out, *tensor, escaped);
    }
    putc('\n', out);
}

void hash_put_lines(FILE *out, uint32_t algorithms, const gufo_digests *digests, const char *path,
                    const gufo_str *tensor)
{
    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        gufo_digest_algorithm algorithm = (gufo_digest_algorithm)i;

        if ((algorithms >> i & 1) != 0 &&
            (tensor == NULL || !gufo_digest_kind_of(algorithm)->file_only))
            hash_put_line(out, algorithm, digests->bytes[i], path, tensor);
    }
}
