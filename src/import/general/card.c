/* The model card of Hugging Face: a README.md that begins with YAML between two lines "---". */
#include "import/general/card.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/files/source.h"
#include "base/memory.h"
#include "base/text.h"
#include "import/general/yaml.h"

/* Cards with long tables of results have half a megabyte. */
enum { CARD_LIMIT = 4 << 20 };

#define CARD_NAME "README.md"

/* ---- the text ------------------------------------------------------------------------------- */

static bool is_fence(gufo_str line)
{
    return gufo_str_equal(line, gufo_str_of("---"));
}

/* Whether a text begins with front matter. */
static bool has_front_matter(gufo_str text)
{
    size_t at = 0;

    return text.len > 0 && is_fence(str_line(text, &at));
}

/* Copies the front matter with LF at the end of its lines and two spaces for a tab: at most twice as
 * many bytes.  False if it does not end where the text was cut. */
static bool copy_front_matter(gufo_str text, bool cut, char *out, size_t *len)
{
    size_t at = 0;

    *len = 0;
    for ((void)str_line(text, &at); at < text.len;) {
        gufo_str line = str_line(text, &at);

        if (is_fence(line))
            return true;
        for (size_t i = 0; i < line.len; i++) {
            if (line.data[i] == '\t')
                out[(*len)++] = ' ';
            out[(*len)++] = line.data[i] == '\t' ? ' ' : line.data[i];
        }
        out[(*len)++] = '\n';
    }
    return !cut;
}

/* ---- values --------------------------------------------------------------------------------- */

/* No card, for this reason. */
static gufo_status ignore(gufo_import *im, const char *reason, gufo_error *error)
{
    return import_warn(im, error, "%s: %s; gufo ignores it", CARD_NAME, reason);
}

static gufo_status read_values(gufo_import *im, gufo_str text, json_t **card, gufo_error *error)
{
    yaml_fault fault;

    if (gufo_utf8_valid_prefix(text) != text.len)
        return ignore(im, "its front matter is not UTF-8", error);
    if (text.len > 0 && memchr(text.data, '\0', text.len) != NULL)
        return ignore(im, "its front matter has a NUL byte", error);
    *card = yaml_read(text, &fault);
    if (*card == NULL && fault.reason == NULL)
        return fail_memory(error);
    if (*card == NULL) /* the first line of the file is the fence */
        return import_warn(im, error, "%s: line %" PRIu64 ": %s; gufo ignores it", CARD_NAME,
                           fault.line + 2, fault.reason);
    if (json_is_object(*card))
        return GUFO_OK;
    json_decref(*card);
    *card = NULL;
    return ignore(im, "its front matter is not a mapping", error);
}

static gufo_status read_text(gufo_import *im, gufo_str text, json_t **card, gufo_error *error)
{
    bool cut = text.len > CARD_LIMIT;
    gufo_status status;
    size_t len;
    char *copy;

    if (!has_front_matter(text))
        return GUFO_OK;
    copy = mem_alloc(&im->allocator, 2 * text.len + 1);
    if (copy == NULL)
        return fail_memory(error);
    status = copy_front_matter(text, cut, copy, &len)
                 ? read_values(im, (gufo_str){copy, len}, card, error)
                 : ignore(im, "its front matter has more than 4 MiB", error);
    mem_free(&im->allocator, copy);
    return status;
}

/* ---- the file ------------------------------------------------------------------------------- */

static gufo_status read_file(gufo_import *im, const source *s, json_t **card, gufo_error *error)
{
    gufo_error reason = {.code = GUFO_OK};
    size_t len = (size_t)smaller(s->size, CARD_LIMIT + 1);
    char *bytes = mem_alloc(&im->allocator, len + 1);
    gufo_status status;

    if (bytes == NULL)
        return fail_memory(error);
    status = source_read(s, 0, bytes, len, &reason) != GUFO_OK
                 ? ignore(im, reason.message, error)
                 : read_text(im, (gufo_str){bytes, len}, card, error);
    mem_free(&im->allocator, bytes);
    return status;
}

gufo_status card_read(gufo_import *im, const model_config *config, json_t **card, gufo_error *error)
{
    gufo_error reason = {.code = GUFO_OK};
    gufo_status status;
    source s;

    *card = NULL;
    if (!source_folder_has(&config->folder, CARD_NAME))
        return GUFO_OK;
    status = source_folder_open(&config->folder, CARD_NAME, &im->allocator, &s, &reason) != GUFO_OK
                 ? ignore(im, reason.message, error)
                 : read_file(im, &s, card, error);
    source_close(&s);
    return status;
}
