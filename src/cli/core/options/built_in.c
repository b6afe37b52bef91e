/* What this gufo was built with. */
#include "cli/core/options/built_in.h"

#include "cli/core/options/names.h"

#include <stdbool.h>

typedef struct library {
    const char *name, *version; /* NULL: gufo was built without it */
} library;

#ifdef GUFO_HAS_DIGEST
#include "gufo/digest.h"
#else
static bool gufo_digest_library_at(size_t index, const char **name, const char **version)
{
    static const char *const names[] = {"xxHash", "libcrypto", "libsodium"};

    if (index >= sizeof names / sizeof *names)
        return false;
    *name = names[index];
    *version = NULL;
    return true;
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

#ifdef GUFO_HAS_REMOTE
#include <curl/curlver.h>
#else
#define LIBCURL_VERSION NULL
#endif

#ifdef GUFO_HAS_TEXT
#include <utf8proc.h>
#else
#define utf8proc_version() NULL
#endif

/* Writes a line with the parts that this build has, or with those that it lacks. */
static void put_line(FILE *out, const char *before, const library *libraries, size_t count,
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
    enum { OWN = 6, MOST = OWN + 8 };
    const library own[OWN] = {
        {"PCRE2", pattern_version()},     {"Jansson", JANSSON_VERSION},
        {"utf8proc", utf8proc_version()}, {"libyaml", yaml_get_version_string()},
        {"libcurl", LIBCURL_VERSION},     {"formats before GGUF", LEGACY}};
    library libraries[MOST];
    size_t count = 0;

    while (count + OWN < MOST &&
           gufo_digest_library_at(count, &libraries[count].name, &libraries[count].version))
        count++;
    for (size_t i = 0; i < OWN; i++)
        libraries[count++] = own[i];
    put_line(out, "with: ", libraries, count, true);
    put_line(out, "without: ", libraries, count, false);
}

/* ---- what checks take from the library of texts ---------------------------------------------- */

#ifdef GUFO_HAS_TEXT

#include "gufo/template.h"
#include "gufo/vocab.h"

gufo_template_judge_fn *const template_judge = gufo_template_lint;
gufo_tokenizer_json_fn *const tokenizer_json_reader = gufo_tokenizer_json_tokens;

#else

gufo_template_judge_fn *const template_judge = NULL;
gufo_tokenizer_json_fn *const tokenizer_json_reader = NULL;

#endif
