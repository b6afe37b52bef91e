/* Blocks: which ones exist, and whether each has what it needs.
 *
 * The tensors that were seen are sorted by series and block.  Then one walk sees each block once:
 *
 *     blk.0 { attn_q, attn_k ... }   blk.1 { ... }   blk.4 { ... }
 *                                                    ^ blocks 2 and 3 are missing
 *
 * A number that a file makes up costs nothing: ranges are reported as such, not block by block. */
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/text.h"
#include "schema/check/check.h"
#include "schema/check/tensors.h"
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
           gufo_model_tensor_count(c->model) == gufo_model_facts(c->model).claimed_tensors;
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

/* What blocks are, by what keys say and by the tensors that they have.
 *
 *     leading_dense_block_count 1     blk.0 ffn_up     blk.1 ffn_gate_inp, ffn_up_exps ...
 *     head_count_kv [0, 2]            blk.0 ssm_in     blk.1 attn_k ...
 *     block_count 3, nextn 1          blk.0            blk.1             blk.2 nextn.eh_proj
 *
 * Readers ask for the tensors of one kind or of the other by these keys alone. */

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

static bool has_key(const check_context *c, const char *name)
{
    for (size_t i = 0; i < c->key_count; i++)
        if (strcmp(c->keys[i].key, name) == 0)
            return true;
    return false;
}

static uint64_t value_or(const check_context *c, const char *name, uint64_t other)
{
    uint64_t value;

    return arch_value(c, gufo_str_of(name), 0, &value) ? value : other;
}

/* About a key of the architecture, whether it is there or not. */
static gufo_finding at_key(check_context *c, const char *name, gufo_entry *entry)
{
    return schema_arch_entry(c, entry, "%s", name)
               ? at_entry(entry)
               : at_missing(schema_text(c, "%s.%s", c->arch->id, name));
}

/* The blocks of the main series that have a tensor. */
typedef struct found_blocks {
    uint64_t first, count; /* UINT64_MAX: none */
} found_blocks;

static found_blocks blocks_with(const tensor_context *t, const char *pattern)
{
    const gufo_tensor_info *info = tensor_info_named(gufo_str_of(pattern));
    found_blocks found = {UINT64_MAX, 0};

    for (uint64_t i = 0; info != NULL && i < t->seen_count; i++)
        if (t->seen[i].info == (uint32_t)info_index(info)) {
            found.count++;
            if (t->seen[i].block < found.first)
                found.first = t->seen[i].block;
        }
    return found;
}

/* ---- experts -------------------------------------------------------------------------------- */

static const char leading[] = "leading_dense_block_count", step_key[] = "interleave_moe_layer_step";

/* The first block where readers expect experts, of `count`.  Where only every n-th block has them, it is
 * the last of its group of n. */
static uint64_t first_expected(const check_context *c, uint64_t count)
{
    uint64_t first = value_or(c, leading, 0), step = value_or(c, step_key, 1);

    if (first >= count || step == 0)
        return count;
    if ((first + 1) % step != 0)
        first += step - (first + 1) % step;
    return first < count ? first : count;
}

static void check_dense(tensor_context *t, uint64_t count)
{
    uint64_t found = blocks_with(t, "blk.{bid}.ffn_gate_inp").first, expected;
    const char *key = has_key(t->c, leading) ? leading : step_key;
    gufo_entry entry;

    if ((!has_key(t->c, leading) && !has_key(t->c, step_key)) ||
        value_or(t->c, "expert_count", 0) == 0)
        return;
    if (found == UINT64_MAX)
        found = count;
    expected = first_expected(t->c, count);
    if (found == expected)
        return;
    schema_report(t->c, RULE_DENSE_BLOCKS, at_key(t->c, key, &entry),
                  "the number of blocks before the first one with experts is %" PRIu64
                  ", not %" PRIu64 " as %s.%s says",
                  found, expected, t->c->arch->id, key);
}

/* ---- blocks that predict further tokens ----------------------------------------------------- */

static void check_nextn(tensor_context *t, uint64_t count)
{
    static const char key[] = "nextn_predict_layers";
    found_blocks found = blocks_with(t, "blk.{bid}.nextn.eh_proj");
    uint64_t announced = value_or(t->c, key, 0);
    block_range range = schema_block_range(t->c, count);
    gufo_entry entry;

    if (found.count == 0 || !has_key(t->c, key))
        return;
    if (found.count == announced && (found.first == range.required || found.first == count))
        return;
    schema_report(t->c, RULE_NEXTN_BLOCKS, at_key(t->c, key, &entry),
                  "the number of blocks that predict further tokens is %" PRIu64
                  ", from block %" PRIu64 " on; %s.%s is %" PRIu64
                  ", and the number of all blocks is %" PRIu64,
                  found.count, found.first, t->c->arch->id, key, announced, count);
}

/* ---- blocks with attention ------------------------------------------------------------------ */

/* Whether the keys of heads are made of the list. */
static bool is_by_list(const tensor_context *t)
{
    const gufo_tensor_info *info = tensor_info_named(gufo_str_of("blk.{bid}.attn_k"));
    const gufo_arch_tensor *row = info != NULL ? arch_row(t, info) : NULL;

    return row != NULL &&
           strstr(row->shape[0] != '\0' ? row->shape : info->shape, "head_count_kv") != NULL;
}

static void mark(const tensor_context *t, const char *pattern, uint8_t *marks, uint64_t count)
{
    const gufo_tensor_info *info = tensor_info_named(gufo_str_of(pattern));

    for (uint64_t i = 0; info != NULL && i < t->seen_count; i++)
        if (t->seen[i].info == (uint32_t)info_index(info) && t->seen[i].block < count)
            marks[t->seen[i].block] = 1;
}

static void compare_marks(tensor_context *t, const gufo_entry *entry, const uint8_t *marks,
                          uint64_t count)
{
    uint64_t heads;

    for (uint64_t i = 0; i < count; i++) {
        if (!schema_entry_count(entry, i, &heads) || (heads > 0) == (marks[i] != 0))
            continue;
        schema_report(t->c, RULE_ATTENTION_BLOCKS, at_entry(entry),
                      "block blk.%" PRIu64 " has %s keys and values, but element %" PRIu64
                      " of %s is %" PRIu64,
                      i, marks[i] != 0 ? "tensors of" : "no tensors of", i, QUOTED(entry->key),
                      heads);
        return;
    }
}

static void check_attention(tensor_context *t, uint64_t blocks)
{
    static const char *const patterns[] = {"blk.{bid}.attn_k", "blk.{bid}.attn_qkv",
                                           "blk.{bid}.attn_k_b", "blk.{bid}.attn_kv_b"};
    gufo_entry entry;
    uint64_t count;
    uint8_t *marks;

    if (!schema_arch_entry(t->c, &entry, "attention.head_count_kv") ||
        entry.value.type != GUFO_VALUE_ARRAY || !is_by_list(t))
        return;
    count = entry.value.as.array.count < blocks ? entry.value.as.array.count : blocks;
    marks = mem_zero(t->c->allocator, (size_t)count + 1);
    if (marks == NULL) {
        t->c->status = fail_memory(t->c->error);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(patterns); i++)
        mark(t, patterns[i], marks, count);
    compare_marks(t, &entry, marks, count);
    mem_free(t->c->allocator, marks);
}

void schema_check_block_kinds(tensor_context *t)
{
    uint64_t count;

    if (t->c->arch == NULL || t->c->options->single ||
        gufo_model_tensor_count(t->c->model) != gufo_model_facts(t->c->model).claimed_tensors ||
        !arch_value(t->c, gufo_str_of("block_count"), 0, &count) || t->seen_count == 0)
        return;
    check_dense(t, count);
    check_nextn(t, count);
    check_attention(t, schema_block_range(t->c, count).required);
}
