/* Keys of the architecture: which must be there, and what their values may be.
 *
 * The rules are about what readers compute with: they divide by counts, take one element per block
 * from lists, and rotate pairs of the numbers of a head.  A value of the wrong type is not a
 * finding here; it only says nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "schema/arch_values.h"
#include "schema/findings_limit.h"
#include "schema/key.h"

#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

/* Parts of a model that have their own keys: "whisper.encoder.block_count". */
static const char *const parts[] = {"", "encoder.", "decoder.", "vision.", "audio."};

/* A key of a part of the model, if present. */
static bool part_entry(const checker *c, const char *part, const char *name, gufo_entry *out)
{
    char key[128];
    int len = snprintf(key, sizeof key, "%s%s", part, name);

    return len > 0 && (size_t)len < sizeof key && schema_check_arch_entry(c, key, out);
}

/* The same, if it is one number. */
static bool part_count(const checker *c, const char *part, const char *name, gufo_entry *entry,
                       uint64_t *out)
{
    return part_entry(c, part, name, entry) && entry->value.type != GUFO_VALUE_ARRAY &&
           schema_entry_count(entry, 0, out);
}

static bool float_entry(const gufo_entry *entry, double *out)
{
    return gufo_value_f64(&entry->value, out, NULL) == GUFO_OK;
}

/* ---- what must be there --------------------------------------------------------------------- */

/* Whether the file has the key of row `info` under this architecture. */
static bool has_key(const checker *c, const gufo_key_info *info)
{
    static const char template[] = "{arch}.";
    const char *key = info->key;
    gufo_entry entry;

    if (strncmp(key, template, strlen(template)) == 0)
        return schema_check_arch_entry(c, key + strlen(template), &entry);
    return gufo_metadata_find(c->model, key, &entry);
}

/* Whether the file says it under another name: the one of today, or an old one. */
static bool has_other_name(const checker *c, const char *key)
{
    const gufo_key_info *info = gufo_key_find(gufo_str_of(key), c->architecture);
    const gufo_key_info *today = info != NULL ? gufo_key_replacement(info, NULL) : NULL;
    const gufo_key_info *other;
    size_t from = 0;

    if (info == NULL)
        return false;
    if (today != NULL && has_key(c, today))
        return true;
    while ((other = key_old_name(info, &from)) != NULL)
        if (has_key(c, other))
            return true;
    return false;
}

/* The type that a value of the key has, if it is one number, bool or string. */
static gufo_str scalar_type(const char *key, gufo_str architecture)
{
    const gufo_key_info *info = gufo_key_find(gufo_str_of(key), architecture);
    const char *type = info != NULL ? info->type : "";

    while (strncmp(type, "array", 5) == 0) {
        type += strcspn(type, "|");
        type += *type == '|';
    }
    return (gufo_str){type, strcspn(type, "|")};
}

/* How the key is set, under its name of today; "" for one that is a list. */
static void write_hint(char *hint, size_t size, const char *text, gufo_str architecture)
{
    static const char template[] = "{arch}";
    const gufo_key_info *info = gufo_key_find(gufo_str_of(text), architecture);
    bool safe = false;
    const gufo_key_info *today = info != NULL ? gufo_key_replacement(info, &safe) : NULL;
    gufo_str type = scalar_type(text, architecture);
    char name[256] = "";

    hint[0] = '\0';
    if (type.len == 0)
        return;
    if (!safe)
        today = NULL;
    if (today != NULL && strncmp(today->key, template, strlen(template)) == 0)
        (void)snprintf(name, sizeof name, "%.*s%s", (int)architecture.len, architecture.data,
                       today->key + strlen(template));
    else
        (void)snprintf(name, sizeof name, "%s", today != NULL ? today->key : text);
    (void)snprintf(hint, size, "use 'gufo edit FILE --set=%s=%.*s:VALUE'", name, (int)type.len,
                   type.data);
}

static void report_need(checker *c, const gufo_arch_key *key, const char *text, const char *status)
{
    finding_place place = schema_place_missing(text);
    char hint[512];

    write_hint(hint, sizeof hint, text, c->architecture);
    if (hint[0] != '\0')
        place.hint = hint;
    if (key->need == GUFO_REQUIRED)
        schema_report(c, SCHEMA_KEY_REQUIRED, place,
                      "key \"%s\" is missing; models of architecture %s need it", text, key->arch);
    else
        schema_report(c, SCHEMA_KEY_EXPECTED, place, "key \"%s\" is missing; %s", text,
                      strcmp(status, "standard") == 0
                          ? "the specification requires it; readers in use do not need it"
                          : "readers of this architecture ask for it");
}

static void check_need(checker *c, const gufo_arch_key *key, const char *status)
{
    char text[256];
    gufo_entry entry;
    int len = snprintf(text, sizeof text, "%s.%s", key->arch, key->key);

    if (key->need != GUFO_OPTIONAL && !schema_check_arch_entry(c, key->key, &entry) && len > 0 &&
        (size_t)len < sizeof text && !has_other_name(c, text))
        report_need(c, key, text, status);
}

/* Whether a key that is not there says something: a vocabulary needs no keys of a model, and what a
 * damaged file lacks is not known. */
static bool absence_matters(const checker *c)
{
    return c->kind != KIND_VOCABULARY &&
           gufo_metadata_count(c->model) == gufo_model_facts(c->model).claimed_metadata;
}

static void check_needs(checker *c)
{
    const gufo_arch_info *arch = gufo_arch_find(c->architecture);
    size_t count = 0;
    const gufo_arch_key *keys = arch != NULL ? gufo_arch_keys(arch->id, &count) : NULL;

    for (size_t i = 0; i < count && absence_matters(c); i++)
        check_need(c, &keys[i], arch->status);
}

/* ---- counts --------------------------------------------------------------------------------- */

/* Models without attention say that they have no heads. */
static bool has_attention(const checker *c)
{
    size_t count;
    const gufo_arch_tensor *tensors = arch_tensors_of(c, &count);

    for (size_t i = 0; i < count; i++)
        if (strstr(tensors[i].name, ".attn_q") != NULL)
            return true;
    return false;
}

/* Whether the architecture does something with a key.  Some programs write every key that they
 * know, those that mean nothing for the model as 0. */
static bool is_needed(const checker *c, const char *part, const char *name)
{
    const gufo_arch_info *arch = gufo_arch_find(c->architecture);
    size_t prefix = strlen(part), count = 0;
    const gufo_arch_key *keys = arch != NULL ? gufo_arch_keys(arch->id, &count) : NULL;

    for (size_t i = 0; i < count; i++)
        if (keys[i].need != GUFO_OPTIONAL && strncmp(keys[i].key, part, prefix) == 0 &&
            strcmp(keys[i].key + prefix, name) == 0)
            return true;
    return false;
}

typedef enum counted_in { IN_ANY, IN_NEEDY, IN_ATTENTIVE } counted_in;

static bool is_counted(const checker *c, const char *part, const char *name, counted_in where)
{
    switch (where) {
    case IN_NEEDY:
        return is_needed(c, part, name);
    case IN_ATTENTIVE:
        return *part != '\0' || has_attention(c);
    default:
        return true;
    }
}

static void check_zeros(checker *c, const char *part)
{
    static const struct {
        const char *name;
        counted_in where; /* 0 is wrong */
    } counts[] = {
        {"context_length", IN_ANY},       {"embedding_length", IN_ANY},
        {"block_count", IN_ANY},          {"patch_size", IN_ANY},
        {"spatial_merge_size", IN_ANY},   {"attention.head_count", IN_ATTENTIVE},
        {"wkv.head_size", IN_NEEDY},      {"ssm.conv_kernel", IN_NEEDY},
        {"ssm.inner_size", IN_NEEDY},     {"ssm.state_size", IN_NEEDY},
        {"ssm.time_step_rank", IN_NEEDY},
    };
    char quoted[GUFO_QUOTE_SIZE];
    gufo_entry entry;
    uint64_t value;

    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (part_count(c, part, counts[i].name, &entry, &value) && value == 0 &&
            is_counted(c, part, counts[i].name, counts[i].where))
            schema_report(c, SCHEMA_COUNT_ZERO, schema_place_entry(&entry),
                          "key %s is 0; readers divide by it or need at least one",
                          quote_name(quoted, entry.key));
}

static void report_length(checker *c, const gufo_entry *entry, uint64_t blocks,
                          const block_range *range)
{
    char quoted[GUFO_QUOTE_SIZE];
    uint64_t count = entry->value.as.array.count;
    finding_place place = schema_place_entry(entry);

    if (count > range->end && range->required == range->end)
        place.fix =
            (gufo_fix){GUFO_FIX_SHORTEN, entry->key, {.type = GUFO_VALUE_UINT64, .as.u = blocks}};
    schema_report(c, SCHEMA_PER_LAYER_LENGTH, place,
                  "key %s has %" PRIu64 " elements, one for each block, but there are %" PRIu64
                  " blocks",
                  quote_name(quoted, entry->key), count, blocks);
}

/* Lists with an element for each block. */
static void check_lengths(checker *c)
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
        if (schema_check_arch_entry(c, lists[i].name, &entry) &&
            entry.value.type == GUFO_VALUE_ARRAY &&
            (entry.value.as.array.count < range.required ||
             (entry.value.as.array.count > range.end && !lists[i].may_be_longer)))
            report_length(c, &entry, blocks, &range);
}

static void check_experts(checker *c)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_entry entry, used_entry;
    uint64_t count = 0, used;

    if (!part_count(c, "", "expert_used_count", &used_entry, &used))
        return;
    if (!part_count(c, "", "expert_count", &entry, &count) && !absence_matters(c))
        return;
    if (used > count || (used == 0 && count > 0))
        schema_report(c, SCHEMA_EXPERT_COUNT, schema_place_entry(&used_entry),
                      "key %s is %" PRIu64 ", but there are %" PRIu64 " experts to use",
                      quote_name(quoted, used_entry.key), used, count);
}

/* ---- heads ---------------------------------------------------------------------------------- */

static uint64_t elements_of(const gufo_entry *entry)
{
    return entry->value.type == GUFO_VALUE_ARRAY ? entry->value.as.array.count : 1;
}

/* Heads share keys and values in groups of one size.  Blocks without attention have none. */
static void check_groups(checker *c, const gufo_entry *heads, const gufo_entry *groups)
{
    char quoted[GUFO_QUOTE_SIZE], others[GUFO_QUOTE_SIZE];
    uint64_t count =
        elements_of(heads) > elements_of(groups) ? elements_of(heads) : elements_of(groups);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t head, group;

        if (!schema_entry_count(heads, i, &head) || !schema_entry_count(groups, i, &group))
            return;
        if (group == 0 || head % group == 0)
            continue;
        schema_report(c, SCHEMA_HEAD_COUNT, schema_place_entry(groups),
                      "key %s is %" PRIu64 ", which does not divide the %" PRIu64
                      " heads of %s (block %" PRIu64 ")",
                      quote_name(quoted, groups->key), group, head, quote_name(others, heads->key),
                      i);
        return;
    }
}

/* Without a key that says it, the length of a head is the embedding divided by the heads. */
static void check_head_length(checker *c, const gufo_entry *heads, uint64_t embedding)
{
    char quoted[GUFO_QUOTE_SIZE];
    uint64_t head;

    for (uint64_t i = 0; i < elements_of(heads); i++) {
        if (!schema_entry_count(heads, i, &head))
            return;
        if (head == 0 || embedding % head == 0)
            continue;
        schema_report(c, SCHEMA_HEAD_COUNT, schema_place_entry(heads),
                      "key %s is %" PRIu64 ", which does not divide the embedding length %" PRIu64
                      ", and no key gives the length of a head (block %" PRIu64 ")",
                      quote_name(quoted, heads->key), head, embedding, i);
        return;
    }
}

static void check_heads(checker *c, const char *part)
{
    gufo_entry heads, groups, other;
    uint64_t embedding;

    if (!part_entry(c, part, "attention.head_count", &heads))
        return;
    if (part_entry(c, part, "attention.head_count_kv", &groups))
        check_groups(c, &heads, &groups);
    if (absence_matters(c) && part_count(c, part, "embedding_length", &other, &embedding) &&
        !part_entry(c, part, "attention.key_length", &other) &&
        !part_entry(c, part, "attention.head_dim", &other))
        check_head_length(c, &heads, embedding);
}

/* ---- positions ------------------------------------------------------------------------------ */

static void check_rope_dimensions(checker *c)
{
    char quoted[GUFO_QUOTE_SIZE];
    gufo_entry entry;
    uint64_t rotated, length;

    if (!part_count(c, "", "rope.dimension_count", &entry, &rotated))
        return;
    if (rotated % 2 != 0)
        schema_report(c, SCHEMA_ROPE_DIMENSIONS, schema_place_entry(&entry),
                      "key %s is %" PRIu64 "; numbers are rotated in pairs",
                      quote_name(quoted, entry.key), rotated);
    else if (absence_matters(c) && arch_value(c, gufo_str_of("key_length"), 0, &length) &&
             rotated > length)
        schema_report(c, SCHEMA_ROPE_DIMENSIONS, schema_place_entry(&entry),
                      "key %s is %" PRIu64 ", but a key of a head has only %" PRIu64 " numbers",
                      quote_name(quoted, entry.key), rotated, length);
}

/* Also not above zero if it is not a number. */
static void check_rope_bases(checker *c)
{
    static const char *const bases[] = {"rope.freq_base", "rope.freq_base_swa",
                                        "attention.compress_rope_freq_base"};
    char quoted[GUFO_QUOTE_SIZE];
    gufo_entry entry;
    double base;

    for (size_t i = 0; i < COUNT_OF(bases); i++)
        if (schema_check_arch_entry(c, bases[i], &entry) && float_entry(&entry, &base) &&
            isfinite(base) && base <= 0)
            schema_report(c, SCHEMA_ROPE_BASE, schema_place_entry(&entry),
                          "key %s is %g; frequencies are powers of a base above 0",
                          quote_name(quoted, entry.key), base);
}

/* ---- other numbers -------------------------------------------------------------------------- */

static void check_epsilons(checker *c, const char *part)
{
    static const char *const epsilons[] = {"attention.layer_norm_epsilon",
                                           "attention.layer_norm_rms_epsilon",
                                           "attention.group_norm_epsilon"};
    const double highest = 0.1; /* in use: 1e-12 to 1e-3 */
    char quoted[GUFO_QUOTE_SIZE];
    gufo_entry entry;
    double epsilon;

    for (size_t i = 0; i < COUNT_OF(epsilons); i++)
        if (part_entry(c, part, epsilons[i], &entry) && float_entry(&entry, &epsilon) &&
            isfinite(epsilon) &&
            (epsilon < 0 || epsilon > highest || (epsilon <= 0 && is_needed(c, part, epsilons[i]))))
            schema_report(c, SCHEMA_EPSILON, schema_place_entry(&entry),
                          "key %s is %g; it should be a small number above 0, such as 0.00001",
                          quote_name(quoted, entry.key), epsilon);
}

/* Lists are left out: some have an infinite element where nothing is cut off. */
static void check_finite(checker *c)
{
    findings_limit limit = {{0}};
    gufo_entry entry;

    for (uint64_t i = 0; gufo_metadata_at(c->model, i, &entry); i++) {
        char quoted[GUFO_QUOTE_SIZE];
        double number;

        if (entry.key.len <= c->architecture.len || entry.key.data[c->architecture.len] != '.' ||
            memcmp(entry.key.data, c->architecture.data, c->architecture.len) != 0 ||
            !float_entry(&entry, &number) || isfinite(number) ||
            !limit_allows(&limit, SCHEMA_FLOAT_FINITE))
            continue;
        schema_report(c, SCHEMA_FLOAT_FINITE, schema_place_entry(&entry), "key %s is %s",
                      quote_name(quoted, entry.key), isnan(number) ? "not a number" : "infinite");
    }
    limit_end(c, &limit);
}

static void check_rope_scaling(checker *c)
{
    static const char *const known[] = {"none", "linear", "yarn", "longrope"};
    char quoted[GUFO_QUOTE_SIZE], value[GUFO_QUOTE_SIZE];
    gufo_entry entry;
    gufo_str text;

    if (!schema_check_arch_entry(c, "rope.scaling.type", &entry) ||
        gufo_value_str(&entry.value, &text, NULL) != GUFO_OK)
        return;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (gufo_str_equal(text, gufo_str_of(known[i])))
            return;
    schema_report(c, SCHEMA_ROPE_SCALING, schema_place_entry(&entry),
                  "key %s is %s; the types that readers know are none, linear, yarn and longrope",
                  quote_name(quoted, entry.key), quote_name(value, text));
}

/* Spec, RWKV: the only allowed value. */
static void check_rwkv_version(checker *c)
{
    gufo_entry entry;
    uint64_t version;

    if (gufo_str_equal(c->architecture, gufo_str_of("rwkv")) &&
        part_count(c, "", "architecture_version", &entry, &version) && version != 4)
        schema_report(c, SCHEMA_RWKV_VERSION, schema_place_entry(&entry),
                      "rwkv.architecture_version is %" PRIu64
                      "; the only one that is specified is 4",
                      version);
}

void schema_check_architecture(checker *c)
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
    check_experts(c);
    check_rope_dimensions(c);
    check_rope_bases(c);
    check_finite(c);
    check_rope_scaling(c);
    check_rwkv_version(c);
}
