/* Files of losses: the same numbers come back, for the same model and options alone, and whatever a file
 * holds, it does no harm. */
#include "losses_models.h"

#include "quant/losses/losses.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const gufo_element_type *types[3];

static gufo_losses_options few_types(void)
{
    types[0] = gufo_element_type_by_name("Q4_0");
    types[1] = gufo_element_type_by_name("Q8_0");
    types[2] = gufo_element_type_by_name("F16");
    return (gufo_losses_options){.types = types, .type_count = 3};
}

static gufo_losses *fresh(const loss_place *p, uint32_t flags)
{
    gufo_losses_options more = few_types();

    more.flags = flags;
    return losses_of(p->input, &p->options, &more);
}

/* A place with a file of losses. */
static loss_place *place_with_cache(void)
{
    loss_place *p = loss_place_new((encoding){3, false});
    gufo_losses *l = fresh(p, 0);
    gufo_error error = no_error();

    measure_well(l, NULL);
    check_ok(gufo_losses_write(l, p->cache.text, &error), &error, "write");
    gufo_losses_free(l);
    return p;
}

static uint64_t known(const gufo_losses *l)
{
    uint64_t count = 0;
    gufo_loss loss;

    for (uint64_t i = 0; i < gufo_losses_count(l); i++)
        for (size_t k = 0; gufo_losses_option_at(l, i, k, &loss); k++)
            count += loss.is_known && loss.rows > 0;
    return count;
}

/* ---- back again ----------------------------------------------------------------------------- */

static void test_round_trip(void **state)
{
    loss_place *p = loss_place_new((encoding){3, false});
    gufo_error error = no_error();
    uint64_t taken = 99;
    gufo_losses *first = fresh(p, 0), *second = fresh(p, 0);

    (void)state;
    check_status(gufo_losses_read(first, p->cache.text, &taken, &error), GUFO_E_NOT_FOUND, &error,
                 "none");
    check_u64(taken, 0, "nothing");
    measure_well(first, NULL);
    check_ok(gufo_losses_write(first, p->cache.text, &error), &error, "write");
    check_ok(gufo_losses_read(second, p->cache.text, &taken, &error), &error, "read");
    check_u64(taken, known(first), "all");
    check_same_losses(first, second, "read");
    check_ok(gufo_losses_read(second, p->cache.text, &taken, &error), &error, "again");
    check_u64(taken, 0, "all were known");
    gufo_losses_free(first);
    gufo_losses_free(second);
    loss_place_end(p);
}

/* Measures with what the file has, and keeps it: *taken is how much that was. */
static gufo_losses *with_cache(const loss_place *p, uint32_t flags, uint64_t *taken)
{
    gufo_losses *l = fresh(p, flags);
    gufo_error error = no_error();

    check_ok(gufo_losses_read(l, p->cache.text, taken, &error), &error, "read");
    measure_well(l, NULL);
    check_ok(gufo_losses_write(l, p->cache.text, &error), &error, "write");
    return l;
}

/* Losses are those of a measurement without the file, whichever runs were before: those of all rows do not
 * take the place of a sample's, nor the other way round.  Of short tensors they are the same, and serve both. */
static void check_order(const uint32_t flags[3])
{
    enum { SAMPLES = 2 }; /* of the large tensor: the third type is its own */
    loss_place *p = loss_place_new((encoding){3, false});
    uint64_t taken = 0;

    for (size_t i = 0; i < 3; i++) {
        gufo_losses *alone = fresh(p, flags[i]), *l;
        gufo_error error = no_error();

        measure_well(alone, NULL);
        if (i == 0)
            check_ok(gufo_losses_write(alone, p->cache.text, &error), &error, "write");
        l = with_cache(p, flags[i], &taken);
        check_same_losses(l, alone, "measured alone");
        check_u64(taken, known(l) - (i == 1 ? SAMPLES : 0), "run %zu", i + 1);
        gufo_losses_free(alone);
        gufo_losses_free(l);
    }
    loss_place_end(p);
}

static void test_all_rows(void **state)
{
    static const uint32_t orders[][3] = {{0, GUFO_LOSSES_ALL_ROWS, 0},
                                         {GUFO_LOSSES_ALL_ROWS, 0, GUFO_LOSSES_ALL_ROWS}};

    (void)state;
    check_order(orders[0]);
    check_order(orders[1]);
}

/* Losses of types that are not wanted this time are there the next time. */
static void test_other_types(void **state)
{
    loss_place *p = place_with_cache();
    gufo_losses_options more = few_types();
    gufo_losses *one, *three;
    gufo_error error = no_error();
    uint64_t taken, before;

    (void)state;
    more.type_count = 1;
    one = losses_of(p->input, &p->options, &more);
    check_ok(gufo_losses_read(one, p->cache.text, &taken, &error), &error, "read");
    before = taken;
    check_ok(gufo_losses_write(one, p->cache.text, &error), &error, "write");
    three = fresh(p, 0);
    check_ok(gufo_losses_read(three, p->cache.text, &taken, &error), &error, "read");
    check(taken > before, "kept");
    measure_well(three, &(gufo_run){.progress = NULL});
    check_u64(taken, known(three), "nothing was left to measure");
    gufo_losses_free(one);
    gufo_losses_free(three);
    loss_place_end(p);
}

/* ---- other models, other options ------------------------------------------------------------ */

static void refuses(const loss_place *p, gufo_status status, const char *words)
{
    gufo_losses *l = fresh(p, 0);
    gufo_error error = no_error();
    uint64_t taken = 99;

    check_status(gufo_losses_read(l, p->cache.text, &taken, &error), status, &error, "%s", words);
    check(strstr(error.message, words) != NULL, "%s: %s", words, error.message);
    check_u64(taken, 0, "%s", words);
    check_u64(known(l), 0, "%s", words);
    gufo_losses_free(l);
}

static void test_other_options(void **state)
{
    loss_place *p = place_with_cache();
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

    (void)state;
    p->options.effort = GUFO_EFFORT_HIGH;
    refuses(p, GUFO_E_CHANGED, "another importance matrix, adapter or effort");
    p->options.effort = GUFO_EFFORT_REFERENCE;
    loss_place_weigh(p);
    refuses(p, GUFO_E_CHANGED, "another importance matrix");
    p->options.importance = NULL;
    gufo_model_free(p->input);
    check(utimensat(AT_FDCWD, p->in.text, times, 0) == 0, "times");
    p->input = open_path(p->in.text);
    refuses(p, GUFO_E_CHANGED, "another model, or the model was changed");
    loss_place_end(p);
}

/* ---- damage --------------------------------------------------------------------------------- */

enum { MOST_ROWS = 64 };

typedef enum column { TENSOR, TYPE, RELATIVE, STANDARD_ERROR, ROWS, SAMPLED } column;

static const char *const keys[] = {"gufo.losses.tensors",  "gufo.losses.types",
                                   "gufo.losses.relative", "gufo.losses.standard_errors",
                                   "gufo.losses.rows",     "gufo.losses.sampled"};

typedef struct table {
    uint64_t count;
    gufo_str texts[2][MOST_ROWS]; /* TENSOR, TYPE */
    double numbers[2][MOST_ROWS]; /* RELATIVE, STANDARD_ERROR */
    uint64_t rows[MOST_ROWS];
    bool sampled[MOST_ROWS];
} table;

static void read_table(const gufo_model *file, table *t)
{
    gufo_array array;
    gufo_value value;
    gufo_error error = no_error();

    for (column c = TENSOR; c <= SAMPLED; c++) {
        gufo_entry entry;

        check(gufo_model_find(file, keys[c], &entry), "%s", keys[c]);
        array = entry.value.as.array;
        t->count = array.count;
        check(t->count > 0 && t->count <= MOST_ROWS, "rows");
        for (uint64_t i = 0; i < t->count; i++) {
            check_ok(gufo_array_at(&array, i, &value, &error), &error, "%s", keys[c]);
            if (c <= TYPE)
                t->texts[c][i] = value.as.str;
            else if (c <= STANDARD_ERROR)
                t->numbers[c - RELATIVE][i] = value.as.f;
            else if (c == ROWS)
                t->rows[i] = value.as.u;
            else
                t->sampled[i] = value.as.b;
        }
    }
}

/* A change of the file; its check is right again if `whole`. */
typedef struct change {
    column column;
    uint64_t row;
    const char *text;
    double number;
    uint64_t rows;
    bool whole;
    const char *words; /* of the refusal; NULL: there is none */
} change;

static void write_document(const loss_place *p, gufo_document *d)
{
    gufo_error error = no_error();
    const void *bytes;
    size_t len;

    check_ok(gufo_document_layout(d, NULL, NULL, &error), &error, "layout");
    check_ok(gufo_document_header(d, &bytes, &len, &error), &error, "header");
    write_file(p->cache.text, bytes, len);
}

static void write_table(const loss_place *p, gufo_document *d, const table *t, bool whole)
{
    gufo_error error = no_error();
    uint64_t sum = 0;
    const gufo_items items[] = {{GUFO_VALUE_STRING, t->count, t->texts[0]},
                                {GUFO_VALUE_STRING, t->count, t->texts[1]},
                                {GUFO_VALUE_FLOAT64, t->count, t->numbers[0]},
                                {GUFO_VALUE_FLOAT64, t->count, t->numbers[1]},
                                {GUFO_VALUE_UINT64, t->count, t->rows},
                                {GUFO_VALUE_BOOL, t->count, t->sampled}};

    for (uint64_t i = 0; i < t->count; i++) {
        char name[32];
        loss_option o = {.relative = t->numbers[0][i],
                         .standard_error = t->numbers[1][i],
                         .rows = t->rows[i],
                         .sampled = t->sampled[i]};

        snprintf(name, sizeof name, "%.*s", (int)t->texts[1][i].len, t->texts[1][i].data);
        o.type = gufo_element_type_by_name(name);
        if (o.type != NULL)
            losses_chain(&sum, t->texts[0][i], &o);
    }
    for (column c = TENSOR; c <= SAMPLED; c++)
        check_ok(gufo_document_set_array(d, keys[c], &items[c], &error), &error, "%s", keys[c]);
    if (whole)
        check_ok(gufo_document_set_u64(d, "gufo.losses.check", sum, &error), &error, "check");
    write_document(p, d);
}

static void takes_all(const loss_place *p)
{
    gufo_losses *l = fresh(p, 0);
    gufo_error error = no_error();

    check_ok(gufo_losses_read(l, p->cache.text, NULL, &error), &error, "read");
    check(known(l) > 0, "taken");
    gufo_losses_free(l);
}

/* Rows that no measurement gives, though their check is right. */
static void test_damaged_rows(void **state)
{
    static const change changes[] = {
        {TENSOR, 0, "token_embd.weight", 0, 0, true, NULL},
        {RELATIVE, 2, NULL, 0.25, 0, true, NULL},
        {RELATIVE, 2, NULL, 0.25, 0, false, "gufo.losses.check does not fit"},
        {TYPE, 0, "F16", 0, 0, false, "gufo.losses.check does not fit"},
        {TENSOR, 0, "token_embd.bias", 0, 0, true, "loss 1 of the file: a tensor that the model"},
        {TYPE, 0, "Q9_0", 0, 0, true, "a type that does not exist"},
        {TYPE, 0, "", 0, 0, true, "a type that does not exist"},
        {TYPE, 0, "a name that no type could ever have", 0, 0, true, "a type that does not exist"},
        {TYPE, 0, "Q4_0_4_4", 0, 0, true, "is not encoded"},
        {RELATIVE, 1, NULL, -0.5, 0, true,
         "loss 2 of the file: a loss that is not a finite number"},
        {RELATIVE, 1, NULL, NAN, 0, true, "finite number"},
        {RELATIVE, 1, NULL, INFINITY, 0, true, "finite number"},
        {STANDARD_ERROR, 1, NULL, -0.5, 0, true, "finite number"},
        {STANDARD_ERROR, 1, NULL, NAN, 0, true, "finite number"},
        {STANDARD_ERROR, 0, NULL, 0.5, 0, true, "all rows"},
        {ROWS, 0, NULL, 0, 0, true, "number of rows"},
        {ROWS, 0, NULL, 0, 7, true, "number of rows"},
        {ROWS, 0, NULL, 0, UINT64_MAX, true, "number of rows"},
        {TYPE, 0, "Q8_0", 0, 0, true, "two losses of one type"},
        {SAMPLED, 0, NULL, 0, 0, false, "gufo.losses.check does not fit"},
    };
    loss_place *p = place_with_cache();
    size_t len;
    uint8_t *good = read_file(p->cache.text, &len);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        const change *one = &changes[i];
        gufo_model *file = gufo_model_open_memory(good, len, NULL, NULL);
        gufo_document *d = gufo_document_from(file, NULL, NULL);
        table t;

        read_table(file, &t);
        check_view(t.texts[TENSOR][0], gufo_str_of("token_embd.weight"), "the first tensor");
        check_view(t.texts[TYPE][1], gufo_str_of("Q8_0"), "its second type");
        check_u64(t.rows[0], 6, "all rows");
        if (one->column <= TYPE)
            t.texts[one->column][one->row] = gufo_str_of(one->text);
        else if (one->column <= STANDARD_ERROR)
            t.numbers[one->column - RELATIVE][one->row] = one->number;
        else if (one->column == ROWS)
            t.rows[one->row] = one->rows;
        else
            t.sampled[one->row] = one->rows != 0;
        write_table(p, d, &t, one->whole);
        if (one->words != NULL)
            refuses(p, GUFO_E_MALFORMED, one->words);
        else
            takes_all(p);
        gufo_document_free(d);
        gufo_model_free(file);
    }
    free(good);
    loss_place_end(p);
}

static void test_damaged_keys(void **state)
{
    static const struct {
        const char *key, *words;
    } gone[] = {
        {"gufo.losses.version", "does not hold losses"},
        {"gufo.losses.inputs", "gufo.losses.inputs is missing"},
        {"gufo.losses.plan", "gufo.losses.plan is missing"},
        {"gufo.losses.check", "gufo.losses.check is missing"},
        {"gufo.losses.tensors", "gufo.losses.tensors is missing"},
        {"gufo.losses.types", "gufo.losses.types is missing"},
        {"gufo.losses.relative", "gufo.losses.relative is missing"},
        {"gufo.losses.standard_errors", "gufo.losses.standard_errors is missing"},
        {"gufo.losses.rows", "gufo.losses.rows is missing"},
        {"gufo.losses.sampled", "gufo.losses.sampled is missing"},
    };
    static const uint32_t few[] = {1, 2};
    loss_place *p = place_with_cache();
    size_t len;
    uint8_t *good = read_file(p->cache.text, &len);
    gufo_error error = no_error();

    (void)state;
    for (size_t i = 0; i < 3 * COUNT_OF(gone) + 1; i++) {
        gufo_model *file = gufo_model_open_memory(good, len, NULL, NULL);
        gufo_document *d = gufo_document_from(file, NULL, NULL);
        const char *key = gone[i % COUNT_OF(gone)].key;
        gufo_status status = GUFO_OK;

        if (i < COUNT_OF(gone))
            check(gufo_document_remove_key(d, key), "%s", key);
        else if (i < 2 * COUNT_OF(gone)) /* of another type */
            status = gufo_document_set_bool(d, key, true, &error);
        else if (i < 3 * COUNT_OF(gone)) /* of another type, and too short */
            status =
                gufo_document_set_array(d, key, &(gufo_items){GUFO_VALUE_UINT32, 2, few}, &error);
        else
            status = gufo_document_set_text(d, "gufo.losses.version", "9.9", &error);
        check_ok(status, &error, "%s", key);
        write_document(p, d);
        if (i < 3 * COUNT_OF(gone))
            refuses(p, GUFO_E_MALFORMED, gone[i % COUNT_OF(gone)].words);
        else
            refuses(p, GUFO_E_CHANGED, "were measured by version \"9.9\"");
        gufo_document_free(d);
        gufo_model_free(file);
    }
    free(good);
    loss_place_end(p);
}

/* Nothing is taken, or what was there. */
static void takes_right_ones(const loss_place *p, const gufo_losses *right, size_t at)
{
    gufo_losses *l = fresh(p, 0);
    gufo_error error = no_error();
    gufo_status status = gufo_losses_read(l, p->cache.text, NULL, &error);

    check(status == GUFO_OK || status == GUFO_E_MALFORMED || status == GUFO_E_CHANGED, "%zu: %s",
          at, error.message);
    if (status == GUFO_OK)
        check_same_losses(l, right, "taken");
    else
        check_u64(known(l), 0, "byte %zu", at);
    gufo_losses_free(l);
}

static void test_damaged_bytes(void **state)
{
    loss_place *p = place_with_cache();
    gufo_losses *right = fresh(p, 0);
    gufo_error error = no_error();
    size_t len;
    uint8_t *good = read_file(p->cache.text, &len);

    (void)state;
    check_ok(gufo_losses_read(right, p->cache.text, NULL, &error), &error, "read");
    for (size_t at = 0; at < len; at += at < 150 ? 1 : 37) {
        write_file(p->cache.text, good, at);
        takes_right_ones(p, right, at);
        good[at] ^= 4;
        write_file(p->cache.text, good, len);
        takes_right_ones(p, right, at);
        good[at] ^= 4;
    }
    free(good);
    gufo_losses_free(right);
    loss_place_end(p);
}

/* A file without an end is not read to its end. */
static void test_too_large(void **state)
{
    loss_place *p = place_with_cache();

    (void)state;
    check(truncate(p->cache.text, (off_t)1 << 36) == 0, "a sparse file");
    refuses(p, GUFO_E_MALFORMED, "larger than all losses");
    loss_place_end(p);
}

/* ---- what is not a file of ours ------------------------------------------------------------- */

static void does_not_write(const loss_place *p, const char *words)
{
    gufo_losses *l = fresh(p, 0);
    gufo_error error = no_error();
    size_t entries = entry_count(p->f.path);

    check_status(gufo_losses_write(l, p->cache.text, &error), GUFO_E_EXISTS, &error, "%s", words);
    check(strstr(error.message, words) != NULL, "%s: %s", words, error.message);
    check_u64(entry_count(p->f.path), entries, "files");
    gufo_losses_free(l);
}

/* A file that appears by a link has two names for a moment: it is read, and a new one takes its place. */
static void keeps_other_name(const loss_place *p, const char *other)
{
    gufo_losses *l = fresh(p, GUFO_LOSSES_ALL_ROWS);
    gufo_error error = no_error();
    uint64_t taken;
    size_t len;
    uint8_t *before = read_file(other, &len);

    check_ok(gufo_losses_read(l, p->cache.text, &taken, &error), &error, "two names");
    check(taken > 0, "two names: nothing taken");
    measure_well(l, NULL);
    check_ok(gufo_losses_write(l, p->cache.text, &error), &error, "two names");
    check_file(other, before, len, "the other name");
    free(before);
    gufo_losses_free(l);
}

static void test_not_a_file(void **state)
{
    loss_place *p = place_with_cache();
    path_text other = folder_path(&p->f, "other"), link_path = folder_path(&p->f, "second name");

    (void)state;
    check(rename(p->cache.text, other.text) == 0 && symlink(other.text, p->cache.text) == 0,
          "symlink");
    refuses(p, GUFO_E_ARGUMENT, "symlink");
    does_not_write(p, "symlink");
    check(unlink(p->cache.text) == 0 && symlink("/dev/zero", p->cache.text) == 0, "device");
    refuses(p, GUFO_E_ARGUMENT, "symlink");
    check(unlink(p->cache.text) == 0 && mkfifo(p->cache.text, 0600) == 0, "pipe");
    refuses(p, GUFO_E_ARGUMENT, "not a regular file");
    does_not_write(p, "not a regular file");
    check(unlink(p->cache.text) == 0 && mkdir(p->cache.text, 0700) == 0, "folder");
    refuses(p, GUFO_E_ARGUMENT, "not a regular file");
    does_not_write(p, "not a regular file");
    check(rmdir(p->cache.text) == 0 && rename(other.text, p->cache.text) == 0, "a file again");
    check(link(p->cache.text, link_path.text) == 0, "hard link");
    keeps_other_name(p, link_path.text);
    check(unlink(link_path.text) == 0, "hard link");
    if (geteuid() == 0) {
        check(chown(p->cache.text, 12345, (gid_t)-1) == 0, "owner");
        refuses(p, GUFO_E_ARGUMENT, "another user");
        does_not_write(p, "another user");
        check(chown(p->cache.text, 0, (gid_t)-1) == 0, "owner");
    }
    write_file(p->cache.text, "precious", 8);
    refuses(p, GUFO_E_MALFORMED, "does not hold losses");
    does_not_write(p, "does not hold losses");
    check_file(p->cache.text, "precious", 8, "as it was");
    loss_place_end(p);
}

/* A model that is not in a file has nothing that would identify it. */
static bool one_tensor(void *context, uint64_t index, gufo_tensor *out)
{
    (void)context, (void)index;
    *out = (gufo_tensor){.name = gufo_str_of("a.weight"), .n_dims = 2, .dims = {32, 2}};
    return true;
}

static gufo_status zeros(void *context, uint64_t tensor, uint64_t first, uint64_t count, void *out,
                         gufo_error *error)
{
    (void)context, (void)tensor, (void)first, (void)error;
    memset(out, 0, (size_t)count * 32 * sizeof(float));
    return GUFO_OK;
}

static void test_without_file(void **state)
{
    const gufo_provider provider = {.tensor_count = 1, .tensor_at = one_tensor, .read_rows = zeros};
    gufo_error error = no_error();
    gufo_model *model = gufo_model_open_provider(&provider, NULL, &error);
    folder f = folder_new();
    path_text path = folder_path(&f, "a.losses");
    gufo_losses *l;

    (void)state;
    check(model != NULL, "%s", error.message);
    l = losses_of(model, NULL, NULL);
    measure_well(l, NULL);
    check_status(gufo_losses_write(l, path.text, &error), GUFO_E_ARGUMENT, &error, "write");
    check(!file_exists(path.text), "nothing");
    check_status(gufo_losses_write(l, NULL, &error), GUFO_E_ARGUMENT, &error, "path");
    check_status(gufo_losses_read(l, NULL, NULL, &error), GUFO_E_ARGUMENT, &error, "path");
    gufo_losses_free(l);
    gufo_model_free(model);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_all_rows),
        cmocka_unit_test(test_other_types),   cmocka_unit_test(test_other_options),
        cmocka_unit_test(test_damaged_rows),  cmocka_unit_test(test_damaged_keys),
        cmocka_unit_test(test_damaged_bytes), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_not_a_file),    cmocka_unit_test(test_without_file),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
