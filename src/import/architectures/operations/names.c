/* Names of tensors.  The table is sorted by the names of the frameworks, in which {bid} is the number
 * of a block: it replaces the first part of a name that is a number, and a binary search finds the
 * rows.  Few names have two of them. */
#include "import/architectures/operations/names.h"

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

/* A name with {bid} in the place of its block number. */
typedef struct spelling {
    char text[256];
    gufo_str block; /* the number in the name; empty: none */
} spelling;

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

/* Whether an architecture has a tensor.  Its rows are sorted by name. */
static bool has_tensor(const char *architecture, const char *tensor)
{
    size_t count;
    const gufo_arch_tensor *tensors = gufo_arch_tensors(architecture, &count);
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;
        int order = strcmp(tensors[middle].name, tensor);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return false;
}

/* The tensor that a name of the frameworks, or a tensor's own, means; NULL: none. */
static const char *find_tensor(const char *architecture, const char *name)
{
    size_t count;
    const name_row *found = row_find_all(ROWS(rows), name, &count);

    while (count-- > 0)
        if (names_arch(found[count].architectures, gufo_str_of(architecture)) &&
            has_tensor(architecture, found[count].tensor))
            return found[count].tensor;
    return has_tensor(architecture, name) ? name : NULL;
}

static bool is_block_number(gufo_str part)
{
    return part.len > 0 && str_digits(part, 0) == part.len &&
           (part.len == 1 || part.data[0] != '0');
}

/* False: too long for any row. */
static bool spell(gufo_str name, bool with_block, spelling *out)
{
    static const char placeholder[] = "{bid}";
    gufo_str rest = {NULL, 0};
    int len;

    out->block = (gufo_str){NULL, 0};
    for (size_t start = 0, end; with_block && start < name.len; start = end + 1) {
        const char *dot = memchr(name.data + start, '.', name.len - start);
        gufo_str part = {name.data + start, 0};

        end = dot != NULL ? (size_t)(dot - name.data) : name.len;
        part.len = end - start;
        if (is_block_number(part)) {
            out->block = part;
            rest = str_from(name, end);
            name.len = start;
            break;
        }
    }
    if (name.len + rest.len + sizeof placeholder > sizeof out->text ||
        memchr(name.data, '\0', name.len) != NULL)
        return false;
    len = snprintf(out->text, sizeof out->text, "%.*s%s%.*s", (int)name.len, name.data,
                   out->block.len > 0 ? placeholder : "", (int)rest.len,
                   rest.len > 0 ? rest.data : "");
    return len >= 0;
}

/* Writes a tensor's name with the block's number, and a suffix; false: too long. */
static bool write_name(const char *tensor, gufo_str block, const char *suffix,
                       char out[GUFO_MAX_NAME + 1])
{
    const char *place = strstr(tensor, "{bid}");
    size_t before = place != NULL ? (size_t)(place - tensor) : strlen(tensor);
    int len = snprintf(out, GUFO_MAX_NAME + 1, "%.*s%.*s%s%s", (int)before, tensor,
                       place != NULL ? (int)block.len : 0, block.len > 0 ? block.data : "",
                       place != NULL ? place + strlen("{bid}") : "", suffix);

    return len >= 0 && len <= GUFO_MAX_NAME;
}

/* A name with a block's number is looked for first, as in the tables of the frameworks those of
 * blocks come last. */
static bool map_part(const char *architecture, gufo_str part, const char *suffix,
                     char out[GUFO_MAX_NAME + 1])
{
    for (int with_block = 1; with_block >= 0; with_block--) {
        spelling s;
        const char *tensor = spell(part, with_block, &s) ? find_tensor(architecture, s.text) : NULL;

        if (tensor != NULL && (strstr(tensor, "{bid}") == NULL || s.block.len > 0))
            return write_name(tensor, s.block, suffix, out);
    }
    return false;
}

bool names_map(const char *architecture, gufo_str source, char out[GUFO_MAX_NAME + 1])
{
    static const char *const suffixes[] = {"", ".weight", ".bias"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        gufo_str part = source;

        part.len -= str_ends(source, suffixes[i]) ? strlen(suffixes[i]) : 0;
        if ((i == 0 || part.len < source.len) && map_part(architecture, part, suffixes[i], out))
            return true;
    }
    return false;
}
