/* Keys of the architecture: which must be there, and what their values may be.
 *
 * The rules are about what readers compute with: they divide by counts, take one element per block
 * from lists, and rotate pairs of the numbers of a head.  A value of the wrong type is not a
 * finding here; it only says nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "schema/check/check.h"
#include "base/text.h"
#include "schema/registry/key.h"
#include "schema/registry/tables.h"

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* Parts of a model that have their own keys: "whisper.encoder.block_count". */
static const char *const parts[] = {"", "encoder.", "decoder.", "vision.", "audio."};

/* The value of a key of a part of the model, if it is one number. */
static bool part_count(const check_context *c, const char *part, const char *name,
                       gufo_entry *entry, uint64_t *out)
{
    return schema_arch_entry(c, entry, "%s%s", part, name) &&
           gufo_value_u64(&entry->value, out, NULL) == GUFO_OK;
}

static bool part_float(const check_context *c, const char *part, const char *name,
                       gufo_entry *entry, double *out)
{
    return schema_arch_entry(c, entry, "%s%s", part, name) &&
           gufo_value_f64(&entry->value, out, NULL) == GUFO_OK && isfinite(*out);
}

/* ---- what must be there --------------------------------------------------------------------- */

/* Whether the file says it, under any name. */
static bool has_key(const check_context *c, const gufo_key_info *info)
{
    const gufo_key_info *today = gufo_key_replacement(info, NULL);

    return key_entry_of(c->model, c->architecture, (today != NULL ? today : info)->key, NULL);
}

/* The fix that gives the key a value, under its current name; none if the value is a list. */
static gufo_fix fix_for(check_context *c, const gufo_key_info *info, const char *text)
{
    bool safe;
    const gufo_key_info *today = gufo_key_replacement(info, &safe);
    gufo_value_type type;
    char name[KEY_SIZE];

    if (!gufo_value_type_by_name_str(key_scalar_type(info), &type))
        return (gufo_fix){0};
    if (today != NULL && safe && key_in_file(today, c->architecture, name))
        text = name;
    return fix_typed(GUFO_FIX_SUPPLY, gufo_str_of(schema_text(c, "%s", text)), type);
}

static void report_need(check_context *c, const gufo_arch_key *key, const gufo_key_info *info,
                        const char *text)
{
    gufo_finding finding = at_missing(text);

    if (info != NULL)
        finding.fix = fix_for(c, info, text);
    if (key->need == GUFO_REQUIRED)
        schema_report(c, RULE_KEY_REQUIRED, finding,
                      "key \"%s\" is missing; models of architecture %s need it", text, key->arch);
    else if (strcmp(c->arch->status, "standard") == 0)
        schema_report(c, RULE_KEY_SPECIFIED, finding,
                      "key \"%s\" is missing; the specification requires it, although readers in "
                      "use do without",
                      text);
    else
        schema_report(c, RULE_KEY_EXPECTED, finding,
                      "key \"%s\" is missing; readers of this architecture ask for it", text);
}

static void check_need(check_context *c, const gufo_arch_key *key)
{
    char text[KEY_SIZE];
    gufo_entry entry;
    const gufo_key_info *info;
    int len = snprintf(text, sizeof text, "%s.%s", key->arch, key->key);

    if (key->need == GUFO_OPTIONAL || len <= 0 || (size_t)len >= sizeof text ||
        schema_arch_entry(c, &entry, "%s", key->key))
        return;
    info = gufo_key_find_str(gufo_str_of(text), c->architecture);
    if (info == NULL || !has_key(c, info))
        report_need(c, key, info, text);
}

/* Whether a key that is not there says something: a vocabulary needs no keys of a model, and what a
 * damaged file lacks is not known. */
static bool absence_matters(const check_context *c)
{
    return c->kind != KIND_VOCABULARY &&
           gufo_model_entry_count(c->model) == gufo_model_facts(c->model).claimed_metadata;
}

static void check_needs(check_context *c)
{
    for (size_t i = 0; i < c->key_count && absence_matters(c); i++)
        check_need(c, &c->keys[i]);
}

/* ---- counts --------------------------------------------------------------------------------- */

/* Models without attention say that they have no heads. */
static bool has_attention(const check_context *c, const char *part, const char *name)
{
    (void)name;
    for (size_t i = 0; i < c->tensor_count; i++)
        if (strstr(c->tensors[i].name, ".attn_q") != NULL)
            return true;
    return *part != '\0';
}

/* Whether the architecture does something with a key.  Some programs write every key that they
 * know, those that mean nothing for the model as 0. */
static bool is_needed(const check_context *c, const char *part, const char *name)
{
    size_t prefix = strlen(part);

    for (size_t i = 0; i < c->key_count; i++)
        if (c->keys[i].need != GUFO_OPTIONAL && strncmp(c->keys[i].key, part, prefix) == 0 &&
            strcmp(c->keys[i].key + prefix, name) == 0)
            return true;
    return false;
}

static void check_zeros(check_context *c, const char *part)
{
    static const struct {
        const char *name;
        bool (*counts)(const check_context *c, const char *part,
                       const char *name); /* NULL: always */
    } rows[] = {
        {"context_length", NULL},
        {"embedding_length", NULL},
        {"block_count", NULL},
        {"patch_size", NULL},
        {"spatial_merge_size", NULL},
        {"attention.head_count", has_attention},
        {"wkv.head_size", is_needed},
        {"ssm.conv_kernel", is_needed},
        {"ssm.inner_size", is_needed},
        {"ssm.state_size", is_needed},
        {"ssm.time_step_rank", is_needed},
    };
    gufo_entry entry;
    uint64_t value;

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (part_count(c, part, rows[i].name, &entry, &value) && value == 0 &&
            (rows[i].counts == NULL || rows[i].counts(c, part, rows[i].name)))
            schema_report(c, RULE_COUNT_ZERO, at_entry(&entry),
                          "key %s is 0; readers divide by it or need at least one",
                          QUOTED(entry.key));
}

static void report_length(check_context *c, const gufo_entry *entry, uint64_t blocks,
                          const block_range *range)
{
    uint64_t count = entry->value.as.array.count;
    gufo_finding finding = at_entry(entry);

    if (count > range->end && range->required == range->end)
        finding = with_certain_fix(
            finding, fix_number(GUFO_FIX_SHORTEN, entry->key, GUFO_VALUE_UINT64, blocks));
    schema_report(c, RULE_PER_LAYER_LENGTH, finding,
                  "key %s has %s elements, one for each block, but there are %s blocks",
                  QUOTED(entry->key), GROUPED(count), GROUPED(blocks));
}

/* Lists with an element for each block. */
static void check_lengths(check_context *c)
{
    static const struct {
        const char *name;
        bool may_be_longer; /* some programs write as many as they have room for */
    } lists[] = {
        {"attention.head_count", false},
        {"attention.head_count_kv", false},
        {"feed_forward_length", false},
        {"attention.sliding_window_pattern", false},
        {"attention.recurrent_layers", false},
        {"activation_sparsity_scale", false},
        {"attention.compress_ratios", false},
        {"attention.indexer.types", false},
        {"swiglu_clamp_exp", true},
        {"swiglu_clamp_shexp", true},
    };
    gufo_entry entry;
    block_range range;
    uint64_t blocks;

    if (!part_count(c, "", "block_count", &entry, &blocks) || blocks == 0)
        return;
    range = schema_block_range(c, blocks);
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (schema_arch_entry(c, &entry, "%s", lists[i].name) &&
            entry.value.type == GUFO_VALUE_ARRAY &&
            (entry.value.as.array.count < range.required ||
             (entry.value.as.array.count > range.end && !lists[i].may_be_longer)))
            report_length(c, &entry, blocks, &range);
}

/* Some lists of counts have a type with a sign. */
static void check_signs(check_context *c)
{
    static const char *const counts[] = {"attention.head_count", "attention.head_count_kv",
                                         "feed_forward_length"};
    gufo_entry entry;
    gufo_value element;
    int64_t number;

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        uint64_t at = 0;
        gufo_array_iter iter;

        if (!schema_arch_entry(c, &entry, "%s", counts[i]) || entry.value.type != GUFO_VALUE_ARRAY)
            continue;
        iter = gufo_array_start(&entry.value.as.array);
        for (; gufo_array_next(&iter, &element); at++)
            if (gufo_value_i64(&element, &number, NULL) == GUFO_OK && number < 0) {
                schema_report(c, RULE_COUNT_NEGATIVE, at_entry(&entry),
                              "element %" PRIu64 " of key %s is %" PRId64
                              "; counts are not below 0",
                              at, QUOTED(entry.key), number);
                break;
            }
    }
}

/* Experts of which none is used. */
static void check_unused(check_context *c)
{
    gufo_entry entry;
    uint64_t count;

    if (absence_matters(c) && !schema_arch_entry(c, &entry, "expert_used_count") &&
        part_count(c, "", "expert_count", &entry, &count) && count > 0)
        schema_report(c, RULE_EXPERT_COUNT, at_entry(&entry),
                      "key %s is %" PRIu64 ", but no key says how many experts are used",
                      QUOTED(entry.key), count);
}

static void check_experts(check_context *c)
{
    gufo_entry entry, used_entry;
    uint64_t count = 0, used;

    if (!part_count(c, "", "expert_used_count", &used_entry, &used)) {
        check_unused(c);
        return;
    }
    if (!part_count(c, "", "expert_count", &entry, &count) && !absence_matters(c))
        return;
    if (used > count || (used == 0 && count > 0))
        schema_report(c, RULE_EXPERT_COUNT, at_entry(&used_entry),
                      "key %s is %" PRIu64 ", but there are %s experts to use",
                      QUOTED(used_entry.key), used, GROUPED(count));
}

/* Groups, of which some are chosen before experts are; one group is as none. */
static void check_expert_groups(check_context *c)
{
    gufo_entry entry, used_entry, other;
    uint64_t count, groups, used, experts;

    if (!part_count(c, "", "expert_group_count", &entry, &groups) || groups <= 1 ||
        !part_count(c, "", "expert_count", &used_entry, &count))
        return;
    if (count % groups != 0) {
        schema_report(c, RULE_EXPERT_GROUPS, at_entry(&entry),
                      "key %s is %" PRIu64 ", which does not divide the %s experts",
                      QUOTED(entry.key), groups, GROUPED(count));
        return;
    }
    if (!part_count(c, "", "expert_group_used_count", &used_entry, &used))
        return;
    if (used == 0 || used > groups)
        schema_report(c, RULE_EXPERT_GROUPS, at_entry(&used_entry),
                      "key %s is %" PRIu64 ", but there are %s groups to use",
                      QUOTED(used_entry.key), used, GROUPED(groups));
    else if (part_count(c, "", "expert_used_count", &other, &experts) &&
             experts > count / groups * used)
        schema_report(
            c, RULE_EXPERT_GROUPS, at_entry(&used_entry),
            "key %s is %" PRIu64 ": that many groups have %s experts, but a token uses %s",
            QUOTED(used_entry.key), used, GROUPED(count / groups * used), GROUPED(experts));
}

/* ---- heads ---------------------------------------------------------------------------------- */

static uint64_t elements_of(const gufo_entry *entry)
{
    return entry->value.type == GUFO_VALUE_ARRAY ? entry->value.as.array.count : 1;
}

/* Heads share keys and values in groups of one size.  Blocks without attention have none. */
static void check_groups(check_context *c, const gufo_entry *heads, const gufo_entry *groups)
{
    uint64_t count = larger(elements_of(heads), elements_of(groups));

    for (uint64_t i = 0; i < count; i++) {
        uint64_t head, group;

        if (!schema_entry_count(heads, i, &head) || !schema_entry_count(groups, i, &group))
            return;
        if (group == 0 || head % group == 0)
            continue;
        schema_report(c, RULE_HEAD_COUNT, at_entry(groups),
                      "key %s is %" PRIu64
                      ", which does not divide the %s heads of %s (block %" PRIu64 ")",
                      QUOTED(groups->key), group, GROUPED(head), QUOTED(heads->key), i);
        return;
    }
}

/* Without a key that says it, the length of a head is the embedding divided by the heads. */
static void check_head_length(check_context *c, const gufo_entry *heads, uint64_t embedding)
{
    uint64_t head;

    for (uint64_t i = 0; i < elements_of(heads); i++) {
        if (!schema_entry_count(heads, i, &head))
            return;
        if (head == 0 || embedding % head == 0)
            continue;
        schema_report(c, RULE_HEAD_COUNT, at_entry(heads),
                      "key %s is %" PRIu64 ", which does not divide the embedding length %" PRIu64
                      ", and no key gives the length of a head (block %" PRIu64 ")",
                      QUOTED(heads->key), head, embedding, i);
        return;
    }
}

static void check_heads(check_context *c, const char *part)
{
    gufo_entry heads, groups, other;
    uint64_t embedding;

    if (!schema_arch_entry(c, &heads, "%sattention.head_count", part))
        return;
    if (schema_arch_entry(c, &groups, "%sattention.head_count_kv", part))
        check_groups(c, &heads, &groups);
    if (absence_matters(c) && part_count(c, part, "embedding_length", &other, &embedding) &&
        !schema_arch_entry(c, &other, "%sattention.key_length", part) &&
        !schema_arch_entry(c, &other, "%sattention.head_dim", part))
        check_head_length(c, &heads, embedding);
}

/* ---- positions ------------------------------------------------------------------------------ */

static void check_rope_dimensions(check_context *c)
{
    gufo_entry entry;
    uint64_t rotated, length;

    if (!part_count(c, "", "rope.dimension_count", &entry, &rotated))
        return;
    if (rotated % 2 != 0)
        schema_report(c, RULE_ROPE_DIMENSIONS, at_entry(&entry),
                      "key %s is %" PRIu64 "; numbers are rotated in pairs", QUOTED(entry.key),
                      rotated);
    else if (absence_matters(c) && arch_value(c, gufo_str_of("key_length"), 0, &length) &&
             rotated > length)
        schema_report(c, RULE_ROPE_DIMENSIONS, at_entry(&entry),
                      "key %s is %" PRIu64 ", but a key of a head has only %s numbers",
                      QUOTED(entry.key), rotated, GROUPED(length));
}

/* Also not above zero if it is not a number. */
static void check_rope_bases(check_context *c)
{
    static const char *const bases[] = {"rope.freq_base", "rope.freq_base_swa",
                                        "attention.compress_rope_freq_base"};
    gufo_entry entry;
    double base;

    for (size_t i = 0; i < COUNT_OF(bases); i++)
        if (part_float(c, "", bases[i], &entry, &base) && base <= 0)
            schema_report(c, RULE_ROPE_BASE, at_entry(&entry),
                          "key %s is %g; frequencies are powers of a base above 0",
                          QUOTED(entry.key), base);
}

/* ---- other numbers -------------------------------------------------------------------------- */

static void check_epsilons(check_context *c, const char *part)
{
    static const char *const epsilons[] = {"attention.layer_norm_epsilon",
                                           "attention.layer_norm_rms_epsilon",
                                           "attention.group_norm_epsilon"};
    const double highest = 0.1; /* in use: 1e-12 to 1e-3 */
    gufo_entry entry;
    double epsilon;

    for (size_t i = 0; i < COUNT_OF(epsilons); i++)
        if (part_float(c, part, epsilons[i], &entry, &epsilon) &&
            (epsilon < 0 || epsilon > highest || (epsilon <= 0 && is_needed(c, part, epsilons[i]))))
            schema_report(c, RULE_EPSILON, at_entry(&entry),
                          "key %s is %g; it should be a small number above 0, such as 0.00001",
                          QUOTED(entry.key), epsilon);
}

/* Lists are left out: some have an infinite element where nothing is cut off. */
static void check_finite(check_context *c)
{
    gufo_str own = c->architecture;
    gufo_entry entry;
    double number;

    for (uint64_t i = 0; gufo_model_entry_at(c->model, i, &entry); i++)
        if (entry.key.len > own.len && entry.key.data[own.len] == '.' &&
            memcmp(entry.key.data, own.data, own.len) == 0 &&
            gufo_value_f64(&entry.value, &number, NULL) == GUFO_OK && !isfinite(number))
            schema_report(c, RULE_FLOAT_FINITE, at_entry(&entry), "key %s is %s", QUOTED(entry.key),
                          isnan(number) ? "not a number" : "infinite");
    schema_report_rest(c);
}

static void check_rope_scaling(check_context *c)
{
    gufo_entry entry;
    gufo_str text;

    if (schema_arch_entry(c, &entry, "rope.scaling.type") &&
        gufo_value_str(&entry.value, &text, NULL) == GUFO_OK &&
        values_find("{arch}.rope.scaling.type", text) == VALUE_UNKNOWN)
        schema_report(
            c, RULE_ROPE_SCALING, at_entry(&entry),
            "key %s is %s; the types that readers know are none, linear, yarn and longrope",
            QUOTED(entry.key), QUOTED(text));
}

/* Spec, RWKV: the only allowed value. */
static void check_rwkv_version(check_context *c)
{
    gufo_entry entry;
    uint64_t version;

    if (gufo_str_equal(c->architecture, gufo_str_of("rwkv")) &&
        part_count(c, "", "architecture_version", &entry, &version) && version != 4)
        schema_report(c, RULE_RWKV_VERSION, at_entry(&entry),
                      "rwkv.architecture_version is %" PRIu64
                      "; the only one that is specified is 4",
                      version);
}

/* Spec, RWKV: the vocabulary is as large as the matrix `head` has rows. */
static void check_rwkv_head(check_context *c)
{
    gufo_tensor head;
    uint64_t tokens;

    if (gufo_str_equal(c->architecture, gufo_str_of("rwkv")) && vocabulary_size(c, &tokens) &&
        gufo_model_tensor_find(c->model, "head.weight", &head) && head.elements > 0 &&
        head.dims[1] != tokens)
        schema_report(c, RULE_VOCABULARY_ROWS, at_tensor(&head),
                      "tensor \"head.weight\" has %s rows for %s tokens", GROUPED(head.dims[1]),
                      GROUPED(tokens));
}

void schema_check_architecture(check_context *c)
{
    if (c->architecture.len == 0)
        return;
    check_needs(c);
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        check_zeros(c, parts[i]);
        check_heads(c, parts[i]);
        check_epsilons(c, parts[i]);
    }
    check_lengths(c);
    check_signs(c);
    check_experts(c);
    check_expert_groups(c);
    check_rope_dimensions(c);
    check_rope_bases(c);
    check_finite(c);
    check_rope_scaling(c);
    check_rwkv_version(c);
    check_rwkv_head(c);
}
