/* The bytes that encoding gives, and the numbers that decoding gives, are those in digests.tsv: on
 * every machine, with every compiler, at every processor level.
 *
 * Inputs are made with integer arithmetic (tests/support/digested.c).  The digests were taken when the reference vectors
 * passed (test_vectors.c).
 *
 * A program of its own: `test_codec_digests --write` prints them again. */
#include "../support/check.h"
#include "../support/codec.h"
#include "../support/folder.h"
#include "../support/pace.h"

enum { DIGEST = 64 };

typedef struct digest_row {
    const gufo_element_type *type;
    digested_mode mode;
    gufo_effort effort;
} digest_row;

/* ---- SHA-256, by the system's program ------------------------------------------------------- */

typedef struct digest_text {
    char text[DIGEST + 1];
} digest_text;

static digest_text digest_of(const void *data, size_t size)
{
    folder f = folder_new();
    path_text in = folder_path(&f, "in"), out = folder_path(&f, "out");
    char command[1200];
    digest_text digest = {""};
    size_t len;

    write_file(in.text, data, size);
    snprintf(command, sizeof command, "sha256sum '%s' > '%s'", in.text, out.text);
    assert_int_equal(system(command), 0);
    uint8_t *text = read_file(out.text, &len);
    assert_true(text != NULL && len > DIGEST);
    memcpy(digest.text, text, DIGEST);
    free(text);
    folder_remove(&f);
    return digest;
}

/* ---- what is digested ----------------------------------------------------------------------- */

static digest_text digest_row_of(const digest_row *row, gufo_cpu cpu)
{
    static uint8_t out[DIGESTED_ROOM];
    size_t size = digested_bytes(row->type, row->mode, row->effort, cpu, out);

    check(size > 0, "%s cannot be coded", row->type->name);
    return digest_of(out, size);
}

/* ---- the rows ------------------------------------------------------------------------------- */

/* Where a processor is emulated: of the four ways to encode, the one that does least, and the one that does most. */
static bool is_few(const digest_row *row)
{
    return row->mode == DIGESTED_DECODE ||
           (row->mode == DIGESTED_PLAIN) == (row->effort == GUFO_EFFORT_REFERENCE);
}

static void for_each_row(void (*call)(const digest_row *row, void *context), void *context)
{
    for (size_t t = 0; t < gufo_element_type_count(); t++)
        for (int m = 0; m < DIGESTED_MODES; m++)
            for (int effort = 0; effort <= GUFO_EFFORT_HIGH; effort++) {
                digest_row row = {gufo_element_type_at(t), (digested_mode)m, (gufo_effort)effort};
                if (digested_exists(row.type, row.mode, row.effort) &&
                    (all_or_few(1, 0) == 1 || is_few(&row)))
                    call(&row, context);
            }
}

/* The end of a line of digests.tsv and the next line, without the digest. */
static void row_text(char out[64], const digest_row *row)
{
    snprintf(out, 64, "\n%s\t%s\t%s\t", row->type->name, digested_mode_name(row->mode),
             row->effort == GUFO_EFFORT_HIGH ? "high" : "reference");
}

static void write_row(const digest_row *row, void *context)
{
    char text[64];

    (void)context;
    row_text(text, row);
    printf("%s%s", text, digest_row_of(row, GUFO_CPU_PORTABLE).text);
}

static void check_row(const digest_row *row, void *context)
{
    const char *table = context;
    char text[64];

    row_text(text, row);
    const char *line = strstr(table, text);
    check(line != NULL, "%s is not in digests.tsv", text);
    for (size_t l = 0; l < cpu_level_count(); l++)
        check(strncmp(digest_row_of(row, cpu_level(l)).text, line + strlen(text), DIGEST) == 0,
              "%s differs at %s", text, gufo_cpu_name(cpu_level(l)));
}

static void test_digests(void **state)
{
    const char *source = getenv("GUFO_SOURCE");
    path_text path = path_join(source != NULL ? source : ".", "tests/codec/digests.tsv");
    size_t len;
    char *table = (char *)read_file(path.text, &len);

    (void)state;
    check(table != NULL, "%s", path.text);
    table = realloc(table, len + 1);
    table[len] = '\0';
    for_each_row(check_row, table);
    free(table);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_digests)};

    if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        printf("# type, what was coded, effort, SHA-256");
        for_each_row(write_row, NULL);
        putchar('\n');
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
