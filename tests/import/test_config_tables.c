/* The tables of conversion agree with each other and with those of the schema. */
#include "../support/check.h"

#include "base/text.h"
#include "gufo/import.h"
#include "gufo/schema.h"
#include "import/architectures/configuration/config.h"
#include "import/architectures/configuration/expression.h"
#include "import/architectures/configuration/keys.h"
#include "import/architectures/configuration/rules.h"
#include "import/architectures/inverse/inverse.h"

static void check_expression(const char *text, const char *where)
{
    gufo_error error = no_error();

    check_ok(expression_check(text, &error), &error, "%s: %s", where, text);
}

/* Every value and condition is an expression. */
static void test_expressions(void **state)
{
    (void)state;
    for (size_t i = 0; rules_at(i) != NULL; i++) {
        const rule *row = rules_at(i);
        bool is_edit = strcmp(row->phase, "fields") == 0 || strcmp(row->phase, "config") == 0 ||
                       strcmp(row->phase, "export") == 0;

        if (strcmp(row->key, "@refuse") == 0 || (row->key[0] != '@' && row->value[0] != '\0'))
            check_expression(row->value, row->group);
        check(row->value[0] != '\0' || row->key[0] == '@' || is_edit, "%s %s", row->group,
              row->key);
        if (row->condition[0] != '\0')
            check_expression(row->condition, row->group);
    }
    for (size_t i = 0; class_at(i) != NULL; i++)
        if (class_at(i)->condition[0] != '\0')
            check_expression(class_at(i)->condition, class_at(i)->name);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool is_phase_of_keys(const rule *row)
{
    return strcmp(row->phase, "tensors") == 0 || strcmp(row->phase, "params") == 0 ||
           strcmp(row->phase, "vocab") == 0;
}

/* Whether the schema takes a value of the row's type for its key. */
static bool fits(const gufo_key_info *info, const rule *row)
{
    gufo_value_type elements;
    gufo_value value;

    check(key_type_of(row->type, &value.type, &elements), "%s: %s", row->key, row->type);
    if (value.type == GUFO_VALUE_ARRAY)
        value.as.array = (gufo_array){.type = elements, .count = 1};
    return gufo_key_fit(info, &value) >= GUFO_FIT_TYPE;
}

static void check_key(const rule *row)
{
    /* Rows of @groups are for several architectures, those of towers for one. */
    const bool is_tower = strncmp(row->group, "@tower", 6) == 0;
    const char *of_groups = is_tower ? "clip" : "llama";
    const gufo_str arch = gufo_str_of(row->group[0] == '@' ? of_groups : row->group);
    char name[GUFO_KEY_NAME_SIZE];
    const gufo_key_info *info = gufo_key_find_str(gufo_str_of(row->key), arch);

    (void)snprintf(name, sizeof name, "%s.%s", arch.data, row->key);
    if (info == NULL)
        info = gufo_key_find_str(gufo_str_of(name), arch);
    check(info != NULL, "%s: keys.tsv has no %s", row->group, row->key);
    check(fits(info, row), "%s: %s is not %s in keys.tsv, but %s", row->group, row->key, row->type,
          info->type);
}

/* Keys are those of the schema, in its types. */
static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; rules_at(i) != NULL; i++)
        if (is_phase_of_keys(rules_at(i)) && rules_at(i)->key[0] != '@')
            check_key(rules_at(i));
}

/* Whether an expression about keys has a key by a name that is not that of today, which it would not
 * find. */
static void check_names(const rule *row, const char *expression)
{
    static const char marks[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";

    for (const char *at = expression; *at != '\0'; at += strcspn(at, marks)) {
        gufo_str name = {at, strspn(at, marks)};
        char key[GUFO_KEY_NAME_SIZE];
        const gufo_key_info *info;

        at += name.len;
        (void)snprintf(key, sizeof key, "x.%.*s", (int)name.len, name.data);
        info = gufo_key_find_str(name, gufo_str_of("x"));
        if (info == NULL)
            info = gufo_key_find(key, "x");
        check(info == NULL || gufo_key_replacement(info, NULL) == NULL, "%s %s: %.*s", row->group,
              row->key, (int)name.len, name.data);
    }
}

static void test_names_of_today(void **state)
{
    (void)state;
    for (size_t i = 0; rules_at(i) != NULL; i++) {
        const rule *row = rules_at(i);

        if (strcmp(row->phase, "export") == 0) {
            check_names(row, row->value);
            check_names(row, row->condition);
        } else if (strcmp(row->phase, "params") == 0 || strcmp(row->phase, "tensors") == 0) {
            check_names(row, row->key);
        }
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void check_inclusions(const char *group, const char *phase, unsigned depth)
{
    size_t count, inner;
    const rule *listed = rules_included(group, &count);

    check(listed != NULL, "no group %s", group);
    check(depth <= RULES_MAX_DEPTH, "%s includes itself", group);
    for (size_t i = 0; i < count; i++)
        if (strcmp(listed[i].phase, phase) == 0 && listed[i].key[0] == '@' &&
            strcmp(listed[i].key, "@vocab") != 0 && strcmp(listed[i].key, "@refuse") != 0) {
            check(rules_included(listed[i].key, &inner) != NULL, "%s: no group %s", group,
                  listed[i].key);
            check_inclusions(listed[i].key, phase, depth + 1);
        }
}

/* Rows are sorted by group; inclusions end; groups are architectures or begin with @. */
static void test_groups(void **state)
{
    static const char *const phases[] = {"fields", "config", "tensors", "params",
                                         "vocab",  "check",  "export"};

    (void)state;
    for (size_t i = 0; rules_at(i) != NULL; i++) {
        const rule *row = rules_at(i);
        bool known = false;

        for (size_t j = 0; j < COUNT_OF(phases); j++)
            known |= strcmp(row->phase, phases[j]) == 0;
        check(known, "%s: %s", row->group, row->phase);
        check(row->group[0] == '@' || gufo_arch_find(row->group) != NULL,
              "%s is not an architecture", row->group);
        if (i > 0 && strcmp(rules_at(i - 1)->group, row->group) == 0)
            continue;
        check(i == 0 || strcmp(rules_at(i - 1)->group, row->group) < 0, "%s: not sorted",
              row->group);
        for (size_t j = 0; j < COUNT_OF(phases); j++)
            check_inclusions(row->group, phases[j], 0);
    }
}

/* ---- classes --------------------------------------------------------------------------------- */

static bool is_kind(const char *kind)
{
    return strcmp(kind, "text") == 0 || strcmp(kind, "whole") == 0 ||
           strcmp(kind, "projector") == 0;
}

/* Classes are sorted, their architectures exist, and the last row of a text model holds. */
static void test_classes(void **state)
{
    (void)state;
    for (size_t i = 0; class_at(i) != NULL; i++) {
        const class_row *row = class_at(i), *next = class_at(i + 1);

        check(next == NULL || strcmp(row->name, next->name) <= 0, "%s: not sorted", next->name);
        check(is_kind(row->kind), "%s: %s", row->name, row->kind);
        check(gufo_arch_find(row->architecture) != NULL, "%s: %s", row->name, row->architecture);
        check(row->condition[0] == '\0' || (next != NULL && strcmp(row->name, next->name) == 0),
              "%s: no row without a condition", row->name);
    }
}

/* Classes of exported models are sorted by architecture, are classes of that architecture, and exist for
 * every architecture with rules. */
static void test_export_classes(void **state)
{
    size_t count, known;

    (void)state;
    for (size_t i = 0; export_class_at(i) != NULL; i++) {
        const export_class *row = export_class_at(i), *next = export_class_at(i + 1);
        const class_row *listed = class_rows(row->name, &known);
        bool found = false;

        for (size_t j = 0; listed != NULL && j < known; j++)
            found |= strcmp(listed[j].architecture, row->architecture) == 0;
        check(found, "%s is not a class of %s", row->name, row->architecture);
        check(next == NULL || strcmp(row->architecture, next->architecture) <= 0, "%s: not sorted",
              next->name);
        check(row->condition[0] == '\0' ||
                  (next != NULL && strcmp(row->architecture, next->architecture) == 0),
              "%s: no row without a condition", row->name);
        if (row->condition[0] != '\0')
            check_expression(row->condition, row->name);
    }
    for (size_t i = 0; rules_at(i) != NULL; i++)
        check(rules_at(i)->group[0] == '@' || export_classes(rules_at(i)->group, &count) != NULL,
              "%s is exported as no class", rules_at(i)->group);
}

/* ---- lines of architectures ------------------------------------------------------------------ */

typedef struct line_count {
    const char *architecture;
    size_t count, most;
    char first[64];
} line_count;

/* Lines of a page are whole, and those of other pages stand in them: no name of a group is left. */
static bool check_line(void *context, const gufo_import_line *line)
{
    static const char kinds[] = "fields config params vocab tensors check pre names generated "
                                "source mapped type writes export";
    const char *const cells[] = {line->name, line->value, line->condition, line->targets,
                                 line->note};
    line_count *c = context;

    check(str_is_word(gufo_str_of(line->kind), kinds), "%s: %s", c->architecture, line->kind);
    for (size_t i = 0; i < COUNT_OF(cells); i++)
        check(cells[i] != NULL, "%s: cell %zu of line %zu", c->architecture, i, c->count);
    check(line->name[0] != '@' || str_is_word(gufo_str_of(line->name), "@vocab @refuse"), "%s: %s",
          c->architecture, line->name);
    if (c->count == 0)
        (void)snprintf(c->first, sizeof c->first, "%s", line->name);
    return ++c->count < c->most;
}

static line_count count_lines(const char *architecture, size_t most)
{
    line_count c = {.architecture = architecture, .most = most};

    gufo_import_lines(architecture, check_line, &c);
    return c;
}

static void test_lines(void **state)
{
    static const char *const others[] = {"no such architecture", "@base" /* a part */, NULL};
    size_t all;

    (void)state;
    for (size_t i = 0; gufo_arch_at(i) != NULL; i++) {
        const char *architecture = gufo_arch_at(i)->id;

        check(count_lines(architecture, SIZE_MAX).count > 0 || !rules_know(architecture),
              "%s has no lines", architecture);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        check_u64(count_lines(others[i], SIZE_MAX).count, 0, "architecture %zu", i);
    assert_string_equal(count_lines("axk2", 1).first, "num_key_value_heads"); /* of deepseek2 */
    all = count_lines("axk2", SIZE_MAX).count;
    /* Whoever has enough gets no more, wherever that is. */
    for (size_t most = 1; most <= all; most++)
        check_u64(count_lines("axk2", most).count, most, "of %zu", all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),    cmocka_unit_test(test_keys),
        cmocka_unit_test(test_names_of_today), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_classes),        cmocka_unit_test(test_export_classes),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
