/* The mixtures against answers of the reference: a selection that is always there, and all of them
 * where GUFO_SHARED has data/codec/recipes.tsv. */
#include "recipe_model.h"

#include "../support/shared.h"
#include "recipe_cases.h"

/* ---- models --------------------------------------------------------------------------------- */

static const struct shape {
    const char *name;
    uint64_t layers, group, experts, columns;
    const char *architecture;
    bool importance, tied, fused, gated;
} shapes[] = {
    {"dense32_gqa4", 32, 4, 0, 4096, "llama", false, false, false, true},
    {"dense32_gqa1", 32, 1, 0, 4096, "llama", false, false, false, true},
    {"dense32_gqa4_imatrix", 32, 4, 0, 4096, "llama", true, false, false, true},
    {"dense80_gqa8_llama70b", 80, 8, 0, 8192, "llama", true, false, false, true},
    {"dense16_gqa4_tied", 16, 4, 0, 2048, "llama", true, true, false, true},
    {"dense24_fused", 24, 1, 0, 1024, "gpt2", false, false, true, true},
    {"dense30_cols576", 30, 3, 0, 576, "llama", false, true, false, true},
    {"moe32_e8_gqa4", 32, 4, 8, 4096, "llama", true, false, false, true},
    {"moe28_e64_gqa1", 28, 1, 64, 2048, "deepseek", true, false, false, true},
    {"falcon32_fused", 32, 1, 0, 4544, "falcon", false, false, true, false},
};

static const struct shape *find_shape(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    check_failed(__FILE__, __LINE__, "no such model", "%s", name);
}

static void add_layer(model *m, const struct shape *s, unsigned layer)
{
    static const char *const attention[] = {"attn_q", "attn_k", "attn_v"};
    static const char *const forward[] = {"ffn_gate", "ffn_up", "ffn_down"};
    uint64_t n = s->columns, experts = s->experts > 0 ? s->experts : 1;

    for (size_t i = 0; i < 3 && !s->fused; i++)
        model_add(m, GUFO_TYPE_F16, n, n, 1, "blk.%u.%s.weight", layer, attention[i]);
    if (s->fused)
        model_add(m, GUFO_TYPE_F16, n, 3 * n, 1, "blk.%u.attn_qkv.weight", layer);
    model_add(m, GUFO_TYPE_F16, n, n, 1, "blk.%u.attn_output.weight", layer);
    for (size_t i = s->gated ? 0 : 1; i < 3; i++)
        model_add(m, GUFO_TYPE_F16, n, n, experts, "blk.%u.%s%s.weight", layer, forward[i],
                  s->experts > 0 ? "_exps" : "");
}

/* From the last layer to the first, to show that the order does not matter. */
static void make_model(model *m, const struct shape *s)
{
    model_clear(m);
    for (unsigned layer = (unsigned)s->layers; layer-- > 0;)
        add_layer(m, s, layer);
    model_add(m, GUFO_TYPE_F16, s->columns, 32000, 1, "token_embd.weight");
    if (!s->tied)
        model_add(m, GUFO_TYPE_F16, s->columns, 32000, 1, "output.weight");
}

static bool always(void *context, gufo_str name)
{
    (void)context;
    return name.len > 0;
}

static gufo_status run(model *m, const struct shape *s, const char *file_type, gufo_error *error)
{
    gufo_recipe_options options = {.target = target_of(file_type, false), .plan_only = true};
    gufo_recipe_model facts = {.architecture = gufo_str_of(s->architecture),
                               .layers = s->layers,
                               .heads = 8 * s->group,
                               .key_value_heads = 8,
                               .experts = s->experts};

    if (s->importance)
        options.has_importance = always;
    return model_choose(m, &options, &facts, error);
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* "Q6_K*4,Q4_K*2": one run at `*text`, which moves past it; returns its length. */
static size_t next_run(const char **text, char type[16])
{
    size_t len = strcspn(*text, "*,"), count = 1;

    snprintf(type, 16, "%.*s", (int)len, *text);
    *text += len;
    if (**text == '*')
        count = strtoul(*text + 1, (char **)(uintptr_t)text, 10);
    *text += **text == ',';
    return count;
}

/* `count` values of a run-length code; a single run means any number. */
static void check_types(const model *m, const char *kind, const char *expected, uint64_t layers,
                        const char *label)
{
    char type[16], name[64];
    size_t run = next_run(&expected, type);
    bool one = *expected == '\0';

    for (unsigned layer = 0; layer < layers; layer++) {
        if (run == 0)
            run = next_run(&expected, type);
        snprintf(name, sizeof name, "blk.%u.%s", layer, kind);
        check_str(gufo_str_of(gufo_element_type_by_id(model_choice(m, name)->type)->name), type,
                  "%s: %s", label, name);
        run -= one ? 0 : 1;
    }
    check(*expected == '\0' && (one || run == 0), "%s: %s, all layers", label, kind);
}

static void check_global(const model *m, const char *name, const char *expected, const char *label)
{
    check_str(gufo_str_of(gufo_element_type_by_id(model_choice(m, name)->type)->name), expected,
              "%s: %s", label, name);
}

/* ---- the selection -------------------------------------------------------------------------- */

static void check_case(model *m, const struct recipe_case *c)
{
    const struct shape *s = find_shape(c->model);
    const char *exps = s->experts > 0 ? "_exps" : "";
    const struct {
        const char *name;
        bool global;
    } columns[] = {
        {"output", true},
        {"token_embd", true},
        {"attn_q", false},
        {"attn_k", false},
        {s->fused ? "attn_qkv" : "attn_v", false},
        {"attn_output", false},
        {"ffn_gate", false},
        {"ffn_up", false},
        {"ffn_down", false},
    };
    char text[2048], label[64], name[64], *rest, *word;
    gufo_error error = no_error();

    snprintf(text, sizeof text, "%s", c->expected);
    snprintf(label, sizeof label, "%s %s", c->model, c->file_type);
    make_model(m, s);
    check_ok(run(m, s, c->file_type, &error), &error, "%s", label);
    word = strtok_r(text, " ", &rest);
    for (size_t i = 0; i < COUNT_OF(columns); i++, word = strtok_r(NULL, " ", &rest)) {
        bool forward = strncmp(columns[i].name, "ffn", 3) == 0;

        snprintf(name, sizeof name, "%s%s.weight", columns[i].name, forward ? exps : "");
        if (strcmp(word, "-") == 0)
            continue;
        if (columns[i].global)
            check_global(m, name, word, label);
        else
            check_types(m, name, word, s->layers, label);
    }
    check(word == NULL, "%s: nine columns", label);
}

static void test_selection(void **state)
{
    (void)state;
    model *m = calloc(1, sizeof *m);

    for (size_t i = 0; i < COUNT_OF(recipe_cases); i++)
        check_case(m, &recipe_cases[i]);
    free(m);
}

/* ---- all of them ---------------------------------------------------------------------------- */

enum { CONFIG = 0, FILE_TYPE = 8, TENSOR = 10, TYPES = 11, FIELDS };

/* A tensor that the reference refuses: so do we, whatever else is in the model. */
static void check_refused(model *m, const struct shape *s, const char *name, const char *file_type)
{
    gufo_error error = no_error();
    const char *dot = strrchr(name, '*');

    model_clear(m);
    model_add(m, GUFO_TYPE_F16, s->columns, 64, 1, "output.weight");
    if (dot != NULL)
        model_add(m, GUFO_TYPE_F16, s->columns, 64, 1, "blk.0%s", dot + 1);
    else
        model_add(m, GUFO_TYPE_F16, s->columns, 64, 1, "%s", name);
    check_status(run(m, s, file_type, &error), GUFO_E_ARGUMENT, &error, "%s", name);
    check_error_shape(&error, GUFO_E_ARGUMENT, name);
}

static void check_row(model *m, char **fields, char last[64])
{
    const struct shape *s = find_shape(fields[CONFIG]);
    gufo_error error = no_error();
    char label[64];

    snprintf(label, sizeof label, "%s %s", fields[CONFIG], fields[FILE_TYPE]);
    if (strncmp(fields[TYPES], "ERROR", 5) == 0) {
        check_refused(m, s, fields[TENSOR], fields[FILE_TYPE]);
        last[0] = '\0';
        return;
    }
    if (strcmp(label, last) != 0) {
        make_model(m, s);
        /* Where a tensor of the model is refused, what was chosen before still counts. */
        if (run(m, s, fields[FILE_TYPE], &error) != GUFO_OK)
            check(strcmp(fields[FILE_TYPE], "Q1_0") == 0, "%s: %s", label, error.message);
        snprintf(last, 64, "%s", label);
    }
    if (strncmp(fields[TENSOR], "blk.*.", 6) == 0)
        check_types(m, fields[TENSOR] + 6, fields[TYPES], s->layers, label);
    else
        check_global(m, fields[TENSOR], fields[TYPES], label);
}

static void test_all(void **state)
{
    path_text path = need_shared("data/codec/recipes.tsv");
    size_t len, rows = 0;
    char *text = (char *)read_file(path.text, &len), *line, *rest, last[64] = "";
    model *m = calloc(1, sizeof *m);

    (void)state;
    check(text != NULL, "%s", path.text);
    text = realloc(text, len + 1);
    text[len] = '\0';
    for (strtok_r(text, "\n", &rest); (line = strtok_r(NULL, "\n", &rest)) != NULL; rows++) {
        char *fields[FIELDS], *next;

        fields[0] = strtok_r(line, "\t", &next);
        for (size_t i = 1; i < FIELDS; i++)
            fields[i] = strtok_r(NULL, "\t", &next);
        check(fields[TYPES] != NULL, "row %zu", rows);
        check_row(m, fields, last);
    }
    check(rows > 2000, "%zu rows", rows);
    free(text);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
