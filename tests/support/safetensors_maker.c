/* Makes files of safetensors. */
#include "safetensors_maker.h"

#include <inttypes.h>
#include <stdio.h>

#include "folder.h"

static size_t element_size(const char *dtype)
{
    static const struct {
        const char *name;
        size_t size;
    } rows[] = {{"F64", 8}, {"I64", 8},  {"U64", 8},     {"C64", 8},     {"F32", 4},    {"I32", 4},
                {"U32", 4}, {"F16", 2},  {"BF16", 2},    {"I16", 2},     {"U16", 2},    {"I8", 1},
                {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, dtype) == 0)
            return rows[i].size;
    fail_msg("no element type %s", dtype);
    return 0;
}

size_t safetensor_size(const safetensor *tensor)
{
    size_t size = element_size(tensor->dtype);

    for (uint32_t i = 0; i < tensor->n_dims; i++)
        size *= (size_t)tensor->shape[i];
    return size;
}

static void add_text(builder *b, const char *text)
{
    builder_raw(b, text, strlen(text));
}

static void add_entry(builder *b, const safetensor *t, uint64_t begin)
{
    char text[128];

    add_text(b, "\"");
    add_text(b, t->name);
    add_text(b, "\":{\"dtype\":\"");
    add_text(b, t->dtype);
    add_text(b, "\",\"shape\":[");
    for (uint32_t i = 0; i < t->n_dims; i++) {
        (void)snprintf(text, sizeof text, "%s%" PRIu64, i > 0 ? "," : "", t->shape[i]);
        add_text(b, text);
    }
    (void)snprintf(text, sizeof text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin,
                   begin + safetensor_size(t));
    add_text(b, text);
}

static void begin_file(builder *b)
{
    *b = builder_new((encoding){3, false});
}

void safetensors_build(builder *b, const safetensor *tensors, size_t count)
{
    builder header;
    uint64_t at = 0;

    begin_file(&header);
    add_text(&header, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (size_t i = 0; i < count; i++, at += safetensor_size(&tensors[i - 1])) {
        add_text(&header, ",");
        add_entry(&header, &tensors[i], at);
    }
    add_text(&header, "}");
    while (header.len % 8 != 0)
        add_text(&header, " ");
    builder_u64(b, header.len);
    builder_raw(b, header.data, header.len);
    builder_free(&header);
    for (size_t i = 0; i < count; i++) {
        if (tensors[i].bytes != NULL)
            builder_raw(b, tensors[i].bytes, safetensor_size(&tensors[i]));
        else
            builder_zeros(b, safetensor_size(&tensors[i]));
    }
}

void safetensors_write(const char *path, const safetensor *tensors, size_t count)
{
    builder b;

    begin_file(&b);
    safetensors_build(&b, tensors, count);
    write_file(path, b.data, b.len);
    builder_free(&b);
}

void safetensors_build_raw(builder *b, const char *header, size_t size)
{
    builder_u64(b, strlen(header));
    add_text(b, header);
    builder_zeros(b, size);
}

void safetensors_write_raw(const char *path, const char *header, size_t size)
{
    builder b;

    begin_file(&b);
    safetensors_build_raw(&b, header, size);
    write_file(path, b.data, b.len);
    builder_free(&b);
}
