/* Memory for each tensor of a checkpoint that has very many: of strangers, headers of 100 MB are possible. */
#include "../support/allocator.h"
#include "../support/check.h"
#include "config_folder.h"

#include "base/bytes.h"
#include "gufo/import.h"
#include "gufo/quant.h"

enum {
    TENSORS = 4000,    /* lists that double have little room left then */
    ENTRY = 80,        /* of the header, at most */
    MOST_OPENED = 450, /* bytes for each tensor: an import, with what reading has needed */
    MOST_PLANNED = 900 /* and the plan of a quantizer */
};

/* Tensors of one number each. */
static void write_header(const folder *f)
{
    static char header[8 + TENSORS * ENTRY];
    size_t len = 8;
    FILE *file = fopen(folder_path(f, "model.safetensors").text, "wb");

    for (unsigned i = 0; i < TENSORS; i++)
        len +=
            (size_t)snprintf(header + len, sizeof header - len,
                             "%c\"x%u\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                             i == 0 ? '{' : ',', i, 2 * i, 2 * i + 2);
    header[len++] = '}';
    store_u64((uint8_t *)header, len - 8, bytes_swapped(false));
    assert_non_null(file);
    assert_int_equal(fwrite(header, 1, len, file), len);
    assert_int_equal(fseek(file, 2 * TENSORS - 1, SEEK_CUR), 0);
    assert_int_equal(fputc(0, file), 0);
    assert_int_equal(fclose(file), 0);
}

static void test_many_tensors(void **state)
{
    counter count;
    gufo_allocator allocator;
    const gufo_checkpoint_options options = {
        .arch = "x", .flags = GUFO_CHECKPOINT_GENERIC, .allocator = &allocator};
    const gufo_quantize_options quantize = {.allocator = &allocator};
    gufo_error error = no_error();
    folder f = folder_new();
    gufo_import *import;
    gufo_quantizer *quantizer;

    (void)state;
    counter_init(&count);
    allocator = counter_allocator(&count);
    write_text(&f, "config.json", "{\"architectures\": [\"Unknown\"]}");
    write_header(&f);
    import = gufo_import_checkpoint(f.path, &options, &error);
    check(import != NULL, "opened: %s", error.message);
    check(count.in_use < (size_t)TENSORS * MOST_OPENED, "%zu bytes for each tensor are kept",
          count.in_use / TENSORS);
    quantizer = gufo_import_quantize(import, "auto", &quantize, &error);
    check(quantizer != NULL, "planned: %s", error.message);
    check(count.in_use < (size_t)TENSORS * MOST_PLANNED, "%zu bytes for each tensor are planned",
          count.in_use / TENSORS);
    gufo_quantizer_free(quantizer);
    gufo_import_free(import);
    check_u64(count.in_use, 0, "all is freed");
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_tensors)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
