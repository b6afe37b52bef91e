/* Reading addresses.  Each part is cut off the front and checked before it is kept. */
#include "remote/places/address.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "remote/ollama/name.h"
#include "remote/places/services.h"
#include "schema/syntax/syntax.h"

/* ---- the grammar of names ------------------------------------------------------------------- */

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

static bool has(gufo_str text, const char *part)
{
    return str_search(text, gufo_str_of(part)) != NULL;
}

/* An organization, a user, or a repository of theirs. */
static bool is_repository_name(gufo_str name)
{
    return name.len > 0 && name.len < ADDRESS_NAME && str_is_plain(name, "-._") &&
           is_word(name.data[0]) && is_word(name.data[name.len - 1]) && !has(name, "..") &&
           !has(name, "--") && !str_ends(name, ".git");
}

/* What people write for an element type: "Q4_K_M", "bf16", "UD-Q2_K_XL", or "latest". */
static bool is_type(gufo_str text)
{
    bool digit = gufo_str_equal(text, gufo_str_of("latest"));

    for (size_t i = 0; i < text.len; i++)
        digit = digit || is_digit(text.data[i]);
    return digit && text.len < ADDRESS_TAG && str_is_plain(text, "-._") && is_letter(text.data[0]);
}

bool address_is_commit(gufo_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_hex(text.data[i]) || is_upper(text.data[i]))
            return false;
    return text.len == 40 || text.len == 64;
}

/* A branch, a tag or a commit.  Slashes are for what the service itself makes: refs/pr/1. */
static bool is_revision(gufo_str text)
{
    static const char *const made[] = {"refs/pr/", "refs/convert/"};

    if (text.len >= ADDRESS_REVISION)
        return false;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (str_begins(text, made[i]))
            text = str_from(text, strlen(made[i]));
    return text.len > 0 && str_is_plain(text, "-._+") && is_word(text.data[0]) && !has(text, "..");
}

/* Takes what is before the mark, or all of it; *rest moves behind the mark. */
static gufo_str cut(gufo_str *rest, char mark)
{
    const char *at = rest->len > 0 ? memchr(rest->data, mark, rest->len) : NULL;
    gufo_str part = *rest;

    part.len = at != NULL ? (size_t)(at - rest->data) : rest->len;
    *rest = str_from(*rest, at != NULL ? part.len + 1 : part.len);
    return part;
}

static bool has_control(gufo_str text)
{
    while (text.len > 0) {
        uint32_t character;
        size_t size = gufo_utf8_decode(text, &character);

        if (size == 0 || gufo_utf8_is_control(character) || character == '\\')
            return true;
        text = str_from(text, size);
    }
    return false;
}

bool address_is_path(gufo_str text)
{
    enum { LONGEST_NAME = 255 };
    bool is_last = false;

    if (text.len == 0 || text.len >= ADDRESS_PATH || has_control(text))
        return false;
    while (!is_last) {
        gufo_str name;

        is_last = memchr(text.data, '/', text.len) == NULL;
        name = cut(&text, '/');
        if (name.len == 0 || name.len > LONGEST_NAME || gufo_str_equal(name, gufo_str_of(".")) ||
            gufo_str_equal(name, gufo_str_of("..")))
            return false;
        if (!is_last && text.len == 0)
            return false;
    }
    return true;
}

/* ---- keeping parts -------------------------------------------------------------------------- */

typedef bool part_check(gufo_str text);

/* Copies a part that its grammar allows, which is then shorter than the room.  `needs` says what it is. */
static gufo_status keep(char *out, gufo_str part, part_check *check, const char *needs,
                        gufo_error *error)
{
    if (!check(part))
        return refuse(error, GUFO_E_ARGUMENT, "%s is not %s", QUOTED(part), needs);
    memcpy(out, part.data, part.len);
    out[part.len] = '\0';
    return GUFO_OK;
}

#define KEEP_OWNER(a, part) \
    keep((a)->owner, part, is_repository_name, "the name of a user or an organization", error)
#define KEEP_NAME(a, part) \
    keep((a)->name, part, is_repository_name, "the name of a repository", error)
#define KEEP_REVISION(a, part)                                                                   \
    keep((a)->revision, part, is_revision, "a revision: a branch, a tag, a commit or refs/pr/N", \
         error)
#define KEEP_TYPE(a, part) keep((a)->tag, part, is_type, "an element type such as Q4_K_M", error)

/* A path in a repository; one that ends with a slash, or is empty, means all below it. */
static gufo_status keep_path(address *a, gufo_str part, gufo_error *error)
{
    a->is_folder = part.len == 0 || part.data[part.len - 1] == '/';
    if (part.len == 0)
        return GUFO_OK;
    part.len -= a->is_folder;
    return keep(a->path, part, address_is_path, "a path in a repository", error);
}

/* Bytes that are escaped in an address of a browser; in place.  False: an escape is malformed, or hides a
 * NUL. */
static bool unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        if (hex_digit(from[1]) < 0 || hex_digit(from[2]) < 0)
            return false;
        *to = (char)(hex_digit(from[1]) * 16 + hex_digit(from[2]));
        if (*to++ == '\0')
            return false;
        from += 2;
    }
    *to = '\0';
    return true;
}

/* ---- repositories --------------------------------------------------------------------------- */

static const repository_type *cut_type(gufo_str *rest)
{
    const repository_type *type;

    for (size_t i = 0; (type = repository_type_at(i)) != NULL; i++)
        if (str_begins(*rest, type->word)) {
            *rest = str_from(*rest, strlen(type->word));
            return type;
        }
    return repository_type_at(0);
}

/* The length of a revision behind "@": those that the service makes have slashes, which may be written as
 * they are, or escaped. */
static size_t revision_len(gufo_str text)
{
    static const char *const made[] = {"refs/pr/", "refs/convert/"};
    size_t from = 0;

    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (str_begins(text, made[i]))
            from = strlen(made[i]);
    while (from < text.len && text.data[from] != '/' && text.data[from] != ':')
        from++;
    return from;
}

static gufo_status read_revision(gufo_str text, address *out, gufo_error *error)
{
    char plain[ADDRESS_REVISION];

    if (text.len >= sizeof plain)
        return refuse(error, GUFO_E_LIMIT, "a revision has at most %d bytes", ADDRESS_REVISION - 1);
    memcpy(plain, text.data, text.len);
    plain[text.len] = '\0';
    if (memchr(plain, '\0', text.len) != NULL || !unescape(plain))
        return KEEP_REVISION(out, text);
    return KEEP_REVISION(out, gufo_str_of(plain));
}

/* NAME[@REVISION] and what follows it: /PATH or :TYPE. */
static gufo_status read_name(gufo_str rest, address *out, gufo_error *error)
{
    size_t len = 0, revision;
    gufo_status status;

    while (len < rest.len && memchr("@/:", rest.data[len], 3) == NULL)
        len++;
    status = KEEP_NAME(out, ((gufo_str){rest.data, len}));
    rest = str_from(rest, len);
    if (status == GUFO_OK && str_begins(rest, "@")) {
        rest = str_from(rest, 1);
        revision = revision_len(rest);
        status = read_revision((gufo_str){rest.data, revision}, out, error);
        rest = str_from(rest, revision);
    }
    if (status != GUFO_OK)
        return status;
    return str_begins(rest, ":") ? KEEP_TYPE(out, str_from(rest, 1))
                                 : keep_path(out, str_from(rest, rest.len > 0), error);
}

static gufo_status read_repository(gufo_str rest, address *out, gufo_error *error)
{
    gufo_status status;

    out->type = cut_type(&rest);
    if (memchr(rest.data, '/', rest.len) == NULL)
        return refuse(error, GUFO_E_ARGUMENT, "%s does not name a repository as OWNER/NAME",
                      QUOTED(rest));
    status = KEEP_OWNER(out, cut(&rest, '/'));
    return status == GUFO_OK ? read_name(rest, out, error) : status;
}

/* OWNER/NAME[/WORD/REVISION[/PATH]], as browsers show it; the words after which files are named. */
static bool is_page_word(gufo_str word)
{
    return str_is_word(word, "resolve blob tree");
}

static bool read_page_text(gufo_str text, address *out)
{
    gufo_error *error = NULL;
    gufo_str word;
    size_t len;

    out->type = cut_type(&text);
    if (KEEP_OWNER(out, cut(&text, '/')) != GUFO_OK || KEEP_NAME(out, cut(&text, '/')) != GUFO_OK)
        return false;
    out->is_folder = text.len == 0;
    if (text.len == 0)
        return true;
    word = cut(&text, '/');
    if (!is_page_word(word))
        return false;
    len = revision_len(text);
    if (KEEP_REVISION(out, ((gufo_str){text.data, len})) != GUFO_OK ||
        keep_path(out, str_from(text, len + (len < text.len)), error) != GUFO_OK)
        return false;
    out->is_folder = out->is_folder || gufo_str_equal(word, gufo_str_of("tree"));
    return true;
}

/* False: it is another page, and just an address. */
static bool read_page(gufo_str rest, address *out)
{
    char plain[ADDRESS_MOST + 1];

    rest = cut(&rest, '?');
    rest = cut(&rest, '#');
    if (rest.len > ADDRESS_MOST)
        return false;
    memcpy(plain, rest.data, rest.len);
    plain[rest.len] = '\0';
    return unescape(plain) && read_page_text(gufo_str_of(plain), out);
}

/* ---- registries ----------------------------------------------------------------------------- */

/* Copies a part, if it fits. */
static bool copy(char *out, size_t room, gufo_str part)
{
    if (part.len >= room)
        return false;
    memcpy(out, part.data, part.len);
    out[part.len] = '\0';
    return true;
}

static gufo_status read_model(gufo_str rest, address *out, gufo_error *error)
{
    ollama_name name;
    gufo_status status = ollama_name_read(rest, &name, error);

    if (status != GUFO_OK)
        return status;
    if (!copy(out->host, sizeof out->host, name.host) ||
        !copy(out->owner, sizeof out->owner, name.owner) ||
        !copy(out->name, sizeof out->name, name.model) ||
        !copy(out->tag, sizeof out->tag, name.tag))
        return refuse(error, GUFO_E_LIMIT, "a part of the name %s is too long", QUOTED(rest));
    if (gufo_str_equal(name.host, gufo_str_of(out->service->host)))
        out->host[0] = '\0';
    return GUFO_OK;
}

/* library/NAME[:TAG] or OWNER/NAME[:TAG]. */
static bool read_model_page(gufo_str rest, address *out)
{
    rest = cut(&rest, '?');
    return memchr(rest.data, '/', rest.len) != NULL && read_model(rest, out, NULL) == GUFO_OK &&
           out->host[0] == '\0';
}

/* ---- the web -------------------------------------------------------------------------------- */

static gufo_status read_web(gufo_str text, address *out, gufo_error *error)
{
    gufo_str rest = text, authority;
    syntax_result result;

    (void)cut(&rest, '/');
    (void)cut(&rest, '/');
    authority = cut(&rest, '/');
    if (authority.len > 0 && memchr(authority.data, '@', authority.len) != NULL)
        return refuse(
            error, GUFO_E_ARGUMENT,
            "an address with a user or a password is refused: other programs would see it");
    if (has_control(text))
        return refuse(
            error, GUFO_E_ARGUMENT,
            "the address has a backslash, a control character or bytes that are not UTF-8");
    result = syntax_url(text);
    if (result.verdict != SYNTAX_OK)
        return refuse(error, GUFO_E_ARGUMENT, "the address is malformed: %s %s",
                      result.part.len > 0 ? "a part of it" : "it", result.reason);
    out->url = text;
    return GUFO_OK;
}

/* ---- any of them ---------------------------------------------------------------------------- */

typedef struct reader {
    gufo_status (*read)(gufo_str rest, address *out, gufo_error *error);
    bool (*page)(gufo_str rest, address *out); /* NULL: it has none */
} reader;

static const reader readers[] = {
    [ADDRESS_OF_REPOSITORY] = {read_repository, read_page},
    [ADDRESS_OF_MODEL] = {read_model, read_model_page},
    [ADDRESS_OF_WEB] = {read_web, NULL},
};

/* The prefix of a list that the text begins with, in any case; 0: none. */
static size_t prefix_of(gufo_str text, const char *const prefixes[SERVICE_PREFIXES])
{
    for (size_t i = 0; i < SERVICE_PREFIXES && prefixes[i] != NULL; i++)
        if (str_begins_folded(text, prefixes[i]))
            return strlen(prefixes[i]);
    return 0;
}

/* OWNER/NAME:TYPE, well-formed. */
static bool is_short(gufo_str text)
{
    gufo_str name, owner = cut(&text, '/');

    name = cut(&text, ':');
    return is_repository_name(owner) && is_repository_name(name) && is_type(text);
}

/* The service that an address is of, by what it begins with; *skipped is how much of it that is. */
static const place_service *service_of(gufo_str text, size_t *skipped, bool *bare)
{
    const place_service *service;

    *bare = false;
    for (size_t i = 0; (service = service_at(i)) != NULL; i++)
        if ((*skipped = prefix_of(text, service->prefixes)) > 0)
            return service;
    *bare = true;
    for (size_t i = 0; (service = service_at(i)) != NULL; i++)
        if ((*skipped = prefix_of(text, service->bare)) > 0)
            return service;
    *skipped = 0;
    return is_short(text) ? service_at(0) : NULL;
}

bool address_is_one(gufo_str text)
{
    size_t skipped;
    bool bare;

    return service_of(text, &skipped, &bare) != NULL;
}

/* The address of a page in a browser names what the page shows. */
static bool read_any_page(gufo_str text, address *out)
{
    const place_service *service;

    for (size_t i = 0; (service = service_at(i)) != NULL; i++) {
        size_t skipped = prefix_of(text, service->pages);

        *out = (address){.service = service};
        if (skipped > 0 && readers[service->form].page(str_from(text, skipped), out))
            return true;
    }
    return false;
}

gufo_status address_read(gufo_str text, address *out, gufo_error *error)
{
    size_t skipped;
    const place_service *service;
    bool bare;

    *out = (address){.service = NULL};
    if (text.len > ADDRESS_MOST)
        return refuse(error, GUFO_E_LIMIT, "an address has at most %s bytes, and this one %s",
                      GROUPED(ADDRESS_MOST), GROUPED(text.len));
    service = service_of(text, &skipped, &bare);
    if (service == NULL)
        return refuse(error, GUFO_E_ARGUMENT,
                      "%s is not an address: hf://, ollama://, ms:// or https://", QUOTED(text));
    if (service->form == ADDRESS_OF_WEB && read_any_page(text, out))
        return GUFO_OK;
    *out = (address){.service = service, .may_be_file = bare};
    if (service->form == ADDRESS_OF_WEB)
        skipped = 0; /* the scheme is a part of it */
    return readers[service->form].read(str_from(text, skipped), out, error);
}
