/* What the page is written with: texts of others, numbers, scales, and rectangles with given areas. */
#include "../support/allocator.h"
#include "../support/check.h"

#include "report/page/html.h"
#include "report/page/numbers.h"
#include "report/page/scale.h"
#include "report/pictures/squares.h"

#include <math.h>

/* ---- texts ---------------------------------------------------------------------------------------- */

#define BYTES(literal)               \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static void test_texts(void **state)
{
    static const struct {
        gufo_str text;
        size_t most;
        const char *page;
    } rows[] = {
        {BYTES("blk.0.attn_q.weight"), 0, "blk.0.attn_q.weight"},
        {BYTES("</td><script>alert('1')</script>"), 0,
         "&lt;/td&gt;&lt;script&gt;alert('1')&lt;/script&gt;"},
        {BYTES("\" onclick=\"x"), 0, "&quot; onclick=&quot;x"},
        {BYTES("&amp;"), 0, "&amp;amp;"},
        {BYTES("a\nb\tc\r"), 0, "a\\nb\\tc\\r"},
        {BYTES("\0\x1b[31m\x7f"), 0, "\\u{0}\\u{1b}[31m\\u{7f}"},
        {BYTES("\xff\xc3"), 0, "\\xff\\xc3"},
        {BYTES("\xe2\x80\xaegnp"), 0, "\\u{202e}gnp"},
        {BYTES("\xef\xbb\xbf"
               "blk\xe2\x80\x8b"),
         0, "\\u{feff}blk\\u{200b}"},
        {BYTES("käse"), 0, "käse"},
        {BYTES("abcdef"), 3, "abc…"},
        {BYTES("abc"), 3, "abc"},
        {BYTES("<<<<"), 2, "&lt;&lt;…"},
        {BYTES("äöü"), 2, "äö…"},
        {BYTES(""), 3, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gufo_text out = {0};
        page p = {.out = &out, .prefix = ""};

        html_text(&p, rows[i].text, rows[i].most);
        check(!p.failed, "%zu", i);
        check_str(((gufo_str){out.len > 0 ? out.data : "", out.len}), rows[i].page, "row %zu", i);
        gufo_text_free(&out);
    }
}

static void test_lines(void **state)
{
    gufo_text out = {0};
    page p = {.out = &out, .prefix = ""};

    (void)state;
    html_lines(&p, gufo_str_of("a\n\t<b>\x1b"));
    check_str(((gufo_str){out.data, out.len}), "a\n\t&lt;b&gt;\\u{1b}", "lines");
    gufo_text_free(&out);
}

/* What is longer than most pieces is whole, and what finds no memory leaves the page as it was. */
static void test_long(void **state)
{
    char word[2000];
    gufo_text out = {0};
    page p = {.out = &out, .prefix = ""};
    counter c;
    gufo_allocator allocator;

    (void)state;
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    html(&p, "<%s>", word);
    check_u64(out.len, sizeof word + 1, "length");
    check(out.data[0] == '<' && out.data[out.len - 1] == '>', "ends");
    gufo_text_free(&out);

    counter_init(&c);
    allocator = counter_allocator(&c);
    c.fail_at = 1;
    c.fail_on = true;
    out.allocator = &allocator;
    html(&p, "text");
    html_text(&p, gufo_str_of("text"), 0);
    check(p.failed && out.len == 0, "without memory");
    gufo_text_free(&out);
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static void test_numbers(void **state)
{
    static const struct {
        double part, whole;
        const char *share;
    } shares[] = {
        {66, 100, "66 %"},        {4.25, 100, "4.2 %"}, {0.05, 100, "0.05 %"}, {0, 100, "0 %"},
        {1, 1e9, "under 0.01 %"}, {9.96, 100, "10 %"},  {100, 100, "100 %"},   {1, 0, "0 %"},
        {0.0949, 100, "0.09 %"},
    };
    static const struct {
        double value;
        const char *measured, *place;
    } numbers[] = {
        {0, "0", "0"},
        {0.02932, "0.0293", "0.03"},
        {1.5e-7, "1.5e-7", "0"},
        {12.344, "12.3", "12.34"},
        {4096, "4096", "4096"},
        {-2.5, "-2.5", "-2.5"},
        {2e12, "2e12", "0"}, /* no picture is that wide */
        {33.999, "34", "34"},
        {NAN, "nan", "0"},
        {INFINITY, "inf", "0"},
        {5e-324, "4.94e-324", "0"},
        {-1e-320, "-1e-320", "0"},
        {9.9996e-8, "1e-7", "0"},
        {1.7976931348623157e308, "1.8e308", "0"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        assert_string_equal(as_share(shares[i].part, shares[i].whole).text, shares[i].share);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        assert_string_equal(as_measured(numbers[i].value).text, numbers[i].measured);
        assert_string_equal(as_place(numbers[i].value).text, numbers[i].place);
    }
    assert_string_equal(as_counted(1, "layer", "layers").text, "1 layer");
    assert_string_equal(as_counted(1234, "layer", "layers").text, "1,234 layers");
    assert_string_equal(as_memory(UINT64_MAX).text, "16.0 EiB");
}

/* ---- scales --------------------------------------------------------------------------------------- */

/* Every type has letters of its own; those of the format no others have. */
static void test_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < gufo_element_type_count(); i++) {
        const gufo_element_type *type = gufo_element_type_at(i);
        const type_look look = scale_type(type->id);

        check(strcmp(look.code, "+") != 0, "%s has letters", type->name);
        check((look.bits > 0) == (type->block_elements > 0), "%s: bits", type->name);
        for (size_t k = 0; k < i; k++) {
            const gufo_element_type *other = gufo_element_type_at(k);

            if (((type->flags | other->flags) & GUFO_ELEMENT_REMOVED) == 0)
                check(strcmp(look.code, scale_type(other->id).code) != 0, "%s, %s", type->name,
                      other->name);
        }
    }
    assert_string_equal(scale_type(12).color, "t4"); /* Q4_K: 4.5 bits */
    assert_string_equal(scale_type(12).ink, "w");
    assert_string_equal(scale_type(0).color, "t9");
    assert_string_equal(scale_type(0).ink, "k");
    assert_string_equal(scale_type(999).color, "tu");
    assert_string_equal(scale_type(999).code, "?");
}

static void test_whole(void **state)
{
    (void)state;
    check_u64(whole_of(1e300), UINT64_MAX, "more");
    check_u64(whole_of(0x1p64), UINT64_MAX, "just more");
    check_u64(whole_of(1234.9), 1234, "a number");
    check_u64(whole_of(-1), 0, "less");
    check_u64(whole_of(NAN), 0, "not a number");
}

static void test_heat(void **state)
{
    const heat_scale linear = {0, 10, false}, log = {1e-4, 1, true}, flat = {3, 3, false};
    const heat_scale alike = {0.02, 0.02001, false}, zeros = {0, 0, false};

    (void)state;
    check_u64(heat_step(&linear, 0), 0, "least");
    check_u64(heat_step(&linear, 10), 9, "most");
    check_u64(heat_step(&linear, 5), 5, "middle");
    check_u64(heat_step(&linear, 99), 9, "more");
    check_u64(heat_step(&linear, -1), 0, "less");
    check_u64(heat_step(&linear, NAN), 0, "not a number");
    check_u64(heat_step(&log, 1e-2), 5, "log");
    check_u64(heat_step(&flat, 3), 5, "of one number");
    check_u64(heat_step(&alike, 0.02), 5, "alike");
    check_u64(heat_step(&alike, 0.02001), 5, "alike");
    check_u64(heat_step(&zeros, 0), 5, "of zeros");
    assert_false(heat_is_even(&linear));
}

static void test_axes(void **state)
{
    const axis_ticks linear = axis_linear(6.56, 4), binary = axis_binary(9.5, 4);
    const axis_ticks log = axis_log(0.001, 1), fine = axis_log(3, 60);

    (void)state;
    check_u64(linear.count, 5, "0 2 4 6 8");
    check(linear.end == 8, "end");
    check(binary.values[1] == 4 && binary.end == 12, "0 4 8 12");
    check_u64(log.count, 4, "0.001 to 1");
    check_u64(fine.count, 4, "5 10 20 50");
    check_u64(axis_linear(0, 4).count, 2, "nothing");
    check_u64(axis_linear(INFINITY, 4).count, 2, "infinite");
    check_u64(axis_log(0, 1).count, 0, "from 0");
}

/* ---- rectangles ----------------------------------------------------------------------------------- */

/* Areas are in proportion, nothing lies outside, nothing over something else. */
static void check_squares(const double *sizes, size_t count, svg_box box)
{
    square_item items[32] = {{0}};
    double whole = 0;

    for (size_t i = 0; i < count; i++) {
        items[i].size = sizes[i];
        whole += sizes[i];
    }
    squares_place(items, count, box, 8);
    for (size_t i = 0; i < count; i++) {
        const svg_box b = items[i].box;

        check(b.x >= box.x - 1e-6 && b.x + b.width <= box.x + box.width + 1e-6 &&
                  b.y >= box.y - 1e-6 && b.y + b.height <= box.y + box.height + 1e-6,
              "%zu is inside", i);
        check(fabs(b.width * b.height / (box.width * box.height) - sizes[i] / whole) < 1e-9,
              "%zu has its area", i);
        for (size_t k = 0; k < i; k++) {
            const svg_box o = items[k].box;

            check(b.x + b.width <= o.x + 1e-6 || o.x + o.width <= b.x + 1e-6 ||
                      b.y + b.height <= o.y + 1e-6 || o.y + o.height <= b.y + 1e-6,
                  "%zu and %zu are apart", i, k);
        }
    }
}

static void test_squares(void **state)
{
    static const double sizes[] = {6, 6, 4, 3, 2, 1, 1e-3, 1e-9}, one[] = {5},
                        equal[] = {1, 1, 1, 1};
    square_item four[4] = {{.size = 1}, {.size = 1}, {.size = 1}, {.size = 1}};

    (void)state;
    check_squares(sizes, COUNT_OF(sizes), (svg_box){0, 100, 0, 400});
    check_squares(sizes, 6, (svg_box){20, 30, 50, 7});
    check_squares(one, 1, (svg_box){0, 100, 0, 400});
    check_squares(equal, 4, (svg_box){0, 50, 0, 400}); /* 400 by 400 pixels */
    squares_place(four, 4, (svg_box){0, 50, 0, 400}, 8);
    check(fabs(four[3].box.height - 200) < 1e-6, "four squares, not four strips");
    squares_place(four, 0, (svg_box){0, 50, 0, 400}, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),  cmocka_unit_test(test_lines),
        cmocka_unit_test(test_long),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_types),  cmocka_unit_test(test_whole),
        cmocka_unit_test(test_heat),   cmocka_unit_test(test_axes),
        cmocka_unit_test(test_squares)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
