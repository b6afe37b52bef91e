/* Row maps: any order of rows of any number of sources, moved or made, equals a plain loop. */
#include "produce/jobs.h"
#include "../support/pace.h"

enum { ROW = 24, SOURCE_ROWS = 4000 };

static uint8_t *random_bytes(number_source *numbers, size_t size)
{
    uint8_t *bytes = malloc(size);

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(next_number(numbers) >> 32);
    return bytes;
}

static uint64_t below(number_source *numbers, uint64_t limit)
{
    return (next_number(numbers) >> 20) % limit;
}

/* A segment inside a source of `count` rows. */
static segment random_segment(number_source *numbers, uint32_t sources, uint64_t count)
{
    segment s = {.source = (uint32_t)below(numbers, sources), .count = {1, 1, 1}};
    uint64_t reach = 0;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t most = (count - 1 - reach) / 3;

        s.stride[i] = below(numbers, 3) == 0 ? 1 : 1 + below(numbers, 40);
        s.count[i] = 1 + below(numbers, most / s.stride[i] + 1);
        if (s.count[i] > 30 && i > 0)
            s.count[i] = 30;
        reach += (s.count[i] - 1) * s.stride[i];
    }
    s.first = below(numbers, count - reach);
    return s;
}

static uint64_t rows_in(const segment *s)
{
    return s->count[0] * s->count[1] * s->count[2];
}

/* What the segments say, by three loops. */
static uint8_t *expect(const segment *segments, uint32_t count, uint8_t *const *sources,
                       uint64_t total)
{
    uint8_t *out = malloc((size_t)total * ROW), *to = out;

    for (uint32_t n = 0; n < count; n++) {
        const segment *s = &segments[n];

        for (uint64_t k = 0; k < s->count[2]; k++)
            for (uint64_t j = 0; j < s->count[1]; j++)
                for (uint64_t i = 0; i < s->count[0]; i++, to += ROW)
                    memcpy(to,
                           sources[s->source] +
                               (s->first + i * s->stride[0] + j * s->stride[1] + k * s->stride[2]) *
                                   ROW,
                           ROW);
    }
    return out;
}

typedef struct map_case {
    segment segments[6];
    uint32_t count;
    uint64_t total;
} map_case;

static map_case random_case(number_source *numbers)
{
    map_case c = {.count = 1 + (uint32_t)below(numbers, 6)};

    for (uint32_t i = 0; i < c.count; i++) {
        c.segments[i] = random_segment(numbers, 2, SOURCE_ROWS);
        c.total += rows_in(&c.segments[i]);
    }
    return c;
}

static void test_any_map(void **state)
{
    static const piece_how ways[] = {PIECE_MOVE, PIECE_MAKE};
    number_source numbers = {7};
    uint8_t *bytes[2] = {random_bytes(&numbers, SOURCE_ROWS * ROW),
                         random_bytes(&numbers, SOURCE_ROWS * ROW)};
    counted from[2];

    (void)state;
    counted_open(&from[0], bytes[0], SOURCE_ROWS * ROW);
    counted_open(&from[1], bytes[1], SOURCE_ROWS * ROW);
    for (unsigned round = 0; round < all_some_or_few(60, 20, 12); round++) {
        map_case c = random_case(&numbers);
        uint8_t *expected = expect(c.segments, c.count, bytes, c.total), *got;
        rows sources[2] = {rows_of_floats(&from[0].source, SOURCE_ROWS, ROW / 4),
                           rows_of_floats(&from[1].source, SOURCE_ROWS, ROW / 4)};
        made result = {.row_bytes = ROW, .type = sources[0].type, .place = 13};
        piece p = {.how = ways[round % 2],
                   .sources = sources,
                   .segments = c.segments,
                   .made = &result,
                   .n_sources = 2,
                   .n_segments = c.count,
                   .n_made = 1,
                   .columns = ROW / 4,
                   .slices = 1,
                   .slice_rows = c.total};
        gufo_job *job = new_job(&from[0].source, 13 + c.total * ROW);

        add_piece(job, &p);
        got = run_job(job, 1 + round % 4, 0);
        assert_memory_equal(got + 13, expected, (size_t)c.total * ROW);
        gufo_job_free(job);
        free(got);
        free(expected);
    }
    source_close(&from[0].source);
    source_close(&from[1].source);
    free(bytes[0]);
    free(bytes[1]);
}

/* Big-endian numbers become little-endian, and the other way round; two changes are none. */
static void test_byte_order(void **state)
{
    float values[64 * 6];
    uint8_t swapped[sizeof values];
    counted from;

    (void)state;
    for (size_t i = 0; i < 64 * 6; i++)
        values[i] = (float)i * 1.25f;
    memcpy(swapped, values, sizeof values);
    assert_int_equal(
        gufo_swap_blocks(gufo_element_type_by_id(GUFO_TYPE_F32), swapped, 64 * 6, NULL), GUFO_OK);
    counted_open(&from, swapped, sizeof swapped);
    for (unsigned way = 0; way < 2; way++) {
        rows r = rows_of_floats(&from.source, 64, 6);
        segment all = {.count = {64, 1, 1}, .stride = {1, 0, 0}};
        made result = {.row_bytes = ROW, .type = r.type, .swap = way == 1};
        piece p = {.how = PIECE_MAKE,
                   .sources = &r,
                   .segments = &all,
                   .made = &result,
                   .n_sources = 1,
                   .n_segments = 1,
                   .n_made = 1,
                   .columns = 6,
                   .slices = 1,
                   .slice_rows = 64};
        gufo_job *job = new_job(&from.source, sizeof values);
        uint8_t *got;

        r.swapped = true;
        add_piece(job, &p);
        got = run_job(job, 2, 0);
        assert_memory_equal(got, way == 1 ? swapped : (const uint8_t *)values, sizeof values);
        gufo_job_free(job);
        free(got);
    }
    source_close(&from.source);
}

/* Each of these would read or write outside something, or makes no sense. */
static void test_bad_plans(void **state)
{
    uint8_t bytes[10 * ROW] = {0};
    counted from;

    (void)state;
    counted_open(&from, bytes, sizeof bytes);
    for (unsigned fault = 0; fault < 12; fault++) {
        rows r = rows_of_floats(&from.source, 10, 6);
        segment all = {.count = {10, 1, 1}, .stride = {1, 0, 0}};
        made result = {.row_bytes = ROW, .type = r.type};
        piece p = {.how = PIECE_MAKE,
                   .sources = &r,
                   .segments = &all,
                   .made = &result,
                   .n_sources = 1,
                   .n_segments = 1,
                   .n_made = 1,
                   .columns = 6,
                   .slices = 1,
                   .slice_rows = 10};
        gufo_job *job = new_job(&from.source, sizeof bytes);
        gufo_error error;

        switch (fault) {
        case 0:
            r.count = 11;
            break;
        case 1:
            all.first = 1;
            break;
        case 2:
            all.count[1] = 2;
            all.stride[1] = UINT64_MAX / 2;
            break;
        case 3:
            all.count[2] = 0;
            break;
        case 4:
            all.source = 1;
            break;
        case 5:
            p.slice_rows = 9;
            break;
        case 6:
            result.place = 1;
            break;
        case 7:
            result.target = 1;
            break;
        case 8:
            result.row_bytes = ROW - 4;
            break;
        case 9:
            p.slices = UINT64_MAX;
            break;
        case 10:
            result.type = gufo_element_type_by_id(GUFO_TYPE_F16);
            break;
        default:
            r.offset = UINT64_MAX - 3;
            break;
        }
        assert_int_equal(job_add_piece(job, &p, &error), GUFO_E_ARGUMENT);
        assert_int_equal(job->piece_count, 0);
        gufo_job_free(job);
    }
    source_close(&from.source);
}

/* An error of the source names the input and stops everything. */
static gufo_status refuse_read(void *context, uint64_t offset, void *buffer, size_t size,
                               gufo_error *error)
{
    (void)context, (void)offset, (void)buffer, (void)size, (void)error;
    return GUFO_E_IO;
}

static void test_failing_source(void **state)
{
    const gufo_source user = {.size = 1000 * ROW, .read = refuse_read};
    rows r;
    segment all = {.count = {1000, 1, 1}, .stride = {1, 0, 0}};
    made result = {.row_bytes = ROW};
    piece p = {.how = PIECE_MAKE,
               .sources = &r,
               .segments = &all,
               .made = &result,
               .n_sources = 1,
               .n_segments = 1,
               .n_made = 1,
               .columns = 6,
               .slices = 1,
               .slice_rows = 1000};
    const gufo_run run = {.threads = 3};
    gufo_error error;
    gufo_job *job;
    uint8_t *out;
    source from;

    (void)state;
    source_open_user(&from, &user, 0, &default_allocator);
    r = rows_of_floats(&from, 1000, 6);
    result.type = r.type;
    job = new_job(&from, 1000 * ROW);
    add_piece(job, &p);
    assert_int_equal(try_job(job, &run, &out, &error), GUFO_E_IO);
    assert_int_equal(error.role, GUFO_FILE_INPUT);
    assert_string_equal(error.file, "input");
    free(out);
    gufo_job_free(job);
    source_close(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_map),
        cmocka_unit_test(test_byte_order),
        cmocka_unit_test(test_bad_plans),
        cmocka_unit_test(test_failing_source),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
