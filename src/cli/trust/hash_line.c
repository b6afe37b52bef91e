/* Lines of a manifest.
 *
 * Names go out as they are, so that other tools find their own lines; but one that would break the
 * line, or act on a terminal, or is not text, is escaped, and a backslash before the line says
 * so. */
#include "cli/trust/hash.h"

#include "cli/core/text.h"

static void put_name(FILE *out, gufo_str name, bool escaped)
{
    if (escaped)
        text_put(out, name, TEXT_QUOTED);
    else
        fwrite(name.data, 1, name.len, out);
}

void hash_put_lines(FILE *out, uint32_t algorithms, const gufo_digests *digests, const char *path,
                    const gufo_str *tensor)
{
    gufo_str file = gufo_str_of(path);
    bool escaped = !text_is_clean(file) || (tensor != NULL && !text_is_clean(*tensor));
    char text[GUFO_DIGEST_TEXT];

    for (unsigned i = 0; i < GUFO_DIGEST_COUNT; i++) {
        if ((algorithms >> i & 1) == 0 || (tensor != NULL && gufo_digest_kind_of(i)->file_only))
            continue;
        (void)gufo_digest_text(i, digests->bytes[i], text);
        fprintf(out, "%s%-8s  %s  ", escaped ? "\\" : "", gufo_digest_kind_of(i)->name, text);
        put_name(out, file, escaped);
        if (tensor != NULL) {
            putc(':', out);
            put_name(out, *tensor, escaped);
        }
        putc('\n', out);
    }
}
