/* The validator: each rule that open does not enforce has a file that breaks it, and nothing
 * else. */
#include "../support/findings.h"
#include "../support/folder.h"
#include "../support/good.h"
#include "../support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* A file is made of three parts that a row of the table may replace. */
typedef struct recipe {
    unsigned entries; /* of its own, beside architecture and quantization version */
    encoding encoding;
    void (*add_entries)(builder *b);
    unsigned tensors;
    void (*add_tensors)(builder *b);
    void (*add_data)(builder *b); /* after the padding that follows the infos */
    bool no_architecture, no_quantization_version, no_padding;
    size_t padding; /* behind the infos; 0: to 32 */
} recipe;

#define DIMS(...) ((uint64_t[]){__VA_ARGS__})

static void good_tensors(builder *b)
{
    builder_tensor(b, "token_embd.weight", GUFO_TYPE_Q8_0, 1, DIMS(32), 0);
    builder_tensor(b, "output_norm.weight", GUFO_TYPE_F32, 1, DIMS(4), 64);
}

static void good_data(builder *b)
{
    builder_pattern(b, 1, 34);
    builder_pad(b, 32);
    builder_pattern(b, 2, 16);
    builder_pad(b, 32);
}

static builder cook(const recipe *r)
{
    builder b = builder_new(r->encoding.version != 0 ? r->encoding : (encoding){3, false});

    builder_header(&b, r->add_tensors != NULL ? r->tensors : 2,
                   r->entries + (r->no_architecture ? 0u : 1u) +
                       (r->no_quantization_version ? 0u : 1u));
    if (!r->no_architecture)
        builder_kv_str(&b, "general.architecture", "llama");
    if (!r->no_quantization_version)
        builder_kv_u32(&b, "general.quantization_version", 2);
    if (r->add_entries != NULL)
        r->add_entries(&b);
    (r->add_tensors != NULL ? r->add_tensors : good_tensors)(&b);
    if (!r->no_padding)
        builder_pad(&b, r->padding != 0 ? r->padding : 32);
    (r->add_data != NULL ? r->add_data : good_data)(&b);
    return b;
}

/* ---- entries -------------------------------------------------------------------------------- */

static void text_not_utf8(builder *b)
{
    builder_kv_strn(b, "text",
                    "ab\xff"
                    "c",
                    4);
    b->mark = b->len - 2;
}

static void array_not_utf8(builder *b)
{
    builder_kv_array(b, "tokens", GUFO_VALUE_STRING, 3);
    builder_str(b, "good");
    builder_str(b, "b\xe2\x96");
    b->mark = b->len - 2;
    builder_str(b, "\xff");
}

static void key_with_space(builder *b)
{
    builder_mark(b);
    builder_kv_u8(b, "a b", 1);
}

static void key_with_empty_segment(builder *b)
{
    builder_mark(b);
    builder_kv_u8(b, "a..b", 1);
}

static void key_with_dot_at_end(builder *b)
{
    builder_mark(b);
    builder_kv_u8(b, "a.", 1);
}

static void key_in_upper_case(builder *b)
{
    builder_mark(b);
    builder_kv_u8(b, "some.Key", 1);
}

static void key_with_hyphen(builder *b)
{
    builder_mark(b);
    builder_kv_u8(b, "some-key", 1);
}

static void nested_array(builder *b)
{
    builder_mark(b);
    builder_kv_array(b, "nested", GUFO_VALUE_ARRAY, 1);
    builder_array(b, GUFO_VALUE_UINT8, 0);
}

static void alignment_of(builder *b, uint32_t value)
{
    builder_kv_u32(b, "general.alignment", value);
    b->mark = b->len - 4;
}

static void alignment_4(builder *b)
{
    alignment_of(b, 4);
}

static void alignment_24(builder *b)
{
    alignment_of(b, 24);
}

static void alignment_16(builder *b)
{
    alignment_of(b, 16);
}

static void split_keys(builder *b, uint16_t no, uint16_t count, int32_t total)
{
    builder_kv_u16(b, "split.no", no);
    builder_kv_u16(b, "split.count", count);
    builder_kv_i32(b, "split.tensors.count", total);
}

static void split_good(builder *b)
{
    split_keys(b, 1, 2, 5);
}

static void split_number_past_count(builder *b)
{
    split_keys(b, 2, 2, 5);
}

static void split_total_too_small(builder *b)
{
    split_keys(b, 0, 2, 1);
}

static void split_total_of_one(builder *b)
{
    split_keys(b, 0, 1, 3);
}

static void split_without_total(builder *b)
{
    builder_kv_u16(b, "split.no", 0);
    builder_kv_u16(b, "split.count", 2);
}

static void split_as_text(builder *b)
{
    builder_kv_str(b, "split.no", "0");
    builder_kv_u16(b, "split.count", 2);
    builder_kv_i32(b, "split.tensors.count", 5);
}

/* ---- tensors -------------------------------------------------------------------------------- */

static void one_tensor(builder *b, const char *name, uint32_t type, uint32_t n_dims, uint64_t dim)
{
    builder_mark(b);
    builder_tensor(b, name, type, n_dims, DIMS(dim, 1, 1, 1), 0);
}

static void name_not_utf8(builder *b)
{
    one_tensor(b, "a\xff", GUFO_TYPE_F32, 1, 8);
}

static void name_empty(builder *b)
{
    one_tensor(b, "", GUFO_TYPE_F32, 1, 8);
}

static void name_of_64_bytes(builder *b)
{
    one_tensor(b, GOOD_LONG_NAME, GUFO_TYPE_F32, 1, 8);
}

static void type_with_layout_removed(builder *b)
{
    one_tensor(b, "old", GUFO_TYPE_Q4_0_4_4, 1, 32);
}

static void type_removed(builder *b)
{
    one_tensor(b, "old", GUFO_TYPE_Q4_2, 1, 32);
}

static void type_unknown(builder *b)
{
    one_tensor(b, "new", 57, 1, 32);
}

static void scalar(builder *b)
{
    one_tensor(b, "scalar", GUFO_TYPE_F32, 0, 0);
}

static void no_elements(builder *b)
{
    one_tensor(b, "none", GUFO_TYPE_F32, 1, 0);
}

static void quantized(builder *b)
{
    one_tensor(b, "weights", GUFO_TYPE_Q8_0, 1, 32);
}

static void not_quantized(builder *b)
{
    builder_tensor(b, "weights", GUFO_TYPE_BF16, 1, DIMS(16), 0);
}

static void two_with_gap(builder *b)
{
    builder_tensor(b, "a", GUFO_TYPE_F32, 1, DIMS(4), 0);
    builder_tensor(b, "b", GUFO_TYPE_F32, 1, DIMS(4), 96);
}

static void two_out_of_order(builder *b)
{
    builder_tensor(b, "a", GUFO_TYPE_F32, 1, DIMS(8), 32);
    builder_mark(b);
    builder_tensor(b, "b", GUFO_TYPE_F32, 1, DIMS(8), 0);
}

static void three_matrices(builder *b)
{
    builder_tensor(b, "a", GUFO_TYPE_F32, 2, DIMS(32, 32), 0);
    builder_mark(b);
    builder_tensor(b, "b", GUFO_TYPE_F32, 2, DIMS(32, 64), 4096);
    builder_tensor(b, "c", GUFO_TYPE_F32, 1, DIMS(8), 12288);
}

/* ---- data ----------------------------------------------------------------------------------- */

static void zeros_in_the_middle(builder *b)
{
    builder_pattern(b, 1, 4096);
    builder_mark(b);
    builder_zeros(b, 8192);
    builder_pattern(b, 2, 32);
}

static void bytes_0(builder *b)
{
    (void)b;
}

static void bytes_4(builder *b)
{
    builder_pattern(b, 1, 4);
    builder_pad(b, 32);
}

static void bytes_18(builder *b)
{
    builder_pattern(b, 1, 18);
    builder_pad(b, 32);
}

static void bytes_32(builder *b)
{
    builder_pattern(b, 1, 32);
}

static void bytes_34(builder *b)
{
    builder_pattern(b, 1, 34);
    builder_pad(b, 32);
}

static void bytes_48(builder *b)
{
    builder_pattern(b, 1, 32);
    builder_zeros(b, 16);
}

static void bytes_64(builder *b)
{
    builder_pattern(b, 1, 64);
}

static void data_with_gap(builder *b)
{
    builder_pattern(b, 1, 16);
    builder_pad(b, 32);
    builder_mark(b);
    builder_zeros(b, 64);
    builder_pattern(b, 2, 16);
    builder_pad(b, 32);
}

static void dirt_in_front(builder *b)
{
    builder_zeros(b, 32 - b->len % 32 - 1);
    builder_mark(b);
    builder_u8(b, 7);
    good_data(b);
}

static void dirt_between(builder *b)
{
    builder_pattern(b, 1, 34);
    builder_zeros(b, 3);
    builder_mark(b);
    builder_fill(b, 0xee, 27);
    builder_pattern(b, 2, 16);
    builder_pad(b, 32);
}

static void dirt_behind(builder *b)
{
    builder_pattern(b, 1, 34);
    builder_pad(b, 32);
    builder_pattern(b, 2, 16);
    builder_mark(b);
    builder_fill(b, 0xee, 16);
}

static void bytes_behind(builder *b)
{
    good_data(b);
    builder_mark(b);
    builder_zeros(b, 5);
}

static void no_tail_padding(builder *b)
{
    builder_pattern(b, 1, 34);
    builder_pad(b, 32);
    builder_pattern(b, 2, 16);
    builder_mark(b);
}

/* ---- the table ------------------------------------------------------------------------------ */

#define NOWHERE 1 /* the finding has no offset */
#define AT_4 2    /* at the version */

typedef struct row {
    const char *label, *rule; /* NULL: nothing is found */
    recipe recipe;
    const char *subject; /* NULL: any */
    const char *also;    /* other rules that such a file always breaks */
    int where;           /* 0: at the mark */
} row;

static const row rows[] = {
    {"perfect", NULL, {0}, NULL, NULL, 0},
    {"usual alignment",
     NULL,
     {.entries = 1,
      .add_entries = alignment_16,
      .tensors = 1,
      .add_tensors = not_quantized,
      .add_data = bytes_32,
      .padding = 16},
     NULL,
     NULL,
     0},
    {"good split keys", NULL, {.entries = 3, .add_entries = split_good}, NULL, NULL, 0},
    {"no quantized tensor",
     NULL,
     {.no_quantization_version = true,
      .tensors = 1,
      .add_tensors = not_quantized,
      .add_data = bytes_32},
     NULL,
     NULL,
     0},
    {"text", "string-utf8", {.entries = 1, .add_entries = text_not_utf8}, "text", NULL, 0},
    {"strings", "array-utf8", {.entries = 1, .add_entries = array_not_utf8}, "tokens", NULL, 0},
    {"space", "key-charset", {.entries = 1, .add_entries = key_with_space}, "a b", NULL, 0},
    {"segment",
     "key-segment",
     {.entries = 1, .add_entries = key_with_empty_segment},
     "a..b",
     NULL,
     0},
    {"last segment",
     "key-segment",
     {.entries = 1, .add_entries = key_with_dot_at_end},
     "a.",
     NULL,
     0},
    {"upper case",
     "key-case",
     {.entries = 1, .add_entries = key_in_upper_case},
     "some.Key",
     NULL,
     0},
    {"hyphen", "key-case", {.entries = 1, .add_entries = key_with_hyphen}, "some-key", NULL, 0},
    {"nested array", "compat-ggml", {.entries = 1, .add_entries = nested_array}, "nested", NULL, 0},
    {"alignment 4",
     "alignment-eight",
     {.entries = 1,
      .add_entries = alignment_4,
      .tensors = 1,
      .add_tensors = not_quantized,
      .add_data = bytes_32,
      .padding = 4},
     "general.alignment",
     NULL,
     0},
    {"alignment 24",
     "alignment-unusual",
     {.entries = 1,
      .add_entries = alignment_24,
      .tensors = 1,
      .add_tensors = not_quantized,
      .add_data = bytes_48,
      .padding = 24},
     "general.alignment",
     NULL,
     0},
    {"split.no",
     "split-keys",
     {.entries = 3, .add_entries = split_number_past_count},
     NULL,
     NULL,
     -1},
    {"split total",
     "split-keys",
     {.entries = 3, .add_entries = split_total_too_small},
     NULL,
     NULL,
     -1},
    {"split of one",
     "split-keys",
     {.entries = 3, .add_entries = split_total_of_one},
     NULL,
     NULL,
     -1},
    {"split key missing",
     "split-keys",
     {.entries = 2, .add_entries = split_without_total},
     "split.tensors.count",
     NULL,
     -1},
    {"split key is text",
     "split-keys",
     {.entries = 3, .add_entries = split_as_text},
     "split.no",
     NULL,
     -1},
    {"architecture",
     "architecture-missing",
     {.no_architecture = true},
     "general.architecture",
     NULL,
     NOWHERE},
    {"quantization version",
     "quantization-version-missing",
     {.no_quantization_version = true,
      .tensors = 1,
      .add_tensors = quantized,
      .add_data = bytes_34},
     "general.quantization_version",
     NULL,
     NOWHERE},
    {"name",
     "name-utf8",
     {.tensors = 1, .add_tensors = name_not_utf8, .add_data = bytes_32},
     "a\xff",
     NULL,
     0},
    {"empty name",
     "name-empty",
     {.tensors = 1, .add_tensors = name_empty, .add_data = bytes_32},
     "",
     NULL,
     0},
    {"64 bytes",
     "compat-ggml",
     {.tensors = 1, .add_tensors = name_of_64_bytes, .add_data = bytes_32},
     GOOD_LONG_NAME,
     NULL,
     0},
    {"removed type with layout",
     "type-removed",
     {.tensors = 1, .add_tensors = type_with_layout_removed, .add_data = bytes_18},
     "old",
     NULL,
     0},
    {"removed type",
     "type-removed",
     {.tensors = 1, .add_tensors = type_removed, .add_data = bytes_32},
     "old",
     NULL,
     0},
    {"unknown type",
     "type-unknown",
     {.tensors = 1, .add_tensors = type_unknown, .add_data = bytes_32},
     "new",
     NULL,
     0},
    {"scalar",
     "tensor-empty",
     {.tensors = 1, .add_tensors = scalar, .add_data = bytes_4},
     "scalar",
     NULL,
     0},
    {"no elements",
     "tensor-empty",
     {.tensors = 1, .add_tensors = no_elements, .add_data = bytes_0},
     "none",
     NULL,
     0},
    {"gap",
     "data-gap",
     {.tensors = 2, .add_tensors = two_with_gap, .add_data = data_with_gap},
     "b",
     NULL,
     0},
    {"order",
     "data-order",
     {.tensors = 2, .add_tensors = two_out_of_order, .add_data = bytes_64},
     "b",
     NULL,
     0},
    {"a matrix of zeros",
     "data-zero",
     {.tensors = 3, .add_tensors = three_matrices, .add_data = zeros_in_the_middle},
     "b",
     NULL,
     0},
    {"dirt in front",
     "padding-nonzero",
     {.no_padding = true, .add_data = dirt_in_front},
     NULL,
     NULL,
     0},
    {"dirt between", "padding-nonzero", {.add_data = dirt_between}, NULL, NULL, 0},
    {"dirt behind", "padding-nonzero", {.add_data = dirt_behind}, NULL, NULL, 0},
    {"bytes behind", "trailing-bytes", {.add_data = bytes_behind}, NULL, NULL, 0},
    {"unpadded tail", "compat-ggml", {.add_data = no_tail_padding}, NULL, NULL, 0},
    {"big-endian", "compat-ggml", {.encoding = {3, true}}, NULL, NULL, AT_4},
    {"version 1", "version-old", {.encoding = {1, false}}, NULL, "compat-ggml", AT_4},
    {"version 2", "version-old", {.encoding = {2, false}}, NULL, NULL, AT_4},
    {"big-endian version 2",
     "big-endian-old",
     {.encoding = {2, true}},
     NULL,
     "version-old compat-ggml",
     AT_4},
    {"big-endian version 1",
     "big-endian-old",
     {.encoding = {1, true}},
     NULL,
     "version-old compat-ggml",
     AT_4},
};

static void check_row(const row *r, const builder *b, const findings *found)
{
    const kept_finding *first;
    const gufo_rule *rule;

    for (size_t i = 0; i < found->count; i++) {
        const char *name = found->items[i].rule->name;

        if (r->rule != NULL &&
            (strcmp(name, r->rule) == 0 || (r->also != NULL && strstr(r->also, name) != NULL)))
            continue;
        findings_print(found);
        check(false, "%s: also %s", r->label, name);
    }
    if (r->rule == NULL)
        return;
    rule = gufo_rule_by_id(r->rule);
    first = findings_get(found, r->rule, 0);
    check_u64(findings_of(found, r->rule), 1, "%s", r->label);
    check(first->rule == rule, "%s: another rule", r->label);
    if (r->where == 0)
        check_u64(first->offset, b->mark, "%s: %s", r->label, first->message);
    else if (r->where > 0)
        check_u64(first->offset, r->where == AT_4 ? 4 : GUFO_NO_OFFSET, "%s", r->label);
    if (r->subject != NULL)
        check_view(((gufo_str){first->subject, first->subject_len}), gufo_str_of(r->subject), "%s",
                   r->label);
    for (const char *c = first->message; *c != '\0'; c++)
        check((unsigned char)*c >= 0x20 && *c != 0x7f, "%s: control character", r->label);
}

static void validate_path(const builder *b, const gufo_open_options *options, findings *found)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "file.gguf");
    gufo_error error = no_error();

    findings_init(found);
    write_file(path.text, b->data, b->len);
    check_ok(validate_file(path.text, options, findings_add, found, &error), &error, "validate");
    folder_remove(&f);
}

static void test_rules(void **state)
{
    const gufo_open_options no_map = {.flags = GUFO_OPEN_NO_MAP};
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows) * 2; i++) {
        const row *r = &rows[i / 2];
        builder b = cook(&r->recipe);
        findings found;
        gufo_error error = no_error();
        gufo_model *file = gufo_model_open_memory(b.data, b.len, &just_this, &error);

        check(file != NULL, "%s: does not open: %s", r->label, error.message);
        gufo_model_free(file);
        validate_path(&b, i % 2 == 0 ? NULL : &no_map, &found);
        check_row(r, &b, &found);
        findings_free(&found);
        builder_free(&b);
    }
}

/* Rules that no file that opens can break: between files, about what a pipe does not show, about
 * what a lenient walk could not read, and about tensor data, which is never looked at here. */
static const char *const not_of_a_file[] = {"shard-set",      "shard-missing",  "padding-unread",
                                            "unread",         "data-nonfinite", "scale-nonfinite",
                                            "data-unchecked", "data-missing"};

/* Every other rule that open leaves to the validator has a row above. */
static void test_rows_are_complete(void **state)
{
    (void)state;
    const gufo_rule *rule;

    for (size_t n = 0; (rule = gufo_rule_at(n)) != NULL && rule->id[0] == 'G'; n++) {
        bool covered = rule->fatal;

        for (size_t i = 0; i < COUNT_OF(not_of_a_file); i++)
            covered |= strcmp(not_of_a_file[i], rule->name) == 0;
        for (size_t i = 0; i < COUNT_OF(rows); i++)
            covered |= rows[i].rule != NULL && strcmp(rows[i].rule, rule->name) == 0;
        check(covered, "no file breaks %s", rule->name);
    }
}

/* gufo_model_check alone: the same findings, for a file that is open already. */
static void test_check_of_open_file(void **state)
{
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        builder b = cook(&rows[i].recipe);
        gufo_error error = no_error();
        gufo_model *file = gufo_model_open_memory(b.data, b.len, &just_this, &error);
        findings found;

        findings_init(&found);
        check_ok(gufo_model_check(file, findings_add, &found, &error), &error, "%s", rows[i].label);
        check_row(&rows[i], &b, &found);
        findings_free(&found);
        gufo_model_free(file);
        builder_free(&b);
    }
}

/* ---- several findings ----------------------------------------------------------------------- */

static const char *const all_of_them[] = {
    "key-ascii",    "bool-value",  "key-empty",      "string-utf8",      "key-duplicate",
    "key-charset",  "name-nul",    "name-duplicate", "offset-alignment", "data-overlap",
    "type-removed", "name-utf8",   "key-case",       "tensor-empty",     "dims-overflow",
    "row-blocks",   "name-length",
};

static builder file_with_everything(void)
{
    builder b = builder_new((encoding){3, false});
    char long_name[66];

    memset(long_name, 'n', 65);
    long_name[65] = '\0';
    builder_header(&b, 9, 8);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_u8(&b, "esc\x1b", 1);
    builder_key(&b, "flag", GUFO_VALUE_BOOL);
    builder_u8(&b, 2);
    builder_kv_u8(&b, "", 1);
    builder_kv_str(&b, "text", "\xff");
    builder_kv_u8(&b, "text", 1);
    builder_kv_u8(&b, "a b", 1);
    builder_kv_u8(&b, "Case", 1);
    builder_tensorn(&b, "a\0b", 3, GUFO_TYPE_F32, 1, DIMS(8), 0);
    builder_tensor(&b, "twice", GUFO_TYPE_F32, 1, DIMS(8), 32);
    builder_tensor(&b, "twice", GUFO_TYPE_F32, 1, DIMS(8), 64);
    builder_tensor(&b, "crooked", GUFO_TYPE_F32, 1, DIMS(4), 97);
    builder_tensor(&b, "over", GUFO_TYPE_Q4_0_4_4, 1, DIMS(32), 64);
    builder_tensor(&b, "\xff", GUFO_TYPE_F32, 0, DIMS(0), 128);
    builder_tensor(&b, "large", GUFO_TYPE_F32, 1, DIMS(UINT64_MAX), 160);
    builder_tensor(&b, "partial", GUFO_TYPE_Q4_0, 1, DIMS(33), 160);
    builder_tensor(&b, long_name, GUFO_TYPE_F32, 1, DIMS(4), 160);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 192);
    return b;
}

static void test_everything_at_once(void **state)
{
    builder b = file_with_everything();
    findings found;

    (void)state;
    validate_path(&b, NULL, &found);
    for (size_t i = 0; i < COUNT_OF(all_of_them); i++)
        if (findings_of(&found, all_of_them[i]) != 1) {
            findings_print(&found);
            check_u64(findings_of(&found, all_of_them[i]), 1, "%s", all_of_them[i]);
        }
    findings_free(&found);
    builder_free(&b);
}

/* Where a walk has to stop, what came before is reported, and the stop. */
static void test_stop(void **state)
{
    builder b = builder_new((encoding){3, false});
    findings found;

    (void)state;
    builder_header(&b, 0, 3);
    builder_kv_str(&b, "text", "\xff");
    builder_kv_u8(&b, "a b", 1);
    builder_str(&b, "bad");
    builder_mark(&b);
    builder_u32(&b, 99);
    builder_zeros(&b, 50);
    validate_path(&b, NULL, &found);
    check_u64(findings_of(&found, "value-type"), 1, "stop");
    check_u64(findings_get(&found, "value-type", 0)->offset, b.mark, "stop");
    check_u64(findings_of(&found, "string-utf8"), 1, "before");
    check_u64(findings_of(&found, "key-charset"), 1, "before");
    check_u64(findings_of(&found, "architecture-missing"), 0, "unknown");
    check_u64(findings_of(&found, "unread"), 1, "what was not read");
    check(strstr(findings_get(&found, "unread", 0)->message,
                 "1 of 3 metadata entries and 0 of 0 tensor infos") != NULL,
          "%s", findings_get(&found, "unread", 0)->message);
    findings_free(&found);
    builder_free(&b);
}

/* One fault is one finding: its consequences are not reported as further faults. */
static void test_no_follow_ups(void **state)
{
    static const struct {
        const char *rule;
        uint32_t alignment, n_dims;
        uint64_t dims[5];
    } rows_of_faults[] = {
        {"alignment-value", 0, 1, {8}},
        {"alignment-value", 12, 1, {8}},
        {"alignment-value", (1u << 24) + 4, 1, {8}},
        {"dims-overflow", 32, 2, {1ull << 62, 1ull << 62}},
        {"dims-count", 32, 5, {1, 1, 1, 1, 1}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows_of_faults); i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 2, 2);
        builder_kv_str(&b, "general.architecture", "llama");
        builder_kv_u32(&b, "general.alignment", rows_of_faults[i].alignment);
        builder_tensor(&b, "faulty", GUFO_TYPE_F32, rows_of_faults[i].n_dims,
                       rows_of_faults[i].dims, 0);
        builder_tensor(&b, "other", GUFO_TYPE_F32, 1, DIMS(8), 128);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 160);
        validate_path(&b, NULL, &found);
        if (found.count != 1)
            findings_print(&found);
        check_u64(found.count, 1, "%s %zu", rows_of_faults[i].rule, i);
        check_u64(findings_of(&found, rows_of_faults[i].rule), 1, "%s", rows_of_faults[i].rule);
        findings_free(&found);
        builder_free(&b);
    }
}

/* Only data that is there has an order. */
static void test_order_of_empty_tensors(void **state)
{
    builder b = builder_new((encoding){3, false});
    findings found;

    (void)state;
    builder_header(&b, 3, 1);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_tensor(&b, "empty", GUFO_TYPE_F32, 1, DIMS(0), 64);
    builder_tensor(&b, "a", GUFO_TYPE_F32, 1, DIMS(8), 0);
    builder_tensor(&b, "b", GUFO_TYPE_F32, 1, DIMS(8), 32);
    builder_pad(&b, 32);
    builder_pattern(&b, 1, 64);
    validate_path(&b, NULL, &found);
    check_u64(findings_of(&found, "data-order"), 0, "order");
    check_u64(findings_of(&found, "tensor-empty"), 1, "empty");
    findings_free(&found);
    builder_free(&b);
}

/* Split keys are compared as far as they are there. */
static void test_some_split_keys(void **state)
{
    builder b = builder_new((encoding){3, false});
    findings found;

    (void)state;
    builder_header(&b, 0, 3);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_kv_u32(&b, "split.no", 5);
    builder_kv_u32(&b, "split.count", 3);
    validate_path(&b, NULL, &found);
    check_u64(findings_of(&found, "split-keys"), 2, "a missing key, and a number too high");
    findings_free(&found);
    builder_free(&b);
}

/* The later shards of a set have no architecture of their own. */
static void test_later_shard(void **state)
{
    (void)state;
    for (uint16_t number = 0; number < 2; number++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 1, 3);
        builder_key(&b, "split.no", GUFO_VALUE_UINT16);
        builder_u16(&b, number);
        builder_key(&b, "split.count", GUFO_VALUE_UINT16);
        builder_u16(&b, 2);
        builder_kv_u32(&b, "split.tensors.count", 2);
        builder_tensor(&b, "t", GUFO_TYPE_Q4_0, 1, DIMS(32), 0);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 18);
        builder_pad(&b, 32);
        validate_path(&b, NULL, &found);
        check_u64(findings_of(&found, "architecture-missing"), number == 0, "shard %u", number);
        check_u64(findings_of(&found, "quantization-version-missing"), number == 0, "shard %u",
                  number);
        findings_free(&found);
        builder_free(&b);
    }
}

/* ---- truncated, and not GGUF ---------------------------------------------------------------- */

static void test_truncated(void **state)
{
    static const struct {
        size_t missing, complete;
    } cuts[] = {{1, 4}, {240, 4}, {241, 4}, {272, 3}, {300, 3}, {500, 2}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cuts); i++) {
        builder b = good_build_named("dims", (encoding){3, false});
        findings found;
        char expected[96];

        b.len -= 16 + cuts[i].missing; /* 16 of padding */
        validate_path(&b, NULL, &found);
        snprintf(expected, sizeof expected, "%zu of 5 tensors complete, %zu byte%s missing",
                 cuts[i].complete, cuts[i].missing, cuts[i].missing == 1 ? "" : "s");
        check_u64(findings_of(&found, "data-truncated"), 1, "%s", expected);
        check(strstr(findings_get(&found, "data-truncated", 0)->message, expected) != NULL,
              "\"%s\" is not in \"%s\"", expected,
              findings_get(&found, "data-truncated", 0)->message);
        findings_free(&found);
        builder_free(&b);
    }
}

static void test_not_gguf(void **state)
{
    static const struct {
        const char *bytes, *rule;
        size_t len;
        uint64_t offset;
    } files[] = {
        {"", "magic", 0, 0},
        {"GG", "magic", 2, 0},
        {"<!DOCTYPE html><html>", "magic", 21, 0},
        {"GGUF", "header-truncated", 4, 4},
        {"GGUF\3\0\0\0\0\0\0\0", "header-truncated", 12, 12},
        {"GGUF\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "version", 24, 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_raw(&b, files[i].bytes, files[i].len);
        validate_path(&b, NULL, &found);
        if (found.count != 1)
            findings_print(&found);
        check_u64(found.count, 1, "file %zu", i);
        check(strcmp(found.items[0].rule->name, files[i].rule) == 0, "file %zu: %s", i,
              found.items[0].rule->name);
        check_u64(found.items[0].offset, files[i].offset, "file %zu", i);
        findings_free(&found);
        builder_free(&b);
    }
}

/* ---- ways ----------------------------------------------------------------------------------- */

static void test_missing_file(void **state)
{
    folder f = folder_new();
    path_text path = folder_path(&f, "missing.gguf");
    gufo_error error = no_error();
    findings found;

    (void)state;
    findings_init(&found);
    check_status(validate_file(path.text, NULL, findings_add, &found, &error), GUFO_E_IO, &error,
                 "missing");
    check_u64((unsigned)error.system, ENOENT, "missing");
    check_status(validate_file(f.path, NULL, findings_add, &found, &error), GUFO_E_IO, &error,
                 "folder");
    check_status(validate_fd(-1, NULL, findings_add, &found, &error), GUFO_E_IO, &error,
                 "no descriptor");
    check_u64(found.count, 0, "missing");
    findings_free(&found);
    folder_remove(&f);
}

static gufo_status read_built(void *context, uint64_t offset, void *buffer, size_t size,
                              gufo_error *error)
{
    (void)error;
    memcpy(buffer, ((const builder *)context)->data + offset, size);
    return GUFO_OK;
}

/* From memory and from a source: what is found by path. */
static void test_memory_and_source(void **state)
{
    builder b = file_with_everything();
    const gufo_source source = {.context = &b, .size = b.len, .read = read_built};
    const gufo_input inputs[] = {gufo_input_memory(b.data, b.len), gufo_input_source(&source)};
    gufo_error error = no_error();
    findings by_path, found;

    (void)state;
    validate_path(&b, NULL, &by_path);
    for (size_t way = 0; way < COUNT_OF(inputs); way++) {
        findings_init(&found);
        check_ok(gufo_validate(&inputs[way], NULL, findings_add, &found, &error), &error, "%zu",
                 way);
        check_u64(found.count, by_path.count, "way %zu", way);
        for (size_t i = 0; i < found.count; i++) {
            check(found.items[i].rule == by_path.items[i].rule, "way %zu, finding %zu", way, i);
            check_u64(found.items[i].offset, by_path.items[i].offset, "way %zu", way);
        }
        findings_free(&found);
    }
    findings_free(&by_path);
    builder_free(&b);
}

static void test_descriptors(void **state)
{
    builder b = file_with_everything();
    folder f = folder_new();
    path_text path = folder_path(&f, "file.gguf");
    gufo_error error = no_error();
    findings by_path, by_file, by_pipe;
    feeder feed;
    int fd;

    (void)state;
    validate_path(&b, NULL, &by_path);
    write_file(path.text, b.data, b.len);
    findings_init(&by_file);
    fd = open(path.text, O_RDONLY);
    check_ok(validate_fd(fd, NULL, findings_add, &by_file, &error), &error, "descriptor");
    check(close(fd) == 0, "the descriptor stays the caller's");
    check_u64(by_file.count, by_path.count, "descriptor");
    findings_init(&by_pipe);
    feeder_start(&feed, b.data, b.len);
    check_ok(validate_fd(feed.fd, NULL, findings_add, &by_pipe, &error), &error, "pipe");
    feeder_end(&feed);
    for (size_t i = 0; i < COUNT_OF(all_of_them); i++)
        check_u64(findings_of(&by_pipe, all_of_them[i]), 1, "pipe: %s", all_of_them[i]);
    findings_free(&by_path);
    findings_free(&by_file);
    findings_free(&by_pipe);
    folder_remove(&f);
    builder_free(&b);
}

/* Metadata first, then tensor infos, then data. */
static void test_order_of_findings(void **state)
{
    static const recipe mixed = {.entries = 1,
                                 .add_entries = text_not_utf8,
                                 .tensors = 2,
                                 .add_tensors = two_out_of_order,
                                 .add_data = bytes_behind,
                                 .no_padding = false};
    static const char *const order[] = {"string-utf8", "data-order", "trailing-bytes"};
    builder b = cook(&mixed);
    findings found;
    size_t next = 0;

    (void)state;
    validate_path(&b, NULL, &found);
    for (size_t i = 0; i < found.count && next < COUNT_OF(order); i++)
        next += strcmp(found.items[i].rule->name, order[next]) == 0;
    if (next != COUNT_OF(order))
        findings_print(&found);
    check_u64(next, COUNT_OF(order), "order of findings");
    findings_free(&found);
    builder_free(&b);
}

/* What is good for all other tests is good for the validator: no errors but the known ones. */
static void validate_good(const good_file *file, const builder *b, const char *label, void *context)
{
    static const char *const with_errors[] = {"strings", "odd keys", "names", "unknown types",
                                              "all types"};
    findings found;
    bool expected = false;

    (void)context;
    for (size_t i = 0; i < COUNT_OF(with_errors); i++)
        expected |= strcmp(file->name, with_errors[i]) == 0;
    validate_path(b, NULL, &found);
    if ((findings_of_severity(&found, GUFO_ERROR) > 0) != expected)
        findings_print(&found);
    check((findings_of_severity(&found, GUFO_ERROR) > 0) == expected, "%s: errors", label);
    for (size_t i = 0; i < found.count; i++)
        check(!found.items[i].rule->fatal, "%s: %s", label, found.items[i].rule->name);
    findings_free(&found);
}

static void test_good_files(void **state)
{
    (void)state;
    good_for_each(validate_good, NULL);
}

/* ---- rare values ------------------------------------------------------------------------------- */

/* All findings of a file in memory, which must open. */
static void check_built(const builder *b, findings *found, const char *label)
{
    gufo_error error = no_error();
    const gufo_open_options just_this = {.flags = GUFO_OPEN_INCOMPLETE};
    gufo_model *file = gufo_model_open_memory(b->data, b->len, &just_this, &error);

    check(file != NULL, "%s: %s", label, error.message);
    findings_init(found);
    check_ok(gufo_model_check(file, findings_add, found, &error), &error, "%s", label);
    gufo_model_free(file);
}

static void test_architecture_is_no_name(void **state)
{
    (void)state;
    for (int text = 0; text < 2; text++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 0, 1);
        if (text)
            builder_kv_str(&b, "general.architecture", "");
        else
            builder_kv_u32(&b, "general.architecture", 1);
        check_built(&b, &found, "architecture");
        check_u64(findings_of(&found, "architecture-missing"), 1, "architecture");
        check_u64(findings_get(&found, "architecture-missing", 0)->offset, b.len - (text ? 0 : 4),
                  "architecture");
        findings_free(&found);
        builder_free(&b);
    }
}

/* An importance matrix needs no architecture; a model does. */
static void test_architecture_of_imatrix(void **state)
{
    static const struct {
        const char *type;
        uint64_t missing;
    } cases[] = {{"imatrix", 0}, {"model", 1}, {"imatri", 1}, {"", 1}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 0, 1);
        builder_kv_str(&b, "general.type", cases[i].type);
        check_built(&b, &found, cases[i].type);
        check_u64(findings_of(&found, "architecture-missing"), cases[i].missing, "%s",
                  cases[i].type);
        findings_free(&found);
        builder_free(&b);
    }
}

/* A set of one shard has all tensors; one of several may have fewer than the total, not more. */
static void test_split_total(void **state)
{
    static const struct {
        uint16_t count;
        int32_t total;
        bool good;
    } cases[] = {{1, 1, true}, {1, 2, false}, {1, 0, false},
                 {2, 1, true}, {2, 2, true},  {2, 0, false}};
    const uint64_t dims[1] = {32};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 1, 4);
        builder_kv_str(&b, "general.architecture", "llama");
        builder_kv_u16(&b, "split.no", 0);
        builder_kv_u16(&b, "split.count", cases[i].count);
        builder_kv_i32(&b, "split.tensors.count", cases[i].total);
        builder_tensor(&b, "a", GUFO_TYPE_I8, 1, dims, 0);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 32);
        check_built(&b, &found, "split");
        check_u64(findings_of(&found, "split-keys"), cases[i].good ? 0 : 1, "row %zu", i);
        check_u64(found.count, cases[i].good ? 0 : 1, "row %zu", i);
        findings_free(&found);
        builder_free(&b);
    }
}

/* A file without elements may end where the padding would begin, or inside it.  ggml wants all of
 * it. */
static void test_ends_before_data(void **state)
{
    const uint64_t dims[1] = {0};
    builder b = builder_new((encoding){3, false});
    size_t infos_end;

    (void)state;
    builder_header(&b, 1, 1);
    builder_kv_str(&b, "general.architecture", "llama");
    builder_tensor(&b, "none", GUFO_TYPE_F32, 1, dims, 0);
    infos_end = b.len;
    check(infos_end % 32 != 0, "there is padding");
    builder_pad(&b, 32);
    for (size_t len = infos_end; len <= b.len; len++) {
        builder cut = b;
        findings found;

        cut.len = len;
        check_built(&cut, &found, "no data");
        check_u64(findings_of(&found, "compat-ggml"), len < b.len, "%zu bytes", len);
        check_u64(findings_of(&found, "tensor-empty"), 1, "%zu bytes", len);
        check_u64(found.count, 1 + (len < b.len), "%zu bytes", len);
        if (len < b.len)
            check_u64(findings_get(&found, "compat-ggml", 0)->offset, len, "%zu bytes", len);
        findings_free(&found);
    }
    builder_free(&b);
}

/* A tensor without bytes may have any offset; ggml requires it where the next one would be. */
static void test_empty_tensor_elsewhere(void **state)
{
    static const struct {
        uint64_t offsets[3];
        size_t refused;
    } cases[] = {{{0, 0, 64}, 0}, {{0, 0, 32}, 1}, {{32, 0, 64}, 1}, {{64, 0, 0}, 2}};
    const uint64_t none[1] = {0}, some[1] = {40};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        builder b = builder_new((encoding){3, false});
        findings found;

        builder_header(&b, 3, 1);
        builder_kv_str(&b, "general.architecture", "llama");
        builder_tensor(&b, "before", GUFO_TYPE_F32, 1, none, cases[i].offsets[0]);
        builder_tensor(&b, "some", GUFO_TYPE_I8, 1, some, cases[i].offsets[1]);
        builder_tensor(&b, "behind", GUFO_TYPE_F32, 1, none, cases[i].offsets[2]);
        builder_pad(&b, 32);
        builder_pattern(&b, 1, 40);
        builder_pad(&b, 32);
        check_built(&b, &found, "empty tensors");
        check_u64(findings_of(&found, "compat-ggml"), cases[i].refused, "row %zu", i);
        check_u64(findings_of(&found, "tensor-empty"), 2, "row %zu", i);
        findings_free(&found);
        builder_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_check_of_open_file),
        cmocka_unit_test(test_everything_at_once),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_no_follow_ups),
        cmocka_unit_test(test_later_shard),
        cmocka_unit_test(test_order_of_empty_tensors),
        cmocka_unit_test(test_some_split_keys),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_not_gguf),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_memory_and_source),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_order_of_findings),
        cmocka_unit_test(test_good_files),
        cmocka_unit_test(test_architecture_is_no_name),
        cmocka_unit_test(test_architecture_of_imatrix),
        cmocka_unit_test(test_split_total),
        cmocka_unit_test(test_ends_before_data),
        cmocka_unit_test(test_empty_tensor_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
