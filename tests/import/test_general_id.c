/* Ids of models taken apart, titles, size labels, names of files and of folders. */
#include "general_case.h"
#include "place.h"

#include <locale.h>
#include <unistd.h>

#include "import/general/model_id.h"

/* ---- ids ------------------------------------------------------------------------------------ */

static const struct id_row {
    const char *id;
    uint64_t parameters;
    bool adapter;
    const char *part[ID_PARTS]; /* name, organization, base name, size, fine tune, version */
} id_rows[] = {
    {"a/Mistral-7B", 0, 0, {"", "Mistral-7B", "a", "Mistral", "7B", "", ""}},
    {"Mixtral-8x7B-Instruct-v0.1",
     0,
     0,
     {"", "Mixtral-8x7B-Instruct-v0.1", "", "Mixtral", "8x7B", "Instruct", "v0.1"}},
    /* A base name alone is not one. */
    {"Llama", 0, 0, {"", "Llama", "", "", "", "", ""}},
    {"gemma-2-tiny", 0, 0, {"", "gemma-2-tiny", "", "", "", "", ""}},
    /* Versions inside a base name belong to it; at its end they are the model's. */
    {"Qwen-2-Coder-1.5B", 0, 0, {"", "Qwen-2-Coder-1.5B", "", "Qwen-2-Coder", "1.5B", "", ""}},
    {"Llama-3.1", 0, 0, {"", "Llama-3.1", "", "Llama", "", "", "3.1"}},
    {"Some-v1-v2", 0, 0, {"", "Some-v1-v2", "", "Some", "", "", "v1-v2"}},
    {"Base-7B-v1-Chat-iter2",
     0,
     0,
     {"", "Base-7B-v1-Chat-iter2", "", "Base", "7B", "Chat", "v1-iter2"}},
    {"X-V1.0.3-7b", 0, 0, {"", "X-V1.0.3-7b", "", "X-V1.0.3", "7B", "", ""}},
    {"X-v1.-7b", 0, 0, {"", "X-v1.-7b", "", "X-v1.", "7B", "", ""}},
    /* Sizes. */
    {"bloom-7b1", 0, 0, {"", "bloom-7b1", "", "bloom", "7.1B", "", ""}},
    {"bloom-1_5b", 0, 0, {"", "bloom-1_5b", "", "bloom", "1.5B", "", ""}},
    {"m-30B-A3B", 0, 0, {"", "m-30B-A3B", "", "m", "30B-A3B", "", ""}},
    {"m-30b-a3b", 0, 0, {"", "m-30b-a3b", "", "m", "30B-a3B", "", ""}},
    {"m-7B-chat-7b", 0, 0, {"", "m-7B-chat-7b", "", "m", "7B", "chat", ""}},
    {"m-10k5-x", 0, 0, {"", "m-10k5-x", "", "m", "10.5K", "x", ""}},
    {"gpt2-medium", 0, 0, {"", "gpt2-medium", "", "gpt2", "medium", "", ""}},
    {"m-XXL-v1", 0, 0, {"", "m-XXL-v1", "", "m", "XXL", "", "v1"}},
    /* Words are sizes only without numbers; then they may be part of the base name. */
    {"phi-mini-3B", 0, 0, {"", "phi-mini-3B", "", "phi-mini", "3B", "", ""}},
    {"phi-3B-mini", 0, 0, {"", "phi-3B-mini", "", "phi", "3B", "mini", ""}},
    /* The first piece is never a size or a fine tune. */
    {"7B-chat", 0, 0, {"", "7B-chat", "", "", "", "7B-chat", ""}},
    {"chat-7B", 0, 0, {"", "chat-7B", "", "chat", "7B", "", ""}},
    {"1.5-chat", 0, 0, {"", "1.5-chat", "", "1.5", "", "chat", ""}},
    /* Lengths of context: more than seven eighths away from the number of parameters. */
    {"phi-7B-128k", UINT64_C(7000000000), 0, {"", "phi-7B-128k", "", "phi", "7B", "128k", ""}},
    {"phi-7B-128K", UINT64_C(7000000000), 0, {"", "phi-7B-128K", "", "phi", "7B", "128k", ""}},
    {"phi-128k", 151000, 0, {"", "phi-128k", "", "phi", "128K", "", ""}},
    {"p-1K", 8000, 0, {"", "p-1K", "", "p", "1K", "", ""}},    /* 7000 away: allowed */
    {"p-1K", 8001, 0, {"", "p-1K", "", "p", "", "1k", ""}},    /* 7001 away of 7000 */
    {"p-15K", 8000, 0, {"", "p-15K", "", "p", "15K", "", ""}}, /* 7000 away */
    {"p-15.5K", 8000, 0, {"", "p-15.5K", "", "p", "", "15.5k", ""}},
    {"p-8x7B", 1000, 0, {"", "p-8x7B", "", "p", "8x7B", "", ""}}, /* not a number */
    {"p-A7B", 1000, 0, {"", "p-A7B", "", "p", "A7B", "", ""}},
    /* Adapters hold a part of the model. */
    {"p-7B-lora", 1000000, true, {"", "p-7B-lora", "", "p", "7B", "", ""}},
    {"p-7B-lora", 1000000, false, {"", "p-7B-lora", "", "p", "", "7b-lora", ""}},
    {"p-100K-x", 1000000, true, {"", "p-100K-x", "", "p", "", "100k-x", ""}},
    {"p-125K-x", 1000000, true, {"", "p-125K-x", "", "p", "125K", "x", ""}},
    /* Element types are noted, and never written. */
    {"m-7B-Q4_K_M", 0, 0, {"", "m-7B-Q4_K_M", "", "m", "7B", "", ""}},
    {"m-7B-iq2_x_s-bf16", 0, 0, {"", "m-7B-iq2_x_s-bf16", "", "m", "7B", "", ""}},
    {"m-7B-iq2_xs", 0, 0, {"", "m-7B-iq2_xs", "", "m", "7B", "iq2_xs", ""}},
    {"m-7B-bfp16-fp32-f8", 0, 0, {"", "m-7B-bfp16-fp32-f8", "", "m", "7B", "f8", ""}},
    /* What no class has later on is fine tuning. */
    {"Nous-Hermes-2-Mixtral-8x7B-DPO",
     0,
     0,
     {"", "Nous-Hermes-2-Mixtral-8x7B-DPO", "", "Nous-Hermes-2-Mixtral", "8x7B", "DPO", ""}},
    {"gptneox-20Btok-trim",
     0,
     0,
     {"", "gptneox-20Btok-trim", "", "gptneox", "", "20Btok-trim", ""}},
    {"\xe9\x80\x9a\xe4\xb9\x89-7B",
     0,
     0,
     {"", "\xe9\x80\x9a\xe4\xb9\x89-7B", "", "\xe9\x80\x9a\xe4\xb9\x89", "7B", "", ""}},
    /* Odd ones. */
    {"A name with blanks-7B", 0, 0, {"", "A name with blanks-7B", "", "", "", "", ""}},
    {"./model-7B", 0, 0, {"", "model-7B", "", "model", "7B", "", ""}},
    {"org/", 0, 0, {"", "", "org", "", "", "", ""}},
    {"/name", 0, 0, {"", "name", "", "", "", "", ""}},
    {"a/b/c-7B", 0, 0, {"", "b/c-7B", "a", "b/c", "7B", "", ""}},
    {"--x---7B--", 0, 0, {"", "--x---7B--", "", "x", "7B", "", ""}},
    {"---", 0, 0, {"", "---", "", "", "", "", ""}},
    {"", 0, 0, {"", "", "", "", "", "", ""}},
    {"bad\xff-7B", 0, 0, {"", "", "", "", "", "", ""}},
};

static void test_ids(void **state)
{
    static model_id id;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(id_rows); i++) {
        const struct id_row *row = &id_rows[i];
        id_scale scale = {row->parameters, row->adapter};

        model_id_read(gufo_str_of(row->id), &scale, &id);
        for (size_t part = 0; part < ID_PARTS; part++)
            check_str(gufo_str_of(id.part[part]), row->part[part], "%s (%" PRIu64 "): part %zu",
                      row->id, row->parameters, part);
    }
}

/* Ids of any length, with pieces of all kinds, stay inside their room. */
static void test_long_ids(void **state)
{
    static const char *const kinds[] = {
        "x",     "1",     "7b1",
        "-",     "q4_0",  "v1.0",
        "small", "128k1", "9999999999999999999999999999999999999999T"};
    static char text[2000];
    static model_id id;

    (void)state;
    for (size_t kind = 0; kind < COUNT_OF(kinds); kind++)
        for (size_t size = 500; size < 600; size++) {
            size_t len = strlen(kinds[kind]);

            memset(text, '-', sizeof text);
            for (size_t at = 0; at + len <= size; at += len + 1)
                memcpy(text + at, kinds[kind], len);
            model_id_read((gufo_str){text, size}, &(id_scale){1000000, false}, &id);
            check((id.part[ID_NAME][0] != '\0') == (size <= ID_LONGEST), "%zu", size);
            for (size_t part = 0; part < ID_PARTS; part++)
                check(strlen(id.part[part]) < ID_ROOM, "%s %zu", kinds[kind], size);
        }
}

static void test_titles(void **state)
{
    static const char *const titles[][2] = {
        {"tiny-llama", "Tiny Llama"},
        {"Tiny-llama-gQA", "Tiny Llama gQA"},
        {"gpt2-tiny", "Gpt2 Tiny"},
        {"gptneox-20btok-trim", "Gptneox 20btok Trim"},
        {"model-v1.0-v1.-v2-vx-v", "Model v1.0 V1. v2 Vx V"},
        {"  a\tb-\n-c  ", "A B C"},
        {"o'neil_x2y", "O'Neil_X2Y"},
        {"128k-", "128k"},
        {"-", ""},
        {"", ""},
        {"\xc3\xa9t\xc3\xa9-x", "\xc3\xa9t\xc3\xa9 X"},
        {"a\xff", "A"},
    };
    char out[ID_ROOM];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(titles); i++) {
        model_id_title(gufo_str_of(titles[i][0]), out);
        check_str(gufo_str_of(out), titles[i][1], "%s", titles[i][0]);
    }
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void check_label(parameter_count count, const char *expected)
{
    char label[SIZE_LABEL_ROOM];

    size_label_write(&count, label);
    check_str(gufo_str_of(label), expected, "%" PRIu64, count.total);
}

static const struct {
    uint64_t total;
    const char *label;
} label_rows[] = {
    {1, "0.00K"},
    {5, "0.01K"}, /* 0.005 in binary is a little more */
    {499, "0.50K"},
    {500, "0.50K"}, /* rounds to even: 0 */
    {501, "0.5K"},
    {1499, "1.5K"},
    {9500, "10K"}, /* 9.5 rounds to 10: two digits already */
    {9499, "9.5K"},
    {146240, "146K"},
    {1000000, "1000K"},
    {1000001, "1.0M"},
    {999999999, "1000M"},
    {1000000001, "1.0B"},
    {6738415616, "6.7B"},
    {UINT64_C(70553706496), "71B"},
    {UINT64_C(1000000000000), "1000B"},
    {UINT64_C(1026000000000), "1.0T"},
    {UINT64_MAX, "18446744T"},
};

static void test_size_labels(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(label_rows); i++)
        check_label((parameter_count){.total = label_rows[i].total}, label_rows[i].label);
    check_label((parameter_count){.total = 9,
                                  .shared = UINT64_C(1600000000),
                                  .expert = UINT64_C(5600000000),
                                  .experts = 8},
                "8x7.2B");
    check_label((parameter_count){.shared = UINT64_MAX, .expert = UINT64_MAX, .experts = 2},
                "2x18446744T");
    /* A locale with another mark before fractions, where this machine has one. */
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL)
        check_label((parameter_count){.total = 6738415616}, "6.7B");
    (void)setlocale(LC_NUMERIC, "C");
}

static void test_counted_parameters(void **state)
{
    general_case c;
    parameter_count count;

    (void)state;
    case_begin(&c, ".");
    case_tensor(&c, "token_embd.weight", 2, (const uint64_t[]){10, 7});
    case_tensor(&c, "blk.0.ffn_up_exps.weight", 3, (const uint64_t[]){10, 20, 4});
    case_tensor(&c, "blk.0.ffn_down_exps.weight", 3, (const uint64_t[]){20, 10, 4});
    case_tensor(&c, "blk.1.ffn_up_exps.weight", 3, (const uint64_t[]){10, 20, 3});
    case_tensor(&c, "blk.0.ffn_up_exps.bias", 2, (const uint64_t[]){20, 4});
    case_tensor(&c, "blk.0.ffn_gate_exps.scale", 1, (const uint64_t[]){4});
    case_tensor(&c, "blk.0.ffn_gate_inp.weight", 2, (const uint64_t[]){10, 4});
    count = count_parameters(c.import.document);
    check_u64(count.total, 70 + 800 + 800 + 600 + 80 + 4 + 40, "total");
    check_u64(count.shared, 70 + 80 + 4 + 40, "shared");
    check_u64(count.expert, 200 + 200 + 200, "expert");
    check_u64(count.experts, (4 + 4 + 3) / 3, "experts");
    case_end(&c);
}

/* Layers of gpt-oss: biases of experts are matrices, and count as shared; as cubes they do not. */
static void test_expert_biases(void **state)
{
    static const struct {
        const char *name;
        uint64_t dims[3];
        uint32_t n_dims;
    } parts[] = {
        {"ffn_up_exps.weight", {64, 96, 32}, 3},   {"ffn_gate_exps.weight", {64, 96, 32}, 3},
        {"ffn_down_exps.weight", {96, 64, 32}, 3}, {"ffn_up_exps.bias", {96, 32}, 2},
        {"ffn_gate_exps.bias", {96, 32}, 2},       {"ffn_down_exps.bias", {64, 32}, 2},
        {"ffn_gate_inp.weight", {64, 32}, 2},      {"ffn_gate_inp.bias", {32}, 1}};
    char names[COUNT_OF(parts)][64];
    general_case c;
    parameter_count count;

    (void)state;
    case_begin(&c, ".");
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        (void)snprintf(names[i], sizeof names[i], "blk.0.%s", parts[i].name);
        case_tensor(&c, names[i], parts[i].n_dims, parts[i].dims);
    }
    count = count_parameters(c.import.document);
    check_u64(count.total, 3 * 64 * 96 * 32 + (96 + 96 + 64) * 32 + 65 * 32, "total");
    check_u64(count.shared, (96 + 96 + 64) * 32 + 65 * 32, "shared");
    check_u64(count.expert, 3 * 64 * 96, "expert");
    check_u64(count.experts, 32, "experts");
    case_tensor(&c, "blk.1.ffn_up_exps.bias", 3, (const uint64_t[]){96, 32, 1});
    count = count_parameters(c.import.document);
    check_u64(count.expert, 3 * 64 * 96 + 96, "expert, with a bias of three dimensions");
    check_u64(count.experts, 32, "experts, with a bias of three dimensions");
    case_end(&c);
}

/* ---- names of folders ----------------------------------------------------------------------- */

static void check_folder_name(const char *path, const char *id, bool from_hub)
{
    folder_name name, again;
    char text[FOLDER_NAME_ROOM];

    folder_name_read(FOLDER_AT(path), &name);
    check_str(gufo_str_of(name.id), id, "%s", path);
    check(name.from_hub == from_hub, "%s", path);
    folder_name_write(&name, text);
    check(folder_name_parse(gufo_str_of(text), &again) && again.from_hub == from_hub, "%s", text);
    check_str(gufo_str_of(again.id), id, "%s", text);
}

static void test_folder_names(void **state)
{
    static const char *const hub[] = {"models--example-org--Tiny-7B", "models--gpt2", "models--",
                                      "datasets--a--b"};
    static const char *const ids[] = {"example-org/Tiny-7B", "gpt2", "8f3a", "8f3a"};
    folder f = folder_new();
    path_text path = folder_path(&f, "Some-Model");
    char old[4096];

    (void)state;
    check(mkdir(path.text, 0777) == 0 && getcwd(old, sizeof old) != NULL, "%s", path.text);
    check_folder_name(path.text, "Some-Model", false);
    check_folder_name(path_join(path.text, "").text, "Some-Model", false);
    check_folder_name(path_join(path.text, "/").text, "Some-Model", false);
    check_folder_name(path_join(path.text, ".").text, "Some-Model", false);
    check_folder_name("Nowhere-7B", "Nowhere-7B", false);
    check_folder_name("no\xff", "", false);
    check_folder_name("/", "", false);
    check(chdir(path.text) == 0, "%s", path.text);
    check_folder_name(".", "Some-Model", false);
    check(chdir(old) == 0, "%s", old);
    for (size_t i = 0; i < COUNT_OF(hub); i++) {
        path_text model = folder_path(&f, hub[i]), snapshots = path_join(model.text, "snapshots");

        path = path_join(snapshots.text, "8f3a");
        check(mkdir(model.text, 0777) == 0 && mkdir(snapshots.text, 0777) == 0 &&
                  mkdir(path.text, 0777) == 0,
              "%s", path.text);
        check_folder_name(path.text, ids[i], i < 2);
    }
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_long_ids),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_size_labels),
        cmocka_unit_test(test_counted_parameters),
        cmocka_unit_test(test_expert_biases),
        cmocka_unit_test(test_folder_names),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
