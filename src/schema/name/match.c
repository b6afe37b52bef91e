/* Matching a file name against the naming convention.
 *
 * The expression of the specification begins with a base name that can be divided in very many
 * ways; an engine that tries them one after the other needs exponential time.  Here is why there is
 * at most one division that counts.  Cut the name, without ".gguf", at every '-' into components
 *
 *     Phi - 3 - mini - 3.8B - ContextLength4k - instruct - v1.0 - Q4_0
 *
 *  - Tail: version, encoding, type, shard.  Each is a component (the shard three), each but the
 *    version may be absent, and an encoding never looks like a type.  So there are eight forms of
 *    tail, and each leaves one place for the version: at most the sixth component from the end.
 *  - Base name: any number of components, whole ones, since its characters include no '-'.  After
 *    the first one, those that begin with a digit have no letters.  A size label begins with a digit
 *    and ends in a letter: no component can be both.  The base name is greedy, so with a size label
 *    it ends before the first component that it cannot hold, and that one has to be the label.  Only
 *    if that fails may it be shorter: the size label is then absent, and the expression wants "--"
 *    before the version.
 *  - In between, what is left is one more component of the size label, then the fine tune.
 *
 * The first success of a backtracking engine is the one whose choices come first in this order:
 * with a sidecar; with a size label; with its second component; the longest fine tune, that is, the
 * shortest tail; and without a size label the longest base name, that is again the shortest tail.
 * That is the order of the loops below.  Every step is one scan, their number is fixed: time is
 * linear. */
#include "schema/name/name.h"

#include "gufo/codec.h"
#include "gufo/schema.h"

/* ---- encodings that are known --------------------------------------------------------------- */

/* Labels that the field uses beside the names of file types and element types. */
static const char *const more_encodings[] = {
    "FP16",    "FP32",   "Q2_K_L",  "Q2_K_XL", "Q3_K_XL", "Q4_K_L",
    "Q4_K_XL", "Q5_K_L", "Q5_K_XL", "Q6_K_L",  "Q6_K_XL", "Q8_K_XL",
};

const gufo_file_type *name_file_type(gufo_str encoding)
{
    const gufo_file_type *type;

    for (size_t i = 0; (type = gufo_file_type_at(i)) != NULL; i++)
        if (str_same_folded(encoding, gufo_str_of(type->name)))
            return type;
    return NULL;
}

static bool is_known_encoding(gufo_str text)
{
    for (size_t i = 0; i < gufo_element_type_count(); i++)
        if (str_same_folded(text, gufo_str_of(gufo_element_type_at(i)->name)))
            return true;
    for (size_t i = 0; i < sizeof more_encodings / sizeof *more_encodings; i++)
        if (str_same_folded(text, gufo_str_of(more_encodings[i])))
            return true;
    return name_file_type(text) != NULL;
}

/* ---- tails ---------------------------------------------------------------------------------- */

/* What comes after the version, as bits: in the order of these numbers, shorter tails go first. */
enum { WITH_ENCODING = 1, WITH_TYPE = 2, WITH_SHARD = 4, FORM_COUNT = 8 };

/* The tails that fit the end of a name. */
typedef struct tails {
    struct {
        gufo_name parts;
        size_t front; /* where what comes before them ends */
    } items[FORM_COUNT];
    size_t count;
} tails;

/* Cuts the last component off, and the '-' before it; false if nothing comes before that. */
static bool cut(gufo_str *text, gufo_str *component)
{
    size_t start = text->len;

    while (start > 0 && text->data[start - 1] != '-')
        start--;
    if (start == 0)
        return false;
    *component = name_slice(*text, start, text->len);
    text->len = start - 1;
    return true;
}

static bool cut_shard(gufo_str *text, gufo_str *shard)
{
    gufo_str number, of, count;
    gufo_str rest = *text;

    if (!cut(&rest, &count) || !cut(&rest, &of) || !cut(&rest, &number))
        return false;
    *shard = name_slice(*text, rest.len + 1, text->len);
    *text = rest;
    return name_is_shard(*shard);
}

static bool read_tail(gufo_str stem, unsigned form, bool versioned, gufo_name *parts, size_t *front)
{
    *parts = (gufo_name){.version = gufo_str_of(NAME_DEFAULT_VERSION)};
    if ((form & WITH_SHARD) && !cut_shard(&stem, &parts->shard))
        return false;
    if ((form & WITH_TYPE) && !(cut(&stem, &parts->type) && name_is_type(parts->type)))
        return false;
    if ((form & WITH_ENCODING) &&
        !(cut(&stem, &parts->encoding) && name_is_encoding(parts->encoding)))
        return false;
    if (versioned && !(cut(&stem, &parts->version) && name_is_version(parts->version)))
        return false;
    *front = stem.len;
    return versioned || !(form & WITH_ENCODING) || is_known_encoding(parts->encoding);
}

/* Without a version, only a known spelling distinguishes an encoding from a fine tune: then the
 * longest tail comes first. */
static void read_tails(gufo_str stem, bool versioned, tails *out)
{
    out->count = 0;
    for (unsigned i = 0; i < FORM_COUNT; i++)
        out->count += read_tail(stem, versioned ? i : FORM_COUNT - 1 - i, versioned,
                                &out->items[out->count].parts, &out->items[out->count].front);
}

/* ---- what comes before ---------------------------------------------------------------------- */

/* Where the longest base name ends: at the '-' before the first component that cannot be part of
 * it, or at the end.  False if the name begins with something that no base name begins with. */
static bool find_base_end(gufo_str stem, size_t *end)
{
    size_t at = name_component(stem, 0);

    if (!name_is_base(name_slice(stem, 0, at), true))
        return false;
    while (at < stem.len) {
        size_t next = at + 1 + name_component(stem, at + 1);

        if (!name_is_base(name_slice(stem, at + 1, next), false))
            break;
        at = next;
    }
    *end = at;
    return true;
}

/* With a size label that ends at `size_end`, and then a fine tune, if anything comes before the
 * tail. */
static bool fits_sized(gufo_str stem, size_t base_end, size_t size_end, const tails *ends,
                       gufo_name *out)
{
    size_t fine_end = size_end + str_span(stem, size_end, name_is_tune);

    for (size_t i = 0; i < ends->count; i++) {
        size_t front = ends->items[i].front;
        bool fine = front > size_end + 1 && front <= fine_end;

        if (front != size_end && !fine)
            continue;
        *out = ends->items[i].parts;
        out->base_name = name_slice(stem, 0, base_end);
        out->size_label = name_slice(stem, base_end + 1, size_end);
        if (fine)
            out->fine_tune = name_slice(stem, size_end + 1, front);
        return true;
    }
    return false;
}

static bool match_sized(gufo_str stem, size_t base_end, const tails *ends, gufo_name *out)
{
    size_t size_end = base_end + 1 + name_component(stem, base_end + 1);
    size_t second_end = size_end;

    if (!name_is_size(name_slice(stem, base_end + 1, size_end)))
        return false;
    if (size_end < stem.len)
        second_end = size_end + 1 + name_component(stem, size_end + 1);
    if (second_end > size_end && name_is_attribute(name_slice(stem, size_end + 1, second_end)) &&
        fits_sized(stem, base_end, second_end, ends, out))
        return true;
    return fits_sized(stem, base_end, size_end, ends, out);
}

/* "Llama--v1.0": what comes before the '-' of the version ends in another one. */
static bool match_unsized(gufo_str stem, size_t base_end, const tails *ends, gufo_name *out)
{
    for (size_t i = 0; i < ends->count; i++) {
        size_t front = ends->items[i].front;

        if (front == 0 || stem.data[front - 1] != '-' || front - 1 > base_end)
            continue;
        *out = ends->items[i].parts;
        out->base_name = name_slice(stem, 0, front - 1);
        return true;
    }
    return false;
}

static bool match_after_sidecar(gufo_str stem, bool versioned, gufo_name *out)
{
    size_t base_end;
    tails ends;

    if (!find_base_end(stem, &base_end))
        return false;
    read_tails(stem, versioned, &ends);
    if (base_end < stem.len && match_sized(stem, base_end, &ends, out))
        return true;
    return versioned && match_unsized(stem, base_end, &ends, out);
}

bool name_match_parts(gufo_str stem, bool versioned, gufo_name *out)
{
    size_t len = name_sidecar(stem);

    if (len > 0 && match_after_sidecar(name_slice(stem, len, stem.len), versioned, out)) {
        out->sidecar = name_slice(stem, 0, len - 1);
        return true;
    }
    if (match_after_sidecar(stem, versioned, out))
        return true;
    *out = (gufo_name){0};
    return false;
}

bool gufo_name_match(gufo_str name, gufo_name *out)
{
    gufo_name unwanted;
    gufo_str stem, part;

    if (out == NULL)
        out = &unwanted;
    *out = (gufo_name){0};
    if (!name_stem(name, &stem))
        return false;
    if (name_match_parts(stem, true, out) && name_fault(out, &part) == NULL)
        return true;
    *out = (gufo_name){0};
    return false;
}
