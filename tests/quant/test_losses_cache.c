/* Files of losses: the same numbers come back, for the same model and options alone, and whatever a file
 * holds, it does no harm. */
#include "losses_models.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/hash.h"
#include "quant/losses/losses.h"

#include <fcntl.h>
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

/* ---- numbers and names ---------------------------------------------------------------------- */

static void test_numbers(void **state)
{
    static const double numbers[] = {0,
                                     1,
                                     0.1,
                                     1.0 / 3,
                                     5e-324,
                                     2.2250738585072014e-308,
                                     1.7976931348623157e308,
                                     0x1.fffffffffffffp-30};
    static const char *const others[] = {"",
                                         "-1",
                                         "nan",
                                         "inf",
                                         "0x1",
                                         "1.5",
                                         "0x1.8p3",
                                         "0x1.0000000000000p",
                                         "0x1.0000000000000p+",
                                         "0x1.0000000000000p+1024",
                                         "0x1.0000000000000p+99999999999",
                                         "0x1.0000000000000p3",
                                         "-0x1.0000000000000p+3",
                                         "0x1.00000000000000p+3",
                                         "0x2.0000000000000p+3",
                                         "00"};
    char text[CACHE_NUMBER];
    double back;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        cache_number(text, numbers[i]);
        check(cache_read_number(gufo_str_of(text), &back) && back == numbers[i], "%s", text);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        check(!cache_read_number(gufo_str_of(others[i]), &back), "%s", others[i]);
}

static void test_names(void **state)
{
    static const char odd[] = "a\tb\nc\\d\x7f\xc3\xa4\0e";
    buffer out = {.allocator = mem_allocator(NULL)};
    gufo_str back;

    (void)state;
    check(cache_name(&out, (gufo_str){odd, sizeof odd - 1}), "memory");
    check(memchr(out.data, '\t', out.len) == NULL && memchr(out.data, '\n', out.len) == NULL,
          "one field");
    check(cache_read_name((char *)out.data, &back, out.len), "read");
    check_view(back, ((gufo_str){odd, sizeof odd - 1}), "the same");
    memcpy(out.data, "a\\x0", 4);
    check(!cache_read_name((char *)out.data, &back, 4), "cut short");
    buffer_free(&out);
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

/* A sample does not do where all rows are wanted; all rows do everywhere. */
static void test_all_rows(void **state)
{
    loss_place *p = place_with_cache();
    gufo_losses *all = fresh(p, GUFO_LOSSES_ALL_ROWS), *some = fresh(p, 0);
    gufo_error error = no_error();
    uint64_t taken;
    gufo_loss loss;

    (void)state;
    check_ok(gufo_losses_read(all, p->cache.text, &taken, &error), &error, "read");
    check(gufo_losses_find(all, 2, types[0], &loss) && !loss.is_known && loss.rows > 0, "a sample");
    measure_well(all, NULL);
    check(gufo_losses_find(all, 2, types[0], &loss) && loss.rows == loss.all_rows, "all rows");
    check_ok(gufo_losses_write(all, p->cache.text, &error), &error, "write");
    check_ok(gufo_losses_read(some, p->cache.text, &taken, &error), &error, "read");
    check_u64(taken, known(all), "taken");
    check_same_losses(some, all, "all rows");
    gufo_losses_free(all);
    gufo_losses_free(some);
    loss_place_end(p);
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
    gufo_close(p->input);
    check(utimensat(AT_FDCWD, p->in.text, times, 0) == 0, "times");
    p->input = open_path(p->in.text);
    refuses(p, GUFO_E_CHANGED, "another model, or the model was changed");
    loss_place_end(p);
}

/* ---- damage --------------------------------------------------------------------------------- */

/* Replaces a part of the file, with a right end where `whole`. */
static void change(const loss_place *p, const char *from, const char *to, bool whole)
{
    size_t len;
    char *bytes = (char *)read_file(p->cache.text, &len);
    const char *at = str_search((gufo_str){bytes, len}, gufo_str_of(from));
    const char *end = str_search((gufo_str){bytes, len}, gufo_str_of("\nend\t"));
    buffer out = {.allocator = mem_allocator(NULL)};
    char last[64];
    int count = atoi(end + 5);

    check(at != NULL && end != NULL && at < end, "%s", from);
    check(buffer_append(&out, bytes, (size_t)(at - bytes)) && buffer_append(&out, to, strlen(to)) &&
              buffer_append(&out, at + strlen(from), (size_t)(end + 1 - at) - strlen(from)),
          "memory");
    if (whole) {
        for (const char *c = to; *c != '\0'; c++)
            count += *c == '\n';
        for (const char *c = from; *c != '\0'; c++)
            count -= *c == '\n';
        snprintf(last, sizeof last, "end\t%d\t%016" PRIx64 "\n", count,
                 xxh64_of((gufo_str){(char *)out.data, out.len}));
        check(buffer_append(&out, last, strlen(last)), "memory");
    } else {
        check(buffer_append(&out, end + 1, len - (size_t)(end + 1 - bytes)), "memory");
    }
    write_file(p->cache.text, out.data, out.len);
    buffer_free(&out);
    free(bytes);
}

static void takes_nothing(const loss_place *p)
{
    gufo_losses *l = fresh(p, 0);
    gufo_error error = no_error();
    gufo_status status = gufo_losses_read(l, p->cache.text, NULL, &error);

    check(status == GUFO_E_MALFORMED || status == GUFO_E_CHANGED, "%s", error.message);
    check_u64(known(l), 0, "nothing");
    gufo_losses_free(l);
}

static void test_damaged(void **state)
{
    static const struct {
        const char *from, *to;
        bool whole;
        gufo_status status;
        const char *words;
    } cases[] = {
        {"0x1.", "0x1.", false, GUFO_OK, NULL},
        {"0x1.", "0x1.", true, GUFO_OK, NULL},
        {"Q4_0", "Q8_0", false, GUFO_E_MALFORMED, "the end does not fit"},
        {"gufo losses 1", "gufo losses 2", true, GUFO_E_MALFORMED, "does not hold losses"},
        {"version\t", "vision\t", true, GUFO_E_MALFORMED, "line 2"},
        {"version\t", "version\t9.9.", true, GUFO_E_CHANGED, "were measured by version"},
        {"plan\t", "plan\tx", true, GUFO_E_MALFORMED, "line 4"},
        {"token_embd.weight", "token_embd.bias", true, GUFO_E_MALFORMED, "line 5"},
        {"token_embd.weight", "token\\xembd", true, GUFO_E_MALFORMED, "does not have"},
        {"\tQ4_0\t", "\tQ9_0\t", true, GUFO_E_MALFORMED, "a type that does not exist"},
        {"\tQ4_0\t", "\tQ4_0_4_4\t", true, GUFO_E_MALFORMED, "is not encoded"},
        {"\t0x1.", "\t-0x1.", true, GUFO_E_MALFORMED, "finite number"},
        {"\t0x1.", "\tnan", true, GUFO_E_MALFORMED, "finite number"},
        {"\t0\t6\t6\n", "\t0\t0\t6\n", true, GUFO_E_MALFORMED, "number of rows"},
        {"\t0\t6\t6\n", "\t0\t7\t6\n", true, GUFO_E_MALFORMED, "number of rows"},
        {"\t0\t6\t6\n", "\t0\t6\t9\n", true, GUFO_E_MALFORMED, "number of rows"},
        {"\t0\t6\t6\n", "\t0\t6\t18446744073709551616\n", true, GUFO_E_MALFORMED, "rows"},
        {"\t0\t6\t6\n", "\t0x1.0000000000000p+0\t6\t6\n", true, GUFO_E_MALFORMED, "all rows"},
        {"\t0\t6\t6\n", "\t0\t6\t6\tmore\n", true, GUFO_E_MALFORMED, "too many fields"},
        {"\t0\t6\t6\n", "\t0\t6\n", true, GUFO_E_MALFORMED, "line 5"},
        {"token_embd.weight", "\n\n\ntoken_embd.weight", true, GUFO_E_MALFORMED, "line 5"},
        {"token_embd.weight", "token_embd.weight\tQ4_0\t0\t0\t6\t6\ntoken_embd.weight", true,
         GUFO_E_MALFORMED, "two losses of one type"},
    };
    loss_place *p = place_with_cache();
    size_t len;
    uint8_t *good = read_file(p->cache.text, &len);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_file(p->cache.text, good, len);
        change(p, cases[i].from, cases[i].to, cases[i].whole);
        if (cases[i].status != GUFO_OK)
            refuses(p, cases[i].status, cases[i].words);
    }
    for (size_t cut = 0; cut < len; cut += cut < 150 ? 1 : 37) {
        write_file(p->cache.text, good, cut);
        takes_nothing(p);
    }
    free(good);
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
    refuses(p, GUFO_E_ARGUMENT, "hard links");
    does_not_write(p, "hard links");
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
    gufo_model *model = gufo_open_provider(&provider, NULL, &error);
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
    gufo_close(model);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_all_rows),
        cmocka_unit_test(test_other_types), cmocka_unit_test(test_other_options),
        cmocka_unit_test(test_damaged),     cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_not_a_file),  cmocka_unit_test(test_without_file),
    };

    return cmocka_run_group_tests(tests, folders_in_memory, NULL);
}
