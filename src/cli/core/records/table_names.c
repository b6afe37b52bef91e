/* How a narrow table shortens names: so that rows stay apart.
 *
 *     blk.10.attn_q.weight   without the middle       blk.10....weight   as that of attn_k
 *                            without the ending       blk.10.attn_q      head: "name (.weight)"
 *     llama.rope.freq_base   without another part     lla...rope.freq_base
 *
 * One place of the gap is taken for all names, the one nearest to the middle that keeps the most names
 * apart.  An ending that most names share goes into the head first. */
#include "cli/core/records/table_names.h"

#include "base/hash.h"
#include "base/sort.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAMES = 1000, /* that are looked at */
    NAME = 128,   /* bytes of them */
    GAP = 3,
    LEAST_WIDTH = 8,
};

typedef struct names {
    gufo_str list[NAMES];
    char text[NAMES][NAME];
    uint64_t hashes[NAMES];
    size_t count, width;
    hash_key key;
} names;

gufo_str table_names_bare(const table *t, gufo_str name)
{
    if (t->name_tail[0] != '\0' && str_ends(name, t->name_tail))
        name.len -= strlen(t->name_tail);
    return name;
}

static bool hash_before(const void *a, const void *b)
{
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* A name as it is shown, with the gap `shift` bytes behind its usual place. */
static uint64_t hash_shown(const names *n, gufo_str name, int shift)
{
    int before = (int)(n->width - GAP + 1) / 2 + shift;
    size_t begin = (size_t)before, end;
    char shown[NAME];

    if (name.len <= n->width)
        return hash_text(n->key, name);
    end = n->width - GAP - begin;
    memcpy(shown, name.data, begin);
    memset(shown + begin, 0, GAP);
    memcpy(shown + begin + GAP, name.data + name.len - end, end);
    return hash_text(n->key, (gufo_str){shown, n->width});
}

/* How many different names there are. */
static size_t count_distinct(names *n, const table *t, int shift)
{
    size_t count = n->count > 0;

    for (size_t i = 0; i < n->count; i++)
        n->hashes[i] = hash_shown(n, table_names_bare(t, n->list[i]), shift);
    sort_items(n->hashes, n->count, sizeof *n->hashes, hash_before);
    for (size_t i = 1; i < n->count; i++)
        count += n->hashes[i] != n->hashes[i - 1];
    return count;
}

/* Finds the place of the gap; how many names it keeps apart. */
static size_t find_gap(names *n, table *t, size_t wanted)
{
    int before = (int)(n->width - GAP + 1) / 2, after = (int)n->width - GAP - before;
    size_t best = count_distinct(n, t, 0);

    t->name_shift = 0;
    for (int i = 1; i <= before && best < wanted; i++)
        for (int shift = i; shift >= -i && best < wanted; shift -= 2 * i) {
            size_t count = shift <= after ? count_distinct(n, t, shift) : 0;

            if (count > best) {
                best = count;
                t->name_shift = shift;
            }
        }
    return best;
}

/* ".weight", if half of the names or more end so. */
static bool find_tail(const names *n, char tail[TABLE_TAIL])
{
    size_t count = 0;
    const char *dot;

    for (size_t i = 0; i < n->count && 2 * count < n->count; i++) {
        gufo_str name = n->list[i];
        size_t len;

        for (dot = name.data + name.len; dot > name.data && dot[-1] != '.'; dot--)
            ;
        len = (size_t)(name.data + name.len - dot) + 1;
        if (dot <= name.data + 1 || len >= TABLE_TAIL)
            continue;
        memcpy(tail, dot - 1, len);
        tail[len] = '\0';
        count = 0;
        for (size_t k = 0; k < n->count; k++)
            count += str_ends(n->list[k], tail);
    }
    return n->count > 1 && 2 * count >= n->count;
}

static void collect(names *n, table_maker *make, const void *context)
{
    table_row row = {0};

    for (uint64_t i = 0; n->count < NAMES && make(context, i, &row); i++) {
        gufo_str name = row.cells[0];

        if (name.len > NAME)
            name.len = NAME;
        memcpy(n->text[n->count], name.data, name.len);
        n->list[n->count] = (gufo_str){n->text[n->count], name.len};
        n->count++;
        row.count = row.used = 0;
    }
}

/* Whether the ending of most names in the head leaves room for the rest of all of them. */
static bool move_tail(names *n, table *t, size_t wanted, size_t least)
{
    char tail[TABLE_TAIL];

    if (!find_tail(n, tail))
        return false;
    memcpy(t->name_tail, tail, sizeof tail);
    if (find_gap(n, t, wanted) >= least)
        return true;
    t->name_tail[0] = '\0';
    return false;
}

/* Without memory names are shortened in the middle. */
void table_names_choose(table *t, table_maker *make, const void *context, size_t width)
{
    names *n = width >= LEAST_WIDTH && width < NAME ? malloc(sizeof *n) : NULL;
    size_t wanted, best;

    if (n == NULL)
        return;
    n->count = 0;
    n->key = hash_key_new();
    collect(n, make, context);
    n->width = NAME;
    wanted = count_distinct(n, t, 0);
    n->width = width;
    best = count_distinct(n, t, 0);
    /* Without a head nothing says which ending is missing: so it must be worth it. */
    best += t->columns[0].head[0] == '\0';
    if (!move_tail(n, t, wanted, best))
        (void)find_gap(n, t, wanted);
    free(n);
}
