/* Blocks: which ones exist, and whether each has what it needs.
 *
 * The tensors that were seen are sorted by series and block.  Then one walk sees each block once:
 *
 *     blk.0 { attn_q, attn_k ... }   blk.1 { ... }   blk.4 { ... }
 *                                                    ^ blocks 2 and 3 are missing
 *
 * A number that a file makes up costs nothing: ranges are reported as such, not block by block. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "schema/check/check.h"
#include "schema/check/tensors.h"
#include "base/text.h"
#include "schema/registry/tables.h"

enum { MAX_INSTEAD = 6 };

/* A tensor that the architecture needs, or one of those that may be there instead of it. */
typedef struct tensor_need {
    const gufo_arch_tensor *row;
    const block_series *series;
    uint32_t infos[1 + MAX_INSTEAD];
    size_t count;
} tensor_need;

typedef struct block_walk {
    tensor_context *t;
    uint32_t *order;  /* of t->seen */
    uint64_t *stamps; /* by index in the registry: the last group that had it, from 1 */
    tensor_need *needs;
    size_t need_count;
    uint64_t group;
    uint64_t listed; /* blocks that lists of the metadata describe */
    bool complete;   /* everything that the model has was seen */
} block_walk;

/* ---- needs ---------------------------------------------------------------------------------- */

static void add_pattern(tensor_need *need, gufo_str pattern)
{
    const gufo_tensor_info *info = tensor_info_named(pattern);

    if (info != NULL && need->count < sizeof need->infos / sizeof *need->infos)
        need->infos[need->count++] = (uint32_t)info_index(info);
}

static void add_need(block_walk *w, const gufo_arch_tensor *row)
{
    tensor_need *need = &w->needs[w->need_count++];
    const char *at = row->instead;

    *need = (tensor_need){.row = row, .series = pattern_series(row->name)};
    add_pattern(need, gufo_str_of(row->name));
    while (*at != '\0')
        add_pattern(need, str_piece(&at, ' '));
}

static bool is_met(const block_walk *w, const tensor_need *need)
{
    for (size_t i = 0; i < need->count; i++)
        if (w->stamps[need->infos[i]] == w->group)
            return true;
    return false;
}

/* Patterns of names, with the number of the block. */
static void put_block(char *out, size_t size, const char *pattern, uint64_t block)
{
    static const char placeholder[] = "{bid}";
    const char *mark;
    size_t len = 0;

    while ((mark = strstr(pattern, placeholder)) != NULL && len < size) {
        len += (size_t)snprintf(out + len, size - len, "%.*s%" PRIu64, (int)(mark - pattern),
                                pattern, block);
        pattern = mark + strlen(placeholder);
    }
    if (len < size)
        (void)snprintf(out + len, size - len, "%s", pattern);
}

/* The name that is missing, and those that may be there instead. */
static void report_need(block_walk *w, const tensor_need *need, uint64_t block)
{
    char name[GUFO_MAX_NAME + 32], pattern[GUFO_MAX_NAME], instead[4 * GUFO_MAX_NAME];

    (void)snprintf(pattern, sizeof pattern, "%s.weight", need->row->name);
    put_block(name, sizeof name, pattern, block);
    put_block(instead, sizeof instead, need->row->instead, block);
    schema_report(w->t->c, RULE_TENSOR_REQUIRED, at_missing(name),
                  "tensor \"%s\" is missing; models of architecture %s need it%s%s", name,
                  w->t->c->arch->id, *instead != '\0' ? ", or " : "", instead);
}

/* What the present group lacks. */
static void check_needs(block_walk *w, const block_series *series, uint64_t block)
{
    if (!w->complete)
        return;
    for (size_t i = 0; i < w->need_count; i++)
        if (w->needs[i].series == series && !is_met(w, &w->needs[i]))
            report_need(w, &w->needs[i], block);
}

/* ---- ranges --------------------------------------------------------------------------------- */

/* Some models have blocks without attention and feed-forward, and so without tensors. */
static bool may_be_empty(const check_context *c, uint64_t block)
{
    uint64_t heads, width;

    return arch_value(c, gufo_str_of("head_count"), block, &heads) && heads == 0 &&
           arch_value(c, gufo_str_of("feed_forward_length"), block, &width) && width == 0;
}

/* The blocks of which lists say that; there are no more of them than elements in the file. */
static uint64_t listed_blocks(const check_context *c)
{
    static const char *const lists[] = {"head_count", "feed_forward_length"};
    uint64_t blocks = UINT64_MAX;
    gufo_entry entry;

    for (size_t i = 0; i < 2; i++) {
        if (!arch_entry(c, gufo_str_of(lists[i]), &entry) || entry.value.type != GUFO_VALUE_ARRAY)
            return 0;
        if (entry.value.as.array.count < blocks)
            blocks = entry.value.as.array.count;
    }
    return blocks;
}

static rule_number rule_for(const block_walk *w, rule_number known)
{
    return w->t->c->tensor_count > 0 ? known : RULE_BLOCK_COUNT;
}

static void report_range(block_walk *w, const block_series *series, uint64_t from, uint64_t to)
{
    char first[64];

    (void)snprintf(first, sizeof first, "%s%" PRIu64, series->prefix, from);
    if (to - from == 1)
        schema_report(w->t->c, rule_for(w, RULE_BLOCK_MISSING), at_missing(first),
                      "block %s has no tensors", first);
    else
        schema_report(w->t->c, rule_for(w, RULE_BLOCK_MISSING), at_missing(first),
                      "blocks %s to %s%" PRIu64 " have no tensors", first, series->prefix, to - 1);
}

/* The end of the blocks from `from` on of which none is meant to be empty. */
static uint64_t end_of_range(const block_walk *w, uint64_t from, uint64_t to)
{
    uint64_t end = from;

    while (end < to && end < w->listed && !may_be_empty(w->t->c, end))
        end++;
    return end < w->listed ? end : to;
}

/* Blocks [from, to), without those that are meant to be empty. */
static void check_missing(block_walk *w, const block_series *series, uint64_t from, uint64_t to)
{
    while (from < to && w->complete) {
        uint64_t end = end_of_range(w, from, to);

        if (end > from)
            report_range(w, series, from, end);
        from = end > from ? end : from + 1;
    }
}

static void report_beyond(block_walk *w, const block_series *series, uint64_t block, uint64_t count)
{
    char name[64];

    if (count == 0)
        return;
    if (block == UINT64_MAX)
        (void)snprintf(name, sizeof name, "%s(beyond 64 bits)", series->prefix);
    else
        (void)snprintf(name, sizeof name, "%s%" PRIu64, series->prefix, block);
    schema_report(w->t->c, rule_for(w, RULE_BLOCK_UNKNOWN), at_missing(name),
                  "block %s has tensors, but the number of blocks is %" PRIu64, name, count);
}

/* ---- walking -------------------------------------------------------------------------------- */

static bool seen_before(const void *owner, uint32_t a, uint32_t b)
{
    const seen_tensor *seen = owner, *left = &seen[a], *right = &seen[b];

    if (left->series != right->series)
        return left->series < right->series;
    return left->block < right->block;
}

/* Stamps the tensors of one block, from place `at` in the order; the place behind them. */
static uint64_t stamp_group(block_walk *w, uint64_t at)
{
    const seen_tensor *seen = w->t->seen, *first = &seen[w->order[at]];

    w->group++;
    for (; at < w->t->seen_count; at++) {
        const seen_tensor *next = &seen[w->order[at]];

        if (next->series != first->series || next->block != first->block)
            break;
        if (next->info != UINT32_MAX)
            w->stamps[next->info] = w->group;
    }
    return at;
}

static bool count_of(const check_context *c, const block_series *series, uint64_t *out)
{
    for (size_t i = 0; i < 3 && series->counts[i] != NULL; i++)
        if (arch_value(c, gufo_str_of(series->counts[i]), 0, out))
            return *out > 0;
    return false;
}

/* The blocks of one series, from place `at` in the order; the place behind them.  Without a count
 * only gaps are seen. */
static uint64_t check_series(block_walk *w, const block_series *series, uint64_t at)
{
    const seen_tensor *seen = w->t->seen;
    uint32_t index = (uint32_t)(series - schema_block_series) + 1;
    uint64_t next = 0, count = 0;
    block_range range = {UINT64_MAX, UINT64_MAX};

    if (count_of(w->t->c, series, &count))
        range = schema_block_range(w->t->c, count);
    /* A file may have nothing but the blocks that predict further tokens. */
    if (range.required < count && seen[w->order[at]].block >= range.required)
        next = range.required;
    while (at < w->t->seen_count && seen[w->order[at]].series == index) {
        uint64_t block = seen[w->order[at]].block;

        at = stamp_group(w, at);
        if (block >= range.end) {
            report_beyond(w, series, block, count);
            continue;
        }
        check_missing(w, series, next, block < range.required ? block : range.required);
        next = block + 1;
        if (block < range.required)
            check_needs(w, series, block);
    }
    if (count > 0)
        check_missing(w, series, next, range.required);
    return at;
}

/* Nothing of a series that the architecture has exists. */
static void check_absent(block_walk *w, const block_series *series)
{
    uint64_t count;

    if (series->may_be_absent)
        return;
    for (size_t i = 0; i < w->t->c->tensor_count; i++)
        if (pattern_series(w->t->c->tensors[i].name) == series) {
            if (count_of(w->t->c, series, &count))
                check_missing(w, series, 0, schema_block_range(w->t->c, count).required);
            return;
        }
}

/* Series 0 is what is outside of blocks; all of the file is one group then. */
static void walk(block_walk *w)
{
    const seen_tensor *seen = w->t->seen;
    uint64_t at = 0;

    w->group = 1;
    if (w->t->seen_count > 0 && seen[w->order[0]].series == 0)
        at = stamp_group(w, at);
    check_needs(w, NULL, 0);
    for (uint32_t i = 1; i <= BLOCK_SERIES; i++)
        if (at < w->t->seen_count && seen[w->order[at]].series == i)
            at = check_series(w, &schema_block_series[i - 1], at);
        else
            check_absent(w, &schema_block_series[i - 1]);
}

/* Whether the infos that headers announce could all be read, and no shard is left out. */
static bool sees_everything(const check_context *c)
{
    return !c->options->single &&
           gufo_tensor_count(c->model) == gufo_model_facts(c->model).claimed_tensors;
}

static void sort(block_walk *w)
{
    for (uint64_t i = 0; i < w->t->seen_count; i++)
        w->order[i] = (uint32_t)i;
    sort_indices(w->order, w->t->seen_count, seen_before, w->t->seen);
    for (size_t i = 0; i < w->t->c->tensor_count; i++)
        if (w->t->c->tensors[i].need == GUFO_REQUIRED)
            add_need(w, &w->t->c->tensors[i]);
}

void schema_check_blocks(tensor_context *t)
{
    const gufo_allocator *memory = t->c->allocator;
    block_walk w = {.t = t, .complete = sees_everything(t->c), .listed = listed_blocks(t->c)};

    w.order = mem_alloc(memory, (size_t)(t->seen_count + 1) * sizeof *w.order);
    w.needs = mem_alloc(memory, (t->c->tensor_count + 1) * sizeof *w.needs);
    w.stamps = mem_zero(memory, schema_tensor_info_count() * sizeof *w.stamps);
    if (w.order == NULL || w.needs == NULL || w.stamps == NULL) {
        t->c->status = fail_memory(t->c->error);
    } else {
        sort(&w);
        walk(&w);
    }
    mem_free(memory, w.stamps);
    mem_free(memory, w.needs);
    mem_free(memory, w.order);
}
