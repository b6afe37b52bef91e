/* Why a file name does not conform: the first part, from the left, that is missing or refused. */
#include "schema/name/name.h"

#include "base/error.h"
#include "gufo/print.h"

#include <inttypes.h>

/* What is looked at. */
typedef struct inquiry {
    gufo_str name;
    gufo_str stem; /* without sidecar and extension */
    gufo_error *error;
} inquiry;

/* Fails at byte `at` of the name. */
static gufo_status fail_at(const inquiry *q, uint64_t at, const char *message)
{
    return fail_with(q->error, GUFO_E_MALFORMED, at, "%s", message);
}

/* The byte of the name where a view into it begins. */
static uint64_t place(const inquiry *q, gufo_str part)
{
    return (uint64_t)(part.data - q->name.data);
}

static gufo_status fail_empty(const inquiry *q, uint64_t at, const char *what)
{
    return fail_with(q->error, GUFO_E_MALFORMED, at,
                     "%s is empty: one '-' too many at byte %" PRIu64, what, at);
}

/* Says of a part what is wrong with it, and why in two pieces. */
static gufo_status fail_part(const inquiry *q, gufo_str part, const char *fault, const char *more)
{
    return fail_with(q->error, GUFO_E_MALFORMED, place(q, part), "%s at byte %" PRIu64 " %s%s",
                     QUOTED(part), place(q, part), fault, more);
}

/* The component that begins at `from`. */
static gufo_str component_at(gufo_str text, size_t from)
{
    return name_slice(text, from, from + name_component(text, from));
}

/* The first character that is not of a class; empty if none exists. */
static gufo_str find_refused(gufo_str text, bool (*is_in_class)(char))
{
    size_t at = str_span(text, 0, is_in_class);
    uint32_t code;
    size_t len = at < text.len ? gufo_utf8_decode(str_from(text, at), &code) : 0;

    return name_slice(text, at, at < text.len && len == 0 ? at + 1 : at + len);
}

/* ---- after the version ---------------------------------------------------------------------- */

/* What follows the version is not in its order, or is none of the parts that can be there. */
static gufo_status fail_after_version(const inquiry *q, gufo_str rest)
{
    static bool (*const tests[])(gufo_str) = {name_is_encoding, name_is_type};
    gufo_str part = component_at(rest, 0);

    for (size_t i = 0; i < sizeof tests / sizeof *tests && part.len < rest.len; i++) {
        if (!tests[i](part))
            continue;
        rest = name_slice(rest, part.len + 1, rest.len);
        part = component_at(rest, 0);
    }
    if (part.len == 0)
        return fail_empty(q, place(q, part), "a part after the version");
    return fail_part(q, part,
                     "cannot be there: after the version come an encoding, LoRA or vocab, and a "
                     "shard such as 00001-of-00003, in this order",
                     "");
}

/* ---- between size label and version --------------------------------------------------------- */

/* Finds the last version from byte `from` on; false if none exists. */
static bool find_version(gufo_str stem, size_t from, gufo_str *version)
{
    bool found = false;

    for (size_t at = from; at <= stem.len; at += name_component(stem, at) + 1) {
        gufo_str part = component_at(stem, at);

        if (name_is_version(part)) {
            *version = part;
            found = true;
        }
    }
    return found;
}

/* `after` is where the size label ends. */
static gufo_status fail_after_size(const inquiry *q, size_t after)
{
    gufo_str stem = q->stem, version, refused;
    bool found = after < stem.len && find_version(stem, after + 1, &version);
    size_t end = found ? (size_t)(version.data - stem.data) : stem.len;

    refused = find_refused(name_slice(stem, after, end), name_is_tune);
    if (refused.len > 0)
        return fail_part(q, refused,
                         "is refused: a fine tune holds ASCII letters, digits, blanks and '-'",
                         found ? "" : "; and a version such as v1.0 is missing");
    if (!found)
        return fail_at(q, place(q, stem) + stem.len, "the version is missing, such as v1.0");
    if (end == after + 2)
        return fail_empty(q, place(q, stem) + after + 1, "the fine tune");
    size_t version_end = end + version.len;

    return fail_after_version(q, name_slice(stem, version_end + 1, stem.len));
}

/* ---- base name and size label --------------------------------------------------------------- */

/* The component `part` is the first one that the base name cannot hold, and it is not a size
 * label. */
static gufo_status fail_size(const inquiry *q, gufo_str part)
{
    gufo_str refused = find_refused(part, name_is_plain);

    if (name_is_version(part))
        return fail_at(q, place(q, part),
                       "the size label is missing before the version, such as 7B or 8x7B");
    if (refused.len == 0)
        return fail_part(q, part,
                         "is neither a size label such as 7B, 3.8B or 8x7B nor part of a base "
                         "name, where what begins with a digit has no letters",
                         "");
    return fail_with(
        q->error, GUFO_E_MALFORMED, place(q, refused),
        "%s at byte %" PRIu64
        " is refused: %s is not a size label such as 7B, 3.8B or 8x7B, and a base name "
        "holds ASCII letters, digits, blanks and '-'",
        QUOTED(refused), place(q, refused), QUOTED(part));
}

/* No component can be a size label. */
static gufo_status fail_unsized(const inquiry *q)
{
    gufo_str version;

    return find_version(q->stem, 0, &version)
               ? fail_size(q, version)
               : fail_at(q, place(q, q->stem) + q->stem.len,
                         "a size label such as 7B or 8x7B and a version such as v1.0 are missing");
}

static gufo_status fail_parts(const inquiry *q)
{
    gufo_str stem = q->stem, part = component_at(stem, 0);
    size_t after;

    if (!name_is_base(part, true))
        return fail_part(q, find_refused(part, name_is_plain),
                         "is refused: a base name begins with ASCII letters, digits and blanks",
                         "");
    do {
        size_t next = (size_t)(part.data - stem.data) + part.len + 1;

        if (next > stem.len)
            return fail_unsized(q);
        part = component_at(stem, next);
    } while (name_is_base(part, false));
    if (!name_is_size(part))
        return fail_size(q, part);
    after = (size_t)(part.data - stem.data) + part.len;
    part = after < stem.len ? component_at(stem, after + 1) : part;
    if (name_is_attribute(part))
        after += 1 + part.len;
    return fail_after_size(q, after);
}

/* ---- the whole name ------------------------------------------------------------------------- */

/* Only the version is missing; it belongs after the part that comes last before the encoding. */
static gufo_status fail_version(const inquiry *q, const gufo_name *parts)
{
    gufo_str last = parts->fine_tune.data != NULL ? parts->fine_tune : parts->size_label;

    return fail_with(q->error, GUFO_E_MALFORMED, place(q, last) + last.len,
                     "the version is missing after %s; %s is assumed", QUOTED(last),
                     NAME_DEFAULT_VERSION);
}

gufo_status gufo_name_explain(gufo_str name, gufo_name *out, gufo_error *error)
{
    inquiry q = {.name = name, .error = error};
    gufo_name unwanted;
    gufo_str version, part;
    const char *fault;

    if (out == NULL)
        out = &unwanted;
    *out = (gufo_name){0};
    if (!name_stem(name, &q.stem))
        return fail_with(error, GUFO_E_MALFORMED, name.len, "the name does not end in .gguf");
    if (name_match_parts(q.stem, true, out)) {
        fault = name_fault(out, &part);
        return fault == NULL ? GUFO_OK : fail_part(&q, part, fault, "");
    }
    if (name_match_parts(q.stem, false, out) && !find_version(out->fine_tune, 0, &version))
        return fail_version(&q, out);
    *out = (gufo_name){0};
    q.stem = name_slice(q.stem, name_sidecar(q.stem), q.stem.len);
    return fail_parts(&q);
}
