/* What this gufo was built with. */
#include "cli/core/options/built_in.h"

#include "cli/core/options/names.h"

#include <stdbool.h>

#ifdef GUFO_HAS_DIGEST
#include "digest/built_in.h"
#else
enum { DIGEST_LIBRARIES = 3 };
typedef struct digest_library {
    const char *name, *version;
} digest_library;

static digest_library digest_library_at(size_t index)
{
    return (digest_library[]){{"xxHash", NULL}, {"libcrypto", NULL}, {"libsodium", NULL}}[index];
}
#endif

#ifdef GUFO_HAS_IMPORT
#include <jansson.h>
#include <yaml.h>
#else
#define JANSSON_VERSION NULL
#define yaml_get_version_string() NULL
#endif

#ifdef GUFO_HAS_LEGACY
#define LEGACY "" /* of no version */
#else
#define LEGACY NULL
#endif

#ifdef GUFO_HAS_TEXT
#include <utf8proc.h>
#else
#define utf8proc_version() NULL
#endif

/* Writes a line with the parts that this build has, or with those that it lacks. */
static void put_line(FILE *out, const char *before, const digest_library *libraries, size_t count,
                     bool there)
{
    const char *separator = before;

    for (size_t i = 0; i < count; i++) {
        if ((libraries[i].version != NULL) != there)
            continue;
        fprintf(out, "%s%s%s%s", separator, libraries[i].name,
                there && *libraries[i].version != '\0' ? " " : "",
                there ? libraries[i].version : "");
        separator = ", ";
    }
    if (separator != before)
        putc('\n', out);
}

void built_in_print(FILE *out)
{
    enum { LIBRARIES = DIGEST_LIBRARIES + 5 };
    digest_library libraries[LIBRARIES];

    for (size_t i = 0; i < DIGEST_LIBRARIES; i++)
        libraries[i] = digest_library_at(i);
    libraries[DIGEST_LIBRARIES] = (digest_library){"PCRE2", pattern_version()};
    libraries[DIGEST_LIBRARIES + 1] = (digest_library){"Jansson", JANSSON_VERSION};
    libraries[DIGEST_LIBRARIES + 2] = (digest_library){"utf8proc", utf8proc_version()};
    libraries[DIGEST_LIBRARIES + 3] = (digest_library){"libyaml", yaml_get_version_string()};
    libraries[DIGEST_LIBRARIES + 4] = (digest_library){"formats before GGUF", LEGACY};
    put_line(out, "with: ", libraries, LIBRARIES, true);
    put_line(out, "without: ", libraries, LIBRARIES, false);
}

/* ---- what checks take from the library of texts ---------------------------------------------- */

#ifdef GUFO_HAS_TEXT

#include "gufo/template.h"
#include "gufo/vocab.h"

gufo_template_judge *const template_judge = gufo_template_lint;
gufo_tokenizer_json_reader *const tokenizer_json_reader = gufo_tokenizer_json_tokens;

#else

gufo_template_judge *const template_judge = NULL;
gufo_tokenizer_json_reader *const tokenizer_json_reader = NULL;

#endif
