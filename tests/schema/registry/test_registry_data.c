/* Every name of the specification and of the lists of names in use is in the registry.  Skipped
 * where those texts are not at hand (GUFO_SHARED names their folder). */
#include "../../support/check.h"
#include "../../support/shared.h"

/* A text, line by line.  Each line is cut into columns at tabs. */
typedef struct table {
    char *text, *next;
    char *columns[8];
    size_t count; /* of columns */
} table;

static bool table_open(table *t, const char *name)
{
    path_text path;
    size_t len;

    memset(t, 0, sizeof *t);
    if (!find_shared(name, &path))
        return false;
    t->text = (char *)read_file(path.text, &len);
    check(t->text != NULL, "%s", path.text);
    t->text = realloc(t->text, len + 1);
    check(t->text != NULL, "memory");
    t->text[len] = '\0';
    t->next = t->text;
    return true;
}

/* The next line that is not empty. */
static bool table_line(table *t)
{
    char *line;

    do {
        line = strsep(&t->next, "\n");
    } while (line != NULL && line[0] == '\0');
    t->count = 0;
    while (line != NULL && t->count < COUNT_OF(t->columns))
        t->columns[t->count++] = strsep(&line, "\t");
    return t->count > 0;
}

/* The next row that is not a comment, which has at least so many columns. */
static bool table_row(table *t, size_t columns)
{
    do {
        if (!table_line(t)) {
            free(t->text);
            return false;
        }
    } while (t->columns[0][0] == '#');
    check(t->count >= columns, "%s", t->columns[0]);
    return true;
}

/* `name` with an example for each placeholder. */
static const char *example(const char *name, char out[256])
{
    static const char *const placeholders[][2] = {
        {"{arch}", "llama"}, {"[llm]", "llama"},     {"{id}", "0"},
        {"{bid}", "12"},     {"{dense}", "dense_2"}, {"{name}", "tool_use"},
    };
    size_t len = 0;

    while (*name != '\0' && len < 200) {
        size_t i = 0;

        while (i < COUNT_OF(placeholders) &&
               strncmp(name, placeholders[i][0], strlen(placeholders[i][0])) != 0)
            i++;
        if (i < COUNT_OF(placeholders)) {
            len += (size_t)snprintf(out + len, 256 - len, "%s", placeholders[i][1]);
            name += strlen(placeholders[i][0]);
        } else {
            out[len++] = *name++;
        }
    }
    out[len] = '\0';
    return out;
}

/* An example of a value of the type called `name`, as in "uint32" or "array[string]". */
static gufo_value value_of(const char *name)
{
    gufo_value value = {.type = GUFO_VALUE_ARRAY, .as.array.count = 1};
    gufo_value_type type;
    char element[32];

    if (gufo_value_type_by_name(name, &type)) {
        value = (gufo_value){.type = type};
    } else if (strncmp(name, "array[array", 11) == 0) {
        value.as.array.type = GUFO_VALUE_ARRAY;
    } else {
        bool c_like = strstr(name, "[]") != NULL; /* "string[]" */
        const char *start = c_like ? name : name + strlen("array[");

        (void)snprintf(element, sizeof element, "%.*s", (int)strcspn(start, "[]"), start);
        check(gufo_value_type_by_name(element, &value.as.array.type), "%s", name);
    }
    return value;
}

static void check_key(const char *key, const char *type, bool is_array)
{
    char text[256], copy[128], *types = copy, *word;
    gufo_str name = gufo_str_of(example(key, text)), arch = {text, strcspn(text, ".")};
    const gufo_key_info *info = gufo_key_find_str(name, arch);

    check(info != NULL, "%s is not known", text);
    (void)snprintf(copy, sizeof copy, "%s%s%s",
                   is_array && strncmp(type, "array", 5) != 0 ? "array[" : "", type,
                   is_array && strncmp(type, "array", 5) != 0 ? "]" : "");
    while ((word = strsep(&types, "|")) != NULL) {
        gufo_value value = value_of(strcmp(word, "uint32_t") == 0 ? "uint32" : word);

        check(gufo_key_accepts(info, &value), "%s: %s, not %s", key, word, info->type);
    }
}

static void test_keys(void **state)
{
    size_t count = 0;
    table t;

    (void)state;
    if (!table_open(&t, "data/registry/keys.tsv"))
        skip();
    for (; table_row(&t, 3); count++)
        check_key(t.columns[0], t.columns[1], strcmp(t.columns[2], "array") == 0);
    check(count >= 335, "%zu", count);
}

/* The key of a line of the specification like "- **`general.alignment: uint32`**: ...", cut out;
 * NULL if it has none.  *type is "" if it says none. */
static char *key_of_line(char *line, char **type)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.{}[]";
    char *end;

    *type = (char *)"";
    line += strspn(line, " ");
    if (strncmp(line, "- ", 2) != 0)
        return NULL;
    line += 2 + strspn(line + 2, "*");
    if (*line != '`' || (end = strchr(++line, '`')) == NULL)
        return NULL;
    *end = '\0';
    end = line + strspn(line, letters);
    if (strchr(line, '.') == NULL || (*end != '\0' && *end != ':' && *end != ' '))
        return NULL;
    if (*end != '\0') {
        *type = strchr(end, ':');
        if (*type == NULL)
            return NULL;
        *type += 1 + strspn(*type + 1, " ");
        *end = '\0';
    }
    return line;
}

static void test_specified_keys(void **state)
{
    size_t count = 0, typed = 0;
    table t;

    (void)state;
    if (!table_open(&t, "spec/gguf-spec.md"))
        skip();
    while (table_line(&t)) {
        char *type, *key = key_of_line(t.columns[0], &type), text[256];
        gufo_str name;

        if (key == NULL)
            continue;
        name = gufo_str_of(example(key, text));
        check(gufo_key_find_str(name, (gufo_str){text, strcspn(text, ".")}) != NULL, "%s", text);
        if (type[0] != '\0') {
            const char *own = strcmp(type, "uint32_t") == 0   ? "uint32"
                              : strcmp(type, "string[]") == 0 ? "array[string]"
                                                              : type;

            if (strcmp(type, "string[]") != 0)
                check_key(key, type, false);
            check_str(gufo_str_of(
                          gufo_key_find_str(name, (gufo_str){text, strcspn(text, ".")})->specified),
                      own, "%s", text);
        }
        count++;
        typed += type[0] != '\0';
    }
    free(t.text);
    check(count >= 150 && typed >= 80, "%zu keys, %zu types", count, typed);
}

/* The names below "Standardized tensor names", with or without a block. */
static void test_specified_tensors(void **state)
{
    size_t count = 0;
    bool inside = false;
    table t;

    (void)state;
    if (!table_open(&t, "spec/gguf-spec.md"))
        skip();
    while (table_line(&t)) {
        char *line = t.columns[0], name[128];
        gufo_tensor_match match;
        size_t len = strncmp(line, "- `", 3) == 0 ? strcspn(line + 3, "`") : 0;

        if (strncmp(line, "## ", 3) == 0)
            inside = strcmp(line, "## Standardized tensor names") == 0;
        if (!inside || len == 0)
            continue;
        (void)snprintf(name, sizeof name, "blk.7.%.*s", (int)len, line + 3);
        check(gufo_tensor_info_find(name, &match) || gufo_tensor_info_find(name + 6, &match), "%s",
              name);
        check(match.suffix.len == 0 && strcmp(match.info->status, "standard") == 0, "%s", name);
        count++;
    }
    free(t.text);
    check(count >= 26, "%zu", count);
}

static void test_tensors(void **state)
{
    size_t count = 0;
    table t;

    (void)state;
    if (!table_open(&t, "data/registry/tensors.tsv"))
        skip();
    for (; table_row(&t, 4); count++) {
        char text[256];
        gufo_tensor_match match;

        check(gufo_tensor_info_find(example(t.columns[0], text), &match), "%s", text);
        check(strcmp(match.info->name, t.columns[0]) == 0, "%s", text);
    }
    check(count >= 440, "%zu", count);
}

static void test_architectures(void **state)
{
    size_t count = 0;
    table t;

    (void)state;
    if (!table_open(&t, "data/registry/architectures.tsv"))
        skip();
    for (; table_row(&t, 2); count++)
        check(gufo_arch_find(t.columns[0]) != NULL, "%s", t.columns[0]);
    check(count >= 138, "%zu", count);
}

static bool arch_has(const char *arch, const char *name)
{
    size_t count;
    const gufo_arch_tensor *rows = gufo_arch_tensors(arch, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

static void test_arch_tensors(void **state)
{
    size_t count = 0;
    table t;

    (void)state;
    if (!table_open(&t, "data/registry/arch_tensors.tsv"))
        skip();
    for (; table_row(&t, 2); count++)
        check(arch_has(t.columns[0], t.columns[1]), "%s %s", t.columns[0], t.columns[1]);
    check(count >= 2684, "%zu", count);
}

static void test_tokenizers(void **state)
{
    size_t count = 0;
    table t;

    (void)state;
    if (!table_open(&t, "data/registry/tokenizer_models.tsv"))
        skip();
    for (; table_row(&t, 8); count++)
        check(gufo_tokenizer_info_find(t.columns[0]) != NULL, "%s", t.columns[0]);
    check(count >= 10, "%zu", count);
    check(table_open(&t, "data/registry/pretokenizers.tsv"), "pretokenizers");
    for (count = 0; table_row(&t, 2); count++) {
        const gufo_pretokenizer *pre = gufo_pretokenizer_find(t.columns[0]);

        check(pre != NULL && strcmp(pre->family, t.columns[1]) == 0, "%s", t.columns[0]);
    }
    check(count >= 87, "%zu", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_specified_keys),
        cmocka_unit_test(test_specified_tensors),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_architectures),
        cmocka_unit_test(test_arch_tensors),
        cmocka_unit_test(test_tokenizers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
