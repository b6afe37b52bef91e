/* Names of tensors.  The table is sorted by the names of the frameworks, in which {bid} is the number
 * of a block (schema/registry/pattern.h finds the rows).  Few names have two of them. */
#include "import/architectures/operations/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "gufo/schema.h"
#include "schema/registry/pattern.h"

typedef struct name_row {
    const char *source;
    const char *tensor;
    const char *architectures;
} name_row;

static const name_row rows[] = {
#define ROW(source, tensor, architectures) {source, tensor, architectures},
#include "registry/hf_tensor_names.inc"
#undef ROW
};

bool names_row_at(size_t index, const char **source, const char **tensor)
{
    if (index >= sizeof rows / sizeof *rows)
        return false;
    *source = rows[index].source;
    *tensor = rows[index].tensor;
    return true;
}

static bool names_arch(const char *list, gufo_str architecture)
{
    bool excluded = list[0] == '!', found = false;

    list += excluded;
    if (list[0] == '\0')
        return true;
    while (list[0] != '\0' && !found)
        found = gufo_str_equal(str_piece(&list, ','), architecture);
    return found != excluded;
}

/* Whether an architecture has a tensor: its rows have names in the second place. */
static bool has_tensor(const char *architecture, const name_parts *name)
{
    size_t count;
    const gufo_arch_tensor *tensors = gufo_arch_tensors(architecture, &count);

    return count > 0 && row_find_parts(&tensors->name, count, sizeof *tensors, name) != NULL;
}

/* The tensor that a name of the frameworks means; NULL: none. */
static const char *find_tensor(const char *architecture, const name_parts *name)
{
    size_t count;
    const name_row *found = row_find_all_parts(ROWS(rows), name, &count);

    while (count-- > 0) {
        const name_parts tensor = {.parts = {gufo_str_of(found[count].tensor)}, .count = 1};

        if (names_arch(found[count].architectures, gufo_str_of(architecture)) &&
            has_tensor(architecture, &tensor))
            return found[count].tensor;
    }
    return NULL;
}

/* Writes a tensor's name with the block's number, and a suffix; false: too long. */
static bool write_name(const char *tensor, uint64_t block, const char *suffix,
                       char out[GUFO_MAX_NAME + 1])
{
    const char *place = strstr(tensor, "{bid}");
    int len = place == NULL
                  ? snprintf(out, GUFO_MAX_NAME + 1, "%s%s", tensor, suffix)
                  : snprintf(out, GUFO_MAX_NAME + 1, "%.*s%" PRIu64 "%s%s", (int)(place - tensor),
                             tensor, block, place + strlen("{bid}"), suffix);

    return len >= 0 && len <= GUFO_MAX_NAME;
}

/* A name with a block's number is looked for first, as in the tables of the frameworks those of
 * blocks come last.  A tensor's own name stays. */
static bool map_part(const char *architecture, gufo_str part, const char *suffix,
                     char out[GUFO_MAX_NAME + 1])
{
    static const char *const block[2] = {"{bid}", NULL}, *const none[2] = {NULL, NULL};

    for (int with_block = 1; with_block >= 0; with_block--) {
        number_segment number;
        const name_parts name = name_parts_read(part, with_block ? block : none, &number);
        const char *tensor = find_tensor(architecture, &name);

        if (tensor != NULL && (number.found || strstr(tensor, "{bid}") == NULL))
            return write_name(tensor, number.found ? number.value : 0, suffix, out);
        if (tensor == NULL && has_tensor(architecture, &name) &&
            memchr(part.data, '{', part.len) == NULL)
            return snprintf(out, GUFO_MAX_NAME + 1, "%.*s%s", (int)part.len, part.data, suffix) <=
                   GUFO_MAX_NAME;
    }
    return false;
}

/* Where the digits begin that end the segment which ends at `end`: not the whole of it, and as programs print
 * numbers; `end`: none do. */
static size_t digits_before(gufo_str name, size_t end)
{
    size_t at = end;

    while (at > 0 && is_digit(name.data[at - 1]))
        at--;
    if (at == end || at == 0 || name.data[at - 1] == '.' || (name.data[at] == '0' && end - at > 1))
        return end;
    return at;
}

/* Names in which the number is the end of a segment: "linear_{bid}". */
static bool map_ending(const char *architecture, gufo_str part, const char *suffix,
                       char out[GUFO_MAX_NAME + 1])
{
    for (size_t end = 1; end <= part.len; end++) {
        size_t at = digits_before(part, end);
        name_parts name = {.parts = {{part.data, at}, gufo_str_of("{bid}"), str_from(part, end)},
                           .count = 3};
        const char *tensor;
        uint64_t number;

        if ((end < part.len && part.data[end] != '.') || at == end ||
            !str_number((gufo_str){part.data + at, end - at}, &number))
            continue;
        tensor = find_tensor(architecture, &name);
        if (tensor != NULL)
            return write_name(tensor, number, suffix, out);
    }
    return false;
}

bool names_map(const char *architecture, gufo_str source, char out[GUFO_MAX_NAME + 1])
{
    static const char *const suffixes[] = {"", ".weight", ".bias"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        gufo_str part = source;

        part.len -= str_ends(source, suffixes[i]) ? strlen(suffixes[i]) : 0;
        if ((i == 0 || part.len < source.len) && (map_part(architecture, part, suffixes[i], out) ||
                                                  map_ending(architecture, part, suffixes[i], out)))
            return true;
    }
    return false;
}
