/* What blocks are, by what keys say and by the tensors that they have.
 *
 *     leading_dense_block_count 1     blk.0 ffn_up     blk.1 ffn_gate_inp, ffn_up_exps ...
 *     head_count_kv [0, 2]            blk.0 ssm_in     blk.1 attn_k ...
 *     block_count 3, nextn 1          blk.0            blk.1             blk.2 nextn.eh_proj
 *
 * Readers ask for the tensors of one kind or of the other by these keys alone. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "schema/check/check.h"
#include "schema/check/tensors.h"

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
        gufo_tensor_count(t->c->model) != gufo_model_facts(t->c->model).claimed_tensors ||
        !arch_value(t->c, gufo_str_of("block_count"), 0, &count) || t->seen_count == 0)
        return;
    check_dense(t, count);
    check_nextn(t, count);
    check_attention(t, schema_block_range(t->c, count).required);
}
